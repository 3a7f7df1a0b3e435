"""The weekly report on a page, as far as the week has come, and the same sent to oneself now."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from metacog.db.ids import new_id
from metacog.http.replica import may_be_late
from metacog.models import Notice, PersonNotices, Role, Team
from metacog.notices import mail, notices
from metacog.pages.unknown_filters import unknown_filters
from reviews.outbox import notification_texts
from reviews.outbox.weekly import days_before, days_in_words, letter_of
from reviews.pages.person import PersonRequest
from reviews.presentation.statistics import weekly
from reviews.presentation.statistics.plainly import plainly


@require_safe
@may_be_late
def show(request: PersonRequest) -> HttpResponse:
    """Show one team's report of the seven days before today, as a mail would say it."""
    team = _team(request, request.GET.get("team", ""))
    told = PersonNotices.of(request.user)
    context: dict[str, Any] = {
        "teams": request.user.teams,
        "team": team,
        "unknown_filters": unknown_filters(request.GET),
        "can_send": mail.is_set_up() and bool(request.user.email),
        "section": "statistics",
    }
    if team:
        wanted = {told.Weekly.ALL: Role.VIEWER, told.Weekly.OWNED: Role.OWNER}.get(told.Weekly(told.weekly))
        if wanted and request.user.has_role(team.pk, wanted) and context["can_send"]:
            hour = {"weekday": told.get_weekly_day_display(), "hour": f"{told.weekly_hour}:00"}
            context["mailed"] = gettext("It is mailed to you each %(weekday)s at %(hour)s.") % hour
        found = weekly.read(team, request.user, days_before(timezone.localtime()))
        context |= {"report": found, "days": days_in_words(found)}
        context["sections"] = [(each, [(line, plainly(line.told)) for line in each.lines]) for each in found.sections]
    return render(request, "reviews/weekly_report.html", context)


@require_POST
def send(request: PersonRequest) -> HttpResponse:
    """Mail the report to the person who asks, at once, and say what came of it."""
    team = _team(request, request.POST.get("team", ""))
    if team is None or not (mail.is_set_up() and request.user.email):
        raise Http404
    told, now = PersonNotices.of(request.user), timezone.now()
    headers = notification_texts.headers(Notice(public_id=new_id("note")), notices.stop_link(request.user))
    try:
        trouble = mail.send(letter_of(team, told, now, headers=headers))
    except notification_texts.NothingNew:
        messages.error(request, gettext("Nothing was sent: nothing happened in these days."))
    else:
        if trouble:
            why = Notice.Trouble(trouble).label
            messages.error(request, gettext("The report could not be sent: %(why)s") % {"why": why})
        else:
            messages.success(request, gettext("The report was sent to %(address)s.") % {"address": request.user.email})
    return redirect(f"{reverse('weekly-report')}?team={team.pk}")


def _team(request: PersonRequest, wanted: str) -> Team | None:
    """Return the team that is asked for, else the person's first with agents; None where they have none."""
    found = next((team for team in request.user.teams if str(team.pk) == wanted), None)
    return found or request.user.team_shown()
