"""To an OpenID Connect provider and back: signing in by it, and connecting what it knows somebody as."""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import (
    get_reauthentication_flows,
    raise_if_reauthentication_required,
)
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login, render_authentication_error
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.utils import generate_code_challenge
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from requests import RequestException

from metacog.accounts import keys
from metacog.pages.account import Request
from metacog.sign_in import identities, openid, vouching

log = logging.getLogger(__name__)

PENDING = "connecting"  # in the session: an identity that is about to be connected
PENDING_SECONDS = 600
RECENT_SECONDS = 300  # as allauth has it for passwords and codes


@login_not_required
@never_cache
@require_safe
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead whoever wants to sign in to the provider; nothing else is begun by a link."""
    provider, next_url = _provider(request, provider_id), request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure()):
        next_url = ""
    if request.user.is_authenticated:
        return redirect(next_url or "queue")
    try:
        return redirect(_authorization_url(request, provider, AuthProcess.LOGIN, next_url))
    except (OAuth2Error, RequestException) as error:
        return _failed(request, provider, error)


@login_not_required
@never_cache
@require_safe
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take in whom the provider sends back, if it answers what this browser was sent there with."""
    provider = _provider(request, provider_id)
    state = statekit.unstash_state(request, provider_id=provider.sub_id, state_id=request.GET.get("state", ""))
    if state is None:
        return _failed(request, provider, openid.Refused("the state is not one that was sent"))
    if request.GET.get("error") == "access_denied":
        return redirect("socialaccount_login_cancelled")
    try:
        answer = _exchanged(request, provider, state)
        login = provider.sociallogin_from_response(request, openid.claims_of(provider.app, answer, state["nonce"]))
    except (OAuth2Error, RequestException) as error:
        return _failed(request, provider, error)
    login.state, login.refresh_token = state, openid.refresh_token(answer)  # never kept with the session
    if state["process"] == AuthProcess.CONNECT:
        return _to_confirm(request, login)
    response: HttpResponse = complete_social_login(request, login)
    return response


@csrf_exempt  # the provider posts it, and its token is signed
@login_not_required
@never_cache
@require_POST
def log_out(request: HttpRequest, provider_id: str) -> HttpResponse:
    """End the sessions that the provider says have ended there (OpenID Connect Back-Channel Logout 1.0)."""
    app = _provider(request, provider_id).app
    try:
        vouching.log_out(app, request.POST.get("logout_token"))
    except openid.Refused as error:
        log.warning("%s: a logout was refused: %s", app.provider_id, error)
        return JsonResponse({"error": "invalid_request", "error_description": str(error)}, status=400)
    except RequestException as error:
        log.warning("%s: a logout could not be checked: %s", app.provider_id, error)
        return JsonResponse({"error": "temporarily_unavailable"}, status=503)
    return HttpResponse(status=200)


@never_cache
@require_POST
def connect(request: Request, provider_id: str) -> HttpResponse:
    """Lead somebody to the provider to show which identity is theirs, once they have shown who they are here."""
    _check_is_recent(request)
    provider = _provider(request, provider_id)
    try:
        url = _authorization_url(request, provider, AuthProcess.CONNECT, "")
    except (OAuth2Error, RequestException) as error:
        return _failed(request, provider, error)
    # A page and not a redirect: browsers follow none to another host from a form of ours, see ContentSecurityPolicy.
    return render(request, "socialaccount/away.html", {"provider": provider.app.name, "url": url})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def connect_confirm(request: Request) -> HttpResponse:
    """Say which identity is about to be connected with which account, and connect it when told to."""
    pending = request.session.get(PENDING)
    if not pending or not 0 <= time.time() - pending["at"] < PENDING_SECONDS:
        messages.error(request, _("Nothing was connected: that took too long. Start again."))
        return redirect("security")
    app = _provider(request, pending["provider"]).app
    if request.method != "POST":
        claims = openid.person(pending["told"])
        context = {"provider": app.name, "issuer": app.settings["issuer"], "claims": claims, "section": "preferences"}
        return render(request, "socialaccount/connect.html", context)
    _check_is_recent(request)
    del request.session[PENDING]
    if identities.connect(request.user, app, pending):
        messages.success(request, _("The account is connected: you can sign in with it."))
    else:
        messages.error(request, _("That account belongs to another person here."))
    return redirect("security")


@require_POST
def disconnect(request: Request, account_id: int) -> HttpResponse:
    """Let an identity sign in no longer; never the last way in."""
    account = get_object_or_404(SocialAccount, pk=account_id, user=request.user)
    _check_is_recent(request)
    try:
        identities.disconnect(request.user, account)
    except identities.LastWayIn:
        messages.error(request, _("It is your only way to sign in, so it stays connected. Connect another one first."))
    else:
        messages.success(request, _("The account is disconnected: nobody signs in with it any more."))
    return redirect("security")


def _provider(request: HttpRequest, provider_id: str) -> Any:
    try:
        return get_adapter().get_provider(request, provider=provider_id)
    except SocialApp.DoesNotExist:
        raise Http404 from None


def _authorization_url(request: HttpRequest, provider: Any, process: str, next_url: str) -> str:
    """Return where the provider asks who somebody is; what its answer must match is kept in the session."""
    app = provider.app
    config, nonce, pkce = openid.discovered(app), secrets.token_urlsafe(32), generate_code_challenge()
    state = provider.stash_redirect_state(
        request, process, next_url, nonce=nonce, pkce_code_verifier=pkce.pop("code_verifier")
    )
    asked = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": _callback_url(request, provider),
        "scope": openid.scope(config),
        "state": state,
        "nonce": nonce,
        **pkce,
    }
    endpoint = config["authorization_endpoint"]
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"


def _exchanged(request: HttpRequest, provider: Any, state: dict[str, Any]) -> dict[str, Any]:
    if request.GET.get("iss", provider.app.settings["issuer"]) != provider.app.settings["issuer"]:
        raise openid.Refused("another issuer answered")
    if not (code := request.GET.get("code")):
        raise openid.Refused(f"the provider answered {request.GET.get('error', 'no code')!r}")
    return openid.exchanged(
        provider.app,
        grant_type="authorization_code",
        code=code,
        redirect_uri=_callback_url(request, provider),
        code_verifier=state["pkce_code_verifier"],
    )


def _callback_url(request: HttpRequest, provider: Any) -> str:
    return request.build_absolute_uri(reverse("openid_connect_callback", args=[provider.app.provider_id]))


def _to_confirm(request: HttpRequest, login: Any) -> HttpResponse:
    if not request.user.is_authenticated:  # signed out meanwhile
        return redirect("sign-in")
    request.session[PENDING] = {
        "provider": login.account.provider,
        "uid": login.account.uid,
        "told": login.account.extra_data,
        "refresh_token_encrypted": keys.encrypted(login.refresh_token),
        "at": time.time(),
    }
    return redirect("account_connect_confirm")


def _check_is_recent(request: Request) -> None:
    """Have the password or the second factor asked once more where that was long ago.

    Who has neither signed in by a provider, and does so once more.
    """
    raise_if_reauthentication_required(request, app="metacog")
    if get_reauthentication_flows(request.user):
        return
    records = get_authentication_records(request, request.user)
    if not records or not 0 <= time.time() - records[-1]["at"] < RECENT_SECONDS:
        messages.error(request, _("Sign out and sign in again first: this protects your account."))
        raise ImmediateHttpResponse(redirect("security"))


def _failed(request: HttpRequest, provider: Any, error: Exception) -> HttpResponse:
    response: HttpResponse = render_authentication_error(request, provider, AuthError.UNKNOWN, exception=error)
    return response
