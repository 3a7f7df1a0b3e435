from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("metacog", "0010_time_zone_from_browser")]

    operations = [
        migrations.AddField(
            "membership", "given_by", models.CharField(blank=True, db_default="", default="", editable=False, max_length=40)
        ),
    ]
