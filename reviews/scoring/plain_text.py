"""Agents that post plain text: how many of their responses had nothing in them that could be held, and what a switch
of their policy would make of those."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Count, Q, QuerySet

from metacog.db.rows import first_rows
from metacog.models import Agent
from patterns.patterns.scorer import scorer_shown
from reviews.models import AgentResponse
from reviews.scoring.history import told_before
from reviews.scoring.preview import Tally, add_to, said_in
from reviews.search.newest import newest

LATEST = 100  # responses that are looked at
FEWEST = 10  # of them, before anything is said
# A quotation mark within a text is escaped in JSON: only the verdict's own items match.
WITHOUT_ITEMS = Q(verdict__contains='"items": []')


@dataclass(frozen=True)
class Offer:
    """What is said of an agent most of whose latest responses had no items."""

    agent: Agent
    responses: int
    empty: int
    scored: int  # of them, again: fewer where they are very long or were erased
    tally: Tally  # with the switch on

    @property
    def rate(self) -> float:
        """Return the share of responses that would trigger."""
        return self.tally.triggered / self.scored if self.scored else 0


def offer(agent: Agent) -> Offer | None:
    """Offer the switch where most of the agent's latest responses had no items. Three queries at most."""
    scorer = scorer_shown(agent)
    if scorer.policy.plain_text_as_chat or not agent.hesitation_enabled:
        return None
    latest = AgentResponse.latest_of(agent)
    counts = latest.values("pk", "verdict")[:LATEST].aggregate(all=Count("pk"), empty=Count("pk", filter=WITHOUT_ITEMS))
    if counts["all"] < FEWEST or 2 * counts["empty"] <= counts["all"]:
        return None
    switched = scorer.with_policy(replace(scorer.policy, plain_text_as_chat=True))
    rows, _ = first_rows(latest.only("body", "history", "erased_at"), LATEST, "body")
    kept, tally = [row for row in rows if not row.erased_at], Tally()
    for row in kept:
        add_to(tally, switched, said_in(row.wire_body(), told_before(row.history), switched), row.pk, {})
    return Offer(agent, counts["all"], counts["empty"], len(kept), tally)


def offer_among(agents: QuerySet[Agent]) -> Offer | None:
    """Offer the switch for the agent that posted most of the latest responses without items."""
    latest = AgentResponse.objects.filter(WITHOUT_ITEMS, pk__in=newest(AgentResponse.objects.all(), agents, LATEST))
    most = latest.order_by().values("agent").annotate(empty=Count("pk")).order_by("-empty", "agent").first()
    if most is None:
        return None
    return offer(agents.select_related("team").get(pk=most["agent"]))
