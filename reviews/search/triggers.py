"""Triggers that note, in the transaction of a change, which rows are to be indexed.

Made again after every migration: SQLite drops a table's triggers where Django rebuilds the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connections

DUE = "reviews_searchdue"
# The table, the columns whose changes count, the kind and the column that names the row which is found by it. Columns
# that the webhook changes with each post are not among them.
_WATCHED = (
    ("reviews_agentresponse", "body, session", "resp", "id"),
    ("reviews_helditem", "kind, text, attributes, metadata, state", "held", "id"),
    ("reviews_decision", "reason, text, arguments", "held", "held_id"),
    ("patterns_problem", "key, session", "prob", "id"),
    ("patterns_errorpattern", "description, keywords, state, dismissed_because", "ep", "id"),
    ("patterns_thoughtthread", "title, slug, next, notes, state", "thr", "id"),
    ("patterns_threadstep", "text", "thr", "thread_id"),
    ("patterns_memory", "text, topic, source, state", "mem", "id"),
    ("patterns_lesson", "text, state", "les", "id"),
    ("metacog_agent", "name, team_id", "agt", "id"),
)


_KEPT = ("reviews_agentresponse", "reviews_helditem", "reviews_decision")  # of which no row is ever deleted


def after_migrating(using: str, **_: Any) -> None:
    create(connections[using])


def create(connection: Any) -> None:
    """Make those triggers that are not there."""
    with connection.cursor() as cursor:
        if DUE not in connection.introspection.table_names(cursor):  # before its migration, or behind it
            return
        for statement in made(connection.vendor):
            cursor.execute(statement)


def made(vendor: str) -> Iterator[str]:
    """Give the statements that make those triggers that are not there."""
    for table, columns, kind, row in _WATCHED:
        for name, event, of in _events(table, columns):
            insert = f"INSERT INTO {DUE} (kind, row_id) VALUES ('{kind}', {of}.{row});"
            trigger = f"{table}_to_index_{name}"
            if vendor == "sqlite":
                yield f"CREATE TRIGGER IF NOT EXISTS {trigger} AFTER {event} ON {table} BEGIN {insert} END"
                continue
            function = f"metacog_to_index_{kind}_{of}_{row}".lower()
            yield (
                f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert} "
                "RETURN NULL; END $$"
            )
            yield (
                f"CREATE OR REPLACE TRIGGER {trigger} AFTER {event} ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION {function}()"
            )


def _events(table: str, columns: str) -> list[tuple[str, str, str]]:
    found = [("insert", "INSERT", "NEW"), ("update", f"UPDATE OF {columns}", "NEW")]
    return found if table in _KEPT else [*found, ("delete", "DELETE", "OLD")]


def drop(connection: Any) -> None:
    with connection.cursor() as cursor:
        for statement in dropped(connection.vendor):
            cursor.execute(statement)


def dropped(vendor: str) -> Iterator[str]:
    for table, *_ in _WATCHED:
        for name in ("insert", "update", "delete"):
            on = f" ON {table}" if vendor == "postgresql" else ""
            yield f"DROP TRIGGER IF EXISTS {table}_to_index_{name}{on}"
