from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0043_decided_at"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="helditem",
            index=models.Index(
                condition=models.Q(("state", "pending"), _negated=True),
                fields=["team", "-decided_at", "-id"],
                name="decided_lately_of_team",
            ),
        ),
        migrations.RemoveIndex(
            model_name="helditem",
            name="decided_of_team",
        ),
    ]
