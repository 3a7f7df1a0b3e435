"""Think twice (seed 002): what a problem's row and the record of suggestions and answers say after each step.

Every function here wants the lock on the agent's state: `advanced` is called by the ingest, which holds
it, the others take it themselves. Nothing is invoked without an answer that is recorded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from metacog.audit import audit
from metacog.db.prepared import Update, run_together
from metacog.heuristics.hesitation import thresholds
from metacog.heuristics.policy.stuck_settings import StuckSettings
from metacog.heuristics.stuck import brief, stuck
from metacog.heuristics.wire.assessment import StuckPart
from metacog.models import Agent, AgentState, AuditEvent, Language, User
from patterns.memory import memory
from patterns.models import Memory, MemoryConflict, Problem, ThinkTwice
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import instant

MESSAGES = 8  # responses whose user's message goes into a brief

Answer, Outcome = ThinkTwice.Answer, ThinkTwice.Outcome


class AnswerShape(TypedDict):
    points: int
    suggested_at: str | None
    answer: str | None
    by: str | None
    answered_at: str | None
    outcome: str | None


class ProblemShape(StuckPart):
    session: str
    touched_at: str
    resolved_at: str | None
    answers: list[AnswerShape]
    brief: str


class NothingToSay(Exception):
    """There is no answer to which this outcome could belong; nothing was written."""


class NotAsked(Exception):
    """The question is not open any more; nothing was written. `answer` is what was said to it, "" where nobody did."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.answer = answer


def advanced(
    agent: Agent,
    problem: Problem | None,
    session: str,
    verdict: StuckPart | None,
    state: stuck.State,
    *,
    outcome: str | None,
    now: datetime,
) -> tuple[Problem, list[AuditEvent]]:
    """Take a response's `stuck` part and the state after it into the problem's row; return what to record.

    `problem` is the row that was read under the lock, None when there is none yet; `verdict` is None where that part
    is switched off, and then the state is all there is to keep.
    """
    asked_before = problem is not None and problem.suggests
    told = problem.state["invocations"] if problem else []  # before the row has the new state
    row = problem or Problem(agent=agent, session=session, key=state["problem"], began_at=now)
    row.state = state
    if verdict:  # else the problem is not touched: a yes that waits is told once the part is on again
        row.points, row.suggests, row.touched_at = verdict["points"], verdict["suggest"], now
        row.resolved_at, row.erased_at = now if outcome == "resolved" else None, None
    if problem:
        with connection.cursor() as cursor:
            run_together(cursor, [(_save, [row])])
    else:
        row.save()
    events: list[AuditEvent] = []
    if verdict is None:
        return row, events
    if outcome == "resolved" and problem is not None:
        events.append(_event("problem-resolved", row, agent, after="resolved"))
        row.think_twice.filter(answered_at=None).update(answered_at=now)  # nobody needs to answer any more
    if verdict["suggest"] and not asked_before:
        _suggested(row, verdict, now)
        events.append(_event("think-twice-suggested", row, agent, after="suggested", **_said(verdict)))
    if len(state["invocations"]) > len(told) or state["invocations"][-1:] != told[-1:]:
        _answered(row, Answer.YES, ThinkTwice.By.USER, None, verdict["points"], now)
        events.append(_event("think-twice-answered", row, agent, after="yes", by="user", **_said(verdict)))
    return row, events


_save = Update(Problem, "state", "points", "suggests", "touched_at", "resolved_at", "erased_at")


def answer(
    problem: Problem, said: Literal["yes", "no"], actor: Agent | User, *, asked: int | None = None
) -> Problem:
    """Record a person's answer, given in the console (a User) or brought by the agent; return the problem as it is.

    Until now nobody may have asked: a yes stands by itself. The same answer again, before anything else happened
    to the problem, is the first. In the console a no is always said to a question, and `asked` names the one that was
    shown (the key of its ThinkTwice): raises NotAsked when somebody has answered it, or the problem was solved.
    """
    person = actor if isinstance(actor, User) else None
    by = ThinkTwice.By.PERSON if person else ThinkTwice.By.AGENT
    with transaction.atomic():
        row, settings = _locked(problem)
        first = row.think_twice.filter(answer=said, by=by, person=person, answered_at=row.touched_at, outcome="")
        if first.exists():
            return row
        if person and (said == "no" or asked is not None):
            shown = row.think_twice.filter(**({"pk": asked} if asked is not None else {})).first()
            if shown is None or shown.answered_at:
                raise NotAsked(shown.answer if shown else "")
        row.state = stuck.answer(row.state, said, settings=settings)
        row.suggests, row.touched_at = False, timezone.now()
        row.save(update_fields=["state", "suggests", "touched_at"])
        _answered(row, Answer(said), by, person, row.points, row.touched_at)
        _event("think-twice-answered", row, actor, after=said, by=by.value, points=row.points).save()
    return row


