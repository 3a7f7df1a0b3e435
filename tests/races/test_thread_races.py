"""Races about thought threads, played with real threads on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from metacog.models import AgentState
from patterns.models import ThoughtThread, ThreadStep
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_never_more_than_three_are_active_whoever_begins_them(kuro: Any) -> None:
    answers = at_once([partial(kuro.post, "/threads", {"title": f"Thought {n}"}) for n in range(20)])
    assert Counter(answer.status_code for answer in answers) == {201: 3, 409: 17}
    assert ThoughtThread.objects.filter(state="active").count() == 3
    assert AgentState.objects.get().active_threads == 3


def test_one_title_is_one_thread(kuro: Any) -> None:
    answers = at_once([lambda: kuro.post("/threads", {"title": "Once"}) for _ in range(10)])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 9}


def test_no_step_and_no_touch_is_lost(kuro: Any) -> None:
    kuro.post("/threads", {"title": "Counted"})
    at_once([partial(kuro.post, "/threads/counted/progress", {"note": str(n)}) for n in range(30)])
    assert ThoughtThread.objects.get().touches == 30
    assert sorted(ThreadStep.objects.exclude(text="").values_list("text", flat=True)) == sorted(map(str, range(30)))


def test_of_those_taken_up_at_once_only_one_finds_room(kuro: Any) -> None:
    for n in range(5):
        kuro.post("/threads", {"title": f"T {n}"})
        if n < 3:
            kuro.post(f"/threads/t-{n}/pause", {})
    at_once([partial(kuro.post, f"/threads/t-{n}/resume", {}) for n in range(3) for _ in range(4)])
    assert ThoughtThread.objects.filter(state="active").count() == 3
