from django.db import migrations, models


class Migration(migrations.Migration):
    """Which responses hold tool calls can be listed: what a policy's rules would have done with them."""

    dependencies = [("reviews", "0027_team_webhooks")]

    operations = [
        migrations.AddField(
            model_name="agentresponse",
            name="calls",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddIndex(
            model_name="agentresponse",
            index=models.Index(
                condition=models.Q(("calls__gt", 0)), fields=["agent", "received_at"], name="calls_of_agent"
            ),
        ),
    ]
