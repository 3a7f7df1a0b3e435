"""Filters of the queue that people gave a name, for themselves or for all of a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet, Value

from metacog.audit import audit
from metacog.models import Role, Team, User
from reviews.held.filters import Filters
from reviews.held.listing import pending
from reviews.models import SavedView

MOST = 30  # of a person, and of a team
COUNTED = 12  # of which the held items are counted
CHEAP = 2_000  # held items, up to which they are


class Taken(Exception):
    """There is a view of that name already, or there are as many as there may be; `str` says which."""


@dataclass(frozen=True)
class View:
    """One view as the page lists it."""

    view: SavedView
    filters: Filters
    may_change: bool
    count: int | None  # of held items; None where counting would take long


def views_of(person: User, held: int) -> list[View]:
    """Return a person's views and those of their teams, by name; two queries. `held` is how many items there are."""
    views = SavedView.objects.filter(Q(person=person) | Q(team__in=person.teams)).select_related("team")
    found = [(view, Filters.of(view.query, person.teams, person.pk)) for view in views]
    shown = [(view, filters) for view, filters in found if filters.state == "held"][: COUNTED if held <= CHEAP else 0]
    counts = _counts([(view.pk, filters) for view, filters in shown], person.teams)
    return [
        View(
            view,
            filters,
            view.person_id == person.pk or (view.team_id is not None and person.has_role(view.team_id, Role.REVIEWER)),
            counts.get(view.pk, 0) if (view, filters) in shown else None,
        )
        for view, filters in found
    ]


def _counts(asked: Sequence[tuple[int, Filters]], teams: Sequence[Team]) -> dict[int, int]:
    """Count what is held of several views in one query."""
    counted: list[QuerySet[Any, tuple[int, int]]] = [
        pending(filters, teams).order_by().annotate(view=Value(key)).values_list("view").annotate(count=Count("pk"))
        for key, filters in asked
    ]
    if not counted:
        return {}
    first, *others = counted
    return dict(first.union(*others, all=True).order_by() if others else first)


def save(person: User, name: str, query: Mapping[str, str], team: Team | None = None) -> SavedView:
    """Save filters under a name, for the person or for a team of theirs; raise Taken."""
    whose: dict[str, Any] = {"team": team} if team else {"person": person}
    if SavedView.objects.filter(**whose).count() >= MOST:
        raise Taken("many")
    try:
        with transaction.atomic():
            view = SavedView.objects.create(name=name, query=dict(query), **whose)
            _record("view-saved", view, person)
    except IntegrityError:
        raise Taken("name") from None
    return view


def rename(view: SavedView, name: str, person: User) -> None:
    """Give a view another name; raise Taken."""
    try:
        with transaction.atomic():
            SavedView.objects.filter(pk=view.pk).update(name=name)
            _record("view-renamed", view, person, was=view.name, name=name)
    except IntegrityError:
        raise Taken("name") from None


def delete(view: SavedView, person: User) -> None:
    with transaction.atomic():
        _record("view-deleted", view, person)
        view.delete()


def _record(action: str, view: SavedView, person: User, **rest: str) -> None:
    """Write down what is done to a team's view; a person's own are their business alone."""
    if view.team_id is not None:
        audit.record(action, str(view.pk), actor=person, team=view.team_id, **rest)
