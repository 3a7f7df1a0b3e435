"""Sessions of OpenCode: a message with its parts a record, as `opencode export` has them, or its database.

A part of an assistant's message is a text, or a tool call with what it gave back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Call, Read, Seen, Sessions, Turn, ended, hear, heard, moment, text_at

IS_DATABASE = b"SQLite format 3\0"
_NOT_OPENED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
_MESSAGES = (
    "SELECT message.id, session_id, directory, session.version, message.data FROM message"
    " JOIN session ON session.id = session_id ORDER BY session_id, message.time_created, message.id"
)
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


class OpenCode:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.sessions, self.seen = Sessions(state.get("sessions", ())), Seen(state.get("seen", ()))

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions.as_json(), "seen": self.seen.as_json()}

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        return isinstance(record.get("info"), Mapping) and isinstance(record.get("parts"), list)

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        info, parts = record["info"], [part for part in record["parts"] if isinstance(part, Mapping)]
        session, role = text_at(info, "sessionID") or "session", text_at(info, "role")
        known = self.sessions.of(session)
        # What OpenCode puts into a conversation itself is `synthetic`.
        text = messages.text([part for part in parts if not part.get("synthetic")])
        left = messages.left_out([part for part in parts if part.get("type") != "tool" and not part.get("synthetic")])
        if role != "assistant":
            hear(known, text)
            return Read(skipped=role or "message of nobody", parts=left)
        if not self.seen.is_new(key := text_at(info, "id") or f"{session}:{line}"):
            return Read(skipped="copy of an earlier record")
        if info.get("summary") is True:
            return Read(skipped="summary of the conversation")
        tools = [part for part in parts if part.get("type") == "tool"]
        if not text.strip() and not tools:
            failed = info.get("error")
            told = "assistant, failed" if failed else "assistant, without text or tool call"
            return Read(skipped=told, parts=left)
        path, time = info.get("path"), info.get("time")
        turn = Turn(
            line=line,
            key=key,
            session=session,
            text=text,
            calls=[_call(part) for part in tools],
            at=moment(time.get("created")) if isinstance(time, Mapping) else "",
            folder=text_at(path if isinstance(path, Mapping) else {}, "cwd") or text_at(info, "directory"),
            told={"model": text_at(info, "modelID"), "version": text_at(info, "version")},
            **heard(known),
        )
        hear(known, given=[_given(part) for part in tools])
        return Read([turn], parts=left)


def _state(part: Mapping[str, Any]) -> Mapping[str, Any]:
    state = part.get("state")
    return state if isinstance(state, Mapping) else {}


def _call(part: Mapping[str, Any]) -> Call:
    return Call(text_at(part, "tool") or "tool", _state(part).get("input") or {}, text_at(part, "callID")[:255])


def _given(part: Mapping[str, Any]) -> str:
    state = _state(part)
    told = state.get("metadata")
    text = messages.given(state.get("output") or state.get("error"))
    return ended(text, told.get("exit") if isinstance(told, Mapping) else None)


def exported(database: Path) -> IO[bytes]:
    """Return all sessions of a database as JSON Lines. Raise OSError where it cannot be read as one of OpenCode's."""
    lines = TemporaryFile(prefix="metacog-log-")  # noqa: SIM115 - whoever reads it closes it
    try:
        for record in _records(database):
            lines.write(json.dumps(record, default=str).encode() + b"\n")
    except sqlite3.Error as error:
        lines.close()
        raise OSError(f"{database.name} is no database of OpenCode: {error}") from None
    lines.seek(0)
    return lines


def _records(database: Path) -> Iterator[dict[str, Any]]:
    with _opened(database) as connection:
        for id, session, directory, version, data in connection.execute(_MESSAGES):
            parts = [messages.parsed(part) for (part,) in connection.execute(_PARTS, (id,))]
            info = messages.parsed(data)
            about = {"id": id, "sessionID": session, "directory": directory, "version": version}
            yield {"info": about | info if isinstance(info, dict) else about, "parts": parts}


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    """Open a database with what was written last, which stands in a file beside it."""
    with TemporaryDirectory(prefix="metacog-log-") as folder:
        try:
            connection = _connected(database)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _NOT_OPENED:
                raise
            # Even to read it, SQLite makes a third file in its folder; where it cannot, both are copied.
            copy = Path(folder) / database.name
            for end in ("", "-wal"):
                if (file := database.with_name(database.name + end)).is_file():
                    copyfile(file, copy.with_name(copy.name + end))
            connection = _connected(copy)
        try:
            yield connection
        finally:
            connection.close()


def _connected(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
