"""The daily figures: what triggered, what was held, and what people made of it, per agent and day.

Every day is counted afresh from its rows (seed 000, "Daily Error Review"), so counting twice changes
nothing. A day is one in UTC: agents have no time zone of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import groupby, islice
from math import inf
from operator import itemgetter
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast, Length, TruncDate
from django.utils import timezone
from pydantic_core import from_json

from metacog.heuristics.effects.effect import KINDS
from metacog.heuristics.stats.intervals import concordance, median_ranks, relative, wilson
from metacog.heuristics.tool_calls.effect_bits import names_in
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Team
from reviews.isolation import by_itself
from reviews.models import AgentResponse, DailyFigure, Decision, DecisionVerdict, HeldCall, HeldItem, Signal
from reviews.records.settled_calls import settled

State = HeldItem.State

ENOUGH = 10  # decisions; with fewer, a ratio is not told
DAYS_A_RUN = 60  # of one agent; what is left of a long history is counted by the runs that follow
TURN_SECONDS = 20.0  # in which a run begins with agents; it ends before the task's limit
LATE = timedelta(minutes=10)  # what was received may be seen so much later, and no later
ANYWAY = timedelta(hours=1)  # after which a silent agent is counted, too: pages tell when it was

_DAY = timedelta(days=1)
_OUTCOMES = {
    DecisionVerdict.REJECT: "rejected",
    DecisionVerdict.WITHDRAW: "withdrawn",
    DecisionVerdict.EDIT: "edited",
    DecisionVerdict.APPROVE: "approved",
    DecisionVerdict.EXPIRE: "expired",
}
# What a person or the agent decided. Both ways of turning an item down say that holding it was right.
_REJECTED = (State.REJECTED, State.WITHDRAWN)
_DECIDED = (*_REJECTED, State.EDITED, State.APPROVED)


# -- counting --------------------------------------------------------------------------------------


def day_of(moment: datetime) -> date:
    """Return the day that a moment belongs to."""
    return moment.astimezone(UTC).date()


def start_of(day: date) -> datetime:
    """Return the moment at which a day begins."""
    return datetime.combine(day, time(), UTC)


def recount(agent: Agent, day: date) -> DailyFigure:
    """Count one day of an agent from its rows, and store it."""
    with transaction.atomic():
        DailyFigure.objects.get_or_create(agent=agent, day=day, defaults={"counted_at": timezone.now()})
        # Two that count the same day take turns, and the later one sees at least what the earlier saw.
        figure = DailyFigure.objects.select_for_update().get(agent=agent, day=day)
        for name, value in _count(agent, day).items():
            setattr(figure, name, value)
        figure.counted_at = timezone.now()
        figure.save()
    return figure


def count_days(now: datetime) -> int:
    """Count today, yesterday and every day that changed since it was counted; return how many days.

    A past day can change only by its pending items being decided: its row is out of date when it does
    not say as many as there are. Days that nobody counted, because nothing ran, follow the last one
    counted, which was not over then. So nothing depends on when this runs, or how often. Who was counted
    longest ago comes first; whom a run has no time for, those that follow have.
    """
    began, counted, changed = monotonic(), 0, _changed()
    # A clock that was wrong for a while may have gone on.
    newest = DailyFigure.objects.filter(agent=OuterRef("pk"), day__lte=day_of(now)).order_by("-day")
    posted = AgentResponse.objects.posted().filter(agent=OuterRef("pk"))
    of_late = posted.filter(received_at__gt=OuterRef("counted_at") - LATE)
    agents = (
        Agent.objects.filter(Exists(posted))
        .annotate(last=Subquery(newest.values("day")[:1]))
        .annotate(counted_at=Subquery(newest.values("counted_at")[:1]))
        .annotate(posted=Exists(of_late))
    )
    for agent in agents.order_by(F("counted_at").asc(nulls_first=True), "pk"):
        with by_itself("Days not counted for %s", agent.public_id):
            days = changed.get(agent.pk, [])
            if agent.posted or not (agent.last == day_of(now) and now - ANYWAY < agent.counted_at <= now):
                days = _days_to_count(agent, agent.last, day_of(now), days)
            for day in days:
                recount(agent, day)
                counted += 1
        if counted and monotonic() - began > TURN_SECONDS:
            break
    return counted


def _days_to_count(agent: Agent, last: date | None, today: date, changed: list[date]) -> list[date]:
    if last is None:
        posted = AgentResponse.objects.posted().filter(agent=agent)
        start = day_of(posted.aggregate(first=Min("received_at"))["first"])
    else:
        start = last - _DAY
    earlier = [] if last is None else [day for day in changed if day < start]
    return [*earlier, *list(days_between(start, today))[:DAYS_A_RUN]]


def _changed() -> dict[int, list[date]]:
    """Return, by agent, the days whose stored number of pending items is no longer true, or that lack patterns."""
    stored = DailyFigure.objects.filter(Q(pending__gt=0) | Q(calls_pending__gt=0)).order_by("agent", "day")
    is_call, is_of_words = Q(kind=HeldItem.Kind.TOOL_CALL), ~Q(kind__in=HeldItem.NO_WORDS)
    still_open = {
        (agent, day): counts
        for agent, day, *counts in HeldItem.objects.filter(closed_at=None)
        .order_by()
        .values_list("agent", TruncDate("response__received_at", tzinfo=UTC))
        .annotate(words=Count("pk", filter=is_of_words), calls=Count("pk", filter=is_call))
    }
    changed: dict[int, list[date]] = {}
    for agent, day, *pending in stored.values_list("agent", "day", "pending", "calls_pending"):
        if still_open.get((agent, day), [0, 0]) != pending:
            changed.setdefault(agent, []).append(day)
    lacking = DailyFigure.objects.filter(patterns__isnull=True).order_by("agent", "-day").values_list("agent", "day")
    for agent, rows in groupby(lacking.iterator(), key=itemgetter(0)):
        days = (day for _, day in rows)
        changed[agent] = sorted({*changed.get(agent, []), *islice(days, DAYS_A_RUN)})
    return changed


def days_between(first: date, last: date) -> Iterator[date]:
    """Give every day from the first to the last, both included."""
    return (first + timedelta(days=number) for number in range((last - first).days + 1))


def _count(agent: Agent, day: date) -> dict[str, Any]:
    start = start_of(day)
    posted = AgentResponse.objects.posted()
    responses = posted.filter(agent=agent, received_at__gte=start, received_at__lt=start + _DAY).order_by()
    told: dict[str, Any] = responses.aggregate(responses=Count("pk"), triggered=Count("pk", filter=Q(triggered=True)))
    words = HeldItem.objects.words().filter(response__in=responses)
    held = words.count()
    outcomes: Counter[str] = Counter()
    scores: dict[str, list[int]] = {}
    lengths: dict[str, list[int]] = {}
    seconds: Counter[str] = Counter()
    people: dict[str, Counter[str]] = {}
    # An item is closed by its one released decision, which nobody can take back.
    decisions = Decision.objects.filter(held__response__in=responses, released_at__isnull=False, undone_at=None).filter(
        held__in=words
    )
    for verdict, by, person, score, length, erased_at, held_at, decided_at in decisions.order_by().values_list(
        "verdict",
        "by",
        "person",
        "held__hesitation_score",
        Length("held__text"),
        "held__response__erased_at",
        "held__held_at",
        "decided_at",
    ):
        outcomes[_OUTCOMES[DecisionVerdict(verdict)]] += 1
        if person is not None:
            people.setdefault(str(person), Counter())[_OUTCOMES[DecisionVerdict(verdict)]] += 1
        if by != Decision.By.SYSTEM:  # it expired, or was withdrawn with all of its agent: nobody judged it
            is_rejected = verdict in (DecisionVerdict.REJECT, DecisionVerdict.WITHDRAW)
            bands = [scores.setdefault(str(score), [0, 0])]
            if erased_at is None:
                bands.append(lengths.setdefault(str(_two_digits(length)), [0, 0]))
            for band in bands:
                band[0] += 1
                band[1] += is_rejected
            seconds[str(max(0, int((decided_at - held_at).total_seconds())))] += 1
    return (
        told
        | {name: outcomes[name] for name in _OUTCOMES.values()}
        | {"held": held, "pending": held - outcomes.total()}
        | {"signals": _fired(responses, "type"), "patterns": _fired(responses, "pattern"), "people": people}
        | {"scores": scores, "lengths": lengths, "seconds": dict(seconds)}
        | _calls(responses)
    )


CALLS = ("passed", "denied", "approved", "edited", "rejected", "withdrawn", "expired", "pending", "granted")
UNASKED = ("passed", "granted", "denied")  # of those: what nobody was asked about
NO_EFFECT = "none"  # in place of one, of a call that has none


def _calls(responses: QuerySet[AgentResponse]) -> dict[str, Any]:
    """Count tool calls by tool and by effect: what rules and grants did with them, and what became of the others."""
    tools: dict[str, Counter[str]] = {}
    effects: dict[str, Counter[str]] = {}

    def count(tool: str, kinds: Iterable[str], became: str) -> None:
        tools.setdefault(tool, Counter())[became] += 1
        for kind in set(kinds) or {NO_EFFECT}:
            effects.setdefault(kind, Counter())[became] += 1

    with_calls = responses.filter(calls__gt=0).only("verdict")
    for item, fate in settled(with_calls.iterator(chunk_size=100)):
        if fate != "again":  # it is counted as the held item that it was
            count(item["name"], [each["effect"] for each in item.get("effects", ())], fate)
    pending = 0
    held = HeldCall.objects.filter(held__response__in=responses)
    for name, bits, state, closed_at in held.values_list("name", "held__effect_bits", "held__state", "held__closed_at"):
        became = state if closed_at else "pending"
        pending += became == "pending"
        count(name, [kind for kind in names_in(bits or 0) if kind in KINDS], became)
    by_name = {"calls": tools, "effects": effects}
    told = {column: {name: dict(counts[name]) for name in sorted(counts)} for column, counts in by_name.items()}
    return told | {"calls_pending": pending}


def _two_digits(length: int) -> int:
    """Round down to two digits that count, so that a day has few lengths however many items it has."""
    step: int = 10 ** max(0, len(str(length)) - 2)
    return length // step * step


def _fired(responses: Any, by: str) -> dict[str, dict[str, int]]:
    """Count by a field of signals: the responses it fired on, and their held items that were decided and rejected."""
    is_of_words = ~Q(response__held_items__kind__in=HeldItem.NO_WORDS)
    closed = Q(response__held_items__closed_at__isnull=False) & is_of_words
    rows = (
        Signal.objects.filter(response__in=responses, **{f"{by}__isnull": False})
        .order_by()
        .values_list(by)
        .annotate(
            fired=Count("response", distinct=True),
            decided=Count(
                "response__held_items", filter=closed & Q(response__held_items__state__in=_DECIDED), distinct=True
            ),
            rejected=Count(
                "response__held_items", filter=closed & Q(response__held_items__state__in=_REJECTED), distinct=True
            ),
        )
    )
    return {
        str(name): {"fired": fired, "decided": decided, "rejected": rejected} for name, fired, decided, rejected in rows
    }


# -- adding up -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ratio:
    """So many of so many, with Wilson's 95 % interval. `rate`, `low` and `high` are 0 to 1."""

    part: int
    whole: int

    @property
    def rate(self) -> float:
        return self.part / self.whole if self.whole else 0.0

    @property
    def low(self) -> float:
        return wilson(self.part, self.whole)[0]

    @property
    def high(self) -> float:
        return wilson(self.part, self.whole)[1]

    @property
    def is_enough(self) -> bool:
        return self.whole >= ENOUGH


