"""The worker's consumer: what it cannot use is dropped with one line, and no word of what it holds; a broker that is
away is told of once. And its connections to the database, which are kept as those of the web are.
"""

from __future__ import annotations

import gc
import logging
import time
from typing import Any

from celery import signals
from celery.worker import consumer
from celery.worker.state import maybe_shutdown
from django.db import close_old_connections

from metacog.runtime.broker.reach import reach

log = logging.getLogger("metacog")


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0  # seconds before the next try to connect; each is longer by the first
SETTLED_SECONDS = 5.0  # a connection that has lasted so long is one


@signals.task_prerun.connect  # type: ignore[untyped-decorator]
@signals.task_postrun.connect  # type: ignore[untyped-decorator]
def tidy_connections(**kwargs: Any) -> None:
    """Close what failed or is too old, as Django does around each request; on PostgreSQL it goes back to the pool.

    To open one on SQLite, which reads all of the schema, took 4 ms of CPU for each task.
    """
    if not kwargs["task"].request.is_eager:
        close_old_connections()


@signals.worker_before_create_process.connect  # type: ignore[untyped-decorator]
def share_memory(**kwargs: Any) -> None:
    """Look for no garbage in what is there already: that writes on all of it, which the next process then holds too."""
    gc.freeze()


class Consumer(consumer.Consumer):  # type: ignore[misc]  # celery has no types
    _settling: Any = None  # the timer's entry

    def ensure_connected(self, conn: Any) -> Any:
        """Connect, for as long as that takes."""
        connected = conn.ensure_connection(
            lambda error, pause: reach.failed(error),
            interval_start=FIRST_PAUSE,
            interval_step=FIRST_PAUSE,
            interval_max=LONGEST_PAUSE,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        self._settling = self.timer.call_after(SETTLED_SECONDS, reach.succeeded)
        return connected

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        self._lost(exc)
        super().on_connection_error_before_connected(exc)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        self._lost(exc)
        super().on_connection_error_after_connected(exc)

    def _lost(self, exc: Exception) -> None:
        reach.failed(exc)
        if self._settling is not None:
            self._settling.cancel()
        time.sleep(FIRST_PAUSE)  # a file that can be opened and not written would be opened again at once

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        self._drop(message, "cannot be read")

    def on_unknown_message(self, body: Any, message: Any) -> None:
        self._drop(message, "is none of a task")

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._drop(message, "names a task that there is not")

    def on_invalid_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._drop(message, "is out of shape")

    def _drop(self, message: Any, why: str) -> None:
        log.error("A message in the broker %s. It was dropped; the sweeps do what is due without it.", why)
        message.reject_log_error(log, self.connection_errors)
