"""Rows of any day, without an agent that posts them."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from tests.conftest import NOON

VERDICTS = {
    "rejected": "reject",
    "withdrawn": "withdraw",
    "edited": "edit",
    "approved": "approve",
    "expired": "expire",
}


@pytest.fixture(autouse=True)
def _at_noon(noon: Any) -> None:
    """Count days that do not end meanwhile."""


@pytest.fixture
def posted() -> Any:
    """Return a function that writes a response with its signals."""
    from metacog.models import Agent
    from reviews.models import AgentResponse, Signal

    def post(caller: Any, at: datetime = NOON, *signals: str, triggered: bool = True) -> AgentResponse:
        response = AgentResponse.objects.create(
            agent=Agent.objects.get(public_id=caller.id),
            received_at=at,
            body="{}",
            verdict="{}",
            triggered=triggered,
            policy_version=1,
            patterns_version=0,
            engine="1",
        )
        Signal.objects.bulk_create(Signal(response=response, type=name, weight=20) for name in signals)
        return response

    return post


@pytest.fixture
def held() -> Any:
    """Return a function that writes a held item of a response, decided if `state` is not pending."""
    from reviews.models import AgentResponse, HeldItem

    numbers = count()

    def hold(
        response: AgentResponse, state: str = "pending", seconds: float = 60, score: int = 50, words: str = ""
    ) -> HeldItem:
        item = HeldItem.objects.create(
            response=response,
            agent=response.agent,
            team=response.agent.team,
            index=next(numbers),
            kind="chat",
            text=words,
            sha256="",
            hesitation_score=score,
            held_at=response.received_at,
            review_due_at=response.received_at,
            expires_at=response.received_at + timedelta(days=7),
        )
        if state != "pending":
            close(item, state, response.received_at + timedelta(seconds=seconds))
        return item

    return hold


def close(item: Any, state: str, at: datetime, *, released: bool = True) -> None:
    from reviews.models import Decision

    Decision.objects.create(
        held=item,
        agent=item.agent,
        verdict=VERDICTS[state],
        by="system" if state == "expired" else "person",
        item_version=1,
        decided_at=at,
        release_at=at,
        released_at=at if released else None,
    )
    item.state, item.closed_at = state, at if released else None
    item.save(update_fields=["state", "closed_at"])
