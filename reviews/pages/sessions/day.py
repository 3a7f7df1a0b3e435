"""The page of an agent's day: its sessions in lanes, and the hours of the week."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from metacog.http.sealed import sealed
from metacog.models import Agent
from metacog.pages.unknown_filters import unknown_filters
from reviews.pages.person import PersonRequest
from reviews.presentation.sessions import day as days
from reviews.records import sessions
from reviews.records.sessions import MOST_LANES

TICKS = 8


@require_safe
def show(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Show what an agent did on a day, as the person counts days; without one, on the last that it posted on."""
    seen = Agent.objects.filter(team__in=request.user.teams_as()).select_related("team")
    agent = get_object_or_404(seen, public_id=agent_id)
    zone, given = timezone.get_current_timezone(), request.GET.get("day", "")
    named = days.asked(given)
    if named is None:
        last = sessions.last_post(agent)
        named = last.astimezone(zone).date() if last else days.today()
    day = days.Day(named, zone)
    found = sessions.of_day(agent, day.start, day.end)
    held = sessions.held_of_day(agent, day.start, day.end)
    week = days.week(day)
    posts, held_hours = sessions.by_hour(agent, week[0].start, day.end)
    page = reverse("agent-day", args=[agent.public_id])
    session_page = reverse("session", args=[agent.public_id])
    before, after = (f"{page}?{urlencode({'day': each.isoformat()})}" for each in days.beside(named))
    lanes = days.lanes(day, found[:MOST_LANES], held)
    return render(
        request,
        "reviews/agent_day.html",
        {
            "agent": agent,
            "day": named,
            "page_url": page,
            "before_url": before,
            "after_url": after if named < days.today() else "",
            "lanes": [(lane, f"{session_page}?{urlencode({'session': sealed(lane.name)})}") for lane in lanes],
            "is_cut": len(found) > MOST_LANES,
            "most": MOST_LANES,
            "ticks": day.ticks(TICKS),
            "heat": days.heat(week, posts, held_hours),
            "unknown_filters": unknown_filters(request.GET),
            "section": "agents",
        },
    )
