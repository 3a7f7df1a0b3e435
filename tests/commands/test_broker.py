"""The broker in the data folder: leases, at least once, any number of consumers."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import Empty

import pytest
from django.conf import settings
from kombu import Connection
from kombu.simple import SimpleQueue

import metacog.celery  # noqa: F401 - which gives kombu the transport

LEASE = 0.5  # where its end is waited for; else no lease ends, however slow the machine


def connect(path: Path, lease_seconds: float = 60) -> Connection:
    return Connection(
        "metacog://localhost", transport_options={"path": str(path), "lease_seconds": lease_seconds}
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broker.sqlite3"


@pytest.fixture
def queue(path: Path) -> Iterator[SimpleQueue]:
    with connect(path) as connection:
        yield connection.SimpleQueue("work")


@pytest.fixture
def leasing(path: Path) -> Iterator[SimpleQueue]:
    """The same queue, whose messages come back soon."""
    with connect(path, LEASE) as connection:
        yield connection.SimpleQueue("work")


@pytest.fixture
def other(path: Path) -> Iterator[SimpleQueue]:
    """The same queue, seen by another process."""
    with connect(path) as connection:
        yield connection.SimpleQueue("work")


def test_messages_come_in_the_order_they_were_sent(queue: SimpleQueue) -> None:
    for number in range(3):
        queue.put({"number": number})
    assert [queue.get(timeout=30).payload["number"] for _ in range(3)] == [0, 1, 2]


def test_a_message_is_with_one_consumer_at_a_time(queue: SimpleQueue, other: SimpleQueue) -> None:
    queue.put({"number": 1})
    queue.get(timeout=30)
    with pytest.raises(Empty):
        other.get(block=False)


def test_a_message_comes_back_when_its_lease_ends(leasing: SimpleQueue, other: SimpleQueue) -> None:
    leasing.put({"number": 1})
    leasing.get(timeout=30)
    assert other.get(timeout=30).payload == {"number": 1}


def test_an_acknowledged_message_never_comes_back(leasing: SimpleQueue, other: SimpleQueue) -> None:
    leasing.put({"number": 1})
    leasing.get(timeout=30).ack()
    with pytest.raises(Empty):
        other.get(timeout=LEASE + 0.3)


def test_a_message_given_back_is_there_at_once(path: Path, other: SimpleQueue) -> None:
    with connect(path) as connection:
        queue = connection.SimpleQueue("work")
        queue.put({"number": 1})
        queue.get(timeout=30).requeue()
        assert other.get(timeout=30).payload == {"number": 1}


def test_a_refused_message_is_gone(leasing: SimpleQueue, other: SimpleQueue) -> None:
    leasing.put({"number": 1})
    leasing.get(timeout=30).reject()
    with pytest.raises(Empty):
        other.get(timeout=LEASE + 0.3)


def test_a_consumer_that_leaves_gives_back_what_it_held(path: Path, other: SimpleQueue) -> None:
    with connect(path) as connection:
        queue = connection.SimpleQueue("work")
        queue.put({"number": 1})
        queue.get(timeout=30)
    assert other.get(timeout=30).payload == {"number": 1}


def test_consumers_share_the_work_without_loss_or_double(path: Path) -> None:
    numbers = range(100)
    taken: list[int] = []
    all_sent = threading.Event()

    def consume() -> None:
        with connect(path) as connection:
            queue = connection.SimpleQueue("work")
            while True:
                is_last_look = all_sent.is_set()
                try:
                    message = queue.get(timeout=1)
                except Empty:
                    if is_last_look:  # else who sends is only slow
                        return
                    continue
                taken.append(message.payload["number"])
                message.ack()

    consumers = [threading.Thread(target=consume, daemon=True) for _ in range(2)]
    for consumer in consumers:
        consumer.start()
    with connect(path) as connection:
        queue = connection.SimpleQueue("work")
        for number in numbers:
            queue.put({"number": number})
    all_sent.set()
    for consumer in consumers:
        consumer.join()
    assert sorted(taken) == list(numbers)


WORKER = """
    import os, time
    from celery import Celery
    import metacog.celery
    from metacog import settings

    app = Celery("killed", broker="metacog://localhost")
    app.conf.update(
        {name.lower().removeprefix("celery_"): value for name, value in vars(settings).items()
         if name.startswith("CELERY_TASK_") or name.startswith("CELERY_WORKER_")},
        broker_transport_options={"path": os.environ["BROKER"], "lease_seconds": 1},
    )

    @app.task
    def work():
        with open(os.environ["DIARY"], "a") as diary:
            diary.write("started\\n")
        if os.environ["SLOW"] == "yes":
            time.sleep(60)
        with open(os.environ["DIARY"], "a") as diary:
            diary.write("done\\n")
"""


@pytest.mark.starts
def test_a_task_outlives_the_worker_that_is_killed_over_it(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(textwrap.dedent(WORKER))
    diary = tmp_path / "diary"
    diary.touch()
    environment = os.environ | {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{settings.BASE_DIR}",
        "BROKER": str(tmp_path / "broker.sqlite3"),
        "DIARY": str(diary),
    }

    def start(slow: str) -> subprocess.Popen[bytes]:
        arguments = ["--app=killed", "--quiet", "worker", "--concurrency=1", "--without-gossip"]
        return subprocess.Popen(
            [sys.executable, "-m", "celery", *arguments, "--without-mingle", "--without-heartbeat"],
            env=environment | {"SLOW": slow},
            process_group=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def until(lines: list[str]) -> None:
        deadline = time.monotonic() + 90
        while diary.read_text().split() != lines:
            assert time.monotonic() < deadline, diary.read_text()
            time.sleep(0.05)

    subprocess.run(
        [sys.executable, "-c", "import killed; killed.work.delay()"],
        env=environment | {"SLOW": "no"},
        check=True,
    )
    worker = start(slow="yes")
    try:
        until(["started"])
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    worker = start(slow="no")
    try:
        until(["started", "started", "done"])
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


@pytest.mark.starts
def test_the_worker_drops_what_it_cannot_use_with_a_line_that_says_nothing_of_it(path: Path) -> None:
    with connect(path) as connection:
        send = connection.SimpleQueue("metacog").producer.publish
        send(b"{ SECRET", content_type="application/json", content_encoding="utf-8")
        send({"SECRET": 1})
        headers = {"lang": "py", "task": "SECRET", "id": "SECRET", "argsrepr": "SECRET"}
        send([["SECRET"], {}, {}], headers=headers)
        send("SECRET", headers=headers | {"task": "reviews.tasks.settle"})
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("INSERT INTO messages (queue, tag, payload) VALUES ('metacog', 'bad', '{ SECRET')")
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "--app=metacog.celery", "--quiet", "worker", "--pool=solo"],
            cwd=settings.BASE_DIR,
            env={**os.environ, "METACOG_DATA_DIR": str(path.parent), "METACOG_DATABASE_URL": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while file.execute("SELECT 1 FROM messages").fetchone() and time.monotonic() < deadline:
            time.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        _, said = worker.communicate(timeout=120)
        assert not file.execute("SELECT * FROM messages").fetchall()
    assert said.count("A message in the broker") == len(said.splitlines()) == 5, said
    assert "SECRET" not in said
