"""All tables of people, teams, agents and the audit record, which triggers keep append-only.

The triggers hold for everybody who does not remove them, superusers and the SQL prompt included. SQLite drops a
table's triggers when Django rebuilds the table: a later migration that alters AuditEvent or AuditSeal must make them
again. tests/metacog/audit looks that they are there, and so does `manage.py audit verify`.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import metacog.db.fields
import metacog.models
from metacog.db.operations import InOneStep, Statements

TABLES = ("metacog_auditevent", "metacog_auditseal")

POSTGRESQL = [
    """
    CREATE FUNCTION metacog_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    *(
        f"""
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION metacog_append_only()
        """
        for table in TABLES
    ),
    """
    CREATE FUNCTION metacog_to_seal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO metacog_auditunsealed (event_id) SELECT id FROM added;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER metacog_auditevent_to_seal AFTER INSERT ON metacog_auditevent
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION metacog_to_seal()
    """,
]

# REPLACE deletes without asking a DELETE trigger, so a row that is there is refused before it is replaced.
SQLITE = [
    *(
        f"""
        CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
        """
        for table in TABLES
        for change in ("UPDATE", "DELETE")
    ),
    """
    CREATE TRIGGER metacog_auditevent_no_replace BEFORE INSERT ON metacog_auditevent
    WHEN EXISTS (SELECT 1 FROM metacog_auditevent WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'metacog_auditevent is append-only'); END
    """,
    """
    CREATE TRIGGER metacog_auditseal_no_replace BEFORE INSERT ON metacog_auditseal
    WHEN EXISTS (
        SELECT 1 FROM metacog_auditseal
        WHERE number = NEW.number OR first_id = NEW.first_id OR previous = NEW.previous
    )
    BEGIN SELECT RAISE(ABORT, 'metacog_auditseal is append-only'); END
    """,
    """
    CREATE TRIGGER metacog_auditevent_to_seal AFTER INSERT ON metacog_auditevent
    BEGIN INSERT INTO metacog_auditunsealed (event_id) VALUES (NEW.id); END
    """,
]

CREATE = {"postgresql": POSTGRESQL, "sqlite": SQLITE}
DROP = {"postgresql": ["DROP FUNCTION metacog_append_only, metacog_to_seal CASCADE"]}  # the rest goes with the tables


