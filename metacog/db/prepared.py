"""Statements whose SQL is written once, for the way every response takes and for the pages that are opened most.

Django writes the SQL of a query anew each time it runs, which takes several times as long as the database takes to
answer: that was most of what a post cost (scripts/webhook_cost.py measures it), and more than half of an item's page
(scripts/page_cost.py). Elsewhere the ORM is quick enough. What a post asks runs on a cursor of Django's, one for a
whole transaction: to make one costs as much as to run a statement.

Some of Django's inner parts are used, all of which tests/metacog/db/test_prepared.py names. With METACOG_PREPARED=0 the
plain ORM does the same: for a release of Django that has changed them, and to tell whose mistake one is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, cast

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.utils import CursorWrapper
from django.db.models import query
from django.db.models.base import ModelState
from pydantic_core import to_json

Row = TypeVar("Row")
Given = ParamSpec("Given")
Instance = TypeVar("Instance", bound=models.Model)
Value = str | int | datetime
Statement = tuple[str, list[Any]]  # and its values

KEPT_VALUES = 100  # of a statement; with more psycopg reads it anew each time it runs, for 100 µs (postgresql/base.py)
KEPT_SHAPES = 100  # of one `written_once`: how many values its lists have, and what it is given by name


class Parameter(models.Expression):
    """Stands in a query for a value that is given when it runs: a string, a number or a time."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


class Parameters(models.Expression):
    """Stands for several such values, for `__in`; a slice of it, as of a list, for some of them."""

    def __init__(self, *each: Parameter) -> None:
        super().__init__(output_field=models.BigIntegerField())
        self.each = each

    def __getitem__(self, part: slice) -> Parameters:
        return Parameters(*self.each[part])

    def __len__(self) -> int:
        return len(self.each)

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        if not self.each:
            raise EmptyResultSet
        return f"({', '.join(['%s'] * len(self.each))})", self.each


class _Written(NamedTuple, Generic[Row]):
    """A query's SQL, its values (a Parameter where one is to be given), and what is made of the columns it selects."""

    sql: str
    given: Sequence[Any]
    converters: list[tuple[int, Any, Any]]
    made_of: Callable[[Any], Row]
    columns: int


class Select(Generic[Row]):
    """A query of models (with what it selects as related) or of `values_list`, called with its parameters in order.

    Give as many `parameters` as `write` takes.
    """

    def __init__(self, write: Callable[..., models.QuerySet[Any, Row]], *, parameters: int) -> None:
        self._write, self._parameters = write, parameters

    def __call__(self, cursor: CursorWrapper, *values: Value) -> list[Row]:
        if not settings.PREPARED:
            return list(self._write(*values))
        if not self.written.sql:
            return []
        cursor.execute(self.written.sql, self.given(cursor, values))
        return self.read(cursor, cursor.fetchall())

    def given(self, cursor: CursorWrapper, values: Sequence[Value]) -> list[Any]:
        """Return all values of the statement, with these for its parameters."""
        time = cursor.db.ops.adapt_datetimefield_value
        taken = [time(value) if isinstance(value, datetime) else value for value in values]
        return [taken[one.number] if isinstance(one, Parameter) else one for one in self.written.given]

    def read(self, cursor: CursorWrapper, rows: Sequence[Any]) -> list[Row]:
        """Make of rows, as the database gave them, what the query selects."""
        if converters := self.written.converters:
            rows = [_converted(row, converters, cursor.db) for row in rows]
        return list(map(self.written.made_of, rows))

    def first(self, cursor: CursorWrapper, *values: Value) -> Row | None:
        return next(iter(self(cursor, *values)), None)

    @cached_property
    def written(self) -> _Written[Row]:
        queryset = self._write(*map(Parameter, range(self._parameters)))
        compiler: Any = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        try:
            sql, given = compiler.as_sql()
        except EmptyResultSet:  # whatever the values are
            return _Written("", (), [], itemgetter(0), 0)
        if compiler.connection.vendor == "sqlite":
            sql, given = _spelled_out(sql, given)
        found = compiler.get_converters([column for column, _, _ in compiler.select])
        converters = [(place, each, expression) for place, (each, expression) in found.items()]
        made_of: Callable[[Any], Any] = tuple
        match cast("Any", queryset)._iterable_class:
            case query.ModelIterable:
                made_of = _maker(compiler.select, compiler.klass_info, compiler.annotation_col_map)
            case query.FlatValuesListIterable:
                made_of = itemgetter(0)
        return _Written(sql, given, converters, made_of, len(compiler.select))


