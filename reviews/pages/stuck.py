"""The pages about being stuck: which problems go in circles, why, whether to think twice, and what came of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from metacog.accounts.forms import STUCK
from metacog.models import Role, Team
from metacog.pages.unknown_filters import unknown_filters
from patterns import stuck_state
from patterns.models import Problem, ThinkTwice
from patterns.patterns.scorer import scorer_shown
from reviews.held.filters import word
from reviews.held.listing import PAGE
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse
from reviews.pages.person import PersonRequest
from reviews.presentation.engine_words import sign, translated
from reviews.presentation.ratios import Share, ratio

ANSWERS = 20  # given last, of whatever became of their problems
STEPS = 60  # responses of a problem in its chart
LABELLED = 12  # columns that have room for their number, on a phone too
DIGITS = re.compile(r"[0-9]{1,18}")
PLACE = re.compile(r"([01])\.([0-9]{1,17})\.([0-9]{1,18})")  # in the list: if it asks, its last step in µs, its key
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HEAD = 16  # pixels above the columns, for the number of the highest


@require_safe
def stuck(request: PersonRequest) -> HttpResponse:
    """List the problems that show a sign of being stuck, those first about which somebody should be asked.

    A solved problem shows none any more; what was answered last leads to it, so that people can say what came of it.
    """
    teams, after = request.user.teams_as(), word(request.GET, "after")
    rows = Problem.objects.filter(agent__team__in=teams, points__gt=0).select_related("agent__team")
    if place := PLACE.fullmatch(after):
        rows = rows.filter(_behind(place))
    found = list(rows.order_by("-suggests", "-touched_at", "-id")[: PAGE + 1])
    query = request.GET.copy()
    query["after"] = _place(found[PAGE - 1]) if len(found) > PAGE else ""
    context: dict[str, Any] = {
        "rows": [_row(problem) for problem in found[:PAGE]],
        "unknown_filters": unknown_filters(request.GET),
        "is_later": bool(place),
        "next_url": f"?{query.urlencode()}" if query["after"] else "",
        "section": "stuck",
    }
    if not place:  # what came of it all is told once, below the first page
        context |= _told(teams)
    return render(request, "reviews/stuck.html", context)


def _told(teams: QuerySet[Team]) -> dict[str, Any]:
    """Return what was answered last, and how often thinking twice helped."""
    answered = ThinkTwice.objects.filter(problem__agent__team__in=teams)
    advice = stuck_state.threshold_advice(answered)
    by = stuck_state.success(answered)
    sums = Counter[str]()
    for who, counts in by.items():
        # An agent's word that a person said yes stands apart; that it was asked is no answer.
        sums.update(counts if who != ThinkTwice.By.AGENT else {"suggested": counts["suggested"]})
    return {
        "answers": answered.exclude(answer="")
        .select_related("problem__agent", "person")
        .order_by("-answered_at", "-id")[:ANSWERS],
        "counts": sums,
        "answered": sums["yes"] + sums["no"],
        "helped": _helped(sums),
        "by": [(who.label, by[who], _helped(by[who])) for who in ThinkTwice.By if who in by],
        "advice": advice,
        "advised": advice and ratio(Ratio(advice.helped, advice.n)),
    }


def _helped(counts: Mapping[str, int]) -> Share:
    return ratio(Ratio(counts["helped"], counts["helped"] + counts["did_not_help"]))


def _place(problem: Problem) -> str:
    """Say where a problem stands in the list as it is now: the next page begins behind it, though it may move on."""
    return f"{problem.suggests:d}.{(problem.touched_at - EPOCH) // timedelta(microseconds=1)}.{problem.pk}"


def _behind(place: re.Match[str]) -> Q:
    suggests, micros, key = (int(part) for part in place.groups())
    at = EPOCH + timedelta(microseconds=micros)
    earlier = Q(touched_at__lt=at) | Q(touched_at=at, pk__lt=key)
    return Q(suggests=False) | earlier & Q(suggests=True) if suggests else Q(suggests=False) & earlier


@require_safe
def problem(request: PersonRequest, problem_id: str) -> HttpResponse:
    """Show one problem: its points step by step, the evidence, the brief, and what was answered."""
    found = _visible(request, problem_id)
    shape = stuck_state.shape(found)
    steps = AgentResponse.objects.filter(problem=found).order_by("-id")
    points = list(reversed(steps.values_list("public_id", "stuck_points", "received_at")[:STEPS]))
    answers = list(found.think_twice.select_related("person"))
    said_yes = next((each for each in answers if each.answer == ThinkTwice.Answer.YES), None)
    context = {
        "problem": found,
        "shape": shape,
        "signals": [
            {**signal, "title": sign(signal["type"], signal["evidence"]), "detail": translated(signal["detail"])}
            for signal in shape["signals"]
        ],
        "chart": _chart(points, shape["threshold"]),
        "answers": answers,
        "is_on": _is_on(found),
        "asked": next((each for each in answers if not each.answered_at), None),
        "said_yes": said_yes,
        "may_answer": request.user.has_role(found.agent.team_id, Role.REVIEWER),
        "section": "stuck",
    }
    return render(request, "reviews/problem.html", context)


@require_POST
def problem_answer(request: PersonRequest, problem_id: str) -> HttpResponse:
    """Say whether the agent should think twice."""
    found, said = _own(request, problem_id), request.POST.get("answer")
    if said not in ("yes", "no"):
        return HttpResponseBadRequest(_("Answer yes or no."), content_type="text/plain; charset=utf-8")
    asked = request.POST.get("asked", "")
    try:
        stuck_state.answer(
            found, "yes" if said == "yes" else "no", request.user, asked=int(asked) if DIGITS.fullmatch(asked) else None
        )
    except stuck_state.NotAsked as closed:
        messages.warning(request, _not_asked(closed.answer))
    else:
        if said == "yes" and not _is_on(found):
            messages.success(request, _("The agent is told once stuck detection is on again."))
        elif said == "yes":
            messages.success(request, _("The agent is told with its next response, and gets the brief in its context."))
        else:
            messages.success(request, _("Nobody is asked again until there is a new signal."))
    return redirect("problem", problem_id)


@require_POST
def problem_outcome(request: PersonRequest, problem_id: str) -> HttpResponse:
    """Say what came of thinking twice."""
    found, became = _own(request, problem_id), request.POST.get("outcome")
    if became not in ("helped", "did-not-help"):
        return HttpResponseBadRequest(_("Unknown outcome."), content_type="text/plain; charset=utf-8")
    try:
        stuck_state.set_outcome(found, "helped" if became == "helped" else "did-not-help", request.user)
        if found.state["invoke"]:
            messages.success(request, _("Saved. The agent is not told again: it has already thought twice."))
        else:
            messages.success(request, _("Saved."))
    except stuck_state.NothingToSay:
        messages.error(request, _("Nobody has said yes to thinking twice about this problem."))
    return redirect("problem", problem_id)


@require_POST
def problem_resolve(request: PersonRequest, problem_id: str) -> HttpResponse:
    """Reset the counters: the problem is solved."""
    stuck_state.resolve(_own(request, problem_id), request.user)
    messages.success(request, _("The problem is resolved. Counting starts from zero."))
    return redirect("problem", problem_id)


def _is_on(problem: Problem) -> bool:
    """Tell whether the policy in force has the agent's verdicts say if it is stuck."""
    return scorer_shown(problem.agent).policy.parts["stuck"]


