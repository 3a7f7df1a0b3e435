"""Changes of tables on SQLite."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.sqlite3 import schema
from django.db.models import Value


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def add_field(self, model: Any, field: Any) -> None:
        """Add a column with the database's own constant default without making its table anew, as Django does."""
        if field.unique or field.is_relation or not isinstance(field._db_default_expression, Value):
            super().add_field(model, field)
        else:
            BaseDatabaseSchemaEditor.add_field(self, model, field)
