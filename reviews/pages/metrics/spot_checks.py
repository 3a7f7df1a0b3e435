"""The page on which people judge spot checks: a sample of what passed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.db.models import BigIntegerField, ExpressionWrapper, F, QuerySet
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from metacog.heuristics.tool_calls.secrets import masked_call
from metacog.models import Agent, Role
from metacog.pages.unknown_filters import unknown_filters
from reviews.metrics import daily, sampling
from reviews.metrics.daily import Ratio
from reviews.models import Sample
from reviews.pages.metrics import files
from reviews.pages.person import PersonRequest, forbidden
from reviews.presentation import explanation, highlight
from reviews.presentation.marks import paired
from reviews.presentation.ratios import ratio
from reviews.presentation.statistics import changes
from reviews.presentation.statistics.tables import spot_checks
from reviews.serializers import verdict_for_people

LATEST = 10


@require_safe
def show(request: PersonRequest) -> HttpResponse:
    """Show the next sample to judge, or the one that is asked for, and what came of those before."""
    teams = request.user.teams_as()
    wanted = request.GET.get("sample", "")
    next_one = _whole(sampling.waits_longest(teams))
    sample = get_object_or_404(_visible(request), public_id=wanted) if wanted else next_one.first()
    agents = list(Agent.objects.filter(team__in=teams).order_by("name"))
    since = daily.day_of(timezone.now() - sampling.COUNTED)
    counted = sampling.misses(agents, since)
    judged = _whole(Sample.objects.filter(pk__in=_judged_last(agents, since))).order_by("-judged_at", "-id")
    context = {
        "sample": sample,
        "unknown_filters": unknown_filters(request.GET),
        "days": sampling.COUNTED.days,
        "agents": [(each.agent, ratio(each.missed)) for each in counted],
        "told": _told(counted),
        "judged": judged.select_related("person").defer("response__body", "response__verdict"),
        "a_day": sampling.A_DAY,
        "has_budget": any(
            team.risk_kind == "learned" and team.risk_budget and not team.risk_budget_holds
            for team in request.user.teams
        ),
    }
    return render(request, "reviews/spot_checks.html", context | (_shown(request, sample) if sample else {}))


@require_safe
def data(request: PersonRequest, form: str) -> HttpResponse:
    """Send the miss rates as a file."""
    if form not in files.TYPES or unknown_filters(request.GET):
        raise Http404
    agents = list(Agent.objects.filter(team__in=request.user.teams_as()).order_by("name"))
    since = daily.day_of(timezone.now() - sampling.COUNTED)
    table = spot_checks(sampling.misses(agents, since))
    return files.one(table, f"spot-checks-{since}", form, first=since, days="UTC")


def _told(counted: Sequence[sampling.Misses]) -> str:
    """Say how much was missed of all that was checked."""
    missed = Ratio(sum(each.missed.part for each in counted), sum(each.missed.whole for each in counted))
    return changes.checked(missed) if missed.whole else ""


@require_POST
def judge(request: PersonRequest, sample_id: str) -> HttpResponse:
    """Write down what a person says of a sample, and go on to the next."""
    sample = get_object_or_404(_visible(request), public_id=sample_id)
    if not request.user.has_role(sample.agent.team_id, Role.REVIEWER):
        return forbidden(request)
    if (verdict := request.POST.get("verdict")) in Sample.Finding.values:
        sampling.judge(sample, request.user, verdict)
    return HttpResponseRedirect(reverse("spot-checks"))


def _visible(request: PersonRequest) -> QuerySet[Sample]:
    return _whole(Sample.objects.filter(agent__team__in=request.user.teams_as()))


def _judged_last(agents: Sequence[Agent], since: date) -> QuerySet[Sample, Any]:
    # The sum keeps SQLite from reading, and putting in order, all that was ever judged of these agents.
    own = ExpressionWrapper(F("agent") + 0, BigIntegerField())
    judged = Sample.objects.exclude(verdict="").filter(day__gte=since).alias(own=own)
    latest = judged.filter(own__in=[agent.pk for agent in agents]).order_by("-judged_at", "-id")
    return latest.values("pk")[:LATEST]


def _whole(rows: QuerySet[Sample]) -> QuerySet[Sample]:
    return rows.select_related("response", "agent")


def _shown(request: PersonRequest, sample: Sample) -> dict[str, Any]:
    verdict, body = sample.response.wire_verdict(), sample.response.wire_body()
    hesitation, hidden = verdict["hesitation"], verdict_for_people(verdict, body)["hesitation"]
    signals = hesitation["signals"] if hesitation else []
    went_out = [
        {
            "kind": answer["kind"],
            "is_marked": answer["disposition"] == "mark",
            "text": highlight.show(masked_call(sent.text))
            if sent.call
            else highlight.show(
                sent.text, highlight.of_item(signals, answer["index"], sent.text, sent.start, sent.end)
            ),
        }
        for answer, sent in paired(verdict, body)
    ]
    return {
        "hesitation": hesitation,
        "parts": explanation.parts(hidden["signals"] if hidden else []),
        "went_out": went_out,
        "user_message": body.get("user_message"),
        "can_judge": request.user.has_role(sample.agent.team_id, Role.REVIEWER),
    }
