import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("metacog", "0002_audit_chain")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="retention_days",
            field=models.PositiveIntegerField(
                editable=False,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(36500),
                ],
                verbose_name="keep texts for (days)",
            ),
        ),
    ]
