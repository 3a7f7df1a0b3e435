
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("metacog", "0011_membership_given_by"),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='trouble',
            field=models.CharField(blank=True, choices=[('sign-in', 'The mail server did not accept user name and password.'), ('no-tls', 'The mail server offers no encryption.'), ('no-smtp', 'The server there is no mail server.'), ('recipient', 'The mail server refuses this address.'), ('refused', 'The mail server refused the message.'), ('address', 'The address cannot be used.'), ('forbidden', 'The address is not public.'), ('status', 'The chat refused the message.'), ('answer', 'The answer was no HTTP.'), ('lost', 'The address cannot be decrypted: its secret key is gone. Enter it again.'), ('name', 'The name in the address could not be found.'), ('connection', 'The connection failed.'), ('certificate', 'The certificate could not be verified.'), ('timeout', 'No answer in time.'), ('error', 'It could not be sent; the log says why.'), ('interrupted', 'metacog was interrupted while it was sending.')], max_length=12),
        ),
        migrations.AlterField(
            model_name='personnotices',
            name='hour',
            field=models.PositiveSmallIntegerField(default=8, validators=[django.core.validators.MaxValueValidator(23)], verbose_name='hour of the day'),
        ),
        migrations.AlterField(
            model_name='personnotices',
            name='minutes',
            field=models.PositiveSmallIntegerField(default=15, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(1440)], verbose_name='held for at least (minutes)'),
        ),
        migrations.AlterField(
            model_name='personnotices',
            name='when',
            field=models.CharField(choices=[('never', 'never'), ('waiting', 'when items are held, at most once an hour'), ('daily', 'once a day, if new items are held')], default='never', max_length=10, verbose_name='mail me'),
        ),
    ]
