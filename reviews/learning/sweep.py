"""Learn from decisions, corrections and second looks (seed 000, "經驗累積"): propose error patterns, for a person.

A sweep goes on, agent by agent, behind the last response and the last decision it has dealt with. What it
writes and how far it came are one transaction, so that every row is dealt with once, after downtime too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

from metacog.audit import audit
from metacog.db.rows import first_rows
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.text.shadow import fold
from metacog.models import Agent, AgentState, Team, User
from patterns.models import ErrorPattern, keyword_problems
from patterns.patterns import lifecycle
from patterns.threads import suggestions
from reviews.isolation import by_itself, in_turn
from reviews.learning import pattern_stats
from reviews.learning.extract import PatternProposal, Teacher, sentence_meant
from reviews.learning.hearing import Hearing
from reviews.metrics import agreement
from reviews.models import (
    AgentResponse,
    CorrectedResponse,
    Decision,
    LearningCursor,
    PatternOrigin,
    PossibleCorrection,
)
from reviews.scoring.history import take_back_corrected

State = ErrorPattern.State

MAX_PROPOSALS = 1_000  # that wait in one team; beyond, nobody reads them
MAX_EVIDENCE = 300
BATCH = 200  # responses and decisions of one agent in one transaction
BATCHES_A_RUN = 50  # of one agent, before the worker looks at its other tasks


def learn() -> int:
    """Go on behind what was learnt from before; return how many responses and decisions were dealt with."""
    dealt = 0
    for agent in in_turn("learn", _with_news()):
        with by_itself("Nothing more learned from %s", agent.public_id):
            dealt += _learn_from(agent)
    return dealt


def _with_news() -> list[Agent]:
    later = AgentResponse.objects.posted().filter(agent=OuterRef("pk"), pk__gt=OuterRef("reached"))
    known = Agent.objects.annotate(
        reached=Coalesce("learning_cursor__response", 0), heard=Coalesce("learning_cursor__decision_seq", 0)
    )
    return list(
        known.filter(Exists(later) | Q(state__decision_seq__gt=F("heard"))).select_related("team").order_by("pk")
    )


def _learn_from(agent: Agent) -> int:
    dealt = 0
    for _ in range(BATCHES_A_RUN):
        count, has_more = _learn_once(agent)
        dealt += count
        if not has_more:
            break
    if dealt:
        suggestions.refresh(agent)
    return dealt


def _learn_once(agent: Agent) -> tuple[int, bool]:
    """Deal with the next responses and decisions of an agent; return how many, and whether more wait.

    0 also where another was faster, who goes on.
    """
    cursor, _ = LearningCursor.objects.get_or_create(agent=agent)
    posted = AgentResponse.objects.posted()
    later = posted.filter(agent=agent, pk__gt=cursor.response).select_related("second_look_at")
    responses, are_more = first_rows(later.order_by("pk").defer("history", "excerpt"), BATCH, "body")
    reached = responses[-1].pk if responses else cursor.response
    released = Decision.objects.filter(agent=agent, seq__gt=cursor.decision_seq).select_related("held").order_by("seq")
    heard_of, are_more_heard = first_rows(released, BATCH, "held__text")
    # What was decided about a response counts once the response does.
    heard = list(takewhile(lambda each: each.held.response_id <= reached, heard_of))
    if not responses and not heard:
        return 0, False
    # What was decided about a tool call, or about what somebody wanted reviewed, says nothing of the rules on words.
    decisions = [each for each in heard if each.held.kind in HELD_KINDS]
    firings = pattern_stats.find(agent, responses)
    taught, corrected, questions = _taught(agent, responses, decisions)
    ends = agreement.read(decisions)
    with transaction.atomic():
        # The agent first, as what it remembers does, then the team, as whoever takes a step with a pattern does, and
        # then its record: never in a circle.
        state = AgentState.objects.select_for_update().get(pk=agent.pk) if corrected else None
        lock(agent.team)
        was = {"response": cursor.response, "decision_seq": cursor.decision_seq}
        last = heard[-1].seq if heard else cursor.decision_seq
        moved = LearningCursor.objects.filter(pk=agent.pk, **was).update(response=reached, decision_seq=last)
        if not moved:
            return 0, False
        pattern_stats.count(firings, decisions)
        agreement.count(agent, ends)
        CorrectedResponse.objects.bulk_create(
            [CorrectedResponse(response=response, team=agent.team, by=by) for response, by in corrected],
            ignore_conflicts=True,
        )
        for each in taught:
            propose(agent.team, each)
        if state:
            taken_back = {response.pk for response, _by in corrected if take_back_corrected(state, response)}
            for question in questions:
                question.took_back = question.counts and question.before_id in taken_back
            state.save(update_fields=["topics"])
        PossibleCorrection.objects.bulk_create(questions)
    return len(responses) + len(heard), are_more or are_more_heard or len(heard) < len(heard_of)


def _taught(
    agent: Agent, responses: Sequence[AgentResponse], decisions: Sequence[Decision]
) -> tuple[list[PatternProposal], list[tuple[AgentResponse, AgentResponse]], list[PossibleCorrection]]:
    """Return what is learnt, the responses that their users corrected, each with the one that tells of it, and what
    people are asked about that.
    """
    teacher, hearing = Teacher(agent), Hearing(agent)
    corrected, questions = [], []
    found = [taught for each in decisions for taught in (teacher.from_decision(each), teacher.from_release(each))]
    for response in responses:
        body = response.wire_body()
        if heard := hearing.hear(response, body):
            if heard.is_correction:
                corrected.append((heard.before, response))
                found.append(teacher.from_message(response, body, heard.before))
            if question := hearing.question(heard):
                questions.append(question)
        found += teacher.from_second_look(response, body), teacher.from_memory(response, body)
    return [each for each in found if each], corrected, questions


def propose(team: Team, wanted: PatternProposal, actor: audit.Actor = None) -> ErrorPattern | None:
    """Propose an error pattern, or join the proposal that says as much; None where neither is wanted.

    Nothing is proposed that an active or shadow pattern matches anyway, or that was dismissed before. Activates
    nothing; joins the caller's transaction.
    """
    held, response = wanted.held, wanted.response
    answered = held.response_id if held else response.pk if response else None
    if keyword_problems(wanted.keywords):
        return None
    with transaction.atomic():
        lock(team)  # one proposal of a team after the other
        if _is_erased(answered, wanted.row):
            return None
        before = PatternOrigin.objects.filter(kind=wanted.kind)
        if before.filter(row=wanted.row).exists():
            return None
        # A second look and the decision that follows from it are one conclusion.
        if wanted.kind == PatternOrigin.Kind.SECOND_LOOK and before.filter(held=held).exists():
            return None
        rows = ErrorPattern.objects.filter(team=team).exclude(state=State.RETIRED, dismissed_because="")
        # Up to 10,000, of which objects would take four times as long.
        known = list(rows.values_list("pk", "state", "keywords"))
        words, text = {fold(keyword) for keyword in wanted.keywords}, fold(wanted.said)
        alike = [(key, state) for key, state, keywords in known if _says(state, keywords, words, text)]
        if any(state != State.PROPOSED for _key, state in alike):
            return None
        pattern = ErrorPattern.objects.get(pk=alike[0][0]) if alike else None
        is_new = pattern is None
        if pattern is None:
            if sum(state == State.PROPOSED for _key, state, _keywords in known) >= MAX_PROPOSALS:
                return None
            pattern = add(team, wanted.keywords, wanted.description, wanted.source)
        PatternOrigin.objects.create(
            pattern=pattern,
            kind=wanted.kind,
            row=wanted.row,
            response_id=answered,
            held=held,
            evidence=quotes(wanted.said, wanted.told),
        )
        tell(pattern, is_new=is_new, actor=actor, kind=wanted.kind, row=wanted.row)
    return pattern


def add(team: Team, keywords: list[str], description: str, source: str) -> ErrorPattern:
    pattern = ErrorPattern(
        team=team,
        keywords=keywords,
        description=description[: ErrorPattern.MAX_DESCRIPTION],
        source=source,
        state=State.PROPOSED,
    )
    ErrorPattern.objects.bulk_create([pattern])  # not save(): no scorer is out of date
    return pattern


def tell(pattern: ErrorPattern, *, is_new: bool, actor: audit.Actor = None, **data: object) -> None:
    """Record that a pattern was proposed or taught anew, and tell whoever listens of a new one."""
    audit.record(
        "pattern-proposed" if is_new else "pattern-taught",
        pattern.public_id,
        actor=actor,
        team=pattern.team_id,
        before="" if is_new else pattern.state,
        after=pattern.state,
        **data,
    )
    if is_new:
        lifecycle.proposed.send(ErrorPattern, pattern=pattern)


def quotes(said: str, told: str) -> dict[str, str]:
    return {name: quote[:MAX_EVIDENCE] for name, quote in (("said", said), ("told", told)) if quote}


def lock(team: Team) -> None:
    # No agent's post waits: a key that others point at stays free.
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _is_erased(response: int | None, row: str) -> bool:
    """Tell whether texts were erased since they were read to learn from; what is kept of them now would be for ever."""
    read = AgentResponse.objects.filter(Q(pk=response) | Q(public_id=row))
    # Whoever erases them waits until what is kept of them can be erased with them.
    return any(read.select_for_update(no_key=True).order_by("pk").values_list("erased_at", flat=True))


def write_down(
    person: User, *, team: Team, keywords: list[str], description: str, source: str, decision: Decision | None = None
) -> ErrorPattern:
    """Write a pattern down for a person, as a proposal; `decision` (with its item) taught it. Raises NotDone."""
    with transaction.atomic():
        pattern = lifecycle.add(team, person, keywords=keywords, description=description, source=source)
        if decision:
            held = decision.held
            PatternOrigin.objects.get_or_create(
                kind=PatternOrigin.Kind.REJECTION,
                row=decision.public_id,
                defaults={
                    "pattern": pattern,
                    "response_id": held.response_id,
                    "held": held,
                    "evidence": quotes(sentence_meant(decision.reason, held.text), decision.reason),
                },
            )
    return pattern


def _says(state: str, keywords: Sequence[str], wanted: set[str], text: str) -> bool:
    """Tell whether a pattern matches a folded text, or wherever the keywords do; or was dismissed with those."""
    own = {fold(keyword) for keyword in keywords}
    if state == State.RETIRED:
        return own == wanted
    if any(keyword in text for keyword in own):
        return True
    return all(any(keyword in each for keyword in own) for each in wanted)
