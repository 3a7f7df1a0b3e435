"""How much waits for people."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet, Value
from django.utils import timezone

from metacog.db.prepared import Select
from metacog.models import Team, User
from patterns.models import Problem
from reviews.held import talk
from reviews.learning import corrections
from reviews.models import ExtensionRequest, HeldItem, ItemTalk


def to_do(person: User) -> dict[str, int]:
    """Count what waits for somebody in this person's teams, by section of the navigation; one query.

    Every page asks it: what took longest was to write it anew.
    """
    if not person.is_active:
        return {}
    counted = _in_all_teams if person.is_superuser else _in_teams_of
    with connection.cursor() as cursor:
        counts = dict(counted(cursor, person.pk, timezone.now()))
    if "snoozed" in counts:
        counts["queue"] = counts.get("queue", 0) - counts["snoozed"]
    return counts


def _waiting(teams: QuerySet[Team], person: Any, now: Any) -> QuerySet[Any, tuple[str, int]]:
    """Count by section, of partial indexes. What is snoozed is in the queue's count as well, to be taken off."""
    snoozed = talk.snoozed(now)
    mine = ItemTalk.objects.filter(team__in=teams, assignee=person, held__state=HeldItem.State.PENDING)
    mentioning = (
        talk.mentioning(person).filter(held__state=HeldItem.State.PENDING).exclude(held__in=snoozed.values("held"))
    )
    sections: dict[str, QuerySet[Any]] = {
        "queue": HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
        "extensions": ExtensionRequest.objects.filter(agent__team__in=teams, state=ExtensionRequest.State.PENDING),
        "corrections": corrections.waiting(teams),
        "snoozed": snoozed.filter(team__in=teams),
        "assigned": mine.exclude(pk__in=snoozed.values("held")),
        "mentions": HeldItem.objects.filter(team__in=teams, pk__in=mentioning.values("held")),
        "stuck": Problem.objects.filter(agent__team__in=teams, suggests=True),
    }
    first, *others = (
        rows.order_by().annotate(section=Value(name)).values_list("section").annotate(count=Count("pk"))
        for name, rows in sections.items()
    )
    counts: QuerySet[Any, tuple[str, int]] = first.union(*others, all=True).order_by()
    return counts


_in_all_teams = Select(lambda person, now: _waiting(Team.objects.all(), person, now), parameters=2)
_in_teams_of = Select(
    lambda person, now: _waiting(Team.objects.filter(memberships__user=person), person, now), parameters=2
)
