"""Keep with each memory which stemmer its terms are of, when it was said, and why it waits; index all of them anew."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from metacog.heuristics.memory import recall

BATCH = 200  # memories


def index_anew(apps: Any, schema_editor: Any) -> None:
    """Make the terms of what is confirmed as today's stemmer makes them: others are not found."""
    memory, term = apps.get_model("patterns", "Memory"), apps.get_model("patterns", "MemoryTerm")
    confirmed, last = memory.objects.filter(state="confirmed").order_by("pk"), 0
    while rows := list(confirmed.filter(pk__gt=last)[:BATCH]):
        last, terms = rows[-1].pk, []
        for row in rows:
            found = recall.terms(f"{row.topic}\n{row.text}")
            row.length, row.terms_version = found.total(), recall.TERMS
            terms += [
                term(team_id=row.team_id, memory_id=row.pk, term=each, times=times, length=row.length)
                for each, times in found.items()
            ]
        term.objects.filter(memory__in=rows).delete()
        term.objects.bulk_create(terms, batch_size=2_000)
        memory.objects.bulk_update(rows, ["length", "terms_version"])


def say_when(apps: Any, schema_editor: Any) -> None:
    """Take what there is for said when it came in, and what waits for waiting because of its score."""
    memory = apps.get_model("patterns", "Memory")
    memory.objects.update(occurred_at=models.F("created_at"))
    memory.objects.filter(state="pending").update(reasons=["score"])


class Migration(migrations.Migration):
    dependencies = [("patterns", "0010_thread_notes")]

    operations = [
        migrations.AddField(
            model_name="memory",
            name="pattern",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="patterns.errorpattern",
            ),
        ),
        migrations.AddField(model_name="memory", name="reasons", field=models.JSONField(default=list)),
        migrations.AddField(
            model_name="memory", name="said_in", field=models.CharField(blank=True, max_length=40)
        ),
        migrations.AddField(
            model_name="memory",
            name="occurred_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name="memory", name="terms_version", field=models.PositiveSmallIntegerField(default=0)
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("state", "confirmed")),
                fields=["terms_version", "team"],
                name="memories_by_stemmer",
            ),
        ),
        migrations.RunPython(say_when, migrations.RunPython.noop),
        migrations.RunPython(index_anew, migrations.RunPython.noop),
    ]
