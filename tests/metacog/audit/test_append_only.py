"""Nobody changes or deletes what is recorded: not code, not the SQL prompt."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from metacog.audit import audit, chain
from metacog.models import AppendOnlyError, AuditEvent, AuditSeal, AuditUnsealed
from tests.tables import table


@pytest.fixture
def event(db: None) -> Any:
    audit.record("agent-changed", "agt_1", actor=None, team=None, fields=["name"])
    chain.seal()
    return AuditEvent.objects.get()


def refused(statement: str) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@table("table", ["metacog_auditevent", "metacog_auditseal"])
@table("change", ["UPDATE {} SET {} = {}", "DELETE FROM {}", "DELETE FROM {} WHERE {} = {}"], rolled_back=True)
def test_the_database_refuses_to_change_the_record(event: Any, table: Any, change: Any) -> None:
    key = "id" if table == "metacog_auditevent" else "number"
    refused(change.format(table, key, key))
    assert (AuditEvent.objects.count(), AuditSeal.objects.count()) == (1, 1)


@pytest.mark.parametrize("table", ["metacog_auditevent", "metacog_auditseal"])
def test_the_database_refuses_to_replace_a_row(event: Any, table: Any, on_postgres: None) -> None:
    if on_postgres:
        key = "id" if table == "metacog_auditevent" else "number"
        refused(f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({key}) DO UPDATE SET {key} = 7")
    else:
        refused(f"REPLACE INTO {table} SELECT * FROM {table}")


def test_a_seal_cannot_take_the_place_of_another_under_a_new_number(event: Any, on_postgres: None) -> None:
    seal = AuditSeal.objects.get()
    for taken in ({"previous": seal.previous}, {"first_id": seal.first_id}):
        values = {"previous": "f" * 64, "first_id": 99} | taken
        forged = AuditSeal(number=2, last_id=99, total=2, leaves=b"", digest="", sealed_at=seal.sealed_at, **values)
        with pytest.raises(IntegrityError), transaction.atomic():
            forged.save(force_insert=True)


def test_the_record_cannot_be_truncated(event: Any, on_postgres: None) -> None:
    if not on_postgres:
        pytest.skip("SQLite has no TRUNCATE: it is a DELETE there")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # foreign keys still to be checked would refuse it first
    refused("TRUNCATE metacog_auditevent CASCADE")
    refused("TRUNCATE metacog_auditseal")


def test_an_event_says_so_when_code_would_change_it(event: Any) -> None:
    event.action = "agent-created"
    for change in (
        event.save,
        event.delete,
        lambda: AuditEvent.objects.update(action="x"),
        lambda: AuditEvent.objects.filter(pk=event.pk).delete(),
        lambda: AuditEvent.objects.bulk_update([event], ["action"]),
        lambda: AuditEvent.objects.update_or_create(pk=event.pk, defaults={"action": "x"}),
        AuditSeal.objects.get().save,
        AuditSeal.objects.all().delete,
    ):
        with pytest.raises(AppendOnlyError, match="are never"), transaction.atomic():
            change()


def test_a_team_or_agent_that_is_named_in_the_record_stays(kuro: Any, aurora: Any) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        aurora.agents.get().delete()


def test_every_event_waits_for_its_seal_from_the_moment_it_is_written(event: Any) -> None:
    audit.record("agent-changed", "agt_2", actor=None, team=None)
    AuditEvent.objects.bulk_create(audit.event("x", str(n), actor=None, team=None) for n in range(3))
    with transaction.atomic():
        audit.record("agent-changed", "agt_3", actor=None, team=None)
        transaction.set_rollback(True)
    written = AuditEvent.objects.exclude(pk=event.pk)
    assert written.count() == 4
    assert set(AuditUnsealed.objects.values_list("pk", flat=True)) == set(written.values_list("pk", flat=True))


def test_a_seal_covers_every_field_of_an_event() -> None:
    assert set(chain.FIELDS) == {field.attname for field in AuditEvent._meta.concrete_fields}
