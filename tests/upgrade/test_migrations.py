"""The migrations: what they replace stays theirs, and an administrator can read each as SQL."""

from __future__ import annotations

import json
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.utils import timezone

from metacog.models import Notice, Policy, PushDevice

OURS = ("metacog", "patterns", "reviews")
DISK = MigrationLoader(None).disk_migrations
MODELS = [model for app in OURS for model in apps.get_app_config(app).get_models()]
DEFAULTED = [model for model in MODELS if any(field.has_db_default() for field in model._meta.concrete_fields)]
TWICE = json.dumps(json.dumps(RULES := [{"tool": "rm", "do": "deny"}]))


def test_no_migration_has_the_name_of_one_that_was_replaced() -> None:
    replaced = {each for app in OURS for each in DISK[app, "0001_tables"].replaces}
    assert len(replaced) > 100
    assert replaced & DISK.keys() == set()


@pytest.mark.django_db(transaction=True)
def test_each_migration_can_be_read_as_sql() -> None:
    """As `sqlmigrate` reads it, which loads all migrations and renders all models anew for each."""
    loader = MigrationLoader(connection, replace_migrations=False)
    state, read = ProjectState(), []
    for app, name in dict.fromkeys(
        node for leaf in loader.graph.leaf_nodes() for node in loader.graph.forwards_plan(leaf)
    ):
        migration = loader.graph.nodes[app, name]
        if app in OURS and (app, name) in DISK:
            for steps in (migration.unapply, migration.apply):  # both begin with what was there before
                with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
                    after = steps(state.clone(), editor, collect_sql=True)
                assert editor.collected_sql, (app, name, steps.__name__)
            state = after
            read.append((app, name))
        else:
            state = migration.mutate_state(state, preserve=False)
    assert set(read) == {node for node in DISK if node[0] in OURS}


@pytest.mark.django_db(transaction=True)
def test_the_sql_of_the_first_ones_has_the_triggers_and_the_index() -> None:
    assert "metacog_auditevent_to_seal" in sql("metacog", "0001_tables")
    written = sql("reviews", "0001_tables")
    assert all(name in written for name in ("reviews_searchwords", "_to_index_", "INSERT INTO reviews_searchprogress"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the other adds every column in place")
def test_a_column_with_a_default_is_added_in_place() -> None:
    written = sql("reviews", "0006_call_effects")
    assert written.count("ALTER TABLE") == 4
    assert "CREATE TABLE" not in written  # with which each response would be copied


@pytest.mark.django_db(transaction=True)
def test_notices_to_devices_are_taken_back_with_their_table(alice: Any) -> None:
    now = timezone.now()
    device = PushDevice.objects.create(person=alice, endpoint_sha256="x")
    for reader in ({"device": device, "kind": "test", "about": "x"}, {"person": alice}):
        Notice.objects.create(until=now, next_attempt_at=now, **reader)
    try:
        MigrationExecutor(connection).migrate([("metacog", "0013_budget_of_calls")])
        with connection.cursor() as cursor:
            cursor.execute("SELECT person_id FROM metacog_notice")
            assert cursor.fetchall() == [(alice.pk,)]
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    assert Notice.objects.get().device is None


def sql(app: str, name: str, backwards: bool = False) -> str:
    out = StringIO()
    call_command("sqlmigrate", app, name, backwards=backwards, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("model", DEFAULTED, ids=lambda model: model.__name__)
def test_what_the_database_fills_in_reads_as_what_the_program_does(model: type[models.Model]) -> None:
    with transaction.atomic():
        fields = [field for field in model._meta.concrete_fields if not field.has_db_default()]
        values = [field.get_db_prep_save(filled(field), connection) for field in fields]
        columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
        with connection.cursor() as cursor:
            places = ", ".join(["%s"] * len(fields))
            cursor.execute(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({places})", values)
        row = model._default_manager.get(pk=1)
        for field in model._meta.concrete_fields:
            if field.has_db_default():
                usual = field.get_default() if field.has_default() else ""
                assert (field.name, getattr(row, field.name)) == (field.name, usual)
        transaction.set_rollback(True)  # what the keys point to is not there


def filled(field: Any) -> Any:
    """Return anything that the column takes."""
    if field.has_default() or (field.null and field.name != "person"):  # a notice is to a person or a team
        return field.get_default()
    if isinstance(field, models.DateField):
        return timezone.now()
    return {} if isinstance(field, models.JSONField) else 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({"rules": '"[]"'}, {"rules": []}),
        ({"rules": json.dumps(TWICE)}, {"rules": RULES}),
        ({"weights": json.dumps('{"no-hedge": 7}'), "parts": '"{}"'}, {"weights": {"no-hedge": 7}, "parts": {}}),
        ({"rules": "[{"}, {"rules": "[{"}),  # nobody can tell what it was: left for a person
        ({"rules": '"none"'}, {"rules": "none"}),
        ({"rules": "[]"}, {"rules": []}),
    ],
)
def test_what_was_encoded_twice_is_decoded(kuro: Any, stored: dict[str, str], read: dict[str, Any]) -> None:
    policies = Policy.objects.filter(agent__public_id=kuro.id)
    with connection.cursor() as cursor:
        for name, text in stored.items():
            cursor.execute(f"UPDATE metacog_policy SET {name} = %s WHERE id = %s", [text, policies.get().pk])
    import_module("metacog.migrations.0002_policy_json").decode(apps, None)
    (found,) = policies.values(*read)
    assert found == read
