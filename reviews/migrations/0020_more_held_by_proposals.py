from django.db import migrations, models


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
        # The backtests that do not say it: the worker runs them again. In SQL, as Python would draw up every model first.
        migrations.RunSQL("DELETE FROM reviews_proposaltrial", migrations.RunSQL.noop, elidable=True),
    ]
