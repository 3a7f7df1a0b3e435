"""Thought threads as Markdown: the seed's files, in and out (seed 001, "組件一：Thought Thread").

No line is lost: what a file says besides title, meta, trail and next is kept as notes. Where a kept line would be read
as a heading or as an open fence, it is written with a backslash before it, as Markdown does.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from math import inf
from typing import NamedTuple

from ..text.timesense import day_of
from .threads import Status, Step, Thread, slug_of, stamped, whole_slug_of

_STATUSES: dict[str, Status] = {
    "active": "active",
    "paused": "paused",
    "resting": "paused",  # seen in real threads
    "resolved": "resolved",
}
_SECTIONS = ("meta", "trail", "next", "notes")


class ThreadError(ValueError):
    """A thread's Markdown that cannot be read; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"line {line}: {reason}")


class Places(NamedTuple):
    """The lines, counted from 1, in which the parts of a thread begin."""

    title: int
    next: int
    notes: int
    trail: tuple[int, ...]


class Parsed(NamedTuple):
    thread: Thread
    places: Places
    kept: int  # lines that had no place of their own and are among the notes


_THREAD = re.compile(r" {0,3}#\s++Thread\s*+[:：](.*)", re.IGNORECASE)
_TITLE = re.compile(r" {0,3}#\s++(.+)")
_HEADING = re.compile(r" {0,3}##\s++(.+)")
_MARKER = r"(?:[-*+•]|[0-9]{1,9}[.)])"
_ENTRY = re.compile(rf"([ \t]*+(?:{_MARKER}(?:\s++|$)|[0-9]{{1,9}}[、．]\s*+))(.*)")
_META = re.compile(rf"\s*+(?:{_MARKER}\s*+)?([^:：]+)[:：](.*)")  # the blanks within are stripped
# A fence, with the backslashes before it that make it none, and all that stands before them.
_FENCE = re.compile(rf"(\s*+(?:{_MARKER}\s++)*+)(\\*+)(`{{3,}}+(?=[^`]*$)|~{{3,}}+)")
_GUARDED = re.compile(r"( {0,3})(\\*+)(#{1,2}\s++\S.*)")
_STATUS = re.compile(rf"(?<![a-z])(?:{'|'.join(_STATUSES)})(?![a-z])")
_CHOICES = re.compile(rf"(?:(?:{'|'.join(_STATUSES)})\s*+[|/]?\s*+)+")  # the seed's own example leaves them standing
_STAMP = re.compile(
    r"[\[(（](?:(?P<year>[0-9]{4})-)?(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:\s(?P<extra>[^\])）\n]{0,100}))?[\])）]"
    r"\s*+(?=\S)"
)
_NO_TITLE = 'needs a title: "# Thread: …"'


def read_threads(markdown: str) -> list[Parsed | ThreadError]:
    """Read the seed's thread Markdown, one thread or several in a row: each, or what is wrong with it.

    Entries of the trail are dated [02-12], [2026-02-12], [2026-02-12 evening] or (2026-02-12); without a year it is the
    last such day up to the one the thread was last touched. What is missing keeps its default, touches are then as many
    as entries; a status "resting" is "paused", and a slug stands there only where it is not the title's.
    """
    lines = "\n".join(markdown.removeprefix("\ufeff").split("\r\n")).replace("\r", "\n").split("\n")
    code, front = _in_code(lines), _front_matter(lines)
    headed = [at for at in range(front, len(lines)) if at not in code]
    starts = [at for at in headed if _THREAD.match(lines[at])]
    if not starts or any(_section_of(lines[at]) in _SECTIONS for at in headed if at < starts[0]):
        starts.insert(0, 0)  # a thread that is not called one in its title
    parts = zip([0, *starts[1:]], [*starts[1:], len(lines)], strict=True)
    return [_read(_Reader(lines, code, front), start, end) for start, end in parts]


def _read(reader: "_Reader", start: int, end: int) -> Parsed | ThreadError:
    try:
        return reader.read(start, end)
    except ThreadError as error:
        return error


def _front_matter(lines: Sequence[str]) -> int:
    """Return how many lines the front matter takes: between two lines of hyphens, the first of the file among them."""
    if lines[0].rstrip() != "---":
        return 0
    for at, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return at + 1
        if _THREAD.match(line):
            break
    return 0


def _in_code(lines: Sequence[str]) -> set[int]:
    """Find the lines within fenced code, the closing fence among them. A fence that nothing closes opens none."""
    code: set[int] = set()
    unclosed = {"`": inf, "~": inf}  # the length of the shortest that nothing further down closes
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence and not fence[2] and len(fence[3]) < unclosed[fence[3][0]]:
            closing = re.compile(rf"\s*+{fence[3][0]}{{{len(fence[3])},}}+\s*+\Z").match
            end = next((below for below in range(at + 1, len(lines)) if closing(lines[below])), None)
            if end is None:
                unclosed[fence[3][0]] = len(fence[3])
            else:
                code.update(range(at + 1, end + 1))
                at = end
        at += 1
    return code


