"""The page on how people decide: their own review time for everybody, the members' for owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from metacog.http.replica import may_be_late
from metacog.models import Role
from metacog.pages.unknown_filters import unknown_filters
from reviews.metrics import daily, review_time
from reviews.metrics.daily import Ratio
from reviews.metrics.ranges import MONTH, PRESETS
from reviews.metrics.review_time import ReviewTime
from reviews.models import DecisionVerdict, ReviewTimeFigure
from reviews.pages.metrics import days, files
from reviews.pages.metrics.days import Days
from reviews.pages.person import PersonRequest
from reviews.presentation.phrases import person_name
from reviews.presentation.ratios import duration, number, percent, ratio, span, unbroken
from reviews.presentation.statistics.tables import SHARE, Table, share

LONG_RUN = 20  # of one verdict on a day; a hint is given from there on
ENOUGH_TIMED = 20  # decisions
MOST_SECONDS = 120  # that are told in seconds


@require_safe
@may_be_late
def show(request: PersonRequest) -> HttpResponse:
    """Show how the last days' decisions were made, by person. Two queries beside those of every page."""
    shown = days.read(request.GET, daily.day_of(timezone.now()), {})
    rows = [_row(each) for each in _found(request, shown)]
    context = {
        "rows": rows,
        "told": _told(rows),
        "unknown_filters": _unknown(request, shown),
        "days": shown,
        "many_teams": len({row["time"].team.pk for row in rows}) > 1,
        "is_owner": any(row["time"].person != request.user for row in rows),
        "high": review_time.HIGH,
        "section": "statistics",
    }
    return render(request, "reviews/review_time.html", context)


@require_safe
@may_be_late
def data(request: PersonRequest, form: str) -> HttpResponse:
    """Send the same as a file."""
    shown = days.read(request.GET, daily.day_of(timezone.now()), {})
    if _unknown(request, shown) or form not in files.TYPES:
        raise Http404
    columns = [
        *("person", "team", "approved", "edited", "rejected", "timed", "median_seconds", "p10_seconds"),
        *("seconds_to_read", "hasty", *SHARE, "longest_run", "longest_run_of", "longest_run_high"),
    ]
    rows = [
        [
            each.person.get_username(), each.team.name,
            *(each.verdicts[name] for name in ("approved", "edited", "rejected")),
            each.hasty_ratio.whole, each.seconds(0.5), each.seconds(0.1), round(each.seconds_to_read, 1),
            each.hasty_ratio.part, *share(each.hasty_ratio), each.run, each.run_of, each.high_run,
        ]
        for each in _found(request, shown)
    ]  # fmt: skip
    name = f"review-time-{shown.range.first}-{shown.range.last}"
    return files.one(Table(columns, rows), name, form, first=shown.range.first, last=shown.range.last, days="UTC")


def _found(request: PersonRequest, shown: Days) -> list[ReviewTime]:
    """Return the person's own figures, and those of the members of teams they own."""
    owned = request.user.teams_as(Role.OWNER)
    seen = ReviewTimeFigure.objects.filter(
        Q(team__in=owned) | Q(person=request.user, team__in=request.user.teams_as()),
        day__gte=shown.range.first,
        day__lte=shown.range.last,
    )
    return review_time.by_person(seen.select_related("person", "team"))


def _unknown(request: PersonRequest, shown: Days) -> list[str]:
    return [*shown.asked.wrong, *unknown_filters(request.GET, days=PRESETS, range=[MONTH])]


def _told(rows: Sequence[dict[str, Any]]) -> str:
    """Say what the table shows: how often decisions were quicker than the text can be read."""
    hasty, timed = (sum(getattr(row["time"].hasty_ratio, name) for row in rows) for name in ("part", "whole"))
    told = Ratio(hasty, timed)
    if not told.is_enough:
        return unbroken(gettext("Too few decisions with a known time (n = %(n)s).") % {"n": number(timed)})
    counts = {"part": number(hasty), "whole": number(timed), "rate": percent(told.rate)}
    counts["interval"] = span(told.low, told.high)
    said = gettext(
        "%(part)s of %(whole)s decisions (%(rate)s, 95%% CI %(interval)s) were faster than the text can be read."
    )
    return said % counts


def _row(each: ReviewTime) -> dict[str, Any]:
    told, median, p10 = each.hasty_ratio, each.seconds(0.5), each.seconds(0.1)
    return {
        "time": each,
        "name": person_name(each.person),
        "decisions": number(each.verdicts.total()),
        "verdicts": {name: number(count) for name, count in each.verdicts.items()},
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
    return (gettext("%(seconds)s s") % {"seconds": shown}).replace(" ", "\N{NO-BREAK SPACE}")


def _run(each: ReviewTime) -> str:
    told = {
        DecisionVerdict.APPROVE: ngettext("%(n)s approval", "%(n)s approvals in a row", each.run),
        DecisionVerdict.EDIT: ngettext("%(n)s edit", "%(n)s edits in a row", each.run),
        DecisionVerdict.REJECT: ngettext("%(n)s rejection", "%(n)s rejections in a row", each.run),
    }
    return told[DecisionVerdict(each.run_of)] % {"n": number(each.run)} if each.run else "–"


def _hint(each: ReviewTime) -> str:
    """Say what may be worth a look at one's own way of deciding; "" where nothing is."""
    is_long = each.run >= LONG_RUN
    is_quick = each.tenths.total() >= ENOUGH_TIMED and 2 * each.hasty > each.tenths.total()
    if not (is_long or is_quick):
        return ""
    said = [_run(each)] if is_long else []
    if each.tenths:
        said.append(gettext("median %(seconds)s") % {"seconds": _seconds(each.seconds(0.5))})
        said.append(gettext("reading time %(seconds)s") % {"seconds": _seconds(each.seconds_to_read)})
    return gettext(", ").join(said)
