"""Lay out what a tool call changes in files as one unified diff an edit, whatever the tool is called."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.secrets import masked_text
from reviews.presentation.arguments import LANGUAGES
from reviews.presentation.highlight import Mark, Shown, show

# What is replaced, and by what.
_PAIRS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("oldText", "newText"),
    ("oldStr", "newStr"),
    ("old_content", "new_content"),
    ("old_source", "new_source"),
)
_PATHS = ("file_path", "path", "filePath", "filepath", "filename", "file_name", "file", "notebook_path", "target_file")
_WHOLE = ("content", "contents", "file_text", "fileText", "text")
_PATCH = re.compile(r"\s*(?:\*\*\* Begin Patch|diff --git |Index: |--- [^\n]+\n\+\+\+ )")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADS = ("*** ", "--- ", "+++ ", "diff ", "index ", "Index: ", "@@")
AROUND = 3  # unchanged lines beside a change
MOST_PAIRS = 100_000  # of lines that are compared; beyond it what differs is one stretch
MOST_EDITS = 100  # of one call
BLANK = 4  # lines from which on they have one sign and are folded


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of one file."""

    path: Shown
    diff: Shown
    added: int  # lines
    removed: int
    is_code: bool
    others: Sequence[tuple[str, Shown]] = ()  # what else the edit says of itself: `replace_all`
    is_same: bool = False  # nothing differs but what is masked
    known: Known | None = None  # what it is compared with, where that is not in the call


@dataclass(frozen=True, slots=True)
class Known:
    """A text that the agent wrote to a path before, as far as its calls say."""

    text: str
    response: str  # the public id of the one with the call


@dataclass(slots=True)
class Edits:
    """The edits of a call, and which arguments they show."""

    edits: list[FileEdit] = field(default_factory=list)
    pointers: set[str] = field(default_factory=set)


class _Line(NamedTuple):
    sign: str  # "+", "-", " ", or "" of what stands between the lines
    text: str


def file_edits(
    arguments: Any, *, known: Callable[[str], Known | None] = lambda path: None, revealed: Collection[str] | None = ()
) -> Edits:
    """Return a call's edits in order. `known` gives what the agent wrote to a path before, if anything."""
    return _Reader(known, revealed).read(arguments)


class _Reader:
    def __init__(self, known: Callable[[str], Known | None], revealed: Collection[str] | None) -> None:
        self.known, self.revealed, self.found = known, revealed, Edits()

    def read(self, arguments: Any) -> Edits:
        if isinstance(arguments, str):
            self._patch("", arguments)
        if not isinstance(arguments, dict):
            return self.found
        path = _path(arguments)
        self._pair([], arguments, path)
        for name, value in arguments.items():
            if isinstance(value, str):
                self._patch(pointer([name]), value)
            elif isinstance(value, list) and all(isinstance(part, str) for part in value) and len(value) == 2:
                self._patch(pointer([name]), value[1])  # ["apply_patch", "*** Begin Patch…"]
            elif isinstance(value, list) and 0 < len(value) <= MOST_EDITS and all(map(_is_edit, value)):
                for at, part in enumerate(value):
                    self._pair([name, at], part, _path(part) or path, is_nested=True)
                self.found.pointers.add(pointer([name]))
        if not self.found.edits and path:
            self._written(arguments, path)
        return self.found

    def _said(self, place: str, text: str) -> str:
        return text if self.revealed is None or place in self.revealed else masked_text(text)

    def _pair(self, loc: list[str | int], said: Mapping[str, Any], path: str, *, is_nested: bool = False) -> None:
        names = _pair_of(said)
        if not names:
            return
        places = [pointer([*loc, name]) for name in names]
        texts = [self._said(place, said[name]) for place, name in zip(places, names, strict=True)]
        others = [(name, show(_json(value))) for name, value in said.items() if name not in (*names, *_PATHS)]
        same = texts[0] == texts[1]
        self._add(path, _compared(*texts), others=others if is_nested else (), is_same=same)
        self.found.pointers |= set(places)

    def _patch(self, place: str, text: str) -> None:
        if _PATCH.match(text):
            self._add("", _of_patch(self._said(place, text)), is_code=True)
            self.found.pointers.add(place)

    def _written(self, arguments: Mapping[str, Any], path: str) -> None:
        name = next((each for each in _WHOLE if isinstance(arguments.get(each), str)), "")
        before = self.known(path) if name else None
        if before:
            place = pointer([name])
            texts = masked_text(before.text), self._said(place, arguments[name])
            self._add(path, _compared(*texts), is_same=texts[0] == texts[1], known=before)
            self.found.pointers.add(place)

    def _add(self, path: str, lines: Sequence[_Line], *, is_code: bool | None = None, **told: Any) -> None:
        is_code = path.rpartition(".")[2].lower() in LANGUAGES if is_code is None else is_code
        signs = [line.sign for line in lines]
        diff = _shown(lines)
        self.found.edits.append(
            FileEdit(show(masked_text(path)), diff, signs.count("+"), signs.count("-"), is_code, **told)
        )


