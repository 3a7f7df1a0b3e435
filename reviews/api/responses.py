"""What agents call: post a response, read what is held, decide it, follow the feed, read the context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

from metacog.accounts.keys import agent_with_key, is_signed
from metacog.db.prepared import Select
from metacog.db.rows import first_rows
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.wire import wire
from metacog.heuristics.wire.assessment import ConfidencePart, EffectPart
from metacog.http.api import (
    METADATA,
    UNKNOWN,
    UNSIGNED,
    AgentRequest,
    as_json,
    check_parameters,
    cursor,
    metadata_asked,
    read_json,
    read_shape,
    signed_agent,
    takes,
)
from metacog.http.problems import Problem, at
from metacog.http.waiting import Wait, wait_for
from metacog.models import Agent
from patterns.patterns.scorer import scorer_for
from reviews.held import approvers, decisions, outcomes
from reviews.held.filters import with_metadata
from reviews.held.waiting import ready
from reviews.intake.approvals import hear
from reviews.intake.ingest import receive
from reviews.investigation import extensions, next_cycle
from reviews.models import Decision, HeldCall, HeldItem
from reviews.scoring import history
from reviews.serializers import decision_shape, held_shape, outcome_shape

router = Router()
PAGE = 100
MOST_WAIT = 60  # seconds
MAX_RESULT = 16_384  # bytes of an outcome's result


class Outcome(BaseModel):
    """What became of an approved tool call, as its agent reported it."""

    status: Literal["done", "failed", "skipped"]
    detail: str
    result: JsonValue
    reported_at: str


class Decided(BaseModel):
    """A decision."""

    id: str
    seq: int = Field(description="The agent's own count, without gaps.")
    held: str
    verdict: Literal["approve", "edit", "answer", "reject", "withdraw", "expire"]
    text: str | None = Field(description="What may be used now; null unless something was released.")
    reason: str
    by: Literal["person", "agent", "system"]
    decided_at: str
    arguments: JsonValue = Field(description="Of a tool call: what it was released with, in place of `text`.")
    answer: JsonValue = Field(description="What a person answered to a question.")
    permission: Literal["given", "post", "used"] | None = Field(
        description="Of a released tool call. `given`: make it now; told once of a call without `call_id`, of one with "
        "it until its outcome is reported. `post`: it was asked for under several ids; post it again, and the first "
        "one passes. `used`: do not make it for this approval again."
    )
    used_at: str | None = Field(description="When the approval was used up; not by this answer.")
    outcome: Outcome | None = Field(description="Of a tool call: what its agent reported, once.")
    metadata: dict[str, JsonValue] = Field(description="The response's and the item's own.")
    decided_by: str | None = Field(None, description="The person's user name, where the team lets agents know it.")
    policy_version: int | None = Field(None, description="Of the changed policy that decided what waited.")
    team_rules_version: int | None = Field(None, description="Of the team's changed rules that did.")


class Approvals(BaseModel):
    """How many people have approved an item that named people must approve, and how many must."""

    given: int
    needed: int
    role: Literal["reviewer", "curator", "owner"] | None = Field(description="That they must have, or one above it.")
    group: str | None = Field(description="Of members, in which they must be.")
    by: list[str] | None = Field(
        description="The user names of who approved; null where the team does not let agents know them."
    )


class Held(BaseModel):
    """A held item."""

    id: str
    response: str
    index: int
    kind: str
    text: str = Field(description="The item's whole text; of a tool call its name and canonical arguments.")
    sha256: str = Field(description="Of the text as UTF-8.")
    version: int
    state: Literal["pending", "approved", "edited", "answered", "rejected", "withdrawn", "expired"]
    held_at: str
    review_due_at: str
    expires_at: str
    hesitation: dict[str, Any] | None = Field(description="Null: nothing was scored.")
    metadata: dict[str, JsonValue] = Field(description="The response's and the item's own.")
    decision: Decided | None = Field(description="Null until it is released.")
    approvals: Approvals | None = Field(description="Null: any one reviewer may approve it.")
    waits_for: list[str] = Field(
        description="Held tool calls of the same response. The item goes out once all are approved, and is rejected by "
        "the system where one is not."
    )
    choices: list[str] | None = Field(None, description="Of a question: the answers to choose from.")
    json_schema: dict[str, JsonValue] | None = Field(
        None, alias="schema", description="Of a question: what its answer must meet. Of a tool call: what edits must."
    )
    call_id: str | None = Field(None, description="This and what follows: of tool calls only, but for `asks`.")
    name: str = ""
    arguments: JsonValue = None
    description: str = ""
    rule: dict[str, JsonValue] | None = Field(None, description="That asked; null: the policy's default or the agent.")
    schema_omitted: bool = Field(
        False,
        description="Its schema has more than 64 KiB, so it was left out: arguments and edits are not checked by it.",
    )
    annotations: dict[str, JsonValue] | None = Field(None, description="The tool's MCP annotations, as they were sent.")
    effects: list[EffectPart] = Field([], description="What it would do, in order of place.")
    readable: bool = Field(False, description="Whether all of it could be read: no effect is `unknown`.")
    asks: int = Field(1, description="How often the same call or question was posted while it waits.")
    outcome: Outcome | None = Field(None, description="What became of it, as its agent reported.")


class HeldPage(BaseModel):
    items: list[Held]
    next: str | None = Field(description="Put it into `after` for the next page; null on the last.")


class DecidedPage(BaseModel):
    items: list[Decided]
    next: str | None


class Told(BaseModel):
    """A decision as the next cycle hears of it."""

    id: str
    seq: int
    held: str
    kind: str
    verdict: Literal["approve", "edit", "answer", "reject", "withdraw", "expire"]
    reason: str
    text: str | None = Field(
        description="Of an edit: what was released in place of yours. Of an answer: its JSON, as text."
    )
    excerpt: str = Field(description="How the item's own text began. Released only where the verdict is `approve`.")
    by: Literal["person", "agent", "system"]
    decided_at: str
    permission: Literal["given", "post", "used"] | None = Field(description="As in a decision.")


class LeftOut(BaseModel):
    """Older decisions that a context had no room for."""

    count: int
    after: int = Field(description="`GET /decisions?after=` this has all of them.")


class Reason(BaseModel):
    """A signal of the latest response, and the words it found."""

    type: str
    detail: str
    matched: list[str]


class Context(BaseModel):
    """What the next cycle should read. Null: there is nothing to say."""

    intent: dict[str, str]
    threads: dict[str, Any] | None
    thread_suggestion: dict[str, Any] | None
    articles: list[dict[str, Any]] | None
    decided: list[Told] = Field(
        description="Decisions released since you last heard, oldest first; told until the response you post next."
    )
    decided_more: LeftOut | None
    held: list[Held] = Field(
        description="The one due for review first. Words are whole. Of a tool call `text` has the first "
        f"{next_cycle.CALL_SHOWN:,} characters of its arguments; `arguments` is null where that is not all, `schema` "
        "always. `GET /held/{id}` has it whole."
    )
    held_more: list[str] = Field(description="Held items there was no room for.")
    suggestion: str | None
    signals: list[Reason] | None = Field(description="What the suggestion is about.")
    confidence: ConfidencePart | None
    lessons: dict[str, Any] | None
    memory: dict[str, Any] | None = Field(description="What your team remembers of your topics, oldest first.")
    think_twice: list[dict[str, Any]] | None
    extensions: list[dict[str, Any]] | None = Field(description="Answers not told yet, then pending requests.")
    extensions_more: bool
    instructions: str | None


class PolicyFacts(BaseModel):
    """What an agent's own programs go by in its policy."""

    version: int
    elicitation: Literal["agent", "people"] = Field(
        description="Who answers what an MCP server behind the proxy asks: the agent's program, or people in metacog."
    )


