"""The Statistics page: a range of days beside the one before it; and all of it as files.

All of it comes from the daily figures: the page costs the same however many responses there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from metacog.accounts.forms import RELEASED_BY
from metacog.heuristics.effects.effect import KINDS
from metacog.heuristics.policy.policy import RELEASE
from metacog.heuristics.stats.agreement import ENOUGH_FOR_KAPPA, Agreement
from metacog.http import csv_file
from metacog.http.replica import may_be_late
from metacog.models import Agent, Policy, Role, Team, User
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.metrics import daily, ranges, report
from reviews.metrics.agreement import Record
from reviews.metrics.call_outcomes import FATES, CallOutcomes
from reviews.metrics.daily import ENOUGH, Ratio, Total
from reviews.metrics.ranges import MONTH, Range
from reviews.metrics.report import Scope
from reviews.models import DailyFigure, LearnedRisk
from reviews.pages.metrics import days, files
from reviews.pages.metrics.days import Days
from reviews.pages.person import PersonRequest
from reviews.presentation.explanation import TITLES
from reviews.presentation.phrases import gap
from reviews.presentation.ratios import duration, number, percent, ratio, span, unbroken
from reviews.presentation.risk import worth
from reviews.presentation.statistics import breakdown, changes, charts, plainly
from reviews.presentation.statistics.tables import tables

MOST_TOOLS = 30
MOST_TEAMS = 10  # that the page says of what was learned


@dataclass(frozen=True)
class Asked:
    """What a person asked to see: days, of one agent, of one team or of all that they may see."""

    days: Days
    agents: Sequence[Agent]
    agent: Agent | None
    team: Team | None
    by: str
    unknown: Sequence[str]  # what else was asked for, a sentence each

    @classmethod
    def read(cls, request: PersonRequest) -> Asked:
        """Read the page's address; an agent or a team that the person may not see is none."""
        team = next((team for team in request.user.teams if str(team.pk) == request.GET.get("team")), None)
        agents = list(_agents(request, team).select_related("team").order_by("name"))
        agent = next((agent for agent in agents if agent.public_id == request.GET.get("agent")), None)
        by = request.GET.get("group", "")
        kept = {
            **({"team": str(team.pk)} if team else {}),
            **({"agent": agent.public_id} if agent else {}),
            **({"group": by} if by in breakdown.GROUPS else {}),
        }
        shown = days.read(request.GET, daily.day_of(timezone.now()), kept)
        unknown = [
            *shown.asked.wrong,
            *unknown_filters(request.GET, agents=agents, days=ranges.PRESETS, range=[MONTH], group=breakdown.GROUPS),
        ]
        if request.GET.get("team") and not team:
            unknown.append(gettext("Unknown team: filter ignored."))
        by = by if by in breakdown.GROUPS else breakdown.USUAL
        return cls(shown, agents, agent, team, by, unknown)

    @property
    def range(self) -> Range:
        return self.days.range

    @property
    def rest(self) -> dict[str, str]:
        """Return what an address asks for but for the agent and the team."""
        every = {**self.days.asked.query, **self.days.kept}
        return {name: value for name, value in every.items() if name not in ("team", "agent")}

    @property
    def chosen(self) -> Sequence[Agent]:
        return [self.agent] if self.agent else self.agents

    def scope(self, request: PersonRequest) -> Scope:
        owned = {team.pk for team in request.user.teams_as(Role.OWNER)}
        return Scope(self.chosen, self.range, request.user, owned)

    def whose(self, user: User) -> str:
        """Name the agent or the team whose figures are shown."""
        teams = [self.team] if self.team else user.teams
        return user.name_of(self.agent) if self.agent else str(teams[0]) if len(teams) == 1 else gettext("All teams")

    def with_group(self, by: str) -> str:
        return "?" + urlencode({**self.days.asked.query, **self.days.kept, "group": by}) + "#breakdown"


def _agents(request: PersonRequest, team: Team | None) -> QuerySet[Agent]:
    return Agent.objects.filter(team__in=[team] if team else request.user.teams_as())


