"""A file that keeps what only needs recording until metacog has it.

Each record is in the file, on the disk, before `add` returns, with the id under which it is sent: sent twice, after a
crash or by two processes that share the file, it is recorded once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import MetacogError, Refused, Unreachable
from .exchange import Send, Steps, Until, answered
from .gating import as_json

MOST_RECORDS, MOST_BYTES = 10_000, 64 * 1_048_576
BUSY_SECONDS = 30.0  # for which another process may write
AT_ONCE = 100  # records read at a time
SEND_SECONDS, LAST_SECONDS = 10.0, 2.0  # of one attempt at sending, and of the one before the end
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0  # between two of them
# The record itself is at fault; any other refusal is about the key, and every record would meet it.
FAULTY = frozenset({400, 413, 415, 422})

TABLES = """
CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS refused (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, why TEXT NOT NULL);
"""


class SpoolFull(MetacogError):
    """The file holds as much as it may: nothing was added, and nothing is dropped."""


class Spool:
    """Keeps records in an SQLite file, at most so many and so large; safe for threads, processes and forks."""

    def __init__(
        self, path: str | os.PathLike[str], *, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.path = Path(path)
        self.most_records, self.most_bytes = most_records, most_bytes
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # It holds what agents say: readable by this user alone.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._open() as database:
            database.executescript(TABLES)

    def add(self, body: Mapping[str, Any]) -> str:
        """Keep the body of a response, and return its id once it is on the disk; SpoolFull when there is no room."""
        record = body if "id" in body else {"id": str(uuid.uuid4()), **body}
        data = as_json(record).encode()
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            count, size = database.execute(
                "SELECT count(*), coalesce(sum(length(body)), 0) FROM"
                " (SELECT body FROM records UNION ALL SELECT body FROM refused)"
            ).fetchone()
            if count >= self.most_records or size + len(data) > self.most_bytes:
                raise SpoolFull(f"{self.path} holds {count:,} records ({size:,} bytes); nothing more fits.")
            database.execute("INSERT INTO records (body) VALUES (?)", [data])
            database.execute("COMMIT")
        return str(record["id"])

    @property
    def waiting(self) -> int:
        """How many records were not sent so far."""
        with self._open() as database:
            return int(database.execute("SELECT count(*) FROM records").fetchone()[0])

    @property
    def refused(self) -> list[tuple[dict[str, Any], str]]:
        """Give the records that metacog will never take, and why; they stay here until `forget_refused`."""
        with self._open() as database:
            found = database.execute("SELECT body, why FROM refused ORDER BY seq").fetchall()
        return [(json.loads(body), why) for body, why in found]

    def forget_refused(self) -> None:
        with self._open() as database:
            database.execute("DELETE FROM refused")

    def send(self, until: Until) -> Steps[int]:
        """Send what is kept, oldest first, and return how many are left; those stay for the next time."""
        while records := self._oldest():
            for seq, body in records:
                if until.left <= 0:
                    return self.waiting
                try:
                    yield from answered(Send("POST", "/responses", body, {"content-type": "application/json"}), until)
                except Unreachable:
                    return self.waiting
                except Refused as error:
                    if error.status not in FAULTY:
                        return self.waiting
                    self._move(seq, body, str(error))
                else:
                    self._drop(seq)
        return 0

    def _oldest(self) -> list[tuple[int, bytes]]:
        with self._open() as database:
            return database.execute("SELECT seq, body FROM records ORDER BY seq LIMIT ?", [AT_ONCE]).fetchall()

    def _drop(self, seq: int) -> None:
        with self._open() as database:
            database.execute("DELETE FROM records WHERE seq = ?", [seq])

    def _move(self, seq: int, body: bytes, why: str) -> None:
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT OR IGNORE INTO refused VALUES (?, ?, ?)", [seq, body, why])
            database.execute("DELETE FROM records WHERE seq = ?", [seq])
            database.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one use: no connection is shared by threads, or handed to a forked process."""
        database = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous=FULL")
            yield database
        finally:
            database.close()  # and takes back what was not committed


class Sender:
    """A thread that sends what is kept: soon after it was added, and again after growing pauses while that fails."""

    def __init__(self, send: Callable[[float], int]) -> None:
        """Take what sends for so many seconds, and returns how many records are left."""
        self._send = send
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._forget()

    def _forget(self) -> None:
        self._process, self._thread = os.getpid(), None
        self._woken, self._is_over = threading.Event(), False

    def wake(self) -> None:
        with self._lock:
            if self._process != os.getpid():  # a forked process has none of its parent's threads
                self._forget()
            if self._thread is None and not self._is_over:
                self._thread = threading.Thread(target=self._work, name="metacog-spool", daemon=True)
                self._thread.start()
        self._woken.set()

    def close(self) -> None:
        """End the thread after a last attempt; what was not sent stays in the file for the next time."""
        with self._lock:
            thread, self._is_over = self._thread, True
        self._woken.set()
        if thread is not None and self._process == os.getpid():
            thread.join(SEND_SECONDS + LAST_SECONDS)

    def _work(self) -> None:
        pause: float | None = None  # until it is woken
        while True:
            self._woken.wait(pause)
            self._woken.clear()
            is_last = self._is_over
            left = self._send(LAST_SECONDS if is_last else SEND_SECONDS)
            if is_last:
                return
            pause = min(LONGEST_PAUSE_SECONDS, 2 * (pause or FIRST_PAUSE_SECONDS)) if left else None
