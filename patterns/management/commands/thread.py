"""`manage.py thread`: thought threads in and out, as the seeds' Markdown."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from metacog.models import Agent
from metacog.runtime.file_errors import cannot_be
from patterns.imports import BadFile
from patterns.threads import exchange


class Command(BaseCommand):
    help = "Import or export an agent's thought threads as the seeds' Markdown."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        taking = actions.add_parser("import", help="take in files, all of them or nothing")
        taking.add_argument("files", metavar="FILE", type=Path, nargs="+")
        giving = actions.add_parser("export", help="write to standard output, or a file a thread into a folder")
        giving.add_argument("folder", metavar="FOLDER", type=Path, nargs="?")
        for action in (taking, giving):
            action.add_argument("--agent", metavar="NAME", help="needed when there is more than one")
            action.add_argument("--team", help="the agent's team, where two have an agent of that name")

    def handle(self, *args: Any, action: str, agent: str | None, team: str | None, **options: Any) -> None:
        chosen = choose(agent, team)
        if action == "import":
            self.take(chosen, options["files"])
        else:
            self.give(chosen, options["folder"])

    def take(self, agent: Agent, paths: list[Path]) -> None:
        try:
            files = [(str(path), path.read_bytes()) for path in paths]
        except OSError as error:
            raise CommandError(f"Nothing was imported. {cannot_be('read', error.filename, error)}") from None
        try:
            taken = exchange.take(agent, files, None)
        except BadFile as error:
            raise CommandError(f"Nothing was imported.\n{error}") from None
        self.stdout.write(taken.summary(agent))

    def give(self, agent: Agent, folder: Path | None) -> None:
        threads = list(exchange.give(agent))
        if folder is None:
            self.stdout.write("\n".join(text for _slug, text in threads), ending="")
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for slug, text in threads:
                (folder / f"{slug}.md").write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(cannot_be("written", error.filename or folder, error)) from None
        self.stderr.write(f"{len(threads)} thread{pluralize(threads)} written to {folder}.")


def choose(name: str | None, team: str | None) -> Agent:
    """Return the agent of this name, or the only one; CommandError when there is none, or a choice."""
    agents = Agent.objects.select_related("team")
    if name is not None:
        agents = agents.filter(name=name)
    if team is not None:
        agents = agents.filter(team__name=team)
    found = list(agents[:2])
    if len(found) == 1:
        return found[0]
    if found:
        say = "say of which --team it is" if name is not None else "say which with --agent"
        raise CommandError(f"There is more than one such agent: {say}.")
    raise CommandError("There is no agent yet." if name is None and team is None else "Unknown agent.")
