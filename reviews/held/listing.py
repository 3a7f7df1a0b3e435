"""The queue's list: which held items are shown, in which order, and what changed since the last look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.functions import Cast, Coalesce, Left
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.utils import timezone

from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
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


def in_groups(items: Items, filters: Filters, without: Sequence[str] = ()) -> Items:
    """Narrow pending items down to those that stand for their near-duplicates, where these are one row.

    `without` names (public ids) what is as good as decided: the next of its near-duplicates stands for the rest.
    """
    if filters.in_groups:
        items = near_duplicates.leads(items, _but(_others(filters), without))
    return _but(items, without)


def _but(items: Items, without: Sequence[str]) -> Items:
    return items.exclude(public_id__in=without) if without else items


def alike_of(held: HeldItem, filters: Filters) -> Group | None:
    """Return the near-duplicates among which an item is, as the list counts them; None where it is alone."""
    return near_duplicates.group_of(held, _others(filters))


def _others(filters: Filters) -> Items:
    """Return what is pending and matches, in whatever team: a key is of one agent."""
    fixed = filters.but(**{name: "" for name, each in FILTERS.items() if each.of_group})
    return _in_queue(narrowed(HeldItem.objects.all(), fixed), fixed)


def pending(filters: Filters, teams: Teams) -> Items:
    return _in_queue(matching(filters, teams), filters)


def _in_queue(items: Items, filters: Filters) -> Items:
    """Leave what is held now, without what is snoozed or waits for others unless that is asked for."""
    items = approvers.narrowed(items.filter(state=State.PENDING), filters.needs, filters.viewer)
    return items if filters.snoozed else talk.awake(items)


def in_order(items: Items, filters: Filters) -> Items:
    if filters.state == "decided":
        return items.order_by("-decided_at", "-id")
    if filters.order == "age":
        return items.order_by("held_at", "id")
    if filters.order == "learned":
        return items.order_by("risk_place", "expires_at", "id")
    return items.order_by(_LOWEST_LAST, "expires_at", "id")


def behind(items: Items, filters: Filters, item: HeldItem) -> Items:
    """Return what comes after `item` in the order."""
    if filters.state == "decided":
        return items.filter(LessThan(_BY_DECISION, _place_by_decision(item)))
    if filters.order == "age":
        return items.filter(GreaterThan(_BY_AGE, _place_by_age(item)))
    if filters.order == "learned":
        return items.filter(GreaterThan(_BY_RISK, _learned_place(item)))
    return items.filter(GreaterThan(_BY_SCORE, _place_by_score(item)))


# What is as risky comes in the order in which it expires.
_LOWEST_LAST = Negated("hesitation_score")
_BY_SCORE = Row(_LOWEST_LAST, F("expires_at"), F("pk"))
_BY_RISK = Row(F("risk_place"), F("expires_at"), F("pk"))
_BY_AGE = Row(F("held_at"), F("pk"))
_BY_DECISION = Row(F("decided_at"), F("pk"))


def _place_by_score(item: HeldItem) -> Row:
    return Row(Value(-item.hesitation_score), Value(item.expires_at, DateTimeField()), Value(item.pk))


def _learned_place(item: HeldItem) -> Row:
    return Row(Value(item.risk_place), Value(item.expires_at, DateTimeField()), Value(item.pk))


def _place_by_age(item: HeldItem) -> Row:
    return Row(Value(item.held_at, DateTimeField()), Value(item.pk))


def _place_by_decision(item: HeldItem) -> Row:
    # What was undone since keeps its place; what was never decided, which only a made-up address names, has one too.
    return Row(Value(item.decided_at or item.held_at, DateTimeField()), Value(item.pk))


def ahead(items: Items, filters: Filters, item: HeldItem) -> Items:
    """Return `item` and what comes before it, backwards."""
    if filters.state == "decided":
        items = items.filter(GreaterThanOrEqual(_BY_DECISION, _place_by_decision(item)))
    elif filters.order == "age":
        items = items.filter(LessThanOrEqual(_BY_AGE, _place_by_age(item)))
    elif filters.order == "learned":
        items = items.filter(LessThanOrEqual(_BY_RISK, _learned_place(item)))
    else:
        items = items.filter(LessThanOrEqual(_BY_SCORE, _place_by_score(item)))
    return in_order(items, filters).reverse()


def along(rows: Callable[[Teams], Items], filters: Filters, teams: Teams, most: int) -> Keys:
    """Return the first of these rows in the order, only their keys: read along the index of each team."""
    parts = [in_order(rows([team]), filters).values("pk")[:most] for team in teams]
    if len(parts) < 2:
        return parts[0] if parts else HeldItem.objects.none().values("pk")
    return in_order(HeldItem.objects.filter(pk__in=OfEach(*parts)), filters).values("pk")[:most]


def page(filters: Filters, person: User, presence: Presence) -> Page:
    """Read one page: what waits, with what was decided a moment ago still in its place, and who looks at what."""
    teams = person.teams
    recent = just_decided(teams)

    # Written once: to write what waits anew for each team and list took a third of the page's time.
    matched = narrowed(HeldItem.objects.all(), filters)
    asked = matched.filter(~Q(state=State.PENDING)) if filters.state == "decided" else _in_queue(matched, filters)
    others = _others(filters) if filters.in_groups else None

    def of(some: Teams) -> Items:
        return asked.filter(team__in=some)

    waits = to_do(person)
    last = HeldItem.objects.filter(team__in=teams, public_id=filters.after).first() if filters.after else None

    def lead(items: Items) -> Items:
        return items if others is None else near_duplicates.leads(items, others)

    def rows_of(some: Teams) -> Items:
        return lead(of(some))

    count, found = 0, None
    if filters.state == "held":  # how much was ever decided is not shown, and only grows
        if not filters.narrow:
            count = waits.get("queue", 0)
        elif last:
            count = of(teams).order_by()[: COUNTED + 1].count()
        else:  # what is rare is looked for in all that waits: once
            fired = narrowed(_where_fired(filters, teams), filters.but(signal=""))
            found = list(_in_queue(fired, filters).order_by().values_list("pk", flat=True)[: COUNTED + 1])
            count = len(found)
    # Which they are first: else the texts of all that match are read to be put in order.
    listed: Any
    first: Keys | list[int] = []
    if found is not None and count <= COUNTED:
        these = lead(HeldItem.objects.filter(pk__in=found))
        listed, first = in_order(these, filters).values("pk")[: PAGE + 1], sorted(found)[:1]
    else:
        listed = along(
            lambda some: behind(rows_of(some), filters, last) if last else rows_of(some), filters, teams, PAGE + 1
        )
        if filters.state == "held":
            first = along(of, filters.but(order="age"), teams, 1).values("pk")
    oldest = HeldItem.objects.filter(pk__in=first).values_list("held_at", flat=True).first()
    rows = list(_for_rows(HeldItem.objects.filter(pk__in=listed), filters))
    earlier = _earlier(rows_of, filters, teams, last) if last else []
    following = rows[PAGE - 1].public_id if len(rows) > PAGE else ""
    rows = rows[:PAGE]
    if filters.state == "held" and recent:
        rows = _with_decided(rows, recent, filters, teams, last, is_last_page=not following)
    groups = {} if others is None else near_duplicates.groups(rows, others)
    standing = Decision.as_told().filter(undone_at=None).annotate(edited=edited_begins())
    decided = [row for row in rows if row.state != State.PENDING]
    prefetch_related_objects(decided, Prefetch("decisions", standing, to_attr="standing"))
    for row in rows:
        if row.state == State.PENDING:
            row.lookers = presence.others.get(row.pk)
            row.group = None if row.alike is None else groups.get(row.alike)
    changes = _token(recent, teams, presence, waits.get("queue", 0))
    return Page(rows, following, earlier, count, oldest, changes, waits)


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


def _earlier(rows: Callable[[Teams], Items], filters: Filters, teams: Teams, last: HeldItem) -> list[str]:
    """Return the ids of `last` and the items before it, backwards, of one page and one more."""
    parts = [ahead(rows([team]), filters, last).values("pk")[: PAGE + 1] for team in teams]
    if len(parts) == 1:
        return list(parts[0].values_list("public_id", flat=True))
    before = HeldItem.objects.filter(pk__in=OfEach(*parts))
    return list(in_order(before, filters).reverse().values_list("public_id", flat=True)[: PAGE + 1])


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
            *("effect_bits", "closed_at"),
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
    teams: Teams,
    last: HeldItem | None,
    is_last_page: bool,
) -> list[HeldItem]:
    """Put what was decided a moment ago where it stood among the pending rows of this page.

    A second query, since one for both (`OR pk IN`) would read and sort every pending item.
    """
    decided = matching(filters, teams).filter(
        pk__in=[decision.held_id for decision in recent if decision.undone_at is None]
    )
    if last:
        decided = behind(decided, filters, last)

    def place(item: HeldItem) -> tuple[Any, ...]:
        if filters.order == "learned":
            return (item.risk_place, item.expires_at, item.pk)
        if filters.order == "age":
            return item.held_at, item.pk
        return -item.hesitation_score, item.expires_at, item.pk

    presses = {decision.held_id: decision.together for decision in recent}
    on_page = [item for item in _for_rows(decided, filters) if is_last_page or place(item) < place(rows[-1])]
    return sorted([*rows, *_folded(on_page, presses)], key=place)


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
) -> HeldItem | None:
    """Return the pending item that follows `item`, else the first; one that nobody else looks at, if there is one.

    `without` names (public ids) what the person has dealt with already, though the server may not have heard of it.
    """

    def rows(some: Teams) -> Items:
        return in_groups(pending(filters, some), filters, without)

    def free(some: Teams) -> Items:
        return rows(some).exclude(pk__in=presence.others)

    looked_at: list[Callable[[Teams], Items]] = [lambda some: behind(free(some), filters, item), free, rows]
    for wanted in looked_at:
        if found := HeldItem.objects.filter(pk__in=along(wanted, filters, teams, 1)).first():
            return found
    return None


def token(teams: Teams, presence: Presence) -> str:
    """Return a short text that changes when anything in these teams' queue does."""
    waiting = pending(Filters(), teams).order_by()[: COUNTED + 1].count()
    return _token(just_decided(teams), teams, presence, waiting)


