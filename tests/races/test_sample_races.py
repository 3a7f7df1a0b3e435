"""People who judge spot checks at the same moment, with real threads on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from reviews.metrics import sampling
from reviews.models import AgentResponse, Sample, SampleFigure
from tests.conftest import NOON
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_no_judgment_of_an_agents_day_is_lost(kuro: Any, alice: Any, bob: Any) -> None:
    for _ in range(4):
        kuro.respond("It may rain.", items=[{"kind": "chat", "text": "It may rain."}])
    samples = [
        Sample.objects.create(response=row, agent=row.agent, day=NOON.date(), stands_for=2)
        for row in AgentResponse.objects.select_related("agent")
    ]
    judges = [partial(sampling.judge, sample, person, "missed") for sample in samples for person in (alice, bob)]
    assert at_once(judges) == [None] * 8
    figure = SampleFigure.objects.get()
    assert (figure.checked, figure.squares, figure.missed) == (8.0, 16.0, 8.0)
