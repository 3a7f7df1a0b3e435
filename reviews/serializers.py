"""The shapes in which agents read what was held and decided, and are told of it (the contract's)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict

from metacog.heuristics.memory import recall
from metacog.heuristics.text.excerpts import said
from metacog.heuristics.wire.assessment import HesitationPart, Verdict
from metacog.models import Agent
from patterns.serializers import instant
from reviews.models import Decision, Delivery, HeldItem

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
    hesitation: HesitationPart


class DecisionShape(TypedDict):
    id: str
    seq: int | None
    held: str
    verdict: str
    text: str | None
    reason: str
    by: str
    decided_at: str


def excerpt(text: str) -> str:
    """Give how a text begins without its tags, on one line of 200 characters at most."""
    goes_on = len(text) > EXCERPT_READ
    beginning = said(text[:EXCERPT_READ] + "…").removesuffix("…") if goes_on else said(text)
    line = " ".join(beginning.split())
    return line if len(line) <= 200 and not goes_on else line[:199] + "…"


def hesitation_of(verdict: Verdict) -> HesitationPart:
    """Return the hesitation of a verdict that held something, which has one."""
    hesitation = verdict["hesitation"]
    assert hesitation
    return hesitation


def held_shape(held: HeldItem) -> HeldShape:
    """Return the `held` object; `held` comes with its response."""
    return {
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
        "hesitation": hesitation_of(held.response.wire_verdict()),
    }


def decision_shape(decision: Decision) -> DecisionShape:
    """Return the `decision` object; `text` is what may be used now, null unless something was released."""
    return {
        "id": decision.public_id,
        "seq": decision.seq,
        "held": decision.held.public_id,
        "verdict": decision.verdict,
        "text": decision.text,
        "reason": decision.reason,
        "by": decision.by,
        "decided_at": instant(decision.decided_at),
    }


def matched(text: str, terms: Iterable[str]) -> list[str]:
    """Return what of a text the terms of a search stand for, as it is written there, each once."""
    return list(dict.fromkeys(text[start:end] for start, end in recall.places(text, terms)))


def owed(agent: Agent, kind: str, data: Mapping[str, Any], at: datetime, held: HeldItem | None = None) -> Delivery:
    """Return a callback for the outbox, unsaved: its body is what is sent, on every attempt."""
    return Delivery(agent=agent, held=held, type=kind, body=body_of(kind, data, at))


def body_of(kind: str, data: Mapping[str, Any], at: datetime) -> str:
    """Return the body of a delivery: `{"type", "timestamp", "data"}`."""
    return json.dumps({"type": kind, "timestamp": instant(at), "data": data}, ensure_ascii=False)
