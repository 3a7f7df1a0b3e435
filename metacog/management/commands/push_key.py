"""`manage.py push_key rotate`: sign what is pushed to people's devices with another key."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from metacog.notices import push


class Command(BaseCommand):
    help = "Make another key for what is pushed to devices. Each device knows the former one: all are removed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["rotate"])

    def handle(self, *args: Any, **options: Any) -> None:
        count = push.rotate()
        self.stdout.write(f"There is a new key. Devices removed: {count}.")
        if count:
            self.stdout.write("People turn notices on again under Preferences, on each of their devices.")
