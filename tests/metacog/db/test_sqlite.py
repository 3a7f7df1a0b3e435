"""Statements mean what Django means by them, written once; and who waits for the one writer asks in turn."""

from __future__ import annotations

import gc
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections

from metacog.db.sqlite import base
from metacog.db.sqlite.base import DatabaseWrapper, converted


@pytest.fixture
def database(tmp_path: Path, django_db_blocker: Any) -> Iterator[Any]:
    options = {"transaction_mode": "IMMEDIATE", "timeout": 0.05}
    settings = {**connections[DEFAULT_DB_ALIAS].settings_dict, "NAME": tmp_path / "it", "OPTIONS": options}
    wrapper = DatabaseWrapper(settings)
    with django_db_blocker.unblock():
        wrapper.ensure_connection()
        wrapper.connection.execute("CREATE TABLE counted (n)")
        yield wrapper
        wrapper.close()


@pytest.fixture
def cursor(database: Any) -> Any:
    return database.create_cursor()


@pytest.mark.parametrize(
    ("sql", "given", "row"),
    [
        ("SELECT 1", None, (1,)),
        ("SELECT %s, '%%s', '%%'", [7], (7, "%s", "%")),
        ("SELECT %s, '?'", ["%s ?"], ("%s ?", "?")),
        ("SELECT %(b)s, %(a)s", {"a": 1, "b": 2}, (2, 1)),
        ("SELECT '100 %'", None, ("100 %",)),
    ],
)
def test_a_statement_means_the_same_each_time(cursor: Any, sql: str, given: Any, row: Any) -> None:
    for _ in range(2):
        assert cursor.execute(sql, given).fetchone() == row


def test_many_rows_go_in_as_one_does(cursor: Any) -> None:
    cursor.execute("CREATE TABLE pairs (a, b)")
    cursor.executemany("INSERT INTO pairs VALUES (%s, %s)", iter([(1, "%s"), (2, "?")]))
    assert cursor.execute("SELECT a, b FROM pairs ORDER BY a").fetchall() == [(1, "%s"), (2, "?")]


def test_the_same_statement_is_converted_once(cursor: Any) -> None:
    cursor.execute("SELECT %s AS asked_here_only", [1])
    before = converted.cache_info()
    cursor.execute("SELECT %s AS asked_here_only", [2])
    after = converted.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "it", isolation_level=None)
    yield connection
    connection.close()


def test_who_waits_to_write_asks_again_at_once(
    database: Any, writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    def pause(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            writer.execute("ROLLBACK")

    monkeypatch.setattr(time, "sleep", pause)
    database.settings_dict["OPTIONS"]["timeout"] = 60
    writer.execute("BEGIN IMMEDIATE")
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    database.connection.execute("INSERT INTO counted VALUES (1)")
    database.commit()
    database.set_autocommit(True)
    assert writer.execute("SELECT count(*) FROM counted").fetchone() == (1,)
    assert slept == [base.ASK_AGAIN] * 3


def test_it_gives_up_when_its_time_is_over_and_others_can_go_on(database: Any, writer: sqlite3.Connection) -> None:
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    writer.execute("ROLLBACK")
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    database.rollback()


def test_what_is_not_somebody_elses_turn_is_told_at_once(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("nothing to wait for"))
    database.connection.execute("BEGIN")
    with pytest.raises(OperationalError, match="within a transaction"):
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def test_one_of_a_process_asks_and_the_others_stand_behind_it(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_next", asking := threading.Lock())
    with asking, pytest.raises(OperationalError, match="locked"):
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    database.rollback()


def test_the_connection_of_a_thread_that_ended_is_closed_when_another_is_opened(database: Any) -> None:
    def look() -> Any:
        theirs = DatabaseWrapper(database.settings_dict)
        assert theirs.cursor().execute("SELECT count(*) FROM counted").fetchone() == (0,)
        return theirs

    with ThreadPoolExecutor(1) as another:
        left = another.submit(look).result()
    with ThreadPoolExecutor(1) as another:
        another.submit(look).result()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        left.connection.execute("SELECT 1")
    assert database.cursor().execute("SELECT count(*) FROM counted").fetchone() == (0,), "this thread's goes on"


def in_a_circle(cursor: Any) -> Any:
    return [cursor]


def in_a_generator(cursor: Any) -> Any:
    def rows() -> Iterator[Any]:
        try:
            yield from cursor
        finally:
            cursor.close()

    half_read = rows()
    next(half_read)
    return [half_read]


@pytest.mark.parametrize("left", [in_a_circle, in_a_generator])
def test_what_was_left_half_read_is_put_back_by_its_own_thread(
    database: Any, writer: sqlite3.Connection, left: Callable[[Any], Any]
) -> None:
    """What another thread put back amid a statement made that one's failure pass for success."""
    writer.execute("PRAGMA busy_timeout = 0")
    writer.execute("INSERT INTO counted VALUES (1), (2), (3)")
    gc.disable()
    try:
        circle = left(database.cursor().execute("SELECT n FROM counted"))
        circle.append(circle)
        del circle
        with ThreadPoolExecutor(1) as another:
            another.submit(gc.collect).result()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            writer.execute("INSERT INTO counted VALUES (4)")
    finally:
        gc.enable()
    assert database.cursor().execute("SELECT count(*) FROM counted").fetchone() == (3,)
    writer.execute("INSERT INTO counted VALUES (4)")


def test_what_was_left_half_read_keeps_its_own_thread_from_no_writing(
    database: Any, writer: sqlite3.Connection
) -> None:
    """It reads what was there before another wrote, behind which nothing can be written, however long one waits."""
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO counted VALUES (1), (2), (3)")
    gc.disable()
    try:
        circle = in_a_generator(database.cursor().execute("SELECT n FROM counted"))
        circle.append(circle)
        del circle
        writer.execute("INSERT INTO counted VALUES (4)")
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        database.rollback()
    finally:
        gc.enable()
