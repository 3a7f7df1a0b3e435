"""The posts of one session, in their order: a page of them, those of a kind, and how many there are.

A session is what an agent calls so. What it posted without one is its session without a name. No answer reads more
than a bounded part of it, however long it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, Exists, Func, Max, Min, OuterRef, Q, QuerySet, Sum, TextField
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.rows import COUNTED
from metacog.heuristics.tool_calls.effect_bits import OUTSIDE
from metacog.models import Agent
from reviews.models import AgentResponse, CallOutcome, HeldItem
from reviews.records.settled_calls import settled

PAGE = 50  # posts that are shown together
WINDOW = 2_000  # posts among which those of a kind are looked for at once
BEFORE = 5  # posts that are shown before one that is named
MOST_LANES = 100  # sessions of a day
MOST_MARKS = 2_000  # held items of a day
_HOUR, _NONE = timedelta(hours=1), timedelta()

State = HeldItem.State
Responses = QuerySet[AgentResponse, AgentResponse]


def _holds(**which: Any) -> Exists:
    return Exists(HeldItem.objects.filter(response=OuterRef("pk"), **which))


def _has(name: str, begin: str) -> Q:
    """Ask for bodies with a field that begins so: as Python writes JSON, and as JavaScript does."""
    return Q(body__contains=f'"{name}": {begin}') | Q(body__contains=f'"{name}":{begin}')


# What of a session can be shown alone. Texts are looked for as they are stored: what is found may be a little more.
SHOW: Mapping[str, tuple[str | Promise, Any]] = {
    "user": (_("User's messages"), Q(body__contains='"user_message"')),
    "held": (_("Held"), _holds()),
    "pending": (pgettext_lazy("state", "Pending"), _holds(state=State.PENDING)),
    "approved": (_("Approved"), _holds(state__in=[State.APPROVED, State.EDITED, State.ANSWERED])),
    "rejected": (
        _("Rejected"),
        _holds(state__in=[State.REJECTED, State.WITHDRAWN, State.EXPIRED])
        | Q(calls__gt=0, verdict__contains='"disposition": "reject"'),
    ),
    "calls": (_("Tool calls"), Q(calls__gt=0)),
    "errors": (
        _("Errors"),
        Q(body__contains='"errors"')
        | Q(body__contains='"command_failed"')
        | _holds(call__outcome__status=CallOutcome.Status.FAILED),
    ),
}


class Asked(NamedTuple):
    """Which posts of a session are asked for: public ids, and names of `SHOW` and of an effect; "" is none."""

    after: str = ""
    before: str = ""
    at: str = ""
    show: str = ""
    effect: str = ""

    @property
    def narrows(self) -> bool:
        return bool(self.show or self.effect)


@dataclass(frozen=True)
class Page:
    """A part of a session, in order."""

    rows: Sequence[AgentResponse]
    after: str = ""  # where what follows begins; "" at the end
    has_earlier: bool = False


@dataclass(frozen=True)
class Summary:
    """What a session came to, of its first `COUNTED` posts."""

    posts: int
    calls: int
    errors: int  # posts that name errors or a command that failed
    first_at: datetime
    last_at: datetime
    states: Mapping[str, int]  # of held items
    outcomes: Mapping[str, int]  # of approved calls
    settled: Mapping[str, int]  # calls that nobody was asked about
    held_calls: int
    held_effects: int  # bits, of all of them
    last: str  # the last post

    @property
    def held(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True)
class Session:
    """A session by its agent and its name."""

    agent: Agent
    name: str

    @property
    def rows(self) -> Responses:
        return AgentResponse.objects.filter(agent=self.agent, session=self.name)

    def page(self, asked: Asked) -> Page:
        """Return the posts that are asked for; five queries at most."""
        rows = self.rows
        if asked.before and (place := self._place(asked.before)):
            earlier = self._whole(rows.filter(pk__lt=place).order_by("-pk"))[: PAGE + 1]
            found = list(earlier)
            return Page(found[:PAGE][::-1], found[0].public_id if found else "", len(found) > PAGE)
        start = self._place(asked.after)
        if asked.at and (place := self._place(asked.at)):
            start = next(iter(rows.filter(pk__lt=place).order_by("-pk").values_list("pk", flat=True)[BEFORE:][:1]), 0)
        rows = rows.filter(pk__gt=start)
        if asked.narrows:
            return self._narrowed(rows, asked, start)
        found = list(self._whole(rows.order_by("pk"))[: PAGE + 1])
        return Page(found[:PAGE], found[PAGE - 1].public_id if len(found) > PAGE else "", start > 0)

    def _narrowed(self, rows: Responses, asked: Asked, start: int) -> Page:
        """Return those of a kind among the next `WINDOW` posts; there may be none of them, and more behind."""
        keys = list(rows.order_by("pk").values_list("pk", "public_id")[: WINDOW + 1])
        if not keys:
            return Page([], has_earlier=start > 0)
        rows = rows.filter(pk__lte=keys[:WINDOW][-1][0])
        if asked.show:
            rows = rows.filter(SHOW[asked.show][1])
        if asked.effect:
            told = '"inside": false' if asked.effect == OUTSIDE else f'"effect": "{asked.effect}"'
            rows = rows.filter(calls__gt=0, verdict__contains=told)
        found = list(self._whole(rows.order_by("pk"))[: PAGE + 1])
        more = keys[WINDOW - 1][1] if len(keys) > WINDOW else ""
        return Page(found[:PAGE], found[PAGE - 1].public_id if len(found) > PAGE else more, start > 0)

    def named(self, ids: Sequence[str]) -> list[AgentResponse]:
        """Return the posts in which these items are held."""
        wanted = HeldItem.objects.filter(agent=self.agent, public_id__in=ids).values("response")
        return list(self._whole(self.rows.filter(pk__in=wanted).order_by("pk")))

    def every(self) -> Responses:
        return self._whole(self.rows.order_by("pk"))

    def summary(self) -> Summary | None:
        """Count what it came to; four queries. None: there is no such session."""
        last = self.rows.order_by("-pk").values_list("public_id", "received_at").first()
        if last is None:
            return None
        counted = self.rows.order_by("pk")[: COUNTED + 1]
        failed = _has("errors", '["') | _has("command_failed", "true")
        told = counted.aggregate(
            posts=Count("pk"), calls=Sum("calls"), errors=Count("pk", filter=failed), first_at=Min("received_at")
        )
        held = HeldItem.objects.filter(response__in=counted.values("pk")).order_by()
        states: Counter[str] = Counter()
        outcomes: Counter[str] = Counter()
        calls = effects = 0
        for state, kind, status, bits, count in held.values_list(
            "state", "kind", "call__outcome__status", "effect_bits"
        ).annotate(count=Count("pk")):
            states[state] += count
            if kind == HeldItem.Kind.TOOL_CALL:
                calls, effects = calls + count, effects | (bits or 0)
                if state in (State.APPROVED, State.EDITED):
                    outcomes[status or ""] += count
        with_calls = AgentResponse.objects.filter(pk__in=counted.values("pk"), calls__gt=0).only("verdict")
        fates = Counter[str](fate for _item, fate in settled(with_calls.iterator(chunk_size=100)))
        told |= {"held_calls": calls, "held_effects": effects, "last": last[0], "last_at": last[1]}
        return Summary(**told, states=states, outcomes=outcomes, settled=fates)

    def _place(self, public_id: str) -> int:
        """Return the key of a post of this session; 0 where there is none of that id."""
        return self.rows.filter(public_id=public_id).values_list("pk", flat=True).first() or 0 if public_id else 0

    @staticmethod
    def _whole(rows: Responses) -> Responses:
        return rows.select_related("second_look_at").defer("history", "fingerprint", "excerpt")


def latest(agent: Agent, most: int, among: int = 200) -> list[dict[str, Any]]:
    """Return the sessions of an agent's latest posts, the latest first: name, posts among those, and the last time."""
    found: dict[str, dict[str, Any]] = {}
    for name, at in AgentResponse.latest_of(agent).values_list("session", "received_at")[:among]:
        found.setdefault(name, {"name": name, "posts": 0, "last_at": at})["posts"] += 1
    return list(found.values())[:most]


