import django.core.validators
from django.db import migrations, models

from metacog.db.operations import InOneStep


def keep_silent(apps, schema_editor):
    """Whoever chose to be told nothing goes on so."""
    silent = apps.get_model("metacog", "PersonNotices").objects.filter(when="never", mentions=False, outages=False)
    silent.update(weekly="never")


class Migration(migrations.Migration):
    dependencies = [("metacog", "0014_devices_for_notices")]

    operations = [
        InOneStep([
            migrations.AlterField(
                "notice",
                "kind",
                models.CharField(
                    choices=[
                        ("held", "Held items"),
                        ("mention", "Mention"),
                        ("assigned", "Assignment"),
                        ("outage", "Webhook switched off"),
                        ("decided", "Decided item"),
                        ("test", "Test"),
                        ("weekly", "Weekly report"),
                    ],
                    db_default="held",
                    default="held",
                    max_length=10,
                ),
            ),
            migrations.AddField(
                "personnotices",
                "weekly",
                models.CharField(
                    choices=[
                        ("owned", "of the teams that I own"),
                        ("all", "of all my teams"),
                        ("never", "of no team"),
                    ],
                    db_default="owned",
                    default="owned",
                    max_length=10,
                    verbose_name="weekly report",
                ),
            ),
            migrations.AddField(
                "personnotices",
                "weekly_day",
                models.PositiveSmallIntegerField(
                    choices=[
                        (0, "Monday"),
                        (1, "Tuesday"),
                        (2, "Wednesday"),
                        (3, "Thursday"),
                        (4, "Friday"),
                        (5, "Saturday"),
                        (6, "Sunday"),
                    ],
                    db_default=0,
                    default=0,
                    verbose_name="weekday",
                ),
            ),
            migrations.AddField(
                "personnotices",
                "weekly_hour",
                models.PositiveSmallIntegerField(
                    db_default=8,
                    default=8,
                    validators=[django.core.validators.MaxValueValidator(23)],
                    verbose_name="hour of that day",
                ),
            ),
            migrations.AddField("personnotices", "weekly_from", models.DateTimeField(null=True)),
        ]),
        migrations.RunPython(keep_silent, migrations.RunPython.noop, elidable=True),
    ]
