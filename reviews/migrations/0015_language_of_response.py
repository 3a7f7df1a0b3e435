from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0014_fitted_weights"),
    ]

    operations = [
        migrations.AddField(
            model_name="agentresponse",
            name="language",
            field=models.CharField(
                blank=True,
                choices=[("en", "English"), ("zh-hant", "繁體中文"), ("zh-hans", "简体中文")],
                max_length=10,
            ),
        ),
    ]
