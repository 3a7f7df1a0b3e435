"""What an agent is told until its next response: what was decided about its items and its requests.

A context gives it, and the first response posted after that says it was heard. So an agent that reads, crashes and
reads again is told again, and what is decided between its reading and its posting is told next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from django.db import transaction
from django.db.models import Case, F, Q, TextField, When
from django.db.models.functions import Cast, Coalesce, Left, Length

from metacog.heuristics.text.tags import TOOL_CALL
from metacog.models import Agent, AgentState
from patterns.serializers import instant
from reviews.intake import approvals
from reviews.models import Decision, DecisionVerdict, ExtensionRequest, HeldCall, HeldItem
from reviews.serializers import EXCERPT_READ, excerpt

DECIDED_MOST = 20
DECIDED_BUDGET = 20_000  # characters of edits and reasons; whole or not at all, and the newest in any case
EXTENSIONS_MOST = 5


class ToldDecision(TypedDict):
    """A decision as the next cycle hears of it."""

    id: str
    seq: int | None
    held: str
    kind: str
    verdict: str
    reason: str
    text: str | None
    excerpt: str
    by: str
    decided_at: str
    permission: str | None


class LeftOut(TypedDict):
    """How many older decisions there was no room for, and the `after` from which the feed has them."""

    count: int
    after: int


# Of a tool call its arguments, of a question its answer, as JSON.
_EDITED = When(
    verdict__in=[DecisionVerdict.EDIT, DecisionVerdict.ANSWER],
    then=Coalesce(F("text"), Cast(Coalesce("arguments", "answer"), TextField())),
)


def decided(agent: Agent, state: AgentState, *, is_given: bool = True) -> tuple[list[ToldDecision], LeftOut | None]:
    """Return the released decisions that the agent has not heard of, oldest first, and what is left out of older ones.

    Where they are given to the agent, it hears of them. No query where there is no news.
    """
    heard = _heard(state)
    news = Decision.objects.filter(agent=agent, seq__gt=heard, seq__lte=state.decision_seq)
    if state.decision_seq <= heard:
        return [], None
    length = Length("reason") + Coalesce(Length(Case(_EDITED, output_field=TextField())), 0)
    told: list[int] = []
    left = DECIDED_BUDGET
    for seq, characters in news.order_by("-seq").values_list("seq", length)[:DECIDED_MOST]:
        left -= characters
        if told and left < 0:
            break
        told.append(seq)
    rows = news.filter(seq__in=told).order_by("seq").values(
        "public_id", "seq", "held", "held__public_id", "held__kind", "verdict", "reason", "by", "decided_at",
        began=Left("held__text", EXCERPT_READ + 1), edited=Case(_EDITED, output_field=TextField()),
    )  # fmt: skip
    permissions = _permissions([row["held"] for row in rows if row["held__kind"] == TOOL_CALL], is_given)
    items: list[ToldDecision] = [
        {
            "id": row["public_id"],
            "seq": row["seq"],
            "held": row["held__public_id"],
            "kind": row["held__kind"],
            "verdict": row["verdict"],
            "reason": row["reason"],
            "text": row["edited"],
            "excerpt": excerpt(row["began"]),
            "by": row["by"],
            "decided_at": instant(row["decided_at"]),
            "permission": permissions.get(row["held"]),
        }
        for row in rows
    ]
    more = state.decision_seq - heard - len(items)  # the feed has no gaps
    return items, {"count": more, "after": heard} if more else None


def _permissions(calls: Sequence[int], is_given: bool) -> dict[int, str]:
    """Return what the approvals of these calls (by the keys of their items) permit; given, the agent hears of them."""
    if not calls:
        return {}
    released = (HeldItem.State.APPROVED, HeldItem.State.EDITED)
    approved = list(HeldCall.objects.filter(pk__in=calls, held__state__in=released))
    if is_given:
        approvals.hear_of(approved, HeldCall.UsedBy.CONTEXT)
    return {call.pk: call.permission for call in approved}


def requests(agent: Agent, state: AgentState) -> tuple[list[ExtensionRequest], bool]:
    """Return the answered requests for more tool calls that the agent has not heard of, then those that wait.

    And whether there are more; an answer that finds no room is told next time.
    """
    unheard = Q(told_until__in=[ExtensionRequest.UNTOLD, state.responses])
    rows = ExtensionRequest.objects.filter(unheard | Q(state=ExtensionRequest.State.PENDING), agent=agent)
    found = list(rows.order_by(F("decided_at").asc(nulls_last=True), "-id")[: EXTENSIONS_MOST + 1])
    return found[:EXTENSIONS_MOST], len(found) > EXTENSIONS_MOST


def give(agent: Agent, state: AgentState, told: Iterable[ExtensionRequest]) -> None:
    """Note that what `decided` and `requests` return for `state` is given to the agent."""
    heard, given = _heard(state), (state.decision_seq, state.responses)
    fresh = [row.pk for row in told if row.told_until == ExtensionRequest.UNTOLD]
    if not fresh and (state.decision_seq <= heard or (state.feed_given, state.feed_given_at) == given):
        return
    with transaction.atomic():
        # A response that came meanwhile did not know of it: then nothing is noted, and it is told again.
        same = AgentState.objects.filter(pk=agent.pk, responses=state.responses, feed_given__lte=state.decision_seq)
        if same.update(feed_heard=heard, feed_given=state.decision_seq, feed_given_at=state.responses):
            ExtensionRequest.objects.filter(pk__in=fresh).update(told_until=state.responses)


def _heard(state: AgentState) -> int:
    """Return the number in its feed up to which the agent has heard."""
    return state.feed_given if state.responses > state.feed_given_at else state.feed_heard
