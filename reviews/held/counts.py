"""How much waits for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet, Value

from metacog.models import Team
from patterns.models import Problem
from reviews.models import ExtensionRequest, HeldItem


def to_do(teams: Sequence[Team] | QuerySet[Team]) -> dict[str, int]:
    """Count what waits for somebody in these teams, by section of the navigation; one query, of partial indexes."""
    sections: dict[str, QuerySet[Any]] = {
        "queue": HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
        "extensions": ExtensionRequest.objects.filter(agent__team__in=teams, state=ExtensionRequest.State.PENDING),
        "stuck": Problem.objects.filter(agent__team__in=teams, suggests=True),
    }
    first, *others = (
        rows.order_by().annotate(section=Value(name)).values("section").annotate(count=Count("pk"))
        for name, rows in sections.items()
    )
    return {row["section"]: row["count"] for row in first.union(*others, all=True).order_by()}
