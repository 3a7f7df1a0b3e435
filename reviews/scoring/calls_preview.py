"""What a policy's rules would have done with the tool calls of the last 30 days, and what people did with those.

A call that was asked about and posted again once it was approved, or while it waited, is one call here. The calls are
judged by the policy in force and by the draft; the approvals that they had count for neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal

from django.utils import timezone
from pydantic_core import from_json

from metacog import heuristics
from metacog.db.rows import COUNTED, OfEach
from metacog.heuristics.effects.effect import Reading
from metacog.heuristics.policy.pack_fit import PackFit
from metacog.heuristics.text.tags import Item, ToolCall
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.rules import Judged
from metacog.models import Agent
from reviews.models import AgentResponse, Decision
from reviews.scoring.preview import DAYS, EXAMPLES, MOST, holds_alike

Fate = Literal["asked", "allowed", "denied"]
FATES: tuple[Fate, ...] = ("asked", "allowed", "denied")
# What became of a call: by people, by the agent itself or the clock, or no person was asked.
OUTCOMES = ("approved", "edited", "rejected", "withdrawn", "expired", "pending", "passed", "denied")
AT_ONCE = 1000  # held items whose decisions one query reads
_BY_PEOPLE = {"approve": "approved", "edit": "edited", "reject": "rejected"}
_BY_OTHERS = {"approve": "passed", "reject": "denied", "expire": "expired"}  # by a changed policy, or the clock


@dataclass
class Tally:
    """What one policy does with the calls."""

    fates: Counter[str] = field(default_factory=Counter)
    scored: int = 0  # of them all, those whose words were scored


@dataclass
class RuleTally:
    """How often a rule of the draft would have decided, what that would have done, and what became of those calls.

    `rule` is None for the default. A rule in shadow is counted as if it were in force, and does nothing.
    """

    rule: Mapping[str, Any] | None
    calls: int = 0
    fates: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    unsure: int = 0  # could not be told to match: a person is asked


@dataclass(frozen=True)
class Example:
    """A call with which the draft does something else."""

    response: str
    received_at: datetime
    text: str
    now: Fate
    then: Fate


@dataclass(frozen=True)
class AskedCall:
    """A call that a pack would have asked about, and why."""

    response: str
    received_at: datetime
    text: str
    reason: str


@dataclass
class CallsPreview:
    """The policy in force and the draft, over the same tool calls; and the draft with each pack instead of its own."""

    packs: PackFit
    calls: int = 0
    responses: int = 0
    total: int = 0  # responses of these days with tool calls that still have their text, to one beyond COUNTED
    erased: int = 0  # calls of those responses, and of others between them, whose text is gone
    now: Tally = field(default_factory=Tally)
    then: Tally = field(default_factory=Tally)
    rules: list[RuleTally] = field(default_factory=list)  # the draft's in order, then its default
    examples: list[Example] = field(default_factory=list)  # the newest
    asked: dict[str, list[AskedCall]] = field(default_factory=dict)  # by pack, the newest


def calls_preview(
    agent: Agent, in_force: heuristics.Scorer, draft: heuristics.Policy, most: int = MOST
) -> CallsPreview:
    """Judge the agent's stored tool calls by the policy in force and by a draft. Three queries, two without any."""
    since = timezone.now() - timedelta(days=DAYS)
    stored = AgentResponse.latest_of(agent).filter(calls__gt=0, received_at__gte=since)
    is_same = holds_alike(in_force.policy, draft)
    under_draft = in_force if is_same else in_force.with_policy(draft)
    is_read_so = under_draft.rules.reads_as(in_force.rules)  # which is most of what a call costs here
    found = CallsPreview(PackFit(draft), rules=[RuleTally(rule) for rule in (*under_draft.rules.given, None)])
    found.total = stored.order_by().filter(erased_at=None)[: COUNTED + 1].count()
    seen = set[str]()  # held items
    came: list[tuple[RuleTally, str]] = []
    with_shadow = any(rule.get("shadow") for rule in under_draft.rules.given)
    places = {id(rule): place for place, rule in enumerate(under_draft.rules.given)}
    rows = stored.values_list("public_id", "received_at", "body", "verdict", "calls", "erased_at")[:most]
    for public_id, received_at, raw, answered, calls, erased_at in rows.iterator(chunk_size=20):
        if erased_at:
            found.erased += calls
            continue
        found.responses += 1
        for index, item, call, became in _stored(in_force, raw, answered, seen):
            found.calls += 1
            now, judged = _fate(found.now, agent, in_force, item, index, in_force.rules.read_again(call))
            then = now
            if not is_same:
                reading = judged.reading if is_read_so else under_draft.rules.read_again(call)
                then, judged = _fate(found.then, agent, under_draft, item, index, reading)
            tallies = [_count(found, places, judged, then)]
            if with_shadow:
                tallies += _in_shadow(found, places, under_draft.rules.judge(call, judged.reading, with_shadow=True))
            _count_packs(found, item, public_id, received_at, judged.reading)
            came += [(tally, became) for tally in tallies]
            if now != then and len(found.examples) < EXAMPLES:
                found.examples.append(Example(public_id, received_at, item.text, now, then))
    if is_same:
        found.then = found.now
    _tell_outcomes(came, seen)
    return found


