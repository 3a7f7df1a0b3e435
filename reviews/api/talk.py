"""What people's programs call beside deciding: comment on an item, assign it, snooze it."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.dateparse import parse_datetime
from ninja import Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.http.api import PersonToken, TokenRequest, as_json, check_scope, read_shape, takes
from metacog.http.problems import Problem, at
from metacog.models import PersonalToken, User
from reviews.api.review import ItemComment, ReviewItem, comment_shape, decidable, review_item, visible
from reviews.held import talk
from reviews.models import Comment, HeldItem

router = Router(auth=PersonToken())
DECIDE = PersonalToken.Scope.DECIDE


class Said(BaseModel):
    """A comment."""

    model_config = ConfigDict(strict=True, extra="forbid")
    text: str = Field(description=f"Plain text, {talk.MAX_COMMENT:,} characters at most; `@name` mentions a member.")


class Whose(BaseModel):
    """Whose an item is."""

    model_config = ConfigDict(strict=True, extra="forbid")
    assignee: str | None = Field(description="The user name of a member who may decide; null for nobody.")


class Snooze(BaseModel):
    """Until when an item is snoozed."""

    model_config = ConfigDict(strict=True, extra="forbid")
    until: str | None = Field(description="A time in RFC 3339, before the item expires; null ends the snooze.")


@router.post(
    "/review/held/{held_id}/comments",
    response={201: ItemComment},
    openapi_extra=takes(Said, {"text": "@bob was this measured?"}),
    summary="Comment on an item",
)
def comment(request: TokenRequest, held_id: str) -> HttpResponse:
    """Say something to your team about an item. Agents never see it; whom it mentions is told."""
    held = _item(request, held_id)
    try:
        said, _unknown = talk.comment(held, request.auth.person, read_shape(request, Said).text)
    except talk.Empty:
        raise at("/text", "Say something.") from None
    except talk.TooLong:
        raise at(
            "/text", f"A comment has at most {talk.MAX_COMMENT:,} characters, an item {talk.MAX_COMMENTS}."
        ) from None
    shown = Comment.objects.select_related("author").prefetch_related("mentions__person").get(pk=said.pk)
    return as_json(comment_shape(shown), status=201)


@router.post(
    "/review/held/{held_id}/assign",
    response=ReviewItem,
    by_alias=True,
    openapi_extra=takes(Whose, {"assignee": None}),
    summary="Assign an item",
)
def assign(request: TokenRequest, held_id: str) -> HttpResponse:
    """Assign a pending item to a member who may decide, or to nobody; the last to do so wins."""
    held = _item(request, held_id)
    name = read_shape(request, Whose).assignee
    person = User.objects.filter(username=name[:150].replace("\0", "")).first() if name else None
    try:
        if name and person is None:
            raise talk.MayNotDecide
        talk.assign(held, person, request.auth.person)
    except talk.MayNotDecide:
        raise at("/assignee", f"No member who may decide is called {name!r}.") from None
    except talk.NotPending:
        raise Problem(409, "The item is not pending.") from None
    return as_json(review_item(visible(request.auth.person, held_id), request.auth.person))


@router.post(
    "/review/held/{held_id}/snooze",
    response=ReviewItem,
    by_alias=True,
    openapi_extra=takes(Snooze, {"until": None}),
    summary="Snooze an item",
)
def snooze(request: TokenRequest, held_id: str) -> HttpResponse:
    """Take a pending item out of the team's queue in the console until a time; it expires as always."""
    held = _item(request, held_id)
    until = read_shape(request, Snooze).until
    try:
        if until is None:
            talk.wake(held, request.auth.person)
        else:
            moment = parse_datetime(until)
            if moment is None or moment.tzinfo is None:
                raise at("/until", "Give a time in RFC 3339, with its offset.")
            talk.snooze(held, request.auth.person, moment)
    except ValueError:
        raise at("/until", "There is no such time.") from None
    except talk.Past:
        raise at("/until", "That time is over.") from None
    except talk.PastExpiry:
        raise at("/until", "The item expires before.") from None
    except talk.NotPending:
        raise Problem(409, "The item is not pending.") from None
    return as_json(review_item(visible(request.auth.person, held_id), request.auth.person))


def _item(request: TokenRequest, held_id: str) -> HeldItem:
    check_scope(request, DECIDE)
    return decidable(request.auth.person, held_id)
