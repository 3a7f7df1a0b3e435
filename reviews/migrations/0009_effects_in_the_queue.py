from django.db import migrations, models

from metacog.db.operations import InOneStep


class Migration(migrations.Migration):
    dependencies = [("reviews", "0008_approvals_and_waiting_words")]

    operations = [
        InOneStep([
            migrations.AddField("helditem", "effect_bits", models.PositiveIntegerField(null=True)),
            migrations.AddIndex(
                "helditem",
                models.Index(
                    fields=["team", "state", "effect_bits", "id"],
                    condition=models.Q(("effect_bits__gt", 0), ("state", "pending")),
                    name="queue_of_effects",
                ),
            ),
            migrations.AddField("dailyfigure", "effects", models.JSONField(null=True)),
        ]),
    ]
