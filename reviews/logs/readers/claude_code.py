"""Transcripts of Claude Code: a session a file, a message or a part of one a line.

The agent's words and tool calls stand in lines of the type `assistant`, one block or several a line; what its user and
its tools said in those of the type `user`. A resumed session repeats lines of the one before, with their `uuid`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Fault, Read, Seen, Sessions, Turn, hear, heard, moment, text_at


class ClaudeCode:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.sessions, self.seen = Sessions(state.get("sessions", ())), Seen(state.get("seen", ()))

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions.as_json(), "seen": self.seen.as_json()}

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        is_line = isinstance(record.get("type"), str) and bool({"sessionId", "leafUuid", "messageId"} & record.keys())
        return is_line and "run_type" not in record

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        kind, message = record.get("type"), record.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, Mapping):
            return (
                Read(skipped=str(kind)[:40])
                if isinstance(kind, str)
                else Read(fault=Fault(gettext_noop("It has no “type”.")))
            )
        session = text_at(record, "sessionId")
        if record.get("isSidechain") and (agent := text_at(record, "agentId")):
            session += f"/{agent}"
        known = self.sessions.of(session)
        if kind == "user":
            content = message.get("content")
            said = "" if record.get("isMeta") else messages.text(content)
            hear(known, said, messages.tool_results(content))
            return Read(skipped="user", parts=messages.left_out(content))
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            return Read(skipped="written by Claude Code itself")
        key = text_at(record, "uuid") or f"{session}:{line}"
        if not self.seen.is_new(key):
            return Read(skipped="copy of an earlier line")
        text, calls = messages.text(message.get("content")), messages.calls(message)
        left = messages.left_out(message.get("content"))
        if not text.strip() and not calls:
            return Read(skipped="assistant, without text or tool call", parts=left)
        turn = Turn(
            line=line,
            key=key,
            session=session,
            text=text,
            calls=calls,
            at=moment(record.get("timestamp")),
            folder=text_at(record, "cwd"),
            told={"model": text_at(message, "model"), "version": text_at(record, "version")},
            **heard(known),
        )
        return Read([turn], parts=left)
