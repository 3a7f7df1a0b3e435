"""`manage.py export decisions`: what was decided, for evaluation and training elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Prefetch

from metacog.heuristics.text.tags import TOOL_CALL
from metacog.heuristics.tool_calls.secrets import masked, masked_call, masked_effects, masked_verdict
from metacog.http import csv_file
from metacog.management.arguments import moment
from patterns.serializers import instant
from reviews.models import Approval, Comment, Decision
from reviews.serializers import decision_shape, held_shape, outcome_shape

AT_ONCE = 100  # rows that are read together: a response may have a megabyte
COLUMNS = (
    "id", "held", "response", "team", "agent", "session", "kind", "text", "name", "arguments", "verdict",
    "released_text", "released_arguments", "reason", "by", "decided_by", "approved_by", "waits_for",
    "held_at", "decided_at", "score", "signals",
    "rule", "user_message", "metadata", "comments",
    "outcome",
)  # fmt: skip


class Command(BaseCommand):
    help = "Write what was decided to standard output, oldest first, each item with all that is known of it."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        decisions = parts.add_parser("decisions", help="released decisions, with their items")
        decisions.add_argument("--since", type=moment, metavar="DATE", help="from this day or moment (UTC) on")
        decisions.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="default jsonl")

    def handle(self, *args: Any, since: datetime | None, format: str, **options: Any) -> None:
        rows = map(_row, _decisions(since))
        if format == "csv":
            cells = ([_cell(row[name]) for name in COLUMNS] for row in rows)
            csv_file.write(self.stdout, _with_head(cells))
            return
        for row in rows:
            self.stdout.write(json.dumps(row, ensure_ascii=False))


def _decisions(since: datetime | None) -> Iterator[Decision]:
    rows = Decision.objects.filter(released_at__isnull=False).select_related(
        "held__response", "held__call__outcome", "held__agent__team", "held__terms", "person", "changed_by"
    )
    said = Comment.objects.exclude(text="").select_related("author").order_by("pk")
    given = Approval.objects.filter(ended_at=None).select_related("person")
    rows = rows.prefetch_related(
        Prefetch("held__comments", said, to_attr="said"), Prefetch("held__approvals", given, to_attr="approved_by")
    )
    if since:
        rows = rows.filter(decided_at__gte=since)
    return rows.order_by("pk").iterator(chunk_size=AT_ONCE)


def _row(decision: Decision) -> dict[str, Any]:
    """Return all that is known of a decided item, secrets masked; what was erased is null or empty."""
    held = decision.held
    item, decided = held_shape(held), decision_shape(decision, names=True)
    body = held.response.wire_body()
    hesitation = item["hesitation"]
    row = {
        "id": decided["id"],
        "held": item["id"],
        "response": item["response"],
        "team": held.agent.team.name,
        "agent": held.agent.name,
        "session": held.response.session,
        "kind": item["kind"],
        "text": masked_call(item["text"]) if item["kind"] == TOOL_CALL else item["text"],
        "name": item.get("name"),
        "arguments": item.get("arguments"),
        "verdict": decided["verdict"],
        "released_text": decided["text"],
        "released_arguments": decided["arguments"],
        "reason": decided["reason"],
        "by": decided["by"],
        "decided_by": decided["decided_by"],
        "approved_by": [each.person.get_username() for each in getattr(held, "approved_by", ())],
        "waits_for": item["waits_for"],
        "held_at": item["held_at"],
        "decided_at": decided["decided_at"],
        "score": hesitation and hesitation["score"],
        "signals": [signal["type"] for signal in hesitation["signals"]] if hesitation else [],
        "rule": item.get("rule"),
        "readable": item.get("readable"),
        "user_message": body.get("user_message"),
        "metadata": item["metadata"],
        "comments": [
            {"author": said.author.get_username(), "at": instant(said.created_at), "text": said.text}
            for said in held.said
        ],
        "outcome": outcome_shape(getattr(held.call, "outcome", None)) if item["kind"] == TOOL_CALL else None,
    }
    effects = masked_effects(item.get("effects", []), item.get("arguments"))
    return {**masked(row), "effects": effects, "assessment": masked_verdict(held.response.wire_verdict(), body)}


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _with_head(rows: Iterator[list[Any]]) -> Iterator[list[Any] | tuple[str, ...]]:
    yield COLUMNS
    yield from rows
