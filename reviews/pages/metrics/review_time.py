"""The page on how people decide: their own review time for everybody, the members' for owners."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from metacog.models import Role
from metacog.pages.unknown_filters import unknown_filters
from reviews.metrics import daily, review_time
from reviews.metrics.review_time import ReviewTime
from reviews.models import Decision, ReviewTimeFigure
from reviews.pages.metrics.statistics import PERIODS, USUAL
from reviews.pages.person import PersonRequest
from reviews.presentation.phrases import person_name
from reviews.presentation.ratios import duration, ratio

Verdict = Decision.Verdict

LONG_RUN = 20  # of one verdict on a day; a hint is given from there on
ENOUGH_TIMED = 20  # decisions
MOST_SECONDS = 120  # that are told in seconds


@require_safe
def show(request: PersonRequest) -> HttpResponse:
    """Show how the last days' decisions were made, by person. Two queries beside those of every page."""
    days = next((days for days in PERIODS if str(days) == request.GET.get("days")), USUAL)
    today = daily.day_of(timezone.now())
    owned = request.user.teams_as(Role.OWNER)
    seen = ReviewTimeFigure.objects.filter(
        Q(team__in=owned) | Q(person=request.user, team__in=request.user.teams_as()),
        day__gt=today - timedelta(days=days),
        day__lte=today,
    )
    rows = [_row(each) for each in review_time.by_person(seen.select_related("person", "team"))]
    context = {
        "rows": rows,
        "unknown_filters": unknown_filters(request.GET, days=PERIODS),
        "days": days,
        "periods": [(each, f"?days={each}", each == days) for each in PERIODS],
        "many_teams": len({row["time"].team.pk for row in rows}) > 1,
        "is_owner": any(row["time"].person != request.user for row in rows),
        "high": review_time.HIGH,
        "section": "statistics",
    }
    return render(request, "reviews/review_time.html", context)


def _row(each: ReviewTime) -> dict[str, Any]:
    told, median, p10 = each.hasty_ratio, each.seconds(0.5), each.seconds(0.1)
    return {
        "time": each,
        "name": person_name(each.person),
        "decisions": f"{each.verdicts.total():,}",
        "verdicts": {name: f"{count:,}" for name, count in each.verdicts.items()},
        "timed": told.whole,
        "median": _seconds(median),
        "p10": _seconds(p10),
        "to_read": _seconds(round(each.seconds_to_read, 1)),
        "hasty": ratio(told),
        "run": _run(each),
        "hint": _hint(each),
    }


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds >= MOST_SECONDS:
        return duration(round(seconds))
    shown = number_format(seconds, 1 if seconds < 10 else 0)
    return gettext("%(seconds)s s") % {"seconds": shown}


def _run(each: ReviewTime) -> str:
    told = {
        Verdict.APPROVE: ngettext("%(n)s approval", "%(n)s approvals in a row", each.run),
        Verdict.EDIT: ngettext("%(n)s edit", "%(n)s edits in a row", each.run),
        Verdict.REJECT: ngettext("%(n)s rejection", "%(n)s rejections in a row", each.run),
    }
    return told[Verdict(each.run_of)] % {"n": f"{each.run:,}"} if each.run else "–"


def _hint(each: ReviewTime) -> str:
    """Say what may be worth a look at one's own way of deciding; "" where nothing is."""
    is_long = each.run >= LONG_RUN
    is_quick = each.tenths.total() >= ENOUGH_TIMED and 2 * each.hasty > each.tenths.total()
    if not (is_long or is_quick):
        return ""
    said = [_run(each)] if is_long else []
    if each.tenths:
        said.append(gettext("median %(seconds)s") % {"seconds": _seconds(each.seconds(0.5))})
        said.append(gettext("texts that take %(seconds)s to read") % {"seconds": _seconds(each.seconds_to_read)})
    return gettext(", ").join(said)
