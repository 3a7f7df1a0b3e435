"""What the agent's page shows of its first hour."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from metacog.models import Agent
from reviews.records.first_hour import steps

register = template.Library()


@register.inclusion_tag("reviews/_first_hour.html", takes_context=True)
def first_hour(context: RequestContext, agent: Agent) -> dict[str, Any]:
    """Show the checklist of an agent that is new, while something of it is left."""
    return {"agent": agent, **steps(agent, context["user"])}
