"""Races about the shared memory, played with real threads on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from metacog.models import AgentState, AuditEvent
from patterns.memory import memory
from patterns.models import ErrorPattern, Memory, MemoryConflict, MemoryTerm
from reviews.held import decisions
from reviews.intake import knowledge
from reviews.models import HeldItem
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def sibling(aurora: Any) -> Any:
    from tests.conftest import _agent

    return _agent(aurora, "sibling")


def test_of_two_facts_that_contradict_each_other_at_once_one_waits(kuro: Any, sibling: Any) -> None:
    for number in range(12):
        texts = [f"The API {number} supports pagination.", f"The API {number} does not support pagination."]
        calls = [
            lambda text=texts[0]: kuro.post("/memory", {"text": text}),
            lambda text=texts[1]: sibling.respond("Noted.", items=[{"kind": "remember", "text": text}]),
        ]
        at_once(calls if number % 2 else calls[::-1])
        rows = Memory.objects.filter(text__in=texts)
        assert sorted(rows.values_list("state", flat=True)) == ["confirmed", "pending"]
        assert rows.get(state="pending").reasons == ["contradiction"]
        conflict = MemoryConflict.objects.get(older__in=rows)
        assert {conflict.older, conflict.newer} == set(rows)
        assert conflict.older.occurred_at <= conflict.newer.occurred_at
        Memory.objects.filter(state="confirmed").update(state="retired")
        MemoryTerm.objects.all().delete()
    assert ErrorPattern.objects.filter(state="proposed").count() == 12


def test_a_memory_is_confirmed_or_discarded_and_never_both(kuro: Any, carla: Any, olga: Any) -> None:
    ends = Counter[str]()
    for number in range(20):
        shape = kuro.post("/memory", {"text": f"It is cache {number}."}).json()
        assert shape["state"] == "pending"
        row = Memory.objects.get(public_id=shape["id"])
        results = at_once([partial(memory.confirm, row, carla), partial(memory.discard, row, olga)])
        won = [each for each in results if isinstance(each, Memory)]
        lost = [each for each in results if isinstance(each, memory.Moved)]
        assert (len(won), len(lost)) == (1, 1), results
        row.refresh_from_db()
        assert row.state == won[0].state == lost[0].memory.state
        assert row.terms.exists() is (row.state == "confirmed")
        events = AuditEvent.objects.filter(object_id=row.public_id).exclude(action="memory-held")
        assert [event.action for event in events] == [
            "memory-confirmed" if row.state == "confirmed" else "memory-discarded"
        ]
        ends[row.state] += 1
    assert sum(ends.values()) == 20


def test_one_sentence_is_one_memory_by_every_way_at_once(kuro: Any, sibling: Any, alice: Any, settings: Any) -> None:
    settings.UNDO_SECONDS = 0
    text = "Clearly it was the cache. It obviously was."
    kuro.respond(text, items=[{"kind": "remember", "text": text}])
    held = HeldItem.objects.get()
    AgentState.objects.update(rate_tat=0)
    at_once(
        [
            lambda: decisions.decide(held, alice, "approve"),
            *[lambda: kuro.post("/memory", {"text": text})] * 4,
            *[lambda: sibling.post("/memory", {"text": text})] * 4,
            *[lambda: kuro.respond(text, items=[{"kind": "remember", "text": text}])] * 4,
        ]
    )
    row = Memory.objects.get()
    assert (row.state, row.confirmed_by) == ("confirmed", alice)


def test_workers_that_index_anew_while_it_is_searched_and_retired_leave_one_index(kuro: Any, carla: Any) -> None:
    for name in "abcdef":
        assert kuro.post("/memory", {"text": f"Shelf {name} is full."}).json()["state"] == "confirmed"
    Memory.objects.update(terms_version=0)
    gone = Memory.objects.earliest("pk")
    results = at_once([*[knowledge.index_anew] * 4, lambda: memory.retire(gone, carla)])
    assert not [each for each in results if isinstance(each, Exception)], results
    assert len(kuro.get("/memory?q=shelf").json()["items"]) == 5
    assert MemoryTerm.objects.filter(term="shelf").count() == 5
