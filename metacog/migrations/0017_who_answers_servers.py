from django.db import migrations, models

from metacog.db.operations import InOneStep


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0016_asked_notices"),
    ]

    operations = [
        InOneStep(
            [
                migrations.AddField(
                    model_name="policy",
                    name="elicitation",
                    field=models.CharField(
                        choices=[("agent", "The agent's own user answers"), ("people", "People answer in the queue")],
                        db_default="agent",
                        default="agent",
                        max_length=6,
                        verbose_name="questions of MCP servers",
                    ),
                ),
            ]
        ),
    ]
