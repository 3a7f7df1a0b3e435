"""Cut folded texts into what is indexed: words of letters and digits, each character of Chinese and each two of them.

One way for both databases, none of which cuts Chinese. Places in the text are not kept: what an index finds is looked
at again, in the text. Whoever changes `cut` has all documents indexed anew, as SQLite is told the words it forgets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_CHARACTERS = 300_000  # of a text are searched
MOST_BYTES = 500_000  # of its different words; PostgreSQL takes 1 MB, with their places
LONGEST = 60  # characters of a word tell it apart
PREFIX = 3  # letters from which on a word is found by its beginning

# Scripts that put no space between words.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_DENSE}]"
_SIGN = "[\u20a0-\u20cf\u2100-\u2bff\U0001f000-\U0001faff]"
_PIECES = re.compile(rf"{_LETTER}+|[{_DENSE}]+|{_SIGN}")
_is_letter, _is_dense = re.compile(_LETTER).match, re.compile(f"[{_DENSE}]").match


def cut(folded: str) -> list[str]:
    """Return the different words of a folded text, in the order in which they first come."""
    words: dict[str, None] = {}
    size = 0
    for piece in dict.fromkeys(_PIECES.findall(folded[:MOST_CHARACTERS])):
        for word in [*piece, *_pairs(piece)] if _is_dense(piece) else [piece[:LONGEST]]:
            if word not in words:
                size += len(word.encode()) + 4
                if size > MOST_BYTES:
                    return list(words)
                words[word] = None
    return list(words)


def _pairs(piece: str) -> list[str]:
    return [piece[at : at + 2] for at in range(len(piece) - 1)]


class Wanted:
    """A folded word that is looked for: what an index is asked for, and what then must stand in the text."""

    def __init__(self, folded: str) -> None:
        self.folded = folded
        pieces = list(_PIECES.finditer(folded))
        last = pieces[-1] if pieces else None
        self.prefix = ""  # the beginning of some word
        ends_in_word = last is not None and last.end() == len(folded) and _is_letter(last[0])
        if last and ends_in_word and PREFIX <= len(last[0]) < LONGEST:
            self.prefix = last[0]
            pieces.pop()
        self.whole = [word for found in pieces for word in _asked(found[0])]
        begins = rf"(?<!{_LETTER})" if re.match(_LETTER, folded) else ""
        ends = rf"(?!{_LETTER})" if last and ends_in_word and not self.prefix and len(last[0]) < LONGEST else ""
        self.pattern = re.compile(begins + re.escape(folded) + ends)


def _asked(piece: str) -> Iterable[str]:
    return (_pairs(piece) or [piece]) if _is_dense(piece) else [piece[:LONGEST]]