class written_once(Generic[Given, Row]):
    """Has a function that writes a query find its rows, with the SQL written once.

    What is given by place is a value, or a list of values (`Parameters` in the function), which the function may only
    compare with; what is given by name can be hashed and says how the query is written. The function reads no clock.
    """

    def __init__(self, write: Callable[Given, models.QuerySet[Any, Row]]) -> None:
        self.write = write
        self._select = lru_cache(maxsize=KEPT_SHAPES)(self._select_of)

    def __call__(self, *given: Given.args, **how: Given.kwargs) -> list[Row]:
        if not settings.PREPARED:
            return self.anew(*given, **how)
        sizes: list[int | None] = []
        values: list[Value] = []
        for value in cast("Iterable[Any]", given):
            is_list = isinstance(value, list)
            sizes.append(len(value) if is_list else None)
            values += value if is_list else [value]
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            return self._select(tuple(sizes), tuple(how.items()))(cursor, *values)

    def first(self, *given: Given.args, **how: Given.kwargs) -> Row | None:
        return next(iter(self(*given, **how)), None)

    def anew(self, *given: Given.args, **how: Given.kwargs) -> list[Row]:
        """Find them with the SQL written for this once: where what is given by name reads the clock."""
        return list(self.write(*given, **how))

    def _select_of(self, sizes: tuple[int | None, ...], how: tuple[tuple[str, Any], ...]) -> Select[Row]:
        def write(*values: Any) -> models.QuerySet[Any, Row]:
            rest = iter(values)
            given = [next(rest) if size is None else Parameters(*[next(rest) for _ in range(size)]) for size in sizes]
            return self.write(*given, **dict(how))  # type: ignore[arg-type]

        return Select(write, parameters=sum([1 if size is None else size for size in sizes]))


def filled(values: Collection[Value]) -> list[Value]:
    """Return values for `__in`, the last again and again: so their number is 1, 2, 4, 8 …, each with its own SQL."""
    found = list(values)
    return found + found[-1:] * ((1 << (len(found) - 1).bit_length()) - len(found) if found else 0)


Asked = tuple["Select[Any]", tuple[Value, ...]]  # with its values


def ask_together(cursor: CursorWrapper, asked: Collection[Asked]) -> list[list[Any]]:
    """Return what each of some queries finds, in any order: asked in one statement on PostgreSQL, which answers once.

    The first column that each selects must be one that is never NULL: so its rows are told from the others'.
    """
    if not settings.PREPARED or cursor.db.vendor != "postgresql" or len(asked) < 2:
        return [select(cursor, *values) for select, values in asked]
    cursor.execute(
        _as_one(tuple([select for select, _ in asked])),
        [value for select, values in asked for value in select.given(cursor, values)],
    )
    rows = cursor.fetchall()
    found, first = [], 0
    for select, _ in asked:
        end = first + select.written.columns
        found.append(select.read(cursor, [row[first:end] for row in rows if row[first] is not None]))
        first = end
    return found


@cache
def _as_one(selects: tuple[Select[Any], ...]) -> str:
    """Write a statement whose rows each have the columns of one query, and nothing in the others' columns."""
    first, *others = (f"({select.written.sql}) q{number}" for number, select in enumerate(selects))
    return f"SELECT * FROM {first}" + "".join([f" FULL JOIN {other} ON FALSE" for other in others])


