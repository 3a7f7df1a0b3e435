"""Celery's beat, by a clock that nobody sets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import beat
from celery.schedules import schedule

from metacog.runtime.broker_reach import reach

PAUSE_SECONDS = 1.0  # between two tries while the broker is away; one takes two seconds, where nothing answers
_BEGAN = datetime(2000, 1, 1, tzinfo=UTC)  # any will do: Celery counts in times of day, and only compares them


def steady_now() -> datetime:
    return _BEGAN + timedelta(seconds=time.monotonic())


class Scheduler(beat.Scheduler):  # type: ignore[misc]  # Celery has no types
    """Sends what CELERY_BEAT_SCHEDULE names, each every so many seconds.

    Celery's own goes by the time of day: with the clock set back by an hour it sends nothing for that hour. And it
    writes a traceback for each message that its broker does not take.
    """

    _tried_at = -PAUSE_SECONDS  # on the monotonic clock

    def merge_inplace(self, b: Mapping[str, Mapping[str, Any]]) -> None:
        steady = {name: {**task, "schedule": schedule(task["schedule"], nowfun=steady_now)} for name, task in b.items()}
        super().merge_inplace(steady)

    def apply_async(self, entry: Any, *args: Any, **kwargs: Any) -> Any:
        """Send one message; while the broker is away, only one in a while is tried, and the others are counted."""
        now = time.monotonic()
        if reach.is_away and now - self._tried_at < PAUSE_SECONDS:
            return reach.miss()
        self._tried_at = now
        try:
            sent = super().apply_async(entry, *args, **kwargs)
        except beat.SchedulingError as error:
            reach.failed(error.__context__ or error)
            return reach.miss()
        reach.succeeded()
        return sent

    def _ensure_connected(self) -> Any:
        return self.connection.ensure_connection(lambda error, pause: reach.failed(error))
