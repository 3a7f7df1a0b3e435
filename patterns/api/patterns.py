"""What agents call about what lasts: their team's active patterns, and the problems they work on."""

from __future__ import annotations

from typing import Annotated, Literal

from django.conf import settings
from django.http import Http404, HttpResponse
from django.urls import register_converter, reverse
from django.urls.converters import PathConverter
from django.utils.cache import get_conditional_response
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.heuristics.wire.assessment import StuckPart
from metacog.http.api import AgentRequest, as_json, cursor, page_of, read_shape, takes
from metacog.http.problems import Problem as Refusal
from metacog.http.problems import at
from metacog.models import Agent
from patterns import stuck_state
from patterns.models import Problem
from patterns.patterns import exchange
from patterns.patterns.scorer import scorer_for

router = Router()


class KeyConverter(PathConverter):
    """Any key, with slashes or empty, as that of what is posted without a `problem` is."""

    regex = ".*"


register_converter(KeyConverter, "problem")


class Pattern(BaseModel):
    """An error pattern, in the seed's shape (`hesitation-patterns.json`)."""

    id: str
    keywords: list[str]
    description: str
    source: Literal["alex-correction", "self-review", "external"]
    createdAt: str
    triggerCount: int


class PatternPage(BaseModel):
    items: list[Pattern]
    next: str | None


@router.get("/patterns", response=PatternPage, summary="Read the active patterns")
def list_patterns(request: AgentRequest) -> HttpResponse:
    """Return your team's active patterns, all of them, in the order in which they count.

    Send the `ETag` back in `If-None-Match` to be answered 304 while none has changed. Counting is no change: with
    each response that one fires on its `triggerCount` goes up, and the `ETag` stays.
    """
    team = request.auth.team
    headers = {"ETag": f'W/"{team.pk}.{team.patterns_version}"', "Cache-Control": "private, no-cache"}
    known = get_conditional_response(request, etag=headers["ETag"], response=HttpResponse(headers=headers))
    if known and known.status_code == 304:
        return known
    return as_json({"items": exchange.give(team), "next": None}, headers=headers)


# -- problems (seed 002) ---------------------------------------------------------------------------

PAGE = 100


class AnswerGiven(BaseModel):
    """One time that thinking twice was suggested, or asked for, and what came of it."""

    points: int
    suggested_at: str | None
    answer: Literal["yes", "no"] | None
    by: Literal["person", "agent", "user"] | None = Field(description="`agent`: a person, as it reported.")
    answered_at: str | None
    outcome: Literal["helped", "did-not-help"] | None


class ProblemState(StuckPart):
    """What an agent works on, as far as it looks stuck."""

    session: str
    touched_at: str
    resolved_at: str | None
    answers: Annotated[list[AnswerGiven], Field(description="The latest first.")]
    brief: Annotated[
        str,
        Field(
            description="Markdown for a fresh sub-agent: the problem, what was tried, and what is known, "
            "at most five of the team's memories that concern it among that."
        ),
    ]


class ProblemPage(BaseModel):
    items: list[ProblemState]
    next: str | None


class ResolveBody(BaseModel):
    """Nothing, or the problem's session."""

    model_config = ConfigDict(strict=True, extra="forbid")

    session: str | None = Field(None, max_length=255, description="Where `?session=` is not given.")


class ThinkTwiceBody(ResolveBody):
    """A person's answer, or what came of it: one of the two."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": [name], "properties": {name: {"type": "string"}}} for name in ("answer", "outcome")
            ]
        }
    )

    answer: Literal["yes", "no"] | None = None
    outcome: Literal["helped", "did-not-help"] | None = None


Session = Annotated[str | None, Query(max_length=255, description="Without it: the one worked on last.")]


@router.get("/problems", response=ProblemPage, summary="List problems")
def list_problems(request: AgentRequest, after: str = "") -> HttpResponse:
    """List what you work on and has shown a sign of being stuck, the newest first."""
    own = Problem.objects.filter(agent=request.auth)
    rows = own.filter(points__gt=0).order_by("-id")
    if last := cursor(own, after):
        rows = rows.filter(pk__lt=last.pk)
    page, following = page_of(rows.select_related("agent__team").prefetch_related("think_twice"), PAGE)
    return as_json({"items": stuck_state.shapes(page), "next": following})


@router.post(
    "/problems/{problem:key}/resolve",
    response=ProblemState,
    openapi_extra=takes(ResolveBody, {}),
    summary="Resolve a problem",
)
def resolve_problem(request: AgentRequest, key: str, session: Session = None) -> HttpResponse:
    """Reset the counters, as a response with the outcome `resolved` does."""
    if request.body.strip():
        body = read_shape(request, ResolveBody)
        session = body.session if session is None else session
    row = stuck_state.resolve(_problem(request.auth, key, session), request.auth)
    return as_json(stuck_state.shape(row))


@router.post(
    "/problems/{problem:key}/think-twice",
    response=ProblemState,
    openapi_extra=takes(ThinkTwiceBody, {"answer": "yes"}, {"outcome": "helped"}),
    summary="Answer whether to think twice",
)
def think_twice(request: AgentRequest, key: str, session: Session = None) -> HttpResponse:
    """Bring what a person said to the suggestion: `answer`; later what came of it: `outcome`.

    After a yes `invoke` is true in the answer, beside the brief, in your context, and once in the verdict on your next
    response, unless you have said by then what came of it. A person may also answer in the console. A yes is recorded
    as relayed by you, and refused with 403 where the policy takes it from people only; a no is always taken.
    """
    body = read_shape(request, ThinkTwiceBody)
    if (body.answer is None) == (body.outcome is None):
        raise at("/answer", "Send one of `answer` and `outcome`.")
    found = _problem(request.auth, key, body.session if session is None else session)
    if body.answer == "yes" and not scorer_for(request.auth).policy.accept_relayed_yes:
        page = settings.PUBLIC_URL + reverse("problem", args=[found.public_id])
        raise Refusal(
            403,
            "This agent's policy takes no yes that the agent relays: a reviewer of its team can say yes in the console "
            f'({page}), and the user by writing "think twice".',
        )
    if body.answer is not None:
        row = stuck_state.answer(found, body.answer, request.auth)
        return as_json(stuck_state.shape(row))
    assert body.outcome is not None
    try:
        row = stuck_state.set_outcome(found, body.outcome, request.auth)
    except stuck_state.NothingToSay:
        raise Refusal(409, "Nobody has said yes to thinking twice about this problem, so nothing came of it.") from None
    return as_json(stuck_state.shape(row))


# Below the two above: a key may hold slashes, so this address matches theirs too.
@router.get("/problems/{problem:key}", response=ProblemState, summary="Read a problem")
def read_problem(request: AgentRequest, key: str, session: Session = None) -> HttpResponse:
    """Return the counters, the evidence and the brief of one of your problems."""
    return as_json(stuck_state.shape(_problem(request.auth, key, session)))


def _problem(agent: Agent, key: str, session: str | None) -> Problem:
    rows = Problem.objects.filter(agent=agent, key=key).select_related("agent__team").prefetch_related("think_twice")
    if session is not None:
        rows = rows.filter(session=session)
    found = rows.order_by("-touched_at", "-id").first()
    if found is None:
        raise Http404(f"You have no problem {key!r}" + (f" in session {session!r}." if session is not None else "."))
    return found
