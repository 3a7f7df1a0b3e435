"""Two that meet in the middle of what they do. On PostgreSQL, where writers run side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest
from django.db import connection

Beside = Callable[[Any, str, Callable[[], Any]], "list[Met]"]


class Met(NamedTuple):
    """What ran beside, and whether it had to wait."""

    running: Future[Any]
    waited: bool


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that has a call run beside a function's first run, right after its work.

    That run goes on once the call is done or waits for a lock.
    """
    with ThreadPoolExecutor(1) as pool:

        def run(module: Any, name: str, call: Callable[[], Any]) -> list[Met]:
            original, met, turns = getattr(module, name), list[Met](), count()

            def with_call(*args: Any, **kwargs: Any) -> Any:
                with connection.cursor() as cursor:
                    # The commit looks whether what is pointed at is there, and locks it: here, so that it can be met.
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                result = original(*args, **kwargs)
                if next(turns) == 0:  # the call may run the same function
                    pids = SimpleQueue[int]()
                    running = pool.submit(_in_thread, call, pids)
                    met.append(Met(running, _waits(running, pids.get())))
                return result

            monkeypatch.setattr(module, name, with_call)
            return met

        yield run


def _in_thread(call: Callable[[], Any], pids: SimpleQueue[int]) -> Any:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pids.put(cursor.fetchone()[0])
        return call()
    finally:
        connection.close()


def _waits(running: Future[Any], pid: int) -> bool:
    """Return once it is done (False) or waits for a lock (True)."""
    while not running.done():
        with connection.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted)", [pid])
            if cursor.fetchone()[0]:
                return True
        with suppress(TimeoutError):
            running.exception(timeout=0.01)
    return False
