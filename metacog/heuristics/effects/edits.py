"""Edits of files that come as one text: `apply_patch` envelopes, and unified diffs."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from .effect import Kind

MAX_EDITS = 500
# Codex takes blanks in front of its marks away.
_ENVELOPE = re.compile(
    r"^[^\S\n]*\*\*\* (Add|Update|Delete) File: (.+)$|^[^\S\n]*\*\*\* (Move) to: (.+)$", re.MULTILINE
)
_MARKED = re.compile(r"^[^\S\n]*\*\*\* (?:(?:Begin|End) Patch|(?:Add|Update|Delete) File:)", re.MULTILINE)
_BEGIN = re.compile(r"\s*(?:(?:apply_patch)?[^\S\n]*(?:<<[^\S\n]*(['\"])(?P<word>\w+)\1)?[^\S\n]*\n)?\s*(?=\*\*\* )")
_END = re.compile(r"^[^\S\n]*\*\*\* End Patch", re.MULTILINE)
_DIFF = re.compile(
    r"^(?:--- (?P<old>[^\t\n]+)[^\n]*\n\+\+\+ (?P<new>[^\t\n]+)|(?:rename|copy) (?:from (?P<from>.+)|to (?P<to>.+)))",
    re.MULTILINE,
)
_DELETED = re.compile(r"^diff --git a/(.+) b/\1\n(?:deleted file mode .+\n)", re.MULTILINE)
_KINDS: dict[str, Kind] = {"Add": "write", "Update": "write", "Move": "write", "Delete": "delete"}


class Edit(NamedTuple):
    """A file that an edit writes or deletes, and where its path stands in the text."""

    kind: Kind
    path: str
    start: int
    end: int


def read(text: str) -> list[Edit] | None:
    """Give the files that a patch changes, in order; None: the text is no patch that is understood."""
    found = {*islice(_envelope(text) if is_marked(text) else _diff(text), MAX_EDITS + 1)}
    if not 1 <= len(found) <= MAX_EDITS:
        return None
    return sorted(found, key=lambda edit: (edit.start, edit.kind))


def is_marked(text: str) -> bool:
    """Tell whether a text has the marks of an envelope: then nothing else in it is read as a diff."""
    return _MARKED.search(text) is not None


def _envelope(text: str) -> Iterator[Edit]:
    begin, end = _BEGIN.match(text), _END.search(text)
    if not begin or (end and text[end.end() :].strip() not in ("", begin["word"])):
        return  # what stands around it is no part of it
    for line in _ENVELOPE.finditer(text):
        group = 2 if line[1] else 4
        yield _edit(_KINDS[line[1] or line[3]], line, group)


def _edit(kind: Kind, line: re.Match[str], group: int | str) -> Edit:
    path = line[group].rstrip()
    return Edit(kind, path, line.start(group), line.start(group) + len(path))


def _diff(text: str) -> Iterator[Edit]:
    for line in _DELETED.finditer(text):
        yield _edit("delete", line, 1)
    for line in _DIFF.finditer(text):
        if line["from"] or line["to"]:
            yield _edit(
                "delete" if line["from"] and line[0].startswith("rename") else "write",
                line,
                "from" if line["from"] else "to",
            )
        elif line["new"].strip() == "/dev/null":
            yield _bare(_edit("delete", line, "old"))
        else:
            yield _bare(_edit("write", line, "new"))


def _bare(edit: Edit) -> Edit:
    """Take git's `a/` and `b/` away."""
    if edit.path.startswith(("a/", "b/")):
        return edit._replace(path=edit.path[2:], start=edit.start + 2)
    return edit
