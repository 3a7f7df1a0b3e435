from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0019_fewer_indexes")]

    operations = [
        migrations.AlterField(
            model_name="delivery",
            name="last_error",
            field=models.CharField(
                blank=True,
                choices=[
                    ("address", "The callback address cannot be used."),
                    ("forbidden", "The callback address leads to a place that is not public."),
                    ("name", "The name in the callback address could not be found."),
                    ("connection", "No connection, or it broke off."),
                    ("certificate", "The certificate could not be verified."),
                    ("timeout", "No answer in time."),
                    ("answer", "The answer was not HTTP."),
                    ("status", "The receiver did not take it."),
                    ("redirect", "The receiver answered with a redirect, which is never followed."),
                    ("gone", "The receiver answered that it is gone for good."),
                    ("no-secret", "The agent has no live secret to sign with."),
                    ("no-url", "The agent has no callback address any more."),
                    ("off", "The endpoint was switched off."),
                    ("disabled", "The agent was disabled for as long as texts are kept."),
                    ("interrupted", "metacog was interrupted while it was sending."),
                ],
                max_length=20,
            ),
        ),
    ]
