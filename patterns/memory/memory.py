"""The team's shared memory (seed 003, 2.2): what gets in, what is found, which of two that clash stands.

Every change holds the lock on the team's row, so that no two memories that contradict each other come in unseen;
what an agent posts holds the lock on the agent's state before it. Nothing answers but what is confirmed. Of two that
contradict each other the older is the one that was said first, whichever way and in which order they came in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple, TypedDict

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from metacog.audit import audit
from metacog.db.prepared import Asked, Select
from metacog.heuristics import Hesitation, Scorer
from metacog.heuristics.contradiction.contradictions import Contradiction, contradicted, contradicts
from metacog.heuristics.memory import recall
from metacog.heuristics.stuck import brief
from metacog.models import Agent, AgentState, AuditEvent, Team, User
from patterns.models import ErrorPattern, Memory, MemoryConflict, MemoryTerm
from patterns.patterns.scorer import scorer_for
from patterns.serializers import instant

MAX_MEMORIES = 10_000  # of a team, not counting retired ones; so many are still searched in tens of milliseconds
COMPARED = 20  # memories most like a new one that it is compared with, as far as they fit into
COMPARED_CHARACTERS = 6_000  # of their texts: the time it takes grows with the product of both

MENTIONING = 2_000  # places that are read to count mentions; so many of one topic make no difference to an estimate
CONCERNING = 5  # memories that a brief tells of a problem
RECALLED = 10  # memories that a context tells of an agent's topics
CANDIDATES = 20  # those most like it, among which they are looked for
EVERYWHERE = 20  # memories that may have a term, however few there are; above it no more than half of all

INDEXED = 100  # memories that are indexed anew in one transaction, and
INDEXED_A_RUN = 2_000  # of one team, before the worker looks at its other tasks

State, Outcome, Reason = Memory.State, MemoryConflict.Outcome, Memory.Reason


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
    occurred_at: datetime | None = None  # when it was said; None, and what lies ahead: now
    said_in: str = ""  # the response that a REMEMBER stood in


class Judged(NamedTuple):
    """What became of a REMEMBER under the agent's policy, and why."""

    disposition: str
    score: int | None = None
    signals: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()  # the public ids of error patterns that matched

    @classmethod
    def of(cls, doubts: Hesitation | None, disposition: str) -> Judged:
        if doubts is None:
            return cls(disposition)
        signals = tuple(each.type for each in doubts.signals if each.weight)
        return cls(disposition, doubts.score, signals, tuple(doubts.matched_pattern_ids))


def judge(agent: Agent, text: str, scorer: Scorer | None = None) -> Judged:
    """Score a text as a REMEMBER of an agent's that says nothing else; by the scorer in force, unless one is given."""
    item = {"kind": "remember", "text": text, "attributes": {}}
    doubts, [verdict] = (scorer or scorer_for(agent)).dispose(
        {"response": text, "items": [item]}, hesitation=agent.hesitation_enabled
    )
    return Judged.of(doubts, verdict["disposition"])


def post(
    agent: Agent,
    said: Said,
    judged: Judged,
    *,
    is_approved: bool = False,
    person: User | None = None,
    is_one_of_many: bool = False,
) -> tuple[Memory, bool]:
    """Remember what an agent says, once; return the memory and whether it is new. Raises Full.

    It waits for a curator where it would be marked or held, where an error pattern matches, where it contradicts what
    the team remembers, and as `is_one_of_many`, which nothing is compared with yet. Not so if `is_approved`: a person
    (`person`, where it is now) let this very text in as this agent's.
    """
    said = said._replace(text=said.text.strip())
    with transaction.atomic():
        AgentState.objects.select_for_update().get(pk=agent.pk)
        _lock(agent.team_id)
        known = _known(agent.team_id, said.text)
        if known is not None:
            if known.state == State.PENDING and is_approved:
                _confirm(known, person or agent)
            return known, False
        pattern = None
        if judged.patterns:
            pattern = ErrorPattern.objects.filter(team=agent.team_id, public_id=judged.patterns[0]).first()
        row = _write(
            agent.team,
            said,
            agent=agent,
            hesitation_score=judged.score,
            doubts=list(judged.signals),
            pattern=pattern,
        )
        found = False if is_one_of_many else _compare(row)
        reasons = {
            Reason.SCORE: judged.disposition in ("hold", "mark"),
            Reason.PATTERN: bool(judged.patterns),
            Reason.CONTRADICTION: found,
            Reason.MANY: is_one_of_many,
        }
        row.reasons = [] if is_approved else [reason.value for reason, is_so in reasons.items() if is_so]
        told = {"score": row.hesitation_score, "policy": agent.policy_version, "patterns": agent.team.patterns_version}
        if row.reasons:
            row.save(update_fields=["reasons"])
            _record("memory-held", row, agent, after=State.PENDING, reasons=row.reasons, **told)
        else:
            _let_in(row, person)
            _record("memory-added", row, agent, after=State.CONFIRMED, **told)
    return row, True