SAID: dict[str, JsonValue] = {"pattern": r"\S"}  # of a reason that is needed


Version = Annotated[wire.Whole, Field(ge=0, lt=2**31)]


class SecondLook(BaseModel):
    """An agent's decision about its own held item."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "oneOf": [
                {
                    "required": ["reason"],
                    "properties": {"verdict": {"const": "approve"}, "text": {"type": "null"}, "reason": SAID},
                },
                {
                    "required": ["text", "reason"],
                    "properties": {"verdict": {"const": "edit"}, "text": {"type": "string"}, "reason": SAID},
                },
                {"properties": {"verdict": {"enum": ["reject", "withdraw"]}, "text": {"type": "null"}}},
            ]
        },
    )

    verdict: Literal["approve", "edit", "answer", "reject", "withdraw"]
    text: str | None = Field(None, description="The edited text; with `edit` only.")
    arguments: JsonValue = Field(None, description="Of a tool call, which only a person approves or edits.")
    answer: JsonValue = Field(None, description="To a question, which only a person answers.")
    reason: str = Field("", max_length=10_000, description="Why; needed to approve or edit.")
    version: Version | None = Field(None, description="Of the item as you read it.")
    sha256: str | None = Field(None, description="Of the text as you read it.")


POST_BODY = takes(wire.ResponseBody, wire.EXAMPLE)
VERDICTS = {201: wire.Assessment, 200: wire.Assessment}


@router.post("/responses", response=VERDICTS, by_alias=True, openapi_extra=POST_BODY, summary="Post a response")
def post_response(request: AgentRequest) -> HttpResponse:
    """Score a response, hold what is risky, and answer with what to do with each item.

    A 201 is durable. The same idempotency key (`webhook-id`, else `Idempotency-Key`, else `id` in
    the body) with the same bytes gives the first verdict again, with 200 and `Idempotent-Replayed`.
    """
    demanded = scorer_for(request.auth).policy.require_signature
    if demanded and not is_signed(request.auth.public_id, request):
        raise UNSIGNED
    return _received(request, request.auth)


@router.post(
    "/agents/{agent_id}/responses",
    response=VERDICTS,
    by_alias=True,
    openapi_extra=POST_BODY,
    auth=None,
    summary="Post a signed response",
)
def post_signed_response(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Take the same body with a Standard Webhooks signature in place of the key.

    An agent's policy may demand both: then the key comes in `Authorization` as well.
    """
    agent = signed_agent(request, agent_id)
    if scorer_for(agent).policy.require_signature:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or agent_with_key(token) != agent:
            raise UNKNOWN
    return _received(request, agent)


