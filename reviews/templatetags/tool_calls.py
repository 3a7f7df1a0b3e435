"""What the agent's page, which knows nothing of tool calls, shows of its rules and of those that are suggested."""

from __future__ import annotations

from typing import Any

from django import template

from metacog import heuristics
from metacog.models import Agent, Policy
from reviews.scoring.rule_suggestions import suggestions

register = template.Library()


@register.inclusion_tag("reviews/_rules_of_agent.html")
def rules_of(agent: Agent, policy: Policy) -> dict[str, Any]:
    """Tell how many rules on tool calls an agent's policy has, and how many more what people did suggests."""
    return {
        "agent": agent,
        "policy": policy,
        "rules": len(policy.rules),
        "shadow": sum(bool(rule.get("shadow")) for rule in policy.rules),
        "suggested": len(suggestions(agent, heuristics.Policy.from_dict(policy.as_dict()))),
    }
