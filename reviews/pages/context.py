"""What an agent reads before its next cycle, as a page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from metacog.heuristics.text.tags import TOOL_CALL
from metacog.heuristics.tool_calls.secrets import beginning, line, masked_call, masked_text
from metacog.models import Agent
from reviews.investigation import next_cycle, told
from reviews.pages.person import PersonRequest


def _mask(item: told.ToldDecision) -> None:
    item["text"] = item["text"] and masked_call(item["text"])
    if item["excerpt"]:
        name, begins, rest = item["excerpt"].partition(" {")  # a name may hold blanks
        item["excerpt"] = beginning(name) if not begins else f"{masked_text(name)} {line('', f'{{{rest}')}"


@require_safe
def context(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Show the context of an agent's next cycle as the agent would be given it now. Nothing counts as given."""
    seen = Agent.objects.filter(team__in=request.user.teams_as()).select_related("team")
    agent = get_object_or_404(seen, public_id=agent_id)
    parts = next_cycle.parts(agent, is_given=False)
    for item in parts["decided"]:
        if item["kind"] == TOOL_CALL:  # what the agent itself wrote, but people read it here
            _mask(item)
    shown = {
        "agent": agent,
        "prompt": next_cycle.as_prompt(parts, agent.language),
        "held": len(parts["held"]) + len(parts["held_more"]),
        "section": "agents",
    }
    return render(request, "reviews/context.html", shown)
