import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import metacog.models.push
from django.conf import settings
from django.db import migrations, models

from metacog.db.operations import InOneStep, Statements

# Taken back, notices to devices go: each was to a person or a team.
TO_DEVICES = ["DELETE FROM metacog_notice WHERE device_id IS NOT NULL"]


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0013_budget_of_calls'),
    ]

    operations = [
        # By itself: it makes the table anew, as it is before the others.
        migrations.RemoveConstraint('notice', 'notice_to_person_or_team'),
        InOneStep([
            migrations.CreateModel(
                name='PersonPush',
                fields=[
                    ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='push', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('calls', models.BooleanField(default=True, verbose_name='held tool calls')),
                    ('questions', models.BooleanField(default=True, verbose_name='questions of agents')),
                    ('words', models.BooleanField(default=False, verbose_name='other held items')),
                    ('mentions', models.BooleanField(default=True, verbose_name='mentions and assignments')),
                    ('outages', models.BooleanField(default=True, verbose_name='webhooks that are switched off')),
                    ('minutes', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(1440)], verbose_name='held for at least (minutes)')),
                    ('every', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='at most every (minutes)')),
                    ('quiet_from', models.TimeField(blank=True, null=True, verbose_name='quiet from')),
                    ('quiet_until', models.TimeField(blank=True, null=True, verbose_name='quiet until')),
                ],
            ),
            migrations.CreateModel(
                name='PushDevice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public_id', models.CharField(default=metacog.models.push.device_id, max_length=40, unique=True)),
                    ('name', models.CharField(max_length=100)),
                    ('hint', models.CharField(max_length=255)),
                    ('endpoint_sha256', models.CharField(max_length=64, unique=True)),
                    ('subscription_encrypted', models.TextField()),
                    ('language', models.CharField(choices=[('en', 'English'), ('zh-hant', '繁體中文'), ('zh-hans', '简体中文')], default='en', max_length=10)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('pushed_at', models.DateTimeField(null=True)),
                    ('turn_at', models.DateTimeField(null=True)),
                    ('told_until', models.DateTimeField(null=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='devices', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'device',
                    'verbose_name_plural': 'devices',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='PushKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('public', models.CharField(max_length=100)),
                    ('private_encrypted', models.TextField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
            ),
            migrations.AddField(
                model_name='notice',
                name='shows',
                field=models.CharField(db_default='', default='', max_length=40),
            ),
            migrations.AlterField(
                model_name='notice',
                name='kind',
                field=models.CharField(choices=[('held', 'Held items'), ('mention', 'Mention'), ('assigned', 'Assignment'), ('outage', 'Webhook switched off'), ('decided', 'Decided item'), ('test', 'Test')], db_default='held', default='held', max_length=10),
            ),
            migrations.AlterField(
                model_name='notice',
                name='trouble',
                field=models.CharField(blank=True, choices=[('sign-in', 'The mail server did not accept user name and password.'), ('no-tls', 'The mail server offers no encryption.'), ('no-smtp', 'The server is not a mail server.'), ('recipient', 'The mail server refuses this address.'), ('refused', 'The mail server refused the message.'), ('address', 'The address cannot be used.'), ('forbidden', 'The address is not public.'), ('status', 'The chat refused the message.'), ('push', 'The push service refused the message.'), ('busy', 'The push service is busy or out of order.'), ('keys', 'The keys cannot be decrypted: turn notices off and on again on this device.'), ('answer', 'The answer was not HTTP.'), ('lost', 'The address cannot be decrypted: its secret key is gone. Enter it again.'), ('name', 'The name in the address could not be found.'), ('connection', 'The connection failed.'), ('certificate', 'The certificate could not be verified.'), ('timeout', 'No answer in time.'), ('error', 'It could not be sent; the log says why.'), ('interrupted', 'metacog was interrupted while it was sending.')], max_length=12),
            ),
            migrations.AddIndex(
                model_name='notice',
                index=models.Index(condition=models.Q(('shows', ''), _negated=True), fields=['shows'], name='notices_shown'),
            ),
        ]),
        migrations.AddField(
            model_name='notice',
            name='device',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='metacog.pushdevice'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'held'), ('state', 'waiting')), fields=('device',), name='one_notice_of_device_waits'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.UniqueConstraint(condition=models.Q(models.Q(('kind', 'held'), _negated=True), ('person', None), ('team', None)), fields=('device', 'about'), name='one_device_notice_an_event'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('device', None), ('person__isnull', False), ('team', None)), models.Q(('device', None), ('person', None), ('team__isnull', False)), models.Q(('device__isnull', False), ('person', None), ('team', None)), _connector='OR'), name='notice_to_one_reader'),
        ),
        Statements({}, {'sqlite': TO_DEVICES, 'postgresql': TO_DEVICES}),
    ]
