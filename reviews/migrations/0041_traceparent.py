from django.db import migrations, models


class Migration(migrations.Migration):
    """A response keeps the trace that it was posted in."""

    dependencies = [("reviews", "0040_plain_words")]

    operations = [
        migrations.AddField(
            model_name="agentresponse",
            name="traceparent",
            field=models.CharField(blank=True, db_default="", default="", max_length=55),
        ),
    ]