def last_post(agent: Agent) -> datetime | None:
    return AgentResponse.latest_of(agent).values_list("received_at", flat=True).first()


def of_day(agent: Agent, start: datetime, end: datetime) -> list[dict[str, Any]]:
    """Return the sessions that an agent posted in between two moments: name, first, last, and how many posts."""
    rows = _between(agent, start, end).values("session")
    told = rows.annotate(first_at=Min("received_at"), last_at=Max("received_at"), posts=Count("pk"))
    return [dict(each) for each in told.order_by("first_at", "session")[: MOST_LANES + 1]]


def held_of_day(agent: Agent, start: datetime, end: datetime) -> list[tuple[str, datetime, str]]:
    """Return what was held then: its session, when it was posted, and how it stands."""
    rows = HeldItem.objects.filter(response__in=_between(agent, start, end).values("pk")).order_by()
    return list(rows.values_list("response__session", "response__received_at", "state")[:MOST_MARKS])


def by_hour(agent: Agent, start: datetime, end: datetime) -> tuple[Counter[datetime], Counter[datetime]]:
    """Count what an agent posted, and what of it was held, by the hours of the current time zone.

    Hours are told by the moments at which they begin. Rows are counted by the database, by minutes where the zone is
    not whole hours from UTC.
    """
    zone = timezone.get_current_timezone()
    is_whole = all((moment.astimezone(zone).utcoffset() or _NONE) % _HOUR == _NONE for moment in (start, end))
    length = len("2026-11-27 12") if is_whole else len("2026-11-27 12:34")
    posts = _between(agent, start, end)
    held = HeldItem.objects.filter(response__in=posts.values("pk")).order_by()
    found: list[Counter[datetime]] = []
    for rows, field in ((posts, "received_at"), (held, "response__received_at")):
        counted = rows.annotate(part=_beginning(field, length)).values_list("part").annotate(n=Count("pk"))
        hours: Counter[datetime] = Counter()
        for part, n in counted:
            at = datetime.fromisoformat(part if ":" in part else f"{part}:00")
            local = at.replace(tzinfo=UTC).astimezone(zone)
            hours[local.replace(minute=0)] += n
        found.append(hours)
    return found[0], found[1]


def _between(agent: Agent, start: datetime, end: datetime) -> Responses:
    return AgentResponse.objects.filter(agent=agent, received_at__gte=start, received_at__lt=end).order_by()


def _beginning(field: str, length: int) -> Func:
    """Give how the time of a column begins in UTC, as `2026-11-27 12:34` of that length; it costs no Python a row."""
    in_utc = "to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"
    text = in_utc if connection.vendor == "postgresql" else "%(expressions)s"
    return Func(field, template=f"substr({text}, 1, {length})", output_field=TextField())
