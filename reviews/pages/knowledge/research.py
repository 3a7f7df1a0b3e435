"""The pages about research: what agents asked after their verdicts, and what came of it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from metacog.models import Agent
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.held.filters import word
from reviews.investigation.research import as_people_read
from reviews.models import Research
from reviews.pages.person import PersonRequest

SHOWN = 100  # the latest


@require_safe
def research_list(request: PersonRequest) -> HttpResponse:
    """List what one agent had researched, or all the person may see, the latest first."""
    agents = Agent.objects.filter(team__in=request.user.teams_as()).order_by("team__name", "name")
    wanted = word(request.GET, "agent")
    agent = agents.filter(public_id=wanted).first() if wanted else None
    rows = Research.objects.filter(agent__team__in=request.user.teams_as()).select_related("agent__team")
    if agent:
        rows = rows.filter(agent=agent)
    context = {
        "choice": choice("research-list", agents, request.GET, agent.public_id if agent else ""),
        "agent": agent,
        "unknown_filters": unknown_filters(request.GET, agents=[agent] if agent else []),
        "rows": rows.defer("findings", "advice")[:SHOWN],
        "most": SHOWN,
        "has_search": bool(settings.SEARXNG_URL),
        "section": "research",
    }
    return render(request, "reviews/research_list.html", context)


@require_safe
def research(request: PersonRequest, research_id: str) -> HttpResponse:
    """Show one: the verdict, the questions with what was found, and the advice as the agent reads it."""
    seen = Research.objects.filter(agent__team__in=request.user.teams_as()).select_related("agent")
    row = get_object_or_404(seen, public_id=research_id)
    questions, advice = as_people_read(row)
    asked = [
        {**question, "found": [each for each in row.findings if each["question"] == number]}
        for number, question in enumerate(questions)
    ]
    context = {"research": row, "asked": asked, "advice": advice, "section": "research"}
    return render(request, "reviews/research.html", context)
