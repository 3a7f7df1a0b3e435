"""Calls that wait and that a grant lets pass, too: listed where one is given, and released with it where a person says.

They are that person's approvals, with one press, one undo, and the grant's uses. What a new post of a call would be
asked about for another reason waits on: approvers, a demanded review, a review budget, a pause, a changed tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from metacog.db.prepared import written_once
from metacog.heuristics.tool_calls.approvers import ANYBODY
from metacog.heuristics.tool_calls.definition import definition_of
from metacog.heuristics.tool_calls.grants import Match, Scope, keys
from metacog.models import User
from reviews.held import approvers, decisions, grants
from reviews.held.decisions import Circumstances, Standing, State
from reviews.intake.tool_calls import done, lets_pass
from reviews.models import CallGrant, Decision, DecisionVerdict, HeldItem

MOST = 200  # calls that are read, those that have waited longest


class Waiting(NamedTuple):
    """A waiting call, and the grants of another by which it would pass."""

    held: HeldItem
    by: frozenset[tuple[Match, Scope]]


def may_wait(held: HeldItem) -> bool:
    """Say whether calls of the same tool wait beside this one: without, none is to be looked at."""
    return bool(_others(held.agent_id, held.pk, held.call.name, timezone.now()))


@written_once
def _others(agent: Any, held: Any, tool: Any, now: Any) -> QuerySet[HeldItem, int]:
    rows = HeldItem.objects.filter(agent=agent, kind=HeldItem.Kind.TOOL_CALL, state=State.PENDING, expires_at__gt=now)
    return rows.filter(call__name=tool).exclude(pk=held).order_by().values_list("pk", flat=True)[:1]


def waiting(held: HeldItem, found: grants.Asked, now: datetime) -> list[Waiting]:
    """Return the calls that wait and that a grant of this one would let pass, the longest first. Two queries."""
    agent = held.agent
    if not agent.enabled or agent.is_paused(now):
        return []
    given = keys(held.response.session, found.call, found.reading)
    rows = HeldItem.objects.filter(
        agent=agent, kind=HeldItem.Kind.TOOL_CALL, state=State.PENDING, expires_at__gt=now, call__name=found.call.name
    )
    rows = rows.exclude(pk=held.pk).select_related("agent__team", "call", "terms", "response").order_by("id")
    listed = list(rows.defer("response__body", "response__history", "response__verdict")[:MOST])
    is_done = done(agent, {each.call.sha256 for each in [held, *listed]})
    calls = []
    for each in listed:
        asked = grants.asked(each, each.call.arguments)
        same = keys(each.response.session, asked.call, asked.reading).keys() & given.keys()
        by = frozenset(given[key] for key in same if lets_pass(given[key][0], asked.judged))
        is_reported = any((each.call.sha256, call_id) in is_done for call_id in each.call.call_ids)
        is_same_tool = each.call.definition == definition_of(found.call)
        if by and is_same_tool and not is_reported and not _waits_for_more(each, asked):
            calls.append(Waiting(each, by))
    return calls


def _waits_for_more(held: HeldItem, asked: grants.Asked) -> bool:
    """Say whether something beats a grant here."""
    is_kept = held.call.is_demanded or held.by_budget or asked.judged.do == "deny"
    return is_kept or approvers.of_item(held) != ANYBODY


def release(decision: Decision, listed: Mapping[str, int | None], how: Circumstances) -> Sequence[Decision]:
    """Approve, with the approval that gave a grant, those of the listed calls (ids, and versions) that it lets pass.

    Each for itself, in order, until the grant is used up; what changed meanwhile waits on.
    """
    person, held = decision.person, decision.held
    grant = CallGrant.objects.filter(held=held, person=person, withdrawn_at=None).first()
    if grant is None or person is None or not listed:
        return []
    approved = list[Decision]()
    arguments = held.call.arguments if decision.verdict == DecisionVerdict.APPROVE else decision.arguments
    with suppress(grants.NotGranted):
        for each in waiting(held, grants.asked(held, arguments), timezone.now()):
            if each.held.public_id in listed and (grant.match, grant.scope) in each.by:
                with suppress(Standing):
                    approved.append(_approve(each.held, person, decision, grant, listed[each.held.public_id], how))
    return approved


def _approve(
    held: HeldItem, person: User, decision: Decision, grant: CallGrant, version: int | None, how: Circumstances
) -> Decision:
    # The approval may have been sent again: its press is the first one's.
    mine = Circumstances(version=version, via=how.via, together=decision.together or how.together, by_grant=grant)
    return decisions.decide(held, person, DecisionVerdict.APPROVE, reason=decision.reason, circumstances=mine)[0]
