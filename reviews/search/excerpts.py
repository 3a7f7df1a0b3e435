"""What is shown of a text that was found: what stands around the words, and the words marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from metacog.heuristics.text.excerpts import without_tags
from reviews.search.folded import Folded

CLIP = 160  # characters that are shown, from shortly before the first word

Pieces = list[tuple[str, bool]]  # whether it is one of the words


def excerpt(whole: str, words: Sequence[str]) -> Pieces:
    """Cut a text to what stands around the first place of the first of the folded words."""
    text = without_tags(whole)
    first = next((word for word in words if word in Folded(text).text), "")
    if not first and words and words[0] in Folded(whole).text:  # it stands in a tag
        text, first = whole, words[0]
    start = max(0, _first(text, first) - CLIP // 4) if first else 0
    clip = ("…" if start else "") + text[start : start + CLIP] + ("…" if len(text) > start + CLIP else "")
    return _in_pieces(clip, words) if words else [(clip, False)] if clip else []


def _first(text: str, word: str) -> int:
    """Tell where the first place of a folded word begins; 0 where there is none."""
    folded = Folded(text)
    at = folded.text.find(word)
    return folded.place(at, at + len(word))[0] if at >= 0 else 0


def _in_pieces(text: str, words: Sequence[str]) -> Pieces:
    """Cut a text where one of the folded words stands."""
    longest_first = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    folded, last, pieces = Folded(text), 0, Pieces()
    for found in re.finditer(longest_first, folded.text):
        start, end = folded.place(*found.span())
        start = max(start, last)  # two words may be written with one character
        pieces += [(text[last:start], False), (text[start:end], True)]
        last = max(last, end)
    return [(piece, is_word) for piece, is_word in (*pieces, (text[last:], False)) if piece]
