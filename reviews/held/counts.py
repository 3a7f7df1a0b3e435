"""How much waits for people."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import QuerySet

from metacog.db.prepared import Select
from metacog.db.rows import CountUpTo
from metacog.models import Team, User
from patterns.models import Problem
from reviews.learning import corrections
from reviews.models import ExtensionRequest, HeldItem

COUNTED = 1_000  # what is more, pages tell as "1,000+": no page reads all that waits
SECTIONS = ("queue", "extensions", "corrections", "stuck")


def to_do(person: User) -> dict[str, int]:
    """Count what waits for somebody in this person's teams, by section of the navigation; one query.

    No further than one beyond COUNTED. Every page asks it: what took longest was to write it anew.
    """
    if not person.is_active:
        return {}
    with connection.cursor() as cursor:
        counts = (_in_all_teams if person.is_superuser else _in_teams_of).first(cursor, person.pk)
    return dict(zip(SECTIONS, counts, strict=True)) if counts else {}


def _waiting(person: Any, teams: QuerySet[Team]) -> QuerySet[User, tuple[int, ...]]:
    """Count by section, of partial indexes."""
    sections: list[QuerySet[Any]] = [
        HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
        ExtensionRequest.objects.filter(agent__team__in=teams, state=ExtensionRequest.State.PENDING),
        corrections.waiting(teams),
        Problem.objects.filter(agent__team__in=teams, suggests=True),
    ]
    counts = [CountUpTo(rows.order_by().values("pk")[: COUNTED + 1]) for rows in sections]
    return User.objects.filter(pk=person).order_by().values_list(*counts)


_in_all_teams = Select(lambda person: _waiting(person, Team.objects.all()), parameters=1)
_in_teams_of = Select(lambda person: _waiting(person, Team.objects.filter(memberships__user=person)), parameters=1)
