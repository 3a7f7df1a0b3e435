"""Take a person's decision back before anybody heard of it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from metacog.audit import audit
from metacog.models import AgentState, User
from reviews.held import approvers, grants
from reviews.held.approvers import terms_of
from reviews.held.decisions.approving import recount, what_is_approved
from reviews.held.decisions.claiming import AFTER, State, by_way_of
from reviews.models import Decision, DecisionVerdict, HeldItem


def undo(decision: Decision, person: User, via: str = "") -> bool:
    """Take back a person's own decision before anybody heard of it; False when it is too late.

    With an approval goes its grant, and what that released with the same press.
    """
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=decision.agent_id)
        now = timezone.now()
        if not _take_back(decision, person, now, via):
            return False
        if decision.held.kind == HeldItem.Kind.TOOL_CALL and grants.fall(decision.held, person, now):
            with_it = Decision.objects.filter(agent=decision.agent_id, together=decision.together, undone_at=None)
            for each in with_it.select_related("held__agent", "held__terms") if decision.together else ():
                _take_back(each, person, now, via)
    return True


def _take_back(decision: Decision, person: User, now: datetime, via: str) -> bool:
    taken_back = Decision.objects.filter(
        pk=decision.pk, person=person, undone_at=None, released_at=None, release_at__gt=now
    ).update(undone_at=now)
    if not taken_back:
        return False
    held = decision.held
    HeldItem.objects.filter(pk=held.pk).update(state=State.PENDING, version=F("version") + 1)
    if terms_of(held):
        held.refresh_from_db(fields=["state", "version"])
        before = what_is_approved(held)
        approvers.end_of(held, person, now, via)
        recount(held, before, now)
    audit.record(
        audit.of_item(held.kind, "decision-undone"),
        held.public_id,
        actor=person,
        team=held.team_id,
        agent=held.agent,
        before=AFTER[DecisionVerdict(decision.verdict)],
        after=State.PENDING,
        decision=decision.public_id,
        **by_way_of(via),
    )
    return True
