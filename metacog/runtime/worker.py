"""The worker's consumer: what it cannot use is dropped with one line, and no word of what it holds."""

from __future__ import annotations

import logging
from typing import Any

from celery.worker import consumer

log = logging.getLogger("metacog")


class Consumer(consumer.Consumer):  # type: ignore[misc]  # celery has no types
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