def _token(recent: Sequence[Decision], teams: Teams, presence: Presence, waiting: int) -> str:
    # What arrives moves the latest id, what is decided or taken back is among the recent decisions; and the counts find
    # what changed while a page slept for longer than those are recent: how much waits, as far as it is counted, and how
    # much was ever released.
    newest_of = [HeldItem.objects.filter(team=team).order_by("-id").values("pk")[:1] for team in teams]
    latest = HeldItem.objects.filter(pk__in=OfEach(*newest_of) if teams else []).order_by("-id").values("pk")[:1]
    released = AgentState.objects.filter(agent__team__in=teams).order_by()
    total = Func(F("decision_seq"), function="SUM", output_field=BigIntegerField())  # Sum brings a GROUP BY
    terms = ReviewTerms.objects.filter(is_open=True, team__in=teams).order_by("-changed_at").values("changed_at")[:1]
    so_far = (
        Team.objects.filter(pk__in=[team.pk for team in teams])
        .order_by()
        .values_list(Subquery(latest), Subquery(released.values(total=total)), worker_at(), Subquery(terms))
    )
    newest, ever, seen_at, terms_at = so_far.first() or (None, None, None, None)
    decided = [(decision.pk, decision.undone_at) for decision in recent]
    changed_at, is_worked = talk.last_change(teams), is_alive(seen_at, timezone.now())
    state = (newest, waiting, ever, decided, changed_at, terms_at, is_worked, presence.token)
    return hashlib.sha256(repr(state).encode()).hexdigest()


def just_decided(teams: Teams) -> list[Decision]:
    """Return the decisions of the last minute, latest first."""
    now = timezone.now()
    return list(
        Decision.objects.filter(
            # Ids begin with the time they were made, so this range is read from their index.
            public_id__range=(first_id_at("dec", now - JUST_NOW), first_id_at("dec", now + LEEWAY)),
            decided_at__gte=now - JUST_NOW,
        )
        # As a join SQLite reads it from the teams' side: everything that was ever held.
        .filter(Exists(HeldItem.objects.filter(pk=OuterRef("held"), team__in=teams)))
        .order_by("-public_id")
        .only("pk", "held_id", "undone_at", "together")[:MAX_JUST_DECIDED]
    )
