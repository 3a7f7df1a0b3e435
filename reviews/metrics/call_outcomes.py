"""What became of the tool calls that people approved, by agent, as the agents reported it.

Counted from the rows when it is asked for: a report may come at any time, and there are only as many of these calls as
people have approved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Q

from metacog.models import Agent
from reviews.metrics.daily import start_of
from reviews.models import CallOutcome, HeldItem

Status = CallOutcome.Status


@dataclass(frozen=True)
class CallOutcomes:
    """How many calls of an agent were approved, and what became of them: the other five add up to it."""

    agent: Agent
    approved: int
    done: int
    failed: int
    skipped: int
    never_reported: int  # for a day and longer
    open: int  # approved less than a day ago


FATES = ("approved", "done", "failed", "skipped", "never_reported", "open")


def by_agent(agents: Sequence[Agent], first: date, last: date, now: datetime) -> list[CallOutcomes]:
    """Count the approved calls held on these days, in one query; agents without one are left out."""
    status = "call__outcome__status"
    unreported = Q(call__outcome=None)
    start = start_of(first)
    # Nothing is decided before it is held: so much of the index by decision is read.
    items = HeldItem.objects.filter(
        team__in={agent.team_id for agent in agents},
        agent__in=agents,
        decided_at__gte=start,
        held_at__gte=start,
        held_at__lt=start_of(last + timedelta(days=1)),
        kind=HeldItem.Kind.TOOL_CALL,
        state__in=(HeldItem.State.APPROVED, HeldItem.State.EDITED),
        closed_at__isnull=False,
    ).exclude(state=HeldItem.State.PENDING)
    counted = {
        agent: counts
        for agent, *counts in items.order_by()
        .values_list("agent")
        .annotate(
            approved=Count("pk"),
            **{each: Count("pk", filter=Q(**{status: each})) for each in Status.values},
            never_reported=Count("pk", filter=unreported & Q(closed_at__lte=now - CallOutcome.WITHIN)),
            open=Count("pk", filter=unreported & Q(closed_at__gt=now - CallOutcome.WITHIN)),
        )
    }
    return [CallOutcomes(agent, *counted[agent.pk]) for agent in agents if agent.pk in counted]
