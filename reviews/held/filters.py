"""The filters of the queue, each declared once: a field of `Filters` that says all that any page has to know of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import SIGNALS
from metacog.heuristics.tool_calls import effect_bits
from metacog.http.sealed import opened, sealed
from metacog.models import Agent, Team, User
from metacog.pages.unknown_filters import unknown_filters
from reviews.held import talk
from reviews.models import Decision, HeldItem, Signal
from reviews.records import effect_names

MOST_METADATA = 5  # values that an address asks for
_A_NUMBER = re.compile(r"[1-9][0-9]{0,17}")  # fits into 64 bits

Order = Literal["learned", "risk", "age"]  # by the learned risk, the hesitation score, or the time it was held

By, Kind = Decision.By, HeldItem.Kind
Teams = Sequence[Team]
Items = QuerySet[HeldItem]
Rows = TypeVar("Rows", bound=QuerySet[Any])
Words = str | Promise
ListName = Literal["held", "decided"]


class Menu(NamedTuple):
    """A filter's values to choose from."""

    label: Words
    any: Words  # what stands there while none is chosen
    choices: Callable[[User, str], Iterable[tuple[str, Words]]]  # for a person, where this one is chosen


class Typed(NamedTuple):
    """A field to type a filter's value into."""

    label: Words
    pill: Words  # before the value in the pill that takes it away
    attributes: Mapping[str, Words | int]
    together: Words = ""  # what it is one end of


@dataclass(frozen=True)
class Filter:
    """What there is to know of one filter; its name, and the parameter in addresses, is that of its field."""

    read: Callable[[str], str]  # gives what of a parameter counts
    condition: Callable[[Items, str], Items] | None  # narrows items down; None: more than one value decides
    unknown: Words = ""  # what a sentence calls a value that does not count; "": any counts
    values: Collection[str] = ()  # all that count, where they can be listed
    of: ListName | Literal[""] = ""  # the list that alone has it
    kept: bool = False  # whether it stays when another agent is looked for
    of_group: bool = False  # whether it is the same for near-duplicates
    menu: Menu | None = None
    typed: Typed | None = None
    pills: Mapping[str, Words] = field(default_factory=dict)  # above the list, by value; "" is the person's own number
    others: Words = ""  # the pill of another person's number


def word(query: Mapping[str, Any], name: str) -> str:
    """Return one value of an address or a form as far as it can name something."""
    return named(query.get(name, ""))


def named(value: str) -> str:
    """Return what of a value can name something; PostgreSQL takes no NUL."""
    return value[:40].replace("\0", "")


def _anything(value: str) -> str:
    return value[:255].replace("\0", "")


def _words(value: str) -> str:
    return _anything(value).strip()


def _number(value: str) -> str:
    return value if _A_NUMBER.fullmatch(value := named(value)) else ""


def _score(value: str) -> str:
    return value if value.isascii() and value.isdigit() and len(value) <= 3 and int(value) <= 100 else ""


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value[:10]).isoformat()
    except ValueError:
        return ""


def _one_of(values: Collection[str]) -> Callable[[str], str]:
    return lambda value: found if (found := named(value)) in values else ""


def _decider(value: str) -> str:
    return value if value in By.values else _number(value)


