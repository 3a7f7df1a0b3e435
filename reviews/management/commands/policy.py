"""`manage.py policy`: print an agent's policy with its rules, and put another into force from a file or with a pack."""

from __future__ import annotations

import dataclasses
import difflib
import getpass
import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from metacog import heuristics
from metacog.accounts import agents
from metacog.accounts.rule_forms import what_it_does
from metacog.heuristics.tool_calls.pack import packs, with_pack
from metacog.heuristics.wire import wire
from metacog.heuristics.wire.strict_yaml import load_yaml
from metacog.management.commands.agent import find, settings_in
from metacog.models import Agent, Policy
from metacog.runtime.file_errors import cannot_be
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import scorer_shown
from reviews.presentation.calls.rule_tallies import of_rule
from reviews.presentation.rule_words import in_words
from reviews.scoring.calls_preview import calls_preview
from reviews.scoring.preview import DAYS, preview

LANGUAGE = "language"  # the agent's own, no part of its policy's file


class Command(BaseCommand):
    help = "Print an agent's policy with its rules on tool calls, or put another into force: a file's, or with a pack."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        text = "print the policy in force as YAML"
        show = actions.add_parser("show", help=text, description=text)
        show.add_argument("--json", action="store_true", help="as JSON")
        text = "print the packs of rules, with what each asks, what passes, and what it was measured to do"
        packs = actions.add_parser("packs", help=text, description=text)
        packs.add_argument("name", nargs="?", metavar="NAME", help="this one, with its rules as sentences")
        packs.add_argument("--json", action="store_true", help="as JSON, with their rules")
        text = "make what a file holds the agent's next version, or add a pack; print the diff and a backtest"
        apply = actions.add_parser("apply", help=text, description=text)
        for command in (show, apply):
            command.add_argument("agent", metavar="AGENT", help="its name, TEAM/NAME or id")
        source = apply.add_mutually_exclusive_group(required=True)
        text = "the whole policy as `show` prints it, YAML or JSON"
        source.add_argument("file", nargs="?", type=Path, metavar="FILE", help=text)
        source.add_argument("--pack", metavar="NAME", help="the policy in force with this pack of rules")
        text = "what the pack needs to know: workspace=FOLDER, in which the agent works"
        apply.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=text)
        apply.add_argument("--dry-run", action="store_true", help="write nothing")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        if action == "packs":
            self._packs(options["name"], options["json"])
            return
        agent = find_agent(options["agent"])
        current = Policy.objects.select_related("agent").get(agent=agent, version=agent.policy_version)
        if current.faults:
            self.stderr.write(f"{UnreadablePolicy(current)}. The default stands in its place.")
        if action == "show":
            told = as_told(current)
            shown = json.dumps(told, ensure_ascii=False, indent=2) if options["json"] else as_yaml(told)
            self.stdout.write(shown.rstrip("\n"))
        else:
            path, pack = options["file"], options["pack"]
            if path and options["set"]:
                raise CommandError("--set goes with --pack.")
            draft = self._read(path) if path else self._with_pack(current, pack, settings_in(options["set"]))
            self._apply(agent, current, draft, path or Path(pack), options["dry_run"])

    def _packs(self, name: str | None, is_json: bool) -> None:
        if name is not None and name not in packs():
            raise CommandError(f"There is no pack {name}. There are: {', '.join(packs())}.")
        chosen = [packs()[name]] if name else list(packs().values())
        if is_json:
            told = [dataclasses.asdict(pack) for pack in chosen]
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
            return
        for pack in chosen:
            self.stdout.write(f"{pack.name} {pack.version}: {pack.title}")
            self.stdout.write(f"  asks: {pack.asks}\n  passes: {pack.passes}")
            for calls, measured in pack.measured.items():
                self.stdout.write(f"  {calls}: {measured}")
            for rule in pack.rules if name else ():
                self.stdout.write(f"{rule['do']}: {rule['reason']}\n    {in_words(rule)}")

    def _with_pack(self, current: Policy, name: str, settings: Mapping[str, str]) -> Policy:
        if name not in packs():
            raise CommandError(f"There is no pack {name}; nothing was written. There are: {', '.join(packs())}.")
        values = current.as_dict() | {"packs": with_pack(current.packs, name, settings.get("workspace"))}
        try:
            heuristics.Policy.from_dict(values)
        except heuristics.PolicyError as error:
            self._refuse(Path(name), error.errors)
        return Policy(**values | {"marks": values["marks"] or {}}, note=f"policy apply --pack {name}"[:300])

    def _apply(self, agent: Agent, current: Policy, draft: Policy, path: Path, is_dry: bool) -> None:
        before, after = as_told(current), as_told(draft)
        if before == after and not current.faults:
            self.stdout.write(f"{agent}: nothing changes; policy {current.version} stays in force.")
            return
        lines = difflib.unified_diff(
            as_yaml(before).splitlines(),
            as_yaml(after).splitlines(),
            f"policy {current.version}",
            f"policy {current.version + 1}",
            lineterm="",
        )
        for line in lines:
            self.stdout.write(line)
        self._tell(agent, draft)
        if is_dry:
            self.stdout.write(f"Nothing was written: policy {current.version} stays in force.")
            return
        try:
            agents.add_policy(agent, None, draft, based_on=current.version, os_user=_os_user())
        except agents.PolicyMoved:
            raise CommandError("Another version came into force meanwhile; nothing was written.") from None
        except ValidationError as error:
            self._refuse(path, [(f"/{field}", each) for field, told in _by_field(error) for each in told])
        self.stdout.write(f"Policy {draft.version} of {agent} is in force.")

    def _read(self, path: Path) -> Policy:
        """Return what a file holds as a version; CommandError once everything that is wrong is told."""
        try:
            policy = policy_in(path)
        except heuristics.PolicyError as error:
            self._refuse(path, error.errors)
        values = {name: value for name, value in policy.as_dict().items() if name != LANGUAGE}
        draft = Policy(**values | {"marks": policy.marks or {}}, note=f"policy apply {path.name}"[:300])
        try:
            draft.clean_fields(exclude=["agent", "version", "created_by"])
        except ValidationError as invalid:
            self._refuse(path, [(f"/{field}", each) for field, told in _by_field(invalid) for each in told])
        return draft

    def _refuse(self, path: Path, errors: list[tuple[str, str]]) -> Any:
        for pointer, detail in errors:
            self.stderr.write(f"{path}: {pointer or '(the whole)'}: {detail}")
        raise CommandError(f"{path} holds no policy; nothing was written.")

    def _tell(self, agent: Agent, draft: Policy) -> None:
        """Say what the draft would have done on what is stored."""
        rules, scorer = heuristics.Policy.from_dict(draft.as_dict()), scorer_shown(agent)
        words, calls = preview(agent, scorer, rules), calls_preview(agent, scorer, rules)
        self.stdout.write(f"\nOn the last {DAYS} days:")
        self.stdout.write(f"  {words.responses:,} response{pluralize(words.responses)}")
        for name, was, will in (
            ("trigger", words.now.triggered, words.then.triggered),
            ("items marked", words.now.marked, words.then.marked),
            ("items held", words.now.held, words.then.held),
        ):
            self.stdout.write(f"    {name}: {was:,} → {will:,}")
        self.stdout.write(f"  {calls.calls:,} tool call{pluralize(calls.calls)}")
        for fate in ("asked", "allowed", "denied"):
            self.stdout.write(f"    {fate}: {calls.now.fates[fate]:,} → {calls.then.fates[fate]:,}")
        for number, each in enumerate(calls.rules, 1):
            if each.rule and (each.calls or "pack" not in each.rule):
                named = f"Rule {number}"
                if "pack" in each.rule:
                    named = "{pack} {version}, rule {place}".format_map(each.rule)
                self.stdout.write(f"  {named}, {what_it_does(each.rule, in_words)}:\n    {of_rule(each)}")
            elif each.calls:
                self.stdout.write(f"  Other tool calls:\n    {of_rule(each)}")
        if calls.erased:
            self.stdout.write(f"  {calls.erased:,} tool call{pluralize(calls.erased)} left out: erased since")
        self.stdout.write("")


