"""Whether who is signed in may still go on: a provider may vouch for them no more, a team require a second factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from metacog.models import User
from metacog.sign_in import second_factor, vouching

# What somebody reaches who has no second factor yet: what sets one up, and the way out.
SETTING_UP = ("mfa_", "account_reauthenticate", "account_logout", "security", "sign-out", "set-theme", "set_language")


class StillAllowed:
    """Ask it before every view, and before SignInRequired, which sees to those who are signed out here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        person, match = request.user, request.resolver_match
        if not isinstance(person, User) or match is None:
            return None
        account = vouching.began_by(request, person)
        identity = vouching.identity_of(person, account) if account else None
        if account and identity is None:
            logout(request)
            return self._to_provider(request, account["provider"])
        if settings.SSO_ONLY and account is None:  # it began by a password, before
            logout(request)
            return None
        if (match.url_name or "").startswith(SETTING_UP) or not second_factor.is_required(person):
            return None
        if (identity and identity.has_second_factor) or second_factor.has_one(person):
            return None
        if getattr(request, "htmx", False):
            return HttpResponse(status=204, headers={"HX-Redirect": reverse("security")})
        return redirect("security")

    def _to_provider(self, request: HttpRequest, provider: str) -> HttpResponse | None:
        """Have the provider asked again, which may take no more than a moment; but lose no form without a word."""
        if request.method not in ("GET", "HEAD") or getattr(request, "htmx", False):
            return None
        url = reverse("openid_connect_login", args=[provider])
        return redirect(f"{url}?{urlencode({'next': request.get_full_path()})}")
