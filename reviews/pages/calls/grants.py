"""The page that lists the grants, and how they end there."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from metacog.models import Agent, Role
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.held import grants
from reviews.held.filters import named
from reviews.models import CallGrant, HeldItem
from reviews.pages.person import PersonRequest, forbidden, visible_item_or_404
from reviews.presentation.calls.grant_form import rows_of, waiting_of

STATES: Mapping[str, Promise] = {"active": _("In force"), "ended": _("Ended")}
SHOWN = 100


@require_safe
def grant_list(request: PersonRequest) -> HttpResponse:
    """List what passes without asking, the latest first, or what did."""
    teams, agent = request.user.teams, named(request.GET.get("agent", ""))
    state = request.GET.get("state", "")
    state = state if state in STATES else "active"
    rows = grants.of_teams(teams, state, agent, timezone.now())
    if after := CallGrant.objects.filter(held__team__in=teams, public_id=named(request.GET.get("after", ""))).first():
        rows = rows.filter(pk__lt=after.pk)
    found, agents = list(rows[: SHOWN + 1]), Agent.objects.filter(team__in=teams)
    context = {
        "rows": rows_of(request.user, found[:SHOWN]),
        "next_url": _url(state, agent, found[SHOWN - 1].public_id) if len(found) > SHOWN else "",
        "state": state,
        "views": [
            {"name": name, "url": _url(value, agent), "is_current": value == state} for value, name in STATES.items()
        ],
        "agent": agent,
        "choice": choice("grants", agents.order_by("name", "team__name"), request.GET, agent),
        "unknown_filters": unknown_filters(request.GET, agents=agents, state=STATES),
        "section": "grants",
    }
    return render(request, "reviews/grants.html", context)


@require_safe
def waiting(request: PersonRequest, held_id: str) -> HttpResponse:
    """Give the form beside Approve the calls that wait and that a grant of this one would let pass, too."""
    held = visible_item_or_404(request, held_id)
    if held.kind != HeldItem.Kind.TOOL_CALL or held.state != HeldItem.State.PENDING:
        raise Http404
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    return render(request, "reviews/_grant_waiting.html", {"grant_form": waiting_of(held)})


def _url(state: str, agent: str, after: str = "") -> str:
    asked = {"state": state, "agent": agent, "after": after}
    return f"{reverse('grants')}?{urlencode({name: value for name, value in asked.items() if value})}"


@require_POST
def withdraw(request: PersonRequest, grant_id: str) -> HttpResponse:
    """End a grant, and go back to where its button stood."""
    grant = _visible(request, grant_id)
    if not request.user.has_role(grant.held.team_id, Role.REVIEWER):
        return forbidden(request)
    if grants.withdraw(grant, request.user):
        messages.success(request, gettext("The grant was withdrawn. You can restore it for 24 hours."))
    return _back(request, grant)


@require_POST
def restore(request: PersonRequest, grant_id: str) -> HttpResponse:
    """Restore a grant that this person withdrew a while ago."""
    grant = _visible(request, grant_id)
    if not request.user.has_role(grant.held.team_id, Role.REVIEWER):
        return forbidden(request)
    if grants.restore(grant, request.user):
        messages.success(request, gettext("The grant is in force again."))
    else:
        messages.info(request, gettext("It is too late to restore this grant. Nothing was changed."))
    return _back(request, grant)


def _visible(request: PersonRequest, grant_id: str) -> CallGrant:
    visible = CallGrant.objects.select_related("held", "agent").filter(held__team__in=request.user.teams)
    return get_object_or_404(visible, public_id=grant_id)


def _back(request: PersonRequest, grant: CallGrant) -> HttpResponse:
    return redirect("item", grant.held.public_id) if request.POST.get("back") == "item" else redirect("grants")
