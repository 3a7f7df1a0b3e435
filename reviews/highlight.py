"""Cut a text into pieces that a template can show: marked where a signal fired, hidden characters named.

Nothing here makes HTML. Pieces are plain strings, and the template escapes each of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

# What takes part in a text without being seen. All of Unicode's Cf and Cc but \t and \n (a \r is shown unless
# a \n follows), line and paragraph separators, and the letters and marks that are drawn as nothing.
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_FORMAT = (
    r"\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
_BLANK = r"\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0"
_SELECTOR = r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
# A variation selector belongs to the character before it. One with nothing before it to vary, or after
# another one, can only carry something: whole messages have been hidden in such runs.
_STRAY = rf"(?:(?<![^\s])|(?<=[{_SELECTOR}]))[{_SELECTOR}]"
_HIDDEN = rf"(?:[{_CONTROL}{_FORMAT}{_BLANK}]|\r(?!\n)|{_STRAY})"
# Looks like a space and is another character. The ideographic space is not among them: its width shows it.
_ODD_SPACE = r"[\u00a0\u1680\u2000-\u200a\u202f\u205f]"
_UNUSUAL = re.compile(rf"(?P<hidden>{_HIDDEN}+)|(?P<odd>{_ODD_SPACE}+)")

# Beyond this many, names are written into the text instead of being elements of their own: a page of
# hundreds of thousands of elements can neither be built nor shown in reasonable time.
MAX_ELEMENTS = 2000


class Mark(NamedTuple):
    """Where a signal fired: code points, end exclusive."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is shown in one way."""

    text: str
    types: tuple[str, ...] = ()  # the signals that marked it
    begins: tuple[str, ...] = ()  # those of them whose mark begins here
    hidden: str = ""  # what to show in place of the text
    odd: bool = False  # spaces of an unusual kind
    names: str = ""  # of the unusual characters, in words


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as the page shows it."""

    pieces: Sequence[Piece] = field(default_factory=list)
    whole: tuple[str, ...] = ()  # signals that speak of the text as a whole
    hidden: int = 0  # how many characters cannot be seen

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def __str__(self) -> str:
        """Return it for where there is no mark-up: what cannot be seen stands there in words."""
        return "".join(piece.hidden or piece.text for piece in self.pieces)


def show(text: str, marks: Iterable[Mark] = ()) -> Shown:
    """Cut `text` at its marks, which may overlap, and at what cannot be seen."""
    whole, inside = [], []
    for mark in marks:
        if mark.start <= 0 and mark.end >= len(text):
            whole.append(mark.type)
        elif mark.start < mark.end and mark.start < len(text):
            inside.append(mark)
    runs = list(islice(_UNUSUAL.finditer(text), MAX_ELEMENTS + 1))
    if not (runs or inside):  # as most are; a list has a hundred of them
        return Shown([Piece(text)] if text else [], tuple(dict.fromkeys(whole)))
    if len(runs) <= MAX_ELEMENTS:
        hidden = sum(len(run["hidden"] or "") for run in runs)
        spell: Callable[[str, tuple[str, ...], tuple[str, ...]], Iterator[Piece]] = _spelled
    else:
        unusual = [character for character in set(text) - {"\r"} if _UNUSUAL.match(character)]
        hidden = sum(text.count(character) for character in unusual)
        spell = partial(_written_out, {ord(character): f"⟦{label(character)}⟧" for character in unusual})
    pieces = [
        piece
        for start, end, types, begins in _stretches(len(text), inside)
        for piece in spell(text[start:end], types, begins)
    ]
    return Shown(pieces, tuple(dict.fromkeys(whole)), hidden)


def _stretches(
    length: int, marks: Sequence[Mark]
) -> Iterator[tuple[int, int, tuple[str, ...], tuple[str, ...]]]:
    """Yield (start, end, types, begins) for each stretch between two edges of marks."""
    opening: dict[int, list[Mark]] = {}
    edges = {0, length}
    for mark in marks:
        opening.setdefault(mark.start, []).append(mark)
        edges |= {mark.start, min(mark.end, length)}
    places = sorted(edges)
    open_marks: list[Mark] = []
    for start, end in pairwise(places):
        begun = opening.get(start, [])
        open_marks = [mark for mark in open_marks if mark.end > start] + begun
        types = tuple(dict.fromkeys(mark.type for mark in open_marks))
        yield start, end, types, tuple(dict.fromkeys(mark.type for mark in begun))


def _spelled(text: str, types: tuple[str, ...], begins: tuple[str, ...]) -> Iterator[Piece]:
    at = 0
    for found in _UNUSUAL.finditer(text):
        if found.start() > at:
            yield Piece(text[at : found.start()], types, begins)
            begins = ()
        run = found[0]
        if found["odd"]:
            yield Piece(run, types, begins, odd=True, names=names(run))
        else:
            yield Piece(run, types, begins, hidden=label(run), names=names(run))
        begins = ()
        at = found.end()
    if at < len(text):
        yield Piece(text[at:], types, begins)


def _written_out(
    table: Mapping[int, str], text: str, types: tuple[str, ...], begins: tuple[str, ...]
) -> Iterator[Piece]:
    yield Piece(text.translate(table), types, begins)


def label(run: str) -> str:
    """Name characters by their code points, repetitions counted: `U+200B×3 U+2060`."""
    parts = []
    for character, count in _counted(run):
        code = f"U+{ord(character):04X}"
        parts.append(code if count == 1 else f"{code}×{count:,}")
    return " ".join(parts)


def names(run: str) -> str:
    """Name characters in Unicode's words; what tag characters spell is read out."""
    tags = [character for character in run if "\U000e0020" <= character <= "\U000e007e"]
    spelled = "".join(chr(ord(character) - 0xE0000) for character in tags)
    found = dict.fromkeys(unicodedata.name(character, "CONTROL CHARACTER") for character in run[:64])
    words = ", ".join(list(found)[:6])
    return f"“{spelled[:200]}” ({words})" if spelled else words