def _spelled_out(sql: str, given: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write the texts among a statement's own values into it; return what is left to be given.

    Where a partial index may serve, SQLite plans a statement anew for each value that its condition may be about.
    """
    values, left = iter(given), list[Any]()

    def written(place: re.Match[str]) -> str:
        if place[0] == "%%":
            return "%%"
        if isinstance(value := next(values), str):
            return "'{}'".format(str(value).replace("'", "''").replace("%", "%%"))
        left.append(value)
        return "%s"

    return re.sub("%[%s]", written, sql), left


def _converted(row: Sequence[Any], converters: list[tuple[int, Any, Any]], connection: Any) -> list[Any]:
    changed = list(row)
    for place, each, expression in converters:
        for convert in each:
            changed[place] = convert(changed[place], expression, connection)
    return changed


def _maker(selected: Sequence[Any], info: dict[str, Any], annotated: dict[str, int]) -> Callable[[Any], Any]:
    """Return what makes a model of a row, with those it is related to and what is annotated, as the ORM does."""
    model, fields = info["model"], info["select_fields"]
    first, end = fields[0], fields[-1] + 1
    names = [column.target.attname for column, _, _ in selected[first:end]]
    key = first + names.index(model._meta.pk.attname)
    related = [
        (each["local_setter"], each["remote_setter"], _maker(selected, each, {}))
        for each in info.get("related_klass_infos", ())
    ]

    def make(row: Any) -> Any:
        if row[key] is None:
            return None  # of a relation that may be empty
        found = _row(model, dict(zip(names, row[first:end], strict=True)))
        found._state.adding, found._state.db = False, DEFAULT_DB_ALIAS
        for put, put_back, made in related:
            other = made(row)
            put(found, other)
            if other is not None:
                put_back(other, found)
        for name, place in annotated.items():
            setattr(found, name, row[place])
        return found

    return make


def new(model: type[Instance], **values: Any) -> Instance:
    """Make a row that is not stored yet, of values by column (`agent_id`, not `agent`); the others are their defaults.

    What a model's own `__init__` does beside, signals among it, takes ten times as long, and nobody here wants it.
    """
    if not settings.PREPARED:
        return model(**values)
    fixed, made = _defaults(model)
    if not fixed.keys() >= values.keys():
        raise TypeError(f"{model.__name__} has no {values.keys() - fixed.keys()}.")
    return _row(model, {**fixed, **{name: make() for name, make in made if name not in values}, **values})


def _row(model: type[Instance], values: dict[str, Any]) -> Instance:
    row = model.__new__(model)
    row.__dict__ = {"_state": ModelState(), **values}
    return row


@cache
def _defaults(model: type[models.Model]) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    """Return every column's default, and how those are made that are another one each time."""
    fields: list[Any] = list(model._meta.concrete_fields)
    made = [(field.attname, field.get_default) for field in fields if field.has_default() and callable(field.default)]
    return {field.attname: field.get_default() for field in fields}, made


# What these fields, and no field made of them, store as it is.
_AS_IT_IS: dict[type, type] = {
    models.CharField: str,
    models.TextField: str,
    models.BooleanField: bool,
    models.FloatField: float,
    models.ForeignKey: int,
}


class _Columns:
    """The columns of some fields, and what of a row goes into them. Fields that set themselves on saving do not."""

    def __init__(self, fields: Iterable[Any]) -> None:
        connection, fields = connections[DEFAULT_DB_ALIAS], list(fields)
        self.names = [connection.ops.quote_name(field.column) for field in fields]
        self._values = [(field.attname, _kept(field, connection), _stored(field)) for field in fields]

    def of(self, row: models.Model, cursor: CursorWrapper) -> list[Any]:
        there = vars(row)
        return [
            value if value is None or isinstance(value, kept) else prepare(value, cursor.db)
            for name, kept, prepare in self._values
            for value in [there[name]]
        ]


def _kept(field: Any, connection: Any) -> type | tuple[()]:
    if isinstance(field, models.IntegerField):  # PostgreSQL is told the size of a number; of a key it takes any
        return int if type(field.get_db_prep_save(1, connection)) is int else ()
    return _AS_IT_IS.get(type(field), ())


def _stored(field: Any) -> Callable[[Any, Any], Any]:
    """Return what makes of a value what is stored; to the field's effect, but quicker where it is asked much."""
    internal_type = field.get_internal_type()
    if type(field) is models.JSONField and field.encoder is None:
        return lambda value, connection: to_json(value).decode()
    if isinstance(field, models.IntegerField):
        return lambda value, connection: connection.ops.adapt_integerfield_value(value, internal_type)
    if type(field) is models.DateTimeField:
        return lambda value, connection: connection.ops.adapt_datetimefield_value(value)
    prepare: Callable[[Any, Any], Any] = field.get_db_prep_save
    return prepare


class Insert(Generic[Instance]):
    """Writes new rows of a model, one or more, all in one statement; for `run_together`.

    With `over` they take the place of those with the same key, which is not made by the database.
    """

    def __init__(self, model: type[Instance], *, over: bool = False) -> None:
        self._model, self._over = model, over

    def statement(self, cursor: CursorWrapper, rows: Sequence[Instance]) -> Statement:
        columns, head, values, end = self._written
        sql = f"{head} {', '.join([values] * len(rows))}{end}"
        return sql, [value for row in rows for value in columns.of(row, cursor)]

    def plainly(self, rows: Sequence[Instance]) -> None:
        meta = self._model._meta
        if self._over:
            others = [field.name for field in meta.concrete_fields if not field.primary_key]
            rules: Any = {"update_conflicts": True, "unique_fields": [meta.pk.name], "update_fields": others}
        else:
            rules = {}
        self._model._default_manager.bulk_create(rows, **rules)

    @cached_property
    def key(self) -> str:
        """The column of the key."""
        meta = cast("Any", self._model)._meta
        return connections[DEFAULT_DB_ALIAS].ops.quote_name(meta.pk.column)

    @cached_property
    def _written(self) -> tuple[_Columns, str, str, str]:
        meta, quote = cast("Any", self._model)._meta, connections[DEFAULT_DB_ALIAS].ops.quote_name
        columns = _Columns(field for field in meta.concrete_fields if not isinstance(field, models.AutoField))
        values = ", ".join(["%s"] * len(columns.names))
        head = f"INSERT INTO {quote(meta.db_table)} ({', '.join(columns.names)}) VALUES"
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in columns.names if name != self.key)
        return columns, head, f"({values})", f" ON CONFLICT ({self.key}) DO UPDATE SET {changes}" if self._over else ""


