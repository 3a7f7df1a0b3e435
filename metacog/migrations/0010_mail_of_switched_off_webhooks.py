from django.db import migrations, models


def keep_silent(apps, schema_editor):
    """Whoever chose to be told nothing goes on so."""
    apps.get_model("metacog", "PersonNotices").objects.filter(when="never", mentions=False).update(outages=False)


class Migration(migrations.Migration):
    dependencies = [("metacog", "0009_paused_agents")]

    operations = [
        migrations.AddField(
            "personnotices",
            "outages",
            models.BooleanField(db_default=True, default=True, verbose_name="webhooks that are switched off"),
        ),
        migrations.RunPython(keep_silent, migrations.RunPython.noop, elidable=True),
        migrations.AlterField(
            "notice",
            "kind",
            models.CharField(
                choices=[
                    ("held", "Held items"),
                    ("mention", "Mention"),
                    ("assigned", "Assignment"),
                    ("outage", "Webhook switched off"),
                ],
                db_default="held",
                default="held",
                max_length=10,
            ),
        ),
    ]