def set_outcome(problem: Problem, became: Literal["helped", "did-not-help"], actor: Agent | User) -> Problem:
    """Record what came of the last yes, over what was said of it before; raises NothingToSay when there was none."""
    with transaction.atomic():
        row, _ = _locked(problem)
        last = row.think_twice.filter(answer=Answer.YES).first()
        if last is None:
            raise NothingToSay
        if last.outcome != became:
            before = last.outcome
            last.outcome, last.outcome_at = became, timezone.now()
            last.save(update_fields=["outcome", "outcome_at"])
            if row.state["invocations"]:
                row.state = stuck.outcome(row.state, became)
                row.save(update_fields=["state"])
            _event("think-twice-outcome", row, actor, before=before, after=became, points=last.points).save()
    return row


def resolve(problem: Problem, actor: Agent | User) -> Problem:
    """Reset the counters, as after a success; what is resolved and was not taken up again stays as it is."""
    with transaction.atomic():
        row, _ = _locked(problem)
        if row.resolved_at and row.resolved_at == row.touched_at:
            return row
        row.state = stuck.resolve(row.state)
        row.points, row.suggests = 0, False
        row.touched_at = row.resolved_at = timezone.now()
        row.save(update_fields=["state", "points", "suggests", "touched_at", "resolved_at"])
        row.think_twice.filter(answered_at=None).update(answered_at=row.touched_at)
        _event("problem-resolved", row, actor, after="resolved").save()
    return row


def shape(problem: Problem) -> ProblemShape:
    """Return a problem as agents read it: its `stuck` part, the brief, and what was answered before."""
    [found] = shapes([problem])
    return found


def shapes(problems: Sequence[Problem]) -> list[ProblemShape]:
    """Return some problems of one team as agents read them."""
    return [_shape(problem, text) for problem, text in zip(problems, briefs_of(problems), strict=True)]


def assess(problem: Problem) -> stuck.Stuck:
    """Say how stuck a problem looks as things stand, by the policy of now."""
    language = Language(problem.agent.language).bcp47
    return stuck.assess(problem.state, language=language, settings=scorer_shown(problem.agent).parts.stuck)


def _shape(problem: Problem, text: str) -> ProblemShape:
    found = assess(problem)
    return {
        **found.as_dict(),
        "session": problem.session,
        "touched_at": instant(problem.touched_at),
        "resolved_at": instant(problem.resolved_at) if problem.resolved_at else None,
        "answers": [
            {
                "points": each.points,
                "suggested_at": instant(each.suggested_at) if each.suggested_at else None,
                "answer": each.answer or None,
                "by": each.by or None,
                "answered_at": instant(each.answered_at) if each.answered_at else None,
                "outcome": each.outcome or None,
            }
            for each in problem.think_twice.all()
        ],
        "brief": text,
    }


def briefs_of(problems: Sequence[Problem]) -> list[str]:
    """Return the briefs for fresh sub-agents of problems of one team, from what is stored and nothing else.

    Five queries, and one for each problem.
    """
    if not problems:
        return []
    said = [_users_words(problem) for problem in problems]
    known = memory.concerning(
        problems[0].agent.team_id, [_about(problem, words) for problem, words in zip(problems, said, strict=True)]
    )
    conflicts = memory.clashes({each for found in known for each in found})
    return [
        _brief(problem, words, [(each, conflicts[each.pk]) for each in found])
        for problem, words, found in zip(problems, said, known, strict=True)
    ]


