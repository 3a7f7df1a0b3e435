import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Up to which day each agent's responses were picked from."""

    dependencies = [("metacog", "0014_policy_seconds"), ("reviews", "0021_lengths_of_what_was_decided")]

    operations = [
        migrations.CreateModel(
            name="SampleCursor",
            fields=[
                (
                    "agent",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sample_cursor",
                        serialize=False,
                        to="metacog.agent",
                    ),
                ),
                ("day", models.DateField()),
            ],
            options={"verbose_name": "sample cursor", "verbose_name_plural": "sample cursors"},
        )
    ]
