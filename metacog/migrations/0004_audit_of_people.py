from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("metacog", "0003_retention")]

    operations = [
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(("actor_kind", "person")), fields=["team", "at", "id"], name="audit_of_people"
            ),
        ),
    ]
