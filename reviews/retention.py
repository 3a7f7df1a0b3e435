"""Erase the texts of what a team no longer keeps. Rows, digests, scores, states and the record stay.

A response goes as a whole, with its held items, their decisions and callbacks, once all of it is older
than the team's retention: its items were closed that long ago, and no callback of it is still owed.
What a disabled agent or webhook is owed is given up then. What nobody has decided yet is never erased.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.effects.effect import Kind
from metacog.heuristics.stuck import stuck
from metacog.heuristics.wire.assessment import Assessment, EffectPart, ItemPart
from metacog.models import Agent, AgentState, AuditEvent, Team
from patterns.models import (
    ErrorPattern,
    Lesson,
    Memory,
    MemoryConflict,
    Problem,
    ThoughtThread,
    ThreadStep,
    ThreadSuggestion,
)
from reviews.held import talk
from reviews.isolation import by_itself
from reviews.models import (
    AgentResponse,
    Approval,
    CallGrant,
    CallOutcome,
    ContrastLook,
    Decision,
    Delivery,
    ExtensionRequest,
    HeldCall,
    HeldItem,
    HeldQuestion,
    PatternOrigin,
    PossibleCorrection,
    Reflection,
    Research,
    ReviewTerms,
    TeamWebhook,
)
from reviews.outbox import deliveries

BATCH = 100  # responses or callbacks of one transaction; on SQLite others wait for it
BATCHES_A_RUN = 100  # for one team, before the worker looks at its other tasks

OVER = (Delivery.State.DELIVERED, Delivery.State.EXHAUSTED)

Erasable = (
    AgentResponse
    | Delivery
    | ErrorPattern
    | ExtensionRequest
    | Lesson
    | Memory
    | Problem
    | Reflection
    | Research
    | ThoughtThread
)
Row = TypeVar("Row", bound=Erasable)


def erase() -> int:
    """Erase what is due in every team; return how many responses and deliveries that were."""
    now = timezone.now()
    # In any order: one team may have more to erase than the task has time for, again and again.
    return sum(_erase_of(team, now) for team in Team.objects.exclude(retention_days=None).order_by("?"))


def _erase_of(team: Team, now: datetime) -> int:
    assert team.retention_days is not None
    before = now - timedelta(days=team.retention_days)
    erased = 0
    with by_itself(_FAILED, "callbacks of disabled agents", team.pk):
        _give_up_callbacks(team, before, now)
    for step in _STEPS:
        with by_itself(_FAILED, step.__name__, team.pk):
            for _ in range(BATCHES_A_RUN):
                count = step(team, before, now)
                erased += count
                if count < BATCH:
                    break
    with by_itself(_FAILED, "intents", team.pk):
        _erase_intents(team, before)
    return erased


_FAILED = "Not all erased that is due (%s) in the team with the key %s"


def _erase_intents(team: Team, before: datetime) -> None:
    """Erase what agents did last, which their context quotes, and its topics, once they posted nothing for so long."""
    since = AgentResponse.objects.filter(agent=OuterRef("pk"), received_at__gte=before)
    nothing: dict[str, Any] = {"intent": None, "topics": {}, "cycles": []}
    due = AgentState.objects.filter(~Exists(since), agent__team=team).exclude(intent__isnull=True, topics={}, cycles=[])
    with transaction.atomic(durable=True):
        locked = list(due.select_for_update(skip_locked=True).values_list("pk", flat=True))
        # Again, now that none of them can post: one may have just done so.
        states = list(due.filter(pk__in=locked).select_related("agent"))
        AgentState.objects.filter(pk__in=[state.pk for state in states]).update(**nothing)
        ThreadSuggestion.objects.filter(pk__in=[state.pk for state in states]).delete()
        AuditEvent.objects.bulk_create(_event("intent-erased", team, state.agent) for state in states)


@contextmanager
def _taken(
    team: Team, due: QuerySet[Row, Row], action: str, told: Callable[[Row], dict[str, str]] = lambda row: {}
) -> Iterator[list[Row]]:
    """Give the next rows that are due, to be erased in this transaction, which records that with what is `told`."""
    with transaction.atomic(durable=True):
        # The team first, as whoever takes a step with a pattern does: a proposal may go with its last quote.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        # Two sweeps at once take different rows, and nothing is sent again while it is erased.
        locked = due.select_related("agent").select_for_update(of=("self",), skip_locked=True)
        rows = list(locked.order_by("pk")[:BATCH])
        yield rows
        AuditEvent.objects.bulk_create(_erased(action, team, each, **told(each)) for each in rows)


def _give_up_callbacks(team: Team, before: datetime, now: datetime) -> None:
    """Give up what disabled agents and webhooks were owed: else it would wait, and keep texts, for ever."""
    owed = Delivery.objects.filter(state=Delivery.State.WAITING, created_at__lt=before).exclude(body="")
    to_agents, to_webhooks = owed.filter(agent=OuterRef("pk"), webhook=None), owed.filter(webhook=OuterRef("pk"))
    disabled: list[Agent | TeamWebhook] = [
        *Agent.objects.filter(Exists(to_agents), team=team, enabled=False).order_by("pk"),
        *TeamWebhook.objects.filter(Exists(to_webhooks), team=team, enabled=False).order_by("pk"),
    ]
    for receiver in disabled:
        for _ in range(BATCHES_A_RUN):
            if deliveries.give_up_disabled(receiver, before, now) < deliveries.BATCH:
                break


def _erase_responses(team: Team, before: datetime, now: datetime) -> int:
    held = HeldItem.objects.filter(response=OuterRef("pk"))
    owed = Delivery.objects.filter(held__response=OuterRef("pk"))
    due = (
        AgentResponse.objects.filter(agent__team=team, received_at__lt=before, erased_at=None)
        .defer("body", "history")
        .exclude(Exists(held.filter(Q(closed_at=None) | Q(closed_at__gte=before))))
        .exclude(Exists(owed.exclude(state__in=OVER)))
    )
    with _taken(
        team, due, "response-erased", lambda row: {"before": "accepted", "body_sha256": row.body_sha256}
    ) as responses:
        for response in responses:
            response.verdict = json.dumps(without_texts(response.wire_verdict()), ensure_ascii=False)
            response.body, response.excerpt, response.erased_at = "", "", now
            response.history, response.fingerprint = "", []
        fields = ["verdict", "body", "excerpt", "history", "fingerprint", "erased_at"]
        AgentResponse.objects.bulk_update(responses, fields)
        HeldItem.objects.filter(response__in=responses).update(text="", attributes={}, metadata={}, alike=None)
        HeldCall.objects.filter(held__response__in=responses).update(
            arguments=None, schema=None, hints=None, description="", fault="", hesitation=None, effects=[]
        )
        HeldQuestion.objects.filter(held__response__in=responses).update(schema=None, choices=None)
        CallOutcome.objects.filter(call__held__response__in=responses).update(detail="", result=None)
        CallGrant.objects.filter(held__response__in=responses).update(shape=None)
        Decision.objects.filter(held__response__in=responses).update(text=None, arguments=None, answer=None, reason="")
        Approval.objects.filter(held__response__in=responses).update(text=None, arguments=None, reason="")
        ReviewTerms.objects.filter(held__response__in=responses).update(marked=None)
        Delivery.objects.filter(held__response__in=responses, state__in=OVER).update(body="")
        talk.erase(responses)
        # What a person answered stays, as a count.
        asked = PossibleCorrection.objects.filter(Q(response__in=responses) | Q(before__in=responses), answer="")
        asked.update(answer=PossibleCorrection.Answer.GONE)
        ids = [response.public_id for response in responses]
        _erase_origins(team, Q(response__in=responses) | Q(row__in=ids))
    return len(responses)


def _erase_origins(team: Team, gone: Q) -> None:
    """Erase what patterns quote of what is gone, and with its last quote a proposal that nobody took up.

    Its keywords are the agent's own words; those of a pattern that was tried or used are the team's rule, and stay.
    """
    origins = PatternOrigin.objects.filter(gone).exclude(evidence={})
    taught = set(origins.values_list("pattern", flat=True))
    origins.update(evidence={})
    ContrastLook.objects.filter(team=team).update(reasons=None)  # people's and agents' words; counted anew without them
    waiting = Q(state=ErrorPattern.State.PROPOSED, created_by=None) | ~Q(dismissed_because="")
    quoted = PatternOrigin.objects.filter(pattern=OuterRef("pk")).exclude(evidence={})
    given_up = list(ErrorPattern.objects.filter(waiting, ~Exists(quoted), pk__in=taught))
    AuditEvent.objects.bulk_create(_erased("pattern-erased", team, each, before=each.state) for each in given_up)
    _erase_names(given_up)
    ErrorPattern.objects.filter(pk__in=[pattern.pk for pattern in given_up]).update(
        state=ErrorPattern.State.RETIRED, keywords=[], description="", dismissed_because=""
    )


def _erase_names(rows: Sequence[ErrorPattern | Lesson]) -> None:
    """Erase what the admin's history calls rows, which is how their texts begin."""
    if rows:
        kind = ContentType.objects.get_for_model(rows[0])
        named = LogEntry.objects.filter(content_type=kind, object_id__in=[str(row.pk) for row in rows])
        named.update(object_repr="…")


