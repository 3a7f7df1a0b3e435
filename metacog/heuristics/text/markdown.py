"""What Markdown says with underscores: emphasis."""

import re

from ..lexicon import lazy

# A letter or digit of a script that puts spaces between words, or an underscore.
LATIN = r"[^\W\u0590-\U0010ffff]"
# Opened and closed by runs of the same length, with no word outside; within words an underscore is part of a name. What
# one try has read none reads again.
_EMPHASIS = lazy.compile(
    rf"_(?<!{LATIN}_)(_{{0,2}})(?=[^\s_])"
    rf"([^_\n]{{1,200}}+(?:(?<={LATIN})_++(?={LATIN})[^_\n]{{1,200}}+)*+)(?<!\s)_\1(?!{LATIN})"
)


def without_emphasis(text: str) -> str:
    """Put an asterisk for each underscore that marks emphasis: unlike those, it is no letter."""
    return _EMPHASIS.sub(_with_asterisks, text)


def _with_asterisks(match: re.Match[str]) -> str:
    marks = "*" * (1 + len(match[1]))
    return f"{marks}{match[2]}{marks}"
