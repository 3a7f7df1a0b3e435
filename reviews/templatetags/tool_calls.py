"""What the agent's page, which knows nothing of tool calls, shows of its rules and of those that are suggested."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone

from metacog.models import Agent, Policy, pack_words
from patterns.patterns.scorer import scorer_shown
from reviews.metrics import daily
from reviews.presentation.statistics import charts
from reviews.scoring.rule_suggestions import suggestions

register = template.Library()
DAYS = 7  # that the agent's page counts by effect


@register.inclusion_tag("reviews/_effects_of_agent.html")
def effects_of(agent: Agent) -> dict[str, Any]:
    """Tell what an agent's tool calls of the last days would do, and what became of them."""
    today = daily.day_of(timezone.now())
    return {
        "chart": charts.effects(daily.calls_of(agent, today - timedelta(days=DAYS - 1))),
        "days": DAYS,
        "url": f"{reverse('statistics')}?days={DAYS}&agent={agent.public_id}#effects",
    }


@register.inclusion_tag("reviews/_rules_of_agent.html")
def rules_of(agent: Agent, policy: Policy) -> dict[str, Any]:
    """Tell how many rules on tool calls an agent's policy and its packs have, and how many more are suggested."""
    return {
        "agent": agent,
        "does": policy.get_default_tool_call_display(),
        "rules": len(policy.rules),
        "packs": pack_words.in_force(policy.packs),
        "shadow": sum(bool(rule.get("shadow")) for rule in policy.rules),
        "suggested": len(suggestions(agent, scorer_shown(agent).rules)),
    }
