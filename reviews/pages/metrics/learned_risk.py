"""The page on a team's learned risk: what it is worth, and what the team makes of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from metacog.heuristics.stats.gate import LOOKED_AT
from metacog.models import Role, Team
from metacog.pages.unknown_filters import unknown_filters
from reviews.learning import reason_groups
from reviews.models import HeldItem, LearnedRisk
from reviews.pages.metrics import files
from reviews.pages.person import PersonRequest, forbidden, refused
from reviews.presentation.risk import worth
from reviews.presentation.statistics.tables import Table
from reviews.risk import budget as budgets
from reviews.risk import choices
from reviews.risk.forms import RiskForm, may_choose


@require_safe
def show(request: PersonRequest) -> HttpResponse:
    """Show what was learned from a team's decisions, and its choices; owners may change them."""
    team = _asked(request)
    return _page(request, team, RiskForm(team)) if team else redirect("team")


@require_POST
def choose(request: PersonRequest, team_id: int) -> HttpResponse:
    """Keep a team's choices, or say what a budget would have come to; that alone where htmx asks."""
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    if not request.user.has_role(team.pk, Role.OWNER):
        return forbidden(request)
    form = RiskForm(team, request.POST)
    is_valid = form.is_valid()
    if request.htmx:
        budget = form.cleaned_data.get("budget")
        shown = {"form": form, "preview": worth.preview(choices.of_team(team), budget)}
        shown["today"] = worth.today(team, budget)
        return render(request, "reviews/_risk_preview.html", shown)
    if not is_valid:
        return _page(request, team, form, status=refused(form))
    if request.POST.get("do") == "preview":
        return _page(request, team, form)
    if not (team.risk_kind or may_choose(team)):
        messages.error(request, gettext("Nothing was saved: off until the gate is passed."))
    else:
        choices.choose(team, request.user, **form.chosen)
        begins = worth.begins(Team.objects.get(pk=team.pk))
        messages.success(request, " ".join(filter(None, (gettext("Saved."), begins))))
    return redirect(f"{reverse('learned-risk')}?team={team.pk}")


@require_safe
def data(request: PersonRequest, form: str) -> HttpResponse:
    """Send the curve: the share that is found among the first of all items, by what orders them."""
    team = _asked(request)
    if unknown_filters(request.GET) or form not in files.TYPES:
        raise Http404  # a file has no place to say that it is not what was asked for
    gate = worth.gate_of(choices.of_team(team)) if team else None
    rivals = sorted(gate.caught_by) if gate else []
    rows: list[list[float]] = []
    if gate:
        by_rival = [gate.caught_by[name] for name in rivals]
        columns = [LOOKED_AT, gate.caught, gate.caught_low, gate.caught_high, *by_rival]
        rows = [list(each) for each in zip(*columns, strict=True)]
    head = ["looked_at", "found", "found_low", "found_high", *(f"found_by_{name}" for name in rivals)]
    return files.one(Table(head, rows), "learned-risk", form, team=team and team.name)


def _asked(request: PersonRequest) -> Team | None:
    """Return the team that the address names, else the first; 404 for one that the person may not see."""
    teams, wanted = request.user.teams, request.GET.get("team", "")
    if not wanted:
        return teams[0] if teams else None
    found = next((team for team in teams if str(team.pk) == wanted), None)
    if found is None:
        raise Http404
    return found


def _page(request: PersonRequest, team: Team, form: RiskForm, status: int = 200) -> HttpResponse:
    learned = choices.of_team(team)
    budget = form.cleaned_data.get("budget") if form.is_bound and form.is_valid() else team.risk_budget
    agents = LearnedRisk.objects.filter(team=team).exclude(agent=None).select_related("agent").order_by("agent__name")
    context: dict[str, Any] = {
        "team": team,
        "team_query": f"?team={team.pk}",
        "unknown_filters": unknown_filters(request.GET),
        "teams": request.user.teams,
        "may_change": request.user.has_role(team.pk, Role.OWNER),
        "form": form,
        "learned": learned,
        "verdict": worth.verdict(learned),
        "instead": worth.instead(learned),
        "needed": worth.needed(learned),
        "contradictions": worth.contradictions(learned),
        "is_proven": team.risk_kind == "learned",
        "may_save": bool(team.risk_kind) or may_choose(team),
        "first_tenth": worth.first_tenth(learned) if team.risk_kind == "learned" else "",
        "drawn": worth.drawn(learned) if learned else {},
        "preview": worth.preview(learned, budget),
        "today": worth.today(team, budget),
        "far": worth.how_far(team, learned, request.GET.get("look", "")),
        "by_doubt": worth.by_doubt(learned),
        "used_today": team.risk_budget and team.risk_budget - budgets.left(team, timezone.now().date()),
        "told": reason_rows(team),
        "agents": [(each.agent, worth.verdict(each)) for each in agents.defer("spread", "passing")[:MOST_AGENTS]],
        "section": "statistics",
    }
    return render(request, "reviews/learned_risk.html", context, status=status)


MOST_AGENTS = 50
ITEMS_SHOWN = 3  # of each reason


def reason_rows(team: Team) -> list[tuple[str, int, list[str]]]:
    """Return the reasons that people typed, grouped: how often, and the newest items; two queries."""
    told = reason_groups.of_team(team)["told"]
    newest = {held for group in told for held in group["held"][-ITEMS_SHOWN:]}
    ids = dict(HeldItem.objects.filter(pk__in=newest).values_list("pk", "public_id"))
    return [
        (group["name"], len(group["held"]), [ids[held] for held in group["held"][-ITEMS_SHOWN:] if held in ids])
        for group in told
    ]
