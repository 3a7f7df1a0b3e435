"""What people's programs call about grants: which calls pass without asking, until when, by whose word."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpResponse
from django.utils import timezone, translation
from ninja import Query, Router, Schema
from pydantic import BaseModel, Field, JsonValue

from metacog.heuristics.tool_calls.grants import Match, Scope
from metacog.heuristics.tool_calls.secrets import masked
from metacog.http.api import PersonToken, TokenRequest, as_json, check_parameters, check_scope, cursor, page_of
from metacog.http.problems import Problem, at
from metacog.models import Agent, PersonalToken, Role
from patterns.serializers import instant
from reviews.api.review import VIA, ItemAgent, agent_shape
from reviews.held import grants
from reviews.models import CallGrant
from reviews.presentation.calls.grant_words import in_words

router = Router(auth=PersonToken())
PAGE = 100


class Grant(BaseModel):
    """What a person lets pass without asking."""

    id: str
    state: Literal["active", "suspended", "used-up", "expired", "withdrawn"] = Field(
        description="`suspended`: who gave it is no reviewer any more."
    )
    held: str = Field(description="The held item with whose approval it was given.")
    agent: ItemAgent
    team: str
    tool: str
    scope: Scope
    match: Match
    words: str = Field(description="What exactly passes, in English; secrets are masked.")
    shape: dict[str, JsonValue] | None = Field(description="What calls are compared by, with `match: shape`.")
    session: str | None = Field(description="The session, with `scope: session`.")
    until: str
    uses: int | None = Field(description="How many calls it may let pass; null: any number.")
    used: int = Field(description="How many it has let pass.")
    last_used_at: str | None
    by: str = Field(description="The user name of the person who gave it.")
    granted_at: str | None = Field(description="In force from then on; null of one whose approval was undone.")
    withdrawn_at: str | None
    withdrawn_by: str | None


class GrantPage(BaseModel):
    items: list[Grant]
    next: str | None = Field(description="Put it into `after` for the next page; null on the last.")


class GrantsAsked(Schema):
    """Which grants are asked for."""

    state: Literal["active", "ended", "all"] = "active"
    agent: str = Field("", max_length=40, description="An agent's id.")
    limit: int = Field(PAGE, ge=1, le=PAGE)
    after: str = ""


@router.get("/review/grants", response=GrantPage, summary="List the grants")
def list_grants(request: TokenRequest, asked: Query[GrantsAsked]) -> HttpResponse:
    """List your teams' grants, the latest first: those that have not ended, unless another `state` is asked for."""
    check_scope(request, PersonalToken.Scope.READ)
    check_parameters(request, *GrantsAsked.model_fields)
    teams, now = request.auth.person.teams, timezone.now()
    if asked.agent and not Agent.objects.filter(team__in=teams, public_id=asked.agent).exists():
        raise at("/query/agent", f"Your teams have no agent {asked.agent!r}.")
    rows = grants.of_teams(teams, asked.state, asked.agent, now)
    if last := cursor(CallGrant.objects.filter(held__team__in=teams), asked.after):
        rows = rows.filter(pk__lt=last.pk)
    page, following = page_of(rows, asked.limit)
    return as_json({"items": [grant_shape(each) for each in page], "next": following})


@router.delete("/review/grants/{grant_id}", response=Grant, summary="Withdraw a grant")
def withdraw_grant(request: TokenRequest, grant_id: str) -> HttpResponse:
    """End a grant, and return it. The same again changes nothing. It takes the role of a reviewer in its team."""
    check_scope(request, PersonalToken.Scope.DECIDE)
    person = request.auth.person
    found = CallGrant.objects.with_details().filter(held__team__in=person.teams)
    grant = found.filter(public_id=grant_id).first()
    if grant is None:
        raise Http404(f"Your teams have no grant {grant_id!r}.")
    if not person.has_role(grant.held.team_id, Role.REVIEWER):
        told = f"You may read in the team {grant.held.team.name!r}, not withdraw grants: that takes a reviewer's role."
        raise Problem(403, told)
    grants.withdraw(grant, person, VIA)
    return as_json(grant_shape(found.get(pk=grant.pk)))


def grant_shape(grant: CallGrant) -> dict[str, Any]:
    """Return the `grant` object of a grant that was read by `told`."""
    with translation.override("en"):
        words = in_words(grant, f"until {instant(grant.until)}")
    return {
        "id": grant.public_id,
        "state": grant.state(timezone.now()),
        "held": grant.held.public_id,
        "agent": agent_shape(grant.agent),
        "team": grant.held.team.name,
        "tool": grant.held.call.name,
        "scope": grant.scope,
        "match": grant.match,
        "words": words,
        "shape": masked(grant.shape),
        "session": grant.held.response.session if grant.scope == CallGrant.Scope.SESSION else None,
        "until": instant(grant.until),
        "uses": grant.most_uses,
        "used": grant.uses,
        "last_used_at": grant.used_at and instant(grant.used_at),
        "by": grant.person.get_username(),
        "granted_at": grant.granted_at and instant(grant.granted_at),
        "withdrawn_at": grant.withdrawn_at and instant(grant.withdrawn_at),
        "withdrawn_by": grant.withdrawn_by.get_username() if grant.withdrawn_by else None,
    }
