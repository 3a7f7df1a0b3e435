"""Agents about whose every tool call a person is asked, although they made enough for a pack to be chosen."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from metacog.db.rows import CountUpTo
from metacog.heuristics.policy.pack_fit import ENOUGH
from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.models import Agent, Policy, Team
from reviews.models import AgentResponse

MOST = 5


def offers(teams: QuerySet[Team]) -> QuerySet[Agent]:
    """Return the first few such agents of these teams: with `everything-asks` alone and ENOUGH responses with calls."""
    in_force = Policy.objects.filter(agent=OuterRef("pk"), version=OuterRef("policy_version"))
    some = AgentResponse.objects.filter(agent=OuterRef("pk"), calls__gt=0).order_by().values("pk")[:ENOUGH]
    return (
        Agent.objects.filter(Exists(in_force.filter(packs=[{"name": ASKS_ALL}])), team__in=teams, enabled=True)
        .annotate(calls=CountUpTo(some))
        .filter(calls__gte=ENOUGH)
        .select_related("team")
        .order_by("team__name", "name")[:MOST]
    )
