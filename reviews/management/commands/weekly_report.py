"""`manage.py weekly_report`: a team's weekly report as a mail says it, now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone, translation

from metacog.models import Language, Team, User
from metacog.runtime.address import address
from reviews.outbox.weekly import days_before, letter_in_words
from reviews.presentation.statistics import weekly


class Command(BaseCommand):
    help = "Print a team's weekly report: the seven days before today, as the email says them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="the team's name")
        parser.add_argument("--language", choices=Language.values, default=Language.EN)

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(name=options["team"]).first()
        if team is None:
            raise CommandError("Unknown team.")
        with translation.override(options["language"]):
            report = weekly.read(team, User(), days_before(timezone.now()))
            self.stdout.write(letter_in_words(report, address(), "").text, ending="")
