"""Races about lessons, reflections and research, played with real threads on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from metacog.models import Agent, AuditEvent
from patterns.lessons import lessons
from patterns.lessons.lessons import Proposal
from patterns.models import Lesson
from reviews.investigation import research
from reviews.learning import reflections
from reviews.models import Reflection, Research
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def agent_of(caller: Any) -> Agent:
    return Agent.objects.select_related("team").get(public_id=caller.id)


def propose(agent: Agent, proposals: list[Proposal]) -> list[Lesson]:
    with transaction.atomic():
        return lessons.propose(agent, proposals, "refl_1", timezone.now())


def test_of_those_confirmed_at_once_only_as_many_as_may_be_are(kuro: Any, carla: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(lessons, "MAX_ACTIVE", 3)
    proposals = [Proposal("gap", str(n), str, (), (f"resp_{n}",)) for n in range(10)]
    rows = propose(agent_of(kuro), proposals)

    def confirm(row: Lesson) -> str:
        try:
            return str(lessons.move(row, "confirm", carla).state)
        except lessons.NotDone:
            return "refused"

    states = at_once([partial(confirm, row) for row in rows])
    assert sorted(states) == ["active"] * 3 + ["refused"] * 7
    assert Lesson.objects.filter(state="active").count() == 3


def test_each_time_a_lesson_is_given_is_counted_while_it_is_proposed_again(kuro: Any, aurora: Any, carla: Any) -> None:
    agent = agent_of(kuro)
    proposals = [Proposal("gap", str(n), str, (), ("resp_0",)) for n in range(6)]
    for row in propose(agent, proposals):
        lessons.move(row, "confirm", carla)

    def again(number: int) -> None:
        propose(agent, [Proposal("gap", str(n), str, (), (f"resp_{number}",)) for n in reversed(range(6))])

    reads = [lambda: kuro.get("/context") for _ in range(10)]
    at_once([*reads, *(lambda n=n: again(n) for n in range(1, 6))])
    assert set(Lesson.objects.values_list("given", flat=True)) == {10}
    assert {row.evidence["count"] for row in Lesson.objects.all()} == {6}


def test_workers_that_look_back_at_once_make_one_reflection(kuro: Any) -> None:
    kuro.respond("x", items=[])
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert sum(at_once([lambda: reflections.reflect_due(tomorrow) for _ in range(6)])) == 1
    assert Reflection.objects.count() == 1
    assert AuditEvent.objects.filter(action="meta:reflection").count() == 1


def test_one_worker_alone_takes_up_a_search(kuro: Any, settings: Any) -> None:
    settings.SEARXNG_URL = "http://127.0.0.1:9"
    kuro.post("/research", {"verdict": "Wait."})
    now = timezone.now()
    claimed = at_once([lambda: research._claim(now) for _ in range(8)])
    assert sum(each is not None for each in claimed) == 1
    assert Research.objects.get().attempts == 1
