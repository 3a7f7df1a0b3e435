from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0017_remember_into_memory"),
    ]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="accept_relayed_yes",
            field=models.BooleanField(default=True, verbose_name="accept a yes to thinking twice that the agent relays"),
        ),
    ]
