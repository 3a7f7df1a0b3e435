from typing import Any

from django.db import migrations, models


def try_anew(apps: Any, editor: Any) -> None:
    """Drop the backtests that do not say it: the worker runs them again."""
    apps.get_model("reviews", "ProposalTrial").objects.using(editor.connection.alias).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0019_trouble_of_research_in_words"),
    ]

    operations = [
        migrations.AddField(
            model_name="proposaltrial",
            name="more",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(try_anew, migrations.RunPython.noop, elidable=True),
    ]
