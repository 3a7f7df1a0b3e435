"""A text as it is searched, with the way back to the text as it is stored."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property

from metacog.heuristics.text.shadow import Shadow

_LAST = 0x2FFFF  # nothing beyond is composed


class Folded:
    """What a text reads as: `text` is alike for both cases, widths and scripts of Chinese, for é and e with its accent.

    `place` leads back into `original`.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        composed = unicodedata.normalize("NFC", original)
        self._is_composed = composed == original
        self._shadow = Shadow(composed)
        self.text = self._shadow.text

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Give where a part of `text` (not empty) stands in the original."""
        start, end = self._shadow.place(start, end)
        return (start, end) if self._is_composed else (self._places[start][0], self._places[end - 1][1])

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Where each composed character comes from: several may share what stood there before."""
        places, last = [], 0
        for found in _composing().finditer(self.original):
            start, end = found.span()
            places += [(at, at + 1) for at in range(last, start)]
            places += [(start, end)] * len(unicodedata.normalize("NFC", found[0]))
            last = end
        return places + [(at, at + 1) for at in range(last, len(self.original))]


@cache
def _composing() -> re.Pattern[str]:
    """Find what NFC changes as a whole: a character with all that may be composed with it, or one it replaces."""
    joins, alone = set(), set()
    for code in range(_LAST + 1):
        character = chr(code)
        parts = unicodedata.decomposition(character)
        if unicodedata.combining(character) or 0x1160 <= code <= 0x11FF:  # vowels and finals of Hangul
            joins.add(character)
        if parts and parts[0] != "<":
            joins.update(chr(int(part, 16)) for part in parts.split()[1:])
            if unicodedata.normalize("NFC", character) != character:
                alone.add(character)
    second = f"[{re.escape(''.join(sorted(joins)))}]"
    return re.compile(f"(?s:.){second}+|{second}+|[{re.escape(''.join(sorted(alone - joins)))}]")
