"""The Statistics page: what was held in the last days, what became of it, and the same as a CSV file.

All of it comes from the daily figures: the page costs the same however many responses there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from metacog.accounts.forms import RELEASED_BY
from metacog.heuristics.policy.policy import RELEASE
from metacog.heuristics.stats.agreement import ENOUGH_FOR_KAPPA, Agreement
from metacog.http import csv_file
from metacog.models import Agent, Policy
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.metrics import agreement, daily, sampling
from reviews.metrics.agreement import Record
from reviews.metrics.daily import ENOUGH, Concordance, Lift, Ratio, Total
from reviews.models import DailyFigure, LearnedRisk
from reviews.pages.person import PersonRequest
from reviews.presentation.explanation import TITLES
from reviews.presentation.ratios import duration, percent, ratio, scale_top, span
from reviews.presentation.risk import worth

PERIODS = (7, 30, 90)
USUAL = 30
CHANCE = 0.5  # of pairs
MOST_TOOLS = 30
MOST_TEAMS = 10  # that the page says of what was learned
BANDS = ((0, 49), (50, 54), (55, 64), (65, 74), (75, 100))

# The chart of held items, in units of its view box.
LEFT, WIDTH, BASE, HEIGHT = 36, 600, 165, 145


@dataclass(frozen=True)
class Asked:
    """What a person asked to see: so many days up to today, of one agent or of all they may see."""

    days: int
    today: date
    agents: Sequence[Agent]
    agent: Agent | None
    unknown: Sequence[str]  # what else was asked for, a sentence each

    @classmethod
    def by(cls, request: PersonRequest) -> Asked:
        """Read the page's address; an agent that the person may not see is none."""
        agents = list(_agents(request).select_related("team").order_by("name"))
        wanted = request.GET.get("agent", "")
        agent = next((agent for agent in agents if agent.public_id == wanted), None)
        days = next((days for days in PERIODS if str(days) == request.GET.get("days")), USUAL)
        unknown = unknown_filters(request.GET, agents=agents, days=PERIODS)
        return cls(days, daily.day_of(timezone.now()), agents, agent, unknown)

    @property
    def first(self) -> date:
        return self.today - timedelta(days=self.days - 1)

    @property
    def before(self) -> date:
        """The first day of as many days before."""
        return self.first - timedelta(days=self.days)

    def rows(self, since: date) -> list[DailyFigure]:
        chosen = [self.agent] if self.agent else self.agents
        return list(DailyFigure.objects.filter(agent__in=chosen, day__gte=since, day__lte=self.today))

    def query(self, **changed: Any) -> str:
        told: dict[str, Any] = {"days": self.days, "agent": self.agent.public_id if self.agent else ""} | changed
        return "?" + urlencode({name: value for name, value in told.items() if value})


def _agents(request: PersonRequest) -> QuerySet[Agent]:
    return Agent.objects.filter(team__in=request.user.teams_as())


@require_safe
def statistics(request: PersonRequest) -> HttpResponse:
    """Show the figures of the last days beside those of as many days before."""
    asked = Asked.by(request)
    rows = asked.rows(asked.before)
    chosen = [asked.agent] if asked.agent else asked.agents
    now = [row for row in rows if row.day >= asked.first]
    total, before = Total.of(now), Total.of(row for row in rows if row.day < asked.first)
    context = {
        "asked": asked,
        "unknown_filters": asked.unknown,
        "choice": choice(
            "statistics",
            _agents(request).order_by("name", "team__name"),
            request.GET,
            asked.agent.public_id if asked.agent else "",
        ),
        "periods": [(days, asked.query(days=days), days == asked.days) for days in PERIODS],
        "csv_query": asked.query(),
        "total": total,
        "count": {name: f"{getattr(total, name):,}" for name in ("responses", "triggered", "expired")},
        "agents_counted": len({row.agent_id for row in now if row.responses}),
        "counted_at": max((row.counted_at for row in rows), default=None),
        "triggered": ratio(total.trigger_ratio, digits=1),
        "change": _change(total.trigger_ratio, before.trigger_ratio, asked.days),
        "rejected": ratio(total.rejected_ratio),
        "median": duration(total.median_seconds),
        "p90": duration(total.p90_seconds) if total.seconds.total() >= ENOUGH else "",
        "timed": ngettext("%(count)s decision", "%(count)s decisions", total.seconds.total())
        % {"count": f"{total.seconds.total():,}"},
        "held": _held_chart(asked, now),
        "bands": _band_chart(total),
        "signals": _signals(total),
        "calls": _calls(total),
        "more_calls": max(0, len(total.calls) - MOST_TOOLS),
        "missed": [{"agent": each.agent, "told": ratio(each.missed)} for each in sampling.misses(chosen, asked.first)],
        "looks": _looks(agreement.records(chosen, asked.first), asked.agent),
        "enough": ENOUGH,
        "learned": _learned(request, asked),
    }
    return render(request, "reviews/statistics.html", context)


