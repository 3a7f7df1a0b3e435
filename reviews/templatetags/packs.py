"""What the agent's page, which knows nothing of tool calls, shows of its packs and of the one that would fit."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from metacog.accounts.forms import PackForm
from metacog.heuristics.policy.pack_fit import ENOUGH
from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.models import Agent, Policy, Role, pack_words
from patterns.patterns.scorer import as_scored, scorer_shown
from reviews.presentation.calls.packs import compared
from reviews.scoring.calls_preview import calls_preview
from reviews.scoring.preview import DAYS

register = template.Library()
register.filter("pack_said", pack_words.translated)
register.filter("packs_in_words", pack_words.in_words)

MOST = 200  # responses whose calls are judged while somebody waits for the page


@register.inclusion_tag("reviews/_packs_of_agent.html", takes_context=True)
def packs_of(context: RequestContext, agent: Agent, policy: Policy) -> dict[str, Any]:
    """Show the packs of an agent's policy; of one that asks about everything, which pack would fit its calls."""
    shown: dict[str, Any] = {
        "agent": agent,
        "policy": policy,
        "packs": pack_words.in_force(policy.packs),
        "is_owner": context["user"].has_role(agent.team_id, Role.OWNER),
        "user": context["user"],
        "csrf_token": context.get("csrf_token"),
    }
    if [each["name"] for each in policy.packs] == [ASKS_ALL]:
        found = calls_preview(agent, scorer_shown(agent), as_scored(agent, policy), MOST)
        told = compared(found, policy)
        shown |= {"asks_all": True, "fit": told, "enough": ENOUGH, "is_enough": told.calls >= ENOUGH, "days": DAYS}
        shown |= {"form": PackForm(initial={"workspace": told.workspace})}
    return shown


@register.inclusion_tag("reviews/_packs_compared.html")
def packs_compared(found: Any, policy: Policy) -> dict[str, Any]:
    """Show what each pack would have done instead with the calls of a preview."""
    return {"fit": compared(found, policy), "days": DAYS}
