"""What is asked, and what became of it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Of the names that ids are made from; fixed for ever, or a retry of an older release's call would be another call.
NAMESPACE = uuid.UUID("6d657461-636f-5067-8174-652d63616c6c")

OutcomeVerdict = Literal[
    "pass", "approve", "edit", "reject", "deny", "expired", "withdrawn", "unreachable", "pending"
]  # fmt: skip


@dataclass(frozen=True)
class ToolCall:
    """A call that an agent is about to make.

    `arguments` is any JSON. `call_id` is the framework's own id: the same call asked again under it, in this run and
    by any process, is one held item. `schema` is the JSON Schema that a reviewer's edit must meet,
    `annotations` are what the tool's MCP server says of it.
    """

    name: str
    arguments: Any
    call_id: str | None = None
    schema: Mapping[str, Any] | None = None
    description: str | None = None
    annotations: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Text:
    """Words that an agent is about to say, remember or hand on; `kind` as metacog has them (chat, remember, task…)."""

    text: str
    kind: str = "chat"
    call_id: str | None = None


Asked = ToolCall | Text
NOT_JSON = (TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Outcome:
    """What may be done now.

    Only if `allowed`: a call with `arguments`, words as `text`, both as decided. `message` is one English sentence for
    the model, whatever the verdict. `held` names the held item, where there is one, and `review_url` its page, where a
    person decides it (`gate` and `ask` know it, `wait` alone does not). `effects` are what `ask` was told a tool call
    would do, None where it was not. `session` and `tool` say what was asked about, to know its output by.
    """

    verdict: OutcomeVerdict
    allowed: bool
    message: str
    arguments: Any = None
    text: str | None = None
    reason: str = ""
    held: str | None = None
    by: str | None = None
    review_url: str | None = field(default=None, compare=False)
    effects: tuple[Mapping[str, Any], ...] | None = field(default=None, compare=False)
    session: str | None = field(default=None, compare=False)
    tool: str | None = field(default=None, compare=False)


def as_json(value: Any) -> str:
    """Write the same value as the same text, in any process; one of NOT_JSON where it cannot be.

    A question's schema stays in its order: people get the fields of its form in it.
    """
    return json.dumps(_in_order(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        kept = "schema" if value.get("kind") == "question" else None
        return {name: value[name] if name == kept else _in_order(value[name]) for name in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, (list, tuple)) else value


def key_of(run: str, session: str, asked: Asked) -> str:
    """Give the idempotency key of a question: the same for the same call of the same run, a new one without an id."""
    if asked.call_id is None:
        return str(uuid.uuid4())
    what = [asked.name, asked.arguments] if isinstance(asked, ToolCall) else [asked.kind, asked.text]
    try:
        return derived(run, session, asked.call_id, type(asked).__name__, *what)
    except NOT_JSON:  # it cannot be asked about, under whatever key
        return str(uuid.uuid4())


def derived(*parts: Any) -> str:
    return str(uuid.uuid5(NAMESPACE, as_json(parts)))


MESSAGES: dict[OutcomeVerdict, str] = {
    "pass": "Allowed.",
    "approve": "A reviewer approved this.",
    "edit": "A reviewer changed this before it was allowed.",
    "reject": "Not done: a reviewer rejected this.",
    "deny": "Not done: a rule forbids this.",
    "expired": "Not done: nobody decided this in time, and it has expired.",
    "withdrawn": "Not done: this was withdrawn before it was decided.",
    "unreachable": "Not done: the review service could not be asked, and without it nothing is done.",
    "pending": "Not done yet: this is held for review, and nobody has decided it so far.",
}
ENDS = (".", "!", "?", "…", "。", "！", "？")
ALLOWED: frozenset[OutcomeVerdict] = frozenset({"pass", "approve", "edit"})


def ended(sentence: str) -> str:
    """Give a sentence the full stop that whoever wrote it left out: another one may follow."""
    sentence = sentence.rstrip()
    return sentence if sentence.endswith(ENDS) else f"{sentence}."


def outcome(verdict: OutcomeVerdict, *, allowed: bool | None = None, reason: str = "", **fields: Any) -> Outcome:
    message = MESSAGES[verdict]
    if reason and verdict not in ("pass", "approve"):
        message += f" Reason: {ended(reason)}"
    if verdict == "reject":
        message += " Do not try the same again in another form."
    if verdict == "pending" and fields.get("review_url"):
        message += f" A person can decide it at {fields['review_url']}."
    if allowed is None:
        allowed = verdict in ALLOWED
    return Outcome(verdict=verdict, allowed=allowed, message=message, reason=reason, **fields)
