"""What agents call about their team's shared memory (seed 003, 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.heuristics import Item
from metacog.heuristics.memory import recall
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.wire.wire import Share, Time, instant
from metacog.http.api import AgentRequest, as_json, read_shape, takes
from metacog.http.problems import Problem, at
from patterns.memory import memory
from patterns.models import Memory
from reviews.intake.knowledge import remember
from reviews.intake.recognition import recognised
from reviews.serializers import matched

router = Router()
PAGE = 100
MAX_QUERY = 1_000


class Clash(BaseModel):
    """Another memory that cannot hold beside this one, as it seems; a person decides which of them stands."""

    id: str
    type: Literal["negation", "antonym", "number", "value", "retraction"]
    confidence: float = Field(description="0 to 1: how alike the rest of the two sentences is.")
    text: str | None = Field(description="Null unless it is confirmed.")


class Reason(BaseModel):
    """One reason why a memory waits for a curator."""

    type: Literal["score", "error-pattern", "contradiction", "many"]
    detail: str


class Remembered(BaseModel):
    """A memory of the team."""

    id: str
    text: str
    topic: str
    source: str
    confidence: float | None = Field(description="0 to 1, as its author says.")
    state: Literal["pending", "confirmed", "retired"] = Field(
        description="`confirmed` answers every agent of the team; `pending` answers nobody until a person confirms it."
    )
    why: list[Reason] = Field(description="Why it waits; empty unless it does.")
    by: Literal["agent", "person"]
    confirmed_by: Literal["person", "rule"] | None
    hesitation: int | None = Field(description="The score when it was posted, 0 to 100.")
    response: str | None = Field(description="The response in which it was a REMEMBER.")
    occurred_at: str = Field(description="When it was said: of two that contradict each other the older said it first.")
    created_at: str
    contradicts: list[Clash]


class Found(Remembered):
    """A memory that was found."""

    score: float = Field(description="Orders the answers to one query; says nothing beyond it.")
    share: float = Field(description="0 to 1: how much of the weight of what was asked is in it.")
    matched: list[str] = Field(description="What of the query it holds, as it is written there.")


class MemoryPage(BaseModel):
    items: list[Found | Remembered]
    next: str | None


class MemoryBody(BaseModel):
    """Something to remember."""

    model_config = ConfigDict(strict=True, extra="forbid")

    text: str = Field(min_length=1, max_length=Memory.MAX_TEXT)
    topic: str = Field("", max_length=Memory.MAX_TOPIC)
    source: str = Field("", max_length=Memory.MAX_SOURCE, description="Where you have it from.")
    confidence: Share | None = Field(None, description="How sure you are of it.")
    occurred_at: Time | None = Field(None, description="When it was said; without it, and ahead of the clock, now.")

    def statement(self) -> memory.Said:
        at: datetime | None = instant(self.occurred_at) if self.occurred_at else None
        fields: dict[str, Any] = self.model_dump(exclude={"occurred_at"})
        return memory.Said(**fields, occurred_at=at)


@router.post(
    "/memory",
    response={201: Remembered, 200: Remembered},
    openapi_extra=takes(
        MemoryBody,
        {
            "text": "台積電 2025 年 Q3 營收為 9899 億元。",
            "topic": "台積電 財報",
            "source": "https://investor.tsmc.com",
            "confidence": 0.9,
        },
    ),
    summary="Remember something",
)
def post_memory(request: AgentRequest) -> HttpResponse:
    """Give your team something to remember. The same text again is the same memory, answered with 200.

    It is scored as a `remember` of yours. What would be marked or held, what an error pattern matches and what
    contradicts the memory is `pending`, and `why` says so: it answers nobody until a person has confirmed it.
    `contradicts` names the memories that it seems to clash with.
    """
    body = read_shape(request, MemoryBody)
    if is_blank(body.text):
        raise at("/text", "Say what is to be remembered.")
    agent = request.auth
    is_approved = bool(recognised(agent, [Item("remember", body.text, {})]))
    try:
        with transaction.atomic(durable=True):
            row, is_new = remember(agent, body.statement(), memory.judge(agent, body.text), is_approved=is_approved)
    except memory.Full:
        raise Problem(
            409, f"Your team remembers {memory.MAX_MEMORIES:,} things, the most it can. A curator can retire some."
        ) from None
    return as_json(memory.shape(row, memory.clashes([row])[row.pk]), status=201 if is_new else 200)


@router.get("/memory", response=MemoryPage, summary="Search the shared memory")
def search_memory(
    request: AgentRequest,
    q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    after: str = "",
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 20,
) -> HttpResponse:
    """Search what your team has confirmed, the best first; without `q` list it, the newest first.

    Words count by their stems, Chinese by pairs of characters, traditional and simplified alike.
    """
    standing = Memory.objects.filter(team_id=request.auth.team_id, state=Memory.State.CONFIRMED)
    terms = recall.asked(q)
    cursor = standing.filter(public_id=after).first() if after else None
    if after and cursor is None:
        raise at("/query/after", "This is no cursor of ours, or was retired meanwhile: begin again.")
    if not q:
        rows = list((standing.filter(pk__lt=cursor.pk) if cursor else standing).order_by("-id")[: limit + 1])
        clashes = memory.clashes(rows)
        shapes: Sequence[memory.MemoryShape] = [memory.shape(row, clashes[row.pk]) for row in rows]
    else:
        found = memory.search([request.auth.team_id], terms)
        if cursor:
            begins = next((place for place, each in enumerate(found, 1) if each.number == cursor.pk), len(found))
            found = found[begins:]
        by_key = standing.in_bulk([each.number for each in found[: limit + 1]])
        clashes = memory.clashes(by_key.values())
        shapes = [
            memory.FoundMemory(
                **memory.shape(row, clashes[row.pk]),
                score=each.score,
                share=each.share,
                matched=matched(row.text, each.matched),
            )
            for each in found[: limit + 1]
            if (row := by_key.get(each.number))
        ]
    following = shapes[limit - 1]["id"] if len(shapes) > limit else None
    return as_json({"items": shapes[:limit], "next": following})


@router.get("/memory/{memory_id}", response=Remembered, summary="Read a memory")
def read_memory(request: AgentRequest, memory_id: str) -> HttpResponse:
    """Return one of your team's confirmed memories, or one of your own in any state."""
    agent = request.auth
    seen = Q(state=Memory.State.CONFIRMED) | Q(agent=agent)
    row = Memory.objects.filter(seen, team_id=agent.team_id, public_id=memory_id).first()
    if row is None:
        raise Http404(f"Your team has no memory {memory_id!r} that you can read.")
    return as_json(memory.shape(row, memory.clashes([row])[row.pk]))
