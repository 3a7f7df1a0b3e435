"""A broker without a server: a kombu transport on one SQLite file in the data folder.

Taking a message leases it. The acknowledgement deletes it; a lease that ends without one (the worker
was killed) gives the message to the next consumer. So each is delivered at least once, to any number
of processes. kombu's own file transport deletes before the task runs and lost 3 to 7 of 12 messages
when the worker was killed; its SQL transport never delivers again.

Not synced to disk at each publish: rows in the database are the truth, a message is only a nudge.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from queue import Empty
from typing import Any

from kombu.transport import virtual

from metacog.db.private_file import make_private
from metacog.runtime.broker.room import GivesRoomBack

log = logging.getLogger("metacog")

LONGEST_WAIT = 0.5  # seconds between two looks; what this process itself sends is seen at once
_sent = threading.Event()
TABLE = """
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    tag TEXT NOT NULL UNIQUE,
    leased_until REAL NOT NULL DEFAULT 0,
    payload TEXT NOT NULL
)
"""


class _FileQoS(virtual.QoS):
    def ack(self, delivery_tag: str) -> None:
        self.channel.forget(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().reject(delivery_tag, requeue)
        if not requeue:
            self.channel.forget(delivery_tag)


class QoS(GivesRoomBack, _FileQoS):
    pass


class Channel(virtual.Channel):
    QoS = QoS

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        options = connection.client.transport_options
        self._lease_seconds = options["lease_seconds"]
        # Celery acknowledges from another thread than the one that consumes.
        self._lock = threading.Lock()
        make_private(options["path"])
        self._database = sqlite3.connect(options["path"], timeout=5, isolation_level=None, check_same_thread=False)
        self._sql("PRAGMA journal_mode=WAL")
        self._sql("PRAGMA synchronous=NORMAL")
        self._sql(TABLE)
        self._sql("PRAGMA user_version = 1")  # writes: a file that can only be read is found now, not at each message

    def _sql(self, statement: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        tag = message["properties"]["delivery_tag"]
        payload = json.dumps(message)
        self._sql("INSERT INTO messages (queue, tag, payload) VALUES (?, ?, ?)", queue, tag, payload)
        _sent.set()

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        now = time.time()
        taken = self._sql(
            "UPDATE messages SET leased_until = ? WHERE id = (SELECT id FROM messages"
            " WHERE queue = ? AND leased_until <= ? ORDER BY id LIMIT 1) RETURNING id, payload",
            now + self._lease_seconds, queue, now,
        )  # fmt: skip
        if not taken:
            raise Empty
        try:
            return json.loads(taken[0][1])
        except ValueError:
            log.error("A message in the broker is not JSON. It was dropped; the sweeps do what is due without it.")
            self._sql("DELETE FROM messages WHERE id = ?", taken[0][0])
            raise Empty from None

    def _restore(self, message: Any) -> None:
        self._sql("UPDATE messages SET leased_until = 0 WHERE tag = ?", message.delivery_tag)

    def forget(self, tag: str) -> None:
        """Delete a message that was dealt with."""
        self._sql("DELETE FROM messages WHERE tag = ?", tag)

    def _purge(self, queue: str) -> int:
        return len(self._sql("DELETE FROM messages WHERE queue = ? RETURNING id", queue))

    def _size(self, queue: str) -> int:
        return int(self._sql("SELECT count(*) FROM messages WHERE queue = ?", queue)[0][0])

    def close(self) -> None:
        super().close()  # gives back what was taken and not acknowledged
        self._database.close()


class Transport(virtual.Transport):
    Channel = Channel
    connection_errors: Any = (*virtual.Transport.connection_errors, sqlite3.Error)
    cycle: Any
    driver_type = "sqlite"
    driver_name = "sqlite3"

    def drain_events(self, connection: Any, timeout: Any = None, **kwargs: Any) -> Any:
        # Celery waits 2 s at a time, and only looks in between whether it was told to stop.
        # So this returns sooner, which a transport may: only a time-out must come in time.
        wait = LONGEST_WAIT if timeout is None else min(timeout, LONGEST_WAIT)
        _sent.clear()
        try:
            self.cycle.get(self._deliver)
        except Empty:
            if not _sent.wait(wait) and wait == timeout:
                raise TimeoutError from None

    def driver_version(self) -> str:
        return sqlite3.sqlite_version
