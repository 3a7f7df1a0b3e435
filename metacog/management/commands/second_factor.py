"""Let somebody in who has lost the phone: remove their second factors."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from metacog.audit import audit
from metacog.models import User


class Command(BaseCommand):
    help = "Remove the second factors of somebody who has lost them. The password, or the provider, lets them in then."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the user name")
        parser.add_argument("--password", action="store_true", help="remove the password, too: a provider lets them in")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["name"]).first()
        if person is None:
            raise CommandError(f"There is nobody of the name {options['name']!r}.")
        with transaction.atomic():
            count, _ = Authenticator.objects.filter(user=person).delete()
            if options["password"]:
                person.set_unusable_password()
                person.save(update_fields=["password"])
                audit.record("password-removed", str(person.pk), actor=None, team=None, person=person.username)
            if count:
                audit.record("second-factors-reset", str(person.pk), actor=None, team=None, person=person.username)
        self.stdout.write(f"{person.username}: {count} removed." if count else f"{person.username} has none.")
