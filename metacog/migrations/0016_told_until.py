from django.db import migrations, models
from django.db.models import F


def begin_now(apps, schema_editor):
    """What was decided before is not told as news."""
    state = apps.get_model("metacog", "AgentState")
    state.objects.update(feed_given=F("decision_seq"), feed_heard=F("decision_seq"), feed_given_at=F("responses"))


class Migration(migrations.Migration):
    """Up to where in its feed each agent was told by its contexts."""

    dependencies = [("metacog", "0015_plain_text_as_chat")]

    operations = [
        migrations.AddField("agentstate", "feed_given", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("agentstate", "feed_given_at", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("agentstate", "feed_heard", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(begin_now, migrations.RunPython.noop),
    ]
