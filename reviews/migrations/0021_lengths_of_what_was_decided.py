from django.db import migrations, models


class Migration(migrations.Migration):
    """What plain length would have told of what was decided; the worker counts the days before anew."""

    dependencies = [("reviews", "0020_given_up_while_disabled")]

    operations = [
        migrations.AddField(model_name="dailyfigure", name="lengths", field=models.JSONField(null=True)),
        migrations.AddIndex(
            model_name="dailyfigure",
            index=models.Index(
                condition=models.Q(lengths__isnull=True), fields=["agent", "day"], name="days_without_lengths"
            ),
        ),
    ]
