import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("metacog", "0005_learned_risk"),
        ("reviews", "0038_trials"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Null until the worker has counted a day again.
        migrations.AddField("dailyfigure", "patterns", models.JSONField(null=True)),
        migrations.AddField("dailyfigure", "people", models.JSONField(null=True)),
        migrations.RemoveIndex("dailyfigure", "days_without_lengths"),
        migrations.AddIndex(
            "dailyfigure",
            models.Index(
                fields=["agent", "day"], condition=models.Q(("patterns__isnull", True)), name="days_without_patterns"
            ),
        ),
        migrations.AlterField(
            "sample",
            "verdict",
            models.CharField(
                blank=True,
                choices=[("fine", "Correctly passed"), ("missed", "Should have been held")],
                max_length=6,
            ),
        ),
        migrations.RenameModel("PaceFigure", "ReviewTimeFigure"),
        migrations.AlterModelOptions(
            "reviewtimefigure",
            {
                "ordering": ["day", "person"],
                "verbose_name": "figure of a person's review time",
                "verbose_name_plural": "figures of people's review time",
            },
        ),
        migrations.RenameIndex("reviewtimefigure", new_name="review_time_of_team", old_name="pace_of_team"),
        migrations.RemoveConstraint("reviewtimefigure", "pace_of_a_day_once"),
        migrations.AddConstraint(
            "reviewtimefigure",
            models.UniqueConstraint(fields=("person", "team", "day"), name="review_time_of_a_day_once"),
        ),
        migrations.AlterField(
            "reviewtimefigure",
            "person",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="review_time_figures",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "reviewtimefigure",
            "team",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="review_time_figures",
                to="metacog.team",
            ),
        ),
    ]
