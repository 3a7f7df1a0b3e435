"""What people's programs call: read the queue and decide as their person, by the console's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from django.conf import settings
from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils import timezone, translation
from ninja import Query, Router, Schema
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from metacog.audit import audit
from metacog.db.ids import new_id
from metacog.db.rows import first_rows
from metacog.heuristics.effects.effect import Kind
from metacog.heuristics.signals.spec import SignalPart
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.tool_calls.secrets import (
    Masked,
    mask,
    mask_item,
    masked,
    masked_errors,
    masked_hesitation,
    masked_text,
    restored,
    restored_text,
)
from metacog.heuristics.wire import wire
from metacog.heuristics.wire.assessment import HesitationPart
from metacog.http.api import (
    METADATA,
    PersonToken,
    TokenRequest,
    as_json,
    check_parameters,
    check_scope,
    cursor,
    metadata_asked,
    read_shape,
    takes,
)
from metacog.http.problems import Problem, at
from metacog.models import Agent, PersonalToken, Role, Team, User
from patterns.serializers import instant
from reviews.api.responses import SAID, Approvals, Decided, Held, Version, wants_answer
from reviews.asking.words import asked_now
from reviews.held import approvers, decisions, grants
from reviews.held.calls import passing
from reviews.held.filters import FILTERS, Filters, Order, with_metadata
from reviews.held.listing import along, behind, in_order, matching, place_of
from reviews.models import Approval, Comment, Decision, HeldItem, ItemTalk
from reviews.outbox.notification_texts import zone_of
from reviews.presentation.approvals import whom as in_words
from reviews.records import answers
from reviews.serializers import (
    approvals_shape,
    decision_shape,
    excerpt,
    for_people,
    held_shape,
    never_reported,
    outcome_shape,
    words_for_people,
)

router = Router(auth=PersonToken())
PAGE = 100
AGAIN_SECONDS = 600
VIA = "api"
STILL_MASKED = "What you changed contains a masked part. Write the value itself, or leave all of it as you read it."
Scope, State = PersonalToken.Scope, HeldItem.State


class ReviewDecision(Decided):
    """A decision as people see it."""

    seq: int | None = Field(  # type: ignore[assignment]  # here a decision is told before it has one
        description="The agent's own count; null until the decision is released."
    )
    decided_by: str | None = Field(description="The user name of the person who decided; null where nobody did.")
    undo_until: str | None = Field(description="Until when its person may undo it; null once that is over.")
    grant: str | None = Field(description="The id of the grant that was given with it.")
    state: Literal["pending", "approved", "edited", "answered", "rejected", "withdrawn", "expired"] = Field(
        description="Of the item. `pending`: this is one person's approval, and others must approve as well, or the "
        "tool calls that it waits for be approved. It can be withdrawn as long as that is so."
    )
    approvals: Approvals | None = Field(description="As on the item.")


class ItemApproval(BaseModel):
    """One person's approval of an item that others must approve as well."""

    id: str
    by: str = Field(description="Their user name.")
    verdict: Literal["approve", "edit"]
    text: str | None = Field(description="What they approved; null of a tool call.")
    arguments: JsonValue = Field(description="Of a tool call, in place of `text`.")
    reason: str
    given_at: str


class ItemAgent(BaseModel):
    id: str
    name: str
    enabled: bool = Field(description="False: it is disabled, and hears of a decision once it is enabled again.")


class QueueItem(Held):
    """A held item as people see it: `state` changes with the decision, and does not wait until it is released."""

    agent: ItemAgent
    team: str
    review_url: str = Field(description="Its page in the console.")
    excerpt: str = Field(description="How the text begins, without tags, on one line.")
    decision: ReviewDecision | None = Field(description="The decision that stands.")
    approved: list[ItemApproval] = Field(description="Approvals that stand and decide nothing yet, the first first.")
    never_reported: bool = Field(
        description="Approved a day ago or longer, and its agent has not said what became of it."
    )
    may_approve: bool = Field(description="Whether your approval counts; whoever reviews may reject.")
    assignee: str | None = Field(description="The user name of the person it is assigned to.")
    snoozed_until: str | None = Field(description="Until when the console's queue leaves it out.")
    comments_count: int


