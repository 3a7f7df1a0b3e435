"""Research after an assessment (seed 003, section 5): what is asked, what a search finds, and the advice made of both.

A Research row is the truth: whoever searches claims it first, for the length of a lease, by a conditional UPDATE. No
transaction is open while anything is searched, and nothing that was found is fetched. The end is written with the
record and the callback in one transaction.
"""

from __future__ import annotations

import hashlib
import json
import time
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from metacog import egress
from metacog.audit import audit
from metacog.db import clocks
from metacog.heuristics.memory import research
from metacog.heuristics.memory.research import Finding, Question
from metacog.heuristics.tool_calls.secrets import MASK, masked_text
from metacog.models import Agent, AgentState, AuditEvent, Language
from patterns.serializers import instant
from reviews.isolation import by_itself
from reviews.models import Research
from reviews.serializers import owed

State, Trouble = Research.State, Research.Trouble

MOST_WAITING = 20  # of one agent
PAUSES = (30, 120, 600)  # seconds from each attempt to the next
SECONDS = 8.0  # for one search; three make an attempt
MAX_ANSWER = 1_048_576  # bytes of it
LEASE = timedelta(seconds=45)  # longer than an attempt may take
TURN_SECONDS = 12.0  # in which a run takes up research; with an attempt begun last it ends before the task's limit


class TooMany(Exception):
    """The agent has as many waiting as it may; nothing was written."""


class SearchFailed(Exception):
    """There is nothing to read; `why` says in a word what kept it."""

    def __init__(self, why: Research.Trouble) -> None:
        super().__init__(why)
        self.why = why


def begin(agent: Agent, verdict: str, topic: str) -> tuple[Research, bool]:
    """Ask three questions about a verdict and have them searched for; return that and whether it is new.

    While it waits, the same verdict and topic are the same research. Where no search is configured it is finished at
    once, with the questions alone. Raises TooMany.
    """
    language = research.language_of(verdict, topic, Language(agent.language).bcp47)
    asked = questions(verdict, topic, language)
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=agent.pk)
        waiting = Research.objects.filter(agent=agent, state=State.WAITING)
        if known := waiting.filter(verdict=verdict, topic=topic).first():
            return known, False
        if waiting.count() >= MOST_WAITING:
            raise TooMany
        row = Research.objects.create(
            agent=agent,
            verdict=verdict,
            topic=topic,
            language=language,
            questions=[question._asdict() for question in asked],
        )
        digest = hashlib.sha256(verdict.encode()).hexdigest()
        _event("research-begun", row, actor=agent, after=State.WAITING, verdict_sha256=digest).save()
        if not settings.SEARXNG_URL:
            _finish(row, [], row.created_at, searched=False)
    return row, True


def questions(verdict: str, topic: str, language: str) -> tuple[Question, Question, Question]:
    """Ask about a verdict with its secrets masked: the questions quote pieces of it, and go to whoever searches."""
    do, find, check = research.questions(masked_text(verdict), masked_text(topic), language=language)
    return _without_masks(do), _without_masks(find), _without_masks(check)


def _without_masks(asked: Question) -> Question:
    return asked._replace(query=" ".join(asked.query.replace(MASK, " ").split()) or asked.query)


def as_people_read(row: Research) -> tuple[list[dict[str, str]], str]:
    """Return the questions and the advice of research; former releases quoted pieces of secrets in them."""
    if masked_text(row.verdict) == row.verdict and masked_text(row.topic) == row.topic:
        return row.questions, row.advice
    asked, found = questions(row.verdict, row.topic, row.language), [Finding(**each) for each in row.findings]
    advice = row.advice and research.advice(
        masked_text(row.verdict), asked, found, language=row.language, has_search=row.searched
    )
    return [each._asdict() for each in asked], advice


def search_due(now: datetime | None = None) -> int:
    """Search for what is due, the longest waiting first; return how many attempts that took."""
    began, attempts, first = time.monotonic(), 0, now or timezone.now()
    put_off = Research.objects.filter(clocks.too_far(first, PAUSES), state=State.WAITING)
    clocks.bring_forward(put_off, "next_attempt_at", first)
    while time.monotonic() - began < TURN_SECONDS and (row := _claim(now or timezone.now())):
        attempts += 1
        with by_itself("Research %s failed", row.public_id):
            _search_for(row, now)
    return attempts


