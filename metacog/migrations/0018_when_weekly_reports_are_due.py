import datetime

import django.utils.timezone
from django.db import migrations, models

from metacog.db.operations import InOneStep


class Migration(migrations.Migration):

    dependencies = [
        ('metacog', '0017_who_answers_servers'),
    ]

    operations = [
        InOneStep([
            migrations.AddField(
                model_name='user',
                name='report_at',
                field=models.DateTimeField(db_default=datetime.datetime(2000, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), db_index=True, default=datetime.datetime(2000, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), editable=False),
            ),
            # Null in the rows there are: nobody knows.
            migrations.AddField(
                model_name='membership',
                name='created_at',
                field=models.DateTimeField(editable=False, null=True),
            ),
            migrations.AddField(
                model_name='membership',
                name='owner_since',
                field=models.DateTimeField(editable=False, null=True),
            ),
        ]),
        migrations.SeparateDatabaseAndState(state_operations=[
            migrations.AlterField(
                model_name='membership',
                name='created_at',
                field=models.DateTimeField(default=django.utils.timezone.now, editable=False, null=True),
            ),
        ]),
    ]
