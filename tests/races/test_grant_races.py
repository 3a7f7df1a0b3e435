"""Races about grants, played with real threads on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.db import connection

from reviews.held import decisions, grants
from reviews.models import CallGrant, HeldItem
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("undo_at_once")]


def post(kuro: Any, call_id: str) -> dict[str, Any]:
    call = {"kind": "tool_call", "name": "pay", "arguments": {"eur": 100}, "call_id": call_id}
    answer = kuro.post("/responses", {"response": "", "session": "s1", "items": [call]})
    connection.close()
    assert answer.status_code == 201, answer.content
    item: dict[str, Any] = answer.json()["items"][0]
    return item


def granted(kuro: Any, person: Any, uses: int | None) -> CallGrant:
    held = HeldItem.objects.get(public_id=post(kuro, "first")["held"])
    how = decisions.Circumstances(grant=grants.Wanted(uses=uses, seconds=600))
    decisions.decide(held, person, "approve", circumstances=how)
    return CallGrant.objects.get(held=held)


@pytest.mark.parametrize("uses", [1, 5])
def test_of_twenty_calls_at_once_as_many_pass_as_the_grant_has_uses(kuro: Any, alice: Any, uses: int) -> None:
    grant = granted(kuro, alice, uses)
    items = at_once([partial(post, kuro, f"call-{number}") for number in range(20)])
    assert Counter(item["disposition"] for item in items) == {"pass": uses, "hold": 20 - uses}
    grant.refresh_from_db()
    assert grant.uses == uses


def test_a_call_and_the_withdrawal_at_once_leave_the_count_exact(kuro: Any, alice: Any) -> None:
    grant = granted(kuro, alice, None)
    *items, _ = at_once(
        [*(partial(post, kuro, f"call-{number}") for number in range(10)), partial(grants.withdraw, grant, alice)]
    )
    grant.refresh_from_db()
    assert grant.uses == sum(item["disposition"] == "pass" for item in items)
    assert post(kuro, "after")["disposition"] == "hold"
