"""A broker that is away is told of once by each process, and once when it is back."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker

import metacog.celery  # noqa: F401 - which gives kombu the transport
from metacog.runtime import beat, worker
from metacog.runtime.broker import file, reach, room
from tests.faults.servers import Redis

LINES = ["The broker cannot b", "The broker is back "]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broker.sqlite3"


@pytest.fixture
def app(path: Path, settings: Any) -> Celery:
    app = Celery("away", broker="metacog://localhost", set_as_current=False)
    app.conf.update(
        broker_transport_options={"path": str(path), "lease_seconds": 60},
        broker_connection_retry_on_startup=True,
        task_publish_retry_policy=settings.CELERY_TASK_PUBLISH_RETRY_POLICY,
        beat_schedule={name: {"task": "away.nothing", "schedule": 1.0} for name in "abc"},
        worker_consumer="metacog.runtime.worker:Consumer",
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_hijack_root_logger=False,
    )
    return app


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Return what is written to the log, by the handler in use: Celery sets it up anew."""
    known, lines = reach.Reach(), list[str]()
    for module in (beat, worker, room, reach):
        monkeypatch.setattr(module, "reach", known)

    def emit(handler: logging.Handler, record: logging.LogRecord) -> None:
        if any(isinstance(each, reach.Quiet) for each in handler.filters):
            lines.append(record.getMessage())

    monkeypatch.setattr(logging.StreamHandler, "emit", emit)
    return lambda: list(lines)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_beat_says_it_once_and_counts_what_it_did_not_send(
    app: Celery, path: Path, said: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    scheduler: Any = beat.Scheduler(app=app, lazy=False)
    entries = list(scheduler.schedule.values())

    def tick(times: int) -> None:
        for _ in range(times):
            clock[0] += 1
            for entry in entries:
                scheduler.apply_entry(entry, producer=scheduler.producer)

    tick(1)
    assert not said()
    app.pool.force_close_all()
    scheduler.connection.close()
    path.rename(path.with_suffix(".kept"))
    path.mkdir()
    tick(20)
    assert len(said()) == 1, said()
    path.rmdir()
    tick(2)
    away, back = said()
    assert away.startswith("The broker cannot be reached: unable to open database file")
    assert back.startswith("The broker is back after 20 s and 20 tries; 60 messages were not sent.")


def read_only(*args: Any, **kwargs: Any) -> None:
    raise sqlite3.OperationalError("attempt to write a readonly database")


def test_the_worker_says_it_once(app: Celery, said: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(worker, "SETTLED_SECONDS", 0.3)
    with start_worker(app, pool="solo", perform_ping_check=False, shutdown_timeout=20):
        with monkeypatch.context() as patch:  # it connects and then fails, so that nothing but our pause slows it down
            patch.setattr(file.Channel, "_get", read_only)
            until(lambda: reach.reach._tries > 3)
            assert [line[:19] for line in said()] == LINES[:1], said()
        until(lambda: len(said()) > 1)
    assert [line[:19] for line in said()] == LINES, said()


@contextmanager
def with_file(app: Celery, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[tuple[Callable[[], None], ...]]:
    def away() -> None:
        patch.setattr(file.Channel, "forget", read_only)

    yield away, patch.undo


@contextmanager
def with_redis(app: Celery, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[tuple[Callable[[], None], ...]]:
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server on the PATH")
    server = Redis(folder)
    app.conf.update(broker_url=server.url, broker_transport_options={})
    try:
        yield server.take_away, server.give_back
    finally:
        server.close()


@pytest.mark.parametrize("running", [with_file, with_redis])
def test_a_worker_whose_broker_went_while_it_had_all_it_may_have_asks_for_more(
    app: Celery, tmp_path: Path, said: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch, running: Any
) -> None:
    monkeypatch.setattr(worker, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(worker, "SETTLED_SECONDS", 0.3)
    app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1, worker_enable_remote_control=False)
    done: list[str] = []
    with monkeypatch.context() as patch, running(app, tmp_path, patch) as (away, back):

        @app.task(name=f"away.{running.__name__}", shared=False)  # type: ignore[untyped-decorator]
        def work(name: str) -> None:
            if name == "first":
                away()
            done.append(name)

        with start_worker(app, pool="solo", concurrency=1, perform_ping_check=False, shutdown_timeout=20):
            work.delay("first")
            until(said)
            back()
            with app.connection_for_write() as connection:  # those of the pool broke
                work.apply_async(["second"], connection=connection)
            until(lambda: "second" in done)
            until(lambda: len(said()) > 1)
    assert [line[:19] for line in said()] == LINES, said()
