"""What passes now, by the learned risk: the budget begins with it, and its preview names today."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db.models import Avg, F, Q

from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.text.tags import TOOL_CALL
from metacog.models import Team
from reviews.models import AgentResponse, Decision

LATELY = timedelta(days=7)
MOST = 1_000  # responses, the newest
ENOUGH = 20  # items that passed, from which on these days stand for the next ones
LONGEST_MS = 600_000  # of a look at one item: who takes longer was away


class Passing(NamedTuple):
    """The risks of what passed in the last days and could have been held, in ascending order."""

    risks: list[float]
    days: float  # that they are of
    today: list[float]  # of those, in no order


def passing(team: Team, now: datetime, *, of_calls: bool = False) -> Passing:
    """Read which words or calls passed in a team's newest responses of the last days, with the risks they had then."""
    kinds = (TOOL_CALL,) if of_calls else HELD_KINDS
    since, today = now - LATELY, now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    rows = AgentResponse.objects.posted().filter(
        agent__team=team, received_at__gte=since, hesitation_score__isnull=False, erased_at=None
    )
    newest = rows.order_by("-received_at", "-pk").only("received_at", "verdict")[:MOST]
    risks: list[float] = []
    of_today: list[float] = []
    first = now
    for row in newest.iterator(chunk_size=100):
        first = row.received_at
        for item in row.wire_verdict()["items"]:
            risk = item.get("risk")
            passed = item["disposition"] in ("pass", "mark") or item.get("by_budget", False)
            if risk is None or not passed or item["recognised"] or item["kind"] not in kinds:
                continue
            risks.append(risk)
            if row.received_at >= today:
                of_today.append(risk)
    days = LATELY / timedelta(days=1) if len(risks) < MOST else (now - first) / timedelta(days=1)
    return Passing(sorted(risks), max(days, 1 / 24), of_today)


def seconds_an_item(team: Team, now: datetime, *, of_calls: bool = False) -> float | None:
    """Return how long people looked at words or a call before they decided, of the last 30 days; None: not known."""
    shown = Decision.objects.filter(
        held__team=team, by=Decision.By.PERSON, decided_at__gte=now - timedelta(days=30), shown_ms__lt=LONGEST_MS
    )
    calls = Q(held__kind=TOOL_CALL)
    found = shown.filter(calls if of_calls else ~calls).aggregate(mean=Avg(F("shown_ms")))["mean"]
    return found / 1000 if found else None
