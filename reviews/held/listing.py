"""The queue's list: which held items are shown, in which order, and what changed since the last look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

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
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Left
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.utils import timezone

from metacog.accounts.forms import SIGNALS
from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
from metacog.db.rows import COUNTED, Negated, OfEach, Row
from metacog.heuristics.tool_calls import effect_bits
from metacog.models import Agent, AgentState, Team, User
from metacog.models.heartbeat import is_alive
from metacog.pages.unknown_filters import unknown_filters
from reviews.held import alike as near_duplicates
from reviews.held import approvers, talk
from reviews.held.alike import Group
from reviews.held.counts import to_do, worker_at
from reviews.held.presence import Presence
from reviews.models import Decision, HeldItem, ReviewTerms, Signal

PAGE = 50
CLIP = 240  # characters of a text that a row needs; CSS clips to two lines
CALL_CLIP = 2000  # of a tool call's, of which a line names the short arguments
MOST_METADATA = 5  # values that an address asks for
NEEDS = ("me", "others", "calls")  # whose approval is missing
WRITTEN = ("score_from", "score_to", "since", "until", "assigned", "mentions")  # filters of any value of their kind
JUST_NOW = timedelta(seconds=60)  # how long a decided item stays in the list, dimmed
MAX_JUST_DECIDED = 30
_A_NUMBER = re.compile(r"[1-9][0-9]{0,17}")  # fits into 64 bits

Order = Literal["learned", "risk", "age"]  # by the learned risk, the hesitation score, or the time it was held

State, Kind = HeldItem.State, HeldItem.Kind
Teams = Sequence[Team]
Items = QuerySet[HeldItem]
Keys = QuerySet[HeldItem, Any]
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


def _metadata(query: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read `metadata.NAME=VALUE`, and the two fields of the form for one more."""
    asked = {name.removeprefix("metadata."): query[name] for name in query if name.startswith("metadata.")}
    if query.get("metadata_name") and query.get("metadata_value"):
        asked[query["metadata_name"]] = query["metadata_value"]
    return tuple((_written(name), _written(value)) for name, value in list(asked.items())[:MOST_METADATA])


def _score(value: str) -> str:
    return value if value.isascii() and value.isdigit() and len(value) <= 3 and int(value) <= 100 else ""


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value[:10]).isoformat()
    except ValueError:
        return ""


def orders(teams: Teams) -> Sequence[Order]:
    """Return the orders in which the queue of these teams can be read, the usual one first."""
    known: Sequence[Order] = ("learned", "risk", "age") if any(team.risk_kind for team in teams) else ("risk", "age")
    return known if usual_order(teams) == known[0] else ("risk", "learned", "age")


def usual_order(teams: Teams) -> Order:
    return "learned" if any(team.risk_kind and team.risk_order for team in teams) else "risk"