@dataclass
class TeamPreview:
    """A team's rules in force and its draft, over the same tool calls of its agents."""

    calls: int = 0
    responses: int = 0
    now: Tally = field(default_factory=Tally)
    then: Tally = field(default_factory=Tally)
    rules: list[RuleTally] = field(default_factory=list)  # the draft's in order, then whatever else decides
    examples: list[Example] = field(default_factory=list)  # the newest


def team_preview(
    agents: Sequence[Agent],
    in_force: Mapping[int, heuristics.Scorer],
    under_draft: Mapping[int, heuristics.Scorer],
    rules: Sequence[Mapping[str, Any]],
    most: int = MOST,
) -> TeamPreview:
    """Judge the stored tool calls of a team's agents by the scorers of each; of all `most` responses, the newest.

    `rules` are the team's as the scorers under the draft have them. Two queries.
    """
    found = TeamPreview(rules=[RuleTally(rule) for rule in (*rules, None)])
    places = {id(rule): place for place, rule in enumerate(rules)}
    with_shadow = any(rule.get("shadow") for rule in rules)
    since, by_key = timezone.now() - timedelta(days=DAYS), {agent.pk: agent for agent in agents}
    newest = (AgentResponse.latest_of(agent).filter(calls__gt=0, received_at__gte=since) for agent in agents)
    parts = [rows.filter(erased_at=None).values("pk")[: max(1, most // len(agents))] for rows in newest]
    rows = AgentResponse.objects.filter(pk__in=OfEach(*parts) if parts else []).order_by("-received_at", "-id")
    seen, came = set[str](), list[tuple[RuleTally, str]]()
    stored = rows.values_list("agent", "public_id", "received_at", "body", "verdict")
    for key, public_id, received_at, raw, answered in stored.iterator(chunk_size=20):
        found.responses += 1
        agent, scorer, draft = by_key[key], in_force[key], under_draft[key]
        for index, item, call, became in _stored(scorer, raw, answered, seen):
            found.calls += 1
            now, judged = _fate(found.now, agent, scorer, item, index, scorer.rules.read_again(call))
            then, judged = _fate(found.then, agent, draft, item, index, judged.reading)  # which a team's rules leave
            tallies = [_count(found, places, judged, then)]
            if with_shadow:
                tallies += _in_shadow(found, places, draft.rules.judge(call, judged.reading, with_shadow=True))
            came += [(tally, became) for tally in tallies]
            if now != then and len(found.examples) < EXAMPLES:
                found.examples.append(Example(public_id, received_at, item.text, now, then))
    _tell_outcomes(came, seen)
    return found


def _stored(
    scorer: heuristics.Scorer, raw: str, answered: str, seen: set[str]
) -> Iterator[tuple[int, Item, ToolCall, str]]:
    """Give the calls of a stored response, each with its held item or with what became of it without one.

    What is the same held item as one in `seen` is left out, and what is new is added there.
    """
    told = from_json(answered)["items"]
    for index, item in enumerate(scorer.items_of(from_json(raw))):
        if item.call is None or index >= len(told):
            continue
        held = told[index].get("held") or told[index].get("recognised")
        if held in seen:
            continue
        seen |= {held} if held else set()
        yield index, item, item.call, held or _unasked(told[index]["disposition"])


def _count(found: CallsPreview | TeamPreview, places: Mapping[int, int], judged: Judged, fate: Fate) -> RuleTally:
    tally = found.rules[-1 if judged.rule is None else places.get(id(judged.rule), -1)]
    tally.calls += 1
    tally.fates[fate] += 1
    tally.unsure += bool(judged.fault)
    return tally


def _in_shadow(found: CallsPreview | TeamPreview, places: Mapping[int, int], judged: Judged) -> list[RuleTally]:
    """Count what a rule in shadow would have decided, as if it were in force."""
    is_one = judged.rule is not None and judged.rule.get("shadow") and id(judged.rule) in places
    return [_count(found, places, judged, _plainly(judged.do))] if is_one else []


def _count_packs(found: CallsPreview, item: Item, response: str, received_at: datetime, reading: Reading) -> None:
    assert item.call
    for pack, judged in found.packs.take(item.call, is_demanded=item.require_review, reading=reading).items():
        asked = found.asked.setdefault(pack, [])
        if len(asked) < EXAMPLES and (judged.do == "ask" or item.require_review):
            reason = str((judged.rule or {}).get("reason") or "")
            asked.append(AskedCall(response, received_at, secrets.masked_text(item.text), reason))


def _fate(
    tally: Tally, agent: Agent, scorer: heuristics.Scorer, item: Item, index: int, reading: Reading
) -> tuple[Fate, Judged]:
    """Say what a policy does with a call, and count it; as metacog.heuristics.tool_calls.gate, without approvals."""
    assert item.call
    judged = scorer.judge(item.call, reading)
    fate = _plainly(judged.do)
    if judged.do == "score" and agent.hesitation_enabled:
        tally.scored += 1
        scored = scorer.score_call(item, index)
        fate = "asked" if scored["score"] >= scored["hold_at"] else "allowed"
    if item.require_review:
        fate = "asked"
    tally.fates[fate] += 1
    return fate, judged


def _plainly(do: str) -> Fate:
    return "asked" if do == "ask" else "denied" if do == "deny" else "allowed"


def _unasked(disposition: str) -> str:
    return "denied" if disposition == "reject" else "passed"


def _tell_outcomes(came: Iterable[tuple[RuleTally, str]], seen: Iterable[str]) -> None:
    outcomes = _outcomes(seen)
    for tally, became in came:
        tally.outcomes[outcomes.get(became, became)] += 1


def _outcomes(held: Iterable[str]) -> dict[str, str]:
    """Return what was decided of held calls. Of which nothing was, that one waits."""
    outcomes, ids = dict.fromkeys(held, "pending"), iter(held)
    while some := list(islice(ids, AT_ONCE)):
        standing = Decision.objects.filter(undone_at=None, held__public_id__in=some).order_by()
        for public_id, verdict, by in standing.values_list("held__public_id", "verdict", "by"):
            if by == Decision.By.PERSON and verdict in _BY_PEOPLE:
                outcomes[public_id] = _BY_PEOPLE[verdict]
            else:
                outcomes[public_id] = _BY_OTHERS.get(verdict, "withdrawn")
    return outcomes
