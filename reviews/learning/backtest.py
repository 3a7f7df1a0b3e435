"""What a pattern would have done: the team's stored responses of the last days, joined to what people decided.

Each response is scored under the policy its agent has now, with the pattern as if it were active. Another active
pattern that matches as well changes nothing: a known error counts once.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone
from pydantic_core import from_json

from metacog.heuristics import failing_in, given_in, texts_of
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.text.shadow import Shadow
from metacog.models import Agent, Team
from patterns.patterns.alone import Alone, evidence, matched_by
from patterns.patterns.scorer import scorer_shown
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem
from reviews.scoring.history import told_before
from reviews.scoring.preview import DAYS, MOST

EXAMPLES = 10
TOO_OFTEN = 0.05  # of the responses: what fires on more tells reviewers little

_OUTCOMES: dict[str, str] = {
    DecisionVerdict.REJECT: "rejected",
    DecisionVerdict.EDIT: "edited",
    DecisionVerdict.APPROVE: "approved",
}


@dataclass(frozen=True)
class Example:
    """An item that would have been held."""

    response: str
    held: str  # the item's own id where it really was held
    received_at: datetime
    excerpt: str
    kind: str
    score: int
    outcome: str


@dataclass
class Backtest:
    """What a pattern would have done with the responses of the last DAYS days, at most the newest MOST."""

    responses: int = 0
    total: int = 0  # of these days that still have their text; more than `responses` beyond MOST
    fired: int = 0  # responses
    marked: int = 0  # items, as the next two
    held: int = 0
    # Of the held: what people made of those that were held when they came. `unheld` passed then.
    outcomes: Counter[str] = field(default_factory=Counter)
    keywords: Counter[str] = field(default_factory=Counter)  # the responses that each matched
    examples: list[Example] = field(default_factory=list)  # the newest

    @property
    def rate(self) -> Ratio:
        return Ratio(self.fired, self.responses)

    @property
    def fires_too_often(self) -> bool:
        return self.fired > TOO_OFTEN * self.responses


def backtest(team: Team, keywords: Sequence[str]) -> Backtest:
    """Try keywords on the team's stored responses. A query an agent, however many there are."""
    return backtests(team, {0: keywords})[0]


def backtests(team: Team, wanted: Mapping[int, Sequence[str]]) -> dict[int, Backtest]:
    """Try several patterns by their keywords, each as if it alone were active; the responses are read once."""
    since = timezone.now() - timedelta(days=DAYS)
    agents = Agent.objects.filter(team=team, hesitation_enabled=True).select_related("team")
    policies = {agent.pk: scorer_shown(agent).policy for agent in agents}
    tried = {
        agent: [(key, Alone(keywords, policy)) for key, keywords in wanted.items()]
        for agent, policy in policies.items()
    }
    stored = AgentResponse.objects.filter(agent__in=tried, received_at__gte=since, erased_at=None)
    total, outcomes = stored.count(), _outcomes(team, since)
    found = {key: Backtest(total=total) for key in wanted}
    # Agent by agent along its index, without the texts: to sort all of them takes ten times as long.
    newest = (stored.filter(agent=agent).order_by("-received_at").values_list("received_at", "pk") for agent in tried)
    keys = heapq.nlargest(MOST, (key for rows in newest for key in rows[:MOST]))
    # Some may have been erased meanwhile.
    read = AgentResponse.objects.filter(pk__in=[pk for _, pk in keys], erased_at=None).order_by("-id")
    rows = read.values_list("pk", "agent", "public_id", "received_at", "excerpt", "body", "history")
    for pk, agent, public_id, received_at, excerpt, raw, history in rows.iterator(chunk_size=20):
        body = from_json(raw)
        shadows = [Shadow(text).text for text in texts_of(body)]
        for key, alone in tried[agent]:
            found[key].responses += 1
            if not any(map(alone.might_match, shadows)):
                continue
            example = _Posted(pk, public_id, received_at, excerpt)
            _try(found[key], alone, example, body, told_before(history), outcomes)
    return found


class _Posted(NamedTuple):
    pk: int
    public_id: str
    received_at: datetime
    excerpt: str


def _try(
    found: Backtest,
    alone: Alone,
    posted: _Posted,
    body: Any,
    before: str,
    outcomes: Mapping[tuple[int, int], tuple[str, str]],
) -> None:
    items = alone.scorer.items_of(body)
    doubts = alone.hesitate(body["response"], items, given_in(body, before), failing_in(body))
    if doubts is None:
        return
    found.fired += 1
    if keyword := matched_by(alone.keywords, (span.text for span in evidence(doubts))):
        found.keywords[keyword] += 1
    risky = {index: item.kind for index, item in enumerate(items) if item.kind in HELD_KINDS}
    if doubts.score < alone.policy.hold_at:
        found.marked += len(risky) if doubts.score >= alone.policy.threshold else 0
        return
    found.held += len(risky)
    for index, kind in risky.items():
        held, outcome = outcomes.get((posted.pk, index), ("", "unheld"))
        found.outcomes[outcome] += 1
        if len(found.examples) < EXAMPLES:
            told = Example(posted.public_id, held, posted.received_at, posted.excerpt, kind, doubts.score, outcome)
            found.examples.append(told)


def _outcomes(team: Team, since: datetime) -> Mapping[tuple[int, int], tuple[str, str]]:
    """Return, of the items that were held, their ids and what people made of them, by response and index."""
    held = HeldItem.objects.filter(team=team, response__received_at__gte=since)
    by_people = Decision.objects.filter(
        held__team=team, held__response__received_at__gte=since, by=Decision.By.PERSON, undone_at=None
    )
    verdicts = dict(by_people.values_list("held", "verdict"))
    return {
        (response, index): (public_id, _OUTCOMES.get(verdicts.get(pk, ""), "unseen"))
        for pk, response, index, public_id in held.values_list("pk", "response", "index", "public_id").iterator()
    }