def _section_of(line: str) -> str | None:
    """Return what the heading of a section calls it, in small letters; None when the line is none."""
    heading = _HEADING.match(line)
    if heading is None or not heading[1].strip():
        return None
    return _bare(_bare(heading[1].rstrip("# \t")).rstrip(":：")).casefold()


def _bare(text: str) -> str:
    """Take blanks and emphasis from both ends of a text."""
    return text.strip().strip("*_`").strip()


def _is_structure(heading: str, in_notes: bool) -> bool:
    """Tell whether a line is read as a heading of ours. Sections that the seed does not know are part of the notes."""
    section = _section_of(heading)
    return _THREAD.match(heading) is not None or (section in _SECTIONS if in_notes else section is not None)


def _guarded(lines: Sequence[str], in_notes: bool = False) -> list[str]:
    """Write a backslash into lines that would be read as a heading or an open fence; `_as_meant` takes it away."""
    code = _in_code(lines)
    written = []
    for at, line in enumerate(lines):
        if at not in code:
            fence, heading = _FENCE.match(line), _GUARDED.match(line)
            if fence and (fence[2] or at + 1 not in code):
                line = line[: fence.end(1)] + "\\" + line[fence.end(1) :]
            elif heading and _is_structure(heading[3], in_notes):
                line = f"{heading[1]}\\{heading[2]}{heading[3]}"
        written.append(line)
    return written


def _as_meant(line: str, in_notes: bool = False) -> str:
    found = _FENCE.match(line)
    if not found and (found := _GUARDED.match(line)) and not _is_structure(found[3], in_notes):
        return line
    return line[: found.end(1)] + line[found.end(1) + 1 :] if found and found[2] else line


