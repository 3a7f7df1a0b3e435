"""What an agent said and did at one place of a log, and what of its conversation is known there."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict

MAX_GIVEN = 16_384  # characters of a message, and of what tools gave back, that are kept of a conversation
MAX_SESSIONS = 64  # conversations that are remembered at a time, those that went on last
MAX_SEEN = 4_096  # turns that a copy is told by
_MAX_NAME = 255


class Fault(NamedTuple):
    """Why something could not be read: a sentence, which pages translate, and what it names."""

    sentence: str
    names: Mapping[str, Any] = MappingProxyType({})

    def __str__(self) -> str:
        return self.sentence % self.names if self.names else self.sentence


class Call(NamedTuple):
    """A tool call as it was wanted."""

    name: str
    arguments: Any
    id: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that an agent said, with the tool calls in it."""

    line: int
    key: str  # what tells it from every other turn; the same in every copy of the log
    session: str
    text: str = ""
    calls: Sequence[Call] = ()
    user_message: str = ""
    given: str = ""  # what its tools gave back before it
    at: str = ""  # RFC 3339, in UTC; "" where the log does not say
    folder: str = ""  # that the agent worked in; "" where the log does not say
    told: Mapping[str, str] = field(default_factory=dict)  # the model and the program's version, as far as it says

    def body(self) -> dict[str, Any]:
        """Return what the agent would have posted."""
        items: list[dict[str, Any]] = []
        if self.text.strip():
            items.append({"kind": "chat", "text": self.text})
        for call in self.calls:
            item = {"kind": "tool_call", "name": call.name, "arguments": call.arguments}
            items.append(item | ({"call_id": call.id} if call.id.strip() else {}))
        body: dict[str, Any] = {"response": self.text, "items": items, "session": self.session[:_MAX_NAME]}
        metadata = {name: value[:_MAX_NAME] for name, value in self.told.items() if value}
        more: dict[str, Any] = {"user_message": self.user_message, "command_output": self.given}
        more |= {"occurred_at": self.at, "metadata": metadata}
        return body | {name: value for name, value in more.items() if value}


class Heard(TypedDict):
    """What a turn follows."""

    user_message: str
    given: str


@dataclass(slots=True)
class Read:
    """What one record came to: turns, or why there is none."""

    turns: list[Turn] = field(default_factory=list)
    skipped: str = ""  # what kind of record it is, where no agent says or does anything in it
    fault: Fault | None = None  # why it could not be read
    parts: Counter[str] = field(default_factory=Counter)  # of its messages, that are left out, by kind


class Sessions:
    """What is remembered of the last conversations; plain JSON, so that reading can go on elsewhere."""

    def __init__(self, kept: Sequence[tuple[str, dict[str, Any]]] = ()) -> None:
        self.kept = OrderedDict[str, dict[str, Any]](kept)

    def of(self, session: str) -> dict[str, Any]:
        found = self.kept.setdefault(session, {})
        self.kept.move_to_end(session)
        while len(self.kept) > MAX_SESSIONS:
            self.kept.popitem(last=False)
        return found

    def as_json(self) -> list[tuple[str, dict[str, Any]]]:
        return list(self.kept.items())


class Seen:
    """Tells what came before, among the last few thousand."""

    def __init__(self, kept: Sequence[str] = (), most: int = MAX_SEEN) -> None:
        self.kept, self.most = OrderedDict[str, None].fromkeys(kept), most

    def is_new(self, *of: str) -> bool:
        name = blake2b("\n".join(of).encode("utf-8", "replace"), digest_size=8).hexdigest()
        if name in self.kept:
            self.kept.move_to_end(name)
            return False
        self.kept[name] = None
        while len(self.kept) > self.most:
            self.kept.popitem(last=False)
        return True

    def as_json(self) -> list[str]:
        return list(self.kept)


def hear(known: dict[str, Any], user: str = "", given: Sequence[str] = ()) -> None:
    """Remember of a conversation what its user said last, and what tools gave back since the agent spoke."""
    if user.strip():
        known["user"] = context(user)
        known.pop("given", None)
    if any(given):
        known["given"] = context("\n".join(filter(None, [known.get("given", ""), *given])))


def heard(known: dict[str, Any]) -> Heard:
    """Return that for the agent's next turn; what tools gave back is for one turn."""
    return {"user_message": known.get("user", ""), "given": known.pop("given", "")}


def ended(output: str, status: Any) -> str:
    """Return what a command gave back, with its exit status if it failed."""
    return f"{output.rstrip()}\nExit code: {status}".lstrip() if status and type(status) is int else output


def context(text: str) -> str:
    """Return as much of what an agent was given as is kept, without what no response may hold."""
    return text[:MAX_GIVEN].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def moment(value: Any) -> str:
    """Return a time of a log in RFC 3339; "" where it is none. Without a zone it is one of UTC."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 1e11 else value
            return _written(datetime.fromtimestamp(seconds, UTC))
        found = datetime.fromisoformat(str(value).strip())
        return _written(found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def _written(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def text_at(record: Mapping[str, Any], *names: str) -> str:
    """Return the first of these that is a text or a number, as a text that JSON can carry on."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return context(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""
