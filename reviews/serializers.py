"""The shapes in which agents read what was held and decided, and are told of it (the contract's)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NotRequired, TypedDict, cast

from django.utils import timezone

from metacog.heuristics.memory import recall
from metacog.heuristics.signals.spec import SignalPart
from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.tool_calls.secrets import (
    mask_item,
    masked,
    masked_effects,
    masked_hesitation,
    masked_schema,
    masked_verdict,
    masked_words,
)
from metacog.heuristics.wire.assessment import Assessment, EffectPart, HesitationPart
from metacog.models import Agent
from patterns.serializers import instant
from reviews.models import CallOutcome, Decision, Delivery, HeldItem, ReviewTerms

EXCERPT_READ = 1_000  # characters of a text of which an excerpt is made


class HeldShape(TypedDict):
    id: str
    response: str
    index: int
    kind: str
    text: str
    sha256: str
    version: int
    state: str
    held_at: str
    review_due_at: str
    expires_at: str
    hesitation: HesitationPart | None
    metadata: dict[str, Any]
    decision: DecisionShape | None
    approvals: ApprovalsShape | None
    waits_for: list[str]
    call_id: NotRequired[str | None]
    name: NotRequired[str]
    arguments: NotRequired[Any]
    schema: NotRequired[Any]
    description: NotRequired[str]
    rule: NotRequired[dict[str, Any] | None]
    schema_omitted: NotRequired[bool]
    outcome: NotRequired[OutcomeShape | None]
    asks: NotRequired[int]
    annotations: NotRequired[dict[str, Any] | None]
    choices: NotRequired[list[str] | None]
    effects: NotRequired[list[EffectPart]]
    readable: NotRequired[bool]


class ApprovalsShape(TypedDict):
    given: int
    needed: int
    role: str | None
    group: str | None
    by: list[str] | None


class OutcomeShape(TypedDict):
    status: str
    detail: str
    result: Any
    reported_at: str


class DecisionShape(TypedDict):
    id: str
    seq: int | None
    held: str
    verdict: str
    text: str | None
    reason: str
    by: str
    decided_at: str
    arguments: Any
    answer: Any
    permission: str | None
    used_at: str | None
    outcome: OutcomeShape | None
    metadata: dict[str, Any]
    decided_by: NotRequired[str | None]
    policy_version: NotRequired[int]
    team_rules_version: NotRequired[int]


def excerpt(text: str) -> str:
    """Give how a text begins without its tags, on one line of 200 characters at most."""
    goes_on = len(text) > EXCERPT_READ
    beginning = without_tags(text[:EXCERPT_READ] + "…").removesuffix("…") if goes_on else without_tags(text)
    line = " ".join(beginning.split())
    return line if len(line) <= 200 and not goes_on else line[:199] + "…"


def hesitation_of(held: HeldItem, verdict: Assessment | None = None) -> HesitationPart | None:
    """Return the hesitation about an item: its response's, or a tool call's own. None: it was not scored.

    The response's verdict is read where it is needed and not given: with many calls it is long.
    """
    if held.kind == HeldItem.Kind.QUESTION:
        return None
    if held.kind == HeldItem.Kind.TOOL_CALL:
        own: HesitationPart | None = held.call.hesitation
        return own
    return (verdict or held.response.wire_verdict())["hesitation"]


def hesitation_for_people(held: HeldItem, verdict: Assessment, body: Mapping[str, Any]) -> HesitationPart | None:
    """Return what `hesitation_of` returns with secrets masked, and its spans where they are in the masked text."""
    if held.kind == HeldItem.Kind.QUESTION:
        return None
    if held.kind == HeldItem.Kind.TOOL_CALL:
        if held.call.hesitation is None:
            return None
        text = mask_item("", held.call.name, held.call.arguments)
        return cast("HesitationPart | None", masked_hesitation(held.call.hesitation, text))
    return words_for_people(verdict, body)


def words_for_people(verdict: Assessment, body: Mapping[str, Any]) -> HesitationPart | None:
    """Return the hesitation about a response's words with secrets masked, and its spans where they are by then."""
    return verdict_for_people({**verdict, "items": []}, body)["hesitation"]  # those of items may be long