def holds(team: int, text: str) -> bool:
    """Tell whether a text is one of the team's memories, in whatever state."""
    return Memory.objects.filter(team_id=team, sha256=_digest(text.strip())).exists()


def add(team: Team, said: Said, person: User, *, instead_of: Memory | None = None) -> Memory:
    """Remember what a curator says, in place of another memory if one is given. Raises Full, Known or Moved.

    One of the same text that was retired is the one that stands again.
    """
    said = said._replace(text=said.text.strip())
    with transaction.atomic():
        _lock(team.pk)
        known = _known(team.pk, said.text)
        if known is not None and known.state != State.RETIRED:
            raise Known(known)
        row = _again(known, said) if known else _write(team, said, person=person)
        if instead_of is not None:
            _retire(_in(instead_of, State.PENDING, State.CONFIRMED), person, replaced_by=row)
        _let_in(row, person)
        _compare(row)
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


def discard(memory: Memory, person: User) -> Memory:
    """Keep a memory that waits from ever answering. Raises Moved."""
    with transaction.atomic():
        _lock(memory.team_id)
        row = _in(memory, State.PENDING)
        _retire(row, person)
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
    size = _Size.of(teams)
    if not size.length:
        return []
    index = MemoryTerm.objects.filter(team__in=teams)
    frequencies = dict(index.filter(term__in=terms).values_list("term").annotate(Count("pk")))
    rows = index.filter(term__in=recall.readable(frequencies)).values_list("memory_id", "term", "times", "length")
    return recall.rank(list(terms), frequencies, rows, size.total, size.length / size.total, most=most)