@dataclass(frozen=True)
class Lift:
    """How often what a signal fired on was rejected, as a multiple of how often all that was decided was.

    1 is no better than chance. `fired` is a part of `decided`, so the interval (95 %) comes from what it fired on
    against the rest: the share that it fired on taken as it is, the lift only grows with the ratio of those two.
    """

    fired: Ratio
    decided: Ratio

    @property
    def rest(self) -> Ratio:
        return Ratio(self.decided.part - self.fired.part, self.decided.whole - self.fired.whole)

    @property
    def rate(self) -> float:
        return self.fired.rate / self.decided.rate if self.decided.part else 1.0

    @property
    def low(self) -> float:
        return self._interval[0]

    @property
    def high(self) -> float:
        return self._interval[1]

    @cached_property
    def _interval(self) -> tuple[float, float]:
        share = self.fired.whole / self.decided.whole if self.decided.whole else 1.0
        ends = relative(self.fired.part, self.fired.whole, self.rest.part, self.rest.whole)
        # Of what never fired nothing is known: up to infinity.
        parts = [share + (1 - share) / end if end else inf for end in ends]
        low, high = (1 / part if part else inf for part in parts)
        return low, high

    @property
    def is_enough(self) -> bool:
        return self.fired.is_enough and self.rest.is_enough and self.decided.part > 0

    @property
    def against_rest(self) -> tuple[float, float, float]:
        """The same as a multiple of how often the rest was rejected, of which some was; and its interval (95 %)."""
        rate = self.fired.rate / self.rest.rate if self.rest.part else math.inf
        return rate, *relative(self.fired.part, self.fired.whole, self.rest.part, self.rest.whole)


