"""Keep the turns of a log as responses of an agent: assessed, searchable, to try policies and error patterns on.

Nothing is held and nobody is told. They count neither in statistics nor in reflections, and are no spot checks: nobody
was there to act on the assessment. Kept twice they are kept once, by a key of their own space.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from metacog import heuristics
from metacog.db.prepared import ask_together, new
from metacog.heuristics.wire.assessment import UNREAD
from metacog.heuristics.wire.wire import instant
from metacog.models import Agent, AgentState
from patterns.models import ErrorPattern
from patterns.patterns.scorer import scorer_for
from reviews.logs.readers.turns import Turn
from reviews.logs.trial import as_bytes
from reviews.models import AgentResponse, Signal, response_id
from reviews.scoring.history import Past, questions
from reviews.serializers import excerpt


def keep(agent: Agent, format: str, turn: Turn) -> bool:
    """Keep one turn under an agent, read with its team; return whether it is new. Raise Refused, as posting does."""
    raw = as_bytes(turn.body() | {"metadata": {"log": format, "line": turn.line}})
    body = heuristics.read_response(raw)
    scorer, key = scorer_for(agent), _key(format, turn)
    with transaction.atomic(durable=True):
        # As a post, so that what was said before is read in order.
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        space = AgentResponse.KeySpace.LOG
        if AgentResponse.objects.filter(agent=agent, key_space=space, key=key).exists():
            return False
        now = timezone.now()
        said_at = min(instant(turn.at), now) if turn.at else now
        past = _past(agent, state, body, scorer, said_at)
        found = scorer.assess(body, past.history, hesitation=agent.hesitation_enabled)
        verdict, hesitation = found.verdict, found.verdict["hesitation"]
        response = new(
            AgentResponse,
            public_id=response_id(),
            agent_id=agent.pk,
            received_at=said_at,
            key_space=space,
            key=key,
            body=raw.decode(),
            body_sha256=hashlib.sha256(raw).hexdigest(),
            excerpt=excerpt(body["response"]),
            session=body["session"] or "",
            policy_version=agent.policy_version,
            patterns_version=agent.team.patterns_version,
            engine=verdict["engine"],
            language=agent.language,
            history=past.as_json(),
            fingerprint=found.fingerprint or [],
            calls=sum(item.call is not None for item in found.items),
        )
        if hesitation:
            response.hesitation_score = hesitation["score"]
            response.triggered = not hesitation["confident"]
        verdict["id"], verdict["policy"] = response.public_id, response.policy_version
        response.verdict = json.dumps(verdict, ensure_ascii=False)
        response.unread = UNREAD in verdict["flags"]
        response.flagged = len(verdict["flags"]) > response.unread
        response.quality_score = verdict["quality"] and verdict["quality"]["score"]
        response.pack()
        response.save(force_insert=True)
        if hesitation:
            Signal.objects.bulk_create(_signals(agent, response, hesitation))
    return True


def _key(format: str, turn: Turn) -> str:
    """Return what a turn is told by in every copy of the log: its own id, or its place with what it says."""
    said = as_bytes({"text": turn.text, "calls": [[call.name, call.arguments] for call in turn.calls]})
    return hashlib.sha256(b"\n".join([format.encode(), turn.key.encode("utf-8", "replace"), said])).hexdigest()


def _past(agent: Agent, state: AgentState, body: dict[str, Any], scorer: heuristics.Scorer, at: datetime) -> Past:
    """Return what the assessment looks back on, without the counters of stuck problems: those are of live work."""
    asked = questions(agent, body, scorer)
    asked.pop("problem", None)
    with connection.cursor() as cursor:
        read = dict(zip(asked, ask_together(cursor, asked.values()), strict=True)) if asked else {}
    return Past.of(agent, state, body, scorer, at, read)


def _signals(agent: Agent, response: AgentResponse, hesitation: Any) -> list[Signal]:
    matched = hesitation["matched_pattern_ids"][:1]
    rows = ErrorPattern.objects.filter(team=agent.team_id, public_id__in=matched)
    pattern = rows.values_list("pk", flat=True).first() if matched else None
    return [
        Signal(
            response=response,
            type=signal["type"],
            weight=signal["weight"],
            pattern_id=pattern if signal["type"] == "error-pattern" else None,
        )
        for signal in hesitation["signals"]
    ]