def _received(request: HttpRequest, agent: Agent) -> HttpResponse:
    received = receive(agent, read_json(request), request.headers)
    if received.replayed:
        return as_json(received.verdict, headers={"Idempotent-Replayed": "true"})
    return as_json(received.verdict, status=201)


class ConfidenceAsked(BaseModel):
    """What is known before an answer is written, as in a posted response; all of it may be missing."""

    model_config = ConfigDict(strict=True, extra="forbid")

    session: wire.Name | None = None
    retrieval: wire.RetrievalBody | None = None
    topics: list[wire.Name] | None = Field(None, max_length=64)


@router.post(
    "/confidence",
    response=ConfidencePart,
    openapi_extra=takes(
        ConfidenceAsked, {"session": "s1", "retrieval": {"scores": [0.91, 0.4], "facts": 3}, "topics": ["constraints"]}
    ),
    summary="Ask how sure you may be",
)
def ask_confidence(request: AgentRequest) -> HttpResponse:
    """Estimate from what was retrieved, how familiar the topics are, and whether the session goes on.

    `prompt` is a sentence to put into your prompt before you answer. Without `topic_mentions`
    your earlier responses that named a topic and your team's memories of it are counted. Without a
    `session` it is a cold start. Nothing is written. Answered 409 while `parts.confidence` is switched
    off in your policy, as your verdicts have `null` there then.
    """
    asked = read_shape(request, ConfidenceAsked).model_dump()
    if not scorer_for(request.auth).policy.parts["confidence"]:
        raise Problem(
            409,
            "Confidence is switched off for this agent: `parts.confidence` is false in its policy. "
            "An owner of its team can switch it on there.",
        )
    return as_json(history.confidence(request.auth, **asked).as_dict())


