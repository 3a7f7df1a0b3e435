"""What agents call to ask for more tool calls, and to learn what became of it (seed 003)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from django.http import Http404, HttpResponse
from django.utils import translation
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.wire.wire import Name, Whole
from metacog.http.api import AgentRequest, as_json, cursor, page_of, read_shape, takes
from metacog.http.problems import Problem, at
from metacog.models import Agent
from reviews.intake.post import checked_key
from reviews.investigation import extensions, texts
from reviews.models import ExtensionRequest

router = Router()
PAGE = 100
MAX_EVIDENCE = 100
MAX_EVIDENCE_CHARACTERS = 50_000  # as JSON: what a chairman can read
Step = Annotated[Whole, Field(ge=0, lt=2**31)]


class Budget(BaseModel):
    """The tool calls of an investigation."""

    allowed: int
    used: int
    left: int


class Objection(BaseModel):
    """Why the rules do not pass a request."""

    type: Literal[
        "too-many", "too-short", "filler", "not-concrete", "same-reason", "near-duplicate", "refused-before",
        "no-extension",
    ]  # fmt: skip
    detail: str


class Rule(BaseModel):
    """What the rules say; what they do not pass goes to the chairman."""

    approved: bool
    objections: list[Objection]
    entities: list[str]
    needs: list[str]


class Asked(BaseModel):
    """A request as it was made."""

    session: str
    problem: str
    number: int = Field(description="Of this investigation, from 1.")
    step: int | None
    reason: str
    evidence: list[Any]


class Extension(BaseModel):
    """A request for more tool calls, and what became of it."""

    id: str
    state: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    by: Literal["memory", "rule", "person", "model", "system", "agent"] | None
    granted: int = Field(description="Tool calls.")
    reason: str = Field(description="Why, as the chairman says.")
    guidance: str
    message: str = Field(description="For your prompt, in your language.")
    found: list[texts.FoundMemory] = Field(description="The first gate: what your team remembers, the best first.")
    rule: Rule | None = Field(description="The second gate; null where memory answered.")
    request: Asked
    budget: Budget
    created_at: str
    due_at: str
    expires_at: str = Field(description="Until when it waits for the chairman.")
    decided_at: str | None


class ExtensionPage(BaseModel):
    items: list[Extension]
    next: str | None
    budget: Budget | None = Field(description="Of the investigation that was asked for.")
    message: str | None = Field(description="For your prompt, when its calls are used up.")


class ExtensionBody(BaseModel):
    """A request for more tool calls."""

    model_config = ConfigDict(strict=True, extra="forbid")

    session: Name = ""
    problem: Name = ""
    reason: str = Field(min_length=1, max_length=ExtensionRequest.MAX_REASON, description="What is missing, and why.")
    evidence: list[Any] = Field([], max_length=MAX_EVIDENCE, description="What you have found so far.")
    step: Step | None = Field(None, description="Tool calls you have made.")


class WithdrawBody(BaseModel):
    """Nothing more to say."""

    model_config = ConfigDict(strict=True, extra="forbid")


@router.post(
    "/extensions",
    response={201: Extension, 200: Extension},
    openapi_extra=takes(
        ExtensionBody,
        {
            "session": "s1",
            "problem": "tsmc-margin",
            "reason": "目前缺乏台積電 Q3 財報數據，此為核心論據",
            "evidence": ["Q2 營收 9337.9 億元"],
            "step": 5,
        },
    ),
    summary="Ask for more tool calls",
)
def post_extension(request: AgentRequest) -> HttpResponse:
    """Ask for more when your calls are used up, with what is missing as the reason.

    The shared memory may hold the answer: then the request is refused with it. Else the rules pass the first two
    requests of an investigation that are concrete and not the same again. The others wait for the chairman; meanwhile
    you may conclude. The same (session, problem, step, reason), or the same `Idempotency-Key` with the same bytes,
    is the same request, answered with 200.
    """
    body = read_shape(request, ExtensionBody)
    if is_blank(body.reason):
        raise at("/reason", "Say what is missing.")
    if len(json.dumps(body.evidence, ensure_ascii=False)) > MAX_EVIDENCE_CHARACTERS:
        raise at("/evidence", f"Sum it up: at most {MAX_EVIDENCE_CHARACTERS:,} characters as JSON.")
    asked = extensions.Asked(**body.model_dump())
    key = checked_key(request.headers, "Idempotency-Key")
    try:
        row, is_new = extensions.ask(request.auth, asked, request.body, key)
    except extensions.Waiting as waiting:
        told = texts.shape(waiting.request)
        raise Problem(
            409, "An earlier request of this investigation still waits for the chairman.", extension=told
        ) from None
    return as_json(texts.shape(row), status=201 if is_new else 200)


@router.get("/extensions", response=ExtensionPage, summary="List requests, and read the budget")
def list_extensions(
    request: AgentRequest,
    session: Annotated[str | None, Query(max_length=255)] = None,
    problem: Annotated[str | None, Query(max_length=255)] = None,
    step: Annotated[int | None, Query(ge=0, lt=2**31, description="Tool calls you have made.")] = None,
    after: str = "",
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
) -> HttpResponse:
    """List your requests, the newest first; with any of `session`, `problem` and `step` those of one investigation.

    Then `budget` says how many calls it has left, and `message` that you should conclude or ask for more.
    """
    agent = request.auth
    extensions.settle(agent)
    own = ExtensionRequest.objects.filter(agent=agent)
    rows = own.order_by("-id")
    budget = message = None
    if (session, problem, step) != (None, None, None):
        rows = rows.filter(session=session or "", problem=problem or "")
        budget = extensions.budget(agent, session or "", problem or "", step)
        if not budget["left"]:
            latest = rows.first()
            with translation.override(agent.language):
                message = texts.calls_used_up(latest)
    if last := cursor(own, after):
        rows = rows.filter(pk__lt=last.pk)
    page, following = page_of(rows, limit)
    items = texts.shapes(agent, page)
    return as_json({"items": items, "next": following, "budget": budget, "message": message})


@router.get("/extensions/{extension_id}", response=Extension, summary="Read a request for more tool calls")
def read_extension(request: AgentRequest, extension_id: str) -> HttpResponse:
    """Return one of your requests: the gates, the decision, and what to put into your prompt."""
    extensions.settle(request.auth)
    return as_json(texts.shape(_own(request.auth, extension_id)))


@router.post(
    "/extensions/{extension_id}/withdraw",
    response=Extension,
    openapi_extra=takes(WithdrawBody, {}),
    summary="Withdraw a request for more tool calls",
)
def withdraw_extension(request: AgentRequest, extension_id: str) -> HttpResponse:
    """Take back a request that waits: you concluded, or have something better to ask for.

    It stays in the list as `withdrawn` and no longer stands in the way of another of its investigation. Once it was
    answered, or has expired, this is answered 409 with the request as it stands. The same again changes nothing.
    """
    if request.body.strip():
        read_shape(request, WithdrawBody)
    extensions.settle(request.auth)
    try:
        row = extensions.withdraw(_own(request.auth, extension_id))
    except extensions.Standing as standing:
        told = texts.shape(standing.request)
        detail = f"Nothing waits here any more: the request is {told['state']}, by {told['by']}."
        raise Problem(409, detail, extension=told) from None
    return as_json(texts.shape(row))


def _own(agent: Agent, public_id: str) -> ExtensionRequest:
    row = ExtensionRequest.objects.select_related("agent__team").filter(agent=agent, public_id=public_id).first()
    if row is None:
        raise Http404(f"You have no request {public_id!r}.")
    return row
