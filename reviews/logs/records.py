"""Cut a log into its records: JSON Lines, one JSON document with its records in a list, or CSV. In constant memory.

A reader goes on from any record: what it has to know for that is in `state`, which is plain JSON.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers.turns import Fault
from reviews.logs.sources import CORRUPT, Log

MAX_RECORD = 8 * 1_048_576  # bytes of one record
_BLOCK = 262_144
_MARK = b"\xef\xbb\xbf"
# In which lists the records of a document stand, where it is no list itself.
LISTS = (
    "runs", "data", "observations", "traces", "generations", "items", "messages", "spans", "trajectory", "history",
)  # fmt: skip
_AROUND = (b"trace",)  # objects of a document in which such a list may stand
_SIGNS = re.compile(rb'[\[\]{}"\\\n]')
_FIELDS = {"id", "traceId", "trace_id", "input", "output", "inputs", "outputs", "prompt", "completion", "messages"}


@dataclass(frozen=True, slots=True)
class Record:
    """One record: where it begins, and its value, or why it could not be read."""

    line: int
    value: Any = None
    fault: Fault | None = None


class Records:
    """The records of a log, from wherever `state` says."""

    def __init__(self, log: Log, state: Mapping[str, Any] | None = None) -> None:
        self.log = log
        self.state: dict[str, Any] = dict(state or {}) or self._begin()

    @property
    def offset(self) -> int:
        """Return up to which byte, unpacked, the log has been read."""
        return int(self.state["offset"])

    def _begin(self) -> dict[str, Any]:
        head = self.log.head(MAX_RECORD + 1)
        start = len(_MARK) if head.startswith(_MARK) else 0
        state = {"shape": _shape(head[start:], len(head) <= MAX_RECORD), "offset": start, "line": 1}
        return state | ({"path": []} if state["shape"] == "document" else {})

    def __iter__(self) -> Iterator[Record]:
        self.log.bytes.seek(self.offset)
        read = {"lines": self._lines, "csv": self._rows, "document": self._document, "value": self._value}
        try:
            yield from read[self.state["shape"]]()
        except CORRUPT:
            # Nothing behind the damage can be found again.
            yield Record(
                self.state["line"], fault=Fault(gettext_noop("The compressed file is damaged or cut off here."))
            )

    # -- JSON Lines -------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[Record]:
        for line, raw, is_whole in self._raw_lines():
            if not is_whole:
                yield Record(line, fault=_TOO_LONG)
            elif raw.strip():
                yield _parsed(raw, line)

    def _raw_lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """Give each line with its number; of one that is too long its beginning."""
        while raw := self.log.bytes.readline(MAX_RECORD + 1):
            line, size, is_whole = self.state["line"], len(raw), len(raw) <= MAX_RECORD
            while not raw.endswith(b"\n") and len(raw) > MAX_RECORD:
                raw = self.log.bytes.readline(MAX_RECORD + 1)
                size += len(raw)
            self.state |= {"offset": self.offset + size, "line": line + 1}
            yield line, raw if is_whole else b"", is_whole

    # -- CSV --------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[Record]:
        csv.field_size_limit(MAX_RECORD)
        began = self.state["line"]

        def texts() -> Iterator[str]:
            for _line, raw, is_whole in self._raw_lines():
                yield raw.decode("utf-8", "replace") if is_whole else _CUT

        reader = csv.reader(texts())
        while True:
            began = self.state["line"]
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Record(began, fault=Fault(gettext_noop("It is no row of CSV: %(why)s."), {"why": str(error)}))
                continue
            if "header" not in self.state:
                self.state["header"] = cells
            elif cells:
                yield self._row(cells, began)

    def _row(self, cells: list[str], line: int) -> Record:
        header = self.state["header"]
        if len(cells) != len(header):
            counts = {"columns": len(cells), "wanted": len(header)}
            return Record(
                line, fault=Fault(gettext_noop("It has %(columns)d columns, and the header has %(wanted)d."), counts)
            )
        if any(_CUT in cell for cell in cells):
            return Record(line, fault=_TOO_LONG)
        return Record(line, {name: _cell(cell) for name, cell in zip(header, cells, strict=True)})

    # -- one document -----------------------------------------------------------------------------------

    def _value(self) -> Iterator[Record]:
        """Give a document that is a record itself; it is no larger than one."""
        if self.state.get("given"):
            return
        raw = self.log.bytes.read()
        self.state |= {"offset": self.offset + len(raw), "given": True}
        yield _parsed(raw, 1)

    def _document(self) -> Iterator[Record]:
        """Give each object of the lists of a document as it comes."""
        scan = _Scan(self.state)
        while block := self.log.bytes.read(_BLOCK):
            yield from scan.take(block)
        if scan.is_open:
            yield Record(
                scan.began or self.state["line"], fault=Fault(gettext_noop("The document ends in the middle."))
            )


class _Scan:
    """Finds the records of a document block by block; the state names the place behind the last one."""

    def __init__(self, state: dict[str, Any], lists: Collection[str] = LISTS) -> None:
        self.state, self.lists = state, lists
        self.path: list[str] = list(state["path"])  # what is open around the records: "{", "[" or, with records, "*"
        self.line: int = state["line"]
        self.at: int = state["offset"]  # of the block that comes next
        self.depth = 0  # within a record, or within what holds none
        self.began = 0  # the line of a record
        self.parts: list[bytes] | None = None  # of a record, as far as it has come; None: none is open
        self.size = 0
        self.in_text = self.is_escaped = False
        self.text = self.key = b""

    @property
    def is_open(self) -> bool:
        return bool(self.path) or self.depth > 0

    def take(self, block: bytes) -> Iterator[Record]:
        """Give what ends in this block."""
        last = 0  # up to where a record's bytes, or a text's, have been taken
        skip_to = -1
        for found in _SIGNS.finditer(block):
            place, sign = found.start(), found[0]
            if (self.is_escaped and place == 0) or place == skip_to:
                self.is_escaped = False
                self.line += sign == b"\n"
                continue
            self.is_escaped = False
            if sign == b"\n":
                self.line += 1
            elif self.in_text:
                if sign == b"\\":
                    skip_to = place + 1
                elif sign == b'"':
                    self.in_text = False
                    if not self.depth:
                        self.key = (self.text + block[last:place])[-64:]
                        last, self.text = place + 1, b""
            elif sign == b'"':
                self.in_text = True
                if not self.depth:
                    last = place + 1
            elif sign in b"[{":
                if self.depth:
                    self.depth += 1
                elif not self._opens(sign):
                    self.depth, last = 1, place
                    if self.path[-1:] == ["*"]:
                        self.began, self.parts, self.size = self.line, [], 0
            elif self.depth:
                self.depth -= 1
                if not self.depth and self.parts is not None:
                    ended, last = self._ended(block[last : place + 1]), place + 1
                    self.state |= {"offset": self.at + last, "line": self.line, "path": list(self.path)}
                    yield ended
            elif self.path and sign in b"]}":
                self.path.pop()
        self.is_escaped = skip_to == len(block)
        if self.depth and self.parts is not None:
            self._keep(block[last:])
        elif self.in_text and not self.depth:
            self.text = (self.text + block[last:])[-64:]
        self.at += len(block)

    def _opens(self, sign: bytes) -> bool:
        """Tell whether a list or an object holds records somewhere, instead of being one or holding none."""
        if self.path[-1:] == ["*"]:
            return False
        if sign == b"{":
            if self.path and self.key not in _AROUND:
                return False
            self.path.append("{")
        elif not self.path or self.key.decode("utf-8", "replace") in self.lists:
            self.path.append("*")
        else:
            return False
        return True

    def _keep(self, part: bytes) -> None:
        assert self.parts is not None
        self.size += len(part)
        if self.size <= MAX_RECORD:
            self.parts.append(part)

    def _ended(self, part: bytes) -> Record:
        self._keep(part)
        assert self.parts is not None
        raw, self.parts = b"".join(self.parts), None
        return _parsed(raw, self.began) if self.size <= MAX_RECORD else Record(self.began, fault=_TOO_LONG)


_TOO_LONG = Fault(
    gettext_noop("It is longer than %(most)d MiB, the most that is read of one record."),
    {"most": MAX_RECORD // 1_048_576},
)
_CUT = "\x00cut\x00"  # stands for a line of CSV that is too long


def _shape(head: bytes, is_whole: bool) -> str:
    """Tell how a log is written, from how it begins."""
    text = head.lstrip()
    if text[:1] == b"[":
        return "document"
    if text[:1] != b"{":
        header = text.partition(b"\n")[0].decode("utf-8", "replace")
        return "csv" if _FIELDS & {name.strip().strip('"') for name in header.split(",")} else "lines"
    first, newline, rest = text.partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        if not newline and not is_whole:
            return "document" if _begins_a_list(first) else "lines"
        # A document over several lines, or lines the first of which is damaged.
        is_document = first.strip() == b"{" or (newline and first.rstrip()[-1:] in b"{[,")
        if not is_document:
            return "lines"
        value = None
        if is_whole:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                return "document"
        return "document" if value is None or has_list(value) else "value"
    if rest.strip() or not isinstance(value, dict):
        return "lines"
    return "document" if has_list(value) else "lines"


def _begins_a_list(head: bytes) -> bool:
    """Tell whether a list of records begins in a line that is too long for one; a conversation is a record itself."""
    scan = _Scan({"path": [], "line": 1, "offset": 0}, [name for name in LISTS if name != "messages"])
    return next(scan.take(head), None) is not None or "*" in scan.path


def has_list(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a list of records with something around it."""
    if isinstance(inner := value.get("trace"), dict) and has_list(inner):
        return True
    found: list[Any] = next((value[name] for name in LISTS if isinstance(value.get(name), list)), [])
    if not (found and isinstance(found[0], dict)):
        return False
    # A conversation is a record itself, but OpenCode's: each of its messages says whose it is.
    return {"info", "parts"} <= found[0].keys() or not {"messages", "run_type", "choices"} & value.keys()


