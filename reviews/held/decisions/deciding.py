"""Decide an item as a person or its agent asks for it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls.approvers import ANYBODY
from metacog.heuristics.wire.json_schema import errors_of
from metacog.models import Agent, AgentState, User
from metacog.runtime import tracing
from patterns.patterns.scorer import scorer_for
from reviews.held import approvers, grants
from reviews.held.decisions.approving import approval_of, approved_as, completes, who_must_approve
from reviews.held.decisions.claiming import UNKNOWN, Circumstances, State, claim
from reviews.held.decisions.edits import (
    Answer,
    Arguments,
    Edit,
    OutOfSchema,
    Slips,
    StillMasked,
    check_edit,
    has_mask_left,
    slips_of,
)
from reviews.held.decisions.refusals import NotApprover, NotYet, Standing, WaitsForCalls, WantsAnswer, WantsPerson
from reviews.held.decisions.releasing import release, settle
from reviews.models import AgentResponse, Approval, Decision, DecisionVerdict, HeldItem
from reviews.records import answers, traces

Taken = Decision | Approval  # an approval where others must approve as well, or tool calls be approved


def decide(held: HeldItem, actor: User | Agent, verdict: str, **how: Any) -> tuple[Decision, bool]:
    """Decide an item that nobody else must approve; see `decide_or_approve`."""
    decision, is_new = decide_or_approve(held, actor, verdict, **how)
    assert isinstance(decision, Decision)
    return decision, is_new


def decide_or_approve(
    held: HeldItem,
    actor: User | Agent,
    verdict: str,
    *,
    edit: Edit | None = None,
    reason: str = "",
    accept_risk: bool = False,
    circumstances: Circumstances = UNKNOWN,
) -> tuple[Taken, bool]:
    """Decide an item, and return the decision and whether it is new.

    Where others must approve as well it stays pending, and what is returned is the Approval.

    `edit` goes with the verdict of that name only: a text, or Arguments of a tool call; and an Answer with `answer`.
    `accept_risk` lets a person release an edit that would be held again, or has keys that look like a slip.
    The same actor's same verdict and edit again gives the first decision back.
    A person's decision can be undone until `release_at`; an agent's is released at once.
    Raises a Refusal or NotGranted, having written nothing. Whether `actor` may see and decide the item at all is
    the caller's to check.
    """
    began = tracing.now()
    settle(held.agent)
    is_released = verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT, DecisionVerdict.ANSWER)
    if is_released and (held.kind == HeldItem.Kind.QUESTION) != (verdict == DecisionVerdict.ANSWER):
        raise WantsAnswer
    if isinstance(actor, User) and has_mask_left(held, edit):
        raise StillMasked
    # Before anything is locked: what an agent sent as a schema may take its time.
    if isinstance(edit, Arguments):
        errors = errors_of(edit.value, held.call.schema) if held.state == State.PENDING else []
        if errors:
            raise OutOfSchema(errors)
    if isinstance(edit, Answer) and held.state == State.PENDING and (errors := answers.errors_of(held, edit.value)):
        raise OutOfSchema(errors)
    slips = slips_of(held, edit) if isinstance(edit, Arguments) and not accept_risk else Slips()
    wanted = circumstances.grant
    asked = grants.asked(held, edit.value if isinstance(edit, Arguments) else held.call.arguments) if wanted else None
    with transaction.atomic(durable=True):
        state = AgentState.objects.select_for_update().get(pk=held.agent_id)
        held = HeldItem.objects.select_related("agent__team", "response", "call__outcome", "question", "terms").get(
            pk=held.pk
        )
        now = timezone.now()
        if circumstances.like:
            verdict, edit, accept_risk = *approved_as(held, circumstances.like), True
        if held.state != State.PENDING:
            return _same_again(held, actor, verdict, edit), False
        approval = approval_of(held, actor, DecisionVerdict(verdict), edit, reason, circumstances)
        if approval and (given := approvers.given_before(held, approval)):
            return given, False
        if not circumstances.fit(held):
            raise Standing
        if held.expires_at <= now:  # behind a batch of others: what has expired is never released
            raise Standing
        if isinstance(actor, Agent) and verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT):
            if approvers.waits(held):
                raise WaitsForCalls
            _check_second_look(held, now)
        named = who_must_approve(held, edit)
        if approval and not approvers.may_approve(approval.person, held.team_id, named):
            raise NotApprover(named)
        if wanted and named != ANYBODY:
            raise grants.NotGranted("", grants.FOR_PEOPLE)
        if isinstance(edit, str | Arguments) and verdict == DecisionVerdict.EDIT and not accept_risk:
            check_edit(held, edit, slips)
        if approval and not completes(held, approval, named, now):
            return approval, True
        decision = claim(held, actor, DecisionVerdict(verdict), edit, reason, now, circumstances)
        if wanted and asked and decision.text_sha256:
            grants.give(wanted, decision, held, asked)
        if circumstances.by_grant:
            grants.use(circumstances.by_grant, held, now)
        if decision.release_at <= now:
            release(decision, state, now)
    traces.tell_decided(decision, began)
    return decision, True


def _same_again(held: HeldItem, actor: User | Agent, verdict: str, edit: Edit | None) -> Decision:
    standing = Decision.objects.select_related("held", "person").get(held=held, undone_at=None)
    is_theirs = standing.person == actor if isinstance(actor, User) else standing.by == Decision.By.AGENT
    if isinstance(edit, Arguments):
        is_same = canonical(standing.arguments) == canonical(edit.value)
    elif isinstance(edit, Answer):
        is_same = canonical(standing.answer) == canonical(edit.value)
    else:
        is_same = standing.text == edit
    has_edit = verdict in (DecisionVerdict.EDIT, DecisionVerdict.ANSWER)
    if is_theirs and standing.verdict == verdict and (is_same or not has_edit):
        return standing
    # While a person may still undo, the agent is told no more than that somebody is at it.
    raise Standing(standing if held.closed_at or isinstance(actor, User) else None)


def _check_second_look(held: HeldItem, now: datetime) -> None:
    """Raise unless the agent may release this kind, and has had a cycle to think (invariant 9)."""
    if scorer_for(held.agent).policy.release.get(held.kind) != "agent":
        raise WantsPerson
    if now >= held.review_due_at:
        return
    later = AgentResponse.objects.posted().filter(agent=held.agent_id, pk__gt=held.response_id)
    if held.response.cycle is not None:
        later = later.filter(Q(cycle__gt=held.response.cycle) | Q(cycle=None))
    if not later.exists():
        raise NotYet
