"""Sealing beside writers and beside itself, with real transactions on PostgreSQL."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import connection, transaction

from metacog.audit import audit, chain
from metacog.models import AuditEvent, AuditSeal

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def record(name: str) -> None:
    audit.record("agent-changed", name, actor=None, team=None)


@pytest.fixture
def pool() -> Iterator[Any]:
    with ThreadPoolExecutor(20) as pool:
        yield pool


def run(pool: Any, call: Callable[[], Any]) -> Any:
    """Run `call` in a thread with a connection of its own."""

    def with_connection() -> Any:
        try:
            return call()
        finally:
            connection.close()

    return pool.submit(with_connection)


@pytest.mark.parametrize("first", ["early", "late"])
def test_an_event_whose_transaction_ends_after_a_later_one_was_sealed_is_sealed_too(pool: Any, first: Any) -> None:
    """`early` took the smaller id; whichever of the two commits first, both end under seals."""
    names = ("early", "late")
    written, commit = {name: Event() for name in names}, {name: Event() for name in names}
    writers = {}
    for name in names:

        def write(name: str = name) -> None:
            with transaction.atomic():
                record(name)
                written[name].set()
                assert commit[name].wait(60)

        writers[name] = run(pool, write)
        assert written[name].wait(60)
    assert chain.seal() == 0
    for name in (first, "late" if first == "early" else "early"):
        commit[name].set()
        writers[name].result()
        assert chain.seal() == 1
    report = chain.verify()
    assert (report.problems, report.events, report.unsealed) == ([], 2, 0)
    by_id = list(AuditEvent.objects.order_by("pk").values_list("object_id", flat=True))
    assert by_id == ["early", "late"]


def test_two_sealers_at_once_never_fork_the_chain(pool: Any) -> None:
    for _ in range(20):
        for n in range(5):
            record(str(n))
        barrier = Barrier(4)

        def seal(barrier: Barrier = barrier) -> int:
            barrier.wait()
            return chain.seal()

        assert sum(future.result() for future in [run(pool, seal) for _ in range(4)]) == 5
    report = chain.verify()
    assert (report.problems, report.events, report.unsealed) == ([], 100, 0)
    assert AuditSeal.objects.count() == report.seals


def test_sixteen_writers_that_roll_back_at_times_leave_no_gap(pool: Any) -> None:
    done = Event()

    def write(writer: int) -> None:
        for n in range(25):
            with transaction.atomic():
                record(f"{writer}-{n}")
                if n % 7 == 0:
                    transaction.set_rollback(True)

    def seal() -> None:
        while not done.is_set():
            chain.seal()

    sealers = [run(pool, seal) for _ in range(2)]
    for writer in [run(pool, partial(write, n)) for n in range(16)]:
        writer.result()
    done.set()
    for sealer in sealers:
        sealer.result()
    chain.seal()
    report = chain.verify()
    assert (report.problems, report.events, report.unsealed) == ([], 16 * 21, 0)
    assert AuditEvent.objects.count() == 16 * 21


def test_the_record_may_grow_while_it_is_checked(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "EVENTS_READ", 3)
    monkeypatch.setattr(chain, "SEALS_READ", 1)
    for n in range(30):
        record(str(n))
        chain.seal()
    done = Event()

    def grow() -> None:
        while not done.is_set():
            record("more")
            chain.seal()

    growing = run(pool, grow)
    for _ in range(5):
        assert chain.verify().problems == []
    done.set()
    growing.result()
