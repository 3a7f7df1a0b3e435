from django.db import migrations, models

from metacog.db.operations import InOneStep, Statements

# Taken back, notices of these kinds go: nobody knows what they say.
GONE = ["DELETE FROM metacog_notice WHERE kind IN ('asked', 'on-call')"]


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0015_weekly_report'),
    ]

    operations = [
        InOneStep([
            migrations.AlterField(
                model_name='notice',
                name='kind',
                field=models.CharField(choices=[('held', 'Held items'), ('mention', 'Mention'), ('assigned', 'Assignment'), ('asked', 'Items to decide'), ('on-call', 'On call'), ('outage', 'Webhook switched off'), ('decided', 'Decided item'), ('test', 'Test'), ('weekly', 'Weekly report')], db_default='held', default='held', max_length=10),
            ),
            Statements({}, {'sqlite': GONE, 'postgresql': GONE}),
        ]),
    ]
