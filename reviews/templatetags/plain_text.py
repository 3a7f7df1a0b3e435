"""What the agent's page, which knows nothing of responses, shows of those without items."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from metacog.models import Agent, Role
from reviews.scoring import plain_text

register = template.Library()


@register.inclusion_tag("reviews/_plain_text.html", takes_context=True)
def plain_text_of(context: RequestContext, agent: Agent) -> dict[str, Any]:
    """Offer to take an agent's responses without items for one chat each, where most of them are so."""
    may_switch = context["user"].has_role(agent.team_id, Role.OWNER)
    return {"plain_text": plain_text.offer(agent), "may_switch": may_switch, "user": context["user"]}
