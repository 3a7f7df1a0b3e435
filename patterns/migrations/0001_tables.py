"""All tables of what a team knows: patterns, lessons, memory, threads."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import metacog.db.fields
import patterns.models.errors
import patterns.models.lessons
import patterns.models.memory
import patterns.models.problems
import patterns.models.threads
from metacog.db.operations import InOneStep


class Migration(migrations.Migration):
    # Those that release 0.1.0 and what was before it had.
    replaces = [("patterns", name) for name in (
        "0001_initial", "0002_problems", "0003_thought_threads", "0004_dismissed", "0005_lessons", "0006_memory",
        "0007_pattern_record", "0008_patterns_in_force", "0009_who_answered", "0010_thread_notes",
        "0011_memory_terms_version", "0001_squashed_0011_memory_terms_version", "0012_merged", "0013_words",
        "0014_counted", "0015_plain_words", "0016_one_word",
    )]

    initial = True

    dependencies = [
        ("metacog", "0001_tables"),
    ]

    operations = [
        InOneStep([
            migrations.CreateModel(
                name='ErrorPattern',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=patterns.models.errors.pattern_id, editable=False, max_length=100)),
                    ('keywords', models.JSONField(help_text='The pattern fires when a response contains any one of them.', verbose_name='keywords')),
                    ('description', models.CharField(max_length=500, verbose_name='description')),
                    ('source', models.CharField(choices=[('alex-correction', "A person's correction"), ('self-review', "The agent's second look"), ('external', 'From elsewhere')], default='external', max_length=20, verbose_name='source')),
                    ('state', models.CharField(choices=[('proposed', 'Proposed'), ('shadow', 'Shadow'), ('active', 'Active'), ('retired', 'Retired')], default='active', max_length=10, verbose_name='state')),
                    ('imported_triggers', models.PositiveIntegerField(default=0, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='patterns', to='metacog.team', verbose_name='team')),
                    ('dismissed_because', models.CharField(blank=True, editable=False, max_length=300, verbose_name='dismissed because')),
                    ('is_apart', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('merged_into', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='merged', to='patterns.errorpattern')),
                    ('merged_keywords', models.JSONField(default=list, editable=False)),
                    ('counted_triggers', models.PositiveBigIntegerField(db_default=0, default=0, editable=False)),
                ],
                options={
                    'verbose_name': 'error pattern',
                    'verbose_name_plural': 'error patterns',
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['team', 'state', 'id'], name='patterns_in_force')],
                    'constraints': [models.UniqueConstraint(fields=('team', 'public_id'), name='one_pattern_an_id')],
                },
            ),
            migrations.CreateModel(
                name='Lesson',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=patterns.models.lessons.lesson_id, editable=False, max_length=40, unique=True)),
                    ('text', models.CharField(max_length=500, verbose_name='lesson')),
                    ('topics', models.JSONField(default=list, verbose_name='when it is about')),
                    ('state', models.CharField(choices=[('proposed', 'Proposed'), ('active', 'Active'), ('retired', 'Retired'), ('dismissed', 'Dismissed')], default='proposed', max_length=10, verbose_name='state')),
                    ('origin', models.CharField(choices=[('reflection', 'Reflection'), ('correction', 'Corrections'), ('person', 'A person')], default='person', max_length=10, verbose_name='from')),
                    ('key', models.CharField(blank=True, max_length=64)),
                    ('evidence', models.JSONField(default=dict)),
                    ('proposed', models.PositiveIntegerField(default=0)),
                    ('given', models.PositiveIntegerField(default=0, verbose_name='times given')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                    ('changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='changed')),
                    ('erased_at', models.DateTimeField(null=True)),
                    ('agent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='lessons', to='metacog.agent', verbose_name='agent')),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lessons', to='metacog.team', verbose_name='team')),
                ],
                options={
                    'verbose_name': 'lesson',
                    'verbose_name_plural': 'lessons',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['team', 'state', '-changed_at'], name='lessons_by_state')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('key', ''), _negated=True), fields=('agent', 'key'), name='one_lesson_a_key')],
                },
            ),
            migrations.CreateModel(
                name='Memory',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=patterns.models.memory.memory_id, editable=False, max_length=40, unique=True)),
                    ('text', models.TextField(max_length=2000, verbose_name='text')),
                    ('sha256', models.CharField(editable=False, max_length=64)),
                    ('topic', models.CharField(blank=True, max_length=200, verbose_name='topic')),
                    ('source', models.CharField(blank=True, max_length=500, verbose_name='source')),
                    ('confidence', models.FloatField(null=True, verbose_name='confidence')),
                    ('state', models.CharField(choices=[('pending', 'Pending'), ('confirmed', 'Confirmed'), ('retired', 'Retired')], default='pending', max_length=10, verbose_name='state')),
                    ('hesitation_score', models.PositiveSmallIntegerField(null=True)),
                    ('doubts', models.JSONField(default=list)),
                    ('length', models.PositiveIntegerField(default=0)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created')),
                    ('confirmed_at', models.DateTimeField(null=True)),
                    ('retired_at', models.DateTimeField(null=True)),
                    ('erased_at', models.DateTimeField(null=True)),
                    ('agent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='memories', to='metacog.agent', verbose_name='agent')),
                    ('confirmed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('retired_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memories', to='metacog.team', verbose_name='team')),
                    ('pattern', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='patterns.errorpattern')),
                    ('reasons', models.JSONField(default=list)),
                    ('said_in', models.CharField(blank=True, max_length=40)),
                    ('occurred_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('terms_version', models.PositiveSmallIntegerField(default=0)),
                    ('replaced_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaces', to='patterns.memory')),
                ],
                options={
                    'verbose_name': 'memory',
                    'verbose_name_plural': 'memories',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['team', 'state', '-id'], name='memories_by_state'), models.Index(condition=models.Q(('state', 'confirmed')), fields=['team', 'length'], name='memories_that_answer'), models.Index(condition=models.Q(('state', 'confirmed')), fields=['terms_version', 'team'], name='memories_by_stemmer')],
                    'constraints': [models.UniqueConstraint(fields=('team', 'sha256'), name='one_memory_a_text')],
                },
            ),
            migrations.CreateModel(
                name='MemoryConflict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=12)),
                    ('confidence', models.FloatField()),
                    ('outcome', models.CharField(blank=True, choices=[('newer', 'Newer kept'), ('older', 'Older kept'), ('both', 'Both kept')], max_length=5)),
                    ('found_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('settled_at', models.DateTimeField(null=True)),
                    ('newer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='contradicts', to='patterns.memory')),
                    ('older', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='contradicted_by', to='patterns.memory')),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'conflict',
                    'verbose_name_plural': 'conflicts',
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(fields=('older', 'newer'), name='one_conflict_a_pair')],
                    'indexes': [models.Index(condition=models.Q(('outcome', '')), fields=['newer'], name='conflicts_open')],
                },
            ),
            migrations.CreateModel(
                name='MemoryTerm',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('term', models.CharField(max_length=64)),
                    ('times', models.PositiveIntegerField()),
                    ('length', models.PositiveIntegerField()),
                    ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='terms', to='patterns.memory')),
                    ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='metacog.team')),
                ],
                options={
                    'indexes': [models.Index(fields=['team', 'term', 'memory', 'times', 'length'], name='memories_by_term')],
                },
            ),
            migrations.CreateModel(
                name='PatternInForce',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('place', models.PositiveBigIntegerField()),
                    ('public_id', models.CharField(max_length=100)),
                    ('keywords', models.JSONField()),
                    ('description', models.CharField(max_length=500)),
                    ('since_version', models.PositiveBigIntegerField()),
                    ('until_version', models.PositiveBigIntegerField(null=True)),
                    ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='metacog.team')),
                ],
                options={
                    'verbose_name': 'pattern in force',
                    'verbose_name_plural': 'patterns in force',
                    'ordering': ['place'],
                    'indexes': [models.Index(fields=['team', 'place'], name='patterns_of_any_version')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('until_version', None)), fields=('team', 'place'), name='in_force_once_at_a_time')],
                },
            ),
            migrations.CreateModel(
                name='PatternRecord',
                fields=[
                    ('pattern', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='record', serialize=False, to='patterns.errorpattern')),
                    ('since', models.DateTimeField(default=django.utils.timezone.now)),
                    ('seen_from', models.PositiveBigIntegerField(default=0)),
                    ('seen_to', models.PositiveBigIntegerField(null=True)),
                    ('fired', models.PositiveIntegerField(default=0)),
                    ('held', models.PositiveIntegerField(default=0)),
                    ('rejected', models.PositiveIntegerField(default=0)),
                    ('edited', models.PositiveIntegerField(default=0)),
                    ('approved', models.PositiveIntegerField(default=0)),
                    ('keywords', models.JSONField(default=dict)),
                    ('last_fired_at', models.DateTimeField(null=True)),
                ],
                options={
                    'verbose_name': 'statistics of a pattern',
                    'verbose_name_plural': 'statistics of patterns',
                },
            ),
            migrations.CreateModel(
                name='Problem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=patterns.models.problems.problem_id, max_length=40, unique=True)),
                    ('session', models.CharField(blank=True, max_length=255)),
                    ('key', models.CharField(blank=True, max_length=255)),
                    ('state', metacog.db.fields.OrderedJSONField()),
                    ('points', models.PositiveSmallIntegerField(default=0)),
                    ('suggests', models.BooleanField(default=False)),
                    ('began_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('touched_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('resolved_at', models.DateTimeField(null=True)),
                    ('erased_at', models.DateTimeField(null=True)),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='problems', to='metacog.agent')),
                ],
                options={
                    'verbose_name': 'problem',
                    'verbose_name_plural': 'problems',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['agent', 'key', '-touched_at'], name='problems_by_key'), models.Index(condition=models.Q(('points__gt', 0)), fields=['agent', '-touched_at'], name='problems_stuck'), models.Index(condition=models.Q(('suggests', True)), fields=['agent'], name='problems_that_ask')],
                    'constraints': [models.UniqueConstraint(fields=('agent', 'session', 'key'), name='one_problem_a_key')],
                },
            ),
            migrations.CreateModel(
                name='ThinkTwice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('points', models.PositiveSmallIntegerField()),
                    ('signals', models.JSONField(default=list)),
                    ('suggested_at', models.DateTimeField(null=True)),
                    ('answer', models.CharField(blank=True, choices=[('yes', 'Yes'), ('no', 'No')], max_length=3)),
                    ('by', models.CharField(blank=True, choices=[('person', 'person in the console'), ('agent', 'reported by the agent on behalf of a person'), ('user', 'user, in a message')], max_length=6)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(blank=True, choices=[('helped', 'It helped'), ('did-not-help', 'It did not help')], max_length=12)),
                    ('outcome_at', models.DateTimeField(null=True)),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('problem', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='think_twice', to='patterns.problem')),
                ],
                options={
                    'verbose_name': 'think twice',
                    'verbose_name_plural': 'think twice',
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('problem',), name='asked_once_at_a_time')],
                },
            ),
            migrations.CreateModel(
                name='ThoughtThread',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=patterns.models.threads.thread_id, editable=False, max_length=40, unique=True)),
                    ('slug', models.CharField(editable=False, max_length=100, verbose_name='slug')),
                    ('title', models.CharField(max_length=200, verbose_name='title')),
                    ('state', models.CharField(choices=[('active', 'Active'), ('paused', 'Paused'), ('resolved', 'Resolved')], default='active', max_length=10, verbose_name='state')),
                    ('touches', models.PositiveIntegerField(default=0, verbose_name='touches')),
                    ('next', models.TextField(blank=True, max_length=250000, verbose_name='next')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created')),
                    ('touched_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last touched')),
                    ('resolved_at', models.DateTimeField(null=True, verbose_name='resolved')),
                    ('article_until', models.BigIntegerField(null=True)),
                    ('erased_at', models.DateTimeField(null=True)),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='threads', to='metacog.agent', verbose_name='agent')),
                    ('notes', models.TextField(blank=True, max_length=250000, verbose_name='notes')),
                    ('has_draft', models.BooleanField(db_default=False, default=False, editable=False)),
                ],
                options={
                    'verbose_name': 'thought thread',
                    'verbose_name_plural': 'thought threads',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['agent', 'state', '-touched_at'], name='threads_by_state'), models.Index(condition=models.Q(('has_draft', True)), fields=['agent'], name='threads_with_draft')],
                    'constraints': [models.UniqueConstraint(fields=('agent', 'slug'), name='one_thread_a_slug')],
                },
            ),
            migrations.CreateModel(
                name='ThreadStep',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('op', models.CharField(choices=[('create', 'created'), ('progress', 'entry added'), ('pause', 'paused'), ('resume', 'resumed'), ('resolve', 'resolved')], default='progress', max_length=10)),
                    ('text', models.TextField(blank=True)),
                    ('on', models.DateField(null=True)),
                    ('extra', models.CharField(blank=True, max_length=100)),
                    ('by', models.CharField(choices=[('agent', 'agent'), ('person', 'person'), ('file', 'file')], max_length=6)),
                    ('response', models.CharField(blank=True, max_length=40)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='patterns.thoughtthread')),
                ],
                options={
                    'verbose_name': 'step of a thread',
                    'verbose_name_plural': 'steps of a thread',
                    'ordering': ['id'],
                    'indexes': [models.Index(condition=models.Q(('text', ''), _negated=True), fields=['thread', '-id'], name='trail_of_thread')],
                },
            ),
            migrations.CreateModel(
                name='ThreadSuggestion',
                fields=[
                    ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='thread_suggestion', serialize=False, to='metacog.agent')),
                    ('topic', models.CharField(max_length=200)),
                    ('cycles', models.PositiveSmallIntegerField()),
                    ('found_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('is_dismissed', models.BooleanField(default=False)),
                ],
                options={
                    'verbose_name': 'suggested thread',
                    'verbose_name_plural': 'suggested threads',
                },
            ),
        ]),
    ]
