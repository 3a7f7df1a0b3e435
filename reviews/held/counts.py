"""How much waits for people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from metacog.db.prepared import Select
from metacog.db.rows import COUNTED, CountUpTo
from metacog.models import Heartbeat, Role, Team, User
from metacog.models.heartbeat import is_alive
from patterns.memory import memory
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread, ThreadSuggestion
from reviews.held import approvers, talk
from reviews.learning import corrections
from reviews.metrics import sampling
from reviews.models import ExtensionRequest, HeldItem, ItemTalk

BEGAN = timezone.now()  # of this process: what was started with it is given as long as a heartbeat lasts
# What the page "To do" lists, in its order: each counts where the person's role may decide it.
TO_DO = ("samples", "corrections", "proposals", "lessons", "memories", "conflicts", "suggestions", "drafts")
SECTIONS = (
    "queue",
    "snoozed",
    "parked",
    "needs_me",
    "needs_others",
    "assigned",
    "mentions",
    "extensions",
    "stuck",
    *TO_DO,
)


class ToDo(dict[str, int]):
    """How much waits, by section; and since when the worker that brings it on its way has not been seen."""

    worker_at: datetime | None = None  # its last heartbeat
    is_worker_away = False  # of whom it concerns: whoever decides, and staff


def to_do(person: User) -> ToDo:
    """Count what waits for somebody in this person's teams, by section of the navigation; one query.

    "to_do" is the sum of TO_DO. Each goes no further than one beyond COUNTED. Every page asks it: what took longest was
    to write it anew.
    """
    if not person.is_active:
        return ToDo()
    counted, now = _in_all_teams if person.is_superuser else _in_teams_of, timezone.now()
    with connection.cursor() as cursor:
        since = sampling.waited_since().isoformat(), corrections.waited_since()
        found = counted.first(cursor, person.pk, now, *since)
    counts = ToDo()
    if found:
        *numbers, counts.worker_at, may_decide = found
        counts.update(zip(SECTIONS, numbers, strict=True))
        counts["queue"] -= counts["snoozed"] + counts.pop("parked")
        is_away = not is_alive(counts.worker_at, now) and not is_alive(BEGAN, now)
        counts.is_worker_away = bool(may_decide or person.is_staff) and is_away
    counts["to_do"] = sum(counts.get(name, 0) for name in TO_DO)
    return counts


def worker_at() -> Subquery:
    """Return the time of the worker's last heartbeat, for a query that is asked anyway."""
    return Subquery(Heartbeat.objects.filter(name="worker").values("at")[:1])


def of_reviewers(teams: QuerySet[Team], day: Any = None, since: Any = None) -> dict[str, QuerySet[Any]]:
    """Return what reviewers of these teams may decide, by section; samples from a day on, corrections from a time."""
    return {"samples": sampling.waiting(teams, day), "corrections": corrections.likely(teams, since)}


def of_curators(teams: QuerySet[Team]) -> dict[str, QuerySet[Any]]:
    """Return what curators of these teams may decide, by section."""
    own = Memory.objects.filter(pk=OuterRef("newer"), team__in=teams)
    return {
        "proposals": ErrorPattern.objects.filter(team__in=teams, state=ErrorPattern.State.PROPOSED),
        "lessons": Lesson.objects.filter(team__in=teams, state=Lesson.State.PROPOSED, erased_at=None),
        "memories": memory.waiting().filter(team__in=teams),
        # From the open ones, which are few: by a join it would begin with all memories of a team.
        "conflicts": memory.open_conflicts().filter(Exists(own)),
        "suggestions": ThreadSuggestion.objects.filter(agent__team__in=teams, is_dismissed=False),
        "drafts": ThoughtThread.objects.filter(agent__team__in=teams, has_draft=True),
    }


def _counted(
    person: Any, sections: dict[str, QuerySet[Any]], reviewed: QuerySet[Team]
) -> QuerySet[User, tuple[Any, ...]]:
    """Count by section, of partial indexes; then when the worker was last seen, and whether there are such teams."""
    counts = [
        CountUpTo(sections[name].order_by().select_related(None).values("pk")[: COUNTED + 1]) for name in SECTIONS
    ]
    return User.objects.filter(pk=person).order_by().values_list(*counts, worker_at(), Exists(reviewed))


def _seen(teams: QuerySet[Team], person: Any, now: Any) -> dict[str, QuerySet[Any]]:
    """Return what everybody sees. What is snoozed or parked is in the queue's count as well, to be taken off."""
    snoozed, parked = talk.snoozed(now), approvers.parked(person).filter(team__in=teams)
    mine = ItemTalk.objects.filter(team__in=teams, assignee=person, held__state=HeldItem.State.PENDING)
    mentioning = (
        talk.mentioning(person).filter(held__state=HeldItem.State.PENDING).exclude(held__in=snoozed.values("held"))
    )
    return {
        "snoozed": snoozed.filter(team__in=teams),
        "parked": parked.exclude(pk__in=snoozed.values("held")),
        "needs_me": approvers.named_for(person).filter(team__in=teams),
        "needs_others": parked.filter(only_waits=False),
        "assigned": mine.exclude(pk__in=snoozed.values("held")),
        "mentions": HeldItem.objects.filter(team__in=teams, pk__in=mentioning.values("held")),
        "queue": HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
        "extensions": ExtensionRequest.objects.filter(agent__team__in=teams, state=ExtensionRequest.State.PENDING),
        "stuck": Problem.objects.filter(agent__team__in=teams, suggests=True),
    }


def _for_all(person: Any, now: Any, day: Any, since: Any) -> QuerySet[User, tuple[Any, ...]]:
    teams = Team.objects.all()
    sections = {**_seen(teams, person, now), **of_reviewers(teams, day, since), **of_curators(teams)}
    return _counted(person, sections, teams)


def _for_member(person: Any, now: Any, day: Any, since: Any) -> QuerySet[User, tuple[Any, ...]]:
    reviewed, curated = (
        Team.objects.filter(memberships__user=person, memberships__role__in=role.and_above)
        for role in (Role.REVIEWER, Role.CURATOR)
    )
    seen = _seen(Team.objects.filter(memberships__user=person), person, now)
    sections = {**seen, **of_reviewers(reviewed, day, since), **of_curators(curated)}
    return _counted(person, sections, reviewed)


_in_all_teams = Select(_for_all, parameters=4)
_in_teams_of = Select(_for_member, parameters=4)
