"""Rules that what people decided about an agent's tool calls speaks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from metacog.heuristics.text.tags import TOOL_CALL
from metacog.heuristics.tool_calls.rules import Rules
from metacog.heuristics.tool_calls.suggest import DecidedCall, Suggestion, suggest
from metacog.models import Agent
from reviews.models import Decision

DAYS = 90
MOST = 1000  # decisions about calls, the newest
LOOKED_AT = 5 * MOST  # of all the agent's: where most are about texts, every one there is would be read


def suggestions(agent: Agent, rules: Rules) -> Sequence[Suggestion]:
    """Give the rules that people's decisions of the last 90 days speak for, under the rules in force. One query.

    What the agent itself demanded a person for counts for nothing: no rule lets that pass.
    """
    newest = Decision.objects.filter(agent=agent).order_by("-id").values("pk")
    decided = (
        Decision.objects.filter(
            agent=agent,
            pk__gte=Coalesce(Subquery(newest[LOOKED_AT - 1 : LOOKED_AT]), 0),
            by=Decision.By.PERSON,
            undone_at=None,
            decided_at__gte=timezone.now() - timedelta(days=DAYS),
            held__kind=TOOL_CALL,
            held__call__is_demanded=False,
            held__response__erased_at=None,
            verdict__in=["approve", "edit", "reject"],
        )
        .order_by("-id")
        .values_list(
            "held__call__name",
            "held__call__arguments",
            "verdict",
            "held__public_id",
            "held__call__schema",
            "held__call__definition",
        )[:MOST]
    )
    calls = [DecidedCall(*row) for row in decided]  # type: ignore[arg-type]  # of these verdicts
    return suggest(calls[::-1], rules)
