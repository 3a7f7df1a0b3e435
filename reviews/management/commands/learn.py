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
        parser.add_argument("--json", action="store_true", help="print all that was found, a JSON object a team")

    def handle(self, *args: Any, **options: Any) -> None:
        teams = Team.objects.order_by("name")
        if options["team"]:
            teams = teams.filter(name=options["team"])
            if not teams:
                raise CommandError("Unknown team.")
        for team in teams:
            learned, kept = learning.learn_and_keep(team, timezone.now())
            if options["json"]:
                told = {"team": team.name, "model": kept.model and kept.model.public_id, **kept.found}
                self.stdout.write(json.dumps(told, ensure_ascii=False))
            else:
                self.stdout.write(f"{team}: {learning.in_words(learned)}")
