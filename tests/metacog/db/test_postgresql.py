"""A connection of the pool is asked seldom whether it is there, and none that the server ended is given out."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg_pool import ConnectionPool

from metacog.db.postgresql.base import ASKED_SECONDS, check

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_the_server_is_asked_once_in_a_while_and_when_it_has_ended_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, ask, asked = [1_000.0], ConnectionPool.check_connection, list[Any]()
    monkeypatch.setattr(ConnectionPool, "check_connection", lambda given: (asked.append(given), ask(given)))
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    parameters = {**connection.get_connection_params(), "autocommit": True}
    with psycopg.connect(**parameters) as given:
        for seconds, times in ((0, 1), (ASKED_SECONDS - 1, 1), (1, 2), (1, 2)):
            now[0] += seconds
            check(given)
            assert len(asked) == times
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [given.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            check(given)


def test_the_pool_checks_so() -> None:
    database: Any = connection
    assert database.pool._check is check
