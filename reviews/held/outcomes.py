"""Take down what became of an approved tool call."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from metacog.audit import audit
from metacog.models import AgentState
from reviews.intake import approvals
from reviews.models import CallOutcome, HeldCall, HeldItem


class NotApproved(Exception):
    """There is nothing to report: the item is no tool call, or was not released."""


class Reported(Exception):
    """It was reported before: `outcome` stands."""

    def __init__(self, outcome: CallOutcome) -> None:
        super().__init__()
        self.outcome = outcome


def report(held: HeldItem, status: str, *, detail: str = "", result: Any = None) -> CallOutcome:
    """Write down the outcome of an agent's held call, once; with it the approval is used up.

    Raises NotApproved or Reported, having written nothing.
    """
    if held.kind != HeldItem.Kind.TOOL_CALL:
        raise NotApproved
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=held.agent_id)
        held = HeldItem.objects.select_related("agent", "call__outcome").get(pk=held.pk)
        if held.closed_at is None or held.state not in (HeldItem.State.APPROVED, HeldItem.State.EDITED):
            raise NotApproved
        if standing := getattr(held.call, "outcome", None):
            raise Reported(standing)
        now = timezone.now()
        outcome = CallOutcome.objects.create(
            call=held.call, status=status, detail=detail, result=result, reported_at=now
        )
        HeldCall.objects.filter(pk=held.pk, used_at=None).update(used_at=now, used_by=HeldCall.UsedBy.OUTCOME)
        approvals.tell_used([held.pk], now)
        audit.record(
            audit.of_item(held.kind, "reported"),
            held.public_id,
            actor=held.agent,
            team=held.team_id,
            agent=held.agent,
            before=held.state,
            after=status,
        )
    return outcome
