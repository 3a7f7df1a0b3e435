"""Django's PostgreSQL, whose pool rarely asks the server whether a connection is there."""

from __future__ import annotations

import select
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg import _queries
from psycopg_pool import ConnectionPool

from metacog.db.prepared import KEPT_VALUES

ASKED_SECONDS = 5.0  # for which the answer of the server holds, unless something came from it since

_queries.MAX_CACHED_STATEMENT_PARAMS = KEPT_VALUES  # a longer statement psycopg reads anew each time it runs


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        if pool := super().pool:
            pool._check = check
        return pool


def check(connection: Any) -> None:
    """Raise an error where a connection of the pool is lost; the pool gives another one then.

    A server that ends one says so, and its socket ends: to see that nothing has come takes no message there and back.
    """
    now = time.monotonic()
    if now < getattr(connection, "asked_at", 0.0) + ASKED_SECONDS and not _has_something_to_read(connection):
        return
    ConnectionPool.check_connection(connection)
    connection.asked_at = now


def _has_something_to_read(connection: Any) -> bool:
    socket = select.poll()
    socket.register(connection.fileno(), select.POLLIN)
    return bool(socket.poll(0))