def _erase_callbacks(team: Team, before: datetime, _now: datetime) -> int:
    """Erase callbacks about no held item, and those that were sent again while their response was erased."""
    due = Delivery.objects.filter(agent__team=team, webhook=None)
    return _erase_deliveries(team, due, before, "callback-erased")


def _erase_webhook_deliveries(team: Team, before: datetime, _now: datetime) -> int:
    """Erase the same of what the team's webhooks were owed."""
    return _erase_deliveries(team, Delivery.objects.filter(webhook__team=team), before, "webhook-erased")


def _erase_deliveries(team: Team, rows: QuerySet[Delivery, Delivery], before: datetime, action: str) -> int:
    alone = Q(held=None) | Q(held__response__erased_at__isnull=False)
    due = rows.filter(alone, created_at__lt=before, state__in=OVER).exclude(body="")
    with _taken(team, due, action) as erased:
        Delivery.objects.filter(pk__in=[delivery.pk for delivery in erased]).update(body="")
    return len(erased)


def _erase_problems(team: Team, before: datetime, now: datetime) -> int:
    """Erase what is kept of problems that nobody has worked on for so long; what was answered stays."""
    due = Problem.objects.filter(agent__team=team, touched_at__lt=before, erased_at=None)
    with _taken(team, due, "problem-erased") as problems:
        for problem in problems:
            problem.state, problem.points, problem.suggests = stuck.fresh(problem.key), 0, False
            problem.erased_at = now
        Problem.objects.bulk_update(problems, ["state", "points", "suggests", "erased_at"])
    return len(problems)