def _about(problem: Problem, said: Sequence[str]) -> brief.About:
    state = problem.state
    return brief.about(problem.key, [error["text"] for error in state["errors"]], state["attempts"], said)


def _brief(
    problem: Problem, said: Sequence[str], remembered: Iterable[tuple[Memory, Sequence[MemoryConflict]]]
) -> str:
    language = Language(problem.agent.language).bcp47
    facts = {
        "problem": problem.key,
        "signs": stuck.signs(problem.state, language),
        "user": said,
        "attempts": problem.state["attempts"],
        "known": [f"{error['count']} × {error['text']}" for error in problem.state["errors"]],
        "remembered": [
            {
                "id": each.public_id,
                "by": "agent" if each.agent_id else "person",
                "date": each.created_at.date().isoformat(),
                "topic": each.topic,
                "text": each.text,
                "source": each.source,
                "contradicts": [memory.opposite(conflict, each).public_id for conflict in conflicts],
            }
            for each, conflicts in remembered
        ],
        "constraints": brief.constraints(said),
    }
    return brief.brief(facts, language=language)


def _users_words(problem: Problem) -> list[str]:
    """Return what the user said last about the problem, oldest first, each once."""
    bodies = problem.responses.filter(erased_at=None).order_by("-id").values_list("body", flat=True)[:MESSAGES]
    said = [json.loads(body).get("user_message") for body in bodies]
    return list(dict.fromkeys(text for text in reversed(said) if text and text.strip()))


def success(rows: QuerySet[ThinkTwice]) -> dict[str, dict[str, int]]:
    """Count by who answered ("" while nobody has) what was suggested, answered and came of it."""
    counts = {
        "suggested": Count("pk", filter=Q(suggested_at__isnull=False)),
        "yes": Count("pk", filter=Q(answer=Answer.YES)),
        "no": Count("pk", filter=Q(answer=Answer.NO)),
        "helped": Count("pk", filter=Q(outcome=Outcome.HELPED)),
        "did_not_help": Count("pk", filter=Q(outcome=Outcome.DID_NOT_HELP)),
    }
    grouped: Iterable[Any] = rows.order_by().values("by").annotate(**counts)
    return {row["by"]: {name: row[name] for name in counts} for row in grouped}


def threshold_advice(rows: QuerySet[ThinkTwice]) -> thresholds.ThresholdAdvice | None:
    """Suggest a threshold from how thinking twice turned out where people themselves said yes.

    An agent that relays a yes also says what came of it: it would set its own threshold.
    """
    told = rows.exclude(outcome="").exclude(by=ThinkTwice.By.AGENT).values_list("points", "outcome")
    return thresholds.suggest_stuck((points, outcome == Outcome.HELPED) for points, outcome in told)


def _locked(problem: Problem) -> tuple[Problem, StuckSettings]:
    AgentState.objects.select_for_update().get(pk=problem.agent_id)
    # The row as well: a sweep may be erasing what it says.
    row = Problem.objects.select_for_update(of=("self",)).select_related("agent__team").get(pk=problem.pk)
    return row, scorer_shown(row.agent).parts.stuck


def _suggested(row: Problem, verdict: StuckPart, now: datetime) -> None:
    """Record that somebody is asked: anew, where a policy or the retention took a question back before its answer."""
    said = _said(verdict)
    if not row.think_twice.filter(answered_at=None).update(**said, suggested_at=now):
        ThinkTwice.objects.create(problem=row, **said, suggested_at=now)


def _answered(
    row: Problem, said: ThinkTwice.Answer, by: ThinkTwice.By, person: User | None, points: int, now: datetime
) -> None:
    asked = row.think_twice.filter(answered_at=None).first() or ThinkTwice(problem=row, points=points)
    asked.answer, asked.by, asked.person, asked.answered_at = said, by, person, now
    asked.save()


class _Said(TypedDict):
    points: int
    signals: list[str]


def _said(verdict: StuckPart) -> _Said:
    return {"points": verdict["points"], "signals": [signal["type"] for signal in verdict["signals"]]}


def _event(action: str, row: Problem, actor: audit.Actor, **data: Any) -> AuditEvent:
    agent = row.agent
    return audit.event(action, row.public_id, actor=actor, team=agent.team_id, agent=agent, **data)
