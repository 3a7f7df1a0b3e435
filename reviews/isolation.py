"""What keeps one agent, team or reader that fails from taking the turn of all the others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded

from metacog.http.middleware import AWAY
from reviews.models import SweepCursor

log = logging.getLogger(__name__)

KEPT_SECONDS = 1.0  # at most so much of a sweep's way is gone again

Row = TypeVar("Row")


@contextmanager
def by_itself(said: str, *about: object) -> Iterator[None]:
    """Log what fails in the block, and have the sweep go on; not without a database, nor when the task's time is over.

    `said` and `about` are what the log says of it. The block owns its transactions.
    """
    try:
        yield
    except (*AWAY, SoftTimeLimitExceeded):
        raise
    except Exception:  # one that fails must not hold up the others
        log.exception(said, *about)


def in_turn(sweep: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Give rows, or keys, in the order of their keys, from behind where the sweep of this name was when it ended.

    However it ended: by its own time, by the task's limit or killed. Whoever takes all of its time is behind all
    others in the next one, and nobody's turn never comes.
    """
    by_key = {_key(row): row for row in rows}
    after = SweepCursor.objects.filter(name=sweep).values_list("after", flat=True).first() or 0
    kept_at = -KEPT_SECONDS
    for key in sorted(by_key, key=lambda key: (key <= after, key)):
        if monotonic() - kept_at >= KEPT_SECONDS:
            SweepCursor.objects.update_or_create(name=sweep, defaults={"after": key})
            kept_at = monotonic()
        yield by_key[key]


def _key(row: Any) -> int:
    return int(getattr(row, "pk", row))
