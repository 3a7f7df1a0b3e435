"""Make the audit record append-only and give it a chain of seals.

The triggers hold for everybody who does not remove them, superusers and the SQL prompt included.
SQLite drops a table's triggers when Django rebuilds the table: a later migration that alters
AuditEvent or AuditSeal must run `create` again. tests/audit looks that they are there, and so does
`manage.py audit verify`.
"""

import django.db.models.deletion
from django.db import migrations, models

TABLES = ("metacog_auditevent", "metacog_auditseal")

POSTGRESQL = [
    """
    CREATE FUNCTION metacog_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    *(
        f"""
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION metacog_append_only()
        """
        for table in TABLES
    ),
    """
    CREATE FUNCTION metacog_to_seal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO metacog_auditunsealed (event_id) SELECT id FROM added;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER metacog_auditevent_to_seal AFTER INSERT ON metacog_auditevent
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION metacog_to_seal()
    """,
]

# REPLACE deletes without asking a DELETE trigger, so a row that is there is refused before it is replaced.
SQLITE = [
    *(
        f"""
        CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
        """
        for table in TABLES
        for change in ("UPDATE", "DELETE")
    ),
    """
    CREATE TRIGGER metacog_auditevent_no_replace BEFORE INSERT ON metacog_auditevent
    WHEN EXISTS (SELECT 1 FROM metacog_auditevent WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'metacog_auditevent is append-only'); END
    """,
    """
    CREATE TRIGGER metacog_auditseal_no_replace BEFORE INSERT ON metacog_auditseal
    WHEN EXISTS (
        SELECT 1 FROM metacog_auditseal
        WHERE number = NEW.number OR first_id = NEW.first_id OR previous = NEW.previous
    )
    BEGIN SELECT RAISE(ABORT, 'metacog_auditseal is append-only'); END
    """,
    """
    CREATE TRIGGER metacog_auditevent_to_seal AFTER INSERT ON metacog_auditevent
    BEGIN INSERT INTO metacog_auditunsealed (event_id) VALUES (NEW.id); END
    """,
]

UNDO_POSTGRESQL = [
    *(f"DROP TRIGGER {table}_append_only ON {table}" for table in TABLES),
    "DROP TRIGGER metacog_auditevent_to_seal ON metacog_auditevent",
    "DROP FUNCTION metacog_append_only()",
    "DROP FUNCTION metacog_to_seal()",
]
UNDO_SQLITE = [
    *(f"DROP TRIGGER {table}_no_{change}" for table in TABLES for change in ("update", "delete", "replace")),
    "DROP TRIGGER metacog_auditevent_to_seal",
]


def queue_all(apps, schema_editor):
    """Let the events of before wait for their seals."""
    schema_editor.execute("INSERT INTO metacog_auditunsealed (event_id) SELECT id FROM metacog_auditevent")


def create(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement, params=None)


def drop(apps, schema_editor):
    for statement in UNDO_POSTGRESQL if schema_editor.connection.vendor == "postgresql" else UNDO_SQLITE:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("metacog", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("number", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("first_id", models.PositiveBigIntegerField(unique=True)),
                ("last_id", models.PositiveBigIntegerField()),
                ("total", models.PositiveBigIntegerField()),
                ("leaves", models.BinaryField()),
                ("previous", models.CharField(max_length=64, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("sealed_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "audit seal",
                "verbose_name_plural": "audit seals",
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="AuditUnsealed",
            fields=[
                (
                    "event",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="metacog.auditevent",
                    ),
                ),
            ],
            options={"verbose_name": "unsealed audit event", "verbose_name_plural": "unsealed audit events"},
        ),
        migrations.RemoveIndex(model_name="auditevent", name="audit_of_team"),
        migrations.AlterField(
            model_name="auditevent",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="metacog.agent",
            ),
        ),
        migrations.AlterField(
            model_name="auditevent",
            name="team",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="metacog.team",
            ),
        ),
        migrations.AddIndex(
            model_name="auditevent", index=models.Index(fields=["at", "id"], name="audit_by_time")
        ),
        migrations.AddIndex(
            model_name="auditevent", index=models.Index(fields=["team", "at", "id"], name="audit_of_team")
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["team", "action", "at", "id"], name="audit_of_action"),
        ),
        migrations.AddIndex(
            model_name="auditevent", index=models.Index(fields=["agent", "at", "id"], name="audit_of_agent")
        ),
        migrations.RunPython(queue_all, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(create, drop),
    ]
