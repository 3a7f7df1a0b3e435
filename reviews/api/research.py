"""What agents call once a verdict stands (seed 003, section 5)."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import Http404, HttpResponse
from ninja import Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.heuristics.text.shadow import is_blank
from metacog.http.api import AgentRequest, as_json, read_shape, takes
from metacog.http.problems import Problem, at
from reviews.investigation import research
from reviews.models import Research

router = Router()


class FindingPart(BaseModel):
    """One thing that was found, as the search told it; nothing of it was fetched."""

    question: int = Field(description="The number of the question, from 0.")
    title: str
    address: str
    snippet: str


class Researched(BaseModel):
    """What to look up after a verdict, and what was found."""

    id: str
    state: Literal["waiting", "finished", "failed"]
    topic: str
    language: Literal["en", "zh-Hant", "zh-Hans"] = Field(description="Of the assessment.")
    questions: list[str] = Field(description="Three: what to do, what to find, what to check.")
    searched: bool = Field(description="Finished without it: no search is configured, the questions stand alone.")
    findings: list[FindingPart]
    advice: str | None = Field(description="Markdown, once finished; lines that begin with “>” are quoted.")
    reason: Literal["reach", "refused", "answer", "interrupted"] | None = Field(
        description="What kept the last attempt; of a failed one, for good."
    )
    created_at: str
    ended_at: str | None


class ResearchBody(BaseModel):
    """A verdict to act upon."""

    model_config = ConfigDict(strict=True, extra="forbid")

    verdict: Annotated[str, Field(min_length=1, max_length=Research.MAX_VERDICT)]
    topic: Annotated[str, Field(max_length=Research.MAX_TOPIC)] = ""


@router.post(
    "/research",
    response={201: Researched, 200: Researched},
    openapi_extra=takes(
        ResearchBody,
        {"verdict": "The fund should be held for ten years; TSMC makes up 48 % of it.", "topic": "0050 ETF"},
    ),
    summary="Research after an assessment",
)
def begin_research(request: AgentRequest) -> HttpResponse:
    """Ask three action-oriented questions about a verdict, and have them searched for.

    The answer has the questions at once. What was found, and the advice, come within seconds: `GET /research/{id}`, or
    the callback `research.finished`. While it waits, the same verdict and topic are the same research, answered with
    200. 429 when 20 of yours are waiting.
    """
    body = read_shape(request, ResearchBody)
    if is_blank(body.verdict):
        raise at("/verdict", "Research begins with an assessment.")
    try:
        row, is_new = research.begin(request.auth, body.verdict, " ".join(body.topic.split()))
    except research.TooMany:
        raise Problem(
            429,
            f"{research.MOST_WAITING} of yours are waiting, which is the most. Nothing was written; try again later.",
            headers={"Retry-After": "60"},
        ) from None
    return as_json(research.shape(row), status=201 if is_new else 200)


@router.get("/research/{research_id}", response=Researched, summary="Read research")
def read_research(request: AgentRequest, research_id: str) -> HttpResponse:
    """Return one of yours, as far as it is."""
    row = Research.objects.filter(agent=request.auth, public_id=research_id).first()
    if row is None:
        raise Http404(f"You have no research {research_id!r}.")
    return as_json(research.shape(row))