@require_safe
@may_be_late
def statistics(request: PersonRequest) -> HttpResponse:
    """Show the figures of a range of days beside those of the range before."""
    asked = Asked.read(request)
    found = report.read(asked.scope(request))
    total, before = found.total, found.before
    learned = _learned(request, asked)
    context = {
        "asked": asked,
        "unknown_filters": asked.unknown,
        "choice": choice(
            "statistics",
            _agents(request, asked.team).order_by("name", "team__name"),
            request.GET,
            asked.agent.public_id if asked.agent else "",
        ),
        "days": asked.days,
        "teams": request.user.teams,
        "file_query": asked.days.query,
        "total": total,
        "before": before,
        "count": {name: number(getattr(total, name)) for name in ("responses", "triggered", "expired")},
        "agents_counted": sum(bool(each.now.responses) for each in found.by_agent.values()),
        "counted_at": found.counted_at,
        "whose": asked.whose(request.user),
        "first_line": plainly.first_line(total, before, asked.range),
        "first_interval": plainly.first_interval(total, before),
        "tiles": _tiles(total, before),
        "held": charts.held(found),
        "precision": charts.precision(found),
        "bands": charts.bands(total),
        "groups": [(by, name, asked.with_group(by), by == asked.by) for by, name in breakdown.GROUPS.items()],
        "breakdown": breakdown.shown(found, asked.by, request.user),
        "effects": charts.effects(total),
        "calls": _calls(total),
        "calls_told": charts.calls_told(total),
        "outcomes": _outcomes(found.outcomes, request),
        "outcomes_told": _outcomes_told(found.outcomes),
        "more_calls": max(0, len(total.calls) - MOST_TOOLS),
        "missed": [(each.agent, changes.checked(each.missed)) for each in found.misses],
        "looks": _looks(found.looks, asked.agent),
        "enough": ENOUGH,
        "learned": learned if len({each["team"] for each in learned}) < 2 else [],
        "learned_line": _learned_line(learned),
    }
    return render(request, "reviews/statistics.html", context)


def _tiles(total: Total, before: Total) -> dict[str, Any]:
    """Return the figures at the top, each with how it changed."""
    timed = total.seconds.total()
    return {
        "triggered": ratio(total.trigger_ratio, digits=1),
        "triggered_change": changes.against(total.trigger_ratio, before.trigger_ratio) if before.responses else "",
        "rejected": ratio(total.rejected_ratio),
        "rejected_change": changes.against(total.rejected_ratio, before.rejected_ratio) if before.responses else "",
        "median": duration(total.median_seconds),
        "median_change": changes.of_median(total, before) if timed and before.responses else "",
        "timed": unbroken(_timed(total)),
        "calls": {name: number(count) for name, count in charts.fates(total.all_calls).items()},
    }


def _timed(total: Total) -> str:
    """Say on how many decisions the median stands, and how sure it is."""
    if not total.seconds:
        return gettext("nothing decided yet")
    told = {"n": number(total.seconds.total())}
    if not (interval := total.median_interval):
        return gettext("n = %(n)s") % told
    told |= {"low": duration(interval[0]), "high": duration(interval[1]), "p90": duration(total.p90_seconds)}
    return gettext("n = %(n)s; nine in ten within %(p90)s (95%% CI %(low)s–%(high)s)") % told


def _learned(request: PersonRequest, asked: Asked) -> list[dict[str, Any]]:
    """Return what was learned for each team, or for the agent that is asked for where it has its own."""
    agent = asked.agent
    among = {each.team for each in ([agent] if agent else asked.agents)}
    teams = sorted(among, key=str)[:MOST_TEAMS]
    found = LearnedRisk.objects.filter(team__in=teams).filter(Q(agent=None) | Q(agent=agent))
    rows = {(row.team_id, row.of_calls, row.agent_id): row for row in found.defer("passing")}
    told = []
    for team in teams:
        known = [of_calls for of_calls in (False, True) if (team.pk, of_calls, None) in rows]
        for of_calls in known or [False]:
            own = rows.get((team.pk, of_calls, agent.pk)) if agent else None
            row = own or rows.get((team.pk, of_calls, None))
            names = [request.user.name_of(agent) if agent and own else team.name if len(teams) > 1 else ""]
            names.append(worth.kind_name(of_calls=of_calls) if len(known) > 1 else "")
            told.append(
                {
                    "id": f"{team.pk}-calls" if of_calls else team.pk,
                    "team": team.pk,
                    "of_calls": of_calls,
                    "name": " · ".join(filter(None, names)),
                    "is_proven": row is not None and worth.is_proven(row),
                    "url": f"{reverse('learned-risk')}?team={team.pk}",
                    "verdict": worth.verdict(row),
                    "instead": worth.instead(team, row),
                    "drawn": worth.drawn(row) if row else {},
                }
            )
    return told


def _learned_line(learned: Sequence[dict[str, Any]]) -> str:
    """Say in one line, for however many teams, whether what was learned is worth going by."""
    if len(learned) < 2:
        told = gap().join(filter(None, (each[part] for each in learned for part in ("verdict", "instead"))))
        return gettext(": ").join(filter(None, (*(each["name"] for each in learned), told)))
    proven = [each for each in learned if each["is_proven"]]
    if len({each["team"] for each in learned}) > 1:
        counts = {"n": len({each["team"] for each in proven}), "all": len({each["team"] for each in learned})}
        return gettext("Learned risk passed its test in %(n)s of %(all)s teams.") % counts
    if not proven:
        return gettext("Learned risk has not passed its test yet, for words or for tool calls.")
    if len(proven) == len(learned):
        return gettext("Learned risk passed its test for words and for tool calls.")
    if proven[0]["of_calls"]:
        return gettext("Learned risk passed its test for tool calls, but not yet for words.")
    return gettext("Learned risk passed its test for words, but not yet for tool calls.")


# -- words -----------------------------------------------------------------------------------------


