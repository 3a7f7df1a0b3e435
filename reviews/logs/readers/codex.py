"""Rollouts of Codex: a session a file, an item a line.

What the model said and called, and what was given back, stands in lines of the type `response_item`. Lines of the type
`event_msg` tell a terminal the same once more. Until the summer of 2025 the items stood in their lines bare.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Call, Fault, Read, Sessions, Turn, ended, hear, heard, moment, text_at

_ITEMS = {"response_item", "event_msg", "session_meta", "turn_context", "compacted"}
_BY_CODEX = re.compile(r"\s*(<[a-z_]+>|# AGENTS\.md instructions)")  # messages of the "user" that nobody typed
# What the model calls by these names comes to Codex's hook, and so to metacog, as `Bash` with its `command`.
_SHELLS = {"exec_command", "shell", "shell_command", "local_shell", "container.exec"}
_CALL, _OUTPUT = "_call", "_output"


class Codex:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.sessions = Sessions(state.get("sessions", ()))
        self.session = str(state.get("session") or state.get("name") or "rollout")
        self.told: dict[str, str] = dict(state.get("told", {}))  # of the session: folder, model, version, forked_from

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions.as_json(), "session": self.session, "told": self.told}

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        if record.get("type") in _ITEMS and isinstance(record.get("payload"), Mapping):
            return True
        is_head = record.keys() >= {"id", "timestamp", "instructions"} and "type" not in record
        return is_head or "record_type" in record

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        kind, item = record.get("type"), record.get("payload")
        if not isinstance(item, Mapping):
            kind, item = ("response_item" if kind else "session_meta"), record
        elif not isinstance(kind, str):
            return Read(fault=Fault(gettext_noop("It has no “type”.")))
        if "record_type" in record:
            return Read(skipped=text_at(record, "record_type")[:40])
        if kind in ("session_meta", "turn_context"):
            self._learn(item)
        if kind != "response_item":
            told = text_at(item, "type") if kind == "event_msg" else ""
            return Read(skipped=f"{kind}: {told}"[:60] if told else str(kind)[:40])
        return self._item(item, line, moment(record.get("timestamp")))

    def _learn(self, item: Mapping[str, Any]) -> None:
        """Take up what the session says of itself; a fork also has the head of the session that it goes on from."""
        name = text_at(item, "id", "session_id")
        if name and name == self.told.get("forked_from"):
            return
        if name:
            self.session, self.told = name, {}
        told = {"folder": "cwd", "model": "model", "version": "cli_version", "forked_from": "forked_from_id"}
        self.told |= {key: found for key, field in told.items() if (found := text_at(item, field))}

    def _item(self, item: Mapping[str, Any], line: int, at: str) -> Read:
        kind, known = text_at(item, "type"), self.sessions.of(self.session)
        if kind.endswith(_OUTPUT):
            hear(known, given=[_given(item.get("output"))])
            return Read(skipped="tool", parts=messages.left_out(messages.parsed(item.get("output"))))
        text, calls, left = "", list[Call](), messages.left_out(item.get("content") if kind == "message" else None)
        if kind == "message":
            role, text = messages.role(item), messages.text(item.get("content"))
            if role != "assistant":
                hear(known, text if role == "user" and not _BY_CODEX.match(text) else "")
                return Read(skipped=role or "message of nobody", parts=left)
        elif kind.endswith(_CALL):
            calls = [_call(kind, item)]
        if not text.strip() and not calls:
            told = kind[:40] if kind != "message" else "assistant, without text or tool call"
            return Read(skipped=told, parts=left)
        about = {name: self.told.get(name, "") for name in ("model", "version")}
        folder, key = self.told.get("folder", ""), f"{self.session}:{line}"
        turn = Turn(line, key, self.session, text, calls, at=at, folder=folder, told=about, **heard(known))
        return Read([turn], parts=left)


def _call(kind: str, item: Mapping[str, Any]) -> Call:
    """Return a call of a function (an MCP server's has its namespace), of a tool that takes a text, or of the API."""
    name = text_at(item, "name") or kind.removesuffix(_CALL)
    if server := text_at(item, "namespace").rstrip("_"):
        name = f"{server}__{name}"
    arguments = messages.parsed(item.get("arguments", item.get("action") or {}))
    if isinstance(text := item.get("input"), str):
        arguments = {"command" if name == "apply_patch" else "input": text}
    if name in _SHELLS and isinstance(arguments, Mapping):
        name, arguments = "Bash", {"command" if key == "cmd" else key: value for key, value in arguments.items()}
    return Call(name, arguments, text_at(item, "call_id", "id")[:255])


def _given(output: Any) -> str:
    """Return what a tool gave back; older versions write a text of JSON with the exit status beside it."""
    told = messages.parsed(output)
    if not isinstance(told, Mapping):
        return messages.given(output)
    inner, about = told.get("output", told.get("content")), told.get("metadata")
    text = messages.given(inner if inner is not None else output)
    return ended(text, about.get("exit_code") if isinstance(about, Mapping) else None)
