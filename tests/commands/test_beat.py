"""The beat: what is periodic goes on, whatever happens to the clock."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import celery.beat
import pytest

from metacog.celery import app
from metacog.runtime import beat
from reviews import activity


def test_it_sends_what_is_due_though_the_clock_was_set_back(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    began, wall = time.monotonic(), app.now()
    monkeypatch.setattr(time, "monotonic", lambda: began)
    assert app.conf.beat_scheduler == "metacog.runtime.beat:Scheduler"
    scheduler: Any = beat.Scheduler(app=app)
    assert set(scheduler.schedule) == set(settings.CELERY_BEAT_SCHEDULE)
    settle = scheduler.schedule["settle"]
    assert not settle.is_due().is_due
    monkeypatch.setattr(app, "now", lambda: wall - timedelta(hours=1))
    monkeypatch.setattr(time, "monotonic", lambda: began + 3)
    assert settle.is_due().is_due


def test_it_rests_while_nothing_happens_and_goes_on_at_once_when_something_does(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    now, seen, sent, idle = [1_000.0], ["before"], list[str](), "cards"
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(activity, "latest", lambda: seen[0] or object())
    monkeypatch.setattr(activity, "has_work", lambda sweep: sweep != idle)
    monkeypatch.setattr(
        celery.beat.Scheduler, "apply_async", lambda self, entry, *args, **kwargs: sent.append(entry.name)
    )
    scheduler: Any = beat.Scheduler(app=app)

    def sends(seconds: int) -> int:
        """Let some time pass; return how often `deliver` was sent, which is due each second."""
        sent.clear()
        for _ in range(seconds):
            now[0] += 1
            while not scheduler.tick():
                pass
        return sent.count("deliver")

    sends(int(2 * beat.ACTIVE_SECONDS) + 1)  # the start counts as activity, and so does what is seen first
    assert sends(60) <= 60 / beat.QUIET_SECONDS
    assert set(sent) >= {"settle", "heartbeat", "index-search"}
    assert idle not in sent
    seen[0] = "after"
    assert sends(10) >= 9
    seen[0] = ""  # always something to do
    sends(int(beat.ACTIVE_SECONDS))
    assert sends(60) >= 55
