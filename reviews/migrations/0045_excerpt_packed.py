from django.db import migrations

import metacog.db.fields


def to_text(apps, schema_editor):
    """Take the limit from PostgreSQL's column, which writes no row anew; SQLite's keeps any text as it is."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE reviews_agentresponse ALTER COLUMN excerpt TYPE text")


def as_before(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE reviews_agentresponse ALTER COLUMN excerpt TYPE varchar(200)")
    else:
        schema_editor.execute(
            "UPDATE reviews_agentresponse SET excerpt = metacog_part(excerpt, body, 3) WHERE typeof(excerpt) = 'blob'"
        )


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0044_decided_order"),
    ]

    operations = [
        # On SQLite the column is what it was: no table is written anew.
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(to_text, as_before)],
            state_operations=[
                migrations.AlterField(
                    model_name="agentresponse",
                    name="excerpt",
                    field=metacog.db.fields.PackedTextField(into="body", part=3),
                ),
            ],
        ),
    ]
