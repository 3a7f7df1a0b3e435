"""Celery's beat, by a clock that nobody sets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import beat
from celery.schedules import schedule

_BEGAN = datetime(2000, 1, 1, tzinfo=UTC)  # any will do: Celery counts in times of day, and only compares them


def steady_now() -> datetime:
    return _BEGAN + timedelta(seconds=time.monotonic())


class Scheduler(beat.Scheduler):  # type: ignore[misc]  # Celery has no types
    """Sends what CELERY_BEAT_SCHEDULE names, each every so many seconds.

    Celery's own goes by the time of day: with the clock set back by an hour it sends nothing for that hour.
    """

    def merge_inplace(self, b: Mapping[str, Mapping[str, Any]]) -> None:
        steady = {name: {**task, "schedule": schedule(task["schedule"], nowfun=steady_now)} for name, task in b.items()}
        super().merge_inplace(steady)