class ItemComment(BaseModel):
    """What a person said about an item; agents never see it."""

    id: str
    author: str
    text: str = Field(description="Empty once it was deleted, or erased with the item's text.")
    mentions: list[str] = Field(description="User names of members.")
    created_at: str


class ItemAsked(BaseModel):
    """Who is asked about a pending item now, and who next, by its team's settings (docs/notices.md)."""

    to: str = Field(
        description="`on-call`, `owners`, `chat`, `group:` with its name, `person:` with a user name, or empty: every "
        "reviewer, as each chose to be told."
    )
    people: list[str] = Field(description="User names of whom that was when they were asked.")
    since: str
    next_to: str | None = Field(description="Who is asked next while nobody decides; null: nobody else.")
    next_at: str | None


class ReviewItem(QueueItem):
    """A held item with what was around it."""

    asked: ItemAsked | None = Field(
        description="Who is asked to decide it; null once decided, and where its team has neither routes nor steps."
    )
    user_message: str | None = Field(description="The user's message that the response answers, where it was given.")
    response_text: str = Field(description="The whole response; empty once its texts were erased.")
    comments: list[ItemComment] = Field(description="Oldest first.")
    signals: list[SignalPart] = Field(description="Spans are places in `response_text`, or in `text` with `item`.")


class QueuePage(BaseModel):
    items: list[QueueItem]
    next: str | None = Field(description="Put it into `after` for the next page; null on the last.")


class GrantWanted(BaseModel):
    """Which calls are to pass from now on without asking, with an approved tool call."""

    model_config = ConfigDict(strict=True, extra="forbid")
    scope: Literal["session", "agent"] = Field("session", description="Calls in its session, or in all of the agent's.")
    match: Literal["call", "shape", "tool"] = Field(
        "call",
        description="`call`: these very arguments. `shape`: one simple command of the same program, subcommand, flags "
        "and effects on objects of the same place. `tool`: all calls of a tool none of whose arguments is free text.",
    )
    until: wire.Time | None = Field(
        None, description="When it ends, at most 30 days ahead; tonight, in your time zone, unless it is given."
    )
    uses: Annotated[wire.Whole, Field(ge=1, le=grants.MOST_USES)] | None = Field(
        None, description="How many calls it lets pass; any number unless it is given."
    )
    release: list[str] = Field(
        [],
        max_length=passing.MOST,
        description="Ids of held calls that wait: those of them that it lets pass are approved with it, as its uses.",
    )