def _learned(request: PersonRequest, asked: Asked) -> list[dict[str, Any]]:
    """Return what was learned for each team, or for the agent that is asked for where it has its own."""
    agent = asked.agent
    among = {each.team for each in ([agent] if agent else asked.agents)}
    teams = sorted(among, key=str)[:MOST_TEAMS]
    found = LearnedRisk.objects.filter(team__in=teams).filter(Q(agent=None) | Q(agent=agent))
    rows = {(row.team_id, row.agent_id): row for row in found.defer("spread", "passing")}
    told = []
    for team in teams:
        own = rows.get((team.pk, agent.pk)) if agent else None
        row = own or rows.get((team.pk, None))
        told.append(
            {
                "id": team.pk,
                "name": request.user.name_of(agent) if agent and own else team.name if len(teams) > 1 else "",
                "url": f"{reverse('learned-risk')}?team={team.pk}",
                "verdict": worth.verdict(row),
                "instead": worth.instead(row),
                "drawn": worth.drawn(row) if row else {},
            }
        )
    return told


# -- words -----------------------------------------------------------------------------------------


def _change(now: Ratio, before: Ratio, days: int) -> str:
    """Say how the trigger rate moved, in percentage points."""
    if not now.whole:
        return ""
    if not before.whole:
        return gettext("no responses in the %(days)s days before") % {"days": days}
    points = round(100 * (now.rate - before.rate), 1) or 0.0
    return gettext("%(points)s points against the %(days)s days before (%(part)s of %(whole)s)") % {
        "points": f"{points:+.1f}".replace("-", "−") if points else "±0.0",
        "days": days,
        "part": f"{before.part:,}",
        "whole": f"{before.whole:,}",
    }


def _signals(total: Total) -> list[dict[str, Any]]:
    """Return each signal's record, the most often rejected first where that can be told."""
    found = []
    for name, lift in total.lifts.items():
        told = lift.fired
        found.append(
            {
                "type": name,
                "title": TITLES.get(name, name),
                "fired": f"{total.signals[name]['fired']:,}",
                "decided": f"{told.whole:,}",
                "rejected": f"{told.part:,}",
                "precision": ratio(told),
                "from": f"{100 * told.low:.1f}",
                "width": f"{100 * (told.high - told.low):.1f}",
                "at": f"{100 * told.rate:.1f}",
                "lift": f"{lift.rate:.1f}" if told.is_enough and lift.decided.part else "",
                "verdict": _verdict(lift),
                "order": (not told.is_enough, -told.rate, name),
            }
        )
    return sorted(found, key=lambda row: row["order"])


def _calls(total: Total) -> list[dict[str, Any]]:
    """Return what became of each tool's calls, those that people were asked about most first."""
    found: list[dict[str, Any]] = []
    for name, counts in total.calls.items():
        let_go, turned_down = counts["approved"] + counts["edited"], counts["rejected"] + counts["withdrawn"]
        found.append(
            {
                "name": name,
                "held": counts.total() - counts["passed"] - counts["denied"],
                "counts": {each: f"{counts[each]:,}" for each in daily.CALLS},
                "approved": ratio(Ratio(let_go, let_go + turned_down)),
            }
        )
    return sorted(found, key=lambda row: (-row["held"], row["name"]))[:MOST_TOOLS]


def _verdict(told: Lift) -> str:
    if not told.fired.is_enough:
        return ""
    if told.low > 1:
        return gettext("rejected more often than held items at large")
    if told.high < 1:
        return gettext("rejected less often than held items at large")
    return gettext("no different from held items at large, as far as can be told")


