import django.db.models.deletion
from django.db import migrations, models

from metacog.db.operations import Statements

# Taken back, what is of calls goes: a team had one of each.
OF_CALLS = ["DELETE FROM reviews_learnedrisk WHERE of_calls", "DELETE FROM reviews_budgetday WHERE of_calls"]


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0013_budget_of_calls'),
        ('reviews', '0015_chat_cards'),
    ]

    operations = [
        migrations.AlterField(
            model_name='learnedrisk',
            name='agent',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='metacog.agent'),
        ),
        migrations.RemoveConstraint(
            model_name='budgetday',
            name='one_budget_a_day',
        ),
        migrations.RemoveConstraint(
            model_name='learnedrisk',
            name='one_learned_risk_of_team',
        ),
        migrations.AddField(
            model_name='budgetday',
            name='of_calls',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='learnedrisk',
            name='of_calls',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name='budgetday',
            constraint=models.UniqueConstraint(fields=('team', 'day', 'of_calls'), name='one_budget_a_day'),
        ),
        migrations.AddConstraint(
            model_name='learnedrisk',
            constraint=models.UniqueConstraint(condition=models.Q(('agent', None)), fields=('team', 'of_calls'), name='one_learned_risk_of_team'),
        ),
        migrations.AddConstraint(
            model_name='learnedrisk',
            constraint=models.UniqueConstraint(fields=('agent', 'of_calls'), name='one_learned_risk_of_agent'),
        ),
        Statements({}, {"sqlite": OF_CALLS, "postgresql": OF_CALLS}),
    ]
