from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("metacog", "0015_automatic_words"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="auditevent",
            name="audit_by_time",
        ),
    ]
