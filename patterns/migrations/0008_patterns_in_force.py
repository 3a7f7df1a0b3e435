import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F


def take_down(apps, schema_editor):
    """Keep what is active now; of the versions before, nothing is known."""
    patterns = apps.get_model("patterns", "ErrorPattern").objects.filter(state="active")
    in_force = apps.get_model("patterns", "PatternInForce").objects
    rows = patterns.values_list("team", "pk", "public_id", "keywords", "description", "team__patterns_version")
    names = ("team_id", "place", "public_id", "keywords", "description", "since_version")
    in_force.bulk_create(
        (in_force.model(**dict(zip(names, row, strict=True))) for row in rows.iterator(chunk_size=500)), batch_size=500
    )
    apps.get_model("metacog", "Team").objects.update(patterns_known_from=F("patterns_version"))


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0010_patterns_known_from"),
        ("patterns", "0007_pattern_record"),
    ]

    operations = [
        migrations.CreateModel(
            name="PatternInForce",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveBigIntegerField()),
                ("public_id", models.CharField(max_length=100)),
                ("keywords", models.JSONField()),
                ("description", models.CharField(max_length=500)),
                ("since_version", models.PositiveBigIntegerField()),
                ("until_version", models.PositiveBigIntegerField(null=True)),
                (
                    "team",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="metacog.team",
                    ),
                ),
            ],
            options={
                "verbose_name": "pattern in force",
                "verbose_name_plural": "patterns in force",
                "ordering": ["place"],
                "indexes": [models.Index(fields=["team", "place"], name="patterns_of_any_version")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until_version", None)),
                        fields=("team", "place"),
                        name="in_force_once_at_a_time",
                    )
                ],
            },
        ),
        migrations.RunPython(take_down, migrations.RunPython.noop),
    ]
