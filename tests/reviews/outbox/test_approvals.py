"""A webhook that the agent takes with a 2xx hears of an approval; one that it does not take hears of nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.held import decisions
from reviews.models import Delivery, HeldItem
from reviews.outbox import deliveries
from tests.reviews.api.test_tool_calls import ask, by_person, held_by

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once", "agent")]


def approved(kuro: Any, person: Any, **changes: Any) -> str:
    held = held_by(kuro, **changes)
    by_person(person, held, "approve")
    return held


def told(receiver: Any, index: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(receiver.seen[index].body)["data"]
    return found


def permission(kuro: Any, held: str) -> str:
    found: str = kuro.get(f"/held/{held}").json()["decision"]["permission"]
    return found


def test_taken_with_a_2xx_it_is_used(kuro: Any, receiver: Any, alice: Any) -> None:
    held = approved(kuro, alice)
    deliveries.deliver_due()
    assert (told(receiver)["permission"], told(receiver)["used_at"]) == ("given", None)
    assert permission(kuro, held) == "used"
    assert ask(kuro)["disposition"] == "hold"


def test_refused_it_is_not_used_and_what_is_sent_after_its_use_says_so(kuro: Any, receiver: Any, alice: Any) -> None:
    receiver.answers = [500]
    approved(kuro, alice)
    deliveries.deliver_due()
    assert ask(kuro)["disposition"] == "pass"
    deliveries.deliver_due(timezone.now() + timedelta(seconds=7))
    first, second = receiver.seen
    assert first.headers["webhook-id"] != second.headers["webhook-id"], "other bytes are another message"
    assert [told(receiver, 0)["permission"], told(receiver, 1)["permission"]] == ["given", "used"]
    assert told(receiver, 1)["used_at"] is not None


def test_heard_before_it_was_sent_it_says_so(kuro: Any, receiver: Any, alice: Any) -> None:
    assert permission(kuro, approved(kuro, alice)) == "given"
    deliveries.deliver_due()
    assert told(receiver)["permission"] == "used"


def test_while_it_is_on_its_way_nobody_else_has_it(kuro: Any, receiver: Any, alice: Any) -> None:
    held = approved(kuro, alice)
    [attempt] = deliveries._claim_due(timezone.now(), [], failing_too=True)
    assert permission(kuro, held) == "used"
    assert ask(kuro)["disposition"] == "hold"
    deliveries._record(attempt.to, [(attempt, deliveries.Outcome("connection"))], timezone.now())
    assert permission(kuro, held) == "given", "it did not get through"


def test_given_up_it_is_left_to_whoever_hears_first(kuro: Any, receiver: Any, alice: Any) -> None:
    held = approved(kuro, alice)
    [attempt] = deliveries._claim_due(timezone.now(), [], failing_too=True)
    deliveries.give_up([Delivery.objects.get(pk=attempt.pk)], HeldItem.objects.get().agent)
    assert permission(kuro, held) == "given"


def test_with_an_id_it_permits_until_the_outcome(kuro: Any, receiver: Any, alice: Any) -> None:
    held = approved(kuro, alice, call_id="a")
    deliveries.deliver_due()
    assert told(receiver)["permission"] == permission(kuro, held) == "given"
    other = approved(kuro, alice, call_id="b", name="x")
    kuro.post(f"/held/{other}/outcome", {"status": "done"})
    deliveries.deliver_due()
    assert told(receiver)["permission"] == "used"


def test_a_rejection_uses_nothing(kuro: Any, receiver: Any, alice: Any) -> None:
    decisions.decide(HeldItem.objects.get(public_id=held_by(kuro)), alice, "reject", reason="no")
    deliveries.deliver_due()
    assert told(receiver)["permission"] is None
    assert HeldItem.objects.get().call.used_at is None
