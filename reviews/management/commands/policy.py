"""`manage.py policy`: print an agent's policy with its rules, and put another into force from a file or with a pack."""

from __future__ import annotations

import dataclasses
import difflib
import getpass
import io
import itertools
import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.template.defaultfilters import pluralize

from metacog import heuristics
from metacog.accounts import agents
from metacog.accounts.rule_forms import plain, what_it_does
from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.pack import packs, with_pack
from metacog.heuristics.tool_calls.rules import errors_in, is_own
from metacog.heuristics.wire import wire
from metacog.heuristics.wire.strict_yaml import load_yaml
from metacog.management.commands.agent import find, settings_in
from metacog.models import Agent, Policy, Team
from metacog.runtime.file_errors import cannot_be
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import as_scored, scorer_shown
from reviews.held.calls import rule_changes
from reviews.held.calls.rule_changes import Listed, Waiting
from reviews.held.decisions import Change, Circumstances
from reviews.presentation.calls.rule_tallies import of_rule
from reviews.presentation.calls.waiting import lines
from reviews.presentation.rule_words import in_words
from reviews.scoring.calls_preview import CallsPreview, RuleTally, TeamPreview, calls_preview
from reviews.scoring.preview import DAYS, MOST, preview
from reviews.scoring.team_drafts import TeamDraft

