from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0045_excerpt_packed"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="helditem",
            index=models.Index(
                condition=models.Q(("state", "pending")),
                fields=["team", "state", "held_at", "id"],
                name="queue_from_oldest",
            ),
        ),
        migrations.RemoveIndex(
            model_name="helditem",
            name="queue_by_age",
        ),
    ]