@router.get("/held", response=HeldPage, by_alias=True, summary="List held items")
def list_held(
    request: AgentRequest,
    state: Literal["pending", "approved", "edited", "answered", "rejected", "withdrawn", "expired"] = "pending",
    after: str = "",
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
    session: str | None = None,
) -> HttpResponse:
    """List your held items in one state, the one due for review first.

    `session` and `metadata.NAME` (any name) narrow them down. Of long texts a page holds fewer than `limit`: go on
    while there is a `next`.
    """
    check_parameters(request, "state", "after", "limit", "session", METADATA)
    decisions.settle(request.auth)
    own = HeldItem.objects.filter(agent=request.auth)
    if session is not None:
        own = own.filter(response__session=session)
    own = with_metadata(own, metadata_asked(request))
    rows = own.filter(closed_at=None) if state == "pending" else own.filter(state=state).exclude(closed_at=None)
    if last := cursor(own, after):
        rows = rows.after(last)
    rows = rows.select_related("response", "call__outcome", "question", "terms").defer(
        "response__body", "response__history"
    )
    page, has_more = first_rows(rows.order_by("review_due_at", "id"), limit, "text")
    approvers.read(page)
    following = page[-1].public_id if has_more and page else None
    decided, names = _decided(page), request.auth.team.names_people
    return as_json({"items": [held_shape(held, decided.get(held.pk), names=names) for held in page], "next": following})


@router.get("/held/{held_id}", response=Held, by_alias=True, summary="Read a held item")
def read_held(
    request: AgentRequest,
    held_id: str,
    wait: Annotated[float, Query(ge=0, le=MOST_WAIT, description="Seconds to wait until it is decided.")] = 0,
) -> HttpResponse:
    """Return one of your held items, whole, with what was decided about it once that is released.

    With `wait` the answer comes as soon as that is so, else after this time with the state as it is.
    """
    decisions.settle(request.auth)
    with connection.cursor() as database:
        held = _as_shown.first(database, request.auth.pk, held_id)
        standing = _that_stands(database, held.pk) if held and held.closed_at else []
    if held is None:
        raise _missing(held_id)
    if wait and held.closed_at is None:
        wait_for(request, Wait(ready, held.pk, wait))
    decided = _heard({held.pk: held}, standing)
    return as_json(held_shape(held, decided.get(held.pk), names=request.auth.team.names_people))


# Written once: all who waited for a decision ask at the same moment.
_as_shown = Select(
    lambda agent, held: (
        HeldItem.objects.select_related("response", "call__outcome", "question", "terms")
        .defer("response__body", "response__history", "response__excerpt", "response__fingerprint")
        .filter(agent=agent, public_id=held)
    ),
    parameters=2,
)
_that_stands = Select(
    lambda held: Decision.objects.select_related("person", "changed_by").filter(held=held, undone_at=None),
    parameters=1,
)


def _decided(items: Sequence[HeldItem]) -> dict[int, Decision]:
    """Return by item what was decided about those that are closed: now the agent hears of it."""
    closed = {held.pk: held for held in items if held.closed_at}
    if not closed:
        return {}
    standing = Decision.objects.filter(held__in=closed, undone_at=None).select_related("person", "changed_by")
    return _heard(closed, standing)


def _heard(closed: Mapping[int, HeldItem], standing: Iterable[Decision]) -> dict[int, Decision]:
    """Return released decisions by item, heard from now on."""
    found = {each.held_id: each for each in standing}
    for pk, decision in found.items():
        decision.held = closed[pk]
    hear(found.values(), HeldCall.UsedBy.READ)
    return found


