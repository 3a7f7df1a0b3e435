from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def flag(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    # A quotation mark within a text is escaped in JSON: only the verdict's own flags match.
    responses = apps.get_model("reviews", "AgentResponse").objects.using(schema_editor.connection.alias)
    responses.filter(verdict__contains='"flags": ["tag-').update(flagged=True)


class Migration(migrations.Migration):
    """Which responses carry a flag on their tags can be listed. One read of all verdicts."""

    dependencies = [("reviews", "0024_extension_withdrawn")]

    operations = [
        migrations.AddField(
            model_name="agentresponse",
            name="flagged",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(flag, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="agentresponse",
            index=models.Index(
                condition=models.Q(("flagged", True)), fields=["agent", "received_at"], name="flagged_of_agent"
            ),
        ),
    ]
