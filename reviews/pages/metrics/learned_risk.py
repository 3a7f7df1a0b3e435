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
from reviews.risk.forms import RiskForm, may_choose, may_choose_of_calls


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
        shown = {"form": form, "previews": worth.previews(team, choices.of_kinds(team), _budgets(team, form))}
        return render(request, "reviews/_risk_preview.html", shown)
    if not is_valid:
        return _page(request, team, form, status=refused(form))
    if request.POST.get("do") == "preview":
        return _page(request, team, form)
    if not (team.risk_kind or team.risk_calls or may_choose(team) or may_choose_of_calls(team)):
        messages.error(request, gettext("Nothing was saved: this stays off until the test is passed."))
    else:
        choices.choose(team, request.user, form.chosen)
        begins = worth.begins(Team.objects.get(pk=team.pk))
        messages.success(request, " ".join(filter(None, (gettext("Saved."), begins))))
    return redirect(f"{reverse('learned-risk')}?team={team.pk}")


def _budgets(team: Team, form: RiskForm) -> dict[bool, int | None]:
    """Return the budgets of words and of tool calls as they are typed, else as they are."""
    if form.is_bound:
        return {False: form.cleaned_data.get("budget"), True: form.cleaned_data.get("of_calls")}
    return {False: team.risk_budget, True: team.risk_calls_budget}


@require_safe
def data(request: PersonRequest, form: str) -> HttpResponse:
    """Send the curve of words or of calls: the share found among the first of all items, by what orders them."""
    team, of_calls = _asked(request), request.GET.get("of") == "calls"
    if unknown_filters(request.GET) or form not in files.TYPES:
        raise Http404  # a file has no place to say that it is not what was asked for
    gate = worth.gate_of(choices.of_team(team, of_calls=of_calls)) if team else None
    rivals = sorted(gate.caught_by) if gate else []
    rows: list[list[float]] = []
    if gate:
        by_rival = [gate.caught_by[name] for name in rivals]
        columns = [LOOKED_AT, gate.caught, gate.caught_low, gate.caught_high, *by_rival]
        rows = [list(each) for each in zip(*columns, strict=True)]
    head = ["looked_at", "found", "found_low", "found_high", *(f"found_by_{name}" for name in rivals)]
    name = "learned-risk-of-calls" if of_calls else "learned-risk"
    return files.one(Table(head, rows), name, form, team=team and team.name)


def _asked(request: PersonRequest) -> Team | None:
    """Return the team that the address names, else the first with agents; 404 for one that the person may not see."""
    teams, wanted = request.user.teams, request.GET.get("team", "")
    if not wanted:
        return request.user.team_shown()
    found = next((team for team in teams if str(team.pk) == wanted), None)
    if found is None:
        raise Http404
    return found


def _page(request: PersonRequest, team: Team, form: RiskForm, status: int = 200) -> HttpResponse:
    rows, reasons = choices.of_kinds(team), reason_rows(team)
    may = {False: may_choose(team), True: may_choose_of_calls(team)}
    known = [of_calls for of_calls in may if of_calls in rows or reasons[of_calls] or may[of_calls]] or [False]
    agents = LearnedRisk.objects.filter(team=team).exclude(agent=None).select_related("agent").order_by("agent__name")
    own = list(agents.defer("passing")[:MOST_AGENTS])
    kinds = []
    for of_calls in known:
        kind = _kind(request, team, rows.get(of_calls), of_calls=of_calls)
        told = [(each.agent, worth.verdict(each)) for each in own if each.of_calls == of_calls]
        field = form["of_calls" if of_calls else "budget"]
        kinds.append(kind | {"told": reasons[of_calls], "agents": told, "budget_id": field.id_for_label})
    words, day = rows.get(False), timezone.now().date()
    context: dict[str, Any] = {
        "team": team,
        "unknown_filters": unknown_filters(request.GET),
        "teams": request.user.teams,
        "may_change": request.user.has_role(team.pk, Role.OWNER),
        "form": form,
        "kinds": kinds,
        "has_words": False in known,
        "has_calls": True in known,
        "is_proven": any(kind["is_proven"] for kind in kinds),
        "orders": bool(team.risk_kind or team.risk_calls),
        "may_save": bool(team.risk_kind or team.risk_calls or any(may.values())),
        "first_tenth": worth.first_tenth(words) if team.risk_kind == "learned" else "",
        "previews": worth.previews(team, rows, _budgets(team, form)),
        "by_doubt": worth.by_doubt(words),
        "used_today": team.risk_budget and team.risk_budget - budgets.left(team, day),
        "used_by_calls": team.risk_calls_budget and team.risk_calls_budget - budgets.left(team, day, of_calls=True),
        "section": "statistics",
    }
    return render(request, "reviews/learned_risk.html", context, status=status)


def _kind(request: PersonRequest, team: Team, row: LearnedRisk | None, *, of_calls: bool) -> dict[str, Any]:
    """Return what is told of the order of a team's words, or of its tool calls, by itself."""
    look = "look_calls" if of_calls else "look"
    return {
        "name": worth.kind_name(of_calls=of_calls),
        "id": "calls" if of_calls else "words",
        "look": look,
        "query": f"?team={team.pk}{'&of=calls' if of_calls else ''}",
        "learned": row,
        "verdict": worth.verdict(row),
        "instead": worth.instead(team, row),
        "needed": worth.needed(row),
        "contradictions": worth.contradictions(row),
        "is_proven": choices.kind_of(team, of_calls=of_calls) == "learned",
        "drawn": worth.drawn(row) if row else {},
        "far": worth.how_far(team, row, request.GET.get(look, "")),
    }


MOST_AGENTS = 50
ITEMS_SHOWN = 3  # of each reason


def reason_rows(team: Team) -> dict[bool, list[tuple[str, int, list[str]]]]:
    """Return the reasons that people typed, grouped, of words and of calls: how often, and the newest; two queries."""
    kept = reason_groups.of_team(team)
    groups = {False: kept["told"], True: kept["calls"]}
    newest = {held for some in groups.values() for group in some for held in group["held"][-ITEMS_SHOWN:]}
    ids = dict(HeldItem.objects.filter(pk__in=newest).values_list("pk", "public_id"))
    return {
        of_calls: [
            (group["name"], len(group["held"]), [ids[held] for held in group["held"][-ITEMS_SHOWN:] if held in ids])
            for group in some
        ]
        for of_calls, some in groups.items()
    }
