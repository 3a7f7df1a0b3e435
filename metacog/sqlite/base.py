"""Django's SQLite, with a fair wait for the one writer, and each statement's `%s` turned into SQLite's `?` once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base

ASK_AGAIN = 0.001  # seconds

Answer = TypeVar("Answer")

_next = threading.Lock()


def _forget_who_waits() -> None:
    global _next
    _next = threading.Lock()


os.register_at_fork(after_in_child=_forget_who_waits)


class Cursor(base.SQLiteCursorWrapper):
    """Is put back by the thread that opened it and no other; waits for others to have written here, not in SQLite.

    A cursor left half read would be put back by whichever thread collects garbage, amid another statement of its own
    thread's: Python waits for that one with its lock in hand, and overwrites its error code, so that a BEGIN or INSERT
    which failed is taken for done.
    """

    patience = 0.0  # seconds
    opened_by = 0
    left: list[Cursor]

    def close(self) -> None:
        if threading.get_ident() == self.opened_by:
            super().close()
        else:
            self.left.append(self)

    def __del__(self) -> None:
        if threading.get_ident() != self.opened_by:
            self.left.append(self)

    def execute(self, query: str, params: Any = None) -> Any:
        ask = super().execute
        if not query.startswith("BEGIN"):  # that in turn from the first time on: whoever came last would get in
            try:
                return ask(query, params)
            except sqlite3.OperationalError as error:
                if self.connection.in_transaction or not _is_busy(error):
                    raise
        return _in_turn(lambda: ask(query, params), self.patience)

    def convert_query(self, query: str, *, param_names: Iterable[str] | None = None) -> str:
        return converted(query) if param_names is None else super().convert_query(query, param_names=param_names)


@lru_cache(maxsize=256)
def converted(query: str) -> str:
    return base.SQLiteCursorWrapper.convert_query(None, query)  # type: ignore[arg-type]  # it looks at no cursor


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA busy_timeout = 0")
        self.left: list[Cursor] = []
        return connection

    def create_cursor(self, name: str | None = None) -> Cursor:
        while self.left:
            base.SQLiteCursorWrapper.close(self.left.pop())
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.opened_by, cursor.left = threading.get_ident(), self.left
        cursor.patience = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        return cursor


def _in_turn(ask: Callable[[], Answer], patience: float) -> Answer:
    """Ask until nobody else writes: one thread of the process keeps asking, the others stand behind it.

    SQLite's own wait sleeps longer each time, up to 100 ms, while whoever came last gets in: of eight agents that
    post at once, one post in a hundred took eighty times as long as the median.
    """
    deadline = time.monotonic() + patience
    if not _next.acquire(timeout=patience):
        raise sqlite3.OperationalError("database is locked")
    try:
        while True:
            try:
                return ask()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(ASK_AGAIN)  # SQLite tells nobody that the lock is free
    finally:
        _next.release()


def _is_busy(error: sqlite3.OperationalError) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_BUSY
