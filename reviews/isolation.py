"""What keeps one agent, team or reader that fails from taking the turn of all the others."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from celery.exceptions import SoftTimeLimitExceeded

from metacog.http.middleware import AWAY

log = logging.getLogger(__name__)


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
