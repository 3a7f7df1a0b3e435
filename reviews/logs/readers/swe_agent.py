"""Trajectories of SWE-agent (`.traj`) and of mini-swe-agent (`.traj.json`): a run a file.

SWE-agent's `history` has the conversation, a message a record; its `trajectory` the same by steps, of which the folder
is taken. Of mini-swe-agent a file is one record, or a message of it, where it is too long for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Call, Read, Sessions, Turn, ended, hear, heard, moment, text_at

_READ = ("message", "function_call", "function_call_output")
_STEP = {"action", "observation"}


class SWEAgent:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.sessions = Sessions(state.get("sessions", ()))
        self.name = str(state.get("name") or "trajectory")  # of the file: a run has no other
        self.folder = str(state.get("folder", ""))

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions.as_json(), "name": self.name, "folder": self.folder}

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        if "trajectory_format" in record or record.keys() >= _STEP:
            return True
        return "role" in record and (
            "message_type" in record or bool({"actions", "returncode"} & _extra(record).keys())
        )

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        if record.keys() >= _STEP and "role" not in record:
            state = messages.parsed(record.get("state"))
            self.folder = self.folder or (text_at(state, "working_dir") if isinstance(state, Mapping) else "")
            return Read(skipped="step of the trajectory")
        if not isinstance(record.get("messages"), list):
            found = self._message(record, line, f"{self.name}:{line}", {})
            left = _left_out(record, found)
            return Read([found], parts=left) if isinstance(found, Turn) else Read(skipped=found, parts=left)
        info = _at(record, "info")
        self.folder = text_at(_at(info, "config", "environment"), "cwd")
        told = {"model": text_at(_at(info, "config", "model"), "model_name"), "version": text_at(info, "mini_version")}
        read = Read()
        for place, each in enumerate(record["messages"]):
            if isinstance(each, Mapping):
                found = self._message(each, line, f"{self.name}:{line}:{place}", told)
                read.turns += [found] if isinstance(found, Turn) else []
                read.parts += _left_out(each, found)
        read.skipped = "" if read.turns else "run without a message of the assistant"
        return read

    def _message(self, message: Mapping[str, Any], line: int, key: str, told: Mapping[str, str]) -> Turn | str:
        """Return what the agent said and did, or who else it was."""
        known, role, extra = self.sessions.of(self.name), messages.role(message), _extra(message)
        content = message.get("content", message.get("output"))
        if message.get("object") == "response":  # as OpenAI's Responses have it, whole
            role, content = "assistant", [part for each in _outputs(message) for part in _content(each)]
        if message.get("is_demo") or message.get("message_type") == "demonstration":
            return "demonstration"
        # SWE-agent's user says what the task is; from then on it is the shell that speaks as one.
        is_observation = role == "user" and "agent" in message and "user" in known
        if role == "tool" or "returncode" in extra or is_observation:
            given = extra.get("raw_output")
            output = ended(given, extra.get("returncode")) if isinstance(given, str) else messages.given(content)
            hear(known, given=[output])
            return "tool"
        text = messages.text(message.get("thought")) or messages.text(content)
        if role != "assistant":
            hear(known, text if role == "user" else "")
            return role or text_at(message, "role")[:40] or "message of nobody"
        calls = messages.calls(message) or messages.calls({"tool_calls": _outputs(message)}) or [*_actions(message)]
        if not text.strip() and not calls:
            return "assistant, without text or tool call"
        at = moment(extra.get("timestamp"))
        return Turn(line, key, self.name, text, calls, at=at, folder=self.folder, told=told, **heard(known))


def _at(record: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the object that stands there, empty where there is none."""
    for name in names:
        inner = record.get(name)
        record = inner if isinstance(inner, Mapping) else {}
    return record


def _left_out(message: Mapping[str, Any], found: Turn | str) -> Counter[str]:
    parts = messages.left_out(message.get("content")) if found != "demonstration" else Counter[str]()
    others = [str(each.get("type"))[:40] for each in _outputs(message) if each.get("type") not in _READ]
    parts.update(others)
    for name in ("thinking_blocks", "reasoning_content"):
        if found != "demonstration" and (given := message.get(name)):
            parts["thinking" if name == "thinking_blocks" else name] += len(given) if isinstance(given, list) else 1
    return parts


def _extra(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return _at(message, "extra")


def _outputs(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = message.get("output")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _content(item: Mapping[str, Any]) -> list[Any]:
    found = item.get("content") if item.get("type") == "message" else None
    return found if isinstance(found, list) else []


def _actions(message: Mapping[str, Any]) -> Iterator[Call]:
    """Give what an agent without tool calls has run: in its shell, of SWE-agent with commands of its own."""
    actions = _extra(message).get("actions")
    for action in actions if isinstance(actions, list) else [{"command": message.get("action")}]:
        if isinstance(action, Mapping) and isinstance(command := action.get("command"), str) and command:
            yield Call("bash", {"command": command})