def _not_asked(answer: str) -> str:
    """Say what became of the question that somebody answered too late."""
    if answer == ThinkTwice.Answer.YES:
        return _("Somebody said yes first. Your answer was not saved.")
    if answer == ThinkTwice.Answer.NO:
        return _("Somebody said no first. You can still ask the agent to think twice below.")
    return _("The problem was resolved meanwhile. Your answer was not saved.")


def _visible(request: PersonRequest, problem_id: str) -> Problem:
    seen = Problem.objects.filter(agent__team__in=request.user.teams_as())
    return get_object_or_404(seen.select_related("agent__team"), public_id=problem_id)


def _own(request: PersonRequest, problem_id: str) -> Problem:
    found = _visible(request, problem_id)
    if not request.user.has_role(found.agent.team_id, Role.REVIEWER):
        raise PermissionDenied(_("Viewers can only read. A reviewer, curator or owner of the team can answer."))
    return found


def _row(problem: Problem) -> dict[str, Any]:
    spoken = problem.state["signals"]
    return {"problem": problem, "signals": [sign(name, spoken[name]["evidence"]) for name in STUCK if name in spoken]}


def _chart(points: list[tuple[str, int | None, Any]], threshold: int) -> dict[str, Any]:
    """Lay out the points after each response as columns, in hundredths of the width; None where it was not counted."""
    top = max([threshold, *(count or 0 for _, count, _ in points)])
    width = 100 / max(LABELLED, len(points))
    return {
        "bars": [
            {
                "x": f"{place * width:.2f}",
                "width": f"{width * 0.8:.2f}",
                "middle": f"{(place + 0.4) * width:.2f}",
                "y": f"{HEAD + 100 - 100 * (count or 0) / top:.1f}",
                "height": f"{100 * (count or 0) / top:.1f}",
                "points": count,
                "response": public_id,
                "at": at,
            }
            for place, (public_id, count, at) in enumerate(points)
        ],
        "line": f"{HEAD + 100 - 100 * threshold / top:.1f}",
        "threshold": threshold,
        "labelled": len(points) <= LABELLED,
    }
