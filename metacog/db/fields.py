"""A field that Django lacks."""

from __future__ import annotations

from typing import Any

from django.db import models
from pydantic_core import from_json, to_json


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
