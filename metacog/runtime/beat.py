"""Celery's beat, by a clock that nobody sets, as a process or as a thread of the worker."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import beat, bootsteps
from celery.schedules import schedule
from django.conf import settings
from django.db import Error, connection
from django.utils.module_loading import import_string

from metacog.runtime.broker.reach import reach

log = logging.getLogger("metacog")

ACTIVE_SECONDS = 30.0  # for which all sweeps run at their own pace after something was written or due
QUIET_SECONDS = 30.0  # between two runs of each sweep after that; the worker's heartbeat is one
PAUSE_SECONDS = 1.0  # between two tries while the broker is away; one takes two seconds, where nothing answers
_BEGAN = datetime(2000, 1, 1, tzinfo=UTC)  # any will do: Celery counts in times of day, and only compares them


def steady_now() -> datetime:
    return _BEGAN + timedelta(seconds=time.monotonic())


class Activity:
    """Whether something has happened lately, as far as the rows tell: see settings.SWEEP_ACTIVITY."""

    def __init__(self) -> None:
        self._latest: Callable[[], object] = import_string(settings.SWEEP_ACTIVITY)
        self._seen: object = None
        self._until = self._looked_at = time.monotonic() + ACTIVE_SECONDS

    def is_recent(self, now: float) -> bool:
        """Say so at a time of the monotonic clock; at most one look at the rows a second, and none while it is."""
        if now < self._until or now - self._looked_at < PAUSE_SECONDS:
            return now < self._until
        self._looked_at = now
        try:
            seen = self._latest()
        except Error:  # what the sweeps say of the database is said by them
            connection.close()
            seen = object()
        if seen != self._seen:
            self._seen, self._until = seen, now + ACTIVE_SECONDS
        return now < self._until


class Scheduler(beat.Scheduler):  # type: ignore[misc]  # Celery has no types
    """Sends what CELERY_BEAT_SCHEDULE names, each every so many seconds, and less often while nothing happens.

    Celery's own goes by the time of day: with the clock set back by an hour it sends nothing for that hour. And it
    writes a traceback for each message that its broker does not take.
    """

    _tried_at = -PAUSE_SECONDS  # on the monotonic clock

    _rests_until = 0.0  # likewise, while nothing happens

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._activity = Activity()
        self._has_work: Callable[[str], bool] = import_string(settings.SWEEP_WORK)
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; return the seconds until the next time."""
        now = time.monotonic()
        if now < self._rests_until and not self._activity.is_recent(now):
            return PAUSE_SECONDS
        wait: float = super().tick(*args, **kwargs)
        if wait and not self._activity.is_recent(now):
            self._rests_until = now + QUIET_SECONDS
            return PAUSE_SECONDS
        return wait

    def merge_inplace(self, b: Mapping[str, Mapping[str, Any]]) -> None:
        steady = {name: {**task, "schedule": schedule(task["schedule"], nowfun=steady_now)} for name, task in b.items()}
        super().merge_inplace(steady)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send what is due, unless it would find nothing to do: the message costs ten times what asking does."""
        try:
            has_work = self._has_work(entry.name)
        except Error:
            connection.close()
            has_work = True
        if has_work:
            super().apply_entry(entry, producer=producer)

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


class WithWorker(bootsteps.StartStopStep):  # type: ignore[misc]
    """The beat as a thread of the worker, for `celery worker --with-beat`: a process less, which is 90 MB."""

    requires = ("celery.worker.components:Pool",)  # whose processes are forked before there are threads

    def __init__(self, worker: Any, with_beat: bool = False, **options: Any) -> None:
        super().__init__(worker, **options)
        self.enabled = with_beat

    def create(self, worker: Any) -> None:
        self.service = beat.Service(worker.app, scheduler_cls=worker.app.conf.beat_scheduler)

    def start(self, worker: Any) -> None:
        threading.Thread(target=self._run, name="beat", daemon=True).start()

    def stop(self, worker: Any) -> None:
        self.service.stop()

    def _run(self) -> None:
        try:
            self.service.start()
        except Exception:
            log.exception("The beat ended. The worker ends with it, so that both start again.")
            os.kill(os.getpid(), signal.SIGTERM)
