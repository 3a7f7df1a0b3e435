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
from django.db.models.expressions import RawSQL
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan

from metacog.audit.chain import instant
from metacog.db.rows import OfEach
from metacog.models import Agent, AuditEvent, AuditSeal, AuditUnsealed, Team

PAGE = 50
LINES_READ = 1000  # rows of one query
MOST_PARTS = 1000  # of a team and an action each
_COLUMNS = [field.name for field in AuditEvent._meta.concrete_fields]
AT_ONCE = 200  # parts that one statement reads: SQLite joins no more than 500
Events = QuerySet[AuditEvent]
Place = tuple[datetime, int]  # of an event in the order (at, id)


@dataclass(frozen=True)
class Filters:
    """Which events are looked at; what is empty does not narrow."""

    agent: str = ""  # public id
    actions: Sequence[str] = ()
    actor: str = ""  # an AuditEvent.Actor
    person: str = ""  # the user name, as it was then
    object_id: str = ""
    without: Sequence[str] = ()  # actions
    since: datetime | None = None
    until: datetime | None = None  # exclusive


def matching(filters: Filters, teams: Sequence[int] | None) -> list[Events]:
    """Return the events that match, of these teams; None is all events, those of no team too.

    In parts, a team each, since every team's events are read from an index in order, and what people or the system did
    from one of its own. Asked for several teams at once, SQLite would read and sort all they have for a page of fifty
    (5 s at a million).
    """
    wanted = Q()
    if filters.person:
        wanted &= _of(AuditEvent.Actor.PERSON) & Q(actor=filters.person)
    elif filters.actor in AuditEvent.Actor.values:
        wanted &= _of(AuditEvent.Actor(filters.actor))
    if filters.object_id:
        wanted &= Q(object_id=filters.object_id)
    if filters.without:
        wanted &= ~Q(action__in=filters.without)
    if filters.since:
        wanted &= Q(at__gte=filters.since)
    if filters.until:
        wanted &= Q(at__lt=filters.until)
    events = AuditEvent.objects.filter(wanted)
    if filters.object_id and filters.actions:
        events = events.filter(action__in=filters.actions)
    is_rare = bool(filters.actions) or filters.actor in (AuditEvent.Actor.PERSON, AuditEvent.Actor.SYSTEM)
    # The sums keep SQLite from taking the index of the team or of the agent.
    own, of_agent = (ExpressionWrapper(F(name) + 0, BigIntegerField()) for name in ("team", "agent"))
    if filters.agent:
        agent = Agent.objects.filter(public_id=filters.agent).values("pk", "team").first()
        if agent is None or (teams is not None and agent["team"] not in teams):
            return [events.none()]
        if not is_rare or filters.object_id:
            return [events.filter(agent=agent["pk"])]
        # Of what its team's agents did there may be a million, of such an action few.
        own_events = events.filter(team=agent["team"]).alias(of_agent=of_agent).filter(of_agent=agent["pk"])
        return _of_actions([own_events], filters.actions)
    if filters.object_id:  # few events: their own index finds them
        return [events if teams is None else events.alias(own=own).filter(own__in=teams)]
    if teams is None:
        every = Team.objects.order_by("pk").values_list("pk", flat=True)
        return _of_actions([*(events.filter(team=team) for team in every), events.filter(team=None)], filters.actions)
    return _of_actions([events.filter(team=team) for team in teams], filters.actions)


def _of(kind: AuditEvent.Actor) -> Q:
    """Ask for a kind of actor, written out: a plan that PostgreSQL keeps for any kind has no use for one's index."""
    return Q(actor_kind=RawSQL(f"'{kind.value}'", ()))


def _of_actions(parts: Sequence[Events], actions: Sequence[str]) -> list[Events]:
    """Return each team's events of these actions: an action at a time, along the index, unless there are very many."""
    if len(actions) * len(parts) > MOST_PARTS:
        return [part.filter(action__in=actions) for part in parts]
    return [part.filter(action=action) for part in parts for action in actions] if actions else [*parts]


def page(parts: Sequence[Events], before: Place | None) -> tuple[Sequence[Any], Place | None]:
    """Return the next events from behind `before`, newest first, and where the page after them begins."""
    some = [parts[first : first + AT_ONCE] for first in range(0, len(parts), AT_ONCE)]
    rows = list(
        islice(heapq.merge(*(_newest_first(each, before) for each in some), key=_place, reverse=True), PAGE + 1)
    )
    return rows[:PAGE], _place(rows[PAGE - 1]) if len(rows) > PAGE else None


def lines(parts: Sequence[Events]) -> Iterator[str]:
    """Yield each event as a line of JSON, oldest first: the seed's fields, then ours."""
    for event in oldest_first(parts):
        yield json.dumps(as_line(event), ensure_ascii=False) + "\n"


def oldest_first(parts: Sequence[Events]) -> Iterator[Any]:
    """Yield every event, a thousand rows at a time."""
    return heapq.merge(*map(_oldest_first, parts), key=_place)


def _place(event: Any) -> Place:
    return event.at, event.pk


def _newest_first(parts: Sequence[Events], before: Place | None) -> QuerySet[Any]:
    """Return as many events as a page can need: the newest of each part, along its index."""
    if before:
        # `at` by itself as well: SQLite gets the pair spelled out with OR, which no index serves.
        behind = TupleLessThan(Tuple(F("at"), F("pk")), before)
        parts = [part.filter(behind, at__lte=before[0]) for part in parts]
    newest = [part.order_by("-at", "-pk").values("pk")[: PAGE + 1] for part in parts]
    listed: QuerySet[Any, Any] = newest[0]
    if len(newest) > 1:
        listed = AuditEvent.objects.filter(pk__in=OfEach(*newest)).order_by("-at", "-pk").values("pk")[: PAGE + 1]
    return _with_seals(AuditEvent.objects.filter(pk__in=listed)).order_by("-at", "-pk")


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
    named = events.select_related("team", "agent").only(*_COLUMNS, "team__name", "agent__public_id", "agent__name")
    return named.annotate(seal=seal)


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