@router.post(
    "/held/{held_id}/decision",
    response={201: Decided, 200: Decided},
    openapi_extra=takes(
        SecondLook,
        {"verdict": "withdraw", "reason": "The slowdown began before the cache went live."},
        {"verdict": "edit", "text": "The cache may be the cause; not measured yet.", "reason": "Claimed too much."},
    ),
    summary="Decide a held item",
)
def decide_held(request: AgentRequest, held_id: str) -> HttpResponse:
    """Give your second look at your own held item.

    You may always reject or withdraw. Approving or editing needs a `reason`, a policy that releases
    this kind to you, and a later response of yours or the time of the second look. Your same verdict and
    text again gives the first decision back, with 200.
    """
    body = read_shape(request, SecondLook)
    held = _own(request.auth, held_id)
    if held.kind == HeldItem.Kind.TOOL_CALL and body.verdict in ("approve", "edit"):
        raise Problem(403, "Only a person approves or edits a tool call. You may still withdraw it.")
    if body.verdict == "answer" or (held.kind == HeldItem.Kind.QUESTION and body.verdict in ("approve", "edit")):
        if held.kind != HeldItem.Kind.QUESTION:
            raise at("/verdict", wants_answer(held))
        raise Problem(403, "Only a person answers a question. You may still withdraw it.")
    if body.arguments is not None:
        raise at("/arguments", "Arguments go with a person's edit of a tool call only.")
    if body.verdict == "edit" and body.text is None:
        raise at("/text", "An edit needs the edited text.")
    if body.verdict != "edit" and body.text is not None:
        raise at("/text", "Text goes with the verdict `edit` only.")
    if body.verdict in ("approve", "edit") and is_blank(body.reason):
        raise at("/reason", "Say why you approve or edit on second look.")
    try:
        decision, is_new = decisions.decide(
            held,
            request.auth,
            body.verdict,
            edit=body.text,
            reason=body.reason,
            circumstances=decisions.Circumstances(version=body.version, digest=body.sha256),
        )
    except decisions.Standing as standing:
        raise _conflict(held, standing.decision) from None
    except decisions.NotYet:
        raise Problem(
            409,
            "A second look comes later: post a later response first (a higher cycle), "
            f"or wait until its time, {held_shape(held)['review_due_at']}.",
            decision=None,
        ) from None
    except decisions.WaitsForCalls:
        told = "It waits for tool calls of its response: it goes out once they are approved, and may be decided then."
        raise Problem(409, told, decision=None) from None
    except decisions.WantsPerson:
        raise Problem(
            403, f"Your policy leaves {held.kind} to a person. You may still reject or withdraw it."
        ) from None
    except decisions.StillRisky as risky:
        raise at(
            "/text",
            f"The edited text would be held again: {risky.edited.reason}",
        ) from None
    names = request.auth.team.names_people
    return as_json(decision_shape(decision, names=names), status=201 if is_new else 200)


def wants_answer(held: HeldItem) -> str:
    """Say which verdicts an item takes that was given another: `answer`, or any but that to a question."""
    if held.kind == HeldItem.Kind.QUESTION:
        return "A question is answered (`answer`) or rejected; it cannot be approved or edited."
    return "Only a question is answered. Approve, edit or reject this."


def _conflict(held: HeldItem, decision: Decision | None) -> Problem:
    if decision is not None:
        decision.held = held
        hear([decision], HeldCall.UsedBy.READ)
        detail = f"Decided before: {decision.verdict}, by {decision.by}."
    else:
        held.refresh_from_db()
        detail = (
            "This is not the item as it stands now: read it again."
            if held.state == HeldItem.State.PENDING
            else "Somebody is deciding this now. Look at /decisions in a few seconds."
        )
    return Problem(409, detail, decision=decision and decision_shape(decision, names=held.agent.team.names_people))


class Report(BaseModel):
    """What became of an approved tool call."""

    model_config = ConfigDict(strict=True, extra="forbid")

    status: Literal["done", "failed", "skipped"]
    detail: str = Field("", max_length=10_000, description="In words, for people.")
    result: JsonValue = Field(None, description=f"Any JSON of at most {MAX_RESULT:,} bytes.")


