"""Grants beyond one call in one session, counted to a limit; what was given before is one of these."""

from datetime import timedelta
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import metacog.db.fields
from metacog.db.operations import InOneStep


def give_what_rests(apps: Any, editor: Any) -> None:
    """Give the grants of approvals that can still be undone: from now on they are rows before they are in force."""
    decisions = apps.get_model("reviews", "Decision").objects.filter(released_at=None, undone_at=None)
    for decision in decisions.filter(again_seconds__gt=0).exclude(person=None):
        apps.get_model("reviews", "CallGrant").objects.create(
            agent_id=decision.agent_id,
            held_id=decision.held_id,
            person_id=decision.person_id,
            sha256=decision.text_sha256,
            until=decision.release_at + timedelta(seconds=decision.again_seconds),
        )


def take_what_rests(apps: Any, editor: Any) -> None:
    """Leave out grants that are not in force yet: before, there were none."""
    apps.get_model("reviews", "CallGrant").objects.filter(granted_at=None).delete()


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("reviews", "0006_call_effects"),
    ]

    operations = [
        migrations.AlterField("callgrant", "granted_at", models.DateTimeField(null=True)),
        InOneStep([
            migrations.AlterModelOptions("callgrant", {
                "ordering": ["-id"],
                "verbose_name": "grant for tool calls",
                "verbose_name_plural": "grants for tool calls",
            }),
            migrations.AddField("callgrant", "scope", models.CharField(
                choices=[("session", "in this session"), ("agent", "in all sessions of the agent")],
                db_default="session", default="session", max_length=7,
            )),
            migrations.AddField("callgrant", "match", models.CharField(
                choices=[("call", "this call"), ("shape", "calls of this shape"), ("tool", "all calls of the tool")],
                db_default="call", default="call", max_length=5,
            )),
            migrations.AddField("callgrant", "shape", metacog.db.fields.OrderedJSONField(null=True)),
            migrations.AddField("callgrant", "most_uses", models.PositiveIntegerField(null=True)),
            migrations.AddField("callgrant", "used_at", models.DateTimeField(null=True)),
            migrations.AddField("heldcall", "shape_sha256", models.CharField(blank=True, db_default="", max_length=64)),
            migrations.AddField("callgrant", "withdrawn_by", models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+",
                to=settings.AUTH_USER_MODEL,
            )),
        ]),
        migrations.RunPython(give_what_rests, take_what_rests),
        migrations.RemoveField("decision", "again_seconds"),
    ]  # fmt: skip
