from django.db import migrations

import metacog.db.fields
from metacog.db import packing


def as_texts(apps, schema_editor):
    """Write what is packed as the texts it holds; going forward, rows stay as they are."""
    connection = schema_editor.connection
    if connection.vendor != "sqlite":
        return

    def numbers(value):
        return str(packing.numbers_unpacked(value)).replace(" ", "") if isinstance(value, bytes) else value

    connection.connection.create_function("metacog_numbers", 1, numbers, deterministic=True)
    schema_editor.execute(
        "UPDATE reviews_agentresponse SET verdict = metacog_part(verdict, body, 1), "
        "history = metacog_part(history, body, 2), body = metacog_part(body, body, 0), "
        "fingerprint = metacog_numbers(fingerprint) WHERE typeof(body) = 'blob' OR typeof(fingerprint) = 'blob'"
    )


class Migration(migrations.Migration):

    dependencies = [
        ("reviews", "0034_indexes"),
    ]

    operations = [
        # The columns are what they were: no table is written anew.
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(migrations.RunPython.noop, as_texts)],
            state_operations=[
                migrations.AlterField(
                    model_name='agentresponse',
                    name='body',
                    field=metacog.db.fields.PackedTextField(into='body', part=0),
                ),
                migrations.AlterField(
                    model_name='agentresponse',
                    name='fingerprint',
                    field=metacog.db.fields.NumbersField(blank=True, default=list),
                ),
                migrations.AlterField(
                    model_name='agentresponse',
                    name='history',
                    field=metacog.db.fields.PackedTextField(blank=True, into='body', part=2),
                ),
                migrations.AlterField(
                    model_name='agentresponse',
                    name='verdict',
                    field=metacog.db.fields.PackedTextField(into='body', part=1),
                ),
            ],
        ),
    ]
