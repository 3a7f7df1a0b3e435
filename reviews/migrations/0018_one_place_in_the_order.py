from django.db import migrations


class Migration(migrations.Migration):
    """Where an item stands is told by its own place alone, not by the risks of recent texts."""

    dependencies = [
        ("reviews", "0017_asking"),
    ]

    operations = [
        migrations.RemoveField("learnedrisk", "spread"),
    ]