def _block(lines: Iterable[str]) -> str:
    """Join lines to a text, without those at either end that are blank."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    start = next((at for at, line in enumerate(kept) if line.strip()), 0)
    return "\n".join(kept[start:])


class _Reader:
    """Reads the threads of one file; each has a reader of its own."""

    def __init__(self, lines: Sequence[str], code: set[int], front: int) -> None:
        self.lines, self.code, self.front = lines, code, front
        self.meta: dict[str, tuple[int, str]] = {}
        self.entries: list[tuple[int, int, list[str]]] = []  # its line, where its text begins, its lines
        # Lines by section, as they stand: what is next, the notes, what has no place ("" is before the first section),
        # and the sections that the seed does not know ("other").
        self.kept: dict[str, list[str]] = {name: [] for name in ("", "other", *_SECTIONS)}
        self.has_gap = True  # between the notes and the first of those sections
        self.first: dict[str, int] = {}

    def read(self, start: int, end: int) -> Parsed:
        titled = [at for at in range(max(start, self.front), end) if at not in self.code]
        title_at = next((at for at in titled if _THREAD.match(self.lines[at])), None)
        if title_at is None:
            title_at = next((at for at in titled if _TITLE.match(self.lines[at])), None)
        if title_at is None:
            raise ThreadError(start + 1, _NO_TITLE)
        found = _THREAD.match(self.lines[title_at]) or _TITLE.match(self.lines[title_at])
        title = found[1].strip() if found else ""
        if not title:
            raise ThreadError(title_at + 1, _NO_TITLE)
        section = ""
        for at in range(start, end):
            name = _section_of(self.lines[at]) if at >= self.front and at not in self.code else None
            if name is not None:
                section = self._enter(name, section, at)
            elif at != title_at:
                self._take(section, at)
            else:
                section = "" if section == "other" else section
                self.kept[""].append("")
        created, last_touched = (self._date(name) for name in ("created", "last touched"))
        trail, places = [], []
        for at, _offset, lines in self.entries:
            if text := "\n".join(lines).strip():
                trail.append(_dated(text, last_touched))
                places.append(at + 1)
        thread = Thread(
            title=title,
            slug=self._slug() or slug_of(title),
            status=self._status(),
            created=created,
            last_touched=last_touched,
            touches=self._touches(len(trail)),
            trail=tuple(trail),
            next=_block(self.kept["next"]),
            notes=self._all_notes(),  # the last: what is not understood of the meta is among them
        )
        at = title_at + 1
        kept = sum(bool(line.strip()) for name in ("", "meta", "trail", "other") for line in self.kept[name])
        return Parsed(thread, Places(at, self.first.get("next", at), self.first.get("notes", at), tuple(places)), kept)

    def _enter(self, name: str, before: str, at: int) -> str:
        if name in _SECTIONS:
            if name == "notes" and self.kept["notes"]:
                self.kept["notes"].append("")
            return name
        if not self.kept["other"]:
            self.has_gap = before != "notes"
        self.kept["other"].append(self.lines[at])
        self.first.setdefault("notes", at + 1)
        return "other"

    def _take(self, section: str, at: int) -> None:
        line = self.lines[at]
        if at not in self.code and section in ("next", "trail", "notes", "other"):
            line = _as_meant(line, in_notes=section in ("notes", "other"))
        if section == "trail" and self._take_entry(line, at):
            return
        if section == "meta" and at not in self.code and (not line.strip() or self._take_meta(line, at)):
            return
        self.kept[section].append(line)
        if line.strip():
            self.first.setdefault("next" if section == "next" else "notes", at + 1)

    def _take_meta(self, line: str, at: int) -> bool:
        found = _META.fullmatch(line)
        key = " ".join(_bare(found[1]).casefold().split()) if found else ""
        value = _bare(found[2]) if found else ""
        if key not in ("created", "last touched", "status", "touches", "slug") or key in self.meta or not value:
            return False
        self.meta[key] = at, value
        return True

    def _take_entry(self, line: str, at: int) -> bool:
        text = line.lstrip(" \t")
        lead = line[: len(line) - len(text)]
        offset = self.entries[-1][1] if self.entries else None
        entry = _ENTRY.match(line) if at not in self.code else None
        if entry and (offset is None or len(lead.expandtabs(4)) < offset):
            self.entries.append((at, len(entry[1].expandtabs(4)), [entry[2]]))
        elif offset is not None:
            lead = lead.expandtabs(4) if "\t" in lead[:offset] else lead
            self.entries[-1][2].append(lead[offset:] + text)
        return bool(self.entries)

    def _all_notes(self) -> str:
        notes = list(self.kept["notes"])
        if notes and notes[-1].strip() and self.kept["other"] and self.has_gap:
            notes.append("")
        blocks = (self.kept[""], self.kept["meta"], self.kept["trail"], notes + self.kept["other"])
        return "\n\n".join(filter(None, map(_block, blocks)))

    def _keep(self, name: str) -> None:
        """Keep a line of the meta that says more than is understood."""
        self.kept["meta"].append(self.lines[self.meta[name][0]])

    def _slug(self) -> str:
        if "slug" not in self.meta:
            return ""
        at, text = self.meta["slug"]
        if text != whole_slug_of(text):
            raise ThreadError(at + 1, f'the slug is "{text}", and would have to be "{slug_of(text)}"')
        return text

    def _status(self) -> Status:
        if "status" not in self.meta:
            return "active"
        at, text = self.meta["status"]
        found = _STATUS.search(text.casefold())
        if found is None:
            raise ThreadError(at + 1, f'the status is "{text}", and none of ' + ", ".join(_STATUSES))
        if not _CHOICES.fullmatch(text.casefold()):
            self._keep("status")
        return _STATUSES[found[0]]

    def _touches(self, entries: int) -> int:
        if "touches" not in self.meta:
            return entries
        text = self.meta["touches"][1]
        found = re.match(r"([0-9]{1,9})(?:\.0+)?(?![0-9])", text)
        if not found or found[0] != text:
            self._keep("touches")
        return int(found[1]) if found else entries

    def _date(self, name: str) -> date | None:
        if name not in self.meta:
            return None
        at, text = self.meta[name]
        if text[10:]:
            self._keep(name)
        try:
            return date.fromisoformat(text[:10])
        except ValueError:
            raise ThreadError(at + 1, f'"{text}" is no date as in 2026-02-16') from None


def _dated(text: str, last: date | None) -> Step:
    """Read an entry. A backslash before what would be its day says that it is none."""
    bare = text.lstrip("\\")
    stamp = _STAMP.match(bare)
    if stamp is None or not (stamp["year"] or last):
        return Step(text)
    on = day_of(stamp["month"], stamp["day"], stamp["year"], last or date.max)
    if on is None:  # what is in the brackets is no day
        return Step(text)
    if bare != text:
        return Step(text[1:])
    return Step(text[stamp.end() :], on, (stamp["extra"] or "").strip())


def format_thread(thread: Thread) -> str:
    """Write a thread as the seed's Markdown; `read_threads` takes it back."""
    lines = [f"# Thread: {thread.title}", "", "## Meta"]
    if thread.created:
        lines.append(f"- Created: {thread.created}")
    if thread.last_touched:
        lines.append(f"- Last touched: {thread.last_touched}")
    lines += [f"- Status: {thread.status}", f"- Touches: {thread.touches}"]
    if thread.slug and thread.slug not in (slug_of(thread.title), whole_slug_of(thread.title)):
        lines.append(f"- Slug: {thread.slug}")
    lines += ["", "## Trail"]
    for step in thread.trail:
        lines += _guarded(_entry(step, thread.last_touched))
    lines += ["", "## Next", *_guarded(thread.next.split("\n"))]
    if thread.notes:
        notes = thread.notes.split("\n")
        is_headed = _section_of(notes[0]) not in (None, *_SECTIONS)
        lines += ["", *([] if is_headed else ["## Notes"]), *_guarded(notes, in_notes=True)]
    return "\n".join(lines) + "\n"


def _entry(step: Step, last: date | None) -> list[str]:
    text = stamped(step, last)
    if step.on is None and _dated(step.text, last) != Step(step.text):
        text = "\\" + text
    elif step.on and _FENCE.match(step.text):
        text = f"{stamped(Step('', step.on, step.extra), last).strip()}\n{step.text}"
    first, *more = text.split("\n")
    return [f"- {first}", *(f"  {line}" if line else "" for line in more)]
