"""What was decided about texts like this one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Left

from metacog.heuristics.alike.shape import shape
from metacog.heuristics.memory import recall
from reviews.held.listing import arguments_begin
from reviews.models import Decision, HeldCall, HeldItem

LOOK_BACK = 50  # released decisions about the same agent's items
READ = 500  # characters of a text: the page must not wait for it
ALIKE = 0.4  # share of the weight of an item's words that another must have
MOST = 2


@dataclass(frozen=True)
class Similar:
    """A decision about a text that shares much with another."""

    decision: Decision
    text: str
    held: str  # public id of what it was about


def decided(held: HeldItem) -> list[Similar]:
    """Return what was decided about the most similar of the agent's latest items, the most similar first.

    A near-duplicate is the most similar there is, the latest first. Of others the words are weighed by how rare they
    are among those items, as in the shared memory's search.
    """
    rows = (
        Decision.objects.filter(agent=held.agent_id, seq__isnull=False)
        .exclude(verdict=Decision.Verdict.EXPIRE)
        .exclude(held=held)
        .exclude(held__kind=HeldItem.Kind.TOOL_CALL)  # which `of_tool` tells of
        .order_by("-seq")
    )
    latest = rows.values_list("pk", Left("held__text", READ), "held__public_id")[:LOOK_BACK]
    said: dict[int, str] = {}
    about: dict[int, str] = {}
    for pk, text, held_id in latest:
        said[pk], about[pk] = text, held_id
    own = shape(held.text[:READ])
    near = [pk for pk, text in said.items() if shape(text) == own][:MOST]
    if len(near) == MOST:
        return _told(near, said, about)
    counted = {pk: recall.counted(text) for pk, text in said.items()}
    frequencies = Counter(term for terms in counted.values() for term in terms)
    asked = recall.asked(held.text[:READ])
    sizes = {pk: terms.total() for pk, terms in counted.items()}
    postings = [(pk, term, terms[term], sizes[pk]) for pk, terms in counted.items() for term in terms.keys() & asked]
    if not postings:
        return _told(near, said, about)
    found = recall.rank(asked, frequencies, postings, len(counted), sum(sizes.values()) / len(sizes))
    shared = [each.number for each in found if each.share >= ALIKE and each.number not in near]
    return _told([*near, *shared][:MOST], said, about)


def _told(alike: Sequence[int], said: Mapping[int, str], about: Mapping[int, str]) -> list[Similar]:
    decisions = Decision.as_told().in_bulk(alike)  # Django asks nothing for no ids
    return [Similar(decisions[pk], said[pk], about[pk]) for pk in alike]


DECIDED = (HeldItem.State.APPROVED, HeldItem.State.EDITED, HeldItem.State.REJECTED)
LAST_CALLS = 100  # of one tool of an agent that are counted
MOST_CALLS = 3  # of which each decision is told


@dataclass(frozen=True)
class OfTool:
    """What people decided about the last calls of one tool: an approval that was edited is one."""

    approved: int
    decided: int
    latest: Sequence[Any]  # decisions, each with its item's id and text, as far as a line needs it


def of_tool(held: HeldItem) -> OfTool:
    """Return what was decided about the agent's calls of the same tool before; two queries."""
    rows = (
        HeldCall.objects.filter(agent=held.agent_id, name=held.call.name)
        .exclude(held=held)
        .order_by("-held")
        .values_list("held", "held__state")[:LAST_CALLS]
    )
    decided = [(pk, state) for pk, state in rows if state in DECIDED]
    latest = (
        Decision.as_told()
        .filter(held__in=[pk for pk, _ in decided[:MOST_CALLS]], undone_at=None)
        .annotate(beginning=arguments_begin("held__"), held_public_id=F("held__public_id"))
        .order_by("-held")
    )
    approved = sum(state != HeldItem.State.REJECTED for _, state in decided)
    return OfTool(approved, len(decided), list(latest))