class PersonsDecision(BaseModel):
    """A person's decision."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "oneOf": [
                {"properties": {"verdict": {"const": "approve"}, "text": {"type": "null"}}},
                {
                    "required": ["text"],
                    "properties": {"verdict": {"const": "edit"}, "text": {"type": "string"}, "arguments": False},
                },
                {"required": ["arguments"], "properties": {"verdict": {"const": "edit"}, "text": {"type": "null"}}},
                {
                    "required": ["answer"],
                    "properties": {"verdict": {"const": "answer"}, "text": {"type": "null"}, "arguments": False},
                },
                {
                    "required": ["reason"],
                    "properties": {"verdict": {"const": "reject"}, "text": {"type": "null"}, "reason": SAID},
                },
            ]
        },
    )

    verdict: Literal["approve", "edit", "answer", "reject"]
    text: str | None = Field(None, description="The edited text; with `edit` only, of words.")
    arguments: JsonValue = Field(None, description="The edited arguments; with `edit` only, of a tool call.")
    answer: JsonValue = Field(
        None, description="With `answer` only: to a question, by its `schema`, one of its `choices`, or any text."
    )
    grant: GrantWanted | None = Field(None, description="With an approved tool call: which calls pass from now on.")
    again_seconds: Annotated[wire.Whole, Field(ge=0, le=AGAIN_SECONDS)] = Field(
        0, description="Short for a grant of this call in its session for so long, from when the agent hears of it."
    )
    reason: str = Field("", max_length=10_000, description="Why; the agent reads it. Needed to reject.")
    approval: str | None = Field(
        None,
        max_length=40,
        description="With `approve`: the id of another person's approval. Just what they approved is approved, with "
        "their edit.",
    )
    accept_risk: bool = Field(
        False,
        description="Release an edit although it would be held again, adds a key that the schema does not know, or "
        "leaves one out that the call had.",
    )
    version: Version | None = Field(None, description="Of the item as you read it.")
    sha256: str | None = Field(None, description="Of the text as you read it.")


class QueueAsked(Schema):
    """Which part of the queue is asked for."""

    state: Literal["pending", "decided", "approved", "edited", "answered", "rejected", "withdrawn", "expired"] = (
        "pending"
    )
    agent: str = Field("", max_length=40, description="An agent's id.")
    kind: str = Field("", max_length=64)
    order: Order = "risk"
    limit: int = Field(PAGE, ge=1, le=PAGE)
    after: str = ""
    session: str | None = None
    effect: Kind | Literal["", "outside"] = Field(
        "", description="Tool calls with this effect; `outside`: that do more than read outside the project."
    )
    needs: Literal["", "me", "others", "calls"] = Field(
        "",
        description="Of what is pending: `me`: what needs your approval, beside others'; `others`: what you approved "
        "and others must; `calls`: words that only wait for tool calls. Without it: all but the last two.",
    )


class ItemRead(Schema):
    """How an item is read."""

    reveal: Literal["1"] | None = Field(None, description="Show what is masked; for reviewers.")


@router.get("/review/queue", response=QueuePage, by_alias=True, summary="Read the queue")
def read_queue(request: TokenRequest, asked: Query[QueueAsked]) -> HttpResponse:
    """List the held items of your teams: the highest score first, the oldest first with `order=age`, or with
    `order=learned` what your teams' decisions make the riskiest first; of equals what expires next.

    `session` and `metadata.NAME` narrow them down. What is decided comes with the latest first. Of long texts a page
    holds fewer than `limit`: go on while there is a `next`.
    """
    check_scope(request, Scope.READ)
    check_parameters(request, *QueueAsked.model_fields, METADATA)
    teams = request.auth.person.teams
    if asked.agent and not Agent.objects.filter(team__in=teams, public_id=asked.agent).exists():
        raise at("/query/agent", f"Your teams have no agent {asked.agent!r}.")
    state = asked.state
    filters = Filters(
        state="held" if state == "pending" else "decided",
        order=asked.order,
        **asked.model_dump(include=FILTERS.keys() - {"session"}),  # which may be asked for as "" here
    )
    person = request.auth.person
    metadata, last = metadata_asked(request), cursor(HeldItem.objects.filter(team__in=teams), asked.after)

    def of(some: Sequence[Team]) -> QuerySet[HeldItem]:
        items = with_metadata(matching(filters, some), metadata)
        if asked.session is not None:
            items = items.filter(response__session=asked.session)
        items = items.exclude(state=State.PENDING) if state == "decided" else items.filter(state=state)
        if state == "pending":
            items = approvers.narrowed(items, filters.needs, person.pk)
        return behind(items, filters, place_of(last, filters)) if last else items

    # Which they are first, as in the console: else the texts of all that match are read to be put in order.
    listed = list(along(of, filters, teams, asked.limit + 1).values_list("pk", flat=True))
    related = ("response", "agent", "team", "call__outcome", "question", "talk__assignee", "terms")
    rows = HeldItem.objects.filter(pk__in=listed).select_related(*related)
    rows = rows.defer("response__body", "response__history")
    page, has_more = first_rows(in_order(rows, filters), asked.limit, "text")
    _read_standing(page)
    following = page[-1].public_id if has_more and page else None
    return as_json({"items": [_queue_item(held, person) for held in page], "next": following})


@router.get("/review/held/{held_id}", response=ReviewItem, by_alias=True, summary="Read an item to decide it")
def read_item(request: TokenRequest, held_id: str, asked: Query[ItemRead]) -> HttpResponse:
    """Return one item of your teams, whole, with what was around it and the decision that stands.

    Secrets are masked, here and wherever people read, unless `reveal=1` is asked for: that takes the role of a
    reviewer, and the audit log keeps who looked.
    """
    check_scope(request, Scope.READ)
    check_parameters(request, *ItemRead.model_fields)
    held = visible(request.auth.person, held_id)
    if asked.reveal:
        _check_role(request.auth.person, held, "reveal what is masked")
        kind = audit.of_item(held.kind, "revealed")
        audit.record(
            kind, held.public_id, actor=request.auth.person, team=held.team_id, agent=held.agent, at="", via=VIA
        )
    if decisions.settle(held.agent):
        held = visible(request.auth.person, held_id)
    return as_json(review_item(held, request.auth.person, is_revealed=bool(asked.reveal)))


@router.post(
    "/review/held/{held_id}/decision",
    response={201: ReviewDecision, 200: ReviewDecision},
    openapi_extra=takes(
        PersonsDecision,
        {"verdict": "approve", "version": 1},
        {"verdict": "reject", "reason": "The slowdown began before the cache went live."},
        {"verdict": "edit", "text": "The cache may be the cause; not measured yet.", "accept_risk": True},
        {"verdict": "answer", "answer": "Savings"},
    ),
    summary="Decide an item as a person",
)
def decide_item(request: TokenRequest, held_id: str) -> HttpResponse:
    """Decide as the person whose token this is, by the console's rules.

    The agent hears of it once `undo_until` is over. An edit that would be held again is answered 422 with its
    `hesitation`, and one whose keys look like a slip with their pointers, unless `accept_risk` is true. Decided
    already, or `version` or `sha256` out of date: 409 with the standing decision. Your same verdict and text again
    gives the first decision back, with 200. A question is answered, which its `schema` or `choices` check, or rejected.
    """
    check_scope(request, Scope.DECIDE)
    person, held = request.auth.person, decidable(request.auth.person, held_id)
    body = read_shape(request, PersonsDecision)
    edit = _edit(body, held)
    if body.verdict == "reject" and is_blank(body.reason):
        raise at("/reason", "Give a reason: the agent reads it, and it is what metacog learns from.")
    released: list[str] = body.grant.release if body.grant else []
    circumstances = decisions.Circumstances(
        version=body.version,
        digest=body.sha256,
        via=VIA,
        together=new_id("press") if released else "",
        grant=_grant_wanted(body, person),
        like=body.approval or "",
    )
    try:
        taken, is_new = decisions.decide_or_approve(
            held,
            person,
            body.verdict,
            edit=edit,
            reason=body.reason,
            accept_risk=body.accept_risk,
            circumstances=circumstances,
        )
        if isinstance(taken, Decision):
            passing.release(taken, dict.fromkeys(released), circumstances)
    except decisions.Standing:
        held = visible(person, held_id)
        told = "Decided before" if held.standing else "This is not the item as it stands now: read it again"
        raise _conflict(held, told) from None
    except decisions.NotApprover as refusal:
        with translation.override("en"):
            whom = in_words(refusal.approvers)
        raise Problem(403, f"To approve this takes {whom}. You may still reject it.") from None
    except decisions.StillRisky as risky:
        raise _still_risky(risky.edited, _place(body), _text_of(held, edit)) from None
    except decisions.WantsAnswer:
        raise at("/verdict", wants_answer(held)) from None
    except decisions.StillMasked:
        raise at(_place(body), STILL_MASKED) from None
    except grants.NotGranted as wrong:
        raise at(f"/grant{wrong.pointer}", masked_text(wrong.detail)) from None
    except decisions.OutOfSchema as wrong:
        errors = [{**error, "pointer": _place(body) + error["pointer"]} for error in masked_errors(wrong.errors)]
        raise Problem(422, wire.summary(errors), errors) from None
    held = visible(person, held_id)
    shape = _decision(taken, held) if isinstance(taken, Decision) else _approval_as_decision(taken, held)
    return as_json(shape, status=201 if is_new else 200)


def _place(body: PersonsDecision) -> str:
    """Return where in a body that stands which takes an item's place, or answers it."""
    return "/answer" if body.verdict == "answer" else "/text" if body.text is not None else "/arguments"


