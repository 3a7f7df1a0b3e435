"""What was put off by a clock that has been set back since: it is due now, not once the clock has caught up.

A time that lies further ahead than it is ever set was set by such a clock. Brought forward by the sweeps, and not asked
for beside what is due: with an OR, SQLite reads all rows there ever were.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

# By so much the machines of one installation may be apart, and so much longer anything may wait after a set-back.
LEEWAY = timedelta(minutes=1)
# For rates far less: so long a caller may be refused after a set-back. Further apart, machines let more through.
APART_SECONDS = 1.0

_Row = TypeVar("_Row", bound=Model)


def bring_forward(rows: QuerySet[_Row, _Row], field: str, now: datetime) -> None:
    """Set a time of rows, if there are any, to now."""
    if rows.exists():  # else nothing is written, and nobody waits for it
        rows.update(**{field: now})


def too_far(now: datetime, pauses: Sequence[float]) -> Q:
    """Match rows whose next attempt lies further ahead than the pause, in seconds, after as many attempts."""
    ahead = Q()
    for attempts, pause in enumerate((0, *pauses, 0)):  # what waits for none, or was interrupted in the last, was due
        ahead |= Q(attempts=attempts, next_attempt_at__gt=now + timedelta(seconds=pause) + LEEWAY)
    return Q(next_attempt_at__gt=now + LEEWAY) & ahead  # the first for the index


def is_free(now: datetime, lease: timedelta) -> Q:
    """Match rows that nobody holds."""
    return Q(leased_until=None) | Q(leased_until__lte=now) | Q(leased_until__gt=now + lease + LEEWAY)
