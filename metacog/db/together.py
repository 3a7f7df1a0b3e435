"""Transactions that share a commit: on SQLite one connection writes at a time, and each commit waits for the disk.

Who wants to write while another commits is run with all who wait by then, by one of them, in one transaction
(docs/decisions/0023).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from itertools import zip_longest
from typing import Any, TypeVar

from django.db import Error, connection, transaction

Result = TypeVar("Result")
End = tuple[Any, BaseException | None]  # what came of it


class _Turn:
    """What one caller wants done, in the caller's own context."""

    def __init__(self, body: Callable[[], Any]) -> None:
        self.body, self.context = body, copy_context()
        self.settled: Future[Any] = Future()

    def end(self, run: Callable[[Callable[[], Any]], Any]) -> End:
        try:
            return self.context.run(run, self.body), None
        except BaseException as error:  # the caller's, whatever it is
            return None, error

    def settle(self, result: Any, error: BaseException | None) -> None:
        if error:
            self.settled.set_exception(error)
        else:
            self.settled.set_result(result)


_waiting = deque[_Turn]()
_lead = threading.Lock()


def _forget_who_waits() -> None:
    global _lead
    _lead = threading.Lock()
    _waiting.clear()


os.register_at_fork(after_in_child=_forget_who_waits)


def together(body: Callable[[], Result]) -> Result:
    """Run what writes in a transaction: when this returns it is durable, when it raises nothing of it is written.

    Not inside another transaction. It may run in another thread, and again after the database failed another's.
    """
    if connection.vendor != "sqlite":
        return _alone(body)
    turn = _Turn(body)
    _waiting.append(turn)
    with _lead:
        if not turn.settled.done():
            _commit([_waiting.popleft() for _ in range(len(_waiting))])
    result: Result = turn.settled.result()
    return result


def _alone(body: Callable[[], Result]) -> Result:
    with transaction.atomic(durable=True):
        return body()


def _in_savepoint(body: Callable[[], Result]) -> Result:
    with transaction.atomic():
        return body()


def _commit(turns: Sequence[_Turn]) -> None:
    ends = _as_one(turns) if len(turns) > 1 else []
    for turn, end in zip_longest(turns, ends):
        turn.settle(*(end or turn.end(_alone)))


def _as_one(turns: Sequence[_Turn]) -> list[End]:
    """Run all in one transaction; return nothing where the database failed amid it: nothing of any is written then."""
    ends = list[End]()
    try:
        with transaction.atomic(durable=True):
            for turn in turns:
                ends.append(turn.end(_in_savepoint))
                if isinstance(error := ends[-1][1], Error):
                    raise error  # SQLite may have undone what was before it, too
    except Exception as error:
        return [] if ends else [(None, error)] * len(turns)  # it did not begin: another process writes
    return ends
