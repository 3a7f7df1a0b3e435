"""`manage.py patterns`: error patterns in and out, as the seeds' hesitation-patterns.json."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from metacog.models import Team
from metacog.runtime.file_errors import cannot_be
from patterns.imports import BadFile
from patterns.patterns import exchange


class Command(BaseCommand):
    help = "Import or export error patterns as the seeds' hesitation-patterns.json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        taking = actions.add_parser("import", help="take in a file, all of it or nothing")
        taking.add_argument("file", metavar="FILE", type=Path)
        giving = actions.add_parser("export", help="write a file, or to standard output")
        giving.add_argument("file", metavar="FILE", type=Path, nargs="?")
        for action in (taking, giving):
            action.add_argument("--team", help="the team's name; needed when more than one has agents")

    def handle(self, *args: Any, action: str, file: Path | None, team: str | None, **options: Any) -> None:
        chosen = choose(team)
        if action == "import" and file:
            self.take(chosen, file)
        else:
            self.give(chosen, file)

    def take(self, team: Team, file: Path) -> None:
        try:
            new, changed, left = exchange.take(team, file.read_bytes(), None)
        except OSError as error:
            raise CommandError(f"Nothing was imported. {cannot_be('read', file, error)}") from None
        except BadFile as error:
            raise CommandError(f"Nothing was imported.\n{error}") from None
        self.stdout.write(f"{new} pattern{pluralize(new)} added to {team}, {changed} changed.")
        if left:
            others = ", ".join(f"{name} ({count})" for name, count in left.items())
            self.stdout.write(f"Not taken, since only patterns are imported: {others}.")

    def give(self, team: Team, file: Path | None) -> None:
        document = json.dumps(exchange.give(team), ensure_ascii=False, indent=2)
        if file is None:
            self.stdout.write(document)
            return
        try:
            file.write_text(document + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(cannot_be("written", file, error)) from None


def choose(name: str | None) -> Team:
    """Return the team of this name, or the only one (with agents); CommandError when there is none, or a choice."""
    if name is not None:
        teams = list(Team.objects.filter(name=name))
    else:  # the team that the first start makes has none until somebody adds one
        teams = list(Team.objects.exclude(agents=None).distinct()[:2] or Team.objects.all()[:2])
    if len(teams) == 1:
        return teams[0]
    if name is not None:
        raise CommandError(f"There is no team {name!r}.")
    raise CommandError("There is more than one team: say which with --team." if teams else "There is no team yet.")
