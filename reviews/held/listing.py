"""The queue's list: which held items are shown, in which order, and what changed since the last look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Left
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.utils import timezone

from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
from metacog.db.prepared import filled, written_once
from metacog.db.rows import COUNTED, Negated, OfEach, Row
from metacog.models import AgentState, Team, User
from metacog.models.heartbeat import is_alive
from reviews.held import alike as near_duplicates
from reviews.held import approvers, talk
from reviews.held.alike import Group
from reviews.held.counts import to_do, worker_at
from reviews.held.filters import FILTERS, Filters, Items, Teams, narrowed
from reviews.held.presence import Presence
from reviews.models import Decision, DecisionVerdict, HeldItem, ReviewTerms, Signal

PAGE = 50
CLIP = 240  # characters of a text that a row needs; CSS clips to two lines
CALL_CLIP = 2000  # of a tool call's, of which a line names the short arguments
JUST_NOW = timedelta(seconds=60)  # how long a decided item stays in the list, dimmed
MAX_JUST_DECIDED = 30

State, Kind = HeldItem.State, HeldItem.Kind
Keys = QuerySet[HeldItem, Any]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Page:
    """One page of the list."""

    rows: Sequence[HeldItem]
    next: str  # what comes after it: the `after` of the next page
    earlier: Sequence[str]  # what comes before it, backwards: the ids of one page, and one more where there is one
    count: int  # of all that wait and match
    oldest: datetime | None  # of those
    token: str  # changes when anything in the person's queue does
    to_do: Mapping[str, int]  # how much waits in these teams, for the navigation


def matching(filters: Filters, teams: Teams) -> Items:
    """Return the items that match, of these teams, whatever their state."""
    return narrowed(HeldItem.objects.filter(team__in=teams), filters)


def _in_groups(items: Items, filters: Filters, now: Any, without: Sequence[str] = ()) -> Items:
    """Narrow pending items down to those that stand for their near-duplicates, where these are one row.

    `without` names (public ids) what is as good as decided: the next of its near-duplicates stands for the rest.
    """
    if filters.in_groups:
        items = near_duplicates.leads(items, _but(_others(filters, now), without))
    return _but(items, without)


def _but(items: Items, without: Sequence[str]) -> Items:
    return items.exclude(public_id__in=without) if without else items


def alike_of(held: HeldItem, filters: Filters) -> Group | None:
    """Return the near-duplicates among which an item is, as the list counts them; None where it is alone."""
    ask = _ask(filters, (), timezone.now())
    return near_duplicates.group_of(held, lambda keys: ask(_counted_alike, keys))


def _others(filters: Filters, now: Any) -> Items:
    """Return what is pending and matches, in whatever team: a key is of one agent."""
    fixed = filters.but(**{name: "" for name, each in FILTERS.items() if each.of_group})
    return _in_queue(narrowed(HeldItem.objects.all(), fixed), fixed, now)


def pending(filters: Filters, teams: Teams, now: Any = None) -> Items:
    return _in_queue(matching(filters, teams), filters, now)


def _in_queue(items: Items, filters: Filters, now: Any = None) -> Items:
    """Leave what is held now, without what is snoozed or waits for others unless that is asked for."""
    items = approvers.narrowed(items.filter(state=State.PENDING), filters.needs, filters.viewer)
    return items if filters.snoozed else talk.awake(items, now)


def _listed(filters: Filters, teams: Any, now: Any, place: Sequence[Any] = ()) -> Items:
    """Return what the list shows of these teams, behind a place if there is one."""
    if filters.state == "decided":
        items = matching(filters, teams).filter(~Q(state=State.PENDING))
    else:
        items = _in_groups(pending(filters, teams, now), filters, now)
    return behind(items, filters, place) if place else items


def in_order(items: Items, filters: Filters) -> Items:
    if filters.state == "decided":
        return items.order_by("-decided_at", "-id")
    if filters.order == "age":
        return items.order_by("held_at", "id")
    if filters.order == "learned":
        return items.order_by("risk_place", "expires_at", "id")
    return items.order_by(_LOWEST_LAST, "expires_at", "id")


def behind(items: Items, filters: Filters, place: Sequence[Any]) -> Items:
    """Return what comes after a place in the order."""
    compared = LessThan if filters.state == "decided" else GreaterThan
    return items.filter(compared(_row_of(filters), Row(*place)))


# What is as risky comes in the order in which it expires.
_LOWEST_LAST = Negated("hesitation_score")
_BY_SCORE = Row(_LOWEST_LAST, F("expires_at"), F("pk"))
_BY_RISK = Row(F("risk_place"), F("expires_at"), F("pk"))
_BY_AGE = Row(F("held_at"), F("pk"))
_BY_DECISION = Row(F("decided_at"), F("pk"))


def _row_of(filters: Filters) -> Row:
    if filters.state == "decided":
        return _BY_DECISION
    return {"age": _BY_AGE, "learned": _BY_RISK, "risk": _BY_SCORE}[filters.order]


def place_of(item: HeldItem, filters: Filters) -> tuple[Any, ...]:
    """Return where an item stands in the order."""
    if filters.state == "decided":
        # What was undone since keeps its place; what was never decided, which only a made-up address names, has one.
        return item.decided_at or item.held_at, item.pk
    if filters.order == "age":
        return item.held_at, item.pk
    if filters.order == "learned":
        return item.risk_place, item.expires_at, item.pk
    return -item.hesitation_score, item.expires_at, item.pk


def _ahead(items: Items, filters: Filters, place: Sequence[Any]) -> Items:
    """Return what stands at a place and what comes before it, backwards."""
    compared = GreaterThanOrEqual if filters.state == "decided" else LessThanOrEqual
    return in_order(items.filter(compared(_row_of(filters), Row(*place))), filters).reverse()


def along(rows: Callable[[Any], Items], filters: Filters, teams: Any, most: int) -> Keys:
    """Return the first of these rows in the order, only their keys: read along the index of each team."""
    parts = [in_order(rows(each), filters).values("pk")[:most] for each in _each(teams)]
    if len(parts) < 2:
        return parts[0] if parts else HeldItem.objects.none().values("pk")
    return in_order(HeldItem.objects.filter(pk__in=OfEach(*parts)), filters).values("pk")[:most]


def _each(teams: Any) -> list[Any]:
    """Return each of some teams by itself, in a list as they are."""
    return [teams[at : at + 1] for at in range(len(teams))]


class Ask(Protocol):
    """Asks one of the queries below."""

    def __call__(self, query: written_once[..., Found], *given: Any, **how: Any) -> list[Found]: ...


def _ask(filters: Filters, teams: Teams, now: datetime) -> Ask:
    """Return what asks the queries below: who looks, and when, are values; the filters say how each is written."""
    fixed, keys = replace(filters, viewer=0, after=""), [team.pk for team in teams]

    def ask(query: written_once[..., Found], *given: Any, **how: Any) -> list[Found]:
        find = query.anew if filters.reads_clock else query
        return find(keys, filters.viewer, now, *given, filters=fixed, **how)

    return ask


def page(filters: Filters, person: User, presence: Presence) -> Page:
    """Read one page: what waits, with what was decided a moment ago still in its place, and who looks at what."""
    teams, now = person.teams, timezone.now()
    recent, ask = just_decided(teams), _ask(filters, teams, now)
    waits = to_do(person)
    last = HeldItem.objects.filter(team__in=teams, public_id=filters.after).first() if filters.after else None
    place = place_of(last, filters) if last else ()
    count, found = 0, None
    if filters.state == "held":  # how much was ever decided is not shown, and only grows
        if not filters.narrow:
            count = waits.get("queue", 0)
        elif last:
            count = pending(filters, teams, now).order_by()[: COUNTED + 1].count()
        else:  # what is rare is looked for in all that waits: once
            fired = narrowed(_where_fired(filters, teams), filters.but(signal=""))
            found = list(_in_queue(fired, filters, now).order_by().values_list("pk", flat=True)[: COUNTED + 1])
            count = len(found)
    oldest: datetime | None
    if found is not None and count <= COUNTED:
        oldest = HeldItem.objects.filter(pk__in=sorted(found)[:1]).values_list("held_at", flat=True).first()
        these = _in_groups(HeldItem.objects.filter(pk__in=found), filters, now)
        first = in_order(these, filters).values("pk")[: PAGE + 1]
        rows = list(_for_rows(HeldItem.objects.filter(pk__in=first), filters))
    else:
        oldest = next(iter(ask(_oldest)), None) if filters.state == "held" else None
        rows = ask(_rows, *place, most=PAGE + 1)
    earlier = ask(_earlier, *place, most=PAGE + 1) if last else []
    following = rows[PAGE - 1].public_id if len(rows) > PAGE else ""
    rows = rows[:PAGE]
    if filters.state == "held" and recent:
        rows = _with_decided(rows, recent, filters, ask, place, is_last_page=not following)
    groups = near_duplicates.groups(rows, lambda keys: ask(_counted_alike, keys)) if filters.in_groups else {}
    decided: dict[int, Any] = {row.pk: row for row in rows if row.state != State.PENDING}
    for row in decided.values():
        row.standing = []
    for decision in _standing(filled(decided)) if decided else ():
        decided[decision.held_id].standing.append(decision)
    for row in rows:
        if row.state == State.PENDING:
            row.lookers = presence.others.get(row.pk)
            row.group = None if row.alike is None else groups.get(row.alike)
    changes = _token(recent, teams, presence, waits.get("queue", 0))
    return Page(rows, following, earlier, count, oldest, changes, waits)


# -- the queries of a page: of teams, as somebody sees them, at a time -------------------------------------


@written_once
def _rows(teams: Any, viewer: Any, now: Any, *place: Any, filters: Filters, most: int) -> QuerySet[HeldItem, Any]:
    """Which they are first: else the texts of all that match are read to be put in order."""
    filters = replace(filters, viewer=viewer)
    first = along(lambda some: _listed(filters, some, now, place), filters, teams, most)
    return _for_rows(HeldItem.objects.filter(pk__in=first), filters)


@written_once
def _oldest(teams: Any, viewer: Any, now: Any, *, filters: Filters) -> QuerySet[HeldItem, datetime]:
    filters = replace(filters, viewer=viewer)
    first = along(lambda some: pending(filters, some, now), filters.but(order="age"), teams, 1)
    return HeldItem.objects.filter(pk__in=first.values("pk")).order_by().values_list("held_at", flat=True)


@written_once
def _earlier(teams: Any, viewer: Any, now: Any, *place: Any, filters: Filters, most: int) -> QuerySet[HeldItem, str]:
    """Find the ids of what stands at a place and before it, backwards."""
    filters = replace(filters, viewer=viewer)
    parts = [_ahead(_listed(filters, each, now), filters, place).values("pk")[:most] for each in _each(teams)]
    if len(parts) == 1:
        return parts[0].values_list("public_id", flat=True)
    before = HeldItem.objects.filter(pk__in=OfEach(*parts))
    return in_order(before, filters).reverse().values_list("public_id", flat=True)[:most]


@written_once
def _counted_alike(
    _teams: Any, viewer: Any, now: Any, keys: Any, *, filters: Filters
) -> QuerySet[Any, near_duplicates.Counted]:
    return near_duplicates.counted(_others(replace(filters, viewer=viewer), now), keys)


@written_once
def _decided_rows(
    teams: Any, _viewer: Any, _now: Any, decided: Any, *place: Any, filters: Filters
) -> QuerySet[HeldItem, Any]:
    items = matching(filters, teams).filter(pk__in=decided)
    return _for_rows(behind(items, filters, place) if place else items, filters)


@written_once
def _standing(items: Any) -> QuerySet[Decision]:
    return Decision.as_told().filter(held__in=items, undone_at=None).annotate(edited=edited_begins())


@written_once
def _next_keys(
    teams: Any,
    viewer: Any,
    now: Any,
    without: Any,
    looked_at: Any,
    *place: Any,
    filters: Filters,
) -> QuerySet[HeldItem, str]:
    """Find the public id of what comes next behind a place, of what nobody looks at."""
    filters = replace(filters, viewer=viewer)

    def rows(some: Any) -> Items:
        free = _in_groups(pending(filters, some, now), filters, now, without)
        free = free.exclude(pk__in=looked_at) if looked_at else free
        return behind(free, filters, place) if place else free

    return HeldItem.objects.filter(pk__in=along(rows, filters, teams, 1)).order_by().values_list("public_id", flat=True)


def _where_fired(filters: Filters, teams: Teams) -> Items:
    """Return the items of these teams, open ones, on which the wanted signal fired; all of theirs if none is wanted."""
    items = HeldItem.objects.filter(team__in=teams)
    if not filters.signal:
        return items
    fired = Signal.objects.filter(type=filters.signal, is_open=True).order_by()
    responses = list(fired.values_list("response", flat=True)[: COUNTED + 1])
    if len(responses) > COUNTED:  # a common one is met on the way
        return items.filter(Exists(fired.filter(response=OuterRef("response"))))
    # The sum keeps SQLite from going along all that the teams have.
    own = ExpressionWrapper(F("team") + 0, BigIntegerField())
    return HeldItem.objects.filter(response__in=responses).alias(own=own).filter(own__in=[team.pk for team in teams])


def beginning(path: str = "") -> Case:
    """Return how an item's text, or a call's arguments, begin, as far as a line needs it; `path` leads to the item."""
    is_call = Q(**{f"{path}kind": Kind.TOOL_CALL})
    return Case(When(is_call, then=arguments_begin(path)), default=Left(f"{path}text", CLIP))


def arguments_begin(path: str) -> Coalesce:
    """Return how a tool call's arguments begin as they were sent: the item's text has them by their names."""
    sent = Cast(f"{path}call__arguments", TextField())
    return Coalesce(Left(sent, CALL_CLIP), Value(""))


def edited_begins() -> Case:
    """Return how what a decision or an approval released instead begins; null where nothing was edited."""
    sent = Left(Cast("arguments", TextField()), CALL_CLIP)
    is_edit = Q(verdict=DecisionVerdict.EDIT)
    return Case(When(is_edit & ~Q(arguments=None), then=sent), When(is_edit, then=Left("text", CLIP)))


def by_rule(path: str = "") -> ExpressionWrapper[Q]:
    """Return whether a rule, or with a question the agent, asks: the score says no more than that it comes first."""
    is_ruled = Q(**{f"{path}kind": Kind.TOOL_CALL, f"{path}call__hesitation": None})
    is_ruled |= Q(**{f"{path}kind": Kind.QUESTION})
    return ExpressionWrapper(is_ruled, BooleanField())


def _for_rows(items: Items, filters: Filters) -> Items:
    return (
        in_order(items, filters)
        .only(
            *("public_id", "team", "kind", "hesitation_score", "risk_place", "state", "alike", "held_at", "expires_at"),
            *("effect_bits", "closed_at", "risk"),
        )
        .annotate(
            clip=beginning(),
            agent_name=F("agent__name"),
            agent_enabled=F("agent__enabled"),
            cycle=F("response__cycle"),
            call_name=F("call__name"),
            by_rule=by_rule(),
            outcome_status=F("call__outcome__status"),
            outcome_detail=Left("call__outcome__detail", CLIP),
            outcome_at=F("call__outcome__reported_at"),
            # Not joined: beyond eight tables (join_collapse_limit) PostgreSQL joins all that was ever held.
            assignee=Subquery(User.objects.filter(pk=OuterRef("talk__assignee")).values("username")),
            comments_count=F("talk__comments"),
            approvals_given=F("terms__given"),
            approvals_needed=F("terms__people"),
            approver_role=F("terms__role"),
            approver_group=F("terms__group"),
            waits_for=F("terms__waits_for"),
        )
    )


def _with_decided(
    rows: list[HeldItem],
    recent: Sequence[Decision],
    filters: Filters,
    ask: Ask,
    place: Sequence[Any],
    is_last_page: bool,
) -> list[HeldItem]:
    """Put what was decided a moment ago where it stood among the pending rows of this page.

    A second query, since one for both (`OR pk IN`) would read and sort every pending item.
    """
    decided = filled([decision.held_id for decision in recent if decision.undone_at is None])
    if not decided:
        return rows
    presses = {decision.held_id: decision.together for decision in recent}
    last = None if is_last_page else place_of(rows[-1], filters)
    found = ask(_decided_rows, decided, *place)
    on_page = [item for item in found if last is None or place_of(item, filters) < last]
    return sorted([*rows, *_folded(on_page, presses)], key=lambda item: place_of(item, filters))


def _folded(decided: Sequence[HeldItem], presses: Mapping[int, str]) -> Iterator[HeldItem]:
    """Give what was decided, and of near-duplicates that one press decided the first, which stands for all."""
    by_press: dict[object, list[HeldItem]] = {}
    for item in decided:
        press = presses.get(item.pk)
        by_press.setdefault((press, item.alike) if press and item.alike is not None else item.pk, []).append(item)
    for first, *others in by_press.values():
        first.group = Group(1 + len(others), []) if others else None
        yield first


def neighbour(
    filters: Filters, teams: Teams, item: HeldItem, presence: Presence, without: Sequence[str] = ()
) -> str | None:
    """Return the public id of the pending item after `item`, else the first; one that nobody else looks at, if any.

    `without` names (public ids) what the person has dealt with already, though the server may not have heard of it.
    """
    ask, place = _ask(filters, teams, timezone.now()), place_of(item, filters)
    done, looked_at = filled(without), filled(sorted(presence.others))
    ways: list[tuple[Any, ...]] = [(looked_at, *place), (looked_at,), ([],)]
    for way in ways:
        for found in ask(_next_keys, done, *way):
            return found
    return None


def token(person: User, presence: Presence) -> str:
    """Return a short text that changes when anything in this person's queue does: that of a page of it."""
    return _token(just_decided(person.teams), person.teams, presence, to_do(person).get("queue", 0))


