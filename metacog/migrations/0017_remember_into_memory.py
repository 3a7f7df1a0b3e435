from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("metacog", "0016_told_until")]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="remember_into_memory",
            field=models.BooleanField(default=True, verbose_name="add each REMEMBER to the team's memory"),
        ),
    ]
