"""Fit weights to people's verdicts on an agent, and say whether they would have done better."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from metacog.heuristics.hesitation.weight_fit import ENOUGH, ENOUGH_OF_EACH, Fit
from metacog.heuristics.ranking.learning import NAMES
from metacog.models import Agent
from reviews.metrics import weight_fits

RULES = {
    "fitted": "the fitted weights",
    "in_force": "the weights in force",
    "seed": "the seed's weights",
    "length": "plain length",
}


class Command(BaseCommand):
    """Nothing is written: the worker keeps its own for the policy page."""

    help = "Fit weights to people's decisions of the last 90 days; print how they compare with those in force."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agent", metavar="NAME", required=True)
        parser.add_argument("--team", help="of which team")
        parser.add_argument("--json", action="store_true", help="print all that was found as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        agents = Agent.objects.filter(name=options["agent"]).select_related("team").order_by("team__name")
        if options["team"]:
            agents = agents.filter(team__name=options["team"])
        if not agents:
            raise CommandError("Unknown agent.")
        for agent in agents:
            found = weight_fits.fit(agent)
            if options["json"]:
                self.stdout.write(json.dumps({"agent": agent.public_id, **found.as_dict()}, ensure_ascii=False))
            else:
                self.stdout.write(f"{agent.team} / {agent}: {_in_words(found)}")


def _in_words(found: Fit) -> str:
    verdicts = f"{found.verdicts:,} decision{pluralize(found.verdicts)}, {found.wrong:,} found the response wrong"
    if found.why_not == "few":
        return f"{verdicts}; {ENOUGH} are needed."
    if found.why_not == "one-sided":
        return f"{verdicts}; the older and the newer must each hold {ENOUGH_OF_EACH} right and {ENOUGH_OF_EACH} wrong."
    if found.why_not == "silent":
        return f"{verdicts}; no signal separates wrong from right responses."
    lines = [f"{verdicts}; of the newest {found.newer:,}, holding {found.held:g} responses:"]
    for name, title in RULES.items():
        caught = found.caught[name]
        told = "unknown" if caught is None else f"{caught:.1f} of {found.newer_wrong:.1f} wrong"
        lines.append(f"  {title}: {told}")
    lines.append(f"  difference from those in force: {found.gain:+.1f} (95% CI {found.low:+.1f} to {found.high:+.1f})")
    weights = ", ".join(f"{name} {weight}" for name, weight in found.weights.items())
    if found.why_not:
        rivals = [NAMES[name] for name in found.gate.as_good] if found.gate else []
        told = f"no better than {', '.join(rivals) or 'what is in force'}"
        lines.append(f"Not offered, {told}: {weights}")
    else:
        lines.append(f"Offered: {weights}; marks from {found.threshold}, holds from {found.hold_at}")
    return "\n".join(lines)