@dataclass(frozen=True)
class Filters:
    """What of the queue is looked at; in the page's address, as far as it differs from the default.

    To add one: a field here, its value in `of`, its condition in `narrowed`, its field in `reviews/_filters.html`.
    """

    state: Literal["held", "decided"] = "held"
    agent: str = ""  # public id
    kind: str = ""
    signal: str = ""
    by: str = ""  # who decided: of Decision.By, or the number of a person; of what is decided only
    session: str = ""
    pattern: str = ""  # words of a known error that fired
    tool: str = ""  # the name of a tool call's
    effect: str = ""  # one of effect_bits.NAMES
    score_from: str = ""  # whole numbers
    score_to: str = ""
    since: str = ""  # the first and the last day on which it was held, as 2026-11-26, where the person is
    until: str = ""
    alike: str = ""  # public id of an item; of what is held its near-duplicates, each for itself
    metadata: tuple[tuple[str, str], ...] = ()  # names and values; in the address as `metadata.run`
    assigned: str = ""  # the number of a person; so is `mentions`
    mentions: str = ""
    snoozed: str = ""  # "1" for what is snoozed, which no other list of what is held has
    needs: str = ""  # of NEEDS; of what is held
    viewer: int = 0  # the key of whose queue it is, which has nothing that they approved; no part of an address
    order: Order = "risk"
    usual: Order = "risk"  # the order that is meant where an address names none
    after: str = ""  # public id of the last item of the page before

    @classmethod
    def of(cls, query: Mapping[str, Any], teams: Teams, viewer: int = 0) -> Filters:
        """Read an address of the queue of these teams; what is not known means the default."""
        agent, kind, signal, after = (word(query, name) for name in ("agent", "kind", "signal", "after"))
        is_decided, by, needs = query.get("state") == "decided", word(query, "by"), word(query, "needs")
        effect, usual = word(query, "effect"), usual_order(teams)
        return cls(
            state="decided" if is_decided else "held",
            agent=agent,
            kind=kind if kind in Kind.values else "",
            signal=signal if signal in SIGNALS else "",
            effect=effect if effect in effect_bits.NAMES else "",
            by=by if is_decided and (by in Decision.By.values or _A_NUMBER.fullmatch(by)) else "",
            session=_written(query.get("session", "")),
            pattern=_written(query.get("pattern", "")).strip(),
            tool=_written(query.get("tool", "")).strip(),
            score_from=_score(query.get("score_from", "")),
            score_to=_score(query.get("score_to", "")),
            since=_day(query.get("since", "")),
            until=_day(query.get("until", "")),
            alike="" if is_decided else word(query, "alike"),
            metadata=_metadata(query),
            **{name: _number(word(query, name)) for name in ("assigned", "mentions")},
            snoozed="" if is_decided or word(query, "snoozed") != "1" else "1",
            needs=needs if not is_decided and needs in NEEDS else "",
            viewer=viewer,
            order=next((each for each in orders(teams) if each == query.get("order")), usual),
            usual=usual,
            after=after,
        )

    @classmethod
    def of_list(cls, query: Mapping[str, str], teams: Teams, viewer: int = 0) -> tuple[Filters, list[str]]:
        """Read the address of a page; return also a sentence for each value of it that is not known."""
        filters = cls.of(query, teams, viewer)
        by = {"by": [*Decision.By.values, filters.by]} if filters.state == "decided" else {}
        named_agent = list(Agent.objects.filter(team__in=teams, public_id=filters.agent)) if filters.agent else []
        told = unknown_filters(
            query,
            agents=named_agent,
            state=("held", "decided"),
            kind=Kind.values,
            signal=SIGNALS,
            effect=effect_bits.NAMES,
            order=orders(teams),
            **by,
            snoozed=["1"],
            needs=NEEDS,
            **{name: [getattr(filters, name)] for name in WRITTEN},
        )
        if not named_agent:
            filters = replace(filters, agent="")
        return filters, told

    @property
    def fields(self) -> dict[str, str]:
        """Return what differs from the default, for a form."""
        default = Filters(order=self.usual, usual=self.usual, viewer=self.viewer)
        told = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return told | {f"metadata.{name}": value for name, value in told.pop("metadata", ())}

    @property
    def query(self) -> str:
        """Return the address' query with its question mark, or nothing."""
        return "?" + urlencode(self.fields) if self.fields else ""

    @property
    def narrow(self) -> bool:
        default = Filters(state=self.state, order=self.order, usual=self.usual, after=self.after, viewer=self.viewer)
        return self != default

    @property
    def more(self) -> bool:
        """Tell whether any of those is set that the page folds away."""
        return any((self.pattern, self.tool, self.score_from, self.score_to, self.since, self.until))

    @property
    def in_groups(self) -> bool:
        """Tell whether near-duplicates are one row."""
        return self.state == "held" and not self.alike

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
    return _matching(HeldItem.objects.filter(team__in=teams), filters, teams)


