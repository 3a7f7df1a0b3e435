from django.db import migrations, models

BY = [
    ("memory", "the shared memory"),
    ("rule", "rule"),
    ("person", "person"),
    ("model", "model"),
    ("system", "system"),
    ("agent", "agent"),
]
STATES = [
    ("pending", "Waits"),
    ("approved", "Granted"),
    ("rejected", "Refused"),
    ("expired", "Unanswered"),
    ("withdrawn", "Withdrawn"),
]


class Migration(migrations.Migration):
    """An agent may take back its own request for more tool calls."""

    dependencies = [("reviews", "0023_extension_told_until")]

    operations = [
        migrations.AlterField(
            model_name="extensionrequest",
            name="by",
            field=models.CharField(blank=True, choices=BY, max_length=6),
        ),
        migrations.AlterField(
            model_name="extensionrequest",
            name="state",
            field=models.CharField(choices=STATES, default="pending", max_length=10),
        ),
    ]