def _search_for(row: Research, now: datetime | None) -> None:
    has_search = bool(settings.SEARXNG_URL)  # it may have been taken away since
    try:
        found = [
            each
            for number, asked in enumerate(row.questions if has_search else ())
            for each in _search(row.language, number, asked)
        ]
    except SearchFailed as failed:
        _put_off(row, failed.why, now or timezone.now())
        return
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=row.agent_id)
        _finish(row, found, now or timezone.now(), searched=has_search)


def _search(language: str, number: int, asked: dict[str, str]) -> list[Finding]:
    """Search for one question; raises SearchFailed."""
    query = urlencode({"q": asked["query"], "format": "json", "language": language, "safesearch": "1"})
    try:
        answer = egress.request(
            "GET",
            f"{settings.SEARXNG_URL}/search?{query}",
            headers={"Accept": "application/json", "User-Agent": "metacog"},
            seconds=SECONDS,
            most=MAX_ANSWER,
            is_trusted=True,
        )
    except egress.Failed:
        raise SearchFailed(Trouble.REACH) from None
    if answer.status != 200:
        raise SearchFailed(Trouble.REFUSED)
    try:
        return research.findings(number, json.loads(answer.body))
    except (ValueError, RecursionError):
        raise SearchFailed(Trouble.ANSWER) from None


def shape(row: Research) -> dict[str, Any]:
    """Return research as agents read it and are told of it."""
    return {
        "id": row.public_id,
        "state": row.state,
        "topic": row.topic,
        "language": row.language,
        "questions": [question["text"] for question in row.questions],
        "searched": row.searched,
        "findings": row.findings,
        "advice": row.advice or None,
        "reason": row.trouble or None,
        "created_at": instant(row.created_at),
        "ended_at": row.ended_at and instant(row.ended_at),
    }


def _claim(now: datetime) -> Research | None:
    """Take the next one that is due for the length of a lease; one whose worker died too often fails."""
    due = Research.objects.filter(clocks.is_free(now, LEASE), state=State.WAITING, next_attempt_at__lte=now)
    for row in due.select_related("agent").order_by("next_attempt_at", "pk")[:MOST_WAITING]:
        if row.attempts > len(PAUSES):  # it died in the last one
            _put_off(row, Trouble.INTERRUPTED, now)
        elif due.filter(pk=row.pk, attempts=row.attempts).update(attempts=F("attempts") + 1, leased_until=now + LEASE):
            row.attempts += 1
            return row
    return None


def _put_off(row: Research, why: Research.Trouble, now: datetime) -> None:
    """Have it tried again after a pause; after the last attempt it has failed."""
    ours = Research.objects.filter(pk=row.pk, state=State.WAITING, attempts=row.attempts)
    if row.attempts <= len(PAUSES):
        pause = timedelta(seconds=PAUSES[row.attempts - 1])
        ours.update(leased_until=None, next_attempt_at=now + pause, trouble=why)
        return
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=row.agent_id)
        row.state, row.trouble, row.ended_at, row.leased_until = State.FAILED, why, now, None
        if ours.update(state=row.state, trouble=why, ended_at=now, leased_until=None):
            _event("research-failed", row, before=State.WAITING, after=State.FAILED, attempts=row.attempts).save()
            _tell(row, now)


def _finish(row: Research, found: list[Finding], now: datetime, *, searched: bool) -> None:
    """Write the end; wants a transaction. Whoever comes second writes nothing."""
    asked = [Question(**question) for question in row.questions]
    row.findings, row.searched = [each._asdict() for each in found], searched
    row.advice = research.advice(masked_text(row.verdict), asked, found, language=row.language, has_search=searched)
    row.state, row.trouble, row.ended_at, row.leased_until = State.FINISHED, "", now, None
    names = ("findings", "searched", "advice", "state", "trouble", "ended_at", "leased_until")
    values = {name: getattr(row, name) for name in names}
    if Research.objects.filter(pk=row.pk, state=State.WAITING).update(**values):
        counts: dict[str, Any] = {"findings": len(found), "searched": searched, "attempts": row.attempts}
        _event("research-finished", row, before=State.WAITING, after=State.FINISHED, **counts).save()
        _tell(row, now)


def _tell(row: Research, now: datetime) -> None:
    if row.agent.callback_url:
        owed(row.agent, "research.finished", shape(row), now).save()


def _event(action: str, row: Research, *, actor: Agent | None = None, **data: Any) -> AuditEvent:
    return audit.event(action, row.public_id, actor=actor, team=row.agent.team_id, agent=row.agent, **data)
