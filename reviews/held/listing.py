"""The queue's list: which held items are shown, in which order, and what changed since the last look."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from django.db.models import (
    BooleanField,
    Case,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Left
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.utils import timezone

from metacog.accounts.forms import SIGNALS
from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
from metacog.db.rows import Row
from metacog.models import Agent, Team, User
from metacog.pages.unknown_filters import unknown_filters
from reviews.held.counts import to_do
from reviews.held.presence import Presence
from reviews.held.talk import awake, last_change, narrowed
from reviews.models import Decision, HeldItem, Signal

PAGE = 50
CLIP = 240  # characters of a text that a row needs; CSS clips to two lines
CALL_CLIP = 2000  # of a tool call's, of which a line names the short arguments
MOST_METADATA = 5  # values that an address asks for
JUST_NOW = timedelta(seconds=60)  # how long a decided item stays in the list, dimmed
MAX_JUST_DECIDED = 30
_A_NUMBER = re.compile(r"[1-9][0-9]{0,17}")  # fits into 64 bits

Order = Literal["learned", "risk", "age"]  # by the learned risk, the hesitation score, or the time it was held

State, Kind = HeldItem.State, HeldItem.Kind
Teams = Sequence[Team]
Items = QuerySet[HeldItem]
Rows = TypeVar("Rows", bound=QuerySet[Any])


def word(query: Mapping[str, Any], name: str) -> str:
    """Return one value of an address or a form as far as it can name something."""
    return named(query.get(name, ""))


def named(value: str) -> str:
    """Return what of a value can name something; PostgreSQL takes no NUL."""
    return value[:40].replace("\0", "")


def _number(value: str) -> str:
    return value if _A_NUMBER.fullmatch(value) else ""


def _written(value: str) -> str:
    return value[:255].replace("\0", "")


def orders(teams: Teams) -> Sequence[Order]:
    """Return the orders in which the queue of these teams can be read, the usual one first."""
    known: Sequence[Order] = ("learned", "risk", "age") if any(team.risk_kind for team in teams) else ("risk", "age")
    return known if usual_order(teams) == known[0] else ("risk", "learned", "age")


def usual_order(teams: Teams) -> Order:
    return "learned" if any(team.risk_kind and team.risk_order for team in teams) else "risk"


@dataclass(frozen=True)
class Filters:
    """What of the queue is looked at; in the page's address, as far as it differs from the default."""

    state: Literal["held", "decided"] = "held"
    agent: str = ""  # public id
    kind: str = ""
    signal: str = ""
    by: str = ""  # who decided: of Decision.By, or the number of a person; of what is decided only
    session: str = ""
    metadata: tuple[tuple[str, str], ...] = ()  # names and values; in the address as `metadata.run`
    assigned: str = ""  # the number of a person; so is `mentions`
    mentions: str = ""
    snoozed: str = ""  # "1" for what is snoozed, which no other list of what is held has
    order: Order = "risk"
    usual: Order = "risk"  # the order that is meant where an address names none
    after: str = ""  # public id of the last item of the page before

    @classmethod
    def of(cls, query: Mapping[str, Any], teams: Teams) -> Filters:
        """Read an address of the queue of these teams; what is not known means the default."""
        agent, kind, signal, after = (word(query, name) for name in ("agent", "kind", "signal", "after"))
        is_decided, by = query.get("state") == "decided", word(query, "by")
        usual = usual_order(teams)
        return cls(
            state="decided" if is_decided else "held",
            agent=agent,
            kind=kind if kind in Kind.values else "",
            signal=signal if signal in SIGNALS else "",
            by=by if is_decided and (by in Decision.By.values or _A_NUMBER.fullmatch(by)) else "",
            session=_written(query.get("session", "")),
            metadata=tuple(
                (_written(name.removeprefix("metadata.")), _written(query[name]))
                for name in [each for each in query if each.startswith("metadata.")][:MOST_METADATA]
            ),
            **{name: _number(word(query, name)) for name in ("assigned", "mentions")},
            snoozed="" if is_decided or word(query, "snoozed") != "1" else "1",
            order=next((each for each in orders(teams) if each == query.get("order")), usual),
            usual=usual,
            after=after,
        )

    @classmethod
    def of_list(cls, query: Mapping[str, str], teams: Teams) -> tuple[Filters, list[str]]:
        """Read the address of a page; return also a sentence for each value of it that is not known."""
        filters = cls.of(query, teams)
        by = {"by": [*Decision.By.values, filters.by]} if filters.state == "decided" else {}
        named_agent = list(Agent.objects.filter(team__in=teams, public_id=filters.agent)) if filters.agent else []
        told = unknown_filters(
            query,
            agents=named_agent,
            state=("held", "decided"),
            kind=Kind.values,
            signal=SIGNALS,
            order=orders(teams),
            **by,
        )
        if not named_agent:
            filters = replace(filters, agent="")
        return filters, told

    @property
    def fields(self) -> dict[str, str]:
        """Return what differs from the default, for a form."""
        default = Filters(order=self.usual, usual=self.usual)
        told = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return told | {f"metadata.{name}": value for name, value in told.pop("metadata", ())}

    @property
    def query(self) -> str:
        """Return the address' query with its question mark, or nothing."""
        return "?" + urlencode(self.fields) if self.fields else ""

    @property
    def narrow(self) -> bool:
        talk = self.assigned or self.mentions or self.snoozed
        return bool(self.agent or self.kind or self.signal or self.by or self.session or self.metadata or talk)

    def but(self, **changes: Any) -> Filters:
        """Return these filters with some changed, at the first page."""
        return replace(self, after="", **changes)


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