def _metadata(query: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read `metadata.NAME=VALUE`, and the two fields of the form for one more."""
    asked = {name.removeprefix("metadata."): query[name] for name in query if name.startswith("metadata.")}
    if query.get("metadata_name") and query.get("metadata_value"):
        asked[query["metadata_name"]] = query["metadata_value"]
    return tuple((_anything(name), _anything(value)) for name, value in list(asked.items())[:MOST_METADATA])


def _deciders(person: User, chosen: str) -> list[tuple[str, Words]]:
    """Return whose decisions can be listed: one's own, those of people, of agents, of nobody."""
    choices = {str(person.pk): _("Me"), By.PERSON: _("People"), By.AGENT: _("Agents"), By.SYSTEM: _("Nobody (expired)")}
    return [*choices.items(), *([(chosen, _("Another person"))] if chosen and chosen not in choices else [])]


def _has_effect(items: Items, effect: str) -> Items:
    has_it = F("effect_bits").bitand(effect_bits.bit(effect))
    return items.filter(effect_bits__gt=0).alias(has_it=has_it).filter(has_it__gt=0)


def _has_signal(items: Items, **which: str) -> Items:
    return items.filter(Exists(Signal.objects.filter(response=OuterRef("response"), **which)))


def _decided_by(items: Items, by: str) -> Items:
    of_it = Decision.objects.filter(held=OuterRef("pk"), undone_at=None)
    return items.filter(Exists(of_it.filter(**({"by": by} if by in By.values else {"person": by}))))


def _midnight(day: str, days: int = 0) -> datetime:
    try:
        begins = date.fromisoformat(day) + timedelta(days=days)
        return datetime.combine(begins, time.min, timezone.get_current_timezone()).astimezone(UTC)
    except OverflowError:  # of the first or last day that there is
        return datetime.fromisoformat(day).replace(tzinfo=UTC)


def with_metadata(rows: Rows, wanted: Mapping[str, str], column: str = "metadata") -> Rows:
    """Narrow rows down to those whose metadata have these values: texts, or numbers as they are written."""
    for number, (name, value) in enumerate(wanted.items()):
        of_name = Cast(KeyTextTransform(name, column), TextField())
        rows = rows.alias(**{f"wanted_{number}": of_name}).filter(**{f"wanted_{number}": value})
    return rows


def orders(teams: Teams) -> Sequence[Order]:
    """Return the orders in which the queue of these teams can be read, the usual one first."""
    known: Sequence[Order] = ("learned", "risk", "age") if any(_kinds(team) for team in teams) else ("risk", "age")
    return known if usual_order(teams) == known[0] else ("risk", "learned", "age")


def usual_order(teams: Teams) -> Order:
    return "learned" if any(_kinds(team) and team.risk_order for team in teams) else "risk"


def _kinds(team: Team) -> str:
    """Return what orders the words or else the tool calls of a team; "" where nothing does."""
    return team.risk_kind or team.risk_calls


def _filter(*told: Any, **more: Any) -> Any:
    """Return a field of `Filters` that holds what there is to know of a filter."""
    return field(default="", metadata={"filter": Filter(*told, **more)})


_SCORE: dict[str, Words | int] = {"type": "number", "min": 0, "max": 100}
_DAY: dict[str, Words | int] = {"type": "date"}


@dataclass(frozen=True)
class Filters:
    """What of the queue is looked at; in the page's address, as far as it differs from the default.

    A filter is declared here and nowhere else; pages show them in this order.
    """

    state: ListName = "held"
    agent: str = _filter(  # public id; pages give agents to choose from by `agent_choice`
        named,
        lambda items, agent: items.filter(agent=Agent.objects.filter(public_id=agent).values("pk")[:1]),
        of_group=True,
    )
    kind: str = _filter(
        _one_of(Kind.values),
        lambda items, kind: items.filter(kind=kind),
        unknown=_("kind"),
        values=Kind.values,
        kept=True,
        of_group=True,
        menu=Menu(_("Kind"), _("Kind: any"), lambda *_for: Kind.choices),
    )
    effect: str = _filter(
        _one_of(effect_bits.NAMES),
        _has_effect,
        unknown=_("effect"),
        values=effect_bits.NAMES,
        kept=True,
        of_group=True,
        menu=Menu(_("Effect"), _("Effect: any"), lambda *_for: effect_names.choices()),
    )
    signal: str = _filter(
        _one_of(SIGNALS),
        lambda items, signal: _has_signal(items, type=signal),
        unknown=_("signal"),
        values=SIGNALS,
        kept=True,
        menu=Menu(_("Signal"), _("Signal: any"), lambda *_for: SIGNALS.items()),
    )
    by: str = _filter(  # of Decision.By, or the number of a person
        _decider,
        _decided_by,
        unknown=_("decider"),
        values=By.values,
        of="decided",
        kept=True,
        menu=Menu(_("Decided by"), _("By: anybody"), _deciders),
    )
    pattern: str = _filter(
        _words,
        lambda items, words: _has_signal(items, pattern__description__icontains=words),
        typed=Typed(_("Error pattern"), _("error pattern"), {"maxlength": 200, "placeholder": _("words of its name")}),
    )
    tool: str = _filter(
        _words,
        lambda items, name: items.filter(call__name=name),
        of_group=True,
        typed=Typed(_("Tool"), _("tool"), {"maxlength": 200, "placeholder": _("its whole name")}),
    )
    score_from: str = _filter(
        _score,
        lambda items, score: items.filter(hesitation_score__gte=int(score)),
        unknown=_("lowest score"),
        of_group=True,
        typed=Typed(_("Score from"), _("score from"), _SCORE, _("Score")),
    )
    score_to: str = _filter(
        _score,
        lambda items, score: items.filter(hesitation_score__lte=int(score)),
        unknown=_("highest score"),
        of_group=True,
        typed=Typed(_("Score to"), _("score to"), _SCORE, _("Score")),
    )
    since: str = _filter(  # the first and the last day on which it was held, as 2026-11-26, where the person is
        _day,
        lambda items, day: items.filter(held_at__gte=_midnight(day)),
        unknown=_("first day"),
        typed=Typed(_("Held from"), _("held from"), _DAY, _("Held")),
    )
    until: str = _filter(
        _day,
        lambda items, day: items.filter(held_at__lt=_midnight(day, days=1)),
        unknown=_("last day"),
        typed=Typed(_("Held until"), _("held until"), _DAY, _("Held")),
    )
    session: str = _filter(
        lambda value: _anything(opened(value)),
        lambda items, session: items.filter(response__session=session),
        typed=Typed(_("Session"), _("session"), {"maxlength": 255}),
    )
    alike: str = _filter(  # public id of an item; its near-duplicates, each for itself: a key is of one agent
        named,
        lambda items, held: items.filter(alike=Subquery(HeldItem.objects.filter(public_id=held).values("alike")[:1])),
        of="held",
        of_group=True,
    )
    metadata: tuple[tuple[str, str], ...] = ()  # names and values; in the address as `metadata.run`
    assigned: str = _filter(
        _number,
        lambda items, person: items.filter(talk__assignee=int(person)),
        unknown=_("assignee"),
        pills={"": _("Assigned to me")},
        others=_("Assigned to another person"),
    )
    mentions: str = _filter(
        _number,
        lambda items, person: items.filter(Exists(talk.mentioning(person).filter(held=OuterRef("pk")))),
        unknown=_("mentioned person"),
        pills={"": _("Mentions me")},
        others=_("Mentions another person"),
    )
    snoozed: str = _filter(  # which no other list of what is held has
        _one_of(["1"]),
        lambda items, _on: items.filter(pk__in=talk.snoozed(timezone.now()).values("held")),
        unknown=_("snooze filter"),
        values=["1"],
        of="held",
        pills={"1": _("Snoozed")},
    )
    needs: str = _filter(  # whose approval is missing: `approvers.narrowed`, which leaves out what others must approve
        _one_of(["me", "others", "calls"]),
        None,
        unknown=_("approval filter"),
        values=["me", "others", "calls"],
        of="held",
        pills={
            "me": _("Needs my approval"),
            "others": _("Approved by me, needs others"),
            "calls": _("Waits for tool calls"),
        },
    )
    viewer: int = 0  # the key of whose queue it is, which has nothing that they approved; no part of an address
    order: Order = "risk"
    usual: Order = "risk"  # the order that is meant where an address names none
    after: str = ""  # public id of the last item of the page before

    @classmethod
    def of(cls, query: Mapping[str, Any], teams: Teams, viewer: int = 0) -> Filters:
        """Read an address of the queue of these teams; what is not known means the default."""
        state: ListName = "decided" if query.get("state") == "decided" else "held"
        usual = usual_order(teams)
        return cls(
            state=state,
            **{name: each.read(query.get(name, "")) for name, each in FILTERS.items() if each.of in ("", state)},
            metadata=_metadata(query),
            viewer=viewer,
            order=next((each for each in orders(teams) if each == query.get("order")), usual),
            usual=usual,
            after=word(query, "after"),
        )

    @classmethod
    def of_list(cls, query: Mapping[str, str], teams: Teams, viewer: int = 0) -> tuple[Filters, list[str]]:
        """Read the address of a page; return also a sentence for each value of it that is not known.

        There an agent may be named by its name, too, where only one of these teams has an agent of that name.
        """
        filters = cls.of(query, teams, viewer)
        is_it = Q(public_id=filters.agent) | Q(name=_anything(query.get("agent", "")))
        agents = list(Agent.objects.filter(is_it, team__in=teams)[:2]) if filters.agent else []
        if len(agents) == 1:
            query = {name: query[name] for name in query} | {"agent": agents[0].public_id}
        is_decided = filters.state == "decided"
        asked = {name: each for name, each in FILTERS.items() if each.unknown and (is_decided or each.of != "decided")}
        told = unknown_filters(
            query,
            agents=agents,
            names={name: each.unknown for name, each in asked.items()},
            state=("held", "decided"),
            order=orders(teams),
            **{name: [*each.values, *filter(None, [getattr(filters, name)])] for name, each in asked.items()},
        )
        return replace(filters, agent=agents[0].public_id if len(agents) == 1 else ""), told

    @property
    def fields(self) -> dict[str, str]:
        """Return what differs from the default, for a form."""
        default = _DEFAULTS | {"order": self.usual, "usual": self.usual, "viewer": self.viewer}
        told = {name: value for name, usual in default.items() if (value := getattr(self, name)) != usual}
        told |= {"session": sealed(self.session)} if self.session else {}
        return told | {f"metadata.{name}": value for name, value in told.pop("metadata", ())}

    @cached_property
    def query(self) -> str:
        """Return the address' query with its question mark, or nothing."""
        fields = self.fields
        return "?" + urlencode(fields) if fields else ""

    @property
    def narrow(self) -> bool:
        default = Filters(state=self.state, order=self.order, usual=self.usual, after=self.after, viewer=self.viewer)
        return self != default

    @property
    def reads_clock(self) -> bool:
        """Tell whether what matches depends on when, or in which time zone, it is asked."""
        return bool(self.since or self.until or self.snoozed)

    @property
    def more(self) -> bool:
        """Tell whether any of those is set that the page folds away."""
        return any(each.typed and getattr(self, name) for name, each in FILTERS.items())

    @property
    def pilled(self) -> dict[str, str]:
        """Return those with pills above the list, of which one is on at a time."""
        return {name: getattr(self, name) for name, each in FILTERS.items() if each.pills}

    @property
    def in_groups(self) -> bool:
        """Tell whether near-duplicates are one row."""
        return self.state == "held" and not self.alike

    def but(self, **changes: Any) -> Filters:
        """Return these filters with some changed, at the first page."""
        return replace(self, after="", **changes)

    def in_list(self, state: ListName, **changes: str) -> Filters:
        """Return these filters for another list, without those that it has not."""
        left = {name: "" for name, each in FILTERS.items() if each.of not in ("", state)}
        return self.but(state=state, **left, **changes)


_DEFAULTS = {each.name: each.default for each in fields(Filters)}
FILTERS: Mapping[str, Filter] = {each.name: each.metadata["filter"] for each in fields(Filters) if each.metadata}
KEPT = ("state", *(name for name, each in FILTERS.items() if each.kept), "order")  # when another agent is looked for


def narrowed(items: Items, filters: Filters) -> Items:
    """Narrow items down to those that match."""
    for name, each in FILTERS.items():
        if each.condition and (value := getattr(filters, name)):
            items = each.condition(items, value)
    return with_metadata(items, dict(filters.metadata))
