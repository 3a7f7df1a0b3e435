"""What was decided about texts like this one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Left

from metacog.db.prepared import written_once
from metacog.heuristics.alike.shape import shape, shape_of_call
from metacog.heuristics.memory import recall
from reviews.held.listing import arguments_begin
from reviews.models import Decision, DecisionVerdict, HeldCall, HeldItem

LOOK_BACK = 50  # released decisions about the same agent's items
READ = 500  # characters of a text: the page must not wait for it
ALIKE = 0.4  # share of the weight of an item's words that another must have
MOST = 2


@dataclass(frozen=True)
class Similar:
    """A decision about a text that shares much with another."""

    decision: Decision
    text: str  # as far as it was read; of a tool call its name and canonical arguments
    sha256: str  # of the whole
    held: str  # public id of what it was about
    is_near: bool  # a near-duplicate: it differs in numbers, dates, addresses, IDs or quoted names alone


def decided(held: HeldItem) -> list[Similar]:
    """Return what was decided about the most similar of the agent's latest items, the most similar first.

    A near-duplicate is the most similar there is, the latest first. Of others the words are weighed by how rare they
    are among those items, as in the shared memory's search. A tool call is compared with calls of the same tool.
    """
    said: dict[int, str] = {}
    about: dict[int, tuple[str, str]] = {}
    for pk, text, *about_it in _latest(*_told_apart(held), kind=held.kind):
        said[pk], about[pk] = text, (about_it[0], about_it[1])
    shape_of = _shape_of_tool(held.call.name) if held.kind == HeldItem.Kind.TOOL_CALL else shape
    own = shape_of(held.text[:READ])
    near = [pk for pk, text in said.items() if shape_of(text) == own][:MOST]
    others = by_words(held.text[:READ], said) if len(near) < MOST else []
    found = [*near, *(pk for pk in others if pk not in near)][:MOST]
    decisions = {each.pk: each for each in _told(found)} if found else {}
    return [Similar(decisions[pk], said[pk], *about[pk], pk in near) for pk in found]


def _told_apart(held: HeldItem) -> tuple[int, int, str]:
    """Return what `_before` goes by: an item, its agent, and a call's tool."""
    return held.pk, held.agent_id, held.call.name if held.kind == HeldItem.Kind.TOOL_CALL else ""


def _before(held: Any, agent: Any, tool: Any, kind: str) -> QuerySet[Decision]:
    """Return the released decisions about what an item is compared with, the latest first."""
    rows = Decision.objects.filter(seq__isnull=False).exclude(verdict=DecisionVerdict.EXPIRE).exclude(held=held)
    if kind == HeldItem.Kind.TOOL_CALL:
        rows = rows.filter(held__in=_calls_of_tool(held, agent, tool).values("held")[:LAST_CALLS])
    elif kind == HeldItem.Kind.QUESTION:
        rows = rows.filter(agent=agent, held__kind=kind)
    else:
        rows = rows.filter(agent=agent).exclude(held__kind__in=HeldItem.NO_WORDS)
    return rows.order_by("-seq")


@written_once
def _latest(held: Any, agent: Any, tool: Any, *, kind: str) -> QuerySet[Decision, tuple[int, str, str, str]]:
    rows = _before(held, agent, tool, kind)
    return rows.values_list("pk", Left("held__text", READ), "held__sha256", "held__public_id")[:LOOK_BACK]


@written_once
def _by_people(held: Any, agent: Any, tool: Any, *, kind: str) -> QuerySet[Decision, tuple[int, str, str, str]]:
    rows = _before(held, agent, tool, kind).filter(by=Decision.By.PERSON, undone_at=None)
    return rows.values_list("held", "held__public_id", "verdict", Left("held__text", READ))[:COMPARED]


@written_once
def _told(decisions: Any) -> QuerySet[Decision]:
    return Decision.as_told().filter(pk__in=decisions)


def _shape_of_tool(name: str) -> Callable[[str], str]:
    return lambda text: shape_of_call(name, text)


def by_words(text: str, said: Mapping[int, str]) -> list[int]:
    """Return which of these texts share most words with one."""
    counted = {pk: recall.counted(each) for pk, each in said.items()}
    frequencies = Counter(term for terms in counted.values() for term in terms)
    asked = recall.asked(text)
    sizes = {pk: terms.total() for pk, terms in counted.items()}
    postings = [(pk, term, terms[term], sizes[pk]) for pk, terms in counted.items() for term in terms.keys() & asked]
    if not postings:
        return []
    found = recall.rank(asked, frequencies, postings, len(counted), sum(sizes.values()) / len(sizes))
    return [each.number for each in found if each.share >= ALIKE]


NEAREST, ENOUGH_NEAR = 9, 3  # of an agent's items, those most like one; with fewer nothing is told
COMPARED = 200  # decisions about its items
LEAST_TOLD = 2  # rejections for one reason


@dataclass(frozen=True)
class Near:
    """How many of the nearest items were rejected for one reason, with these items."""

    rejected: int
    of: int
    reason: str  # "" where none was given often enough
    items: Sequence[str]  # public ids of those rejected


def near(item: HeldItem, told: Sequence[Mapping[str, Any]]) -> Near | None:
    """Say what was decided about the items most like one; None where fewer than `ENOUGH_NEAR` are like it, or most of
    these were approved.

    `told` are the team's reasons for what is of its kind (learning/reason_groups.py). A call is like calls of its tool.
    """
    if item.kind == HeldItem.Kind.QUESTION:
        return None
    rows = _by_people(*_told_apart(item), kind=item.kind)
    known = {held: (public_id, verdict == DecisionVerdict.REJECT, text) for held, public_id, verdict, text in rows}
    nearest = by_words(item.text[:READ], {held: text for held, (_id, _rejected, text) in known.items()})[:NEAREST]
    rejected = [held for held in nearest if known[held][1]]
    if len(nearest) < ENOUGH_NEAR or 2 * len(rejected) < len(nearest):
        return None
    groups = [(group["name"], [held for held in rejected if held in group["held"]]) for group in told]
    name, own = max(groups, key=lambda group: len(group[1]), default=("", []))
    if len(own) < LEAST_TOLD:
        name, own = "", rejected
    return Near(len(own), len(nearest), name, [known[held][0] for held in own])


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
    rows = _states_of_tool(held.pk, held.agent_id, held.call.name)
    decided = [(pk, state) for pk, state in rows if state in DECIDED]
    latest = _told_of_calls([pk for pk, _ in decided[:MOST_CALLS]]) if decided else []
    approved = sum(state != HeldItem.State.REJECTED for _, state in decided)
    return OfTool(approved, len(decided), latest)


@written_once
def _states_of_tool(held: Any, agent: Any, name: Any) -> QuerySet[HeldCall, tuple[int, str]]:
    by_itself = Decision.objects.filter(held=OuterRef("held"), undone_at=None, by=Decision.By.SYSTEM)
    rows = _calls_of_tool(held, agent, name).exclude(Exists(by_itself))
    return rows.values_list("held", "held__state")[:LAST_CALLS]


@written_once
def _told_of_calls(held: Any) -> QuerySet[Decision]:
    rows = Decision.as_told().filter(held__in=held, undone_at=None).order_by("-held")
    return rows.annotate(beginning=arguments_begin("held__"), held_public_id=F("held__public_id"))


def _calls_of_tool(held: Any, agent: Any, name: Any) -> QuerySet[HeldCall]:
    """Return the agent's other calls of the same tool, the latest first."""
    return HeldCall.objects.filter(agent=agent, name=name).exclude(held=held).order_by("-held")
