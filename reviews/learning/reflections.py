"""The daily look back on each agent (seed 004, "Reflection Engine"; seed 000, "Daily Error Review").

What is read and found needs no lock. Whatever follows from it is written in one transaction under the lock on the
agent's state: the reflection, the lessons it proposes, the record, and the callback.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.memory import reflection
from metacog.heuristics.memory.reflection import Circle, Held, Turn
from metacog.models import Agent, AgentState, Language, User
from patterns.lessons import lessons
from patterns.models import Lesson, Problem, ThinkTwice
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import instant
from reviews.isolation import by_itself, in_turn
from reviews.metrics.daily import day_of, start_of
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem, Reflection
from reviews.records import reasons
from reviews.serializers import owed

WINDOW = timedelta(days=7)  # that is looked back on: a day alone tells too little
MOST = 1_000  # responses of it, the latest
CATCH_UP = 7  # days that nobody looked back on, because nothing ran
TURN_SECONDS = 20.0  # in which a run begins reflections; what is left is made by the runs that follow
SHOWN = 4_000  # characters of a message and of a response that are read

_DAY = timedelta(days=1)


def reflect_due(now: datetime) -> int:
    """Reflect on each day that is over, once, for every agent that has it switched on; return how many were made."""
    began, made = monotonic(), 0
    past = Reflection.objects.filter(day__lt=day_of(now))  # a clock that was wrong for a while may have gone on
    last = dict(past.order_by().values_list("agent").annotate(Max("day")))
    for agent in in_turn("reflect", Agent.objects.filter(enabled=True).select_related("team")):
        for day in _days_due(agent, last.get(agent.pk), day_of(now)):
            if monotonic() - began > TURN_SECONDS:
                return made
            with by_itself("No reflection on %s for %s", agent.public_id, day):
                made += reflect(agent, start_of(day + _DAY), day=day) is not None
    return made


def reflect(agent: Agent, until: datetime, *, day: date | None = None, person: User | None = None) -> Reflection | None:
    """Look back on an agent's days before a moment, and store what there was to see; None when that day has it.

    `agent` comes with its team. Without a day somebody asked for it.
    """
    since = until - WINDOW
    period = AgentResponse.objects.posted().filter(agent=agent, received_at__gte=since, received_at__lt=until)
    turns, signals = _read(period)
    language = Language(agent.language).bcp47
    found = reflection.reflect(
        turns, _held(agent, since, until, signals), _circles(agent, since, until), language=language
    )
    figures: Any = found.as_dict()
    now = timezone.now()
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=agent.pk)
        if day and Reflection.objects.filter(agent=agent, day=day).exists():
            return None
        row = Reflection(
            agent=agent,
            day=day,
            person=person,
            since=since,
            until=until,
            responses=len(turns),
            of=period.count() if len(turns) == MOST else len(turns),
            figures=figures,
            made_at=now,
        )
        told = lessons.propose(agent, map(_proposal, found.proposals), row.public_id, now)
        row.proposals = [lesson.public_id for lesson in told]
        row.save(force_insert=True)
        audit.record(
            "meta:reflection",
            row.public_id,
            actor=person,
            team=agent.team_id,
            agent=agent,
            responses=row.responses,
            proposals=len(told),
            day=day and day.isoformat(),
        )
        if found.says_something and agent.callback_url:
            owed(agent, "meta.reflection", shape(row), now).save()
    return row


def shape(row: Reflection) -> dict[str, Any]:
    """Return a reflection as agents are told of it: figures and ids, and no text."""
    figures: Any = row.figures
    trend = figures["trend"]
    return {
        "id": row.public_id,
        "day": row.day and row.day.isoformat(),
        "since": instant(row.since),
        "until": instant(row.until),
        "responses": row.responses,
        "corrections": figures["corrections"],
        "gaps": len(figures["gaps"]),
        "impasses": len(figures["impasses"]),
        "quality": {name: trend[name] for name in ("says", "older", "newer", "low", "high")},
        "held": figures["held"],
        "proposals": row.proposals,
    }


def _days_due(agent: Agent, last: date | None, today: date) -> list[date]:
    """Return the days that are over, had responses, and were not looked back on; a new agent's begin with yesterday."""
    if not scorer_shown(agent).policy.parts["reflection"]:
        return []
    first = today - _DAY if last is None else max(last + _DAY, today - CATCH_UP * _DAY)
    if first >= today:
        return []
    posted = AgentResponse.objects.posted().filter(
        agent=agent, received_at__gte=start_of(first), received_at__lt=start_of(today)
    )
    days = posted.order_by().values_list(TruncDate("received_at", tzinfo=UTC), flat=True).distinct()
    return sorted(day for day in days if day)


