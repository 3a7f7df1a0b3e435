import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q, Sum


def fill(apps, schema_editor):
    """Add up what was judged so far, of one agent after the other."""
    sample, figure = apps.get_model("reviews", "Sample"), apps.get_model("reviews", "SampleFigure")
    judged = sample.objects.exclude(verdict="").order_by()
    weight = F("stands_for")
    for agent in judged.values_list("agent", flat=True).distinct():
        sums = (
            judged.filter(agent=agent)
            .values("day")
            .annotate(
                checked=Sum(weight),
                squares=Sum(weight * weight),
                missed=Sum(weight, filter=Q(verdict="missed"), default=0.0),
            )
        )
        figure.objects.bulk_create([figure(agent_id=agent, **each) for each in sums], batch_size=1_000)


class Migration(migrations.Migration):
    """Spot checks that were judged are added up by agent and day."""

    dependencies = [("reviews", "0047_open_signals")]

    operations = [
        migrations.CreateModel(
            name="SampleFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("checked", models.FloatField(default=0)),
                ("squares", models.FloatField(default=0)),
                ("missed", models.FloatField(default=0)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sample_figures",
                        to="metacog.agent",
                    ),
                ),
            ],
            options={
                "verbose_name": "statistic of spot checks",
                "verbose_name_plural": "statistics of spot checks",
                "ordering": ["day", "agent"],
                "constraints": [models.UniqueConstraint(fields=("agent", "day"), name="samples_of_a_day_once")],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="sample",
            index=models.Index(
                condition=models.Q(("verdict", "")), fields=["agent", "day", "id"], name="samples_waiting_longest"
            ),
        ),
        migrations.RemoveIndex(model_name="sample", name="samples_waiting"),
        migrations.RemoveIndex(model_name="sample", name="samples_by_verdict"),
    ]