class Update(Generic[Instance]):
    """Writes some fields of a row that is there; for `run_together`."""

    def __init__(self, model: type[Instance], *names: str) -> None:
        self._model, self._names = model, names

    def statement(self, cursor: CursorWrapper, rows: Sequence[Instance]) -> Statement:
        (row,), (columns, sql) = rows, self._written
        return sql, [*columns.of(row, cursor), row.pk]

    def plainly(self, rows: Sequence[Instance]) -> None:
        for row in rows:
            row.save(update_fields=self._names)

    @cached_property
    def _written(self) -> tuple[_Columns, str]:
        meta, quote = cast("Any", self._model)._meta, connections[DEFAULT_DB_ALIAS].ops.quote_name
        columns = _Columns(meta.get_field(name) for name in self._names)
        changes = ", ".join(f"{name} = %s" for name in columns.names)
        return columns, f"UPDATE {quote(meta.db_table)} SET {changes} WHERE {quote(meta.pk.column)} = %s"


Write = tuple[Insert[Any] | Update[Any], Sequence[models.Model]]  # and of which rows


class _Key(int):
    """A number, so that a foreign key takes it as it is."""


KEY = _Key()  # stands in a row for the key of the row that is written first


def run_together(
    cursor: CursorWrapper, writes: Sequence[Write], first: tuple[Insert[Any], models.Model] | None = None
) -> None:
    """Write to several tables: in one statement on PostgreSQL, which then answers once, else in one after the other.

    No statement sees what another writes, but for the row that is to be written `first`: KEY stands for its key, which
    it may not have itself afterwards. With more values than psycopg keeps a statement for they go one by one.
    """
    if not settings.PREPARED:
        _run_plainly(writes, first)
        return
    statements = [how.statement(cursor, rows) for how, rows in writes]
    if first:
        insert, row = first
        sql, values = insert.statement(cursor, [row])
        sql += f" RETURNING {insert.key}"
        if _may_be_one(cursor, [(sql, values), *statements]):
            statements = [_with_key(each, f"(SELECT {insert.key} FROM w0)") for each in [(sql, values), *statements]]
        else:
            cursor.execute(sql, values)
            ((key,),) = cursor.fetchall()
            statements = [(sql, [key if value is KEY else value for value in values]) for sql, values in statements]
    if len(statements) > 1 and _may_be_one(cursor, statements):
        *others, (last, _) = statements
        written = ", ".join(f"w{number} AS ({sql})" for number, (sql, _) in enumerate(others))
        statements = [(f"WITH {written} {last}", [value for _, values in statements for value in values])]
    for sql, values in statements:
        cursor.execute(sql, values)


def _run_plainly(writes: Sequence[Write], first: tuple[Insert[Any], models.Model] | None) -> None:
    if first:
        insert, row = first
        insert.plainly([row])
        for each in (each for _, rows in writes for each in rows):
            vars(each).update({name: row.pk for name, value in vars(each).items() if value is KEY})
    for how, rows in writes:
        how.plainly(rows)


def _may_be_one(cursor: CursorWrapper, statements: Sequence[Statement]) -> bool:
    return cursor.db.vendor == "postgresql" and sum([len(given) for _, given in statements]) <= KEPT_VALUES


def _with_key(statement: Statement, key: str) -> Statement:
    """Write into a statement how the key is found that KEY stands for."""
    sql, values = statement
    return sql % tuple([key if value is KEY else "%s" for value in values]), [v for v in values if v is not KEY]