def _edit(body: PersonsDecision, held: HeldItem) -> decisions.Edit | None:
    """Return what a body puts in an item's place; raise the 422 where it is not what its verdict and kind take."""
    is_call = held.kind == HeldItem.Kind.TOOL_CALL
    if body.text is not None and (is_call or body.verdict != "edit"):
        raise at("/text", "Text goes with the verdict `edit` of words only.")
    if "arguments" in body.model_fields_set and (not is_call or body.verdict != "edit"):
        raise at("/arguments", "Arguments go with the verdict `edit` of a tool call only.")
    if "answer" in body.model_fields_set and body.verdict != "answer":
        raise at("/answer", "An answer goes with the verdict `answer` of a question only.")
    for name in ("grant", "again_seconds"):
        if getattr(body, name) and (not is_call or body.verdict == "reject"):
            raise at(f"/{name}", "Only with an approved tool call others may pass.")
    if body.approval and body.verdict != "approve":
        raise at("/approval", "What somebody else approved goes with the verdict `approve` only.")
    if body.verdict == "answer" and held.kind == HeldItem.Kind.QUESTION:
        if "answer" not in body.model_fields_set:
            raise at("/answer", "An answer is required.")
        return decisions.Answer(answers.restored(held, body.answer))
    if body.verdict != "edit" or held.kind == HeldItem.Kind.QUESTION:
        return None
    if is_call:
        if "arguments" not in body.model_fields_set:
            raise at("/arguments", "An edit of a tool call needs its arguments.")
        shown = masked(held.call.arguments)
        return decisions.Arguments(restored(body.arguments, held.call.arguments, shown))
    if body.text is None:
        raise at("/text", "An edit needs the edited text.")
    return restored_text(body.text, held.text)


