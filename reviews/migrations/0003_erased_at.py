from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_deliveries")]

    operations = [
        migrations.AddField(
            model_name="agentresponse", name="erased_at", field=models.DateTimeField(null=True)
        ),
    ]