def concerning(team: int, problems: Sequence[brief.About]) -> list[list[Memory]]:
    """Return for each of some problems the confirmed memories that are about it, the best first, five at most.

    Four queries however many there are of either.
    """
    nothing: list[list[Memory]] = [[] for _ in problems]
    wanted = {term for problem in problems for term in problem.sought}
    size = _Size.of([team]) if wanted else _Size(0, 0)
    if not size.length:
        return nothing
    index = MemoryTerm.objects.filter(team=team)
    frequencies = dict(index.filter(term__in=wanted).values_list("term").annotate(Count("pk")))
    common = {term for term, times in frequencies.items() if times > max(EVERYWHERE, size.total // 2)}
    read = [
        recall.readable({term: frequencies[term] for term in problem.sought if term in frequencies})
        for problem in problems
    ]
    postings: dict[str, list[tuple[int, str, int, int]]] = {}
    rows = index.filter(term__in={term for terms in read for term in terms})
    for row in rows.values_list("memory_id", "term", "times", "length"):
        postings.setdefault(row[1], []).append(row)
    mean = size.length / size.total
    found = [
        recall.rank(
            problem.sought,
            frequencies,
            [row for term in terms for row in postings.get(term, ())],
            size.total,
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


class _Size(NamedTuple):
    """The confirmed memories of teams, and their terms."""

    total: int
    length: int

    @classmethod
    def of(cls, teams: Collection[int] | QuerySet[Team]) -> _Size:
        standing = Memory.objects.filter(team__in=teams, state=State.CONFIRMED)
        counted = standing.aggregate(total=Count("pk"), length=Sum("length"))
        return cls(counted["total"], counted["length"] or 0)


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


def contradicted_by(
    team: int, text: str, *, but: Memory | None = None, at: datetime | None = None
) -> list[tuple[Memory, Contradiction]]:
    """Return which of the team's confirmed memories most like a text it contradicts, the surest first.

    Given when the text was said (`at`), what was said after it contradicts it, not the other way round: the first of
    the two sentences is the older one's.
    """
    found = search([team], recall.asked(text), most=COMPARED + 1)
    alike = [each.number for each in found if but is None or each.number != but.pk][:COMPARED]
    rows = Memory.objects.in_bulk(alike)
    sizes = accumulate(len(rows[key].text) for key in alike)
    others = [rows[key] for key, size in zip(alike, sizes, strict=True) if size <= COMPARED_CHARACTERS]
    before = [other for other in others if at is None or other.occurred_at <= at]
    clear = [(before[place], found) for place, found in contradicted(text, [other.text for other in before])]
    if at is not None:
        after = [(other, contradicts(text, other.text)) for other in others if other.occurred_at > at]
        clear += [(other, found) for other, found in after if found]
    return [
        (other, found)
        for other, found in sorted(clear, key=lambda pair: -pair[1].confidence)
        if found.kind != "retraction" or other is others[0]  # what takes something back takes back one thing
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


def waiting() -> QuerySet[Memory]:
    """Return what waits for a curator by itself: what is in a conflict is decided with it, and is one task."""
    of_newer, of_older = (open_conflicts().filter(**{side: OuterRef("pk")}) for side in ("newer", "older"))
    return Memory.objects.exclude(Exists(of_newer)).exclude(Exists(of_older)).filter(state=State.PENDING)


def open_conflicts() -> QuerySet[MemoryConflict]:
    return MemoryConflict.objects.filter(outcome="").select_related("newer", "older")


def opposite(conflict: MemoryConflict, memory: Memory) -> Memory:
    return conflict.older if conflict.newer_id == memory.pk else conflict.newer


class ClashShape(TypedDict):
    """What a memory contradicts."""

    id: str
    type: str
    confidence: float
    text: str | None


class MemoryShape(TypedDict):
    id: str
    text: str
    topic: str
    source: str
    confidence: float | None
    state: str
    why: list[dict[str, str]]
    by: str
    confirmed_by: str | None
    hesitation: int | None
    response: str | None
    occurred_at: str
    created_at: str
    contradicts: list[ClashShape]


class FoundMemory(MemoryShape):
    """A memory that a search found, and why."""

    score: float
    share: float
    matched: list[str]


def shape(memory: Memory, conflicts: Iterable[MemoryConflict] = ()) -> MemoryShape:
    """Return a memory (read with its pattern) as agents do; of what it clashes with only the id, if unconfirmed."""
    conflicts = list(conflicts)
    others = [(each, opposite(each, memory)) for each in conflicts]
    return {
        "id": memory.public_id,
        "text": memory.text,
        "topic": memory.topic,
        "source": memory.source,
        "confidence": memory.confidence,
        "state": memory.state,
        "why": _why(memory, conflicts),
        "by": "agent" if memory.agent_id else "person",
        "confirmed_by": None if memory.confirmed_at is None else "person" if memory.confirmed_by_id else "rule",
        "hesitation": memory.hesitation_score,
        "response": memory.said_in or None,
        "occurred_at": instant(memory.occurred_at),
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


def _why(memory: Memory, conflicts: Iterable[MemoryConflict]) -> list[dict[str, str]]:
    """Return why a memory waits, in English as all that agents read."""
    if memory.state != State.PENDING:
        return []
    signals = ", ".join(memory.doubts) or "no signal"
    others = ", ".join(opposite(each, memory).public_id for each in conflicts)
    details = {
        Reason.SCORE: f"hesitation {memory.hesitation_score}: {signals}",
        Reason.PATTERN: f"error pattern {memory.pattern.public_id}" if memory.pattern else "an error pattern",
        Reason.CONTRADICTION: f"contradicts {others}" if others else "contradicted what is no longer remembered",
        Reason.MANY: "its response asked for a great many things to be remembered",
    }
    return [{"type": reason, "detail": details[Reason(reason)]} for reason in memory.reasons]


def _lock(team_id: int) -> None:
    # Not the key: rows that point at the team are written meanwhile.
    Team.objects.select_for_update(no_key=True).get(pk=team_id)


def _known(team_id: int, text: str) -> Memory | None:
    known = Memory.objects.select_related("team", "agent", "pattern")
    return known.filter(team_id=team_id, sha256=_digest(text)).first()


def _in(memory: Memory, *states: str) -> Memory:
    row = Memory.objects.select_related("team", "agent", "pattern").get(pk=memory.pk)
    if row.state not in states:
        raise Moved(row)
    return row


def _write(team: Team, said: Said, **fields: Any) -> Memory:
    _make_sure_of_room(team.pk)
    return Memory.objects.create(team=team, sha256=_digest(said.text), **_fields(said), **fields)


def _fields(said: Said) -> dict[str, Any]:
    now = timezone.now()
    return {**said._asdict(), "occurred_at": min(said.occurred_at or now, now)}


def _again(row: Memory, said: Said) -> Memory:
    """Take a memory that was retired up again; its text may have been erased."""
    _make_sure_of_room(row.team_id)
    gone = ("retired_by", "retired_at", "replaced_by", "erased_at")
    fresh: dict[str, Any] = {**_fields(said), **dict.fromkeys(gone)}
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
    _compare(row)  # with what came in while it waited
    _record("memory-confirmed", row, actor, before=State.PENDING, after=State.CONFIRMED)


def _let_in(row: Memory, person: User | None) -> None:
    """Have a memory answer from now on."""
    row.state, row.confirmed_by, row.confirmed_at = State.CONFIRMED, person, timezone.now()
    MemoryTerm.objects.bulk_create(_index(row))
    row.save(update_fields=["length", "terms_version", "state", "confirmed_by", "confirmed_at"])


def _index(row: Memory) -> list[MemoryTerm]:
    """Return the terms of a memory, and count them in the row; neither is stored."""
    found = recall.counted(f"{row.topic}\n{row.text}")  # the topic names what the text is about
    row.length, row.terms_version = found.total(), recall.TERMS
    return [
        MemoryTerm(team_id=row.team_id, memory=row, term=term, times=times, length=row.length)
        for term, times in found.items()
    ]


def outdated() -> QuerySet[Memory]:
    """Return the confirmed memories whose terms are another stemmer's: they are not found by all their words."""
    another = Q(terms_version__lt=recall.TERMS) | Q(terms_version__gt=recall.TERMS)  # two ends of an index
    return Memory.objects.filter(another, state=State.CONFIRMED)


def index_anew(team: int) -> int:
    """Make the terms of a team's outdated memories again, so many a run; return of how many."""
    done = 0
    while done < INDEXED_A_RUN:
        with transaction.atomic():
            _lock(team)
            rows = list(outdated().filter(team=team).order_by("pk")[:INDEXED])
            if not rows:
                break
            terms = [term for row in rows for term in _index(row)]
            MemoryTerm.objects.filter(memory__in=rows).delete()
            MemoryTerm.objects.bulk_create(terms, batch_size=2_000)
            Memory.objects.bulk_update(rows, ["length", "terms_version"])
        done += len(rows)
    return done


def _compare(row: Memory) -> bool:
    """Note which of the memories most like it a memory contradicts; tell whether there is one."""
    found = contradicted_by(row.team_id, row.text, but=row, at=row.occurred_at)
    MemoryConflict.objects.bulk_create(
        [
            MemoryConflict(
                older=row if other.occurred_at > row.occurred_at else other,
                newer=other if other.occurred_at > row.occurred_at else row,
                kind=each.kind,
                confidence=each.confidence,
            )
            for other, each in found
        ],
        ignore_conflicts=True,  # it was compared before, when it began to wait
    )
    return bool(found)


def _retire(row: Memory, person: User, replaced_by: Memory | None = None) -> None:
    before, now = row.state, timezone.now()
    row.state, row.retired_by, row.retired_at, row.replaced_by = State.RETIRED, person, now, replaced_by
    row.save(update_fields=["state", "retired_by", "retired_at", "replaced_by"])
    row.terms.all().delete()
    for rows, outcome in ((row.contradicts, Outcome.OLDER), (row.contradicted_by, Outcome.NEWER)):
        rows.filter(outcome="").update(outcome=outcome, person=person, settled_at=now)
    action = "memory-discarded" if before == State.PENDING and replaced_by is None else "memory-retired"
    _record(action, row, person, before=before, after=State.RETIRED)


def _record(action: str, row: Memory, actor: audit.Actor, **data: Any) -> AuditEvent:
    event = audit.event(
        action, row.public_id, actor=actor, team=row.team_id, agent=row.agent, sha256=row.sha256, **data
    )
    event.save(force_insert=True)
    return event


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