class Migration(migrations.Migration):
    # Those that release 0.1.0 and what was before it had.
    replaces = [("metacog", name) for name in (
        "0001_initial", "0002_audit_chain", "0003_retention", "0004_audit_of_people", "0005_verdict_parts",
        "0006_cycles_and_threads", "0007_max_active_threads", "0008_budget_and_handcard", "0009_notices",
        "0010_patterns_known_from", "0011_mail_of_teams", "0012_channels", "0013_mail_servers",
        "0014_policy_seconds", "0015_plain_text_as_chat", "0016_told_until", "0017_remember_into_memory",
        "0019_accept_relayed_yes", "0001_squashed_0019_accept_relayed_yes", "0002_personal_tokens",
        "0003_policy_rules", "0004_team_has_webhooks", "0005_learned_risk", "0006_audit_of_system",
        "0007_decide_within", "0008_talk_notices", "0009_audit_of_person", "0010_time_zone_from_browser",
        "0011_membership_given_by", "0012_notice_words", "0013_plain_words", "0014_token_revoked_by",
        "0015_automatic_words", "0016_audit_by_team",
    )]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        InOneStep([
            migrations.CreateModel(
                name='AuditSeal',
                fields=[
                    ('number', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                    ('first_id', models.PositiveBigIntegerField(unique=True)),
                    ('last_id', models.PositiveBigIntegerField()),
                    ('total', models.PositiveBigIntegerField()),
                    ('leaves', models.BinaryField()),
                    ('previous', models.CharField(max_length=64, unique=True)),
                    ('digest', models.CharField(max_length=64)),
                    ('sealed_at', models.DateTimeField()),
                ],
                options={
                    'verbose_name': 'audit seal',
                    'verbose_name_plural': 'audit seals',
                    'ordering': ['-number'],
                },
            ),
            migrations.CreateModel(
                name='Heartbeat',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=20, unique=True)),
                    ('at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Team',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                    ('patterns_version', models.PositiveBigIntegerField(default=0, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('retention_days', models.PositiveIntegerField(editable=False, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='keep texts for (days)')),
                    ('patterns_known_from', models.PositiveBigIntegerField(default=0, editable=False)),
                    ('mail_links', models.BooleanField(default=False, editable=False)),
                    ('mail_texts', models.BooleanField(default=False, editable=False)),
                    ('names_people', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('has_webhooks', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('risk_budget', models.PositiveIntegerField(editable=False, null=True, validators=[django.core.validators.MaxValueValidator(10000)])),
                    ('risk_budget_holds', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('risk_cut', models.FloatField(editable=False, null=True)),
                    ('risk_kind', models.CharField(blank=True, db_default='', default='', editable=False, max_length=10)),
                    ('risk_model', models.BigIntegerField(editable=False, null=True)),
                    ('risk_order', models.BooleanField(db_default=True, default=True, editable=False)),
                    ('risk_samples', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('decide_within_minutes', models.PositiveIntegerField(db_default=240, default=240, editable=False, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(43200)], verbose_name='target for deciding')),
                ],
                options={
                    'verbose_name': 'team',
                    'verbose_name_plural': 'teams',
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='Agent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=metacog.models.agents.agent_id, editable=False, max_length=40, unique=True)),
                    ('name', models.CharField(max_length=100, verbose_name='name')),
                    ('language', models.CharField(choices=[('en', 'English'), ('zh-hant', '繁體中文'), ('zh-hans', '简体中文')], default='en', max_length=10, verbose_name='language')),
                    ('callback_url', models.URLField(blank=True, max_length=500, verbose_name='webhook address')),
                    ('hesitation_enabled', models.BooleanField(default=True, verbose_name='hesitation')),
                    ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                    ('policy_version', models.PositiveIntegerField(default=1, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='metacog.team', verbose_name='team')),
                    ('handcard', models.TextField(blank=True, max_length=4000, verbose_name='handcard')),
                    ('risk_model', models.BigIntegerField(editable=False, null=True)),
                ],
                options={
                    'verbose_name': 'agent',
                    'verbose_name_plural': 'agents',
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='one_agent_name_a_team')],
                },
            ),
            migrations.CreateModel(
                name='AgentKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key_sha256', models.CharField(max_length=64, unique=True)),
                    ('hint', models.CharField(max_length=12)),
                    ('secret_encrypted', models.TextField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='metacog.agent')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='AgentState',
                fields=[
                    ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='state', serialize=False, to='metacog.agent')),
                    ('rate_tat', models.FloatField(default=0)),
                    ('decision_seq', models.PositiveBigIntegerField(default=0)),
                    ('responses', models.PositiveBigIntegerField(default=0)),
                    ('intent', models.JSONField(null=True)),
                    ('topics', metacog.db.fields.OrderedJSONField(default=dict)),
                    ('active_threads', models.PositiveIntegerField(default=0)),
                    ('cycles', metacog.db.fields.OrderedJSONField(default=list)),
                    ('feed_given', models.PositiveBigIntegerField(default=0)),
                    ('feed_given_at', models.PositiveBigIntegerField(default=0)),
                    ('feed_heard', models.PositiveBigIntegerField(default=0)),
                ],
            ),
            migrations.CreateModel(
                name='AuditEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('actor_kind', models.CharField(choices=[('person', 'person'), ('agent', 'agent'), ('system', 'system')], max_length=6)),
                    ('actor', models.CharField(max_length=150)),
                    ('action', models.CharField(max_length=40)),
                    ('object_id', models.CharField(max_length=60)),
                    ('before', models.CharField(blank=True, max_length=20)),
                    ('after', models.CharField(blank=True, max_length=20)),
                    ('data', models.JSONField(default=dict)),
                    ('request_id', models.CharField(blank=True, max_length=64)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='metacog.agent')),
                    ('team', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='metacog.team')),
                ],
                options={
                    'verbose_name': 'audit event',
                    'verbose_name_plural': 'audit events',
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['object_id'], name='audit_of_object'), models.Index(fields=['team', 'at', 'id'], name='audit_of_team'), models.Index(fields=['team', 'action', 'at', 'id'], name='audit_of_action'), models.Index(fields=['agent', 'at', 'id'], name='audit_of_agent'), models.Index(condition=models.Q(('actor_kind', 'person')), fields=['team', 'at', 'id'], name='audit_of_people'), models.Index(condition=models.Q(('actor_kind', 'system')), fields=['team', 'at', 'id'], name='audit_of_system'), models.Index(condition=models.Q(('actor_kind', 'person')), fields=['team', 'actor', 'at', 'id'], name='audit_of_person')],
                },
            ),
            migrations.CreateModel(
                name='AuditUnsealed',
                fields=[
                    ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='metacog.auditevent')),
                ],
                options={
                    'verbose_name': 'unsealed audit event',
                    'verbose_name_plural': 'unsealed audit events',
                },
            ),
            migrations.CreateModel(
                name='Channel',
                fields=[
                    ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='channel', serialize=False, to='metacog.team')),
                    ('url_encrypted', models.TextField(editable=False)),
                    ('hint', models.CharField(editable=False, max_length=270)),
                    ('minutes', models.PositiveSmallIntegerField(default=15, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='at most every (minutes)')),
                    ('language', models.CharField(choices=[('en', 'English'), ('zh-hant', '繁體中文'), ('zh-hans', '简体中文')], default='en', max_length=10, verbose_name='language')),
                    ('texts', models.BooleanField(default=False, verbose_name='excerpts of what agents wrote')),
                    ('turn_at', models.DateTimeField(editable=False, null=True)),
                    ('told_until', models.DateTimeField(editable=False, null=True)),
                    ('mentions', models.BooleanField(db_default=False, default=False, verbose_name='mentions and assignments')),
                ],
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('language', models.CharField(blank=True, choices=[('en', 'English'), ('zh-hant', '繁體中文'), ('zh-hans', '简体中文')], max_length=10, verbose_name='language')),
                    ('time_zone', models.CharField(blank=True, max_length=64, verbose_name='time zone')),
                    ('theme', models.CharField(blank=True, choices=[('', 'Automatic'), ('light', 'Light'), ('dark', 'Dark')], max_length=5, verbose_name='theme')),
                    ('keyboard', models.BooleanField(default=True, verbose_name='keyboard shortcuts')),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                },
                managers=[
                    ('objects', django.contrib.auth.models.UserManager()),
                ],
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('viewer', 'Viewer'), ('reviewer', 'Reviewer'), ('curator', 'Curator'), ('owner', 'Owner')], default='reviewer', max_length=10, verbose_name='role')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL, verbose_name='person')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='metacog.team', verbose_name='team')),
                    ('given_by', models.CharField(blank=True, db_default='', default='', editable=False, max_length=40)),
                ],
                options={
                    'verbose_name': 'member',
                    'verbose_name_plural': 'members',
                    'constraints': [models.UniqueConstraint(fields=('user', 'team'), name='one_membership_a_team')],
                },
            ),
            migrations.CreateModel(
                name='Notice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=metacog.models.notices.notice_id, max_length=40, unique=True)),
                    ('since', models.DateTimeField(null=True)),
                    ('until', models.DateTimeField()),
                    ('state', models.CharField(choices=[('waiting', 'Queued'), ('sent', 'Sent'), ('moot', 'Not needed any more'), ('given-up', 'Given up')], default='waiting', max_length=10)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('leased_until', models.DateTimeField(null=True)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('trouble', models.CharField(blank=True, choices=[('sign-in', 'The mail server did not accept user name and password.'), ('no-tls', 'The mail server offers no encryption.'), ('no-smtp', 'The server is not a mail server.'), ('recipient', 'The mail server refuses this address.'), ('refused', 'The mail server refused the message.'), ('address', 'The address cannot be used.'), ('forbidden', 'The address is not public.'), ('status', 'The chat refused the message.'), ('answer', 'The answer was not HTTP.'), ('lost', 'The address cannot be decrypted: its secret key is gone. Enter it again.'), ('name', 'The name in the address could not be found.'), ('connection', 'The connection failed.'), ('certificate', 'The certificate could not be verified.'), ('timeout', 'No answer in time.'), ('error', 'It could not be sent; the log says why.'), ('interrupted', 'metacog was interrupted while it was sending.')], max_length=12)),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='metacog.team')),
                    ('about', models.CharField(db_default='', default='', max_length=60)),
                    ('kind', models.CharField(choices=[('held', 'Held items'), ('mention', 'Mention'), ('assigned', 'Assignment')], db_default='held', default='held', max_length=10)),
                ],
                options={
                    'verbose_name': 'notice',
                    'verbose_name_plural': 'notices',
                    'ordering': ['-id'],
                    'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['next_attempt_at'], name='notices_due')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('person', None), ('team', None), _connector='XOR'), name='notice_to_person_or_team'), models.UniqueConstraint(condition=models.Q(('kind', 'held'), ('state', 'waiting')), fields=('person',), name='one_notice_waits'), models.UniqueConstraint(condition=models.Q(('kind', 'held'), ('state', 'waiting')), fields=('team',), name='one_notice_of_team_waits'), models.UniqueConstraint(condition=models.Q(models.Q(('kind', 'held'), _negated=True), ('team', None)), fields=('person', 'about'), name='one_notice_an_event'), models.UniqueConstraint(condition=models.Q(models.Q(('kind', 'held'), _negated=True), ('person', None)), fields=('team', 'about'), name='one_team_notice_an_event')],
                },
            ),
            migrations.CreateModel(
                name='PersonalToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, verbose_name='name')),
                    ('token_sha256', models.CharField(max_length=64, unique=True)),
                    ('hint', models.CharField(max_length=12)),
                    ('scopes', models.JSONField(default=list)),
                    ('expires_at', models.DateTimeField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('last_used_at', models.DateTimeField(null=True)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('rate_tat', models.FloatField(default=0)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL, verbose_name='person')),
                    ('revoked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'access token',
                    'verbose_name_plural': 'access tokens',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='PersonNotices',
                fields=[
                    ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='told', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('when', models.CharField(choices=[('never', 'never'), ('waiting', 'when items are held, at most once an hour'), ('daily', 'once a day, if new items are held')], default='never', max_length=10, verbose_name='email me')),
                    ('minutes', models.PositiveSmallIntegerField(default=15, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(1440)], verbose_name='held for at least (minutes)')),
                    ('hour', models.PositiveSmallIntegerField(default=8, validators=[django.core.validators.MaxValueValidator(23)], verbose_name='hour of the day')),
                    ('language', models.CharField(choices=[('en', 'English'), ('zh-hant', '繁體中文'), ('zh-hans', '简体中文')], default='en', max_length=10)),
                    ('turn_at', models.DateTimeField(null=True)),
                    ('told_until', models.DateTimeField(null=True)),
                    ('mentions', models.BooleanField(db_default=True, default=True, verbose_name='mentions and assignments')),
                ],
            ),
            migrations.CreateModel(
                name='Policy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(editable=False, verbose_name='version')),
                    ('profile', models.CharField(choices=[('seed', 'Seed: exactly as specified'), ('aware', 'Aware: reads words in their sense')], default='seed', max_length=10, verbose_name='profile')),
                    ('threshold', models.PositiveSmallIntegerField(default=30, validators=[django.core.validators.MaxValueValidator(101)], verbose_name='marks from')),
                    ('hold_at', models.PositiveSmallIntegerField(default=50, validators=[django.core.validators.MaxValueValidator(101)], verbose_name='holds from')),
                    ('weights', models.JSONField(default=metacog.models.policies.seed_weights, verbose_name='weights')),
                    ('release', models.JSONField(default=metacog.models.policies.seed_release, verbose_name='who may release')),
                    ('marks', models.JSONField(blank=True, default=dict, verbose_name='wording of marks')),
                    ('review_seconds', models.PositiveIntegerField(default=120, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(31536000)], verbose_name='second look after (seconds)')),
                    ('expiry_seconds', models.PositiveIntegerField(default=604800, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(31536000)], verbose_name='expires after (seconds)')),
                    ('rate_per_second', models.PositiveIntegerField(default=20, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100000)], verbose_name='responses a second')),
                    ('rate_burst', models.PositiveIntegerField(default=200, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)], verbose_name='burst of responses')),
                    ('require_signature', models.BooleanField(default=False, verbose_name='demand key and signature')),
                    ('note', models.CharField(blank=True, max_length=300, verbose_name='why')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='policies', to='metacog.agent', verbose_name='agent')),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='created by')),
                    ('parts', models.JSONField(default=metacog.models.policies.seed_parts, verbose_name='parts of the assessment')),
                    ('quality', models.JSONField(blank=True, default=dict, verbose_name='quality')),
                    ('stuck', models.JSONField(blank=True, default=dict, verbose_name='stuck')),
                    ('stuck_threshold', models.PositiveSmallIntegerField(default=7, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='asks to think twice from')),
                    ('max_active_threads', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='active threads at most')),
                    ('budget_calls', models.PositiveIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)], verbose_name='tool calls of an investigation')),
                    ('budget_extension', models.PositiveIntegerField(default=3, validators=[django.core.validators.MaxValueValidator(10000)], verbose_name='tool calls granted by rule')),
                    ('budget_wait_seconds', models.PositiveIntegerField(default=3600, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(31536000)], verbose_name='extension request expires after (seconds)')),
                    ('plain_text_as_chat', models.BooleanField(default=False, verbose_name='a response without items is one chat')),
                    ('remember_into_memory', models.BooleanField(default=True, verbose_name="add each REMEMBER to the team's memory")),
                    ('accept_relayed_yes', models.BooleanField(default=True, verbose_name='accept a yes to Think twice that the agent relays')),
                    ('default_tool_call', models.CharField(choices=[('ask', 'Ask a person'), ('allow', 'Allow'), ('deny', 'Deny'), ('score', 'Score, and ask from the holding score')], db_default='ask', default='ask', max_length=5, verbose_name='other tool calls')),
                    ('rules', metacog.db.fields.OrderedJSONField(blank=True, db_default='[]', default=list, verbose_name='rules on tool calls')),
                ],
                options={
                    'verbose_name': 'policy',
                    'verbose_name_plural': 'policies',
                    'ordering': ['-version'],
                    'constraints': [models.UniqueConstraint(fields=('agent', 'version'), name='one_policy_a_version')],
                },
            ),
        ]),
        Statements(CREATE, DROP),
    ]