def _grant_wanted(body: PersonsDecision, person: User) -> grants.Wanted | None:
    if body.grant is None:
        return grants.Wanted(seconds=body.again_seconds) if body.again_seconds else None
    if body.again_seconds:
        raise at("/again_seconds", "A grant says itself until when: give one of the two.")
    wanted = body.grant
    until = wire.instant(wanted.until) if wanted.until else grants.tonight(timezone.now(), zone_of(person))
    return grants.Wanted(wanted.scope, wanted.match, until, wanted.uses)


def _text_of(held: HeldItem, edit: decisions.Edit | None) -> Masked:
    """Return the text that an edit was scored by, masked."""
    if isinstance(edit, decisions.Arguments):
        return mask_item("", held.call.name, edit.value)
    return mask(edit if isinstance(edit, str) else "")


@router.post("/review/held/{held_id}/undo", response=ReviewItem, by_alias=True, summary="Undo a decision")
def undo_decision(request: TokenRequest, held_id: str) -> HttpResponse:
    """Take back your decision until its `undo_until`, and return the item, which is pending again.

    An approval that others must join, or that waits for tool calls, can be withdrawn as long as the item is pending.
    Takes no body. The same again changes nothing. Answered 409 with the standing decision when it is too late, or
    somebody else's; with null where nothing is decided.
    """
    check_scope(request, Scope.DECIDE)
    person, held = request.auth.person, decidable(request.auth.person, held_id)
    standing: Decision | None = next(iter(held.standing), None)
    own = Approval.objects.filter(held=held, person=person).select_related("held").order_by("-id").first()
    if standing is None and own:
        if own.ended_at is None and not decisions.withdraw_approval(own, VIA):
            raise _conflict(visible(person, held_id), "Too late to withdraw it: the item was decided")
    elif standing is None:
        latest = held.decisions.order_by("-id").first()
        if latest is None or latest.person_id != person.pk:
            raise _conflict(held, "Nothing is decided here")
    elif standing.person_id != person.pk:
        raise _conflict(held, "Only who decided can undo it")
    elif not decisions.undo(standing, person, VIA):
        raise _conflict(held, "Too late to undo: the decision was released")
    return as_json(review_item(visible(person, held_id), person))


