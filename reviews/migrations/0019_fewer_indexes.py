import django.db.models.deletion
from django.db import migrations, models

# Each is the beginning of another index of its table, but the last, of which few rows have anything.
NEEDLESS = (
    ("reviews_agentresponse_agent_id_3f8beb93", "reviews_agentresponse", "agent_id"),
    ("reviews_delivery_agent_id_5c88ac62", "reviews_delivery", "agent_id"),
    ("reviews_helditem_agent_id_7d509412", "reviews_helditem", "agent_id"),
    ("reviews_helditem_response_id_f8fb70fe", "reviews_helditem", "response_id"),
    ("reviews_helditem_team_id_4e965604", "reviews_helditem", "team_id"),
    ("reviews_agentresponse_second_look_at_id_1838d565", "reviews_agentresponse", "second_look_at_id"),
)


def key(model, name, to, related_name, **options):
    field = models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name=related_name, to=to, **options
    )
    return migrations.AlterField(model_name=model, name=name, field=field)


class Migration(migrations.Migration):
    """Indexes that every post writes and nothing needs.

    They are dropped by name: for a field that loses its index Django would copy the whole table on SQLite.
    """

    dependencies = [
        ('metacog', '0013_mail_servers'),
        ('patterns', '0008_patterns_in_force'),
        ('reviews', '0018_what_waits_and_is_due'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='agentresponse',
            index=models.Index(condition=models.Q(('second_look_at__isnull', False)), fields=['second_look_at'], name='second_looks_at'),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(f'DROP INDEX IF EXISTS "{index}"', f'CREATE INDEX "{index}" ON "{table}" ("{column}")')
                for index, table, column in NEEDLESS
            ],
            state_operations=[
                key('agentresponse', 'agent', 'metacog.agent', 'responses'),
                key('agentresponse', 'second_look_at', 'reviews.helditem', 'second_looks', null=True),
                key('delivery', 'agent', 'metacog.agent', 'deliveries'),
                key('helditem', 'agent', 'metacog.agent', 'held_items'),
                key('helditem', 'response', 'reviews.agentresponse', 'held_items'),
                key('helditem', 'team', 'metacog.team', 'held_items'),
            ],
        ),
    ]
