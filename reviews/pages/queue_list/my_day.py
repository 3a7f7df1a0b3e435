"""A person's own day: what they decided, how long that took them, and what is left."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from reviews.metrics import my_day
from reviews.pages.person import PersonRequest
from reviews.presentation.ratios import duration

MOST_SECONDS = 120  # that are told in seconds


@never_cache
@require_safe
def show(request: PersonRequest) -> HttpResponse:
    """Show the person their own figures of today; nobody else sees this page."""
    day = my_day.of(request.user, timezone.now())
    return render(request, "reviews/my_day.html", {"day": day, "median": _seconds(day.median_seconds)})


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds >= MOST_SECONDS:
        return duration(round(seconds))
    return gettext("%(seconds)s s") % {"seconds": number_format(seconds, 1 if seconds < 10 else 0)}
