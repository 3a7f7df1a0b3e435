"""Read the audit log: filter it, page through it, write it out as JSON Lines."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Any

from django.db.models import BigIntegerField, Case, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan

from metacog.audit.chain import instant
from metacog.models import AuditEvent, AuditSeal, AuditUnsealed

PAGE = 50
LINES_READ = 1000  # rows of one query
Events = QuerySet[AuditEvent]
Place = tuple[datetime, int]  # of an event in the order (at, id)


@dataclass(frozen=True)
class Filters:
    """Which events are looked at; what is empty does not narrow."""

    agent: str = ""  # public id
    action: str = ""
    actor: str = ""  # an AuditEvent.Actor
    person: str = ""  # the user name, as it was then
    object_id: str = ""
    since: datetime | None = None
    until: datetime | None = None  # exclusive


def matching(filters: Filters, teams: Sequence[int] | None) -> list[Events]:
    """Return the events that match, of these teams; None is all events, those of no team too.

    In parts, a team each, since every team's events are read from an index in order. Asked for several
    teams at once, SQLite would read and sort all they have for a page of fifty (5 s at a million).
    """
    wanted = Q()
    if filters.agent:
        wanted &= Q(agent__public_id=filters.agent)
    if filters.action:
        wanted &= Q(action=filters.action)
    if filters.person:
        wanted &= Q(actor_kind=AuditEvent.Actor.PERSON, actor=filters.person)
    elif filters.actor:
        wanted &= Q(actor_kind=filters.actor)
    if filters.object_id:
        wanted &= Q(object_id=filters.object_id)
    if filters.since:
        wanted &= Q(at__gte=filters.since)
    if filters.until:
        wanted &= Q(at__lt=filters.until)
    events = AuditEvent.objects.filter(wanted)
    if teams is None:
        return [events]
    if filters.agent or filters.object_id:
        # Few events: their own index finds them. The sum keeps SQLite from taking the team's instead.
        own = ExpressionWrapper(F("team") + 0, BigIntegerField())
        return [events.alias(own=own).filter(own__in=teams)]
    return [events.filter(team=team) for team in teams]


def page(parts: Sequence[Events], before: Place | None) -> tuple[Sequence[Any], Place | None]:
    """Return the next events from behind `before`, newest first, and where the page after them begins."""
    streams = [_newest_first(events, before) for events in parts]
    rows = list(islice(heapq.merge(*streams, key=_place, reverse=True), PAGE + 1))
    return rows[:PAGE], _place(rows[PAGE - 1]) if len(rows) > PAGE else None


def lines(parts: Sequence[Events]) -> Iterator[str]:
    """Yield each event as a line of JSON, oldest first: the seed's fields (H5), then ours."""
    for event in oldest_first(parts):
        yield json.dumps(as_line(event), ensure_ascii=False) + "\n"


def oldest_first(parts: Sequence[Events]) -> Iterator[Any]:
    """Yield every event, a thousand rows at a time."""
    return heapq.merge(*map(_oldest_first, parts), key=_place)


def _place(event: Any) -> Place:
    return event.at, event.pk


def _newest_first(events: Events, before: Place | None) -> Iterator[Any]:
    """Yield as many events as a page can need."""
    if before:
        # `at` by itself as well: SQLite gets the pair spelled out with OR, which no index serves.
        events = events.filter(TupleLessThan(Tuple(F("at"), F("pk")), before), at__lte=before[0])
    yield from _with_seals(events).order_by("-at", "-pk")[: PAGE + 1]


def _oldest_first(events: Events) -> Iterator[Any]:
    after: Place | None = None
    while True:
        piece = events
        if after:
            piece = events.filter(TupleGreaterThan(Tuple(F("at"), F("pk")), after), at__gte=after[0])
        rows = list(_with_seals(piece).order_by("at", "pk")[:LINES_READ])
        yield from rows
        if len(rows) < LINES_READ:
            return
        after = _place(rows[-1])


def as_line(event: Any) -> dict[str, Any]:
    """Return what the export says of an event; `event` comes annotated with its seal's number."""
    return {
        "ts": instant(event.at),
        "score": event.data.get("score"),
        "signals": event.data.get("signals", []),
        "action": event.action,
        "cycleId": event.data.get("cycle"),
        "id": event.pk,
        "team": event.team and event.team.name,
        "agent": event.agent and event.agent.public_id,
        "actor_kind": event.actor_kind,
        "actor": event.actor,
        "object": event.object_id,
        "before": event.before,
        "after": event.after,
        "data": event.data,
        "request_id": event.request_id,
        "seal": event.seal,
    }


def _with_seals(events: Events) -> QuerySet[Any]:
    covering = AuditSeal.objects.filter(first_id__lte=OuterRef("pk")).order_by("-first_id")
    waits = Exists(AuditUnsealed.objects.filter(pk=OuterRef("pk")))
    seal = Case(When(waits, then=None), default=Subquery(covering.values("number")[:1]))
    return events.select_related("team", "agent").annotate(seal=seal)


def moment(text: str, zone: tzinfo, *, end: bool = False) -> datetime:
    """Read a date or a time in ISO 8601, in `zone` where it names none; ValueError when it is neither.

    A date alone is its first moment, or with `end` the first moment after it.
    """
    try:
        try:
            at = datetime.combine(date.fromisoformat(text) + timedelta(days=end), time())
        except ValueError:
            at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise ValueError("outside the years 1 to 9999") from None