def with_metadata(rows: Rows, wanted: Mapping[str, str], column: str = "metadata") -> Rows:
    """Narrow rows down to those whose metadata have these values: texts, or numbers as they are written."""
    for number, (name, value) in enumerate(wanted.items()):
        of_name = Cast(KeyTextTransform(name.replace("\0", ""), column), TextField())
        rows = rows.alias(**{f"wanted_{number}": of_name}).filter(**{f"wanted_{number}": value.replace("\0", "")})
    return rows


def matching(filters: Filters, teams: Teams) -> Items:
    """Return the items that match, of these teams, whatever their state."""
    items = HeldItem.objects.filter(team__in=teams)
    if filters.agent:
        items = items.filter(agent__public_id=filters.agent)
    if filters.kind:
        items = items.filter(kind=filters.kind)
    if filters.signal:
        items = items.filter(Exists(Signal.objects.filter(response=OuterRef("response"), type=filters.signal)))
    if filters.session:
        items = items.filter(response__session=filters.session)
    if filters.metadata:
        items = with_metadata(items, dict(filters.metadata))
    if filters.by:
        of_it = Decision.objects.filter(held=OuterRef("pk"), undone_at=None)
        whose = {"by": filters.by} if filters.by in Decision.By.values else {"person": filters.by}
        items = items.filter(Exists(of_it.filter(**whose)))
    return narrowed(
        items, assigned=filters.assigned, mentions=filters.mentions, snoozed_only=bool(filters.snoozed)
    )


def pending(filters: Filters, teams: Teams) -> Items:
    return _in_queue(matching(filters, teams), filters)


def _in_queue(items: Items, filters: Filters) -> Items:
    """Leave what is held now, without what is snoozed unless that is asked for."""
    items = items.filter(state=State.PENDING)
    return items if filters.snoozed else awake(items)


def in_order(items: Items, filters: Filters) -> Items:
    if filters.state == "decided":
        return items.order_by("-id")
    if filters.order == "age":
        return items.order_by("id")
    if filters.order == "learned":
        return items.order_by("risk_place", "expires_at", "id")
    return items.order_by("-hesitation_score", "-id")


def behind(items: Items, filters: Filters, item: HeldItem) -> Items:
    """Return what comes after `item` in the order."""
    if filters.state == "decided":
        return items.filter(pk__lt=item.pk)
    if filters.order == "age":
        return items.filter(pk__gt=item.pk)
    if filters.order == "learned":
        return items.filter(GreaterThan(_BY_RISK, _learned_place(item)))
    place = Row(Value(item.hesitation_score), Value(item.pk))
    return items.filter(LessThan(Row(F("hesitation_score"), F("pk")), place))


# What is as risky comes in the order in which it expires.
_BY_RISK = Row(F("risk_place"), F("expires_at"), F("pk"))


def _learned_place(item: HeldItem) -> Row:
    return Row(Value(item.risk_place), Value(item.expires_at, DateTimeField()), Value(item.pk))


def ahead(items: Items, filters: Filters, item: HeldItem) -> Items:
    """Return `item` and what comes before it, backwards."""
    if filters.state == "decided":
        items = items.filter(pk__gte=item.pk)
    elif filters.order == "age":
        items = items.filter(pk__lte=item.pk)
    elif filters.order == "learned":
        items = items.filter(LessThanOrEqual(_BY_RISK, _learned_place(item)))
    else:
        place = Row(Value(item.hesitation_score), Value(item.pk))
        items = items.filter(GreaterThanOrEqual(Row(F("hesitation_score"), F("pk")), place))
    return in_order(items, filters).reverse()


