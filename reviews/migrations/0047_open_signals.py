from django.db import migrations, models


def mark_open(apps, schema_editor):
    held = apps.get_model("reviews", "HeldItem").objects.filter(closed_at=None).order_by()
    signals = apps.get_model("reviews", "Signal").objects
    signals.filter(response__in=held.values("response")).update(is_open=True)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0046_queue_from_oldest"),
    ]

    operations = [
        migrations.AddField(
            model_name="signal",
            name="is_open",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(mark_open, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(condition=models.Q(("is_open", True)), fields=["type", "response"], name="open_signals"),
        ),
    ]
