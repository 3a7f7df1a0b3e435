"""`manage.py rekey`: have no stored secret need a former METACOG_SECRET_KEY any more."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError

from metacog.accounts import keys
from metacog.models import AgentKey, Channel, ChatApp, Identity, PushDevice, PushKey


class Command(BaseCommand):
    help = "Encrypt all stored secrets with the present METACOG_SECRET_KEY, so that no former key is needed."

    def handle(self, *args: Any, **options: Any) -> None:
        changed, lost = keys.rekey()
        self.stdout.write(f"Secrets encrypted again: {changed}.")
        if lost:
            raise CommandError("\n".join(map(_lost, lost)))
        self.stdout.write("None needs METACOG_SECRET_KEY_FALLBACKS.")


def _lost(row: Any) -> str:
    if isinstance(row, AgentKey):
        what, remedy = f"The secret beside key {row.hint}… of {row.agent} in {row.agent.team}", "rotate the agent's key"
    elif isinstance(row, Authenticator):
        what, remedy = f"A second factor of {row.user.get_username()}", "remove it (second_factor NAME)"
    elif isinstance(row, Identity):
        what, remedy = f"The refresh token of {row.account.user.get_username()}", "let them sign in again"
    elif isinstance(row, ChatApp):
        what, remedy = f"The token or secret of {row} of {row.team}", "enter both again"
    elif isinstance(row, PushDevice):
        person = row.person.get_username()
        what, remedy = f"What {row} of {person} gave for notices", "let them turn notices off and on again there"
    elif isinstance(row, PushKey):
        what, remedy = "The key that signs what is pushed to devices", "make another (push_key rotate)"
    elif not isinstance(row, Channel):
        what, remedy = f"A secret of the webhook {row.public_id} ({row}) of {row.team}", "rotate its secret"
    else:
        what, remedy = f"The address of the chat of {row.team}", "set the address again"
    return f"{what} was encrypted with a key that is not given: add it to METACOG_SECRET_KEY_FALLBACKS, or {remedy}."
