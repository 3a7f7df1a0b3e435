"""Pages that may be late, with a replica that is the same database, but for tables kept from an earlier time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.http import replica
from metacog.models import Heartbeat
from tests.tables import table

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

LATE = ["/search/?q=cache", "/statistics/", "/statistics/review-time/", "/statistics.csv", "/statistics/data/all.json"]


@pytest.fixture
def with_replica(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Name a replica; what is in the schema `late` has another content there."""
    ours = connection.settings_dict
    options = {**ours["OPTIONS"], "options": "-c default_transaction_read_only=on -c search_path=late,public"}
    monkeypatch.setitem(connections.settings, replica.REPLICA, ours | {"OPTIONS": options})
    monkeypatch.setattr(replica, "_replica", replica._Replica())
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA late")
    Heartbeat.objects.create(name="worker", at=timezone.now())
    there: Any = connections[replica.REPLICA]
    # Django's tests let nobody else open one, and would empty a database that they knew.
    monkeypatch.setattr(there, "ensure_connection", lambda: there.connection or there.connect())
    yield there
    there.close()
    there.close_pool()
    del connections[replica.REPLICA]
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA late CASCADE")


def keep_late(change: str = "") -> None:
    """Let the replica keep what these tables have now, but for a change."""
    with connection.cursor() as cursor:
        for name in ("metacog_membership", "metacog_heartbeat", "reviews_dailyfigure"):
            cursor.execute(f"DROP TABLE IF EXISTS late.{name}; CREATE TABLE late.{name} AS SELECT * FROM {name}")
        if change:
            cursor.execute(change)


@contextmanager
def asked(of: Any) -> Iterator[list[str]]:
    """Collect what a connection is asked of the responses, the figures and the search's index."""
    found: list[str] = []
    with CaptureQueriesContext(of) as queries:
        yield found
    tables = ("reviews_searchdocument", "reviews_dailyfigure", "reviews_reviewtimefigure")
    found += [each["sql"] for each in queries if any(name in each["sql"] for name in tables)]


@table("address", LATE)
def test_pages_that_may_be_late_are_made_from_the_replica(
    with_replica: Any, as_person: Any, alice: Any, kuro: Any, address: str
) -> None:
    kuro.respond()
    client = as_person(alice)
    with asked(with_replica) as there, asked(connection) as here:
        page = client.get(address)
    assert page.status_code == 200
    assert there
    assert not here


@table("change", [
    "DELETE FROM late.metacog_membership",
    "UPDATE late.metacog_membership SET role = 'viewer'",
    "UPDATE late.metacog_heartbeat SET at = at - interval '2 minutes'",
    "ALTER TABLE late.reviews_dailyfigure RENAME responses TO other",
])  # fmt: skip
def test_a_replica_that_is_behind_or_fails_is_not_asked(
    with_replica: Any, as_person: Any, alice: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(replica, "_replica", replica._Replica())
    client = as_person(alice)
    keep_late()
    with asked(connection) as here:
        assert client.get("/statistics/").status_code == 200
    assert not here
    keep_late(change)
    with asked(connection) as here:
        assert client.get("/statistics/").status_code == 200
    assert here


def test_a_replica_that_is_away_is_left_alone_for_a_while(
    with_replica: Any,
    as_person: Any,
    alice: Any,
    kuro: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried = []

    def nobody(*_: Any, **__: Any) -> Any:
        tried.append(1)
        raise OperationalError("connection refused")

    monkeypatch.setattr(with_replica, "ensure_connection", nobody)
    client = as_person(alice)
    with asked(connection) as here:
        assert [client.get("/statistics/").status_code for _ in range(2)] == [200, 200]
    assert here
    assert len(tried) == 1
    assert caplog.messages == ["The replica is not asked for 30 s: connection refused"]


def test_what_is_written_goes_to_the_database_itself(with_replica: Any, as_person: Any, alice: Any, kuro: Any) -> None:
    item = kuro.hold()
    assert as_person(alice).get(f"/queue/{item}/").status_code == 200
    with CaptureQueriesContext(with_replica) as there:
        assert as_person(alice).get("/queue/").status_code == 200
        kuro.respond()
    assert not there.captured_queries
