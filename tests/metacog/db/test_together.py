"""Transactions that share a commit: one fails alone, the database fails for nobody else, and each is durable."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, connection

from metacog.audit.audit import request_id
from metacog.db import together
from metacog.models import Team

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _on_sqlite() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("posts share a commit on SQLite alone")


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many shared each commit, in order."""
    sizes: list[int] = []
    commit = together._commit
    monkeypatch.setattr(together, "_commit", lambda turns: (sizes.append(len(turns)), commit(turns)))
    return sizes


@contextmanager
def waiting(*bodies: Callable[[], Any]) -> Iterator[list[Future[Any]]]:
    """Have these wait, in order, for one that commits until the block ends."""

    def call(body: Callable[[], Any]) -> Any:
        try:
            return together.together(body)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(bodies)) as pool, together._lead:
        running = []
        for number, body in enumerate(bodies, 1):
            running.append(pool.submit(call, body))
            while len(together._waiting) < number:
                threading.Event().wait(0.001)
        yield running


def add(name: str) -> Callable[[], int]:
    return lambda: Team.objects.create(name=name).pk


def failing(name: str, error: Exception) -> Callable[[], int]:
    def body() -> int:
        add(name)()
        raise error

    return body


def names() -> set[str]:
    return {*Team.objects.filter(name__startswith="t-").values_list("name", flat=True)}


def test_one_that_is_alone_is_a_transaction(commits: list[int]) -> None:
    assert together.together(add("t-1")) == Team.objects.get(name="t-1").pk
    with pytest.raises(ValueError, match="mine"):
        together.together(failing("t-2", ValueError("mine")))
    assert (names(), commits) == ({"t-1"}, [1, 1])


def test_who_waits_shares_a_commit_and_an_error_is_the_callers_own(commits: list[int]) -> None:
    with waiting(add("t-1"), failing("t-2", ValueError("mine")), add("t-3")) as running:
        pass
    assert [type(each.exception()) for each in running] == [type(None), ValueError, type(None)]
    assert running[2].result() == Team.objects.get(name="t-3").pk
    assert (names(), commits) == ({"t-1", "t-3"}, [3])


def test_where_the_database_fails_each_runs_by_itself(commits: list[int]) -> None:
    with waiting(add("t-1"), failing("t-2", DatabaseError("disk")), add("t-3")) as running:
        pass
    assert [type(each.exception()) for each in running] == [type(None), DatabaseError, type(None)]
    assert (names(), commits) == ({"t-1", "t-3"}, [3])


def test_nobody_is_told_of_what_is_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    as_they_are = together._as_one
    seen: list[bool] = []

    def noting(turns: Any) -> Any:
        ends = as_they_are(turns)
        seen.append(names() == {"t-1", "t-2"} and not any(turn.settled.done() for turn in turns))
        return ends

    monkeypatch.setattr(together, "_as_one", noting)
    with waiting(add("t-1"), add("t-2")):
        pass
    assert seen == [True]


def test_each_runs_in_its_own_context() -> None:
    def naming(name: str) -> Callable[[], str]:
        def call() -> str:
            token = request_id.set(name)
            try:
                return together.together(request_id.get)
            finally:
                request_id.reset(token)

        return call

    with ThreadPoolExecutor(2) as pool:
        with together._lead:
            running = [pool.submit(naming(name)) for name in ("one", "two")]
            while len(together._waiting) < 2:
                threading.Event().wait(0.001)
        assert [each.result() for each in running] == ["one", "two"]
