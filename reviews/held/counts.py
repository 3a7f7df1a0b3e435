"""How much waits for people."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet, Value

from metacog.db.prepared import Select
from metacog.models import Team, User
from patterns.models import Problem
from reviews.learning import corrections
from reviews.models import ExtensionRequest, HeldItem


def to_do(person: User) -> dict[str, int]:
    """Count what waits for somebody in this person's teams, by section of the navigation; one query.

    Every page asks it: what took longest was to write it anew.
    """
    if not person.is_active:
        return {}
    with connection.cursor() as cursor:
        return dict(_in_all_teams(cursor) if person.is_superuser else _in_teams_of(cursor, person.pk))


def _waiting(teams: QuerySet[Team]) -> QuerySet[Any, tuple[str, int]]:
    """Count by section, of partial indexes."""
    sections: dict[str, QuerySet[Any]] = {
        "queue": HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
        "extensions": ExtensionRequest.objects.filter(agent__team__in=teams, state=ExtensionRequest.State.PENDING),
        "corrections": corrections.waiting(teams),
        "stuck": Problem.objects.filter(agent__team__in=teams, suggests=True),
    }
    first, *others = (
        rows.order_by().annotate(section=Value(name)).values_list("section").annotate(count=Count("pk"))
        for name, rows in sections.items()
    )
    counts: QuerySet[Any, tuple[str, int]] = first.union(*others, all=True).order_by()
    return counts


_in_all_teams = Select(lambda: _waiting(Team.objects.all()), parameters=0)
_in_teams_of = Select(lambda person: _waiting(Team.objects.filter(memberships__user=person)), parameters=1)
