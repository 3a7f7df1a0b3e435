from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("metacog", "0008_talk_notices"),
    ]

    operations = [
        migrations.AddIndex(
            "auditevent",
            models.Index(
                fields=["team", "actor", "at", "id"],
                condition=models.Q(("actor_kind", "person")),
                name="audit_of_person",
            ),
        ),
    ]
