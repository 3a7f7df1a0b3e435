"""What a policy would have done: the stored responses of the last 30 days, scored again under it.

The texts are scored with the error patterns that are active now, under the policy in force and under
the draft, so that the two differ by the policy alone. Beside it stands what people made of the items
that really were held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet, Value
from django.utils import timezone
from pydantic_core import from_json

from metacog import heuristics
from metacog.db.rows import COUNTED
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.text.tags import Item
from metacog.models import Agent
from reviews.models import AgentResponse, HeldItem
from reviews.scoring.history import told_before

DAYS = 30
MOST = 5000  # responses, the newest: what scores in about a second
MOST_IN_PAGE = 500  # while somebody waits for the page: about 20 ms
EXAMPLES = 5

State = HeldItem.State
_OUTCOMES = {
    State.REJECTED: "rejected", State.WITHDRAWN: "rejected", State.APPROVED: "approved", State.EDITED: "edited",
    State.PENDING: "unseen", State.EXPIRED: "unseen", State.ANSWERED: "unseen",
}  # fmt: skip


@dataclass
class Tally:
    """What one policy does to the responses."""

    triggered: int = 0  # responses at its threshold or above
    marked: int = 0  # items
    held: int = 0  # items
    # Of the held: what people made of those that were held when they came. `unheld` passed then.
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Example:
    """An item that one policy holds and the other does not."""

    response: str
    received_at: datetime
    excerpt: str
    kind: str
    score: int
    outcome: str


_Differing = tuple[int, str, int, str]  # the response's key, then as in an Example


@dataclass
class Preview:
    """The policy in force and the draft, over the same responses."""

    responses: int = 0
    total: int = 0  # responses of these days that still have their text, counted to one beyond COUNTED
    now: Tally = field(default_factory=Tally)
    then: Tally = field(default_factory=Tally)
    scores: Counter[int] = field(default_factory=Counter)  # under the policy in force
    added: list[Example] = field(default_factory=list)  # the newest that only the draft holds
    dropped: list[Example] = field(default_factory=list)  # the newest that only the policy in force holds


def preview(agent: Agent, in_force: heuristics.Scorer, draft: heuristics.Policy, most: int = MOST) -> Preview:
    """Score the agent's newest stored responses under the policy in force and under a draft.

    Three queries, and one for the examples where the draft differs.
    """
    since = timezone.now() - timedelta(days=DAYS)
    stored = AgentResponse.latest_of(agent).filter(received_at__gte=since, erased_at=None)
    outcomes = _outcomes(stored[:most])
    policy, under_draft = in_force.policy, in_force.with_policy(draft)
    is_same = holds_alike(policy, draft)
    found = Preview(total=stored.order_by()[: COUNTED + 1].count())
    added, dropped = list[_Differing](), list[_Differing]()
    history = "history" if in_force.looks_for_sources or under_draft.looks_for_sources else Value("")
    for pk, raw, before in stored.values_list("pk", "body", history)[:most].iterator(chunk_size=20):
        body, told = from_json(raw), told_before(before)
        found.responses += 1
        said = said_in(body, told, in_force)
        score_now, holds_now = add_to(found.now, in_force, said, pk, outcomes)
        found.scores[score_now] += 1
        if is_same:
            continue
        if policy.plain_text_as_chat != draft.plain_text_as_chat:
            said = said_in(body, told, under_draft)
        score_then, holds_then = add_to(found.then, under_draft, said, pk, outcomes)
        for differing, holds, but, score in (
            (added, holds_then, holds_now, score_then),
            (dropped, holds_now, holds_then, score_now),
        ):
            for index, kind in holds.items():
                if index not in but and len(differing) < EXAMPLES:
                    differing.append((pk, kind, score, outcomes.get((pk, index), "unheld")))
    if is_same:
        found.then = found.now
    found.added, found.dropped = _examples(added, dropped)
    return found


def holds_alike(policy: heuristics.Policy, draft: heuristics.Policy) -> bool:
    """Tell whether policies differ at most in what makes nothing hesitate and decides about no call."""
    return replace(policy, quality=draft.quality, stuck=draft.stuck, language=draft.language) == draft


def _examples(*found: list[_Differing]) -> Iterator[list[Example]]:
    responses = AgentResponse.objects.filter(pk__in={pk for each in found for pk, *_ in each})
    rows = responses.values_list("pk", "public_id", "received_at", "excerpt")
    told = {pk: (public_id, received_at, excerpt) for pk, public_id, received_at, excerpt in rows}
    return ([Example(*told[pk], kind, score, outcome) for pk, kind, score, outcome in each] for each in found)


def _outcomes(responses: QuerySet[AgentResponse]) -> Mapping[tuple[int, int], str]:
    items = HeldItem.objects.filter(response__in=responses.values("pk")).order_by()
    rows: Iterator[tuple[int, int, str]] = items.values_list("response_id", "index", "state").iterator()
    return {(pk, index): _OUTCOMES[State(state)] for pk, index, state in rows}


class Said(NamedTuple):
    """What a response is scored by."""

    response: str
    items: Sequence[Item]
    given: Sequence[str]
    failing: str


def said_in(body: Mapping[str, Any], told: str, scorer: heuristics.Scorer) -> Said:
    """Read a body as the scorer's policy has its items."""
    given, failing = heuristics.given_in(body, told), heuristics.failing_in(body)
    return Said(body["response"], scorer.items_of(body), given, failing)


def add_to(
    tally: Tally, scorer: heuristics.Scorer, said: Said, pk: int, outcomes: Mapping[tuple[int, int], str]
) -> tuple[int, dict[int, str]]:
    """Add what the scorer does to a response; return its score, and the kinds of what it holds by index."""
    doubts = scorer.weigh(said.response, said.items, said.given, said.failing)
    policy = scorer.policy
    if doubts.score < policy.threshold:
        return doubts.score, {}
    tally.triggered += 1
    held = {index: item.kind for index, item in enumerate(said.items) if item.kind in HELD_KINDS}
    if doubts.score < policy.hold_at:
        tally.marked += len(held)
        return doubts.score, {}
    tally.held += len(held)
    tally.outcomes.update(outcomes.get((pk, index), "unheld") for index in held)
    return doubts.score, held
