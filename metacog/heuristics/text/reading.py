"""How long a text takes to read."""

import re

# Characters a minute, aloud, mean of 25 adults each (Trauzettel-Klosinski and Dietz 2012, IReST, table 2).
LETTERS, HAN = 987, 255
# At twice that nobody reads every word: silently most adults read 175 to 300 English words a minute (Brysbaert 2019),
# and twice 987 characters are 456.
HASTE = 2
LEAST = 2.0  # seconds: to see what it is, and press

_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SPACE = re.compile(r"\s+")


def seconds_to_read(text: str) -> float:
    """Return how many seconds a text takes at the usual speed, English and Chinese each at its own."""
    han = len(_HAN.findall(text))
    return 60 * (han / HAN + (len(_SPACE.sub(" ", text)) - han) / LETTERS)


def is_hasty(seconds: float, text: str) -> bool:
    """Tell whether somebody who had a text before them for so long cannot have read all of it."""
    return seconds < max(LEAST, seconds_to_read(text) / HASTE)