def _counted(run: str) -> Iterator[tuple[str, int]]:
    at = 0
    while at < len(run):
        end = at
        while end < len(run) and run[end] == run[at]:
            end += 1
        yield run[at], end - at
        at = end


def of_response(signals: Sequence[dict[str, Any]]) -> list[Mark]:
    """Return the marks in a response's own text, from its verdict's signals."""
    return [
        Mark(span["start"], span["end"], signal["type"])
        for signal in signals
        for span in signal["spans"]
        if span.get("item") is None
    ]


MAX_WORDS = 32  # different words of one signal that are looked for in an item's text
MAX_FOUND = 256  # marks of one signal that are looked for in an item's text, as many as a verdict holds


def of_item(
    signals: Sequence[dict[str, Any]], index: int, text: str, start: int | None, end: int | None
) -> list[Mark]:
    """Return the marks in one item's text.

    `start` and `end` say where the item stands in the response; None when it was sent beside it. Then the
    words that fired in the response are marked wherever the item repeats them.
    """
    marks: list[Mark] = []
    for signal in signals:
        wanted: dict[str, None] = {}
        for span in signal["spans"]:
            if span.get("item") is not None:
                if span["item"] == index:
                    marks.append(Mark(span["start"], span["end"], signal["type"]))
            elif start is None or end is None:
                wanted[span["text"]] = None
            elif span["start"] < end and span["end"] > start:
                inside = max(span["start"], start) - start, min(span["end"], end) - start
                marks.append(Mark(*inside, signal["type"]))
        if wanted:
            marks.extend(_repeated(text, list(wanted)[:MAX_WORDS], signal["type"]))
    return marks


def _repeated(text: str, words: Sequence[str], signal: str) -> Iterator[Mark]:
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)
    if alternatives:
        for count, found in enumerate(re.finditer(alternatives, text)):
            if count == MAX_FOUND:
                return
            yield Mark(found.start(), found.end(), signal)
