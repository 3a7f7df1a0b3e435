"""`manage.py rekey`: have no signing secret need a former METACOG_SECRET_KEY any more."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from metacog import keys


class Command(BaseCommand):
    help = "Encrypt the agents' signing secrets anew with METACOG_SECRET_KEY, so that no former key is needed."

    def handle(self, *args: Any, **options: Any) -> None:
        changed, lost = keys.rekey()
        self.stdout.write(f"Signing secrets encrypted anew: {changed}.")
        if lost:
            raise CommandError(
                "\n".join(
                    f"The secret beside key {key.hint}… of {key.agent} in {key.agent.team} was encrypted with "
                    "a key that is not given: add it to METACOG_SECRET_KEY_FALLBACKS, or rotate the agent's key."
                    for key in lost
                )
            )
        self.stdout.write("None needs METACOG_SECRET_KEY_FALLBACKS.")