def policy_in(path: Path) -> heuristics.Policy:
    """Return the policy that a file holds, as `show` prints one; PolicyError says what is wrong, and where.

    CommandError where the file cannot be read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(cannot_be("read", path, error)) from None
    try:
        given = wire.load_file(raw) if raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else load_yaml(raw)
    except heuristics.Refused as refusal:
        raise heuristics.PolicyError([(each["pointer"], each["detail"]) for each in refusal.errors]) from None
    errors = []
    if isinstance(given, Mapping) and LANGUAGE in given:
        errors.append((f"/{LANGUAGE}", "is the agent's, and no part of its policy"))
        given = {name: value for name, value in given.items() if name != LANGUAGE}
    if isinstance(given, Mapping):
        given = {"hold_words_with_calls": True, **given}  # as a new agent has it
    try:
        policy = heuristics.Policy.from_dict(given)
    except heuristics.PolicyError as error:
        raise heuristics.PolicyError(errors + error.errors) from None
    if errors:
        raise heuristics.PolicyError(errors)
    return policy


def find_agent(named: str) -> Agent:
    """Return the agent of this id, TEAM/NAME or name; CommandError when there is none, or more than one."""
    agents = Agent.objects.select_related("team")
    if by_id := agents.filter(public_id=named).first():
        return by_id
    in_teams = [(named[:at], named[at + 1 :]) for at, character in enumerate(named) if character == "/"]
    for team, name in in_teams:
        if found := agents.filter(team__name=team, name=name).first():
            return found
    return find(named, None)


def as_told(policy: Policy) -> dict[str, Any]:
    """Give a policy as a file has it: every field, the rules last."""
    told = heuristics.Policy.from_dict(policy.as_dict()).as_dict()
    del told[LANGUAGE]
    told["marks"] = told["marks"] or None
    told |= {name: [dict(each) for each in told[name]] for name in ("rules", "packs", "programs")}
    last = {
        name: told.pop(name)
        for name in ("readers", "programs", "trusted_servers", "rules", "packs", "default_tool_call")
    }
    return told | last


def as_yaml(value: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


class _Dumper(yaml.SafeDumper):
    """Without the anchors of what stands twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _by_field(error: ValidationError) -> Iterator[tuple[str, list[str]]]:
    found = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    yield from found.items()


def _os_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
