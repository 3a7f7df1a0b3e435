"""The beat: what is periodic goes on, whatever happens to the clock."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from metacog.celery import app
from metacog.runtime import beat


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
