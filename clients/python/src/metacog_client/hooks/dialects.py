"""What Claude Code and Codex send before and after a tool is used, and what each takes as an answer.

Both let the tool run on what they do not understand, on any exit status but 0 and 2, and when the hook is later than
its timeout. So nothing but what the program at hand documents is ever printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..gating import ToolCall

EVENT = "PreToolUse"
AFTER, AFTER_FAILURE = "PostToolUse", "PostToolUseFailure"
KEPT = ("cwd", "permission_mode", "prompt_id", "turn_id", "model", "agent_id", "agent_type")
MAX_KEPT, MAX_DESCRIPTION = 200, 10_000  # characters
# As Codex writes it before the output that the model reads, at the beginning of a line.
EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})$", re.MULTILINE)
JSON_TYPES: dict[type, str] = {str: "string", bool: "boolean", dict: "object", list: "array"}
# What their own tools cannot do without, of which no hook is told. The TypeScript client has the same.
REQUIRED: dict[str, tuple[str, ...]] = {
    "Agent": ("description", "prompt"),
    "Bash": ("command",),
    "Edit": ("file_path", "old_string", "new_string"),
    "Glob": ("pattern",),
    "Grep": ("pattern",),
    "NotebookEdit": ("notebook_path", "new_source"),
    "Read": ("file_path",),
    "Skill": ("skill",),
    "Task": ("description", "prompt"),
    "TodoWrite": ("todos",),
    "WebFetch": ("url", "prompt"),
    "WebSearch": ("query",),
    "Write": ("file_path", "content"),
}

Do = Literal["nothing", "allow", "deny", "ask", "defer"]


class NotForUs(Exception):
    """The input is of another event: no answer to it would be understood."""


class OutOfShape(Exception):
    """The input is not what this program documents."""


@dataclass(frozen=True)
class Call:
    """One use of a tool, as the hook was told of it; `around` may be another when the same call is told of again."""

    session: str
    asked: ToolCall
    around: Mapping[str, str]


@dataclass(frozen=True)
class Ran:
    """A call that was made, as the hook was told of it afterwards."""

    session: str
    call_id: str
    status: Literal["done", "failed"]
    detail: str
    result: Any


@dataclass(frozen=True)
class Answer:
    """What the program is to do. `nothing` leaves it to its own rules; `arguments` replace the tool's with `allow`."""

    do: Do
    reason: str = ""
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Dialect:
    """One program: its name, what it can be told when nobody has decided in time, and its own timeout in seconds.

    `after` are the events by which it says what became of a call.
    """

    name: str
    late: tuple[Do, ...]
    says_allow: bool  # also without other arguments
    after: tuple[str, ...]
    timeout: int = 600

    def read(self, data: bytes) -> Call | Ran:
        try:
            told = json.loads(data)
        except ValueError:
            raise OutOfShape("its input is no JSON") from None
        if not isinstance(told, dict):
            raise OutOfShape("its input is no JSON object")
        event = told.get("hook_event_name")
        if event in self.after:
            return ran(told)
        if event != EVENT:
            raise NotForUs(f"{event} is not one of {', '.join((EVENT, *self.after))}")
        missing = [name for name in ("session_id", "tool_name") if not told.get(name) or type(told[name]) is not str]
        if missing or not isinstance(told.get("tool_input"), dict):
            raise OutOfShape(f"its input has no {missing[0] if missing else 'tool_input'}")
        call_id, given = told.get("tool_use_id"), told["tool_input"]
        purpose = given.get("description")
        asked = ToolCall(
            told["tool_name"],
            given,
            # Without an id it cannot be told from the next call like it: then it is a new one, never a known one.
            call_id=call_id if isinstance(call_id, str) and call_id else None,
            schema=schema_of(told["tool_name"], given),
            description=purpose[:MAX_DESCRIPTION] if isinstance(purpose, str) and purpose.strip() else None,
        )
        around = {name: told[name][:MAX_KEPT] for name in KEPT if isinstance(told.get(name), str)}
        return Call(told["session_id"], asked, around)

    def write(self, answer: Answer) -> str:
        """Return what goes to standard output; "" leaves the call to the program's own rules."""
        if answer.do == "nothing" or (answer.do == "allow" and answer.arguments is None and not self.says_allow):
            return ""
        told: dict[str, Any] = {"hookEventName": EVENT, "permissionDecision": answer.do}
        told["permissionDecisionReason"] = answer.reason
        if answer.arguments is not None:
            told |= {"updatedInput": answer.arguments, "additionalContext": answer.reason}
        return json.dumps({"hookSpecificOutput": told})


def ran(told: Mapping[str, Any]) -> Ran:
    """Read what became of a call; NotForUs where it does not say of which."""
    session, call_id = told.get("session_id"), told.get("tool_use_id")
    if not (isinstance(session, str) and isinstance(call_id, str)):
        raise NotForUs(f"this {told['hook_event_name']} has no session_id or tool_use_id")
    if told["hook_event_name"] == AFTER_FAILURE:
        error = told.get("error")
        return Ran(session, call_id, "failed", error if isinstance(error, str) else "", told.get("tool_response"))
    result = told.get("tool_response")
    code, fields = exit_code(result), result if isinstance(result, dict) else {}
    has_failed = code not in (None, 0) or fields.get("isError") is True or fields.get("interrupted") is True
    detail = f"exit {code}" if code is not None else "interrupted" if fields.get("interrupted") is True else ""
    return Ran(session, call_id, "failed" if has_failed else "done", detail, result)


def exit_code(result: Any) -> int | None:
    """Find a command's exit status: in a field, or in words before its output."""
    if isinstance(result, str):
        if found := EXIT_CODE.search(result[:MAX_KEPT].split("Output:", 1)[0]):
            return int(found[1])
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return None
    if not isinstance(result, dict):
        return None
    for fields in (result, result.get("metadata")):
        for name in ("exit_code", "exitCode"):
            if isinstance(fields, dict) and type(code := fields.get(name)) is int:
                return code
    return None


def schema_of(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Say what an edit must keep: each argument's type, and what the tool cannot do without, such as the command."""
    types = {name: JSON_TYPES.get(type(value), "number") for name, value in arguments.items() if value is not None}
    required = [name for name in REQUIRED.get(tool, ("command",)) if name in types]
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"type": each} for name, each in types.items()}}
    return schema | ({"required": required} if required else {})


CLAUDE_CODE = Dialect("claude-code", late=("deny", "defer", "ask"), says_allow=True, after=(AFTER, AFTER_FAILURE))
# It knows neither defer nor ask, nor an allow that changes nothing.
CODEX = Dialect("codex", late=("deny",), says_allow=False, after=(AFTER,))
DIALECTS = {dialect.name: dialect for dialect in (CLAUDE_CODE, CODEX)}