def visible(person: User, held_id: str) -> HeldItem:
    """Return an item of the person's teams, with its standing decision; raise Http404 for any other."""
    items = HeldItem.objects.select_related(
        "response", "agent__team__asking", "team", "call__outcome", "question", "talk__assignee", "terms"
    )
    held = items.filter(team__in=person.teams, public_id=held_id).first()
    if held is None:
        raise Http404(f"Your teams have no held item {held_id!r}.")
    _read_standing([held])
    return held


def _read_standing(items: list[HeldItem]) -> None:
    """Read into each item's `standing` the one decision that stands, if there is one."""
    standing = Decision.objects.filter(undone_at=None).select_related("person", "changed_by")
    prefetch_related_objects(items, Prefetch("decisions", standing, to_attr="standing"), "grants")
    approvers.read(items)


def decidable(person: User, held_id: str) -> HeldItem:
    """Return an item that the person sees; raise the 403 where they may not decide it."""
    held = visible(person, held_id)
    _check_role(person, held, "decide")
    return held


def _check_role(person: User, held: HeldItem, what: str) -> None:
    if not person.has_role(held.team_id, Role.REVIEWER):
        told = f"You may read in the team {held.team.name!r}, not {what}: that takes the role of a reviewer."
        raise Problem(403, told)


def _queue_item(
    held: HeldItem, person: User, *, is_revealed: bool = False, words: HesitationPart | None = None
) -> dict[str, Any]:
    shape: Mapping[str, Any] = held_shape(held, names=True)
    shape = shape if is_revealed else for_people(shape, words)
    return {
        **shape,
        "state": held.state,
        "agent": agent_shape(held.agent),
        "team": held.team.name,
        "review_url": settings.PUBLIC_URL + reverse("item", args=[held.public_id]),
        "excerpt": excerpt(shape["text"]),
        "decision": next((_decision(each, held, is_revealed=is_revealed) for each in held.standing), None),
        "approved": [_approval(each, is_revealed=is_revealed) for each in getattr(held, "approved_by", ())],
        "may_approve": person.has_role(held.team_id, Role.REVIEWER)
        and approvers.may_approve(person, held.team_id, approvers.of_item(held)),
        **_talk(getattr(held, "talk", None)),
        "outcome": shape.get("outcome"),
        "never_reported": never_reported(held),
    }


def agent_shape(agent: Agent) -> dict[str, Any]:
    return {"id": agent.public_id, "name": agent.name, "enabled": agent.enabled}


def _talk(row: ItemTalk | None) -> dict[str, Any]:
    until = row.snoozed_until if row and row.snoozed_until and row.snoozed_until > timezone.now() else None
    return {
        "assignee": row.assignee.get_username() if row and row.assignee else None,
        "snoozed_until": instant(until) if until else None,
        "comments_count": row.comments if row else 0,
    }


def comment_shape(said: Comment) -> dict[str, Any]:
    return {
        "id": said.public_id,
        "author": said.author.get_username(),
        "text": masked_text(said.text),
        "mentions": [each.person.get_username() for each in said.mentions.all()],
        "created_at": instant(said.created_at),
    }


