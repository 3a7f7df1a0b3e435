"""What an agent reads of its budget and of its requests for more tool calls (seed 003, 2.1 and 2.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from django.db.models import Sum
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

from metacog.models import Agent
from patterns.models import Memory
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import instant
from reviews.models import ExtensionRequest
from reviews.serializers import matched

State, By = ExtensionRequest.State, ExtensionRequest.By


class Budget(TypedDict):
    """Tool calls of an investigation."""

    allowed: int
    used: int
    left: int


class FoundMemory(TypedDict):
    """What the team remembers about the reason of a request."""

    id: str
    text: str
    topic: str
    source: str
    confidence: float | None
    score: float
    share: float
    matched: list[str]
    answers: Annotated[bool, Field(description="Whether that is answer enough; then the request is refused.")]


class AskedShape(TypedDict):
    session: str
    problem: str
    number: int
    step: int | None
    reason: str
    evidence: Any


class ExtensionShape(TypedDict):
    id: str
    state: str
    by: str | None
    granted: int | None
    reason: str
    guidance: str
    message: str
    found: list[FoundMemory]
    rule: Any  # what the rule weighed, as it is stored
    request: AskedShape
    budget: Budget
    created_at: str
    due_at: str
    expires_at: str
    decided_at: str | None


def shape(request: ExtensionRequest) -> ExtensionShape:
    """Return a request as its agent reads it; `request` comes with its agent and team."""
    return shapes(request.agent, [request])[0]


def shapes(agent: Agent, requests: Sequence[ExtensionRequest]) -> list[ExtensionShape]:
    """Return requests of one agent as it reads them. Two queries, whatever their number."""
    memories = _memories(agent, requests)
    granted = {
        (session, problem): steps
        for session, problem, steps in ExtensionRequest.objects.filter(agent=agent, state=State.APPROVED)
        .filter(session__in={row.session for row in requests}, problem__in={row.problem for row in requests})
        .order_by()
        .values_list("session", "problem")
        .annotate(Sum("granted"))
    }
    calls = scorer_shown(agent).policy.budget_calls
    with translation.override(agent.language):
        return [
            _shape(row, _found(row, memories), calls + granted.get((row.session, row.problem), 0)) for row in requests
        ]


def budget(allowed: int, used: int) -> Budget:
    return {"allowed": allowed, "used": used, "left": max(0, allowed - used)}


def calls_used_up(latest: ExtensionRequest | None) -> str:
    """Return what an agent is told when its calls are used up, in the active language (2.1).

    `latest` is its latest request: while it waits, and once the chairman has refused it, nothing is left to choose.
    """
    if latest and (latest.state == State.PENDING or (latest.state == State.REJECTED and latest.by != By.MEMORY)):
        return message(latest, ())
    return _("Max steps reached. 1. Conclude. 2. Extend.")


def _memories(agent: Agent, requests: Iterable[ExtensionRequest]) -> dict[str, Memory]:
    """Return what was found for requests, by id, as far as it is confirmed now."""
    ids = {each["id"] for row in requests for each in row.found}
    standing = Memory.objects.filter(team_id=agent.team_id, public_id__in=ids, state=Memory.State.CONFIRMED)
    return {row.public_id: row for row in standing}


def _found(row: ExtensionRequest, memories: dict[str, Memory]) -> list[FoundMemory]:
    found: list[FoundMemory] = []
    for each in row.found:
        if memory := memories.get(each["id"]):
            found.append(
                {
                    "id": memory.public_id,
                    "text": memory.text,
                    "topic": memory.topic,
                    "source": memory.source,
                    "confidence": memory.confidence,
                    "score": each["score"],
                    "share": each["share"],
                    "matched": matched(memory.text, each["terms"]),
                    "answers": each["answers"],
                }
            )
    return found


def _shape(row: ExtensionRequest, found: list[FoundMemory], allowed: int) -> ExtensionShape:
    return {
        "id": row.public_id,
        "state": row.state,
        "by": row.by or None,
        "granted": row.granted,
        "reason": row.answer,
        "guidance": row.guidance,
        "message": message(row, found),
        "found": found,
        "rule": row.judgement,
        "request": {
            "session": row.session,
            "problem": row.problem,
            "number": row.number,
            "step": row.step,
            "reason": row.reason,
            "evidence": row.evidence,
        },
        "budget": budget(allowed, row.step or 0),
        "created_at": instant(row.created_at),
        "due_at": instant(row.due_at),
        "expires_at": instant(row.expires_at),
        "decided_at": instant(row.decided_at) if row.decided_at else None,
    }


def message(row: ExtensionRequest, found: Sequence[FoundMemory]) -> str:
    """Return what to put into the agent's prompt, in the active language.

    What others wrote stands behind `| `, line by line, so that nothing in it can pass for ours.
    """
    if row.state == State.PENDING:
        return _(
            "Your request for more tool calls waits for the chairman, until {time}. You may conclude at any time."
        ).format(time=instant(row.expires_at))
    if row.state == State.EXPIRED:
        return _(
            "Nobody answered your request for more tool calls in time. Your reason was not assessed. Conclude "
            "with what you have, and say what is missing."
        )
    if row.state == State.WITHDRAWN:
        return _("You withdrew your request for more tool calls. Conclude with what you have, or ask again.")
    if row.state == State.APPROVED:
        granted = ngettext(
            "The extension is granted: %(count)d more tool call.",
            "The extension is granted: %(count)d more tool calls.",
            row.granted,
        ) % {"count": row.granted}
        return _joined(granted, _said(row.answer), _("Guidance:") if row.guidance else "", _said(row.guidance))
    if row.by == By.MEMORY:
        refused = _(
            "The extension is refused, because the shared memory holds what you ask about. Go on with what it says."
        )
        return _joined(refused, *(_said(each["text"]) for each in found if each["answers"]))
    forced = _(
        "The extension is refused. FORCE A CONCLUSION: make no more tool calls, conclude with what you have, and say "
        "what is missing."
    )
    return _joined(forced, _said(row.answer), _("Guidance:") if row.guidance else "", _said(row.guidance))


def _said(text: str) -> str:
    return "\n".join(f"| {line}" for line in text.splitlines())


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
