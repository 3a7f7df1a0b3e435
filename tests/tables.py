"""Tables of cases: one test goes through all rows and reports every one that fails."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

ParameterSet = type(pytest.param())


def table(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[..., Any]:
    """Call a test once for each row, as `pytest.mark.parametrize` would make a test of each.

    For tests that keep nothing from one row to the next: fixtures are made once for all of them. Fails with an
    ExceptionGroup of all failures, each with its row.
    """
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def through_all(**fixtures: Any) -> None:
            failures: list[Exception] = []
            count = 0
            for row in rows:
                values = row.values if isinstance(row, ParameterSet) else (row,) if len(fields) == 1 else row
                given = dict(zip(fields, values, strict=True))
                count += 1
                try:
                    test(**given, **fixtures)
                except Exception as failure:
                    failure.add_note(f"row: {given!r}")
                    failures.append(failure)
            assert count, "the table is empty"
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {count} rows fail", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in fields]
        through_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        del through_all.__wrapped__  # pytest and hypothesis would look behind it
        return through_all

    return decorate
