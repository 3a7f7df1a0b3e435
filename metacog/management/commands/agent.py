"""`manage.py agent`: add agents, rotate and end their keys, let them in or refuse them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Count, Q
from django.template.defaultfilters import pluralize
from django.utils import timezone

from metacog.accounts import agents, members
from metacog.heuristics.policy.effect_settings import PACK_FIELDS
from metacog.heuristics.tool_calls.pack import ASKS_ALL, packs
from metacog.models import Agent, Language, Team

MOST_HOURS = 8_760  # a year


class Command(BaseCommand):
    help = "Add agents, rotate and end their keys, let them in or refuse them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        named = {
            "create": "add an agent; its key and signing secret are printed this once",
            "rotate": "give it a new key and secret beside the last ones, printed this once; a third ends the oldest",
            "revoke": "end its older keys and secrets, all but the newest",
            "disable": "refuse every call of it",
            "enable": "let it in again",
            "pause": "hold all it posts, whatever its policy and grants allow",
            "resume": "let its policy decide again",
        }
        for action, text in named.items():
            command = actions.add_parser(action, help=text, description=text)
            command.add_argument("name", metavar="NAME")
            command.add_argument("--team", required=action == "create", help="the team's name")
            if action == "pause":
                command.add_argument("--because", required=True, metavar="REASON", help="kept in the audit log")
                command.add_argument("--hours", type=int, help="after which it ends by itself")
            if action in ("disable", "pause"):
                command.add_argument("--withdraw", action="store_true", help="withdraw what it has pending")
            if action in ("create", "rotate"):
                command.add_argument("--json", action="store_true", help="print one line of JSON")
            if action == "create":
                command.add_argument("--callback-url", default="", metavar="URL")
                command.add_argument("--language", choices=Language.values, default=Language.EN)
                text = f"rules on its tool calls: {', '.join(packs())} (default: {ASKS_ALL}); see `policy packs`"
                command.add_argument("--pack", metavar="NAME", default=ASKS_ALL, help=text)
                text = "of the pack; workspace=/srv/app is the folder that the agent works in"
                command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=text)
        text = "list the agents"
        actions.add_parser("list", help=text, description=text).add_argument("--team", help="the team's name")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            getattr(self, action)(**options)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None

    def create(self, name: str, team: str, callback_url: str, language: str, json: bool, **options: Any) -> None:
        pack = {"name": options["pack"], **settings_in(options["set"])}
        if pack["name"] not in packs():
            raise CommandError(f"There is no pack {pack['name']}: {', '.join(packs())}.")
        with transaction.atomic():
            found = Team.objects.filter(name=agents.check_name(team)).first()
            agent, api_key, secret = agents.create_agent(
                found or members.add_team(agents.check_name(team), None),
                name,
                None,
                language=language,
                callback_url=callback_url,
                packs=[pack],
            )
            self._print(agent, api_key, secret, json)
        if found is None:  # or a name that was mistyped
            self.stderr.write(f"There was no team {agent.team.name}: it was made, and nobody is a member of it yet.")

    def rotate(self, name: str, team: str | None, json: bool, **options: Any) -> None:
        agent = find(name, team)
        with transaction.atomic():
            self._print(agent, *agents.rotate(agent, None), json)

    def revoke(self, name: str, team: str | None, **options: Any) -> None:
        ended = agents.revoke(find(name, team), None)
        self.stdout.write(f"{ended} older key{pluralize(ended)} of {name} ended, secrets too; the newest is live.")

    def disable(self, name: str, team: str | None, withdraw: bool, **options: Any) -> None:
        agent = find(name, team)
        changed = agents.set_enabled(agent, None, False)
        self.stdout.write(f"{name} is refused from now on." if changed else f"{name} was disabled before.")
        self._withdraw(agent, withdraw, "disabled")

    def pause(
        self, name: str, team: str | None, because: str, hours: int | None, withdraw: bool, **options: Any
    ) -> None:
        agent, until = find(name, team), None
        if hours is not None:
            if not 1 <= hours <= MOST_HOURS:
                raise CommandError(f"--hours takes 1 to {MOST_HOURS}.")
            until = timezone.now() + timedelta(hours=hours)
        agents.pause(agent, None, because, until)
        self.stdout.write(f"{name} is paused{f' for {hours} h' if hours else ''}: everything it posts is held.")
        self._withdraw(agent, withdraw, because)

    def resume(self, name: str, team: str | None, **options: Any) -> None:
        changed = agents.resume(find(name, team), None)
        self.stdout.write(f"{name} is resumed: its policy decides again." if changed else f"{name} was not paused.")

    def _withdraw(self, agent: Agent, wanted: bool, because: str) -> None:
        if wanted:
            count = agents.withdraw_items(agent, None, because)
            self.stdout.write(f"{count} held item{pluralize(count)} of it withdrawn.")

    def enable(self, name: str, team: str | None, **options: Any) -> None:
        changed = agents.set_enabled(find(name, team), None, True)
        self.stdout.write(f"{name} is let in again." if changed else f"{name} was enabled before.")

    def list(self, team: str | None, **options: Any) -> None:
        found = Agent.objects.select_related("team").order_by("team__name", "name")
        if team is not None:
            found = found.filter(team=find_team(team))
        for agent in found.annotate(live=Count("keys", filter=Q(keys__revoked_at=None))):
            state = "enabled" if agent.enabled else "disabled"
            keys = f"{agent.live} key{pluralize(agent.live)}"
            self.stdout.write(f"{agent.public_id}  {state:8}  {keys:6}  {agent.team} / {agent.name}")

    def _print(self, agent: Agent, api_key: str, signing_secret: str, as_json: bool) -> None:
        """Show a key while nothing is settled: where it cannot be shown, there shall be none."""
        if as_json:
            shown = {
                "id": agent.public_id,
                "team": agent.team.name,
                "api_key": api_key,
                "signing_secret": signing_secret,
            }
            self.stdout.write(json.dumps(shown, ensure_ascii=False))
        else:
            self.stdout.write(
                f"Agent           {agent.name} of {agent.team.name}\n"
                f"Id              {agent.public_id}\n"
                f"API key         {api_key}\n"
                f"Signing secret  {signing_secret}\n"
                "Key and secret are never shown again."
            )
        self.stdout.flush()


def find(name: str, team: str | None) -> Agent:
    """Return the agent of this name; CommandError when there is none, or more than one."""
    found = Agent.objects.select_related("team").filter(name=name).order_by("team__name")
    if team is not None:
        found = found.filter(team=find_team(team))
    agents = list(found)
    if not agents:
        raise CommandError(f"There is no agent {name!r}{f' in the team {team!r}' if team else ''}.")
    if len(agents) > 1:
        teams = ", ".join(agent.team.name for agent in agents)
        raise CommandError(f"Several teams have an agent {name!r}: say which with --team ({teams}).")
    return agents[0]


def find_team(name: str) -> Team:
    team = Team.objects.filter(name=name).first()
    if team is None:
        raise CommandError(f"There is no team {name!r}.")
    return team


def settings_in(given: Sequence[str]) -> dict[str, str]:
    """Return what `--set NAME=VALUE` sets of a pack; CommandError where it is nothing that a pack has."""
    found = {}
    for each in given:
        name, is_set, value = each.partition("=")
        if name not in PACK_FIELDS[1:] or not is_set or not value:
            raise CommandError(f"--set {each}: write {', '.join(f'{field}=VALUE' for field in PACK_FIELDS[1:])}.")
        found[name] = value
    return found
