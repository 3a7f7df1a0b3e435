"""`manage.py learn`: learn from what people decided now, not only once a day."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from metacog.models import Team
from reviews.risk import learning


class Command(BaseCommand):
    help = "Learn from people's decisions in which order items are at risk; put in force what passes the gate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", help="this team alone")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print all that was found, a JSON object for a team's words, one for its tool calls",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        teams = Team.objects.order_by("name")
        if options["team"]:
            teams = teams.filter(name=options["team"])
            if not teams:
                raise CommandError("Unknown team.")
        for team in teams:
            for learned, row in learning.learn_and_keep(team, timezone.now()):
                if options["json"]:
                    about = {"team": team.name, "of_calls": row.of_calls, "model": row.model and row.model.public_id}
                    self.stdout.write(json.dumps(about | row.found, ensure_ascii=False))
                else:
                    name = f"{team}, tool calls" if row.of_calls else str(team)
                    self.stdout.write(f"{name}: {learning.in_words(learned)}")
