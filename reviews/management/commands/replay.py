"""Make stored verdicts again, and say where the stored ones differ."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.management import days_ago
from reviews.models import AgentResponse
from reviews.scoring.replay import Replay, Replayer

PROGRESS = 10_000  # responses between two lines that say how far it is


class Command(BaseCommand):
    """Nothing is written: the stored verdicts stay the record."""

    help = (
        "Repeat stored assessments with the policy, patterns and history of their day; print the differences. "
        "Exit status 1 when one differs although its inputs are the same."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="*", metavar="RESPONSE_ID", help="these responses (default: all)")
        parser.add_argument("--agent", metavar="NAME", help="one agent's")
        parser.add_argument("--team", help="of which team")
        parser.add_argument("--days", type=int, help="those of so many days")
        parser.add_argument("--json", action="store_true", help="print a line of JSON for each response")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = AgentResponse.objects.select_related("agent__team").order_by("pk")
        for name, field in (("agent", "agent__name"), ("team", "agent__team__name")):
            if options[name]:
                rows = rows.filter(**{field: options[name]})
                if not rows.exists():
                    raise CommandError(f"Nothing is stored of the {name} {options[name]}.")
        if options["days"] is not None:
            rows = rows.filter(received_at__gte=days_ago(options["days"]))
        if options["ids"]:
            rows = rows.filter(public_id__in=options["ids"])
            if unknown := set(options["ids"]) - set(rows.values_list("public_id", flat=True)):
                raise CommandError(f"Unknown response: {', '.join(sorted(unknown))}.")
        counts, replayer = Counter[str](), Replayer()
        for number, response in enumerate(rows.iterator(chunk_size=20), 1):
            if number % PROGRESS == 0 and self.stderr.isatty():
                self.stderr.write(f"{number:,} responses so far")
            self._tell(replayer.replay(response), counts, options["json"])
        if not options["json"]:
            told = "".join(f"; {what}: {count:,}" for what, count in sorted(counts.items()))
            self.stdout.write(f"responses: {counts.total():,}{told}")
        if counts[WRONG]:
            raise SystemExit(1)

    def _tell(self, found: Replay, counts: Counter[str], as_json: bool) -> None:
        outcome = _outcome(found)
        counts[outcome] += 1
        differences, unlike = found.differences, [each.value for each in found.unlike]
        if as_json:
            line = {"response": found.response.public_id, "equal": found.is_equal, "unlike": unlike}
            line["differences"] = [asdict(each) for each in differences]
            self.stdout.write(json.dumps(line, ensure_ascii=False))
        elif not found.is_equal:
            why = f" ({', '.join(unlike)})" if unlike else ""
            self.stdout.write(f"{found.response.public_id}: {outcome}{why}")
            for each in differences:
                self.stdout.write(f"  {each.pointer}: {each.stored} → {each.made}")


WRONG = "differs without a reason"


def _outcome(found: Replay) -> str:
    if found.is_equal:
        return "equal"
    if found.is_wrong:
        return WRONG
    return "differs for a reason" if found.verdict else "cannot be run again"