@dataclass(frozen=True)
class Concordance:
    """Of all pairs of a rejected item and one let go, the share in which the rejected one is higher, and its interval.

    0 to 1; 0.5 is chance. Of a pair that is equal, half counts. (The area under the ROC curve.)
    """

    rate: float
    low: float
    high: float
    rejected: int
    let_go: int

    @classmethod
    def of(cls, counts: Mapping[int, tuple[int, int]]) -> Concordance:
        """Compare by values, with how many items of each were decided, and how many rejected."""
        below = 0  # of what was let go
        won = 0.0
        all_rejected = 0
        for value in sorted(counts):
            decided, rejected = counts[value]
            won += rejected * (below + (decided - rejected) / 2)
            below += decided - rejected
            all_rejected += rejected
        rate = won / (all_rejected * below) if all_rejected and below else 0.5
        return cls(rate, *concordance(rate, all_rejected, below), all_rejected, below)

    @property
    def is_enough(self) -> bool:
        return min(self.rejected, self.let_go) >= ENOUGH

    def turned(self) -> Concordance:
        """Return the share in which the rejected one is lower."""
        return Concordance(1 - self.rate, 1 - self.high, 1 - self.low, self.rejected, self.let_go)


def percentile(seconds: Counter[int], share: float) -> int | None:
    """Return the nearest-rank percentile of counted values: the least that `share` of them do not exceed."""
    return of_rank(seconds, math.ceil(share * seconds.total())) if seconds else None


