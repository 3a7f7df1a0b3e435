"""Approve what others must approve as well, which decides nothing yet, and take that back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from metacog.heuristics.tool_calls.approvers import Approvers, of_rule
from metacog.models import Agent, AgentState, User
from reviews.held import approvers, grants
from reviews.held.approvers import terms_of
from reviews.held.decisions.claiming import Circumstances, State, what_is_released
from reviews.held.decisions.edits import Arguments, Edit
from reviews.held.decisions.refusals import Standing
from reviews.models import Approval, DecisionVerdict, HeldItem


def approved_as(held: HeldItem, public_id: str) -> tuple[DecisionVerdict, Edit | None]:
    """Return what somebody approved, to be approved by another; raise Standing where that stands no longer."""
    approval = Approval.objects.filter(held=held, public_id=public_id, ended_at=None).first()
    if approval is None:
        raise Standing
    edit: Edit | None = None
    if approval.is_edit:
        edit = Arguments(approval.arguments) if held.kind == HeldItem.Kind.TOOL_CALL else approval.text
    return DecisionVerdict(approval.verdict), edit


def approval_of(
    held: HeldItem,
    actor: User | Agent,
    verdict: DecisionVerdict,
    edit: Edit | None,
    reason: str,
    circumstances: Circumstances,
) -> Approval | None:
    """Return what a person approves, unsaved; None where it is no person's approval."""
    if not isinstance(actor, User) or verdict not in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT):
        return None
    text, arguments, text_sha256 = what_is_released(held, verdict, edit)
    return Approval(
        held=held,
        person=actor,
        verdict=verdict,
        reason=reason,
        item_version=held.version,
        item_sha256=held.sha256,
        text=text,
        arguments=arguments,
        text_sha256=text_sha256,
        together=circumstances.together,
        shown_ms=circumstances.shown_ms,
    )


def who_must_approve(held: HeldItem, edit: Edit | None) -> Approvers:
    """Return who must approve an item: whom its rule names, and of an edit whom the rule that it meets names, too."""
    named = approvers.of_item(held)
    if isinstance(edit, Arguments):
        judged = grants.asked(held, edit.value).judged
        named = named.and_(of_rule(judged.rule)) if judged.do != "allow" else named
    return named


def completes(held: HeldItem, approval: Approval, wanted: Approvers, now: datetime) -> bool:
    """Take an approval down where it is not the only one that matters; say whether the item is decided with it."""
    terms = terms_of(held)
    waits = approvers.waits(held) and terms is not None and not terms.with_calls
    if wanted.people < 2 and not waits and not (terms and terms.given):
        return True
    before = what_is_approved(held)
    is_enough = approvers.give(held, approval, wanted, now) and not waits
    recount(held, before, now, is_shown=is_enough)
    return is_enough


def what_is_approved(held: HeldItem) -> str:
    """Return what is approved so far, by its SHA-256: what was asked, unless somebody approved something else."""
    given = approvers.standing(held)
    return given[0].text_sha256 if given else what_is_released(held, DecisionVerdict.APPROVE, None)[2]


def recount(held: HeldItem, proposed: str, now: datetime, *, is_shown: bool = False) -> None:
    """Write down which approvals stand of a pending item.

    It is another version where these are not of what was `proposed` until now, unless that `is_shown` and decided.
    """
    approvers.count(held, now)
    approvers.look(held)
    if not is_shown and what_is_approved(held) != proposed:
        HeldItem.objects.filter(pk=held.pk).update(version=F("version") + 1)


def withdraw_approval(approval: Approval, via: str = "") -> bool:
    """Take back a person's own approval of what is still pending; False when it is too late."""
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=approval.held.agent_id)
        now = timezone.now()
        rows = Approval.objects.select_related("person", "held__agent", "held__response", "held__call", "held__terms")
        standing = rows.filter(pk=approval.pk, ended_at=None, held__state=State.PENDING).first()
        if standing is None:
            return False
        before = what_is_approved(standing.held)
        approvers.withdraw(standing, now, via)
        recount(standing.held, before, now)
    return True
