"""Score stored responses again, through another policy or set of patterns, and say what would change."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize
from pydantic_core import from_json

from metacog import heuristics
from metacog.heuristics.wire import wire
from metacog.models import Agent, Language
from metacog.runtime.file_errors import cannot_be
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import scorer_for
from reviews.management import days_ago
from reviews.models import AgentResponse
from reviews.scoring.history import told_before

PROGRESS = 10_000  # responses between two lines that say how far it is


class Command(BaseCommand):
    """Nothing is written: the stored verdicts stay the record."""

    help = "Score stored responses through another policy or set of patterns; print what would change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agent", metavar="NAME", help="one agent (default: all)")
        parser.add_argument("--team", help="of which team")
        parser.add_argument("--days", type=int, help="responses of so many days (default: all that are stored)")
        parser.add_argument("--policy", type=Path, metavar="FILE", help="a JSON object: what differs from the policy")
        parser.add_argument(
            "--patterns", type=Path, metavar="FILE", help="patterns to use instead of the team's patterns"
        )
        parser.add_argument("--json", action="store_true", help="print a line of JSON for each item that would change")

    def handle(self, *args: Any, **options: Any) -> None:
        agents = Agent.objects.select_related("team").order_by("team__name", "name")
        for name, field in (("agent", "name"), ("team", "team__name")):
            if options[name]:
                agents = agents.filter(**{field: options[name]})
        if not agents:
            raise CommandError("Unknown agent." if options["agent"] or options["team"] else "No agent yet.")
        policy = self._read(options["policy"], dict, "a JSON object")
        patterns = self._read_patterns(options["patterns"])
        for agent in agents:
            try:
                scorer = _scorer(agent, policy, patterns)
            except (heuristics.PolicyError, heuristics.PatternError) as error:
                raise CommandError(f"{agent}: {error}.") from None
            self._rescore(agent, scorer, options["days"], options["json"])

    def _rescore(self, agent: Agent, scorer: heuristics.Scorer, days: int | None, as_json: bool) -> None:
        stored = AgentResponse.objects.filter(agent=agent, erased_at=None).order_by("pk")
        if days is not None:
            stored = stored.filter(received_at__gte=days_ago(days))
        changes, responses = Counter[str](), 0
        rows = stored.values_list("public_id", "body", "verdict", "history")
        for public_id, raw, answered, history in rows.iterator(chunk_size=20):
            responses += 1
            if responses % PROGRESS == 0 and self.stderr.isatty():
                self.stderr.write(f"{agent.team} / {agent}: {responses:,} responses so far")
            body, before = from_json(raw), from_json(answered)
            recognised = {item["index"]: item["recognised"] for item in before["items"] if item["recognised"]}
            doubts, items = scorer.dispose(
                body, recognised, told=told_before(history), hesitation=agent.hesitation_enabled
            )
            # An engine of before may have found more tags, or fewer.
            for index, pair in enumerate(zip_longest(before["items"], items)):
                was, would = (item["disposition"] if item else "no item" for item in pair)
                if was == would:
                    continue
                change = f"{was} → {would}"
                changes[change] += 1
                if as_json:
                    kind = (pair[0] or pair[1])["kind"]
                    line = {"agent": agent.public_id, "response": public_id, "index": index, "kind": kind}
                    scores = [before["hesitation"] and before["hesitation"]["score"], doubts and doubts.score]
                    line |= {"was": was, "would": would, "scores": scores}
                    self.stdout.write(json.dumps(line, ensure_ascii=False))
        if not as_json:
            told = ", ".join(f"{change}: {count:,}" for change, count in sorted(changes.items())) or "nothing"
            scored = f"{responses:,} response{pluralize(responses)}"
            self.stdout.write(f"{agent.team} / {agent}: {scored}; what would change: {told}")

    def _read_patterns(self, path: Path | None) -> list[Any] | None:
        wanted = "a JSON list of patterns, or an object with one as `patterns` or `errorPatterns`"
        patterns, _left = heuristics.patterns_in(self._read(path, (list, dict), wanted))
        if path is not None and patterns is None:
            raise CommandError(f"{path} must hold {wanted}.")
        return patterns

    def _read(self, path: Path | None, kind: type | tuple[type, ...], wanted: str) -> Any:
        if path is None:
            return None
        try:
            value = wire.load_file(path.read_bytes())
        except OSError as error:
            raise CommandError(cannot_be("read", path, error)) from None
        except heuristics.Refused as refusal:
            raise CommandError(f"{path}: {refusal.detail}") from None
        if not isinstance(value, kind):
            raise CommandError(f"{path} must hold {wanted}.")
        return value


def _scorer(agent: Agent, policy: dict[str, Any] | None, patterns: list[Any] | None) -> heuristics.Scorer:
    try:
        in_force = scorer_for(agent)
    except UnreadablePolicy as error:
        raise CommandError(f"{error}.") from None
    rules = in_force.policy
    if policy is not None:
        rules = heuristics.Policy.from_dict({**rules.as_dict(), "language": Language(agent.language).bcp47, **policy})
    return in_force.with_policy(rules) if patterns is None else heuristics.Scorer(patterns, rules)
