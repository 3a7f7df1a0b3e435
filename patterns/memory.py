"""The team's shared memory (seed 003, 2.2; product H10): what gets in, what is found, which of two that clash stands.

Every change holds the lock on the team's row, so that no two memories that contradict each other come in unseen;
what an agent posts holds the lock on the agent's state before it. Nothing answers but what is confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from metacog import audit
from metacog.heuristics import brief, recall
from metacog.heuristics.contradictions import Contradiction, contradicted
from metacog.models import Agent, AgentState, AuditEvent, Team, User
from metacog.prepared import Asked, Select
from patterns.models import Memory, MemoryConflict, MemoryTerm
from patterns.scorer import scorer_for
from patterns.wire import instant

MAX_MEMORIES = 10_000  # of a team, not counting retired ones; so many are still searched in tens of milliseconds
COMPARED = 20  # memories most like a new one that it is compared with, as far as they fit into
COMPARED_CHARACTERS = 6_000  # of their texts: the time it takes grows with the product of both

MENTIONING = 2_000  # places that are read to count mentions; so many of one topic make no difference to an estimate
CONCERNING = 5  # memories that a brief tells of a problem
RECALLED = 10  # memories that a context tells of an agent's topics
CANDIDATES = 20  # those most like it, among which they are looked for
EVERYWHERE = 20  # memories that may have a term, however few there are; above it no more than half of all

State, Outcome = Memory.State, MemoryConflict.Outcome


class Refusal(Exception):
    """It was not done, and nothing was written."""


class Full(Refusal):
    """The team remembers as much as it can; something must be retired first."""


class Moved(Refusal):
    """Somebody was faster: `memory` as it stands now is not in a state from which this can be done."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory


class Known(Refusal):
    """The team has `memory` of the same text already."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory


class Said(NamedTuple):
    """What somebody wants to be remembered."""

    text: str
    topic: str = ""
    source: str = ""
    confidence: float | None = None


def post(agent: Agent, said: Said, *, is_approved: bool) -> tuple[Memory, bool]:
    """Remember what an agent says, once; return the memory and whether it is new. Raises Full.

    It is scored as a `remember` of the agent's. What would be held waits for a person, unless `is_approved`: a person
    let this very text in as this agent's before.
    """
    scorer = scorer_for(agent)
    item = {"kind": "remember", "text": said.text, "attributes": {}}
    recognised = {0: "approved"} if is_approved else {}
    doubts, [verdict] = scorer.dispose(
        {"response": said.text, "items": [item]}, recognised, hesitation=agent.hesitation_enabled
    )
    is_held = verdict["disposition"] == "hold"
    with transaction.atomic():
        AgentState.objects.select_for_update().get(pk=agent.pk)
        _lock(agent.team_id)
        known = _known(agent.team_id, said.text)
        if known is not None:
            if known.state == State.PENDING and is_approved:
                _confirm(known, agent)
            return known, False
        row = _write(
            agent.team,
            said,
            agent=agent,
            hesitation_score=doubts and doubts.score,
            doubts=[signal.type for signal in doubts.signals] if doubts else [],
        )
        versions = {"policy": agent.policy_version, "patterns": agent.team.patterns_version}
        if is_held:
            _record("memory-held", row, agent, after=State.PENDING, score=row.hesitation_score, **versions)
            _compare(row)
        else:
            _let_in(row, None)
            _record("memory-added", row, agent, after=State.CONFIRMED, score=row.hesitation_score, **versions)
    return row, True


def add(team: Team, said: Said, person: User, *, instead_of: Memory | None = None) -> Memory:
    """Remember what a curator says, in place of another memory if one is given. Raises Full, Known or Moved.

    One of the same text that was retired is the one that stands again.
    """
    with transaction.atomic():
        _lock(team.pk)
        known = _known(team.pk, said.text)
        if known is not None and known.state != State.RETIRED:
            raise Known(known)
        row = _again(known, said) if known else _write(team, said, person=person)
        if instead_of is not None:
            _retire(_in(instead_of, State.PENDING, State.CONFIRMED), person, replaced_by=row)
        _let_in(row, person)
        if known:
            _record("memory-confirmed", row, person, before=State.RETIRED, after=State.CONFIRMED)
        else:
            _record("memory-added", row, person, after=State.CONFIRMED)
    return row


def confirm(memory: Memory, person: User) -> Memory:
    """Let a memory that waits answer. Raises Moved."""
    with transaction.atomic():
        _lock(memory.team_id)
        row = _in(memory, State.PENDING)
        _confirm(row, person)
    return row


def retire(memory: Memory, person: User) -> Memory:
    """Have a memory answer nobody any more. Raises Moved."""
    with transaction.atomic():
        _lock(memory.team_id)
        row = _in(memory, State.PENDING, State.CONFIRMED)
        _retire(row, person)
    return row


def settle(conflict: MemoryConflict, outcome: str, person: User) -> MemoryConflict:
    """Say which of two memories stands, or that both do; the other is retired. Raises Moved."""
    with transaction.atomic():
        _lock(conflict.newer.team_id)
        row = MemoryConflict.objects.select_related("newer__team", "older__team").get(pk=conflict.pk)
        for each in (row.newer, row.older):
            if row.outcome or each.state == State.RETIRED:
                raise Moved(each)
        row.outcome, row.person, row.settled_at = outcome, person, timezone.now()
        row.save(update_fields=["outcome", "person", "settled_at"])
        _record("memory-settled", row.newer, person, after=outcome, other=row.older.public_id, kind=row.kind)
        gone = {Outcome.NEWER: row.older, Outcome.OLDER: row.newer}.get(Outcome(outcome))
        for each in (row.newer, row.older):
            if each == gone:
                _retire(each, person)
            elif each.state == State.PENDING:
                _confirm(each, person)
    return row


def search(
    teams: Collection[int] | QuerySet[Team], terms: Collection[str], *, most: int | None = None
) -> list[recall.Ranked]:
    """Find the teams' confirmed memories that have any of the terms, the best first; `number` is the primary key."""
    if not terms:
        return []
    size = _size(teams)
    if not size["length"]:
        return []
    index = MemoryTerm.objects.filter(team__in=teams)
    frequencies = dict(index.filter(term__in=terms).values_list("term").annotate(Count("pk")))
    rows = index.filter(term__in=recall.readable(frequencies)).values_list("memory_id", "term", "times", "length")
    return recall.rank(list(terms), frequencies, rows, size["total"], size["length"] / size["total"], most=most)


