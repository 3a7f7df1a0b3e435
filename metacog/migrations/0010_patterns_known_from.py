from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0009_notices"),
    ]

    operations = [
        migrations.AddField(
            model_name="team",
            name="patterns_known_from",
            field=models.PositiveBigIntegerField(default=0, editable=False),
        ),
    ]