def verdict_for_people(verdict: Assessment, body: Mapping[str, Any]) -> Assessment:
    return cast("Assessment", masked_verdict(verdict, body))


def signals_of(held: HeldItem, verdict: Assessment) -> list[SignalPart]:
    """Return the signals of what `hesitation_of` returns."""
    hesitation = hesitation_of(held, verdict)
    return hesitation["signals"] if hesitation else []


def held_shape(held: HeldItem, decision: Decision | None = None, *, names: bool = False) -> HeldShape:
    """Return the `held` object; `held` comes with its response, call, outcome, question, terms, `decision` once it is
    released.

    `names` says whether its reader may know who decided.
    """
    shape: HeldShape = {
        "id": held.public_id,
        "response": held.response.public_id,
        "index": held.index,
        "kind": held.kind,
        "text": held.text,
        "sha256": held.sha256,
        "version": held.version,
        "state": held.state_for_agent,
        "held_at": instant(held.held_at),
        "review_due_at": instant(held.review_due_at),
        "expires_at": instant(held.expires_at),
        "hesitation": hesitation_of(held),
        "metadata": held.metadata,
        "decision": decision_shape(decision, names=names) if decision else None,
        "approvals": approvals_shape(held, names=names),
        "waits_for": waits_for(held),
    }
    if held.kind == HeldItem.Kind.TOOL_CALL:
        call = held.call
        shape |= {
            "call_id": call.call_ids[0],
            "name": call.name,
            "arguments": call.arguments,
            "schema": call.schema,
            "schema_omitted": call.schema_omitted,
            "description": call.description,
            "rule": call.rule,
            "annotations": call.hints,
            "effects": call.effects,
            "readable": call.readable,
            "asks": call.asks,
            "outcome": outcome_shape(getattr(call, "outcome", None)),
        }
    if held.kind == HeldItem.Kind.QUESTION:
        question = held.question
        shape |= {"schema": question.schema, "choices": question.choices, "asks": question.asks}
    return shape


def approvals_shape(held: HeldItem, *, names: bool) -> ApprovalsShape | None:
    """Return how many people have approved an item, of how many who must; None where one who reviews is enough."""
    terms: ReviewTerms | None = getattr(held, "terms", None)
    if terms is None or (terms.people < 2 and not (terms.role or terms.group or terms.given)):
        return None
    given = getattr(held, "approved_by", None)
    if given is None and terms.given:
        given = list(held.approvals.filter(ended_at=None).select_related("person"))
    return {
        "given": terms.given,
        "needed": terms.people,
        "role": terms.role or None,
        "group": terms.group or None,
        "by": [each.person.get_username() for each in given or ()] if names else None,
    }


def waits_for(held: HeldItem) -> list[str]:
    """Return the held tool calls that an item of words waits for."""
    terms: ReviewTerms | None = getattr(held, "terms", None)
    return terms.waits_for if terms else []


def decision_shape(decision: Decision, *, names: bool) -> DecisionShape:
    """Return the `decision` object; `decision` comes with its item, and where it `names` who decided, its person.

    `text`, of a tool call `arguments`, is what may be used now, null unless something was released; `answer` is that
    to a question. The call of an item
    comes with its outcome. What a change of a policy, or of the team's rules, decided has its version, and who made it.
    """
    shape: DecisionShape = {
        "id": decision.public_id,
        "seq": decision.seq,
        "held": decision.held.public_id,
        "verdict": decision.verdict,
        "text": decision.text,
        "reason": decision.reason,
        "by": decision.by,
        "decided_at": instant(decision.decided_at),
        "arguments": decision.arguments,
        "answer": decision.answer,
        "permission": None,
        "used_at": None,
        "outcome": None,
        "metadata": decision.held.metadata,
    }
    if decision.text_sha256 and decision.held.kind == HeldItem.Kind.TOOL_CALL:
        call = decision.held.call
        shape["permission"] = call.permission if decision.released_at else None
        shape["used_at"] = instant(call.used_at) if call.used_at else None
        shape["outcome"] = outcome_shape(getattr(call, "outcome", None))
    if decision.policy_version:
        shape["policy_version"] = decision.policy_version
    if decision.rules_version:
        shape["team_rules_version"] = decision.rules_version
    if names:
        person = decision.person or decision.changed_by
        shape["decided_by"] = person.get_username() if person else None
    return shape