def concerning(team: int, problems: Sequence[brief.About]) -> list[list[Memory]]:
    """Return for each of some problems the confirmed memories that are about it, the best first, five at most.

    Four queries however many there are of either.
    """
    nothing: list[list[Memory]] = [[] for _ in problems]
    wanted = {term for problem in problems for term in problem.sought}
    size = _size([team]) if wanted else {"length": 0}
    if not size["length"]:
        return nothing
    index = MemoryTerm.objects.filter(team=team)
    frequencies = dict(index.filter(term__in=wanted).values_list("term").annotate(Count("pk")))
    common = {term for term, times in frequencies.items() if times > max(EVERYWHERE, size["total"] // 2)}
    read = [
        recall.readable({term: frequencies[term] for term in problem.sought if term in frequencies})
        for problem in problems
    ]
    postings: dict[str, list[tuple[int, str, int, int]]] = {}
    rows = index.filter(term__in={term for terms in read for term in terms})
    for row in rows.values_list("memory_id", "term", "times", "length"):
        postings.setdefault(row[1], []).append(row)
    mean = size["length"] / size["total"]
    found = [
        recall.rank(
            problem.sought,
            frequencies,
            [row for term in terms for row in postings.get(term, ())],
            size["total"],
            mean,
            most=CANDIDATES,
        )
        for problem, terms in zip(problems, read, strict=True)
    ]
    memories = Memory.objects.in_bulk({each.number for ranked in found for each in ranked})
    return [
        [
            memory
            for each in ranked
            if (memory := memories.get(each.number)) and brief.concerns(problem, memory.topic, memory.text, common)
        ][:CONCERNING]
        for problem, ranked in zip(problems, found, strict=True)
    ]


def of_topics(team: int, topics: Sequence[str], said: str) -> list[Memory]:
    """Return the confirmed memories that concern topics, given oldest first, or what was said last; the best first.

    Such a memory has all words of a topic, is filed under one, or has two words in common with all that. Ten at most.
    """
    about = brief.of_topics(topics, said)
    words = [set(each) for each in _words(topics).values()]
    found = search([team], about.sought, most=CANDIDATES)
    memories = Memory.objects.in_bulk([each.number for each in found])
    return [
        memory
        for each in found
        if (memory := memories.get(each.number))
        and (any(map(set(each.matched).issuperset, words)) or brief.concerns(about, memory.topic, memory.text))
    ][:RECALLED]


def _size(teams: Collection[int] | QuerySet[Team]) -> dict[str, Any]:
    """Count the confirmed memories of teams and their terms."""
    standing = Memory.objects.filter(team__in=teams, state=State.CONFIRMED)
    return standing.aggregate(total=Count("pk"), length=Sum("length"))


def mentioning(team: int, topics: Sequence[str]) -> Asked | None:
    """Return the question which of the team's confirmed memories have the words of topics; None where they have none.

    `mentions` counts what it finds: of 2,000 places those of the newest memories.
    """
    terms = list(dict.fromkeys(term for words in _words(topics).values() for term in words))
    return (_places(len(terms)), (team, *terms)) if terms else None


def mentions(topics: Sequence[str], places: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Count the memories, by topic, that have all words of it, in whatever order; `places` are what was found."""
    found: dict[str, set[int]] = {}
    for number, term in places:
        found.setdefault(term, set()).add(number)
    return {
        topic: len(set.intersection(*[found.get(word, set()) for word in words]))
        for topic, words in _words(topics).items()
    }


def _words(topics: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the terms of each topic that has any, as far as all of them are no more than a search takes."""
    found = {topic: words for topic in topics if (words := recall.asked(topic))}
    sizes = accumulate(map(len, found.values()))
    return {topic: found[topic] for topic, size in zip(found, sizes, strict=True) if size <= recall.MAX_ASKED}


@cache
def _places(terms: int) -> Select[tuple[int, str]]:
    """Return the query where any of as many terms stand, in the newest memories first."""

    def write(team: Any, *terms: Any) -> QuerySet[MemoryTerm, tuple[int, str]]:
        standing = MemoryTerm.objects.filter(team=team, term__in=terms)
        return standing.order_by("-memory_id", "term").values_list("memory_id", "term")[:MENTIONING]

    return Select(write, parameters=1 + terms)


def contradicted_by(team: int, text: str, *, but: Memory | None = None) -> list[tuple[Memory, Contradiction]]:
    """Return which of the team's confirmed memories most like a text it contradicts, the surest first."""
    found = search([team], recall.asked(text), most=COMPARED + 1)
    alike = [each.number for each in found if but is None or each.number != but.pk][:COMPARED]
    rows = Memory.objects.in_bulk(alike)
    sizes = accumulate(len(rows[key].text) for key in alike)
    others = [rows[key] for key, size in zip(alike, sizes, strict=True) if size <= COMPARED_CHARACTERS]
    return [
        (others[place], found)
        for place, found in contradicted(text, [other.text for other in others])
        if found.kind != "retraction" or place == 0  # what takes something back takes back one thing
    ]


def clashes(memories: Iterable[Memory]) -> dict[int, list[MemoryConflict]]:
    """Return the contradictions nobody has settled yet, by either memory's primary key. One query."""
    found: dict[int, list[MemoryConflict]] = {memory.pk: [] for memory in memories}
    if found:
        for conflict in open_conflicts().filter(Q(newer__in=found) | Q(older__in=found)).order_by("-confidence", "pk"):
            for key in (conflict.newer_id, conflict.older_id):
                if key in found:
                    found[key].append(conflict)
    return found


def open_conflicts() -> QuerySet[MemoryConflict]:
    return MemoryConflict.objects.filter(outcome="").select_related("newer", "older")


def opposite(conflict: MemoryConflict, memory: Memory) -> Memory:
    return conflict.older if conflict.newer_id == memory.pk else conflict.newer


def shape(memory: Memory, conflicts: Iterable[MemoryConflict] = ()) -> dict[str, Any]:
    """Return a memory as agents read it; what it clashes with only by its id, unless that is confirmed."""
    others = [(each, opposite(each, memory)) for each in conflicts]
    return {
        "id": memory.public_id,
        "text": memory.text,
        "topic": memory.topic,
        "source": memory.source,
        "confidence": memory.confidence,
        "state": memory.state,
        "by": "agent" if memory.agent_id else "person",
        "confirmed_by": None if memory.confirmed_at is None else "person" if memory.confirmed_by_id else "rule",
        "hesitation": memory.hesitation_score,
        "created_at": instant(memory.created_at),
        "contradicts": [
            {
                "id": other.public_id,
                "type": conflict.kind,
                "confidence": conflict.confidence,
                "text": other.text if other.state == State.CONFIRMED else None,
            }
            for conflict, other in others
        ],
    }


def _lock(team_id: int) -> None:
    # Not the key: rows that point at the team are written meanwhile.
    Team.objects.select_for_update(no_key=True).get(pk=team_id)


def _known(team_id: int, text: str) -> Memory | None:
    return Memory.objects.select_related("team", "agent").filter(team_id=team_id, sha256=_digest(text)).first()


def _in(memory: Memory, *states: str) -> Memory:
    row = Memory.objects.select_related("team", "agent").get(pk=memory.pk)
    if row.state not in states:
        raise Moved(row)
    return row


def _write(team: Team, said: Said, **fields: Any) -> Memory:
    _make_sure_of_room(team.pk)
    return Memory.objects.create(team=team, sha256=_digest(said.text), **said._asdict(), **fields)


def _again(row: Memory, said: Said) -> Memory:
    """Take a memory that was retired up again; its text may have been erased."""
    _make_sure_of_room(row.team_id)
    gone = ("retired_by", "retired_at", "replaced_by", "erased_at")
    fresh: dict[str, Any] = {**said._asdict(), **dict.fromkeys(gone)}
    for name, value in fresh.items():
        setattr(row, name, value)
    row.save(update_fields=list(fresh))
    # What it contradicted and still stands was settled by its retirement.
    ended = row.contradicts.filter(older__state=State.CONFIRMED).exclude(outcome=Outcome.BOTH)
    ended.update(outcome="", person=None, settled_at=None)
    return row


def _make_sure_of_room(team_id: int) -> None:
    if Memory.objects.filter(team=team_id).exclude(state=State.RETIRED).count() >= MAX_MEMORIES:
        raise Full


def _confirm(row: Memory, actor: User | Agent) -> None:
    _let_in(row, actor if isinstance(actor, User) else None)
    _record("memory-confirmed", row, actor, before=State.PENDING, after=State.CONFIRMED)


def _let_in(row: Memory, person: User | None) -> None:
    """Have a memory answer from now on, and look what it contradicts."""
    found = recall.terms(f"{row.topic}\n{row.text}")  # the topic names what the text is about
    row.length = found.total()
    row.state, row.confirmed_by, row.confirmed_at = State.CONFIRMED, person, timezone.now()
    row.save(update_fields=["length", "state", "confirmed_by", "confirmed_at"])
    MemoryTerm.objects.bulk_create(
        MemoryTerm(team_id=row.team_id, memory=row, term=term, times=times, length=row.length)
        for term, times in found.items()
    )
    _compare(row)


def _compare(row: Memory) -> None:
    """Note which of the memories most like it a memory contradicts (H10)."""
    MemoryConflict.objects.bulk_create(
        [
            MemoryConflict(newer=row, older=other, kind=found.kind, confidence=found.confidence)
            for other, found in contradicted_by(row.team_id, row.text, but=row)
        ],
        ignore_conflicts=True,  # it was compared before, when it began to wait
    )


def _retire(row: Memory, person: User, replaced_by: Memory | None = None) -> None:
    before, now = row.state, timezone.now()
    row.state, row.retired_by, row.retired_at, row.replaced_by = State.RETIRED, person, now, replaced_by
    row.save(update_fields=["state", "retired_by", "retired_at", "replaced_by"])
    row.terms.all().delete()
    for rows, outcome in ((row.contradicts, Outcome.OLDER), (row.contradicted_by, Outcome.NEWER)):
        rows.filter(outcome="").update(outcome=outcome, person=person, settled_at=now)
    _record("memory-retired", row, person, before=before, after=State.RETIRED)


def _record(action: str, row: Memory, actor: audit.Actor, **data: Any) -> AuditEvent:
    event = audit.event(
        action, row.public_id, actor=actor, team=row.team_id, agent=row.agent, sha256=row.sha256, **data
    )
    event.save(force_insert=True)
    return event


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
