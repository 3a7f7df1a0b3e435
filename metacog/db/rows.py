"""Rows: several columns as one place in an index, and no more texts at once than a process can keep."""

from __future__ import annotations

from itertools import accumulate
from typing import TypeVar

from django.db.models import Func, IntegerField, Model, QuerySet
from django.db.models.functions import Length

MOST_CHARACTERS = 4_000_000  # of texts that are read at once; one that is longer by itself is read by itself

Found = TypeVar("Found", bound=Model)


def fitting(rows: QuerySet[Found], limit: int, text: str) -> tuple[list[Found], bool]:
    """Return the first rows, and whether there are more: of long texts in the column `text` fewer than `limit`."""
    lengths = rows.values_list(Length(text), flat=True)[: limit + 1]
    sizes = list(accumulate(length or 0 for length in lengths))
    fits = max(1, sum(size <= MOST_CHARACTERS for size in sizes[:limit]))
    return list(rows[:fits]), len(sizes) > fits


class Row(Func):
    """Several values as one, to be compared with another `Row` of as many by Django's own lookups.

    An index serves such a comparison whole. Django's `Tuple` is spelled out with OR on SQLite, and none serves that.
    """

    template = "(%(expressions)s)"
    output_field = IntegerField()  # never read: some field must say that it can be compared


class Negated(Func):
    """A number with its sign turned, as an index can hold it: `F() * -1` has a parameter, which no index knows."""

    template = "(-%(expressions)s)"
    output_field = IntegerField()
