"""What is searched, its index of words, and the triggers that note what is to be indexed.

Nothing is indexed here: the sweep does that, whatever there is, behind the writes.
"""

import django.db.models.deletion
from django.db import migrations, models

from reviews.search import index, triggers

TABLES = {
    "held": "reviews_helditem", "resp": "reviews_agentresponse", "prob": "patterns_problem",
    "ep": "patterns_errorpattern", "thr": "patterns_thoughtthread", "mem": "patterns_memory",
    "les": "patterns_lesson", "agt": "metacog_agent",
}  # fmt: skip


def begin(apps, editor):
    index.create(editor.connection)
    triggers.create(editor.connection)
    left = {}
    with editor.connection.cursor() as cursor:
        for kind, table in TABLES.items():
            cursor.execute(f"SELECT coalesce(max(id), 0) FROM {table}")
            (left[kind],) = cursor.fetchone()
    apps.get_model("reviews", "SearchProgress").objects.create(pk=1, left=left, total=sum(left.values()))


def end(apps, editor):
    triggers.drop(editor.connection)
    index.drop(editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0005_learned_risk'),
        ('patterns', '0001_squashed_0011_memory_terms_version'),
        ("reviews", "0032_corrections"),
    ]

    operations = [
        migrations.CreateModel(
            name='SearchProgress',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('turn', models.PositiveBigIntegerField(default=0)),
                ('left', models.JSONField(default=dict)),
                ('total', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'progress of the search index',
                'verbose_name_plural': 'progress of the search index',
            },
        ),
        migrations.CreateModel(
            name='SearchDue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=8)),
                ('row_id', models.BigIntegerField()),
            ],
            options={
                'verbose_name': 'row to be indexed',
                'verbose_name_plural': 'rows to be indexed',
                'indexes': [models.Index(fields=['kind', 'row_id'], name='due_of_row')],
            },
        ),
        migrations.CreateModel(
            name='SearchDocument',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=8)),
                ('row_id', models.BigIntegerField()),
                ('session', models.CharField(blank=True, max_length=255)),
                ('state', models.CharField(blank=True, max_length=10)),
                ('labels', models.TextField(blank=True)),
                ('text', models.TextField()),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='metacog.agent')),
                ('team', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='metacog.team')),
            ],
            options={
                'verbose_name': 'search document',
                'verbose_name_plural': 'search documents',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', 'kind', 'id'], name='documents_of_team'), models.Index(fields=['agent', 'kind', 'id'], name='documents_of_agent'), models.Index(fields=['kind', 'id'], name='documents_of_kind')],
                'constraints': [models.UniqueConstraint(fields=('kind', 'row_id'), name='one_document_a_row')],
            },
        ),
        migrations.RunPython(begin, end),
    ]