def _read(period: QuerySet[AgentResponse]) -> tuple[list[Turn], dict[str, tuple[str, ...]]]:
    """Return the latest responses, oldest first, and the signals of each."""
    latest = period.order_by("-received_at", "-pk")
    rows = latest.only("public_id", "received_at", "body", "verdict", "session", "erased_at")[:MOST]
    turns: list[Turn] = []
    signals: dict[str, tuple[str, ...]] = {}
    for row in rows.iterator(chunk_size=50):
        body, verdict = row.wire_body(), row.wire_verdict()
        quality, confidence, hesitation = verdict["quality"], verdict["confidence"], verdict["hesitation"]
        signals[row.public_id] = tuple(signal["type"] for signal in hesitation["signals"]) if hesitation else ()
        turns.append(
            Turn(
                id=row.public_id,
                day=day_of(row.received_at).isoformat(),
                message=(body.get("user_message") or "")[:SHOWN],
                response=body["response"][:SHOWN],
                session=row.session,
                topics=tuple(body.get("topics") or ()),
                passed=quality and quality["passed"],
                confidence=confidence and confidence["level"],
                retrieval=body.get("retrieval"),
                unanswered=quality is not None and "question-unanswered" in quality["flags"],
                impasse="meta:impasse" in verdict["events"],
            )
        )
    return turns[::-1], signals


def _held(agent: Agent, since: datetime, until: datetime, signals: dict[str, tuple[str, ...]]) -> Iterator[Held]:
    items = HeldItem.objects.words().filter(
        agent=agent, response__received_at__gte=since, response__received_at__lt=until
    )
    said = dict(
        Decision.objects.filter(
            held__in=items, verdict=DecisionVerdict.REJECT, by=Decision.By.PERSON, released_at__isnull=False
        ).values_list("held_id", "reason")
    )
    for item in items.select_related("response").defer("response__body", "response__verdict", "text").order_by("pk"):
        response = item.response.public_id
        reason = said.get(item.pk, "")
        told = reasons.parse(reason)[1]
        yield Held(response, item.state_for_agent, signals.get(response, ()), reason, told)  # type: ignore[arg-type]  # its states are those


def _circles(agent: Agent, since: datetime, until: datetime) -> Iterator[Circle]:
    """Give the problems about which thinking twice was suggested or asked for."""
    worked_on = Problem.objects.filter(agent=agent, touched_at__gte=since, touched_at__lt=until)
    for problem in (
        worked_on.filter(think_twice__isnull=False).distinct().prefetch_related("think_twice").order_by("pk")
    ):
        answers: list[ThinkTwice] = list(problem.think_twice.all())
        outcome = next((each.outcome for each in answers if each.outcome), "")
        ended: Any = outcome or ("solved" if problem.resolved_at else "open")
        yield Circle(problem.key, max(each.points for each in answers), ended)


def _proposal(found: reflection.Proposal) -> lessons.Proposal:
    origin = Lesson.Origin.CORRECTION if found.kind == "correction" else Lesson.Origin.REFLECTION
    topics = tuple(topic[: Lesson.MAX_TOPIC] for topic in found.topics)
    return lessons.Proposal(found.kind, found.about, found.text, topics, found.responses, origin)
