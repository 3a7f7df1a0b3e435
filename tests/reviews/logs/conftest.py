"""Logs as other programs write them, and what is read of them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from reviews.logs.formats import LogReader
from reviews.logs.readers.turns import Read, Turn
from reviews.logs.sources import Log


def lines(*records: Any) -> bytes:
    return "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records).encode()


def read(raw: bytes, format: str = "auto", name: str = "") -> list[tuple[int, Read]]:
    return list(LogReader(Log(io.BytesIO(raw)), format, name=name))


def turns(raw: bytes, format: str = "auto") -> list[Turn]:
    return [turn for _line, found in read(raw, format) for turn in found.turns]


def said(uuid: str, *content: Any, session: str = "s1", **more: Any) -> dict[str, Any]:
    """Return a line of Claude Code with what its agent said."""
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    message = {"role": "assistant", "model": "claude", "content": blocks}
    return {"type": "assistant", "uuid": uuid, "sessionId": session, "message": message} | more


def asked(uuid: str, content: Any, session: str = "s1", **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "sessionId": session, "message": message} | more


def tool(name: str, id: str = "toolu_1", /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(content: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "toolu_1", "content": content}]


SURE = "The cause is clearly the cache."  # 50 points with the pattern `cache`: held


@pytest.fixture
def session() -> bytes:
    """A session of Claude Code: three tool calls, two answers, a line that is damaged, others that say nothing."""
    return lines(
        {"type": "summary", "summary": "Slow page", "leafUuid": "a2"},
        asked("u1", "Why is it slow?", timestamp="2026-01-20T11:57:17.716Z"),
        said("a1", SURE, timestamp="2026-01-20T11:57:18Z"),
        said("a2", tool("Bash", command="ls"), timestamp="2026-01-20T11:57:19Z"),
        asked("u2", result("12 files")),
        '{"type": "assistant", "uuid": "a3", broken\n',
        said(
            "a4", "There are 12 files.", tool("mcp__bank__transfer", "toolu_2", eur=100, api_key="sk-abcdefghijklmnopq")
        ),
        said("a5", tool("Bash", "toolu_3", command="ls")),
        said("a2", tool("Bash", command="ls"), timestamp="2026-01-20T11:57:19Z"),
    )
