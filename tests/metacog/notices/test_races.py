"""Sweeps of several machines at once: each person is told once."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import pytest

from metacog.models import Notice
from metacog.notices.push import Outcome
from reviews.held import decisions
from reviews.outbox import notifications
from tests.metacog.notices.conftest import HOUR, MINUTE, NOW, hold, tell
from tests.metacog.notices.phones import Phone
from tests.races.test_races import at_once
from tests.reviews.api.test_tool_calls import by_person
from tests.reviews.outbox.receiving import Receiver

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_sweeps_at_once_write_and_claim_each_notice_once(alice: Any, bob: Any, kuro: Any) -> None:
    tell(alice)
    tell(bob, "daily", turn_at=NOW - 24 * HOUR)
    hold(kuro, NOW - 2 * HOUR)
    for day in range(4):
        now = NOW + day * 24 * HOUR
        hold(kuro, now - HOUR)
        written = at_once([partial(notifications.write_due, now)] * 8)
        assert sum(written) == 2, written
        claimed = at_once([partial(notifications._claim_due, now)] * 8)
        assert sum(map(len, claimed)) == 2, claimed
        for attempts in claimed:
            for attempt in attempts:
                notifications._record(attempt.notice, Outcome(""), now)
    assert Notice.objects.filter(state="sent").count() == 8


def test_sweeps_at_once_write_and_claim_each_notice_to_a_device_once(
    alice: Any, bob: Any, kuro: Any, settings: Any
) -> None:
    settings.CALLBACK_ALLOW = frozenset({"http://127.0.0.1:9"})
    settings.UNDO_SECONDS = 0
    for name, person in (("one", alice), ("two", alice), ("three", bob)):
        Phone(Receiver("http://127.0.0.1:9/hook"), name).turn_on(person)
    held = hold(kuro, NOW - HOUR)
    each_told_once(NOW)
    by_person(bob, held, "reject")
    decisions.settle()
    each_told_once(NOW + MINUTE)  # that it is decided


def each_told_once(now: Any) -> None:
    assert sum(at_once([partial(notifications.write_due, now)] * 8)) == 3
    claimed = at_once([partial(notifications._claim_due, now)] * 8)
    assert sum(map(len, claimed)) == 3, claimed
    for attempt in itertools.chain(*claimed):
        notifications._record(attempt.notice, Outcome(""), now)
