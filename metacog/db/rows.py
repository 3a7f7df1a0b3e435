"""Rows: read along an index each, counted up to a bound, and no more texts at once than a process can keep."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, TypeVar

from django.db.models import BigIntegerField, Expression, Func, IntegerField, Model, QuerySet, Subquery
from django.db.models.functions import Length

from metacog.db.fields import PackedTextField

MOST_CHARACTERS = 4_000_000  # of texts that are read at once; one that is longer by itself is read by itself

Found = TypeVar("Found", bound=Model)


def first_rows(rows: QuerySet[Found], limit: int, text: str) -> tuple[list[Found], bool]:
    """Return the first rows, and whether there are more: of long texts in the column `text` fewer than `limit`."""
    lengths = rows.values_list(Length(Readable(text)), flat=True)[: limit + 1]
    sizes = list(accumulate(length or 0 for length in lengths))
    fits = max(1, sum(size <= MOST_CHARACTERS for size in sizes[:limit]))
    return list(rows[:fits]), len(sizes) > fits


class Readable(Func):
    """A column as it reads, for functions of the database: it may be packed."""

    template = "%(expressions)s"
    arity = 1

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra_context: Any) -> Any:
        sql, params = super().as_sql(compiler, connection, *args, **extra_context)
        (column,) = self.get_source_expressions()
        field: Any = column.output_field
        return (field.readable(sql, connection.vendor) if isinstance(field, PackedTextField) else sql), params


class OfEach(Expression):
    """What each of several queries of one column finds, for `pk__in`: each goes along an index and ends at its limit.

    Asked at once for several teams, in an order, SQLite reads and sorts all that they have.
    """

    def __init__(self, *parts: QuerySet[Any, Any]) -> None:
        super().__init__(output_field=BigIntegerField())
        self.parts = parts
        self._written: list[tuple[str, tuple[Any, ...]]] = []  # once, by it or a copy: Django asks for it again

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        written = self._written
        if not written:
            written += [part.query.get_compiler(connection=connection).as_sql() for part in self.parts]
        sql = " UNION ALL ".join([f"SELECT * FROM ({sql}) each{number}" for number, (sql, _) in enumerate(written)])
        return f"({sql})", tuple([value for _, values in written for value in values])


COUNTED = 1_000  # what is more, pages tell as "1,000+": no page reads all that there is


class CountUpTo(Subquery):
    """How many rows a query with a limit finds: no more are counted than are told."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


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
