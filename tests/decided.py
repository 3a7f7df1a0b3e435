"""Decisions on texts of which one word is mostly rejected: enough to learn from."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from typing import Any

from tests.conftest import NOON

WORDS = "the order was sent on time and we will write again when the parcel is at the door of your house"


def some_text(draw: random.Random, *words: str) -> str:
    """Return a text of random words with these among them."""
    text = [draw.choice(WORDS.split()) for _ in range(draw.randrange(5, 40))]
    for word in words:
        text.insert(draw.randrange(len(text)), word)
    return " ".join(text)


def decide(
    caller: Any,
    count: int = 200,
    *,
    rejects: Any = None,
    seed: int = 1,
    since: datetime = NOON - timedelta(days=2),
    metadata: Any = None,
    **fields: Any,
) -> None:
    """Write so many held items of an agent, with what a person decided about each."""
    from metacog.heuristics import Scorer
    from metacog.models import Agent, AgentState
    from reviews.models import AgentResponse, Decision, HeldItem

    agent = Agent.objects.get(public_id=caller.id)
    draw, scorer = random.Random(seed), Scorer()
    state = AgentState.objects.get(pk=agent.pk)
    rows = []
    for number in range(count):
        text = some_text(draw, *(["refund"] if draw.random() < 1 / 3 else []))
        body = {"response": text, "items": [{"kind": "chat", "text": text}], "session": f"s{seed}-{number}"}
        verdict = scorer.score({"user_message": None, **body})
        is_wrong = rejects(text, draw) if rejects else draw.random() < (0.7 if "refund" in text else 0.05)
        if metadata:  # what it has, and whether it is rejected
            body["metadata"], is_wrong = metadata(number, draw)
        rows.append((text, json.dumps(body), json.dumps(verdict), f"s{seed}-{number}", is_wrong))
    at = [since + timedelta(minutes=number) for number in range(count)]
    responses = AgentResponse.objects.bulk_create(
        AgentResponse(
            agent=agent, received_at=moment, body=body, verdict=verdict, session=session, hesitation_score=0,
            policy_version=1, patterns_version=0, engine="1",
        )
        for moment, (_, body, verdict, session, _) in zip(at, rows, strict=True)
    )  # fmt: skip
    items = HeldItem.objects.bulk_create(
        HeldItem(
            response=response, agent=agent, team_id=agent.team_id, index=0, kind="chat", text=text, sha256="",
            hesitation_score=50, review_due_at=NOON, expires_at=NOON, state="approved",
            decided_at=moment, metadata=json.loads(body).get("metadata", {}),
        )
        for response, (text, body, *_), moment in zip(responses, rows, at, strict=True)
    )  # fmt: skip
    Decision.objects.bulk_create(
        Decision(
            **{
                "held": item, "agent": agent, "verdict": "reject" if row[-1] else "approve", "by": "person",
                "item_version": 1, "release_at": NOON, "released_at": NOON, "seq": state.decision_seq + number,
                "decided_at": moment, **fields,
            }
        )
        for number, (item, row, moment) in enumerate(zip(items, rows, at, strict=True), 1)
    )  # fmt: skip
    state.decision_seq += count
    state.save()
