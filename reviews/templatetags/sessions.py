"""What other pages show of sessions: the way to one, an agent's latest, and the last days of agents in lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from metacog.http.sealed import sealed
from metacog.models import Agent
from reviews.presentation.sessions.sparklines import Sparklines, of_agents
from reviews.records import sessions

register = template.Library()
register.filter("sealed", sealed)
LATEST = 5  # sessions that the agent's page lists


@register.simple_tag
def session_url(agent: Agent, name: str, at: str = "") -> str:
    """Return the address of a session, as it stands around one of its posts."""
    asked = {"session": sealed(name), **({"at": at} if at else {})}
    return f"{reverse('session', args=[agent.public_id])}?{urlencode(asked)}" + (f"#{at}" if at else "")


@register.inclusion_tag("reviews/_sessions_of_agent.html")
def sessions_of(agent: Agent) -> dict[str, Any]:
    """List an agent's latest sessions."""
    return {"agent": agent, "sessions": sessions.latest(agent, LATEST)}


@register.simple_tag
def sparklines(agents: Sequence[Agent]) -> Sparklines:
    """Draw the last days of agents; one query."""
    return of_agents(agents)


@register.filter
def of_agent(lines: Sparklines, agent: Agent) -> Any:
    return lines.by_agent[agent.pk]
