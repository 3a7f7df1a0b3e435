"""What other pages show of callbacks."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext
from django.utils import timezone

from metacog.models import Agent, ChatApp, Role, Team
from reviews.models import Delivery, Endpoint, HeldItem
from reviews.models.deliveries import EVENTS
from reviews.outbox import webhooks
from reviews.outbox.deliveries import for_list

register = template.Library()


@register.filter
def event_title(name: str) -> str:
    return str(EVENTS[name].label) if name in EVENTS else name


@register.inclusion_tag("reviews/_held_deliveries.html")
def callbacks_of(held: HeldItem) -> dict[str, Any]:
    """Show how the agent was told of what was decided about an item; nothing when nothing was owed."""
    return {"held": held, "deliveries": for_list(held.deliveries.filter(webhook=None)), "now": timezone.now()}


@register.inclusion_tag("reviews/_endpoint.html", takes_context=True)
def endpoint_of(context: RequestContext, agent: Agent) -> dict[str, Any]:
    """Show how an agent's callback address has been doing, on the agent's own page."""
    endpoint = Endpoint.objects.filter(agent=agent, url=agent.callback_url).first()
    if endpoint:
        endpoint.agent = agent
    return {
        "agent": agent,
        "endpoint": endpoint,
        "given_up": Delivery.objects.filter(agent=agent, webhook=None, state=Delivery.State.EXHAUSTED).count(),
        "user": context["user"],
        "may_send": context["user"].has_role(agent.team_id, Role.CURATOR),
        "on_agent_page": True,
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("reviews/_team_webhooks.html", takes_context=True)
def webhooks_of(context: RequestContext, team: Team) -> dict[str, Any]:
    """Show a team's webhooks and how they are doing, to its owners."""
    found = webhooks.of_team(team)
    return {
        "team": team,
        "webhooks": found,
        "removed": webhooks.removed_from(team, timezone.now()),
        "may_add": len(found) < webhooks.MOST,
        "most": webhooks.MOST,
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("reviews/_team_chats.html")
def chats_of(team: Team) -> dict[str, Any]:
    """Show in which chats a team decides, to its owners."""
    known = {app.kind: app for app in ChatApp.objects.filter(team=team)}
    return {"team": team, "chats": [(kind, title, known.get(kind)) for kind, title in ChatApp.Kind.choices]}
