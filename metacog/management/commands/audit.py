"""`manage.py audit`: export the record, keep an anchor of it, verify it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.template.defaultfilters import pluralize

from metacog.audit import chain, log
from metacog.management.arguments import moment
from metacog.models import Agent, Team
from metacog.runtime.file_errors import cannot_be


class Command(BaseCommand):
    help = "Export the audit log, keep an anchor of it, or verify that it is whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        verify = parts.add_parser("verify", help="check every event and seal; exit status 1 and what is wrong")
        verify.add_argument("--anchor", type=Path, metavar="FILE", help="an anchor that was kept: finds a cut tail")
        export = parts.add_parser("export", help="write events to standard output, one JSON object a line")
        export.add_argument("--since", type=moment, help="first moment (UTC), or first day")
        export.add_argument(
            "--until", type=partial(moment, end=True), help="moment before which to end (UTC), or last day"
        )
        export.add_argument("--team", help="one team, by name")
        export.add_argument("--agent", help="one agent, by id or name")
        export.add_argument("--anchor", type=Path, metavar="FILE", help="write an anchor of the record there, too")
        parts.add_parser("anchor", help="seal pending events and print the anchor, to be kept somewhere else")

    def handle(self, *args: Any, part: str, **options: Any) -> None:
        getattr(self, f"_{part}")(**options)

    def _verify(self, *, anchor: Path | None, **options: Any) -> None:
        report = chain.verify(_read(anchor) if anchor else None)
        if report.problems:
            raise CommandError("\n".join(report.problems))
        last = f", the last of {chain.instant(report.sealed_at)}" if report.sealed_at else ""
        self.stdout.write(
            f"The record is whole: {report.events:,} event{pluralize(report.events)} under "
            f"{report.seals:,} seal{pluralize(report.seals)}{last}, "
            f"and {report.unsealed:,} not sealed yet. "
            + ("It reaches to the anchor." if anchor else "Only an anchor can show that its end was not cut off.")
        )

    def _export(
        self,
        *,
        since: datetime | None,
        until: datetime | None,
        team: str | None,
        agent: str | None,
        anchor: Path | None,
        **options: Any,
    ) -> None:
        teams = None if team is None else [_team(team).pk]
        filters = log.Filters(
            agent=_agent(agent, teams).public_id if agent is not None else "", since=since, until=until
        )
        if anchor:
            _write(anchor)
        for line in log.lines(log.matching(filters, teams)):
            self.stdout.write(line, ending="")

    def _anchor(self, **options: Any) -> None:
        self.stdout.write(json.dumps(_latest()))


def _latest() -> Mapping[str, Any]:
    chain.seal()
    latest = chain.anchor()
    if latest is None:
        raise CommandError("There is no event yet, so there is nothing to anchor.")
    return latest


def _write(path: Path) -> None:
    try:
        chain.write_anchor(_latest(), path)
    except OSError as error:
        raise CommandError(cannot_be("written", path, error)) from None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        kept = json.loads(path.read_text("utf-8-sig"))
        if isinstance(kept["seal"], int) and isinstance(kept["digest"], str):
            anchor: Mapping[str, Any] = kept
            return anchor
    except OSError as error:
        raise CommandError(cannot_be("read", path, error)) from None
    except (ValueError, TypeError, KeyError):
        pass
    raise CommandError(f"{path} is no anchor: it has no seal and digest.")


def _team(name: str) -> Team:
    team = Team.objects.filter(name=name).first()
    if team is None:
        raise CommandError(f"There is no team called {name!r}.")
    return team


def _agent(name: str, teams: list[int] | None) -> Agent:
    agents = Agent.objects.filter(Q(public_id=name) | Q(name=name))
    if teams is not None:
        agents = agents.filter(team__in=teams)
    found = list(agents[:2])
    if len(found) != 1:
        problem = "Several teams have an" if found else "There is no"
        raise CommandError(f"{problem} agent called {name!r}" + ("; give its id." if found else "."))
    return found[0]
