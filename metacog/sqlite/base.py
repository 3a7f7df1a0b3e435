"""Django's SQLite, which turns each statement's `%s` into SQLite's `?` once, not each time it runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.db.backends.sqlite3 import base


class Cursor(base.SQLiteCursorWrapper):
    def convert_query(self, query: str, *, param_names: Iterable[str] | None = None) -> str:
        return converted(query) if param_names is None else super().convert_query(query, param_names=param_names)


@lru_cache(maxsize=256)
def converted(query: str) -> str:
    # Django's own, which looks at nothing of the cursor.
    return base.SQLiteCursorWrapper.convert_query(None, query)  # type: ignore[arg-type]


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        return cursor
