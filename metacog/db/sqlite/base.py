"""Django's SQLite, with a fair wait for the one writer, and each statement's `%s` turned into SQLite's `?` once.

A connection that a thread left open when it ended is closed when another is opened.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base, features

from metacog.db import packing
from metacog.db.private_file import make_private
from metacog.db.sqlite.schema import DatabaseSchemaEditor

ASK_AGAIN = 0.001  # seconds

Answer = TypeVar("Answer")

_next = threading.Lock()


def _forget_who_waits() -> None:
    global _next, _counting
    _next, _counting = threading.Lock(), threading.Lock()


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


class DatabaseFeatures(features.DatabaseFeatures):
    """What is known of SQLite without asking it, which makes the file: every one that Python brings reads JSON."""

    supports_json_field = True


class DatabaseWrapper(base.DatabaseWrapper):
    features_class = DatabaseFeatures
    SchemaEditorClass = DatabaseSchemaEditor

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        _close_those_of_ended_threads()
        if not str(conn_params["database"]).startswith(("file:", ":memory:")):
            make_private(conn_params["database"])
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA busy_timeout = 0")
        connection.create_function("metacog_part", 3, packing.part, deterministic=True)
        self.left: list[Cursor] = []
        self.of_thread = threading.local()
        self.of_thread.thread = thread = _Thread()
        with _counting:
            _opened.append((weakref.ref(thread), connection))
        return connection

    def create_cursor(self, name: str | None = None) -> Cursor:
        while self.left:
            base.SQLiteCursorWrapper.close(self.left.pop())
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.opened_by, cursor.left = threading.get_ident(), self.left
        cursor.patience = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        return cursor


class _Thread:
    """Is gone when the thread is that made it, and kept it where only that thread has it."""


_opened: list[tuple[weakref.ref[_Thread], sqlite3.Connection]] = []
_counting = threading.Lock()


def _close_those_of_ended_threads() -> None:
    """Close what threads that ended have left open.

    The web server lets idle threads go, and their connections stand in circles: two files each stayed open until all
    garbage was collected, which in a large process is seldom. Not in the thread that ends: the server's have no
    state left then in which Python could wait, and the process crashed.
    """
    with _counting:
        opened = _opened[:]
        _opened.clear()
        for thread, connection in opened:
            if thread() is None:
                connection.close()
            else:
                _opened.append((thread, connection))


def _in_turn(ask: Callable[[], Answer], patience: float) -> Answer:
    """Ask until nobody else writes: one thread of the process keeps asking, the others stand behind it.

    SQLite's own wait sleeps longer each time, up to 100 ms, while whoever came last gets in: of eight agents that
    post at once, one post in a hundred took eighty times as long as the median.
    """
    deadline, has_collected = time.monotonic() + patience, False
    if not _next.acquire(timeout=patience):
        raise sqlite3.OperationalError("database is locked")
    try:
        while True:
            try:
                return ask()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                if not has_collected and error.sqlite_errorcode == sqlite3.SQLITE_BUSY_SNAPSHOT:
                    # The connection itself reads what is no longer so: a cursor left half read among the garbage.
                    gc.collect()
                    has_collected = True
                    continue
                time.sleep(ASK_AGAIN)  # SQLite tells nobody that the lock is free
    finally:
        _next.release()


def _is_busy(error: sqlite3.OperationalError) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_BUSY
