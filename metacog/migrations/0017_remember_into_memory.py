from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("metacog", "0014_policy_seconds")]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="remember_into_memory",
            field=models.BooleanField(default=True, verbose_name="add each REMEMBER to the team's memory"),
        ),
    ]
