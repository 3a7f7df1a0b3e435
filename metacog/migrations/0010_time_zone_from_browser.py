from django.db import migrations, models


def forget_the_default(apps, schema_editor):
    """Leave it to the browser of everybody who has UTC: it was the default, and few chose it."""
    apps.get_model("metacog", "User").objects.filter(time_zone="UTC").update(time_zone="")


def name_the_default(apps, schema_editor):
    apps.get_model("metacog", "User").objects.filter(time_zone="").update(time_zone="UTC")


class Migration(migrations.Migration):
    dependencies = [("metacog", "0009_audit_of_person")]

    operations = [
        migrations.AlterField("user", "time_zone", models.CharField(blank=True, max_length=64, verbose_name="time zone")),
        migrations.RunPython(forget_the_default, name_the_default, elidable=True),
    ]
