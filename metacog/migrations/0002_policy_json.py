import json

import metacog.db.fields
from django.db import migrations

NAMES = ("weights", "release", "marks", "parts", "quality", "stuck", "rules")


def decode(apps, schema_editor):
    """Write what was encoded twice as what it says: the default of `rules` was the string "[]", not an empty list."""
    policies = apps.get_model("metacog", "Policy").objects
    for policy in policies.only(*NAMES).iterator():
        texts = {name: value for name in NAMES if isinstance(value := getattr(policy, name), str)}
        found = {name: value for name, text in texts.items() if not isinstance(value := decoded(text), str)}
        if found:
            policies.filter(pk=policy.pk).update(**found)


def decoded(value):
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            break
    return value


class Migration(migrations.Migration):
    dependencies = [("metacog", "0001_tables")]

    operations = [
        migrations.AlterField(
            "policy",
            "rules",
            metacog.db.fields.LenientJSONField(blank=True, db_default=[], default=list, verbose_name="rules on tool calls"),
        ),
        migrations.RunPython(decode, migrations.RunPython.noop),
    ]
