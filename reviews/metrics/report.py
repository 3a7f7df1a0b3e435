"""What Statistics shows of a range of days and of the range before it: all of it read in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import Max, QuerySet, Sum
from django.utils import timezone

from metacog.models import Agent, Team, User
from patterns.models import ErrorPattern
from reviews.metrics import agreement, call_outcomes, sampling
from reviews.metrics.agreement import Record
from reviews.metrics.call_outcomes import CallOutcomes
from reviews.metrics.daily import COUNTS, Counts, Ratio, Total
from reviews.metrics.ranges import Range
from reviews.metrics.sampling import Misses
from reviews.models import DailyFigure

AT_ONCE = 1000  # rows of one agent and day that are in memory


@dataclass(frozen=True)
class Scope:
    """Whose figures of which days; of the people who decided, those that may be seen."""

    agents: Sequence[Agent]  # with their teams
    range: Range
    viewer: User
    owned: Collection[int]  # teams whose members the viewer may see one by one


class Now(NamedTuple):
    """What was counted in the range, and in the range before it."""

    now: Counts
    before: Counts


class Fired(NamedTuple):
    """How many responses something fired on (or items somebody decided), and what became of the items."""

    fired: int
    now: Ratio
    before: Ratio


@dataclass(frozen=True)
class Report:
    """Everything that the page and its files are made of."""

    scope: Scope
    total: Total
    before: Total
    by_day: Mapping[date, Counts]  # of the range
    by_agent: Mapping[Agent, Now]
    signals: Mapping[str, Fired]
    patterns: Mapping[ErrorPattern, Fired]
    people: Mapping[User, Fired]
    misses: Sequence[Misses]
    looks: Sequence[Record]
    outcomes: Sequence[CallOutcomes]
    counted_at: datetime | None

    @property
    def by_team(self) -> dict[Team, Now]:
        found: dict[Team, Now] = {}
        for agent, each in self.by_agent.items():
            was = found.get(agent.team, Now(Counts(), Counts()))
            found[agent.team] = Now(was.now.plus(each.now), was.before.plus(each.before))
        return found

    @property
    def by_week(self) -> list[tuple[Range, Counts]]:
        """Return the weeks of the range, oldest first."""
        return [(week, self.of_days(week)) for week in self.scope.range.weeks()]

    def of_days(self, days: Range) -> Counts:
        """Add up the counts of some of the days."""
        total = Counts()
        for day, each in self.by_day.items():
            if day in days:
                total = total.plus(each)
        return total

    @property
    def decided_by_people(self) -> Ratio:
        """Of what those people decided, what they rejected."""
        every = self.people.values()
        return Ratio(sum(each.now.part for each in every), sum(each.now.whole for each in every))


def read(scope: Scope) -> Report:
    """Read it. Fourteen queries at most, however many agents, days and responses there are."""
    before, now = scope.range.before, scope.range
    figures = DailyFigure.objects.filter(agent__in=scope.agents, day__gte=before.first, day__lte=now.last).order_by()
    by_value = figures.defer("patterns", "people")
    by_day = _sums(figures.filter(day__gte=now.first), "day")
    agents = {agent.pk: agent for agent in scope.agents}
    now_by, before_by = (_sums(figures.filter(day__gte=begin, day__lte=end), "agent") for begin, end in _ends(scope))
    total = Total.of(by_value.filter(day__gte=now.first).iterator(AT_ONCE))
    earlier = Total.of(by_value.filter(day__lte=before.last).iterator(AT_ONCE))
    patterns = _fired(figures, now, "patterns")
    people = _people(figures, scope)
    named = ErrorPattern.objects.in_bulk(patterns) if patterns else {}
    users = User.objects.in_bulk(people) if people else {}
    return Report(
        scope=scope,
        total=total,
        before=earlier,
        by_day={day: by_day.get(day, Counts()) for day in now.each()},
        by_agent={
            agents[pk]: Now(now_by.get(pk, Counts()), before_by.get(pk, Counts())) for pk in {**now_by, **before_by}
        },
        signals={
            name: Fired(each["fired"], _ratio(each), _ratio(earlier.signals.get(name, {})))
            for name, each in total.signals.items()
        },
        patterns={named[pk]: each for pk, each in patterns.items() if pk in named and each.fired},
        people={users[pk]: each for pk, each in people.items() if pk in users and each.fired},
        misses=sampling.misses(scope.agents, now.first, now.last),
        looks=agreement.records(scope.agents, now.first, now.last),
        outcomes=call_outcomes.by_agent(scope.agents, now.first, now.last, timezone.now()),
        counted_at=figures.aggregate(at=Max("counted_at"))["at"],
    )


def _ends(scope: Scope) -> tuple[tuple[date, date], tuple[date, date]]:
    return (scope.range.first, scope.range.last), (scope.range.before.first, scope.range.before.last)


def _sums(figures: QuerySet[DailyFigure], by: str) -> dict[Any, Counts]:
    """Add up the counts by a column, in the database."""
    sums = figures.values_list(by).annotate(*(Sum(name) for name in COUNTS))
    return {key: Counts(**dict(zip(COUNTS, counts, strict=True))) for key, *counts in sums}


def _ratio(counts: Mapping[str, int]) -> Ratio:
    return Ratio(counts.get("rejected", 0), counts.get("decided", 0))


def _fired(figures: QuerySet[DailyFigure], now: Range, column: str) -> dict[int, Fired]:
    """Add up a column that says, by the number of a row, how often it fired, and what was decided of that."""
    stored = figures.exclude(**{f"{column}__isnull": True}).values_list("day", column)
    sums: dict[int, list[int]] = {}
    for day, counts in stored.iterator(AT_ONCE):
        for name, each in counts.items():
            added = sums.setdefault(int(name), [0] * 5)
            if day in now:
                added[0] += each["fired"]
            at = 1 if day in now else 3
            added[at] += each["rejected"]
            added[at + 1] += each["decided"]
    return {name: Fired(each[0], Ratio(each[1], each[2]), Ratio(each[3], each[4])) for name, each in sums.items()}


def _people(figures: QuerySet[DailyFigure], scope: Scope) -> dict[int, Fired]:
    """Add up who decided what: of the teams that the viewer owns everybody, of the others the viewer alone."""
    stored = figures.exclude(people__isnull=True).values_list("agent__team", "day", "people")
    sums: dict[int, list[int]] = {}
    for team, day, people in stored.iterator(AT_ONCE):
        for name, counts in (people or {}).items():
            if team in scope.owned or int(name) == scope.viewer.pk:
                added = sums.setdefault(int(name), [0] * 4)
                at = 0 if day in scope.range else 2
                added[at] += counts.get("rejected", 0)
                added[at + 1] += sum(counts.values())
    return {name: Fired(each[1], Ratio(each[0], each[1]), Ratio(each[2], each[3])) for name, each in sums.items()}
