"""Races about more tool calls and the shared memory, played with real threads on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from metacog.models import AuditEvent
from patterns.models import Memory, MemoryConflict
from reviews.investigation import extensions
from reviews.models import Delivery, ExtensionRequest
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

REASONS = [f"Need the {year} inflation rate of Japan" for year in range(2010, 2022)]


def test_only_two_pass_by_rule_however_many_ask_at_once(kuro: Any) -> None:
    answers = at_once([partial(kuro.post, "/extensions", {"reason": reason}) for reason in REASONS])
    assert Counter(answer.status_code for answer in answers) == {201: 3, 409: 9}
    assert Counter(ExtensionRequest.objects.values_list("state", flat=True)) == {"approved": 2, "pending": 1}
    assert sorted(ExtensionRequest.objects.values_list("number", flat=True)) == [1, 2, 3]


def test_the_same_request_many_times_is_one(kuro: Any) -> None:
    answers = at_once([lambda: kuro.post("/extensions", {"reason": REASONS[0]}) for _ in range(12)])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 11}
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_one_decision_stands_whoever_takes_it(kuro: Any, alice: Any, bob: Any) -> None:
    from metacog.models import Agent

    Agent.objects.update(callback_url="https://agent.example.org/")
    kuro.post("/extensions", {"reason": "need more time"})
    row = ExtensionRequest.objects.select_related("agent__team").get()
    calls = [
        partial(extensions.decide, row, person, is_approved=says, granted=3)
        for person in (alice, bob, None)
        for says in (True, False)
    ]
    assert Counter(type(outcome).__name__ for outcome in at_once(calls)) == {"ExtensionRequest": 1, "Standing": 5}
    assert Delivery.objects.count() == 1


def test_a_withdrawal_and_an_answer_are_one_of_the_two(kuro: Any, alice: Any) -> None:
    for number in range(20):
        kuro.post("/extensions", {"problem": str(number), "reason": "need more time"})
    for row in ExtensionRequest.objects.select_related("agent__team"):
        answered, withdrawn = at_once(
            [
                partial(extensions.decide, row, alice, is_approved=True, granted=3),
                partial(kuro.post, f"/extensions/{row.public_id}/withdraw", {}),
            ]
        )
        row.refresh_from_db()
        if row.state == "withdrawn":
            assert (withdrawn.status_code, answered.request.state) == (200, "withdrawn")
        else:
            assert (row.state, row.granted, answered.state) == ("approved", 3, "approved")
            assert (withdrawn.status_code, withdrawn.json()["extension"]["state"]) == (409, "approved")
    assert AuditEvent.objects.filter(action__in=["extension-withdrawn", "extension-approved"]).count() == 20


def test_one_text_is_one_memory_and_no_contradiction_comes_in_unseen(kuro: Any) -> None:
    texts = ["The API supports pagination.", "The API does not support pagination."] * 6
    answers = at_once([partial(kuro.post, "/memory", {"text": text}) for text in texts])
    assert Counter(answer.status_code for answer in answers) == {201: 2, 200: 10}
    assert (Memory.objects.count(), MemoryConflict.objects.count()) == (2, 1)