# What decides with an agent's policy and is no part of its file, and whose it is.
OTHERS = {
    "language": "is the agent's, and no part of its policy",
    "team_rules": "are the team's, and no part of a policy; see `policy show-team`",
}


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
        text = "print a team's rules on tool calls, which come before those of all its agents' policies, as YAML"
        show_team = actions.add_parser("show-team", help=text, description=text)
        show_team.add_argument("--json", action="store_true", help="as JSON")
        text = "make what a file holds the next version of a team's rules; print the diff and a backtest"
        apply_team = actions.add_parser("apply-team", help=text, description=text)
        for command in (show_team, apply_team):
            command.add_argument("team", metavar="TEAM", help="its name")
        text = "a list of rules, or `rules` with one, as `show-team` prints it, YAML or JSON"
        apply_team.add_argument("file", type=Path, metavar="FILE", help=text)
        for command in (apply, apply_team):
            command.add_argument("--dry-run", action="store_true", help="write nothing")
            text = "release the pending calls that it allows, and reject those that it denies, as they are listed"
            command.add_argument("--settle", action="store_true", help=text)

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        # Told when all is done: who reads no further (`| head`) would stop it before anything is written.
        reader, self.stdout = self.stdout, OutputWrapper(io.StringIO())
        try:
            self._do(action, options)
        finally:
            reader.write(self.stdout.getvalue(), ending="")

    def _do(self, action: str, options: dict[str, Any]) -> None:
        if action == "packs":
            self._packs(options["name"], options["json"])
            return
        if action in ("show-team", "apply-team"):
            self._team(options["team"], options)
            return
        agent = find_agent(options["agent"])
        current = Policy.objects.select_related("agent").get(agent=agent, version=agent.policy_version)
        if current.faults:
            self.stderr.write(f"{UnreadablePolicy(current)}. The default stands in its place.")
        if action == "show":
            told = as_told(current)
            shown = json.dumps(told, ensure_ascii=False, indent=2) if options["json"] else as_yaml(told)
            self.stdout.write(shown.rstrip("\n"))
            if version := agent.team.rules_version:
                named = f"Version {version} of the rules of {agent.team} comes first"
                self.stderr.write(f"{named}: `policy show-team` prints it.")
        else:
            path, pack = options["file"], options["pack"]
            if path and options["set"]:
                raise CommandError("--set goes with --pack.")
            draft = self._read(path) if path else self._with_pack(current, pack, settings_in(options["set"]))
            self._apply(agent, current, draft, path or Path(pack), options)

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

    def _apply(self, agent: Agent, current: Policy, draft: Policy, path: Path, options: Mapping[str, Any]) -> None:
        before, after = as_told(current), as_told(draft)
        if before == after and not current.faults:
            self.stdout.write(f"{agent}: nothing changes; policy {current.version} stays in force.")
            found = self._tell_waiting(Waiting.of({agent.pk: scorer_shown(agent)}, [agent]), options)
            self._settle([agent], found, Change(current.created_by, policy_version=current.version))
            return
        self._diff(before, after, "policy", current.version)
        self._tell(agent, draft)
        scorer = scorer_shown(agent).with_policy(as_scored(agent, draft))
        listed = self._tell_waiting(Waiting.of({agent.pk: scorer}, [agent]), options)
        if options["dry_run"]:
            self.stdout.write(f"Nothing was written: policy {current.version} stays in force.")
            return
        version, os_user = current.version, _os_user()
        try:
            _saved, count = rule_changes.change_policy(agent, None, draft, listed, based_on=version, os_user=os_user)
        except agents.PolicyMoved:
            raise CommandError("Another version came into force meanwhile; nothing was written.") from None
        except ValidationError as error:
            self._refuse(path, [(f"/{field}", each) for field, told in _by_field(error) for each in told])
        self.stdout.write(f"Policy {draft.version} of {agent} is in force.")
        self._tell_settled(listed, count)

    def _team(self, name: str, options: Mapping[str, Any]) -> None:
        team = Team.objects.filter(name=name).first()
        if team is None:
            raise CommandError(f"There is no team {name}.")
        current = agents.team_rules_in_force(team)
        before = {"rules": current.rules}
        if "file" not in options:
            shown = json.dumps(before, ensure_ascii=False, indent=2) if options["json"] else as_yaml(before)
            self.stdout.write(shown.rstrip("\n"))
            return
        path, rules = options["file"], self._read_team(options["file"])
        draft = TeamDraft.of(team, rules)
        waiting = Waiting.of(draft.scorers, draft.agents)
        if current.rules == rules:
            self.stdout.write(f"{team}: nothing changes; version {current.version} of its rules stays in force.")
            listed = self._tell_waiting(waiting, options)
            self._settle(draft.agents, listed, Change(current.created_by, rules_version=current.version))
            return
        self._diff(before, {"rules": rules}, "rules", current.version)
        found = draft.preview(MOST)
        self.stdout.write(f"\nOn the last {DAYS} days:")
        self._tell_calls(found)
        for tally in found.rules[:-1]:
            assert tally.rule
            self._tell_rule(f"Rule {tally.rule['place']}", tally)
        self.stdout.write("")
        listed = self._tell_waiting(waiting, options)
        if options["dry_run"]:
            self.stdout.write(f"Nothing was written: version {current.version} stays in force.")
            return
        note, os_user = f"policy apply-team {path.name}"[:300], _os_user()
        try:
            saved = agents.change_team_rules(team, None, rules, note, based_on=current.version, os_user=os_user)
        except agents.PolicyMoved:
            raise CommandError("Another version came into force meanwhile; nothing was written.") from None
        self.stdout.write(f"Version {saved.version} of the rules of {team} is in force.")
        self._settle(draft.agents, listed, Change(rules_version=saved.version))

    def _read_team(self, path: Path) -> list[dict[str, Any]]:
        try:
            given = read_file(path)
        except heuristics.PolicyError as error:
            self._refuse(path, error.errors, "no rules")
        rules = given["rules"] if isinstance(given, Mapping) and list(given) == ["rules"] else given
        if errors := errors_in(rules):
            self._refuse(path, [(pointer(loc), detail) for loc, detail in errors], "no rules")
        return [plain(rule) for rule in rules]

    def _diff(self, before: Any, after: Any, what: str, version: int) -> None:
        old, new = as_yaml(before).splitlines(), as_yaml(after).splitlines()
        for line in difflib.unified_diff(old, new, f"{what} {version}", f"{what} {version + 1}", lineterm=""):
            self.stdout.write(line)

    def _tell_waiting(self, found: Waiting, options: Mapping[str, Any]) -> Listed:
        """List the pending calls that rules allow or deny; return those that are to be decided."""
        for calls, would in ((found.passing, "pass"), (found.denied, "be denied")):
            if calls:
                self.stdout.write(f"{len(calls):,} pending call{pluralize(len(calls))} would {would}:")
            for line in lines(calls):
                self.stdout.write(f"  {line.held} {line.agent}: {line.name} {line.command}")
                self.stdout.write(f"    {line.effects}")
        if found.is_bounded:
            self.stdout.write("Only the calls that have waited longest were read.")
        return found.listed if options["settle"] and not options["dry_run"] else Listed()

    def _settle(self, owned: Sequence[Agent], listed: Listed, change: Change) -> None:
        how = Circumstances(change=change)
        self._tell_settled(listed, rule_changes.settle(owned, listed, how) if listed else rule_changes.NONE)

    def _tell_settled(self, listed: Listed, count: rule_changes.Count) -> None:
        if listed:
            self.stdout.write(f"{count.released:,} released, {count.rejected:,} rejected.")

    def _read(self, path: Path) -> Policy:
        """Return what a file holds as a version; CommandError once everything that is wrong is told."""
        try:
            policy = policy_in(path)
        except heuristics.PolicyError as error:
            self._refuse(path, error.errors)
        values = {name: value for name, value in policy.as_dict().items() if name not in OTHERS}
        draft = Policy(**values | {"marks": policy.marks or {}}, note=f"policy apply {path.name}"[:300])
        try:
            draft.clean_fields(exclude=["agent", "version", "created_by"])
        except ValidationError as invalid:
            self._refuse(path, [(f"/{field}", each) for field, told in _by_field(invalid) for each in told])
        return draft

    def _tell_calls(self, found: CallsPreview | TeamPreview) -> None:
        self.stdout.write(f"  {found.calls:,} tool call{pluralize(found.calls)}")
        for fate in ("asked", "allowed", "denied"):
            self.stdout.write(f"    {fate}: {found.now.fates[fate]:,} → {found.then.fates[fate]:,}")

    def _tell_rule(self, named: str, tally: RuleTally) -> None:
        assert tally.rule
        self.stdout.write(f"  {named}, {what_it_does(tally.rule, in_words)}:\n    {of_rule(tally)}")

    def _refuse(self, path: Path, errors: Sequence[tuple[str, str]], nothing: str = "no policy") -> NoReturn:
        for place, detail in errors:
            self.stderr.write(f"{path}: {place or '(the whole)'}: {detail}")
        raise CommandError(f"{path} holds {nothing}; nothing was written.")

    def _tell(self, agent: Agent, draft: Policy) -> None:
        """Say what the draft would have done on what is stored."""
        rules, scorer = as_scored(agent, draft), scorer_shown(agent)
        words, calls = preview(agent, scorer, rules), calls_preview(agent, scorer, rules)
        self.stdout.write(f"\nOn the last {DAYS} days:")
        self.stdout.write(f"  {words.responses:,} response{pluralize(words.responses)}")
        for name, was, will in (
            ("trigger", words.now.triggered, words.then.triggered),
            ("items marked", words.now.marked, words.then.marked),
            ("items held", words.now.held, words.then.held),
        ):
            self.stdout.write(f"    {name}: {was:,} → {will:,}")
        self._tell_calls(calls)
        number = itertools.count(1)
        for each in calls.rules:
            if each.rule and is_own(each.rule):
                self._tell_rule(f"Rule {next(number)}", each)
            elif each.rule and each.calls:
                given = "{pack} {version}" if "pack" in each.rule else "The team's rules {version}"
                self._tell_rule(f"{given}, rule {{place}}".format_map(each.rule), each)
            elif each.calls:
                self.stdout.write(f"  Other tool calls:\n    {of_rule(each)}")
        if calls.erased:
            self.stdout.write(f"  {calls.erased:,} tool call{pluralize(calls.erased)} left out: erased since")
        self.stdout.write("")


def read_file(path: Path) -> Any:
    """Return the JSON or YAML of a file; PolicyError says what is wrong, CommandError that it cannot be read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(cannot_be("read", path, error)) from None
    try:
        return wire.load_file(raw) if raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else load_yaml(raw)
    except heuristics.Refused as refusal:
        raise heuristics.PolicyError([(each["pointer"], each["detail"]) for each in refusal.errors]) from None


def policy_in(path: Path) -> heuristics.Policy:
    """Return the policy that a file holds, as `show` prints one; PolicyError says what is wrong, and where.

    CommandError where the file cannot be read.
    """
    given, errors = read_file(path), []
    if isinstance(given, Mapping):
        errors += [(f"/{name}", whose) for name, whose in OTHERS.items() if name in given]
        # Held words as a new agent has it.
        given = {"hold_words_with_calls": True} | {name: value for name, value in given.items() if name not in OTHERS}
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
    for name in OTHERS:
        del told[name]
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