@router.post(
    "/held/{held_id}/outcome",
    response={201: Outcome},
    openapi_extra=takes(Report, {"status": "done", "detail": "Refunded 20 EUR.", "result": {"refund": "re_17"}}),
    summary="Report the outcome of a tool call",
)
def report_outcome(request: AgentRequest, held_id: str) -> HttpResponse:
    """Report, once, what became of your approved tool call: done, failed or skipped.

    From then on its approval is used up: the same call is a new one. Answered 409 where it was reported before, with
    the `outcome` that stands, or where the call was not approved.
    """
    body = read_shape(request, Report)
    if (size := len(to_json(body.result))) > MAX_RESULT:
        raise at("/result", f"must be at most {MAX_RESULT:,} bytes of JSON, and has {size:,}")
    decisions.settle(request.auth)
    held = _own(request.auth, held_id)
    try:
        outcome = outcomes.report(held, body.status, detail=body.detail, result=body.result)
    except outcomes.NotApproved:
        raise Problem(409, "Only an approved tool call has an outcome, once its decision is released.") from None
    except outcomes.Reported as before:
        standing = outcome_shape(before.outcome)
        raise Problem(409, f"Reported before: {before.outcome.status}.", outcome=standing) from None
    return as_json(outcome_shape(outcome), status=201)


@router.get("/decisions", response=DecidedPage, summary="Follow the decisions")
def list_decisions(
    request: AgentRequest,
    after: Annotated[int, Query(ge=0, lt=2**63)] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
    session: str | None = None,
) -> HttpResponse:
    """List what was decided about your items, oldest first, from behind the last `seq` you have.

    `session` and `metadata.NAME` narrow them down. Of long texts a page holds fewer than `limit`: go on while
    there is a `next`.
    """
    check_parameters(request, "after", "limit", "session", METADATA)
    decisions.settle(request.auth)
    rows = Decision.objects.filter(agent=request.auth, seq__gt=after)
    rows = rows.select_related("held__call__outcome", "person", "changed_by")
    if session is not None:
        rows = rows.filter(held__response__session=session)
    rows = with_metadata(rows, metadata_asked(request), "held__metadata")
    unread = ("held__text", "held__attributes", "held__call__arguments", "held__call__schema", "held__call__hesitation")
    page, has_more = first_rows(rows.defer(*unread).order_by("seq"), limit, "text")
    hear(page, HeldCall.UsedBy.FEED)
    following = str(page[-1].seq) if has_more and page else None
    names = request.auth.team.names_people
    return as_json({"items": [decision_shape(decision, names=names) for decision in page], "next": following})


@router.get("/context", response=Context, by_alias=True, summary="Read the next cycle's context")
def read_context(request: AgentRequest, instructions: bool = True) -> HttpResponse:
    """Return what the next cycle should read, as JSON parts or (`Accept: text/plain`) as one prompt.

    What was decided, and answers to requests for more tool calls, are in it until you post a response after it was
    given to you: read it again after a crash. What is decided meanwhile comes next time. `instructions=false` leaves
    out how to decide what is held, for readers that have no way to.
    """
    scorer_for(request.auth)  # raises where the policy cannot be read
    decisions.settle(request.auth)
    extensions.settle(request.auth)
    parts = next_cycle.parts(request.auth, instructs=instructions)
    if request.get_preferred_type(["application/json", "text/plain"]) == "text/plain":
        prompt = next_cycle.as_prompt(parts, request.auth.language)
        return HttpResponse(prompt, content_type="text/plain; charset=utf-8")
    return as_json(parts)


@router.get("/policy", response=PolicyFacts, summary="Read what your programs go by in your policy")
def read_policy(request: AgentRequest) -> HttpResponse:
    """Return what a program of the agent acts on by itself: not its rules, by which metacog judges."""
    policy = scorer_for(request.auth).policy
    return as_json({"version": request.auth.policy_version, "elicitation": policy.elicitation})


def _own(agent: Agent, public_id: str) -> HeldItem:
    items = HeldItem.objects.select_related("response", "agent__team", "call__outcome", "question", "terms")
    held = items.filter(agent=agent, public_id=public_id).first()
    if held is None:
        raise _missing(public_id)
    return held


def _missing(public_id: str) -> Http404:
    return Http404(f"You have no held item {public_id!r}.")
