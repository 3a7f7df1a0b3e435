"""Fields that Django lacks."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import lookups
from pydantic_core import from_json, to_json

from metacog.db import packing


class OrderedJSONField(models.TextField):  # type: ignore[type-arg]  # not subscriptable when run
    """JSON as it was written. PostgreSQL's jsonb sorts keys, and a verdict made of it would differ by database."""

    _pyi_private_set_type: Any  # for mypy: what a row holds is what the JSON says, not its text
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else from_json(value)

    def to_python(self, value: Any) -> Any:
        return value  # TextField's would make a text of what the JSON says

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else to_json(value).decode()

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""


class LenientJSONField(OrderedJSONField):
    """Reads a text that is not JSON as that text: for a value whose shape is checked where it is used."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        try:
            return super().from_db_value(value, expression, connection)
        except ValueError:
            return value


class InPart(str):
    """A text that is written as a part of the first of its row's `PackedTextField`s, which knows all of them."""

    parts: tuple[str, ...] = ()

    @classmethod
    def together(cls, *texts: str) -> list[InPart]:
        """Return the texts of a row's packed fields, in their order, to be written as one."""
        found = [cls(text) for text in texts]
        found[0].parts = texts
        return found


class PackedTextField(models.TextField):  # type: ignore[type-arg]  # not subscriptable when run
    """A text; on SQLite it may be packed with others of its row into the column `into`, as its part `part`.

    Values are `str` all the same, in rows, `values` and lookups. What was written as a plain text stays one. Whoever
    writes the column `into` alone takes the others' texts away: a model with such fields sees to it.
    """

    def __init__(self, *args: Any, into: str, part: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.into, self.part = into, part

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs | {"into": self.into, "part": self.part}

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if isinstance(value, InPart):
            if connection.vendor != "sqlite":
                return str(value)
            return packing.packed(value.parts) if value.parts else b""
        return super().get_db_prep_value(value, connection, prepared)

    def readable(self, sql: str, vendor: str) -> str:
        """Return SQL that reads the text of the column that this SQL names."""
        column = f'"{self.column}"'
        if vendor != "sqlite" or not sql.endswith(column):  # of a query around the one that reads it
            return sql
        return f'metacog_part({sql}, {sql.removesuffix(column)}"{self.into}", {self.part})'

    def select_format(self, compiler: Any, sql: str, params: Any) -> tuple[str, Any]:
        return self.readable(sql, compiler.connection.vendor), params


@PackedTextField.register_lookup
class Contains(lookups.Contains):
    def process_lhs(self, compiler: Any, connection: Any, lhs: Any = None) -> tuple[str, Any]:
        sql, params = super().process_lhs(compiler, connection, lhs)
        return self.lhs.output_field.readable(sql, connection.vendor), params


class NumbersField(models.TextField):  # type: ignore[type-arg]  # as above
    """A list of numbers below 2**32: on SQLite as bytes, but JSON in older rows; on PostgreSQL JSON."""

    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: bytes | str | None, expression: Any, connection: Any) -> list[int]:
        if isinstance(value, bytes):
            return packing.numbers_unpacked(value)
        found: list[int] = from_json(value) if value else []
        return found

    def to_python(self, value: Any) -> Any:
        return value

    def get_prep_value(self, value: Any) -> Any:
        return value

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if not value or isinstance(value, str):
            return value or ""
        return packing.numbers_packed(value) if connection.vendor == "sqlite" else to_json(value).decode()
