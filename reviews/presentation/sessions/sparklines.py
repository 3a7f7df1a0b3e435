"""Draw the last days of agents as small lines: what each posted, what was held, what rejected, calls by effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.tool_calls.effect_bits import GRAVITY
from metacog.models import Agent
from reviews.metrics.daily import UNASKED, day_of
from reviews.models import DailyFigure
from reviews.presentation.ratios import number
from reviews.presentation.statistics.charts import short
from reviews.records.effect_names import NAMES

DAYS = 14
MOST_EFFECTS = 3  # of an agent, those that its calls had most
WIDTH, HEIGHT = 84, 20  # of a line, in units of its view box
REFUSED = ("rejected", "withdrawn")


@dataclass(frozen=True, slots=True)
class Spark:
    """One line."""

    name: str | Promise
    kind: str  # "responses", "held", "rejected" or "effect"
    values: Sequence[int]

    @property
    def total(self) -> str:
        return number(sum(self.values))

    @property
    def points(self) -> str:
        top, step = max([*self.values, 1]), WIDTH / (len(self.values) - 1)
        return " ".join(
            f"{place * step:.1f},{HEIGHT - 2 - (HEIGHT - 4) * n / top:.1f}" for place, n in enumerate(self.values)
        )


@dataclass(frozen=True, slots=True)
class Sparklines:
    """The lines of agents, by their keys, and the days that they are of."""

    days: Sequence[tuple[str, str]]  # as a machine and as a person reads it
    by_agent: Mapping[int, Sequence[Spark]]
    counted_at: datetime | None  # what came since is not in them


def of_agents(agents: Sequence[Agent]) -> Sparklines:
    """Draw the last days, in UTC, of agents; one query."""
    today = day_of(timezone.now())
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    rows = DailyFigure.objects.filter(agent__in=[agent.pk for agent in agents], day__gte=days[0], day__lte=today)
    figures: dict[tuple[int, date], Mapping[str, Any]] = {
        (row["agent"], row["day"]): row
        for row in rows.values(
            *("agent", "day", "responses", "held", "rejected", "withdrawn"),
            *("calls", "calls_pending", "effects", "counted_at"),
        )
    }
    by_agent = {agent.pk: _of_days([figures.get((agent.pk, day), {}) for day in days]) for agent in agents}
    counted_at = max((row["counted_at"] for row in figures.values()), default=None)
    return Sparklines([(day.isoformat(), short(day)) for day in days], by_agent, counted_at)


def _of_days(figures: Sequence[Mapping[str, Any]]) -> list[Spark]:
    calls = [_asked(figure.get("calls") or {}) for figure in figures]
    effects = [
        {name: sum(counts.values()) for name, counts in (figure.get("effects") or {}).items()} for figure in figures
    ]
    most: Counter[str] = Counter()
    for each in effects:
        most.update({name: n for name, n in each.items() if name in NAMES})
    named = sorted(most, key=lambda name: (-most[name], GRAVITY.index(name)))[:MOST_EFFECTS]
    days = list(zip(figures, calls, strict=True))
    held = [figure.get("held", 0) + figure.get("calls_pending", 0) + each.total() for figure, each in days]
    rejected = [sum(figure.get(name, 0) + each[name] for name in REFUSED) for figure, each in days]
    return [
        Spark(_("responses"), "responses", [figure.get("responses", 0) for figure in figures]),
        Spark(_("held"), "held", held),
        Spark(_("rejected"), "rejected", rejected),
        *(Spark(NAMES[name], "effect", [each.get(name, 0) for each in effects]) for name in named),
    ]


def _asked(calls: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    """Count what became of the tool calls of a day that people were asked about, and decided."""
    counted: Counter[str] = Counter()
    for fates in calls.values():
        counted.update({fate: n for fate, n in fates.items() if fate not in (*UNASKED, "pending")})
    return counted