def _looks(records: Sequence[Record], agent: Agent | None) -> dict[str, Any]:
    """Return how second looks ended, by agent and kind, and what they and people made of the same items."""
    release = agent and Policy.objects.only("release").get(agent=agent, version=agent.policy_version).release
    both = Agreement(*(sum(counts) for counts in zip(*(each.both for each in records), strict=True)))
    kappa = both.kappa()
    return {
        "rows": [
            {
                "agent": each.agent,
                "kind": each.kind.upper(),
                "own": f"{each.kept + each.edited + each.withdrew:,}",
                "kept": f"{each.kept:,}",
                "edited": f"{each.edited:,}",
                "withdrew": f"{each.withdrew:,}",
                "contradicted": ratio(each.contradicted),
                "agreed": ratio(each.agreed),
                "stood_rejected": ratio(each.stood_rejected),
                "released_by": RELEASED_BY[(RELEASE | release)[each.kind]] if release else "",
            }
            for each in records
        ],
        "both": both,
        "agreed": ratio(Ratio(both.agreed, both.items)),
        "kappa": kappa
        and {name: f"{round(value, 2) or 0:.2f}".replace("-", "−") for name, value in kappa._asdict().items()},
        "enough": ENOUGH_FOR_KAPPA,
    }


# -- charts ----------------------------------------------------------------------------------------


