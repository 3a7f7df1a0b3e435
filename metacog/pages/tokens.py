"""A person's own access tokens: made, shown once, revoked."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from metacog.accounts import tokens
from metacog.accounts.consequences import ReasonForm, of_token
from metacog.accounts.forms import TokenForm
from metacog.http import once
from metacog.models import PersonalToken, Team
from metacog.pages.account import Request, preferences_page
from metacog.pages.confirming import Step, confirm, done


@never_cache
@require_POST
def token_new(request: Request) -> HttpResponse:
    """Make the person a token, which is shown this once."""
    form = TokenForm(request.POST)
    if form.is_valid():
        if once.is_repeated(request):
            return redirect("preferences")
        try:
            _token, text = tokens.issue(request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return preferences_page(request, status=200, new_token=text)
    return preferences_page(request, token=form, status=422)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke(request: Request, token_id: int) -> HttpResponse:
    """Name what ending one of the person's own tokens takes away, and end it for a reason."""
    token = get_object_or_404(PersonalToken, pk=token_id, person=request.user)
    url, back = reverse("token-revoke", args=[token.pk]), reverse("preferences")
    return revoke_page(request, token, Place(url, back, _("Preferences"), "preferences"))


@require_POST
def token_restore(request: Request, token_id: int) -> HttpResponse:
    """Let one of the person's own tokens work again."""
    token = get_object_or_404(PersonalToken, pk=token_id, person=request.user)
    return restored(request, token, "preferences")


class Place(NamedTuple):
    """Where a token is revoked: on its person's page, or a team's."""

    url: str
    back: str
    whose: str
    section: str
    team: Team | None = None


def revoke_page(request: Request, token: PersonalToken, place: Place) -> HttpResponse:
    """Ask why a token is revoked, or revoke it; with an Undo in the message."""
    form = ReasonForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return confirm(request, _step(token, place), form)
    if tokens.revoke(token, request.user, place.team, form.cleaned_data["reason"]):
        done(request, _("The token “%(name)s” is revoked.") % {"name": token.name}, f"restore-token-{token.pk}")
    return HttpResponseRedirect(place.back)


def restored(request: Request, token: PersonalToken, back: str, team: Team | None = None) -> HttpResponse:
    """Take the revoking of a token back, and say whether that went."""
    try:
        if tokens.restore(token, request.user, team):
            messages.success(request, _("The token “%(name)s” works again.") % {"name": token.name})
    except tokens.NotRestored:
        told = _(
            "The token was not restored. Only the person who revoked it can do so, for 24 hours, while fewer than "
            "%(most)s tokens are active."
        )
        messages.error(request, told % {"most": PersonalToken.MOST_LIVE})
    return redirect(back)


def _step(token: PersonalToken, place: Place) -> Step:
    return Step(
        title=_("Revoke access token “%(name)s”") % {"name": token.name},
        whose=place.whose,
        consequences=of_token(token),
        undo=_("For 24 hours you can restore it. It is the same token then: programs need no change."),
        button=_("Revoke token"),
        action_url=place.url,
        cancel_url=place.back,
        section=place.section,
    )
