"""Cut a text into pieces that a template can show: marked where a signal fired, hidden characters named.

Nothing here makes HTML. Pieces are plain strings, and the template escapes each of them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import NamedTuple

from django.utils.translation import ngettext

from metacog.heuristics.signals.spec import SignalPart
from metacog.heuristics.text.hidden import HIDES, find_hidden, unneeded, unusual
from metacog.heuristics.text.spans import Place
from metacog.heuristics.tool_calls.secrets import mask

# Looks like a space and is another character. The ideographic space is not among them: its width shows it.
_ODD_SPACES = r"\u00a0\u1680\u2000-\u200a\u202f\u205f"
_ODD = re.compile(rf"[{_ODD_SPACES}]+|\r(?!\n)")  # a \r is shown unless a \n follows
_WIDE_SPACE = re.compile(rf"[\u3000{_ODD_SPACES}]")
# Blank lines and long runs of spaces push what follows out of sight: they are folded, and counted.
_SPACES = rf" \t\u3000{_ODD_SPACES}"
_MOST_SPACES, _MOST_TABS = 40, 8
_FOUR_LINES = rf"(?:[{_SPACES}]*+\r?\n){{4}}(?:\n++|[{_SPACES}]*+\r?\n)*+"  # of empty ones any number at once
# It begins with what a search finds at once, so that a text without any is read in no time.
_BLANK_LINES = re.compile(rf"\n({_FOUR_LINES})")
_BLANK_BEGINNING = re.compile(_FOUR_LINES)
_LONG_BLANKS = re.compile(rf"[{_SPACES}]{{{_MOST_SPACES},}}+|\t{{{_MOST_TABS},}}+")
_HIDDEN, _UNUSUAL = unneeded(HIDES), re.compile(rf"[{HIDES}{_ODD_SPACES}]")

# Beyond this many, names are written into the text instead of being elements of their own: a page of
# hundreds of thousands of elements can neither be built nor shown in reasonable time.
MAX_ELEMENTS = 2000


LEARNED = "learned-risk"  # marks a phrase that raises the learned risk: no signal
LOOK_ALIKE = "look-alike"  # marks a letter that looks like another: no signal
EFFECT = "effect-"  # begins what marks an effect of a tool call, before its place in the list


class Mark(NamedTuple):
    """Where a signal fired, or a phrase raises the learned risk: code points, end exclusive."""

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
    fold: str = ""  # what to show in place of the text: how many blank lines or spaces it has

    @property
    def is_plain(self) -> bool:
        """Tell whether the text is shown as it is."""
        return not (self.types or self.hidden or self.odd or self.fold)

    @property
    def is_lines(self) -> bool:
        """Tell whether it is folded blank lines, not spaces within a line."""
        return bool(self.fold) and "\n" in self.text


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as the page shows it."""

    pieces: Sequence[Piece] = field(default_factory=list)
    whole: tuple[str, ...] = ()  # signals that speak of the text as a whole
    hidden: int = 0  # how many characters cannot be seen

    def __bool__(self) -> bool:
        return bool(self.pieces)

    @property
    def is_blank(self) -> bool:
        """Tell whether there is nothing to see: no text, or blanks alone."""
        return not any(piece.hidden or piece.text.strip() for piece in self.pieces)

    def __str__(self) -> str:
        """Return it for where there is no mark-up: what cannot be seen stands there in words."""
        return "".join(piece.hidden or (f"[{piece.fold}]" if piece.fold else piece.text) for piece in self.pieces)


def show(text: str, marks: Iterable[Mark] = (), *, is_revealed: bool = False) -> Shown:
    """Cut `text` at its marks, which may overlap, and at what cannot be seen; its secrets are masked."""
    if not is_revealed and (masked := mask(text)).edits:
        text, marks = masked.text, [Mark(*masked.moved(mark.start, mark.end), mark.type) for mark in marks]
    whole, inside = [], []
    for mark in marks:
        if mark.start <= 0 and mark.end >= len(text):
            whole.append(mark.type)
        elif mark.start < mark.end and mark.start < len(text):
            inside.append(mark)
    folded, unseen = _runs(text)
    runs = sorted([*folded, *unseen])
    if not (runs or inside):  # as most are; a list has a hundred of them
        return Shown([Piece(text)] if text else [], tuple(dict.fromkeys(whole)))
    if len(unseen) <= MAX_ELEMENTS:
        hidden = sum(end - start for start, end, _ in unseen if not _is_odd(text[start]))
        pieces = [*_spelled(text, _stretches(len(text), inside), runs)]
    else:
        strange = [character for character in set(text) if _UNUSUAL.match(character)]
        hidden = sum(text.count(character) for character in strange)
        written = {ord(character): f"⟦{label(character)}⟧" for character in strange}
        spelled = _spelled(text, _stretches(len(text), inside), folded)
        pieces = [piece if piece.fold else replace(piece, text=piece.text.translate(written)) for piece in spelled]
    return Shown(pieces, tuple(dict.fromkeys(whole)), hidden)


_Run = tuple[int, int, bool]  # from where to where, and whether it is folded


