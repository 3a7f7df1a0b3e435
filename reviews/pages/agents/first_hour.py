"""The checklist of an agent's first hour, as it stands: its page asks for it until all is done."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from metacog.models import Agent
from reviews.pages.person import PersonRequest
from reviews.records.first_hour import steps


@require_safe
def first_hour(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Give the checklist alone."""
    seen = Agent.objects.filter(team__in=request.user.teams_as()).select_related("state")
    agent = get_object_or_404(seen, public_id=agent_id)
    return render(request, "reviews/_first_hour.html", {"agent": agent, "keep": True, **steps(agent, request.user)})
