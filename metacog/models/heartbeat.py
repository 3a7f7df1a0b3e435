"""Signs of life of what runs in the background."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models

STALE = timedelta(seconds=60)  # the worker's heartbeat comes every few seconds


class Heartbeat(models.Model):
    """When a part that runs in the background was last seen to work; /readyz and the console read it."""

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


def is_alive(at: datetime | None, now: datetime) -> bool:
    """Tell whether a heartbeat of that time vouches for now. One of the future is of before the clock was set back."""
    return at is not None and abs(now - at) < STALE