def _held_chart(asked: Asked, rows: Sequence[DailyFigure]) -> dict[str, Any]:
    """Lay out a stack for each day: what the held items of that day came to."""
    kinds = {
        "rejected": gettext("rejected or withdrawn"),
        "edited": gettext("approved edited"),
        "approved": gettext("approved"),
        "expired": gettext("expired"),
        "pending": gettext("pending"),
    }
    by_day: dict[date, list[DailyFigure]] = {}
    for row in rows:
        by_day.setdefault(row.day, []).append(row)
    days = list(daily.days_between(asked.first, asked.today))
    totals = [Total.of(by_day.get(day, [])) for day in days]
    top = scale_top([total.held for total in totals])
    slot = WIDTH / len(days)
    stacks, table = [], []
    for place, (day, total) in enumerate(zip(days, totals, strict=True)):
        counts = {name: getattr(total, name) for name in kinds} | {"rejected": total.rejected_ratio.part}
        name, y = date_format(day, "MONTH_DAY_FORMAT"), float(BASE)
        for kind, count in counts.items():
            if not count:
                continue
            height = HEIGHT * count / top
            y -= height
            stacks.append(
                {
                    "kind": kind,
                    "x": f"{LEFT + place * slot:.1f}",
                    "y": f"{y:.1f}",
                    "width": f"{slot * 0.75:.1f}",
                    "height": f"{max(0.5, height - 0.7):.1f}",  # a gap between what is stacked
                    "title": f"{name}: {count:,} {kinds[kind]}",
                }
            )
        numbers = [total.responses, *counts.values(), total.held]
        table.append({"iso": day.isoformat(), "name": name, "numbers": [f"{count:,}" for count in numbers]})
    return {
        "kinds": kinds.items(),
        "stacks": stacks,
        "top": f"{top:,}",
        "half": f"{top // 2:,}",
        "names": [table[0]["name"], table[len(table) // 2]["name"], table[-1]["name"]],
        "table": table[::-1],
        "any": any(total.held for total in totals),
        "told": _told(days, totals),
    }


def _told(days: Sequence[date], totals: Sequence[Total]) -> str:
    """Say what a chart of days shows at a glance: how much was held, and on which day most."""
    held = sum(total.held for total in totals)
    most, day = max(zip(totals, days, strict=True), key=lambda each: each[0].held)
    told = ngettext(
        "%(held)s item was held in these %(days)s days. Most on one day: %(most)s on %(day)s, %(rejected)s of them "
        "rejected or withdrawn.",
        "%(held)s items were held in these %(days)s days. Most on one day: %(most)s on %(day)s, %(rejected)s of them "
        "rejected or withdrawn.",
        held,
    )
    return told % {
        "held": f"{held:,}",
        "days": len(days),
        "most": f"{most.held:,}",
        "day": date_format(day, "MONTH_DAY_FORMAT"),
        "rejected": f"{most.rejected_ratio.part:,}",
    }


def _band_chart(total: Total) -> dict[str, Any]:
    """Lay out how often each band of scores was rejected, with its interval."""
    told = [(f"{low}–{high}", total.between(low, high)) for low, high in BANDS]
    if not told[0][1].whole:  # no policy held below 50 in these days
        told.pop(0)
    slot = 370 / len(told)
    bands = [
        {
            "name": name,
            "x": f"{45 + (number + 0.5) * slot:.1f}",
            "y": _height(share.rate),
            "low": _height(share.low),
            "high": _height(share.high),
            **ratio(share),
        }
        for number, (name, share) in enumerate(told)
    ]
    overall, scores = total.rejected_ratio, Concordance.of(total.scores)
    return {
        "bands": bands,
        "overall": ratio(overall),
        "line": _height(overall.rate),
        "verdict": _calibration(scores),
        "baseline": _baseline(scores, Concordance.of(total.lengths)),
    }


def _height(share: float) -> str:
    return f"{BASE - share * HEIGHT:.1f}"


def _calibration(scores: Concordance) -> str:
    """Say whether a rejected item has a higher score than one that was let go."""
    if not scores.is_enough:
        told = gettext("That cannot be told yet: it takes %(enough)s rejected items and %(enough)s that were let go.")
        return told % {"enough": ENOUGH}
    if scores.low > CHANCE:
        told = gettext(
            "Yes: of a rejected item and one that was let go, the rejected one has the higher score in %(rate)s of all "
            "pairs (95 %%: %(interval)s; by chance it would be half)."
        )
    elif scores.high < CHANCE:
        told = gettext(
            "No: of a rejected item and one that was let go, the rejected one has the higher score in only %(rate)s of "
            "all pairs (95 %%: %(interval)s; by chance it would be half)."
        )
    else:
        told = gettext(
            "That cannot be told: of a rejected item and one that was let go, the rejected one has the higher score in "
            "%(rate)s of all pairs (95 %%: %(interval)s; by chance it would be half)."
        )
    return told % _pairs(scores)


def _baseline(scores: Concordance, lengths: Concordance) -> tuple[str, str]:
    """Say what plain length would have told of the same, which a score that is worth having must beat."""
    if not (scores.is_enough and lengths.is_enough):
        return "", ""
    if lengths.rate >= CHANCE:
        told = gettext("Plain length, to compare: the rejected one is the longer in %(rate)s (95 %%: %(interval)s).")
    else:
        lengths = lengths.turned()
        told = gettext("Plain length, to compare: the rejected one is the shorter in %(rate)s (95 %%: %(interval)s).")
    if scores.low > lengths.high:
        verdict = gettext("The score tells more than that.")
    elif scores.high < lengths.low:
        verdict = gettext("That tells more than the score does.")
    else:
        verdict = gettext("Which of the two tells more cannot be said.")
    return told % _pairs(lengths), verdict


def _pairs(told: Concordance) -> dict[str, str]:
    return {"rate": percent(told.rate), "interval": span(told.low, told.high)}


# -- the file --------------------------------------------------------------------------------------


@require_safe
def as_csv(request: PersonRequest) -> HttpResponse:
    """Send the daily figures, a line for each agent and day."""
    asked = Asked.by(request)
    if asked.unknown:  # a file has no place to say that it is not what was asked for
        raise Http404
    rows = asked.rows(asked.first)
    agents = {agent.pk: agent for agent in asked.agents}
    types = sorted({*TITLES, *(name for row in rows for name in row.signals)})
    counts = ("responses", "triggered", "held", "rejected", "withdrawn", "edited", "approved", "expired", "pending")
    answer = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="statistics-{asked.first}-{asked.today}.csv"',
            "Cache-Control": "no-store",
        },
    )
    rows_of_agents = (
        [
            row.day,
            agents[row.agent_id].public_id,
            agents[row.agent_id].name,
            agents[row.agent_id].team.name,
            *(getattr(row, name) for name in counts),
            total.median_seconds,
            total.p90_seconds,
            *(row.signals.get(name, {}).get("fired", 0) for name in types),
            *(sum(counts.get(name, 0) for counts in row.calls.values()) for name in daily.CALLS),
        ]
        for row, total in ((row, Total.of([row])) for row in rows)
    )
    head = [
        "day",
        "agent",
        "name",
        "team",
        *counts,
        "median_seconds",
        "p90_seconds",
        *(f"fired_{name}" for name in types),
        *(f"calls_{name}" for name in daily.CALLS),
    ]
    csv_file.write(answer, [head, *rows_of_agents])
    return answer
