"""Whether this process reaches its broker: one line when it no longer does, and one when it does again.

Celery writes a line, or the traceback of one, for each try and each message: 490 a second, where a broker is away for
long. Rows are the truth and the sweeps find what is due, so that it is away is all there is to tell.
"""

from __future__ import annotations

import logging
import threading
import time

log = logging.getLogger("metacog")

# Loggers whose lines tell of nothing else while the broker is away. Tasks that fail have others.
_OF_BROKER = ("celery.worker.consumer", "celery.worker.request", "kombu")
_COULD_NOT = "Couldn't "  # ack or reject a message: how kombu's lines of that begin


class Reach:
    """What one process knows of its broker. Celery's timers and its loop are threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away_since: float | None = None  # on the monotonic clock
        self._tries = self._missed = 0

    @property
    def is_away(self) -> bool:
        return self._away_since is not None

    def miss(self) -> None:
        """Count a message that was not sent."""
        with self._lock:
            self._missed += 1

    def failed(self, why: object) -> None:
        """Note that the broker was tried and not reached."""
        with self._lock:
            is_news = self._away_since is None
            self._tries += 1
            if is_news:
                self._away_since = time.monotonic()
        if is_news:
            told = " ".join(str(why).split())[:200].rstrip(".")
            log.error("The broker cannot be reached: %s. This is said once; what becomes due waits for it.", told)

    def succeeded(self) -> None:
        """Note that the broker was reached."""
        if self._away_since is None:
            return
        with self._lock:
            since, tries, missed = self._away_since, self._tries, self._missed
            self._away_since, self._tries, self._missed = None, 0, 0
        if since is not None:
            told = "The broker is back after %d s and %d tries; %d messages were not sent. The sweeps do what is due."
            log.warning(told, round(time.monotonic() - since), tries, missed)


reach = Reach()


class Quiet(logging.Filter):
    """Leave out what Celery and kombu say of a broker that is known to be away."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith(_OF_BROKER):
            return True
        if str(record.msg).startswith(_COULD_NOT) and isinstance(record.args, tuple):
            reach.failed(record.args[-1])
        return not reach.is_away