def of_rank(values: Counter[int], rank: int) -> int:
    """Return the value of that rank, from 1 on, of counted values."""
    for value in sorted(values):
        rank -= values[value]
        if rank <= 0:
            return value
    return max(values)


@dataclass(frozen=True)
class Counts:
    """How many responses came in some days, how many items were held of them, and what became of those."""

    responses: int = 0
    triggered: int = 0
    held: int = 0
    rejected: int = 0
    withdrawn: int = 0
    edited: int = 0
    approved: int = 0
    expired: int = 0
    pending: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in COUNTS})

    @property
    def trigger_ratio(self) -> Ratio:
        return Ratio(self.triggered, self.responses)

    @property
    def rejected_ratio(self) -> Ratio:
        """Of the held items that were decided, those that were rejected or withdrawn."""
        confirmed = self.rejected + self.withdrawn
        return Ratio(confirmed, confirmed + self.edited + self.approved)


COUNTS = ("responses", "triggered", "held", *_OUTCOMES.values(), "pending")


@dataclass(frozen=True)
class Total(Counts):
    """Several days, or several agents, as one, with what is counted by value."""

    signals: dict[str, Counter[str]] = field(default_factory=dict)
    scores: dict[int, tuple[int, int]] = field(default_factory=dict)
    lengths: dict[int, tuple[int, int]] = field(default_factory=dict)
    seconds: Counter[int] = field(default_factory=Counter)
    calls: dict[str, Counter[str]] = field(default_factory=dict)  # by tool, then as CALLS has them
    effects: dict[str, Counter[str]] = field(default_factory=dict)  # the same by effect: a call once for each it has

    @classmethod
    def of(cls, figures: Iterable[DailyFigure]) -> Total:
        counts: dict[str, Any] = dict.fromkeys(COUNTS, 0)
        total = cls()
        for figure in figures:
            for name in COUNTS:
                counts[name] += getattr(figure, name)
            for name, each in figure.signals.items():
                total.signals.setdefault(name, Counter()).update(each)
            for added, stored in ((total.scores, figure.scores), (total.lengths, figure.lengths or {})):
                for value, (decided, rejected) in stored.items():
                    before = added.get(int(value), (0, 0))
                    added[int(value)] = (before[0] + decided, before[1] + rejected)
            total.seconds.update({int(value): count for value, count in figure.seconds.items()})
            _add(total.calls, figure.calls)
            _add(total.effects, figure.effects or {})
        return replace(total, **counts)

    @property
    def all_calls(self) -> Counter[str]:
        """Return what became of all tool calls, each counted once, as CALLS has it."""
        return sum(self.calls.values(), Counter())

    @property
    def median_interval(self) -> tuple[int, int] | None:
        """Return the 95 % interval of the median, in seconds; of a few decisions there is none."""
        if self.seconds.total() < ENOUGH:
            return None
        low, high = median_ranks(self.seconds.total())
        return of_rank(self.seconds, low), of_rank(self.seconds, high)

    @property
    def median_seconds(self) -> int | None:
        return percentile(self.seconds, 0.5)

    @property
    def p90_seconds(self) -> int | None:
        return percentile(self.seconds, 0.9)

    def between(self, low: int, high: int) -> Ratio:
        """Return how many of the decided items with such a score were rejected."""
        bands = [counts for score, counts in self.scores.items() if low <= score <= high]
        return Ratio(sum(rejected for _, rejected in bands), sum(decided for decided, _ in bands))


