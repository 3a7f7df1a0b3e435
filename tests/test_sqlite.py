"""Each statement's places for values are written as SQLite's once, and mean what Django means by them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from metacog.sqlite.base import DatabaseWrapper, converted


@pytest.fixture
def cursor() -> Iterator[Any]:
    database = DatabaseWrapper({"NAME": ":memory:", "OPTIONS": {}, "TIME_ZONE": None})
    database.connection = sqlite3.connect(":memory:")
    yield database.create_cursor()
    database.connection.close()


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