def _calls(total: Total) -> list[dict[str, Any]]:
    """Return what became of each tool's calls, those that people were asked about most first."""
    found = sorted(total.calls.items(), key=lambda each: (-charts.fates(each[1])["asked"], each[0]))[:MOST_TOOLS]
    return [_row_of_calls(name, counts) for name, counts in found]


def _row_of_calls(name: str, counts: Counter[str]) -> dict[str, Any]:
    told = charts.fates(counts)
    let_go = told["approved"] + told["edited"]
    approved = ratio(Ratio(let_go, let_go + told["rejected"]))
    return {"name": name, "cells": charts.cells(counts), "approved": approved}


def _outcomes(records: Sequence[CallOutcomes], request: PersonRequest) -> list[dict[str, Any]]:
    """Return what became of each agent's approved calls, those with most that failed or were never reported first."""
    ordered = sorted(records, key=lambda each: (-each.failed - each.never_reported, each.agent.name))
    return [
        {"name": request.user.name_of(each.agent), **{name: number(getattr(each, name)) for name in FATES}}
        for each in ordered[:MOST_TOOLS]
    ]


def _outcomes_told(records: Sequence[CallOutcomes]) -> str:
    """Say in a line what became of all of them."""
    sums = {name: sum(getattr(each, name) for each in records) for name in FATES}
    failed, ended = sums["failed"], sums["done"] + sums["failed"]
    told = {name: number(count) for name, count in sums.items()} | {"ended": number(ended)}
    said = ngettext(
        "%(approved)s approved call: %(failed)s failed, %(never_reported)s never reported.",
        "%(approved)s approved calls: %(failed)s failed, %(never_reported)s never reported.",
        sums["approved"],
    )
    rate = Ratio(failed, ended)
    if not rate.is_enough:
        return said % told
    told |= {"rate": percent(rate.rate), "interval": span(rate.low, rate.high)}
    more = gettext("Of the %(ended)s that ran, %(rate)s failed (95%% CI %(interval)s).")
    return f"{said % told}{gap()}{more % told}"


def _looks(records: Sequence[Record], agent: Agent | None) -> dict[str, Any]:
    """Return how second looks ended, by agent and kind, and what they and people made of the same items."""
    release = agent and Policy.objects.get(agent=agent, version=agent.policy_version).release
    both = Agreement(*(sum(counts) for counts in zip(*(each.both for each in records), strict=True)))
    kappa = both.kappa()
    return {
        "rows": [
            {
                "agent": each.agent,
                "kind": each.kind.upper(),
                "own": number(each.kept + each.edited + each.withdrew),
                "kept": number(each.kept),
                "edited": number(each.edited),
                "withdrew": number(each.withdrew),
                "contradicted": ratio(each.contradicted),
                "agreed": ratio(each.agreed),
                "stood_rejected": ratio(each.stood_rejected),
                "released_by": RELEASED_BY[(RELEASE | release)[each.kind]] if release else "",
            }
            for each in records
        ],
        "both": both,
        "agreed": ratio(Ratio(both.agreed, both.items)),
        "chance": kappa and plainly.beyond_chance(kappa),
        "enough": ENOUGH_FOR_KAPPA,
    }


# -- files -----------------------------------------------------------------------------------------


@require_safe
@may_be_late
def data(request: PersonRequest, name: str, form: str) -> HttpResponse:
    """Send one of the page's tables, or `all` of them; the same filters as the page's."""
    asked = Asked.read(request)
    if asked.unknown or form not in files.TYPES:  # a file has no place to say that it is not what was asked for
        raise Http404
    found = tables(report.read(asked.scope(request)), request.user)
    about = {
        "first": asked.range.first,
        "last": asked.range.last,
        "days": "UTC",
        "team": asked.team and asked.team.name,
        "agent": asked.agent and asked.agent.public_id,
    }
    file = f"statistics-{name}-{asked.range.first}-{asked.range.last}"
    if name == "all":
        return files.many(found, file, form, **about)
    if name not in found:
        raise Http404
    return files.one(found[name], file, form, **about)


@require_safe
@may_be_late
def as_csv(request: PersonRequest) -> HttpResponse:
    """Send the daily figures, a line for each agent and day, as CSV."""
    asked = Asked.read(request)
    if asked.unknown:  # a file has no place to say that it is not what was asked for
        raise Http404
    rows = DailyFigure.objects.filter(agent__in=asked.chosen, day__gte=asked.range.first, day__lte=asked.range.last)
    agents = {agent.pk: agent for agent in asked.agents}
    types = sorted({*TITLES, *(name for row in rows for name in row.signals)})
    counts = ("responses", "triggered", "held", "rejected", "withdrawn", "edited", "approved", "expired", "pending")
    answer = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="statistics-{asked.range.first}-{asked.range.last}.csv"',
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
            *(sum((row.effects or {}).get(name, {}).values()) for name in KINDS),
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
        *(f"effect_{name}" for name in KINDS),
    ]
    csv_file.write(answer, [head, *rows_of_agents])
    return answer
