"""A clock to write history by: what happens under it happened then, in every column and every id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from unittest.mock import patch


@dataclass
class Clock:
    """Stands still until it is set."""

    at: datetime


@contextmanager
def turned_back(at: datetime) -> Iterator[Clock]:
    """Show this whole process the clock's time: `timezone.now`, the defaults made of it, ids and rates.

    For a process that does nothing else meanwhile. What the audit record is told cannot be dated
    afterwards, so it has to be written at its time.
    """
    clock = Clock(at)

    class Turned(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # the real one gives Self
            return clock.at.astimezone(tz)

    with (
        # The name inside the module, since columns hold `timezone.now` itself as their default.
        patch("django.utils.timezone.datetime", Turned),
        patch("time.time", lambda: clock.at.timestamp()),
        patch("time.time_ns", lambda: int(clock.at.timestamp() * 1_000_000) * 1_000),
    ):
        yield clock
