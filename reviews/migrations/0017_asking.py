import django.db.models.deletion
from django.db import migrations, models

import metacog.db.fields
from metacog.db.operations import InOneStep


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0016_asked_notices'),
        ('reviews', '0016_learned_risk_of_calls'),
    ]

    operations = [
        InOneStep([
            migrations.CreateModel(
                name='TeamAsking',
                fields=[
                    ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='asking', serialize=False, to='metacog.team')),
                    ('settings', metacog.db.fields.OrderedJSONField(default=dict)),
                    ('changed_at', models.DateTimeField()),
                    ('handover_at', models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Asked',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('step', models.PositiveSmallIntegerField()),
                    ('to', models.CharField(blank=True, max_length=120)),
                    ('people', metacog.db.fields.OrderedJSONField(default=list)),
                    ('since', models.DateTimeField()),
                    ('at', models.DateTimeField()),
                    ('next_at', models.DateTimeField(null=True)),
                    ('held', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='asked', to='reviews.helditem')),
                ],
                options={
                    'indexes': [
                        models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='asked_next'),
                        models.Index(fields=['at'], name='asked_at'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('held', 'step'), name='asked_once_a_step')],
                },
            ),
        ]),
    ]
