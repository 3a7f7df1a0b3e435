from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Until which response of its agent the answer to a request for more tool calls is told."""

    dependencies = [("reviews", "0022_sample_cursor")]

    operations = [
        migrations.AddField("extensionrequest", "told_until", models.BigIntegerField(null=True)),
        migrations.AddIndex(
            "extensionrequest",
            models.Index(fields=["agent", "told_until"], condition=Q(told_until__isnull=False), name="requests_to_tell"),
        ),
    ]
