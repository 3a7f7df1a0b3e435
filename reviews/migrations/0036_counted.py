from django.db import migrations
from django.db.models import Count, F


def count(apps, schema_editor):
    """Count what was learned from already; what follows, the learning counts."""
    signals = apps.get_model("reviews", "Signal").objects.filter(
        pattern__isnull=False, response__lte=F("response__agent__learning_cursor__response")
    )
    patterns = apps.get_model("patterns", "ErrorPattern").objects
    for pattern, number in signals.order_by().values_list("pattern").annotate(Count("pk")):
        patterns.filter(pk=pattern).update(counted_triggers=number)


class Migration(migrations.Migration):

    dependencies = [
        ('patterns', '0014_counted'),
        ("reviews", "0036_alike"),
    ]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
