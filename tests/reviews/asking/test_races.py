"""Workers that sweep at once take each step once, and tell each person once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from metacog.models import AuditEvent, Notice
from reviews.asking import steps
from reviews.models import Asked
from tests.metacog.notices.conftest import NOW, hold
from tests.races.test_races import at_once
from tests.reviews.asking.conftest import MINUTE, ask

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_two_workers_take_each_step_once(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], routes=[{"to": "on-call"}], steps=[{"after": 15, "to": "owners"}])
    for _ in range(5):
        hold(kuro, NOW)
    for minute, taken in ((1, 5), (15, 10)):
        at_once([partial(steps.sweep, NOW + minute * MINUTE)] * 4)
        assert Asked.objects.count() == taken
    assert AuditEvent.objects.filter(action="chat-escalated").count() == 5
    assert Notice.objects.filter(kind="asked", person=people["olga"]).count() == 2
