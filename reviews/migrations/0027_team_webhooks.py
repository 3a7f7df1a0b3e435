import django.db.models.deletion
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

import reviews.models.deliveries

TROUBLES = [
    ("address", "The address cannot be used."),
    ("forbidden", "The address leads to a place that is not public."),
    ("name", "The name in the address could not be found."),
    ("connection", "No connection, or it broke off."),
    ("certificate", "The certificate could not be verified."),
    ("timeout", "No answer in time."),
    ("answer", "The answer was not HTTP."),
    ("status", "The receiver did not take it."),
    ("redirect", "The receiver answered with a redirect, which is never followed."),
    ("gone", "The receiver answered that it is gone for good."),
    ("no-secret", "There is no live secret to sign with."),
    ("no-url", "The agent has no callback address any more."),
    ("off", "The endpoint was switched off."),
    ("disabled", "The receiver was disabled for as long as texts are kept."),
    ("interrupted", "metacog was interrupted while it was sending."),
]
OFF = [
    ("gone", "The receiver answered 410: it is gone for good."),
    ("given-up", "Five deliveries in a row were given up."),
    ("failing", "Nothing has got through for a day."),
]
BEFORE = ["deliveries_owed", "deliveries_leased", "deliveries_of_agent", "deliveries_given_up"]
# By name: the columns of an index, and of which rows it is.
AFTER = {
    "deliveries_owed": (["agent", "next_attempt_at"], Q(state="waiting", webhook=None)),
    "deliveries_owed_webhook": (["webhook", "next_attempt_at"], Q(state="waiting", webhook__isnull=False)),
    "deliveries_leased": (["agent", "leased_until"], Q(leased_until__isnull=False, webhook=None)),
    "deliveries_leased_webhook": (
        ["webhook", "leased_until"],
        Q(leased_until__isnull=False, webhook__isnull=False),
    ),
    "deliveries_of_agent": (["agent", "-id"], Q(webhook=None)),
    "deliveries_of_webhook": (["webhook", "-id"], Q(webhook__isnull=False)),
    "deliveries_given_up": (["agent", "-id"], Q(state="exhausted", webhook=None)),
    "deliveries_given_up_webhook": (["webhook", "-id"], Q(state="exhausted", webhook__isnull=False)),
}


def forget_deliveries(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Delete what is owed to webhooks, so that there is an agent in every row again."""
    deliveries = apps.get_model("reviews", "Delivery").objects.using(schema_editor.connection.alias)
    deliveries.filter(webhook__isnull=False).delete()


class Migration(migrations.Migration):
    """Teams have webhooks. No row is changed; taken back, what was owed to webhooks is deleted."""

    dependencies = [
        ("metacog", "0003_policy_rules"),
        ("reviews", "0026_tool_calls"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="TeamWebhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=500)),
                ("tried_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(null=True)),
                ("given_up", models.PositiveIntegerField(default=0)),
                ("off_at", models.DateTimeField(null=True)),
                ("off_reason", models.CharField(blank=True, choices=OFF, max_length=10)),
                (
                    "public_id",
                    models.CharField(default=reviews.models.deliveries.webhook_id, max_length=40, unique=True),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="webhooks", to="metacog.team"
                    ),
                ),
                ("events", models.JSONField(default=list)),
                ("secret_encrypted", models.TextField()),
                ("former_secret_encrypted", models.TextField(blank=True)),
                ("enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("removed_at", models.DateTimeField(null=True)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("failed_at", models.DateTimeField(null=True)),
                ("trouble", models.CharField(blank=True, choices=TROUBLES, max_length=20)),
                ("failed_status", models.PositiveSmallIntegerField(null=True)),
            ],
            options={"ordering": ["id"]},
        ),
        *(migrations.RemoveIndex("delivery", name) for name in BEFORE),
        migrations.AlterField(
            model_name="delivery",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to="metacog.agent",
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="last_error",
            field=models.CharField(blank=True, choices=TROUBLES, max_length=20),
        ),
        migrations.AddField(
            model_name="delivery",
            name="webhook",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to="reviews.teamwebhook",
            ),
        ),
        *(
            migrations.AddIndex("delivery", models.Index(fields=fields, condition=condition, name=name))
            for name, (fields, condition) in AFTER.items()
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=Q(agent__isnull=False) | Q(webhook__isnull=False), name="delivery_to_somebody"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_deliveries, elidable=True),
    ]