def page(filters: Filters, person: User, presence: Presence) -> Page:
    """Read one page: what waits, with what was decided a moment ago still in its place, and who looks at what."""
    teams = person.teams
    recent = just_decided(teams)
    items = matching(filters, teams)
    items = items.exclude(state=State.PENDING) if filters.state == "decided" else _in_queue(items, filters)
    waits = to_do(person)
    count, oldest = 0, None
    if filters.state == "held":  # how much was ever decided is not shown, and only grows
        count = items.count() if filters.narrow else waits.get("queue", 0)
        first = items.order_by("id").values("pk")[:1]
        oldest = HeldItem.objects.filter(pk__in=first).values_list("held_at", flat=True).first()
    last = HeldItem.objects.filter(team__in=teams, public_id=filters.after).first() if filters.after else None
    # Which they are first: else the texts of all that match are read to be put in order.
    listed = in_order(behind(items, filters, last) if last else items, filters).values("pk")[: PAGE + 1]
    rows = list(_for_rows(HeldItem.objects.filter(pk__in=listed), filters))
    earlier = list(ahead(items, filters, last).values_list("public_id", flat=True)[: PAGE + 1]) if last else []
    following = rows[PAGE - 1].public_id if len(rows) > PAGE else ""
    rows = rows[:PAGE]
    if filters.state == "held" and recent:
        rows = _with_decided(rows, recent, filters, teams, last, is_last_page=not following)
    standing = Decision.as_told().filter(undone_at=None)
    decided = [row for row in rows if row.state != State.PENDING]
    prefetch_related_objects(decided, Prefetch("decisions", standing, to_attr="standing"))
    for row in rows:
        row.lookers = presence.others.get(row.pk, ()) if row.state == State.PENDING else ()
    changes = _token(recent, teams, presence, waits.get("queue", 0))
    return Page(rows, following, earlier, count, oldest, changes, waits)


def beginning(path: str = "") -> Case:
    """Return how an item's text begins, as far as a line of it needs; `path` leads to the item."""
    is_call = Q(**{f"{path}kind": Kind.TOOL_CALL})
    return Case(When(is_call, then=Left(f"{path}text", CALL_CLIP)), default=Left(f"{path}text", CLIP))


def by_rule(path: str = "") -> ExpressionWrapper[Q]:
    """Return whether an item is asked about by a rule, so that its score says no more than that it comes first."""
    is_ruled = Q(**{f"{path}kind": Kind.TOOL_CALL, f"{path}call__hesitation": None})
    return ExpressionWrapper(is_ruled, BooleanField())


def _for_rows(items: Items, filters: Filters) -> Items:
    return (
        in_order(items, filters)
        .only("public_id", "team", "kind", "hesitation_score", "risk_place", "state", "review_due_at", "expires_at")
        .annotate(
            clip=beginning(),
            agent_name=F("agent__name"),
            cycle=F("response__cycle"),
            call_name=F("call__name"),
            by_rule=by_rule(),
            assignee=F("talk__assignee__username"),
            comments_count=F("talk__comments"),
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
        return (item.pk,) if filters.order == "age" else (-item.hesitation_score, -item.pk)

    on_page = [item for item in _for_rows(decided, filters) if is_last_page or place(item) < place(rows[-1])]
    return sorted([*rows, *on_page], key=place)


def neighbour(filters: Filters, teams: Teams, item: HeldItem, presence: Presence) -> HeldItem | None:
    """Return the pending item that follows `item`, else the first; one that nobody else looks at, if there is one."""
    waiting = in_order(pending(filters, teams), filters)
    free = waiting.exclude(pk__in=presence.others)
    return behind(free, filters, item).first() or free.first() or waiting.first()


def token(teams: Teams, presence: Presence) -> str:
    """Return a short text that changes when anything in these teams' queue does."""
    return _token(just_decided(teams), teams, presence, pending(Filters(), teams).count())


def _token(recent: Sequence[Decision], teams: Teams, presence: Presence, waiting: int) -> str:
    # What arrives moves the latest id, what is decided or taken back is among the recent decisions; and
    # the count finds what changed while a page slept for longer than those are recent.
    latest = HeldItem.objects.filter(team__in=teams).order_by("-id").values_list("pk", flat=True).first() or 0
    decided = [f"{decision.pk}{'u' if decision.undone_at else ''}" for decision in recent]
    talk = last_change(teams)
    said = [f"{talk.timestamp():.6f}"] if talk else []
    return ".".join([str(latest), str(waiting), *decided, *said, presence.token])


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
        .only("pk", "held_id", "undone_at")[:MAX_JUST_DECIDED]
    )
