"""Save the filters of the queue under a name; rename and delete what was saved."""

from __future__ import annotations

from urllib.parse import parse_qsl

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from metacog.models import Role
from reviews.held import saved_views
from reviews.held.filters import Filters
from reviews.models import SavedView
from reviews.pages.person import PersonRequest, forbidden, number

MAX_NAME = 60


@require_POST
def save(request: PersonRequest) -> HttpResponse:
    """Save the filters that the form was sent with, for the person or for a team in which they review."""
    filters = Filters.of(dict(parse_qsl(request.POST.get("query", "").lstrip("?"))), request.user.teams).but()
    asked = request.POST.get("team", "")
    team = next((each for each in request.user.teams if each.pk == number(asked)), None) if asked else None
    if asked and (team is None or not request.user.has_role(team.pk, Role.REVIEWER)):
        return forbidden(request)
    if name := _name(request):
        try:
            saved_views.save(request.user, name, filters.fields, team)
            messages.success(request, gettext("The view “%(name)s” is saved.") % {"name": name})
        except saved_views.Taken as why:
            messages.error(request, _taken(why, name))
    return HttpResponseRedirect(reverse("queue") + filters.query)


@require_POST
def rename(request: PersonRequest, view_id: int) -> HttpResponse:
    """Give a view another name."""
    view = _own(request, view_id)
    if view is None:
        return forbidden(request)
    if name := _name(request):
        try:
            saved_views.rename(view, name, request.user)
            messages.success(request, gettext("The view is called “%(name)s” now.") % {"name": name})
        except saved_views.Taken as why:
            messages.error(request, _taken(why, name))
    return HttpResponseRedirect(reverse("queue") + Filters.of(view.query, request.user.teams, request.user.pk).query)


@require_POST
def delete(request: PersonRequest, view_id: int) -> HttpResponse:
    """Delete a view; what it showed stays in the queue."""
    view = _own(request, view_id)
    if view is None:
        return forbidden(request)
    saved_views.delete(view, request.user)
    messages.success(request, gettext("The view “%(name)s” is deleted.") % {"name": view.name})
    return HttpResponseRedirect(reverse("queue"))


def _own(request: PersonRequest, view_id: int) -> SavedView | None:
    """Return a view that the person sees, None where they may not change it."""
    seen = SavedView.objects.filter(Q(person=request.user) | Q(team__in=request.user.teams))
    view = get_object_or_404(seen, pk=view_id)
    if view.team_id is not None and not request.user.has_role(view.team_id, Role.REVIEWER):
        return None
    return view


def _name(request: PersonRequest) -> str:
    """Return the name that was typed; say what is wrong where there is none."""
    name = " ".join(request.POST.get("name", "").replace("\0", "").split())
    if not name:
        messages.error(request, gettext("Give the view a name."))
    elif len(name) > MAX_NAME:
        messages.error(request, gettext("The name is too long: %(most)s characters at most.") % {"most": MAX_NAME})
        return ""
    return name


def _taken(why: saved_views.Taken, name: str) -> str:
    if str(why) == "many":
        return gettext("There are %(n)s saved views: delete one first.") % {"n": saved_views.MOST}
    return gettext("There is already a view called “%(name)s”. Choose another name.") % {"name": name}
