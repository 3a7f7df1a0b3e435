"""Lift the triggers that keep the audit record as it is, for the flush after a test with real transactions.

Tests that tamper with the record use `lifted` as well: they do what somebody with the database's
password can do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import TransactionTestCase

TABLES = ("metacog_auditevent", "metacog_auditseal")


@contextmanager
def lifted() -> Iterator[None]:
    """Let the record be changed while the block runs."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            back = [f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in TABLES]
            # A table with foreign keys that are still to be checked cannot be altered.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in TABLES:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        else:
            cursor.execute(f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN {TABLES}")
            triggers = cursor.fetchall()
            back = [sql for _, sql in triggers]
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {name}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for statement in back:
                cursor.execute(statement)


def empty() -> None:
    """Delete all rows but those that Django writes for the models, which its own flush would write anew each time.

    On PostgreSQL TRUNCATE would make each table and index a new file.
    """
    kept = (ContentType._meta.db_table, Permission._meta.db_table)
    there = connection.introspection.django_table_names(only_existing=True, include_views=False)
    quote = connection.ops.quote_name
    deletes = [f"DELETE FROM {quote(table)};" for table in there if table not in kept]
    with lifted():
        connection.ops.execute_sql_flush([" ".join(deletes)] if connection.vendor == "postgresql" else deletes)


@pytest.fixture(autouse=True, scope="session")
def _empty_past_triggers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: empty())
        yield
