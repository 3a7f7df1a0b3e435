import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0004_audit_of_people'),
        ('reviews', '0003_erased_at'),
    ]

    operations = [
        migrations.CreateModel(
            name='DailyFigure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('responses', models.PositiveIntegerField(default=0)),
                ('triggered', models.PositiveIntegerField(default=0)),
                ('held', models.PositiveIntegerField(default=0)),
                ('rejected', models.PositiveIntegerField(default=0)),
                ('withdrawn', models.PositiveIntegerField(default=0)),
                ('edited', models.PositiveIntegerField(default=0)),
                ('approved', models.PositiveIntegerField(default=0)),
                ('expired', models.PositiveIntegerField(default=0)),
                ('pending', models.PositiveIntegerField(default=0)),
                ('signals', models.JSONField(default=dict)),
                ('scores', models.JSONField(default=dict)),
                ('seconds', models.JSONField(default=dict)),
                ('counted_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'daily figure',
                'verbose_name_plural': 'daily figures',
                'ordering': ['day', 'agent'],
            },
        ),
        migrations.AddIndex(
            model_name='agentresponse',
            index=models.Index(fields=['agent', 'received_at'], name='responses_of_day'),
        ),
        migrations.AddField(
            model_name='dailyfigure',
            name='agent',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='daily_figures', to='metacog.agent'),
        ),
        migrations.AddIndex(
            model_name='dailyfigure',
            index=models.Index(condition=models.Q(('pending__gt', 0)), fields=['agent', 'day'], name='days_still_open'),
        ),
        migrations.AddConstraint(
            model_name='dailyfigure',
            constraint=models.UniqueConstraint(fields=('agent', 'day'), name='count_a_day_once'),
        ),
    ]