def never_reported(held: HeldItem) -> bool:
    """Say whether a call was approved a day ago or longer, and its agent has not said what became of it."""
    return (
        held.kind == HeldItem.Kind.TOOL_CALL
        and held.state in (HeldItem.State.APPROVED, HeldItem.State.EDITED)
        and held.closed_at is not None
        and held.closed_at <= timezone.now() - CallOutcome.WITHIN
        and getattr(held.call, "outcome", None) is None
    )


def outcome_shape(outcome: CallOutcome | None) -> OutcomeShape | None:
    """Return the `outcome` object; None where none was reported."""
    if outcome is None:
        return None
    return {
        "status": outcome.status,
        "detail": outcome.detail,
        "result": outcome.result,
        "reported_at": instant(outcome.reported_at),
    }


def for_people(shape: Mapping[str, Any], words: HesitationPart | None = None) -> dict[str, Any]:
    """Return any shape of the API as people read it: its secrets masked, spans moved to where their words stand by now.

    Of held words the spans are places in the response: `words` is what `words_for_people` returns. Without it they stay
    as they were sent.
    """
    hidden: dict[str, Any] = masked(shape)
    for found in hidden.get("found") or ():
        found["matched"] = _still_in(found["text"], found["matched"])
    if hidden.get("rule") and "request" in hidden:
        said = hidden["request"]["reason"]
        hidden["rule"] |= {name: _still_in(said, hidden["rule"][name]) for name in ("entities", "needs")}
    if shape.get("kind") == HeldItem.Kind.TOOL_CALL and "arguments" in shape:
        text = mask_item("", shape["name"], shape["arguments"])
        hidden |= {"text": text.text, "schema": masked_schema(shape["schema"])}
        hidden["hesitation"] = masked_hesitation(shape["hesitation"], text)
        hidden["effects"] = masked_effects(shape["effects"], shape["arguments"])
    elif shape.get("kind") == HeldItem.Kind.QUESTION and "choices" in shape:
        hidden["schema"] = shape["schema"] and masked_schema(shape["schema"])
    elif words and shape.get("hesitation"):
        hidden["hesitation"] = words
    elif shape.get("hesitation"):
        for signal, sent in zip(hidden["hesitation"]["signals"], shape["hesitation"]["signals"], strict=True):
            for span, as_sent in zip(signal["spans"], sent["spans"], strict=True):
                span["text"] = masked_words(as_sent["text"], shape["text"])
    return hidden


def _still_in(text: str, words: Iterable[str]) -> list[str]:
    """Return those of some words that stand in a masked text: one out of a secret does not look like one."""
    return [word for word in words if word in text]


def matched(text: str, terms: Iterable[str]) -> list[str]:
    """Return what of a text the terms of a search stand for, as it is written there, each once."""
    return list(dict.fromkeys(text[start:end] for start, end in recall.places(text, terms)))


def owed(agent: Agent, kind: str, data: Mapping[str, Any], at: datetime, held: HeldItem | None = None) -> Delivery:
    """Return a callback for the outbox, unsaved: its body is what is sent, on every attempt."""
    return Delivery(agent=agent, held=held, type=kind, body=body_of(kind, data, at))


def body_of(kind: str, data: Mapping[str, Any], at: datetime) -> str:
    """Return the body of a delivery: `{"type", "timestamp", "data"}`."""
    return json.dumps({"type": kind, "timestamp": instant(at), "data": data}, ensure_ascii=False)