def _path(said: Mapping[str, Any]) -> str:
    return next((said[name] for name in _PATHS if isinstance(said.get(name), str)), "")


def _pair_of(said: Mapping[str, Any]) -> tuple[str, str] | None:
    return next((pair for pair in _PAIRS if all(isinstance(said.get(name), str) for name in pair)), None)


def _is_edit(part: Any) -> bool:
    return isinstance(part, dict) and _pair_of(part) is not None


def _json(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)


def whole_of(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the path and the whole text of a call that writes a file; None where it does something else."""
    path, text = (
        _path(arguments),
        next((arguments[each] for each in _WHOLE if isinstance(arguments.get(each), str)), None),
    )
    return (path, text) if path and text is not None and not _pair_of(arguments) else None


def edited(arguments: Mapping[str, Any], text: str) -> str | None:
    """Return a text as a call leaves it that edits its file; None where that cannot be told."""
    parts = [arguments, *(part for value in arguments.values() if isinstance(value, list) for part in value)]
    for part in filter(_is_edit, parts):
        old, new = (part[name] for name in _pair_of(part) or ())
        if not old or old not in text:
            return None
        text = text.replace(old, new, -1 if part.get("replace_all") else 1)
    return text


def known_text(path: str, calls: Iterable[tuple[Mapping[str, Any], str]]) -> Known | None:
    """Return what an agent's calls, the latest first, left in a file; None where that cannot be told."""
    later: list[Mapping[str, Any]] = []
    for arguments, response in calls:
        if _path(arguments) != path:
            continue
        if whole := whole_of(arguments):
            text: str | None = whole[1]
            for each in reversed(later):
                text = text if text is None else edited(each, text)
            return None if text is None else Known(text, response)
        later.append(arguments)
    return None


# -- lines -------------------------------------------------------------------------------------


def _compared(old: str, new: str) -> list[_Line]:
    """Return how one text becomes the other; of long stretches that both have what stands beside a change."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    if ("\r\n" in old) != ("\r\n" in new):  # it would be seen nowhere else
        before, after = ([re.sub(r"\r\n\Z", "␍\n", line) for line in lines] for lines in (before, after))
    start = next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    least = min(len(before), len(after)) - start
    tail = next((at for at in range(least) if before[-1 - at] != after[-1 - at]), least)
    head, end = before[:start], before[len(before) - tail :]
    lines = [*_same(head, is_last=False, is_first=True)]
    lines += _middle(before[start : len(before) - tail], after[start : len(after) - tail])
    return [*lines, *_same(end, is_last=True, is_first=False)]


def _middle(before: list[str], after: list[str]) -> Iterator[_Line]:
    if len(before) * len(after) > MOST_PAIRS:
        codes: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(before), 0, len(after))]
    else:
        codes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, i, j, k, m in codes:
        if kind == "equal":
            yield from _same(before[i:j], is_first=False, is_last=False)
        else:
            yield from (_Line("-", line) for line in before[i:j])
            yield from (_Line("+", line) for line in after[k:m])


def _same(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[_Line]:
    before, after = (0 if is_first else AROUND), (0 if is_last else AROUND)
    if len(lines) <= before + after + 1:
        yield from (_Line(" ", line) for line in lines)
        return
    yield from (_Line(" ", line) for line in lines[:before])
    yield _Line("", f"@@ {len(lines) - before - after:,} unchanged @@\n")
    yield from (_Line(" ", line) for line in lines[len(lines) - after :])


def _of_patch(text: str) -> list[_Line]:
    """Return a patch's own lines, by the signs that they have."""
    return [
        _Line("", line) if line[:1] not in ("+", "-", " ") or line.startswith(_HEADS) else _Line(line[0], line[1:])
        for line in _LINE.findall(text)
    ]


def _shown(lines: Sequence[_Line]) -> Shown:
    """Write lines with their signs, and mark what is added and taken away; blank lines are folded under one sign."""
    text: list[str] = []
    marks: list[Mark] = []
    at = 0
    for (sign, is_blank), group in groupby(lines, key=lambda line: (line.sign, not line.text.strip())):
        found = [line.text for line in group]
        is_folded = is_blank and len(found) > BLANK
        said = sign + "".join(found) if is_folded else "".join(sign + line for line in found)
        if not said.endswith("\n"):
            said += "\n\\ No newline at end of file\n" if sign in ("+", "-") else "\n"
        if kind := {"+": "ins", "-": "del", "": "c"}.get(sign):
            marks.append(Mark(at, at + len(said), kind))
        text.append(said)
        at += len(said)
    return show("".join(text).removesuffix("\n"), marks, is_revealed=True)