def calls_of(agent: Agent, since: date) -> Total:
    """Return what became of an agent's tool calls since a day, by tool and by effect; of the total nothing else."""
    total = Total()
    stored = DailyFigure.objects.filter(agent=agent, day__gte=since).order_by().values_list("calls", "effects")
    for by_tool, by_effect in stored:
        _add(total.calls, by_tool)
        _add(total.effects, by_effect or {})
    return total


def _add(sums: dict[str, Counter[str]], counts_of: Mapping[str, Mapping[str, int]]) -> None:
    for name, each in counts_of.items():
        sums.setdefault(masked_text(name), Counter()).update(each)


def lifts(team: Team, since: date) -> dict[str, Lift]:
    """Return the lift of each signal that fired, on all that was decided of a team's agents since a day."""
    figures = DailyFigure.objects.filter(agent__team=team, day__gte=since).order_by()
    decided: dict[str, Any] = dict.fromkeys(("rejected", "withdrawn", "edited", "approved"), 0)
    fired, rejected = Counter[str](), Counter[str]()  # by signal, of what was decided
    # As a text: Django's own JSON, and counters of counters, took four times as long.
    for signals, *counts in figures.values_list(Cast("signals", TextField()), *decided):
        for name, count in zip(decided, counts, strict=True):
            decided[name] += count
        for name, each in from_json(signals).items():
            fired[name] += each["decided"]
            rejected[name] += each["rejected"]
    overall = Total(**decided).rejected_ratio
    return {name: Lift(Ratio(rejected[name], fired[name]), overall) for name in fired}
