"""Make HTML of a text that is marked: Markdown laid out, every piece of it escaped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.utils.html import conditional_escape, escape, format_html, format_html_join

from reviews.presentation.explanation import Part
from reviews.presentation.highlight import Piece, Shown, as_seen, show
from reviews.presentation.phrases import pieces, signal_title
from reviews.presentation.reading.blocks import layout, shown_of, shows
from reviews.presentation.reading.places import Span

LONGEST = 20_000  # characters of a text that is laid out: 50 ms


@dataclass(frozen=True, slots=True)
class Unseen:
    """A marked stretch that a layout leaves out, such as the dashes of a table."""

    text: Shown
    titles: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read: laid out where it is Markdown."""

    html: str = ""  # safe; "" where it is best shown as it is
    unseen: Sequence[Unseen] = ()
    is_too_long: bool = False
    longest: str = f"{LONGEST:,}"


def reading(text: Shown | None, parts: Iterable[Part] = ()) -> Reading:
    """Lay a text out; the marks carry the reasons of their parts."""
    if text is None:
        return Reading()
    source = "".join(piece.text for piece in text.pieces)
    if len(source) > LONGEST:
        return Reading(is_too_long=True)
    ops = layout(source)
    if ops is None:
        return Reading()
    cutter, parts = _Cutter(text.pieces), list(parts)
    html = [_shown(cutter.cut(op), parts) if isinstance(op, Span) else _tag(op) for op in ops]
    shown = shown_of(ops)
    unseen = [each for each in _stretches(text.pieces) if not shows(shown, source, each[0], each[1])]
    return Reading(format_html_join("", "{}", ((each,) for each in html)), [*_named(unseen, source)])


@lru_cache(maxsize=256)
def _tag(written: str) -> str:
    """Return a tag as `blocks` wrote it."""
    return format_html(f"{written}{{}}", "")


def _shown(cut: Sequence[Piece], parts: Sequence[Part]) -> str:
    if len(cut) == 1 and cut[0].is_plain:
        return escape(cut[0].text)
    return conditional_escape(pieces(Shown(cut), parts))


def _named(unseen: Sequence[tuple[int, int, str]], source: str) -> Iterator[Unseen]:
    """Name each stretch once, with all that marked it."""
    titles: dict[str, dict[str, None]] = {}
    for start, end, name in unseen:
        titles.setdefault(source[start:end], {})[signal_title(name)] = None
    for text, found in titles.items():
        yield Unseen(show(text), ", ".join(found))


def _stretches(all_pieces: Sequence[Piece]) -> list[tuple[int, int, str]]:
    """Return from where to where each mark goes, and its type."""
    found: list[tuple[int, int, str]] = []
    last: dict[str, int] = {}  # of a type: which of those found is its latest
    at = 0
    for piece in all_pieces:
        end = at + len(piece.text)
        for name in piece.types:
            latest = last.get(name)
            if latest is None or name in piece.begins or found[latest][1] != at:
                last[name] = len(found)
                found.append((at, end, name))
            else:
                found[latest] = (found[latest][0], end, name)
        at = end
    return found


class _Cutter:
    """Cuts stretches out of a text's pieces, in order; what begins in a stretch that is left out begins in the next."""

    def __init__(self, all_pieces: Sequence[Piece]) -> None:
        self._pieces = all_pieces
        self._starts: list[int] = []
        at = 0
        for piece in all_pieces:
            self._starts.append(at)
            at += len(piece.text)
        self._next = 0  # the first piece whose beginnings were not told
        self._open: dict[str, None] = {}  # what has begun and was not told

    def cut(self, span: Span) -> list[Piece]:
        """Return the pieces of a stretch."""
        found: list[Piece] = []
        at, index = span.start, bisect_right(self._starts, span.start) - 1
        while at < span.end:
            piece, start = self._pieces[index], self._starts[index]
            end = min(span.end, start + len(piece.text))
            found.append(self._part(index, piece.text[at - start : end - start]))
            at, index = end, index + 1
        return found

    def _part(self, index: int, text: str) -> Piece:
        for piece in self._pieces[self._next : index + 1]:
            self._open |= dict.fromkeys(piece.begins)
        self._next = max(self._next, index + 1)
        piece = self._pieces[index]
        if piece.is_plain:
            return Piece(text)
        begins = tuple(name for name in self._open if name in piece.types)
        for name in begins:
            del self._open[name]
        if piece.text == text:
            return replace(piece, begins=begins)
        is_unseen = piece.hidden or piece.odd or piece.fold
        seen = as_seen(text, is_folded=bool(piece.fold)) if is_unseen else Piece(text)
        return replace(seen, types=piece.types, begins=begins)
