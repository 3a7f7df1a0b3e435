"""How one signs in: the second factor, passkeys, accounts of providers, and where one is signed in."""

from __future__ import annotations

import re
from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter as get_provider_adapter
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from metacog.audit import audit
from metacog.models import Role, User
from metacog.sign_in import identities

_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = re.compile("Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux(?!; Android)")


def sign_in_person(request: HttpRequest, person: User, next_url: str) -> HttpResponse:
    """Go on after a right password: to the second factor where somebody has one, else in."""
    response: HttpResponse = perform_password_login(
        request, {"username": person.get_username()}, Login(user=person, redirect_url=next_url)
    )
    return response


def providers(request: HttpRequest) -> list[Any]:
    """Return the OpenID Connect providers that the environment names."""
    return list(get_provider_adapter().list_providers(request)) if settings.HAS_PROVIDERS else []


class SecondFactor(AuthenticateView):  # type: ignore[misc]  # allauth has no types
    """Ask for the second factor; wrong codes count as wrong passwords do."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        credentials = {"username": self.stage.login.user.get_username()}
        if not AxesProxyHandler.is_allowed(request, credentials):
            from metacog.pages.account import locked_out  # which leads here for what follows a password

            return locked_out(request, None, credentials)
        response: HttpResponse = super().post(request, *args, **kwargs)
        if not self.form.is_valid():
            user_login_failed.send(sender=__name__, credentials=credentials, request=request)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        mine = set(Authenticator.objects.filter(user=self.stage.login.user).values_list("type", flat=True))
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["form"].fields["code"].widget.attrs["autofocus"] = True
        kinds = {"uses_app": Authenticator.Type.TOTP, "uses_passkey": Authenticator.Type.WEBAUTHN}
        return context | {name: kind in mine for name, kind in kinds.items()}


second_factor = SecondFactor.as_view()


@never_cache
@require_http_methods(["GET", "HEAD"])
def security(request: HttpRequest) -> HttpResponse:
    """Show how this person signs in, and where they are signed in."""
    person = request.user
    assert isinstance(person, User)
    factors = Authenticator.objects.filter(user=person).order_by("created_at")
    sessions = sorted(UserSession.objects.purge_and_list(person), key=lambda each: each.created_at, reverse=True)
    accounts = SocialAccount.objects.filter(user=person)
    context = {
        "app": next((each for each in factors if each.type == Authenticator.Type.TOTP), None),
        "codes": next((each.wrap() for each in factors if each.type == Authenticator.Type.RECOVERY_CODES), None),
        "passkeys": [each.wrap() for each in factors if each.type == Authenticator.Type.WEBAUTHN],
        "has_passkeys": settings.HAS_PASSKEYS,
        "public_url": settings.PUBLIC_URL,
        "may_set_up": not settings.HAS_PASSKEYS and (person.is_staff or person.teams_as(Role.OWNER).exists()),
        "sessions": [(each, browser(each.user_agent), each.is_current()) for each in sessions],
        "has_others": any(not each.is_current() for each in sessions),
        "providers": [
            (each, [(own, identities.known_as(own)) for own in accounts if own.provider == each.app.provider_id])
            for each in providers(request)
        ],
        "required_by": [team for team in person.teams if team.requires_second_factor],
        "section": "preferences",
    }
    return render(request, "metacog/security.html", context)


@require_POST
def sessions_end(request: HttpRequest) -> HttpResponse:
    """Sign this person out in one other place, or in all others."""
    person = request.user
    assert isinstance(person, User)
    mine = UserSession.objects.filter(user=person).exclude(session_key=request.session.session_key)
    chosen = request.POST.get("session", "")
    ended = list(mine.filter(pk=chosen) if chosen.isdecimal() and len(chosen) < 19 else mine if not chosen else ())
    for session in ended:
        session.end()
    if ended:
        audit.record("sessions-ended", str(person.pk), actor=person, team=None, count=len(ended))
    said = ngettext("You are signed out in %(n)s other place.", "You are signed out in %(n)s other places.", len(ended))
    messages.success(request, said % {"n": len(ended)} if ended else _("You were not signed in there any more."))
    return redirect("security")


def browser(agent: str) -> str:
    """Return what a browser calls itself, in short: "Firefox, Linux"."""
    name = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = _SYSTEMS.search(agent)
    return ", ".join(filter(None, (name, system[0] if system else ""))) or agent[:40] or _("unknown")
