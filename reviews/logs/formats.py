"""The formats of logs that are known, and how a log is told to be of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from django.utils.translation import gettext_noop

from reviews.logs.readers.claude_code import ClaudeCode
from reviews.logs.readers.codex import Codex
from reviews.logs.readers.langfuse import Langfuse
from reviews.logs.readers.langsmith import LangSmith
from reviews.logs.readers.openai import OpenAI
from reviews.logs.readers.opencode import IS_DATABASE, OpenCode
from reviews.logs.readers.swe_agent import SWEAgent
from reviews.logs.readers.turns import Fault, Read
from reviews.logs.records import Record, Records
from reviews.logs.sources import Log

AUTO = "auto"
LOOKED_AT = 200  # records from which a log's format is told


class Reader(Protocol):
    """Reads the records of one format; what it remembers of them is plain JSON."""

    def __init__(self, state: Mapping[str, Any]) -> None: ...
    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool: ...
    def read(self, record: Mapping[str, Any], line: int) -> Read: ...
    def as_json(self) -> dict[str, Any]: ...


# In the order in which a record is tried: each says no to what another one surely knows.
FORMATS: Mapping[str, type[Reader]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "opencode": OpenCode,
    "swe-agent": SWEAgent,
    "langsmith": LangSmith,
    "langfuse": Langfuse,
    "openai": OpenAI,
}
NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "swe-agent": "SWE-agent",
    "openai": "OpenAI",
    "langsmith": "LangSmith",
    "langfuse": "Langfuse",
}


class UnknownFormat(ValueError):
    """Of none of the formats, as far as its first records show; `record` is the first, where none could be read."""

    def __init__(self, why: str, record: Record | None = None) -> None:
        super().__init__(why)
        self.record = record


class LogReader:
    """Reads a log into what its records come to; `state` says where to go on, in plain JSON."""

    def __init__(self, log: Log, wanted: str = AUTO, state: Mapping[str, Any] | None = None, *, name: str = "") -> None:
        """Raise UnknownFormat where it is to be told and cannot be."""
        state = state or {}
        start: Mapping[str, Any]
        self.format: str
        self.format, start = (state["format"], state["reader"]) if state else _told(log, wanted, name)
        self.records = Records(log, state.get("records"))
        self.reader = FORMATS[self.format](start)

    @property
    def state(self) -> dict[str, Any]:
        return {"format": self.format, "reader": self.reader.as_json(), "records": dict(self.records.state)}

    def __iter__(self) -> Iterator[tuple[int, Read]]:
        """Give what each record comes to, with its line."""
        for record in self.records:
            if record.fault is not None:
                yield record.line, Read(fault=record.fault)
                continue
            try:
                found = self.reader.read(record.value, record.line)
            except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
                found = Read(
                    fault=Fault(gettext_noop("Its shape is not the expected one: %(why)s."), {"why": repr(error)[:120]})
                )
            yield record.line, found


def _told(log: Log, wanted: str, file: str) -> tuple[str, dict[str, Any]]:
    """Return the format of a log, and what its reader begins with."""
    if log.head(len(IS_DATABASE)) == IS_DATABASE:
        why = gettext_noop(
            "It is a database, which only `import-log FILE` reads; `opencode export` prints its sessions."
        )
        raise UnknownFormat(why, Record(1, fault=Fault(why)))
    looked_at = list(islice(Records(log), LOOKED_AT))
    first = [record for record in looked_at if isinstance(record.value, dict)]
    name = wanted if wanted != AUTO else next((name for record in first if (name := _format_of(record))), "")
    if not name:
        raise _unknown(log, looked_at, is_read=bool(first))
    speaks = getattr(FORMATS[name], "speaks", None)
    by_root = speaks is not None and not any(speaks(record.value) for record in first)
    return name, {"by_root": by_root, "name": file[:100]}


def _unknown(log: Log, looked_at: Sequence[Record], *, is_read: bool) -> UnknownFormat:
    if not log.head(1):
        return UnknownFormat("The file is empty.", Record(1, fault=Fault(gettext_noop("The file is empty."))))
    if looked_at and not is_read:
        record = looked_at[0]
        return UnknownFormat(f"None of its first records can be read. Line {record.line}: {record.fault}", record)
    formats = ", ".join(FORMATS)
    return UnknownFormat(f"None of its first records is of a known format: {formats}.")


def _format_of(record: Record) -> str:
    return next((name for name, reader in FORMATS.items() if reader.knows(record.value)), "")