def _erase_threads(team: Team, before: datetime, now: datetime) -> int:
    """Erase what threads that were resolved so long ago say; their titles and the days of their steps stay."""
    due = ThoughtThread.objects.filter(agent__team=team, resolved_at__lt=before, erased_at=None)
    with _taken(team, due, "thread-erased") as threads:
        keys = [thread.pk for thread in threads]
        ThreadStep.objects.filter(thread__in=keys).update(text="", extra="")
        nothing: dict[str, Any] = {"next": "", "notes": "", "article_until": None, "has_draft": False}
        ThoughtThread.objects.filter(pk__in=keys).update(**nothing, erased_at=now)
    return len(threads)


def _erase_lessons(team: Team, before: datetime, now: datetime) -> int:
    """Erase lessons that nobody confirmed, and those that were retired, so long ago; what is in force stays."""
    due = Lesson.objects.filter(team=team, changed_at__lt=before, erased_at=None).exclude(state=Lesson.State.ACTIVE)
    with _taken(team, due, "lesson-erased") as lessons:
        Lesson.objects.filter(pk__in=[lesson.pk for lesson in lessons]).update(text="", topics=[], erased_at=now)
        _erase_names(lessons)
    return len(lessons)


def _erase_reflections(team: Team, before: datetime, now: datetime) -> int:
    """Erase what reflections name and quote; their counts stay."""
    due = Reflection.objects.filter(agent__team=team, until__lt=before, erased_at=None)
    with _taken(team, due, "reflection-erased") as reflections:
        for reflection in reflections:
            figures: Any = reflection.figures
            quoting: dict[str, Any] = {name: [] for name in ("topics", "repeated", "gaps", "reasons", "circles")}
            reflection.figures, reflection.erased_at = {**figures, **quoting}, now
        Reflection.objects.bulk_update(reflections, ["figures", "erased_at"])
    return len(reflections)


def _erase_memories(team: Team, before: datetime, now: datetime) -> int:
    """Erase memories that were retired so long ago; what stands, and what waits for a curator, stays."""
    due = Memory.objects.filter(team=team, retired_at__lt=before, erased_at=None)
    with _taken(team, due, "memory-erased", lambda row: {"before": row.state, "sha256": row.sha256}) as memories:
        Memory.objects.filter(pk__in=[memory.pk for memory in memories]).update(
            text="", topic="", source="", erased_at=now
        )
        clashes = MemoryConflict.objects.filter(Q(newer__in=memories) | Q(older__in=memories))
        _erase_origins(team, Q(kind=PatternOrigin.Kind.MEMORY, row__in=clashes.values("newer__public_id")))
    return len(memories)


