"""Races about tool calls, played with real threads on PostgreSQL. Every one asks the rows who won."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.db import connection

from reviews.held import decisions
from reviews.models import Decision, HeldCall, HeldItem
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("undo_at_once")]

BODY = {
    "response": "",
    "session": "s1",
    "items": [{"kind": "tool_call", "name": "pay", "arguments": {"eur": 100}}],
}


def post(kuro: Any) -> dict[str, Any]:
    answer = kuro.post("/responses", BODY)
    connection.close()
    assert answer.status_code == 201, answer.content
    item: dict[str, Any] = answer.json()["items"][0]
    return item


def heard(kuro: Any, path: str) -> list[str]:
    """Return what the decisions that an agent reads permit."""
    answer = kuro.get(path).json()
    connection.close()
    found = answer.get("items") or answer.get("decided") or [answer]
    return [(each.get("decision") or each)["permission"] for each in found]


def test_two_hearings_and_a_post_at_once_are_one_permission(kuro: Any, alice: Any) -> None:
    won = Counter[str]()
    for turn in range(20):
        HeldItem.objects.filter(closed_at=None).update(closed_at="2026-01-01T00:00:00Z", state="withdrawn")
        seq = Decision.objects.count()
        held = post(kuro)["held"]
        decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
        one, feed, again = at_once(
            [
                partial(heard, kuro, f"/held/{held}"),
                partial(heard, kuro, f"/decisions?after={seq}"),
                partial(post, kuro),
            ]
        )
        given = {"read": one == ["given"], "feed": feed == ["given"], "post": again["disposition"] == "pass"}
        assert sum(given.values()) == 1, (turn, one, feed, again)
        won.update(name for name, is_given in given.items() if is_given)
        assert HeldCall.objects.get(held__public_id=held).used_by in won
    assert won.total() == 20


def test_an_outcome_reported_twenty_times_at_once_is_one(kuro: Any, alice: Any) -> None:
    held = post(kuro)["held"]
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    answers = at_once([partial(kuro.post, f"/held/{held}/outcome", {"status": "done"})] * 20)
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 19}


def test_the_same_approved_call_posted_twenty_times_at_once_passes_once(kuro: Any, alice: Any) -> None:
    held = post(kuro)["held"]
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    items = at_once([partial(post, kuro)] * 20)
    assert Counter(item["disposition"] for item in items) == {"pass": 1, "hold": 19}
    assert len({item["held"] for item in items if item["held"]}) == 1, "what came after it waits as one item"
    assert HeldCall.objects.exclude(held__public_id=held).get().asks == 19


def test_a_gateway_that_asks_twenty_times_at_once_lets_an_approved_call_through_once(kuro: Any, alice: Any) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {"eur": 100}}}
    held = kuro.post("/guard", asked).json()["held"][0]["id"]
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    answers = at_once([partial(kuro.post, "/guard", asked)] * 20)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 403: 19}
    assert HeldItem.objects.filter(closed_at=None).count() == 1


def test_two_approvals_and_the_call_posted_again_at_once_let_it_pass_at_most_once(
    kuro: Any, alice: Any, bob: Any
) -> None:
    for turn in range(10):
        HeldItem.objects.filter(closed_at=None).update(closed_at="2026-01-01T00:00:00Z", state="withdrawn")
        held = HeldItem.objects.get(public_id=post(kuro)["held"])
        *_, again = at_once(
            [
                partial(decisions.decide, held, alice, "approve"),
                partial(decisions.decide, held, bob, "approve"),
                partial(post, kuro),
            ]
        )
        assert Decision.objects.filter(held=held).count() == 1, turn
        after = post(kuro)
        passed = [each for each in (again, after) if each["disposition"] == "pass"]
        assert [each["recognised"] for each in passed] == [held.public_id], "the approval was used once"


def test_of_an_approval_and_a_withdrawal_one_stands(kuro: Any, alice: Any) -> None:
    for _ in range(10):
        held = HeldItem.objects.get(public_id=post(kuro)["held"])
        results = at_once(
            [
                partial(decisions.decide, held, alice, "approve"),
                partial(decisions.decide, held, held.agent, "withdraw"),
            ]
        )
        standing = Decision.objects.get(held=held)
        assert sum(isinstance(result, decisions.Standing) for result in results) == 1
        again = post(kuro)
        assert (again["disposition"] == "pass") == (standing.verdict == "approve")
        HeldItem.objects.filter(closed_at=None).update(closed_at="2026-01-01T00:00:00Z", state="withdrawn")


def test_two_edits_at_once_release_one(kuro: Any, alice: Any, bob: Any) -> None:
    held = HeldItem.objects.get(public_id=post(kuro)["held"])
    at_once(
        partial(decisions.decide, held, person, "edit", edit=decisions.Arguments({"eur": amount}))
        for person, amount in ((alice, 1), (bob, 2))
    )
    told = kuro.get(f"/held/{held.public_id}").json()["decision"]
    assert told["arguments"] == Decision.objects.get().arguments
    assert told["arguments"] in ({"eur": 1}, {"eur": 2})