def _parsed(raw: bytes, line: int) -> Record:
    try:
        value = json.loads(raw := raw.strip())
    except UnicodeDecodeError as error:
        return Record(line, fault=Fault(gettext_noop("It is not UTF-8 (byte %(byte)d)."), {"byte": error.start}))
    except json.JSONDecodeError as error:
        return Record(line, fault=_broken(error))
    except ValueError as error:  # a number of too many digits
        return Record(line, fault=Fault(gettext_noop("It is not JSON: %(why)s."), {"why": str(error)}))
    except RecursionError:
        return Record(line, fault=Fault(gettext_noop("It is nested too deeply.")))
    if not isinstance(value, dict):
        return Record(line, fault=Fault(gettext_noop("It is no JSON object.")))
    return Record(line, value)


def _broken(error: json.JSONDecodeError) -> Fault:
    """Say what is wrong with a record, and at which of its characters."""
    if error.pos >= len(error.doc) or error.msg.startswith("Unterminated string"):
        return Fault(
            gettext_noop("Its JSON breaks off after %(count)d characters, so its end is missing."),
            {"count": len(error.doc)},
        )
    why = error.msg.removesuffix(" at").removesuffix(" starting")
    names = {"why": why[:1].lower() + why[1:], "place": error.pos + 1}
    return Fault(gettext_noop("It is not JSON: %(why)s at character %(place)d."), names)


def _cell(text: str) -> Any:
    """Return what a cell says: JSON where it is an object, a list or a quoted text, else the text."""
    if text[:1] in ("{", "[", '"'):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
