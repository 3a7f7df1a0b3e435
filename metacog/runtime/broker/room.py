"""How many messages a worker may have: one whose end its broker did not hear is no longer among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metacog.runtime.broker.reach import reach


class GivesRoomBack:
    """A QoS that no longer counts a message as with the worker, though its broker could not be told that it is done.

    kombu's go on counting it. A worker that had all it may have when its broker went, and no question open there that
    could fail, never asked again. The broker gives the message to a worker once more; each does only what is due.
    """

    _quick_ack: Any

    def ack(self, delivery_tag: str) -> None:
        self._tell(super().ack, delivery_tag)  # type: ignore[misc]  # of the QoS that stands behind

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        self._tell(super().reject, delivery_tag, requeue)  # type: ignore[misc]

    def _tell(self, tell: Callable[..., None], delivery_tag: str, *how: bool) -> None:
        try:
            tell(delivery_tag, *how)
        except Exception:
            self._quick_ack(delivery_tag)
            raise
        reach.succeeded()
