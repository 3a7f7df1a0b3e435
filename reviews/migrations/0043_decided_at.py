from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce


def fill(apps, schema_editor):
    """Of each item the decision that stands; whatever has none and is no longer held was closed at some time."""
    held, decision = apps.get_model("reviews", "HeldItem"), apps.get_model("reviews", "Decision")
    standing = decision.objects.filter(held=OuterRef("pk"), undone_at=None).values("decided_at")[:1]
    decided = held.objects.exclude(state="pending")
    decided.update(decided_at=Coalesce(Subquery(standing), F("closed_at"), F("held_at")))


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0042_import_log"),
    ]

    operations = [
        migrations.AddField(
            model_name="helditem",
            name="decided_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