def _erase_extensions(team: Team, before: datetime, now: datetime) -> int:
    """Erase what was said in requests for more tool calls that were answered so long ago; the answers stay."""
    due = ExtensionRequest.objects.filter(agent__team=team, decided_at__lt=before, erased_at=None)
    with _taken(team, due, "extension-erased", lambda row: {"before": row.state}) as requests:
        for request in requests:
            judgement: Any = request.judgement
            request.reason, request.answer, request.guidance, request.erased_at = "", "", "", now
            request.evidence, request.found = _NOTHING, _NOTHING
            request.judgement = judgement and {**judgement, "entities": [], "needs": []}
        fields = ["reason", "answer", "guidance", "evidence", "found", "judgement", "erased_at"]
        ExtensionRequest.objects.bulk_update(requests, fields)
    return len(requests)


_NOTHING: Any = []


def _erase_research(team: Team, before: datetime, now: datetime) -> int:
    """Erase what research was about and found, once it ended so long ago."""
    due = Research.objects.filter(agent__team=team, ended_at__lt=before, erased_at=None)
    with _taken(team, due, "research-erased") as rows:
        gone: dict[str, Any] = {"verdict": "", "topic": "", "questions": [], "findings": [], "advice": ""}
        Research.objects.filter(pk__in=[row.pk for row in rows]).update(**gone, erased_at=now)
    return len(rows)


_STEPS = (
    _erase_responses,
    _erase_callbacks,
    _erase_webhook_deliveries,
    _erase_problems,
    _erase_threads,
    _erase_lessons,
    _erase_reflections,
    _erase_memories,
    _erase_extensions,
    _erase_research,
)


def _erased(action: str, team: Team, row: Erasable, **data: Any) -> AuditEvent:
    return _event(action, team, None if isinstance(row, ErrorPattern) else row.agent, row.public_id, **data)


def _event(action: str, team: Team, agent: Agent | None, object_id: str = "", **data: Any) -> AuditEvent:
    about = object_id or (agent.public_id if agent else "")
    days = team.retention_days
    return audit.event(action, about, actor=None, team=team, agent=agent, after="erased", days=days, **data)


def _item_without_texts(item: ItemPart) -> ItemPart:
    kept: ItemPart = {**item, "text": None}
    if "arguments" in kept:  # of a tool call: its name and the policy's rule stay
        kept["arguments"] = None
        kept.pop("fault", None)
        if "effects" in kept:  # which they are, by which calls are counted
            kept["effects"] = [_kind_alone(kind) for kind in dict.fromkeys(each["effect"] for each in kept["effects"])]
        kept.pop("hesitation", None)
    return kept


def _kind_alone(kind: Kind) -> EffectPart:
    return {"effect": kind, "object": None, "inside": None, "start": None, "end": None, "argument": ""}


def without_texts(verdict: Assessment) -> Assessment:
    """Return what a verdict says in figures, ids and words of ours; a replay answers with it.

    Written out, not taken away, so that a part a later engine adds is gone until it is put here.
    """
    hesitation, quality, confidence = verdict["hesitation"], verdict["quality"], verdict["confidence"]
    circling = verdict["stuck"]
    return {
        "id": verdict["id"],
        "policy": verdict["policy"],
        "profile": verdict["profile"],
        "engine": verdict["engine"],
        "hesitation": hesitation
        and {
            "score": hesitation["score"],
            "confident": hesitation["confident"],
            "threshold": hesitation["threshold"],
            "hold_at": hesitation["hold_at"],
            "suggestion": hesitation["suggestion"],
            "matched_pattern_ids": hesitation["matched_pattern_ids"],
            # A detail holds counts, or a pattern's description, which is the team's own.
            "signals": [
                {"type": signal["type"], "detail": signal["detail"], "weight": signal["weight"], "spans": []}
                for signal in hesitation["signals"]
            ],
        },
        "quality": quality
        and {
            "score": quality["score"],
            "passed": quality["passed"],
            "flags": quality["flags"],
            "hedge_prefix": quality["hedge_prefix"],
            "evaluation": quality["evaluation"],
            "details": [],
        },
        # The reason names topics.
        "confidence": confidence
        and {"level": confidence["level"], "score": confidence["score"], "reason": "", "prompt": confidence["prompt"]},
        "stuck": circling
        and {
            "problem": circling["problem"],
            "points": circling["points"],
            "threshold": circling["threshold"],
            "suggest": circling["suggest"],
            "invoke": circling["invoke"],
            "prompt": "",
            "signals": [
                {"type": signal["type"], "weight": signal["weight"], "detail": "", "evidence": {}}
                for signal in circling["signals"]
            ],
        },
        "items": [_item_without_texts(item) for item in verdict["items"]],
        # Verdicts of an older engine have no such part.
        "flags": verdict.get("flags", []),
        "schedule": verdict["schedule"],
        "events": verdict["events"],
        # A reason names threads. Verdicts of an older engine have no such part.
        "threads": [{**thread, "reason": None, "spans": []} for thread in verdict.get("threads") or ()] or None,
    }