def review_item(held: HeldItem, person: User, *, is_revealed: bool = False) -> dict[str, Any]:
    body = held.response.wire_body()
    words = None if is_revealed else words_for_people(held.response.wire_verdict(), body)
    item = _queue_item(held, person, is_revealed=is_revealed, words=words)
    message = body.get("user_message")
    return {
        **item,
        "user_message": message if is_revealed or message is None else masked_text(message),
        "response_text": body["response"] if is_revealed else masked_text(body["response"]),
        "asked": _asked(held),
        "comments": [
            comment_shape(said)
            for said in Comment.objects.filter(held=held)
            .select_related("author")
            .prefetch_related("mentions__person")
            .order_by("pk")
        ],
        "signals": item["hesitation"]["signals"] if item["hesitation"] else [],
    }


def _asked(held: HeldItem) -> dict[str, Any] | None:
    asked = asked_now(held, getattr(held, "talk", None))
    return asked and {
        "to": asked.to,
        "people": [person.get_username() for person in asked.people],
        "since": instant(asked.since),
        "next_to": asked.next_to or None,
        "next_at": instant(asked.next_at) if asked.next_at else None,
    }


def _decision(decision: Decision, held: HeldItem, *, is_revealed: bool = False) -> dict[str, Any]:
    until = instant(decision.release_at) if decision.can_be_undone(timezone.now()) else None
    shape = {**decision_shape(decision, names=True), "undo_until": until, "grant": None}
    call = decision.held.call if decision.held.kind == HeldItem.Kind.TOOL_CALL else None
    if call and decision.text_sha256:
        given = (each.public_id for each in decision.held.grants.all() if not each.is_fallen)
        shape["grant"] = next(given, None)
    shape["outcome"] = outcome_shape(getattr(call, "outcome", None))
    shape |= {"state": held.state, "approvals": approvals_shape(held, names=True)}
    return shape if is_revealed else for_people(shape)


def _approval(approval: Approval, *, is_revealed: bool = False) -> dict[str, Any]:
    shape = {
        "id": approval.public_id,
        "by": approval.person.get_username(),
        "verdict": approval.verdict,
        "text": approval.text,
        "arguments": approval.arguments,
        "reason": approval.reason,
        "given_at": instant(approval.given_at),
    }
    return shape if is_revealed else for_people(shape)


def _approval_as_decision(approval: Approval, held: HeldItem) -> dict[str, Any]:
    """Return an approval that decides nothing yet in the shape of a decision: nothing is released."""
    return for_people(
        {
            "id": approval.public_id,
            "seq": None,
            "held": held.public_id,
            "verdict": approval.verdict,
            "text": None,
            "reason": approval.reason,
            "by": Decision.By.PERSON,
            "decided_at": instant(approval.given_at),
            "arguments": None,
            "answer": None,
            "permission": None,
            "used_at": None,
            "outcome": None,
            "metadata": held.metadata,
            "decided_by": approval.person.get_username(),
            "undo_until": None,
            "state": held.state,
            "approvals": approvals_shape(held, names=True),
        }
    )


def _conflict(held: HeldItem, told: str) -> Problem:
    """Return the 409 that shows the decision that stands."""
    standing = next((_decision(each, held) for each in held.standing), None)
    which = f": {standing['verdict']}, by {standing['decided_by'] or standing['by']}" if standing else ""
    return Problem(409, f"{told}{which}.", decision=standing)


def _still_risky(edited: decisions.Edited, place: str, text: Masked) -> Problem:
    slips = [{**slip, "pointer": place + slip["pointer"]} for slip in edited.slips.errors]
    told = f"The edit would be held again: {edited.reason}." if edited.is_held_again else f"{wire.summary(slips)}."
    shown = edited.hesitation and masked_hesitation(
        {
            "score": edited.hesitation.score,
            "hold_at": edited.hold_at,
            "signals": [signal.as_dict() for signal in edited.hesitation.signals],
        },
        text,
    )
    errors = [{"pointer": place, "detail": edited.reason}] if edited.is_held_again else []
    return Problem(
        422,
        f"{masked_text(told)} Send `accept_risk: true` to release it.",
        masked([*errors, *slips]),
        hesitation=shown,
        rule=edited.rule,
    )
