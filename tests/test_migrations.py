"""The migrations: what they replace stays theirs, and an administrator can read each as SQL."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

OURS = ("metacog", "patterns", "reviews")
DISK = MigrationLoader(None).disk_migrations


def test_no_migration_has_the_name_of_one_that_was_replaced() -> None:
    replaced = {each for app in OURS for each in DISK[app, "0001_tables"].replaces}
    assert len(replaced) > 100
    assert replaced & DISK.keys() == set()


@pytest.mark.django_db(transaction=True)
def test_each_migration_can_be_read_as_sql() -> None:
    for app, name in DISK:
        if app in OURS:
            written = [sql(app, name), sql(app, name, backwards=True)]
            assert all(written), (app, name)


@pytest.mark.django_db(transaction=True)
def test_the_sql_of_the_first_ones_has_the_triggers_and_the_index() -> None:
    assert "metacog_auditevent_to_seal" in sql("metacog", "0001_tables")
    written = sql("reviews", "0001_tables")
    assert all(name in written for name in ("reviews_searchwords", "_to_index_", "INSERT INTO reviews_searchprogress"))


def sql(app: str, name: str, backwards: bool = False) -> str:
    out = StringIO()
    call_command("sqlmigrate", app, name, backwards=backwards, stdout=out)
    return out.getvalue()