def _runs(text: str) -> tuple[list[_Run], list[_Run]]:
    """Return where what cannot be read as it stands is: what is folded, and apart from it what is hidden or odd."""
    beginning = _BLANK_BEGINNING.match(text)
    lines = [
        run.span(1) for run in islice(_BLANK_LINES.finditer(text, beginning.end() if beginning else 0), MAX_ELEMENTS)
    ]
    lines = [beginning.span(), *lines] if beginning else lines
    # The expressions take milliseconds for a long text, of which most have none of this.
    wide = _WIDE_SPACE.search(unusual(text))
    is_spaced = wide or "\t" * _MOST_TABS in text or " " * _MOST_SPACES in text.replace("\t", " ")
    is_odd = wide or text.count("\r") > text.count("\r\n")
    blanks = (run.span() for run in islice(_LONG_BLANKS.finditer(text), MAX_ELEMENTS)) if is_spaced else ()
    folded = sorted([*lines, *_apart(blanks, lines)])
    odd = (run.span() for run in _ODD.finditer(text)) if is_odd else ()
    hidden = find_hidden(text, _HIDDEN)
    unseen = [*islice(hidden, MAX_ELEMENTS + 1), *islice(odd, MAX_ELEMENTS + 1)]
    return [(*run, True) for run in folded], [(*run, False) for run in _apart(unseen, folded)]


def _apart(runs: Iterable[Place], others: Sequence[Place]) -> Iterator[Place]:
    """Give those runs that do not begin within others, which are in order."""
    starts = [start for start, _ in others]
    for run in runs:
        at = bisect_right(starts, run[0])
        if not at or others[at - 1][1] <= run[0]:
            yield run


_Stretch = tuple[int, int, tuple[str, ...], tuple[str, ...]]


def _stretches(length: int, marks: Sequence[Mark]) -> Iterator[_Stretch]:
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


def _is_odd(character: str) -> bool:
    return character != "\r" and _ODD.match(character) is not None


def _spelled(text: str, stretches: Iterable[_Stretch], runs: Sequence[_Run]) -> Iterator[Piece]:
    next_run = 0
    for at, end, types, begins in stretches:
        for first, last, is_folded in runs[next_run : bisect_left(runs, (end,))]:
            if first > at:
                yield Piece(text[at:first], types, begins)
                begins = ()
            run, at = text[max(first, at) : min(last, end)], min(last, end)
            yield replace(as_seen(run, is_folded=is_folded), types=types, begins=begins)
            begins = ()
            next_run += last <= end  # else the rest of it stands in the next stretch
        if at < end:
            yield Piece(text[at:end], types, begins)


def as_seen(run: str, *, is_folded: bool) -> Piece:
    """Return a run that cannot be read as it stands, or a part of one, as the page shows it."""
    if is_folded:
        return Piece(run, fold=_folded(run))
    if _is_odd(run[0]):
        return Piece(run, odd=True, names=names(run))
    return Piece(run, hidden=label(run), names=names(run))


def _folded(run: str) -> str:
    lines = run.count("\n")
    if lines:
        return ngettext("%(n)s blank line", "%(n)s blank lines", lines) % {"n": f"{lines:,}"}
    n = {"n": f"{len(run):,}"}
    if not run.strip("\t"):
        return ngettext("%(n)s tab", "%(n)s tabs", len(run)) % n
    return ngettext("%(n)s space", "%(n)s spaces", len(run)) % n


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


def of_response(signals: Sequence[SignalPart]) -> list[Mark]:
    """Return the marks in a response's own text, from its verdict's signals."""
    return [
        Mark(span["start"], span["end"], signal["type"])
        for signal in signals
        for span in signal["spans"]
        if span.get("item") is None
    ]


MAX_WORDS = 32  # different words of one signal that are looked for in an item's text
MAX_FOUND = 256  # marks of one signal that are looked for in an item's text, as many as a verdict holds


def of_item(signals: Sequence[SignalPart], index: int, text: str, start: int | None, end: int | None) -> list[Mark]:
    """Return the marks in one item's text.

    `start` and `end` say where the item stands in the response; None when it was sent beside it. Then the
    words that fired in the response are marked wherever the item repeats them, unless the signal has places of its own
    there.
    """
    marks: list[Mark] = []
    for signal in signals:
        wanted: dict[str, None] = {}
        is_scored = False
        for span in signal["spans"]:
            if span.get("item") is not None:
                if span["item"] == index:
                    is_scored = True
                    marks.append(Mark(span["start"], span["end"], signal["type"]))
            elif start is None or end is None:
                wanted[span["text"]] = None
            elif span["start"] < end and span["end"] > start:
                inside = max(span["start"], start) - start, min(span["end"], end) - start
                marks.append(Mark(*inside, signal["type"]))
        if wanted and not is_scored:
            marks.extend(_repeated(text, list(wanted)[:MAX_WORDS], signal["type"]))
    return marks


def _repeated(text: str, words: Sequence[str], signal: str) -> Iterator[Mark]:
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)
    if alternatives:
        for count, found in enumerate(re.finditer(alternatives, text)):
            if count == MAX_FOUND:
                return
            yield Mark(found.start(), found.end(), signal)
