"""Lay a command out one simple command a line, and SQL one clause a line: where its lines begin, and nothing else.

No character is written anew: a line is a stretch of the text as it was sent, so that its marks stay where they are, and
what is approved can be read in either. (A printer of SQL such as sqlglot's writes functions, quotes and comments in its
own way.) Only blanks at the edges of lines are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..text.spans import Place

MOST = 20_000  # characters of a text that is laid out
MOST_DEPTH = 8

# What ends a command stays on its line; what leads to the next one begins that one's.
_BETWEEN = re.compile(r"(?P<leads>&&|\|\|?&?)|;;?&?|\n|(?<![<>])&(?![>\d])")
_OPENS = ("(", "`", "{", "'", '"')  # before a command within another
_CLOSES = re.compile(r"[ \t\r\n]*[)`}'\"]")

_SQL = re.compile(
    # What is never closed runs to the end, so that no text is read twice.
    r"(?P<skip>'(?:[^']|'')*+'?|\"(?:[^\"]|\"\")*+\"?|`[^`]*+`?|/\*.*?(?:\*/|\Z)|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))"
    r"|(?P<comment>--[^\n]*)|(?P<open>\()|(?P<close>\))|(?P<end>;)|(?P<line>\n)|(?P<word>[^\W\d]\w*)",
    re.DOTALL,
)
_CLAUSES = {
    *("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "FETCH", "WINDOW", "UNION", "EXCEPT"),
    *("INTERSECT", "SET", "VALUES", "RETURNING", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "WHEN"),
}
_CONDITIONS = ("AND", "OR")
# What a clause's word is after another: `DELETE FROM`, `IS DISTINCT FROM`, `LEFT OUTER JOIN`, `UNION ALL SELECT`.
_GOES_ON = {
    "FROM": ("DELETE", "DISTINCT"),
    "JOIN": ("LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"),
    **dict.fromkeys(("LEFT", "RIGHT", "FULL", "INNER", "CROSS"), ("NATURAL",)),
    "GROUP": ("WITHIN",),
    "SET": ("CHARACTER",),
    "WHEN": ("CASE",),
}
_CALLED = ("LEFT", "RIGHT")  # are functions, too
_QUERIES = ("SELECT", "WITH", "VALUES")


class Line(NamedTuple):
    """A stretch of a text on a line of its own, and how far it is set in."""

    start: int
    end: int
    depth: int


class _Cut(NamedTuple):
    at: int
    depth: int


@dataclass(slots=True)
class _Level:
    """Commands beside each other: all of a text, or those within a command."""

    stop: int  # where what they are within ends
    last: int | None = None  # where the last one of them ended


def of_shell(text: str, commands: Sequence[Place]) -> list[Line]:
    """Return the lines of a command by the places of its simple commands; [] where it is laid out as it stands."""
    if len(text) > MOST:
        return []
    cuts, levels = [_Cut(0, 0)], [_Level(len(text))]
    for start, stop in sorted(set(commands), key=lambda place: (place[0], -place[1])):
        while len(levels) > 1 and levels[-1].stop <= start:
            cuts += _closed(text, levels)
        level, depth = levels[-1], len(levels) - 1
        if level.last is not None:
            cuts.append(_Cut(_begin(text, level.last, start), depth))
        elif depth:
            if not text[:start].rstrip().endswith(_OPENS):
                continue  # what a wrapper runs stays behind it
            cuts.append(_Cut(start, depth))
        level.last = stop
        levels.append(_Level(stop))
    while len(levels) > 1:
        cuts += _closed(text, levels)
    return _lines(text, cuts)


def _begin(text: str, end: int, start: int) -> int:
    """Return where the line of a command begins that starts behind the end of another."""
    at = start
    for found in _BETWEEN.finditer(text, end, start):
        at = found.start() if found["leads"] else found.end()
    return at


def _closed(text: str, levels: list[_Level]) -> list[_Cut]:
    """Leave the innermost level; what closes it begins a line."""
    last = levels.pop().last
    return [_Cut(last, len(levels) - 1)] if last is not None and _CLOSES.match(text, last) else []


def of_sql(text: str) -> list[Line]:
    """Return the lines of SQL by its clauses; [] where it is laid out as it stands."""
    return _lines(text, list(_clauses(text))) if len(text) <= MOST else []


def _clauses(text: str) -> Iterator[_Cut]:
    inner: list[int | None] = []  # of each open bracket, how far the query in it is set in
    base = depth = 0  # of the query, and of the line
    last, is_new, is_between = "", True, False
    yield _Cut(0, 0)
    for found in _SQL.finditer(text):
        kind, at, end = found.lastgroup, found.start(), found.end()
        word = found["word"].upper() if kind == "word" else ""
        cut = None
        if kind == "open":
            is_query = text[end : end + 100].lstrip()[:6].upper().startswith(_QUERIES)
            inner.append(base if is_query else None)
            if is_query:
                base = depth + 1
                cut, is_new = _Cut(end, base), True
        elif kind == "close" and inner:
            if (before := inner.pop()) is not None:
                cut, base = _Cut(at, base - 1), before
        elif kind == "end" and not inner:
            cut, is_new = _Cut(end, 0), True
        elif kind == "line":
            cut = _Cut(end, base + (not is_new))
        elif inner and inner[-1] is None:
            pass
        elif word in _CONDITIONS and not (word == "AND" and is_between):
            cut = _Cut(at, base + 1)
        elif word in _CLAUSES and not is_new and not _goes_on(word, last, text, end):
            cut = _Cut(at, base)
        if cut:
            depth = cut.depth
            yield cut
        is_between = word == "BETWEEN" or (is_between and word != "AND")
        last = word or (last if kind in ("line", "comment") else "")
        is_new = is_new and not word


def _goes_on(word: str, last: str, text: str, end: int) -> bool:
    return last in _GOES_ON.get(word, ()) or (word in _CALLED and text[end:].lstrip().startswith("("))


def _lines(text: str, cuts: Sequence[_Cut]) -> list[Line]:
    """Cut a text into lines, the last cut of a place first; [] where it has these lines as it is."""
    depths = {cut.at: min(cut.depth, MOST_DEPTH) for cut in cuts}
    places = sorted(depths)
    found = []
    for start, stop in zip(places, [*places[1:], len(text)], strict=True):
        piece = text[start:stop]
        if piece.strip():
            begins = start + len(piece) - len(piece.lstrip())
            found.append(Line(begins, start + len(piece.rstrip()), depths[start]))
    shown = [" " * 2 * line.depth + text[line.start : line.end] for line in found]
    return [] if shown == text.strip().split("\n") else found
