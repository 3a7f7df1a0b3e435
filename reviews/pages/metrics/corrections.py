"""The page on which people say whether users' messages were corrections, and what their answers come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from metacog.heuristics.stats.found import Estimate
from metacog.heuristics.stats.gate import ENOUGH as ENOUGH_TO_LEARN
from metacog.heuristics.stats.gate import ENOUGH_OF_EACH, Gate
from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Role, Team
from metacog.pages.unknown_filters import unknown_filters
from reviews.learning import corrections, hearing
from reviews.learning.corrections import Worth
from reviews.metrics import daily
from reviews.models import LearnedCorrections, PossibleCorrection
from reviews.pages.metrics import files
from reviews.pages.person import PersonRequest, forbidden
from reviews.presentation import questions
from reviews.presentation.ratios import number, percent, span
from reviews.presentation.statistics.tables import Table

PAGE = 10
LATEST = 10
LONGEST_EXCERPT = 160


@require_safe
def correction_list(request: PersonRequest) -> HttpResponse:
    """Show the questions that wait, the one that is asked for first, and what the answers so far come to."""
    teams = request.user.teams_as()
    wanted = request.GET.get("question", "")
    first = [get_object_or_404(questions.visible(request.user), public_id=wanted)] if wanted else []
    waits = questions.whole(corrections.waiting(teams))
    rows = [*first, *(row for row in waits[:PAGE] if row not in first)]
    answered = questions.visible(request.user).filter(answer__in=corrections.ANSWERS).order_by("-answered_at", "-id")
    return render(
        request,
        "reviews/corrections.html",
        {
            "questions": questions.shown(request.user, rows),
            "waiting": corrections.waiting(teams).count(),
            "unknown_filters": unknown_filters(request.GET),
            "teams": _worth(teams),
            "days": corrections.COUNTED.days,
            "waits_for": hearing.WAITS_FOR.days,
            "least_of_each": ENOUGH_OF_EACH,
            "asked_of_silent": percent(hearing.ASKED_OF_SILENT),
            "answered": [(row, _excerpt(row)) for row in answered[:LATEST]],
        },
    )


def _excerpt(row: PossibleCorrection) -> str:
    return without_tags(masked_text(row.response.wire_body().get("user_message") or ""))[:LONGEST_EXCERPT]


@require_POST
def correction_answer(request: PersonRequest, correction_id: str) -> HttpResponse:
    """Write down what a person says of a message; show the question as answered, or the page that it stands on."""
    row = get_object_or_404(questions.visible(request.user), public_id=correction_id)
    if not request.user.has_role(row.agent.team_id, Role.REVIEWER):
        return forbidden(request)
    if (said := request.POST.get("answer", "")) in corrections.ANSWERS:
        corrections.answer(row, request.user, said)
    at = request.POST.get("at", "")
    if request.htmx:
        (each,) = questions.shown(request.user, [questions.visible(request.user).get(pk=row.pk)], at=at)
        shown = {"each": each, "is_new": True}
        if not at:  # on the page of all questions, which says how many are open
            shown["waiting"] = corrections.waiting(request.user.teams_as()).count()
        return render(request, "reviews/_correction.html", shown)
    if at in (row.response.public_id, row.before.public_id):
        return HttpResponseRedirect(f"{reverse('response', args=[at])}#asked-{row.public_id}")
    return HttpResponseRedirect(f"{reverse('corrections')}?{urlencode({'question': row.public_id})}")


@require_safe
def data(request: PersonRequest, form: str) -> HttpResponse:
    """Send what the detector, and what was learned, is worth as a file."""
    if form not in files.TYPES or unknown_filters(request.GET):
        raise Http404
    since = daily.start_of(daily.day_of(timezone.now() - corrections.COUNTED))
    known = list(request.user.teams_as())
    counted = corrections.worth(known, since)
    shares = [f"{what}{end}" for what in ("precision", "recall") for end in ("", "_low", "_high")]
    rows = [
        [team.name, name, worth.taken, worth.right, *_ends(worth.precision), *_ends(worth.recall)]
        for team in known
        if team.pk in counted
        for name, worth in zip(("detector", "learned"), counted[team.pk], strict=True)
        if worth
    ]
    table = Table(["team", "found_by", "reported", "right", *shares], rows)
    return files.one(table, f"corrections-{since:%Y-%m-%d}", form, first=since.date(), days="UTC")


def _ends(estimate: Estimate | None) -> list[float | None]:
    return [estimate.rate, estimate.low, estimate.high] if estimate else [None] * 3


class Row(NamedTuple):
    """What one way to hear corrections is worth; shares with their intervals, empty where too few were answered."""

    worth: Worth
    precision: str
    precision_interval: str
    recall: str
    recall_interval: str


class TeamRow(NamedTuple):
    """A team with what its answers say of the detector, and of what was learned from them."""

    team: Team
    detector: Row
    learned: Row | None
    came: LearnedCorrections | None
    is_used: bool
    auc: dict[str, str]  # of what was learned, with its interval and the detector's
    left: int  # answers that are missing before anything is learned


def _worth(teams: Iterable[Team]) -> list[TeamRow]:
    known = list(teams)
    since = daily.start_of(daily.day_of(timezone.now() - corrections.COUNTED))
    counted = corrections.worth(known, since)
    learned = {row.pk: row for row in LearnedCorrections.objects.filter(team__in=known).defer("model")}
    return [
        TeamRow(
            team,
            _row(detector),
            _row(ranked) if ranked else None,
            learned.get(team.pk),
            team.pk in learned and learned[team.pk].found["order"] == "learned",
            _auc(learned.get(team.pk)),
            max(0, ENOUGH_TO_LEARN - detector.answered),
        )
        for team in known
        if team.pk in counted
        for detector, ranked in (counted[team.pk],)
    ]


def _row(worth: Worth) -> Row:
    return Row(worth, *_told(worth.precision), *_told(worth.recall))


def _told(estimate: Estimate | None) -> tuple[str, str]:
    return (percent(estimate.rate), span(estimate.low, estimate.high)) if estimate else ("", "")


def _auc(came: LearnedCorrections | None) -> dict[str, str]:
    if came is None or not came.found["gate"]:
        return {}
    gate = Gate.from_dict(came.found["gate"])
    return {
        "own": number(gate.auc, 2),
        "interval": f"{number(gate.auc_low, 2)}–{number(gate.auc_high, 2)}",
        "detector": number(gate.against["score"].auc, 2),
        "n": number(gate.decisions),
    }
