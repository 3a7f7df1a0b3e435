"""The pages about reflections: what each look back saw, what it proposed, and the day's error review."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from metacog.models import Agent, Role
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from patterns.models import Lesson
from patterns.patterns.scorer import scorer_shown
from reviews.held.filters import word
from reviews.learning import reflections
from reviews.metrics.daily import Ratio, Total, day_of, days_between
from reviews.models import DailyFigure, HeldItem, Reflection
from reviews.pages.person import PersonRequest
from reviews.presentation.explanation import TITLES
from reviews.presentation.ratios import percent, ratio, scale_top

SHOWN = 60  # reflections of an agent, the latest
LINKED = 5  # responses linked to of one thing that was seen

TREND = {
    "too-few": gettext_lazy("too few to tell"),
    "better": gettext_lazy("better"),
    "worse": gettext_lazy("worse"),
    "no-different": gettext_lazy("no clear difference"),
}
ENDED = {
    "solved": gettext_lazy("solved"),
    "helped": gettext_lazy("thinking twice helped"),
    "did-not-help": gettext_lazy("thinking twice did not help"),
    "open": gettext_lazy("still open"),
}

# The chart, in units of its view box.
LEFT, WIDTH, BASE, HEIGHT = 36, 600, 125, 105


@require_safe
def reflection_list(request: PersonRequest) -> HttpResponse:
    """List the reflections of one agent, the latest first."""
    agents = _agents(request)
    wanted = word(request.GET, "agent")
    named = agents.filter(public_id=wanted).first() if wanted else None
    agent = named or agents.first()
    unknown = unknown_filters(request.GET, agents=[named] if named else [])
    context: dict[str, Any] = {"agent": agent, "unknown_filters": unknown, "section": "reflections"}
    if agent:
        rows = Reflection.objects.filter(agent=agent).select_related("person").order_by("-until", "-pk")[:SHOWN]
        context |= {
            "choice": choice("reflections", agents, request.GET, agent.public_id),
            "rows": [_row(row) for row in rows],
            "most": SHOWN,
            "is_on": scorer_shown(agent).policy.parts["reflection"],
            "may_change": request.user.has_role(agent.team_id, Role.CURATOR),
        }
    return render(request, "reviews/reflections.html", context)


@require_POST
def reflect_now(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Look back on the last days at once."""
    agent = get_object_or_404(_agents(request), public_id=agent_id)
    if not request.user.has_role(agent.team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can start a reflection."))
    row = reflections.reflect(agent, timezone.now(), person=request.user)
    assert row is not None  # only a day has one reflection at most
    messages.success(request, _("Reflected on the last seven days."))
    return redirect("reflection", row.public_id)


@require_safe
def reflection(request: PersonRequest, reflection_id: str) -> HttpResponse:
    """Show what one look back saw, with the figures of its last day."""
    seen = Reflection.objects.filter(agent__team__in=request.user.teams_as()).select_related("agent__team", "person")
    row = get_object_or_404(seen, public_id=reflection_id)
    figures: Any = row.figures
    day = row.day or day_of(row.until)
    of_day = Total.of(DailyFigure.objects.filter(agent=row.agent, day=day))
    trend = figures["trend"]
    context = {
        "reflection": row,
        "agent": row.agent,
        "figures": figures,
        # As dates: a moment would be told in the person's time zone, and these days are of UTC.
        "first_day": day_of(row.since),
        "last_day": day_of(row.until - timedelta(seconds=1)),
        "lessons": Lesson.objects.filter(team=row.agent.team_id, public_id__in=row.proposals).order_by("pk"),
        "day": day,
        "review": _review(of_day),
        "trend": TREND[trend["says"]],
        "older": ratio(Ratio(trend["older"]["passed"], trend["older"]["judged"])),
        "newer": ratio(Ratio(trend["newer"]["passed"], trend["newer"]["judged"])),
        "interval": f"{100 * trend['low']:+.1f} … {100 * trend['high']:+.1f}".replace("-", "−"),
        "chart": _chart(row, trend["days"]),
        "gaps": [_linked(gap) for gap in figures["gaps"]],
        "repeated": [_linked(each) for each in figures["repeated"]],
        "reasons": [_linked(each) for each in figures["reasons"]],
        "impasses": figures["impasses"][-LINKED:][::-1],
        "held": [(state.label, figures["held"][state]) for state in HeldItem.State if state in figures["held"]],
        "held_for": [
            (TITLES.get(name, name), count)
            for name, count in sorted(figures["held_for"].items(), key=lambda each: -each[1])
        ],
        "circles": [(each["key"], each["points"], ENDED[each["ended"]]) for each in figures["circles"]],
        "section": "reflections",
    }
    return render(request, "reviews/reflection.html", context)


def _row(row: Reflection) -> dict[str, Any]:
    figures: Any = row.figures
    return {
        "reflection": row,
        "topics": [topic["name"] for topic in figures["topics"][:3]],
        "corrections": figures["corrections"],
        "gaps": len(figures["gaps"]),
        "proposals": len(row.proposals),
        "trend": TREND[figures["trend"]["says"]],
    }


def _linked(each: dict[str, Any]) -> dict[str, Any]:
    """Return something that was seen, how often, and its latest responses to link to."""
    links = list(dict.fromkeys(each["responses"][::-1]))[:LINKED]
    return {**each, "count": len(each["responses"]), "links": links}


def _review(total: Total) -> dict[str, Any]:
    """Return the day's error review (seed 000): trigger rate, each signal's frequency, confirmed and rejected."""
    return {
        "responses": total.responses,
        "triggered": ratio(total.trigger_ratio),
        "held": total.held,
        "pending": total.pending,
        "expired": total.expired,
        # To turn a held item down confirms that holding it was right.
        "confirmed": total.rejected_ratio.part,
        "let_go": total.rejected_ratio.whole - total.rejected_ratio.part,
        "signals": [
            (TITLES.get(name, name), counts["fired"], percent(Ratio(counts["fired"], total.responses).rate))
            for name, counts in sorted(total.signals.items(), key=lambda each: (-each[1]["fired"], each[0]))
        ],
    }


def _chart(row: Reflection, days: list[list[Any]]) -> dict[str, Any]:
    """Lay out a stack for each day: responses whose quality passed, and above them the others."""
    counts = {day: (passed, judged) for day, passed, judged in days}
    period = list(days_between(day_of(row.since), day_of(row.until - timedelta(seconds=1))))
    top = scale_top([judged for _passed, judged in counts.values()])
    slot = WIDTH / len(period)
    stacks, table = [], []
    for place, day in enumerate(period):
        passed, judged = counts.get(day.isoformat(), (0, 0))
        name, y = date_format(day, "MONTH_DAY_FORMAT"), float(BASE)
        for kind, count in (("approved", passed), ("rejected", judged - passed)):
            height = HEIGHT * count / top
            y -= height
            if count:
                ratio = _("%(part)s of %(whole)s") % {"part": passed, "whole": judged}
                stacks.append(
                    {
                        "kind": kind,
                        "x": f"{LEFT + (place + 0.15) * slot:.1f}",
                        "y": f"{y:.1f}",
                        "width": f"{slot * 0.7:.1f}",
                        "height": f"{max(0.5, height - 0.7):.1f}",
                        "title": f"{name}: {ratio}",
                    }
                )
        label = {"x": f"{LEFT + (place + 0.5) * slot:.1f}", "iso": day.isoformat(), "name": name}
        table.append({**label, "short": day, "passed": passed, "judged": judged})
    return {"stacks": stacks, "top": top, "half": top // 2, "table": table, "any": bool(stacks)}


def _agents(request: PersonRequest) -> QuerySet[Agent]:
    found = Agent.objects.filter(team__in=request.user.teams_as())
    return found.select_related("team").order_by("team__name", "name")
