from datetime import timedelta

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone


def give_an_hour(apps, schema_editor):
    """Have providers vouch again, within the hour, for whom they vouched before this was asked."""
    now = timezone.now()
    apps.get_model("metacog", "Identity").objects.bulk_create(
        apps.get_model("metacog", "Identity")(
            account_id=pk, confirmed_at=at, asked_at=at, holds_until=now + timedelta(hours=1)
        )
        for pk, at in apps.get_model("socialaccount", "SocialAccount").objects.values_list("pk", "last_login")
    )


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0002_policy_json"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="team",
            name="requires_second_factor",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("confirmed_at", models.DateTimeField()),
                ("asked_at", models.DateTimeField()),
                ("holds_until", models.DateTimeField(db_index=True)),
                ("has_lapsed", models.BooleanField(db_default=False, default=False)),
                ("refused_at", models.DateTimeField(null=True)),
                ("has_second_factor", models.BooleanField(db_default=False, default=False)),
                ("refresh_token_encrypted", models.TextField(blank=True, db_default="", default="")),
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identity",
                        to="socialaccount.socialaccount",
                    ),
                ),
            ],
        ),
        migrations.RunPython(give_an_hour, migrations.RunPython.noop),
    ]
