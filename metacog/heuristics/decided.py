"""Lines of JSON to learn from and to rank: a posted body, one item, or a line of `manage.py export decisions`."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from .ranking.around import Post
from .ranking.features import Called, Seen, facts_in, see
from .ranking.learning import Decided
from .scorer import Scorer
from .text.strict_json import Refused
from .text.tags import ToolCall, items_of
from .tool_calls.gate import effect_part
from .wire.assessment import EffectPart
from .wire.wire import ResponseBody, check_response, instant

BELONGS = ("run", "conversation", "conversation_id")  # of metadata, beside the session
_VERDICTS = {"approve": False, "edit": False, "reject": True}


class Line(NamedTuple):
    """One text as it is ranked."""

    text: str
    shown: int  # characters of it that phrases may be told of: the response, or the item
    seen: Seen
    belongs: tuple[str, ...]
    metadata: Mapping[str, Any]
    is_call: bool  # a tool call, and no words


class Reader:
    """Reads lines in order: how many of a session came before counts. Refused says what is wrong with one.

    `signs` as the model that ranks them has `reads_signs`.
    """

    def __init__(self, *, signs: bool = False) -> None:
        self._signs = signs
        self._scorer = Scorer(profile="aware")
        self._turns = Counter[str]()

    def read(self, line: Any) -> Line:
        """Read a text with what is known of it; what else the line has is left out."""
        if not isinstance(line, Mapping) or not (isinstance(line.get("response"), str) or "text" in line):
            raise _refused("", "A line is an object with `response`, as it is posted, or with an item's `text`.")
        # An exported decision has the response's id as `response`, and the item's own text.
        is_body = "text" not in line
        taken = {name: line[name] for name in ResponseBody.model_fields if name in line}
        kind = "" if is_body else line.get("kind") or ""
        if not is_body:
            only = ("user_message", "session", "metadata")
            taken = {name: taken[name] for name in only if name in taken} | {"response": line["text"]}
            taken["session"] = taken.get("session") or None
        body = check_response(taken)
        verdict = self._scorer.score(body)
        items = items_of(body) if is_body else ()
        calls = [
            Called(item.call.name, item.call.arguments, said["effects"])
            for item, said in zip(items, verdict["items"], strict=False)
            if item.call
        ]
        if isinstance(line.get("name"), str) and not is_body:
            calls.append(self._called(line))
        is_call = bool(calls) and not (items and body["response"].strip()) and all(item.call for item in items)
        # What items say beside the response is read behind it, so that places in the response stay.
        beside = [item.text for item in items if item.text not in body["response"]]
        text = "\n".join(filter(None, [body["response"], *beside]))
        turns, session = 0, body["session"]
        if session:
            turns = self._turns[session]
            self._turns[session] += 1
        facts = facts_in(Post(body, verdict, turns), text, kind=str(kind), calls=calls)
        return Line(
            text,
            len(body["response"]),
            see(text, body["user_message"] or "", facts, signs=self._signs),
            belongs(session, body["metadata"]),
            body["metadata"] or {},
            is_call,
        )

    def _called(self, line: Mapping[str, Any]) -> Called:
        """Read the call of a line, with the effects that it says it has: they were read with the agent's workspace."""
        name, arguments = line["name"], line.get("arguments")
        if line.get("effects") is None:
            judged = self._scorer.judge(ToolCall(name, arguments))
            return Called(name, arguments, [*map(effect_part, judged.reading.effects)])
        try:
            return Called(name, arguments, _effects().validate_python(line["effects"]))
        except ValidationError:
            raise _refused("/effects", "`effects` is a list of effects, as an assessment has them.") from None

    def read_decided(self, line: Any) -> tuple[Decided, bool] | None:
        """Read what was decided, and whether on a tool call; None where a line tells of nothing a person decided."""
        at, rejected = decided_at(line), line.get("rejected")
        if rejected is None and isinstance(line.get("verdict"), str):
            if line.get("by", "person") != "person":
                return None
            rejected = _VERDICTS.get(line["verdict"])
            if rejected is None:
                return None
        if not isinstance(rejected, bool):
            raise _refused("/rejected", "`rejected` is true or false.")
        found = self.read(line)
        return Decided(found.seen, rejected, at, found.belongs, key=found.text), found.is_call


@lru_cache(1)
def _effects() -> TypeAdapter[list[EffectPart]]:
    return TypeAdapter(list[EffectPart])


def decided_at(line: Any) -> float:
    """Return when a line was decided, in seconds since the epoch."""
    value = line.get("decided_at") if isinstance(line, Mapping) else None
    if not isinstance(value, str):
        raise _refused("/decided_at", "`decided_at` is a time such as 2026-02-16T08:00:00Z.")
    try:
        return instant(value).timestamp()
    except ValueError as error:
        raise _refused("/decided_at", f"{value!r} is {error}.") from None


def belongs(session: str | None, metadata: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the names of what a text belongs to: its session, run and conversation."""
    found = [f"session:{session}"] if session else []
    known = metadata or {}
    found += [f"{name}:{known[name]}" for name in BELONGS if isinstance(known.get(name), str | int) and known[name]]
    return tuple(found)


def _refused(pointer: str, detail: str) -> Refused:
    return Refused(422, detail, [{"pointer": pointer, "detail": detail}])
