"""Django's SQLite, with a fair wait for the one writer, and each statement's `%s` turned into SQLite's `?` once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable
from functools import lru_cache

from django.db import OperationalError
from django.db.backends.sqlite3 import base

ASK_AGAIN = 0.001  # seconds

_next = threading.Lock()


def _forget_who_waits() -> None:
    global _next
    _next = threading.Lock()


os.register_at_fork(after_in_child=_forget_who_waits)


class Cursor(base.SQLiteCursorWrapper):
    def convert_query(self, query: str, *, param_names: Iterable[str] | None = None) -> str:
        return converted(query) if param_names is None else super().convert_query(query, param_names=param_names)


@lru_cache(maxsize=256)
def converted(query: str) -> str:
    return base.SQLiteCursorWrapper.convert_query(None, query)  # type: ignore[arg-type]  # it looks at no cursor


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        return cursor

    def _start_transaction_under_autocommit(self) -> None:
        """Begin once nobody else writes: one thread of the process keeps asking, the others stand behind it.

        SQLite's own wait sleeps longer each time, up to 100 ms, while whoever came last gets in: of eight agents that
        post at once, one post in a hundred took eighty times as long as the median.
        """
        patience: float = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        deadline = time.monotonic() + patience
        if not _next.acquire(timeout=patience):
            raise OperationalError("database is locked")
        try:
            self._wait_at_most(0)
            try:
                self._begin_before(deadline)
            finally:
                self._wait_at_most(patience)
        finally:
            _next.release()

    def _begin_before(self, deadline: float) -> None:
        while True:
            try:
                return super()._start_transaction_under_autocommit()  # type: ignore[misc,no-any-return]  # not in the stubs
            except OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(ASK_AGAIN)  # SQLite tells nobody that the lock is free

    def _wait_at_most(self, seconds: float) -> None:
        with self.wrap_database_errors:
            self.connection.execute(f"PRAGMA busy_timeout = {1000 * seconds:.0f}")


def _is_busy(error: OperationalError) -> bool:
    code: int = getattr(error.__cause__, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_BUSY
