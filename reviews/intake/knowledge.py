"""Take in what is to be remembered, and let new knowledge teach.

Of two memories that contradict each other, what the older says becomes the proposal of an error pattern. Which of them
stands a person says, and with that the proposal stays or goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from metacog import heuristics
from metacog.audit import audit
from metacog.heuristics.contradiction.contradictions import contradicts
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.wire.wire import instant
from metacog.models import Agent, User
from patterns.memory import memory
from patterns.models import ErrorPattern, Memory, MemoryConflict
from patterns.patterns import lifecycle
from patterns.patterns.scorer import scorer_shown
from reviews.isolation import by_itself
from reviews.learning.extract import denied
from reviews.learning.sweep import propose
from reviews.models import Decision, DecisionVerdict, PatternOrigin

State, Outcome = Memory.State, MemoryConflict.Outcome

AT_ONCE = 20  # REMEMBERs of one response that are compared with the memory; the others wait for a curator
TOO_LONG, FULL, RETIRED = "memory-too-long", "memory-full", "memory-retired"  # flags of what did not come in


def remember(agent: Agent, said: memory.Said, judged: memory.Judged, **how: Any) -> tuple[Memory, bool]:
    """Take in what an agent says, from wherever it comes, and learn from it; return the memory and whether it is new.

    `how` is memory.post's. Raises memory.Full, having written nothing; joins the caller's transaction.
    """
    row, is_new = memory.post(agent, said, judged, **how)
    teach(row, agent)
    return row, is_new


def remember_items(
    agent: Agent, response: str, at: datetime, body: Mapping[str, Any], found: heuristics.Scored
) -> dict[int, dict[str, Any]]:
    """Take in the REMEMBERs of a response that are not held; return by index what the assessment says of each.

    `at` is when the response came, `response` its public id. Under the lock on the agent's state.
    """
    verdict, items = found.verdict, found.items
    told = [each for each in verdict["items"] if each["kind"] == "remember" and each["disposition"] != "hold"]
    doubts: Mapping[str, Any] = verdict["hesitation"] or {}
    said_at = min(instant(body["occurred_at"]), at) if body["occurred_at"] else at
    became = dict[int, dict[str, Any]]()
    for place, each in enumerate(told):
        judged = memory.Judged(
            each["disposition"],
            doubts.get("score"),
            tuple(signal["type"] for signal in doubts.get("signals", ()) if signal["weight"]),
            tuple(doubts.get("matched_pattern_ids", ())),
        )
        item = items[each["index"]]
        said = _said(item.text, item.attributes, said_at, response)
        how = {"is_approved": each["recognised"] is not None, "is_one_of_many": place >= AT_ONCE}
        state, flag = _taken_in(agent, said, judged, **how)
        became[each["index"]] = {"memory": state, "flags": [*each["flags"], *([flag] if flag else [])]}
    return became


def remember_released(decision: Decision) -> None:
    """Take in a REMEMBER that was held, once it is released, under the lock on the agent's state.

    What a person let in comes in. What the agent released itself waits for a curator, unless it wrote it anew and that
    would pass.
    """
    held, agent = decision.held, decision.held.agent
    if held.kind != "remember" or not decision.text:
        return
    scorer = scorer_shown(agent)  # it was let pass by whoever decided
    if not scorer.policy.remember_into_memory:
        return
    is_edited, is_approved = decision.verdict == DecisionVerdict.EDIT, decision.by == Decision.By.PERSON
    judged = memory.judge(agent, decision.text, scorer)
    terms = getattr(held, "terms", None)
    if not is_edited and not (terms and terms.with_calls):
        judged = judged._replace(disposition="hold", score=held.hesitation_score)
    response = held.response
    occurred_at = response.wire_body().get("occurred_at") if response.body and not is_edited else None
    at = instant(occurred_at) if occurred_at else decision.decided_at if is_edited else held.held_at
    said = _said(decision.text, held.attributes, at, response.public_id)
    _state, flag = _taken_in(agent, said, judged, is_approved=is_approved, person=decision.person)
    if flag in (TOO_LONG, FULL):
        audit.record(flag, held.public_id, actor=None, team=held.team_id, agent=agent, decision=decision.public_id)


def _said(text: str, attributes: Mapping[str, Any], at: datetime, response: str) -> memory.Said:
    """Return what a REMEMBER says; of its attributes those count that a memory has, where they fit."""
    sizes = {"topic": Memory.MAX_TOPIC, "source": Memory.MAX_SOURCE}
    fields: dict[str, Any] = {
        name: value
        for name, size in sizes.items()
        if isinstance(value := attributes.get(name), str) and len(value) <= size
    }
    return memory.Said(text, **fields, occurred_at=at, said_in=response)


def _taken_in(
    agent: Agent, said: memory.Said, judged: memory.Judged, **how: Any
) -> tuple[Literal["stored", "waiting"] | None, str | None]:
    """Return "stored" or "waiting", or None and a flag that says why it is neither."""
    if is_blank(said.text):
        return None, None
    if len(said.text.strip()) > Memory.MAX_TEXT:
        return None, TOO_LONG
    try:
        row, _is_new = remember(agent, said, judged, **how)
    except memory.Full:
        return None, FULL
    if row.state == State.RETIRED:
        return None, RETIRED
    return ("stored" if row.state == State.CONFIRMED else "waiting"), None


def teach(row: Memory, actor: audit.Actor) -> None:
    """Propose, as an error pattern, what the older of two memories says, where one of them is new; a row once.

    In the caller's transaction. Not while one of them waits for what it says itself, and not against what has a
    source where the newer has none: that is shown, and a person says which of them stands.
    """
    if row.is_doubted or row.state == State.RETIRED:
        return
    conflicts = memory.open_conflicts().filter(Q(newer=row) | Q(older=row)).order_by("-confidence", "pk")
    for conflict in conflicts:
        older, newer = conflict.older, conflict.newer
        is_turned_round = older.state == State.CONFIRMED and older.source and not newer.source
        if not (older.is_doubted or newer.is_doubted or is_turned_round):
            _propose(conflict, actor)
            return


def settle(conflict: MemoryConflict, outcome: str, person: User) -> None:
    """Have a person say which of two memories stands, and what is proposed of them. Raises memory.Moved."""
    with transaction.atomic():
        settled = memory.settle(conflict, outcome, person)
        if settled.outcome == Outcome.NEWER:
            _propose(settled, person)
        else:
            _withdraw([settled], person)
        for row in (settled.older, settled.newer):
            conclude(row, person)


def conclude(row: Memory, person: User) -> None:
    """Do what follows from a step that a person took with a memory, in the same transaction.

    One that stands may teach. With one that was retired its contradictions were settled, and what was proposed of
    others because of it goes.
    """
    row.refresh_from_db(fields=["state", "retired_at"])
    if row.state == State.RETIRED:
        settled = MemoryConflict.objects.filter(newer=row, outcome=Outcome.OLDER, settled_at=row.retired_at)
        _withdraw(settled.select_related("older", "newer"), person)
    else:
        teach(row, person)


def _propose(conflict: MemoryConflict, actor: audit.Actor) -> None:
    if found := contradicts(conflict.older.text, conflict.newer.text):
        newer = conflict.newer
        propose(newer.team, denied(conflict.older.text, found, newer.agent, newer.public_id), actor)


def _withdraw(conflicts: Iterable[MemoryConflict], person: User) -> None:
    """Dismiss what contradictions proposed of memories that stand; not what something else taught, too."""
    for conflict in conflicts:
        found = contradicts(conflict.older.text, conflict.newer.text)
        row = conflict.newer.public_id
        keywords = denied(conflict.older.text, found, None, row).keywords if found else []
        taught = PatternOrigin.objects.filter(kind=PatternOrigin.Kind.MEMORY, row=row)
        for origin in taught.filter(pattern__state=ErrorPattern.State.PROPOSED).select_related("pattern"):
            pattern = origin.pattern
            if pattern.keywords == keywords and not pattern.origins.exclude(pk=origin.pk).exists():
                because = _("The memory stays: its conflict was settled.")
                lifecycle.take_step(pattern, "dismiss", person, because=because)


def index_anew() -> int:
    """Index anew what is kept under another stemmer's terms; return how many memories."""
    done = 0
    for team in list(memory.outdated().values_list("team", flat=True).order_by("team").distinct()):
        with by_itself("The memory of the team with the key %s is not reindexed", team):
            done += memory.index_anew(team)
    return done
