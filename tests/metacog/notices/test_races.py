"""Sweeps of several machines at once: each person is told once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from metacog.models import Notice
from metacog.notices.push import Outcome
from reviews.outbox import notifications
from tests.metacog.notices.conftest import HOUR, NOW, hold, tell
from tests.races.test_races import at_once

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