def _token(recent: Sequence[Decision], teams: Teams, presence: Presence, waiting: int) -> str:
    # What arrives moves the latest id, what is decided or taken back is among the recent decisions; and the counts find
    # what changed while a page slept for longer than those are recent: how much waits, as far as it is counted, and how
    # much was ever released.
    keys = [team.pk for team in teams]
    newest, ever, seen_at, terms_at = _so_far.first(keys) or (None, None, None, None)
    decided = [(decision.pk, decision.undone_at) for decision in recent]
    changed_at, is_worked = talk.last_change(teams), is_alive(seen_at, timezone.now())
    state = (newest, waiting, ever, decided, changed_at, terms_at, is_worked, presence.token)
    return hashlib.sha256(repr(state).encode()).hexdigest()


@written_once
def _so_far(teams: Any) -> QuerySet[Team, tuple[int | None, int | None, datetime | None, datetime | None]]:
    newest_of = [HeldItem.objects.filter(team__in=each).order_by("-id").values("pk")[:1] for each in _each(teams)]
    latest = HeldItem.objects.filter(pk__in=OfEach(*newest_of)).order_by("-id").values("pk")[:1]
    released = AgentState.objects.filter(agent__team__in=teams).order_by()
    total = Func(F("decision_seq"), function="SUM", output_field=BigIntegerField())  # Sum brings a GROUP BY
    terms = ReviewTerms.objects.filter(is_open=True, team__in=teams).order_by("-changed_at").values("changed_at")[:1]
    rows = Team.objects.filter(pk__in=teams).order_by()[:1]
    return rows.values_list(Subquery(latest), Subquery(released.values(total=total)), worker_at(), Subquery(terms))


def just_decided(teams: Teams) -> list[Decision]:
    """Return the decisions of the last minute, latest first."""
    since = timezone.now() - JUST_NOW
    # Ids begin with the time they were made, so this range is read from their index.
    ids = first_id_at("dec", since), first_id_at("dec", since + JUST_NOW + LEEWAY)
    return _just_decided([team.pk for team in teams], since, *ids)


@written_once
def _just_decided(teams: Any, since: Any, first: Any, last: Any) -> QuerySet[Decision]:
    # As a join SQLite reads it from the teams' side: everything that was ever held.
    theirs = Exists(HeldItem.objects.filter(pk=OuterRef("held"), team__in=teams))
    rows = Decision.objects.filter(theirs, public_id__range=(first, last), decided_at__gte=since)
    return rows.order_by("-public_id").only("pk", "held_id", "undone_at", "together")[:MAX_JUST_DECIDED]
