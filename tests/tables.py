"""Tables of cases: one test goes through all rows and reports every one that fails."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from django.db import transaction

ParameterSet = type(pytest.param())


def forget_scorers() -> None:
    """Forget what was kept of rows that are taken back."""
    from metacog import unreadable
    from patterns.patterns import scorer
    from reviews.risk import in_force

    scorer._automata.kept.clear()
    scorer._scorers.kept.clear()
    in_force._orders.cache_clear()
    for looks in (unreadable.policies, unreadable.rules):
        looks.bad.clear()
        looks.next = math.inf  # no page reads policies beside its own queries: test_unreadable.py has it do so


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back what the block writes to the database."""
    # No `atomic`, in which no durable one may begin. Before Django 6.1 it is called `savepoint`.
    mark = getattr(transaction, "savepoint_create" if hasattr(transaction, "savepoint_create") else "savepoint")()
    try:
        yield
    finally:
        transaction.savepoint_rollback(mark)
        forget_scorers()


def table(names: str | Sequence[str], rows: Iterable[Any], *, rolled_back: bool = False) -> Callable[..., Any]:
    """Call a test once for each row, as `pytest.mark.parametrize` would make a test of each.

    Fixtures are made once for all rows. What a row writes to the database is taken back behind it if it is
    `rolled_back`; nothing else may stay from one row to the next. Fails with an ExceptionGroup of all failures, each
    with its row.
    """
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def through_all(*of: Any, **fixtures: Any) -> None:  # of which object, where the test is a method
            failures: list[Exception] = []
            count = 0
            for row in rows:
                values = row.values if isinstance(row, ParameterSet) else (row,) if len(fields) == 1 else row
                given = dict(zip(fields, values, strict=True))
                count += 1
                try:
                    with taken_back() if rolled_back else nullcontext():
                        test(*of, **given, **fixtures)
                except Exception as failure:
                    failure.add_note(f"row: {given!r}")
                    failures.append(failure)
            assert count, "the table is empty"
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {count} rows fail", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in fields]
        through_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # pytest reads it
        del through_all.__wrapped__  # pytest and hypothesis would look behind it
        return through_all

    return decorate
