"""What was decided about texts like this one before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models.functions import Left

from metacog.heuristics import recall
from reviews.models import Decision, HeldItem

LOOK_BACK = 50  # released decisions about the same agent's items
READ = 500  # characters of a text: the page must not wait for it
ALIKE = 0.4  # share of the weight of an item's words that another must have
MOST = 2


@dataclass(frozen=True)
class Similar:
    """A decision about a text that shares much with another."""

    decision: Decision
    text: str


def decided(held: HeldItem) -> list[Similar]:
    """Return what was decided about the most similar of the agent's latest items, the most similar first.

    Words are weighed by how rare they are among those items, as in the shared memory's search.
    """
    rows = list(
        Decision.objects.filter(agent=held.agent_id, seq__isnull=False)
        .exclude(verdict=Decision.Verdict.EXPIRE)
        .exclude(held=held)
        .select_related("person", "agent", "held")
        .defer("text", "held__text", "held__attributes")
        .annotate(said=Left("held__text", READ))
        .order_by("-seq")[:LOOK_BACK]
    )
    counted = [recall.terms(row.said) for row in rows]
    frequencies = Counter(term for terms in counted for term in terms)
    asked = recall.asked(held.text[:READ])
    wanted = frozenset(asked)
    postings = [
        recall.Posting(number, term, times, terms.total())
        for number, terms in enumerate(counted)
        for term, times in terms.items()
        if term in wanted
    ]
    mean = sum(terms.total() for terms in counted) / len(counted) if counted else 1.0
    found = recall.rank(asked, frequencies, postings, len(counted), mean)
    return [Similar(rows[each.number], rows[each.number].said) for each in found if each.share >= ALIKE][:MOST]