def _matching(items: Items, filters: Filters, teams: Teams) -> Items:
    items = narrowed(items, filters)
    if filters.alike:
        key = HeldItem.objects.filter(public_id=filters.alike, team__in=teams).values("alike")[:1]
        items = items.filter(alike=Subquery(key))
    return items


def narrowed(items: Items, filters: Filters) -> Items:
    """Narrow items down to those that match; near-duplicates are asked for by `matching`."""
    if filters.agent:
        items = items.filter(agent=Agent.objects.filter(public_id=filters.agent).values("pk")[:1])
    if filters.kind:
        items = items.filter(kind=filters.kind)
    if filters.signal:
        items = items.filter(Exists(Signal.objects.filter(response=OuterRef("response"), type=filters.signal)))
    if filters.pattern:
        fired = Signal.objects.filter(pattern__description__icontains=filters.pattern)
        items = items.filter(Exists(fired.filter(response=OuterRef("response"))))
    if filters.tool:
        items = items.filter(call__name=filters.tool)
    if filters.effect:
        has_it = F("effect_bits").bitand(effect_bits.bit(filters.effect))
        items = items.filter(effect_bits__gt=0).alias(has_it=has_it).filter(has_it__gt=0)
    if filters.score_from:
        items = items.filter(hesitation_score__gte=int(filters.score_from))
    if filters.score_to:
        items = items.filter(hesitation_score__lte=int(filters.score_to))
    if filters.since:
        items = items.filter(held_at__gte=_midnight(filters.since))
    if filters.until:
        items = items.filter(held_at__lt=_midnight(filters.until, days=1))
    if filters.session:
        items = items.filter(response__session=filters.session)
    if filters.metadata:
        items = with_metadata(items, dict(filters.metadata))
    if filters.by:
        of_it = Decision.objects.filter(held=OuterRef("pk"), undone_at=None)
        whose = {"by": filters.by} if filters.by in Decision.By.values else {"person": filters.by}
        items = items.filter(Exists(of_it.filter(**whose)))
    return talk.narrowed(
        items, assigned=filters.assigned, mentions=filters.mentions, snoozed_only=bool(filters.snoozed)
    )


def _midnight(day: str, days: int = 0) -> datetime:
    try:
        begins = date.fromisoformat(day) + timedelta(days=days)
        return datetime.combine(begins, time.min, timezone.get_current_timezone()).astimezone(UTC)
    except OverflowError:  # of the first or last day that there is
        return datetime.fromisoformat(day).replace(tzinfo=UTC)


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
    # What is the same in a whole group.
    fixed = replace(filters, agent="", kind="", tool="", effect="", score_from="", score_to="")
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
    matched = _matching(HeldItem.objects.all(), filters, teams)
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
            fired = _matching(_where_fired(filters, teams), filters.but(signal=""), teams)
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
    standing = Decision.as_told().filter(undone_at=None)
    decided = [row for row in rows if row.state != State.PENDING]
    prefetch_related_objects(decided, Prefetch("decisions", standing, to_attr="standing"))
    for row in rows:
        row.lookers = presence.others.get(row.pk, ()) if row.state == State.PENDING else ()
        if row.state == State.PENDING:
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


def by_rule(path: str = "") -> ExpressionWrapper[Q]:
    """Return whether an item is asked about by a rule, so that its score says no more than that it comes first."""
    is_ruled = Q(**{f"{path}kind": Kind.TOOL_CALL, f"{path}call__hesitation": None})
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
            assignee=F("talk__assignee__username"),
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
    decided = [f"{decision.pk}{'u' if decision.undone_at else ''}" for decision in recent]
    changed = (talk.last_change(teams), terms_at)
    said = [f"{each.timestamp():.6f}" if each else "" for each in changed] if any(changed) else []
    worker = [] if is_alive(seen_at, timezone.now()) else ["away"]
    return ".".join([str(newest or 0), str(waiting), str(ever or 0), *decided, *said, *worker, presence.token])


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
