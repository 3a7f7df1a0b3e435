"""What django-allauth asks of us: who comes in by a provider, how second factors are kept, and which words are used."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from axes.helpers import get_client_ip_address
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from metacog.accounts import keys
from metacog.audit import audit
from metacog.sign_in import groups, identities, openid, vouching

log = logging.getLogger(__name__)

SAID = {  # by the template that allauth would use; it says nothing else
    "mfa/messages/totp_activated.txt": _("The authenticator app is active. Signing in asks for its code from now on."),
    "mfa/messages/totp_deactivated.txt": _("The authenticator app is removed."),
    "mfa/messages/recovery_codes_generated.txt": _("Recovery codes were created. Earlier ones no longer work."),
    "mfa/messages/webauthn_added.txt": _("The passkey is added."),
    "mfa/messages/webauthn_removed.txt": _("The passkey is removed."),
}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages = DefaultAccountAdapter.error_messages | {"incorrect_password": _("Incorrect password.")}

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False  # owners add people, and groups of a provider do

    def get_client_ip(self, request: HttpRequest) -> str:
        return get_client_ip_address(request) or "0.0.0.0"  # of a socket that has none

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        if text := kwargs.get("message") or SAID.get(message_template or ""):
            messages.add_message(request, level, text)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        words = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use a passkey"),
        }
        found = super().get_reauthentication_methods(user)
        return [method | {"description": words.get(method["id"], method["description"])} for method in found]


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("The code is wrong. Codes change every 30 seconds: enter the newest.")
    }

    def encrypt(self, text: str) -> str:
        return keys.encrypted(text)

    def decrypt(self, encrypted_text: str) -> str:
        return keys.decrypted(encrypted_text) or ""  # its secret key is gone: no code is right then

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        count = Authenticator.objects.filter(user=user, type=type).count()
        name = str(_("Passkey"))
        return f"{name} {count + 1}" if count else name

    def get_totp_label(self, user: Any) -> str:
        return str(user.get_username())


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """A provider whose claims are read by `openid.person` alone."""

    def extract_uid(self, data: Any) -> str:
        return str(openid.person(data)["sub"])

    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        claims = openid.person(data)
        names = {"username": "preferred_username", "first_name": "given_name", "last_name": "family_name"}
        return {field: claims.get(claim) for field, claim in {"email": "email", "name": "name", **names}.items()}

    def extract_email_addresses(self, data: Any) -> list[EmailAddress]:
        claims = openid.person(data)
        address, is_verified = claims["email"], claims["email_verified"]
        return [EmailAddress(email=address, verified=is_verified, primary=True)] if address else []


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Give whoever comes the roles of their groups; turn away whom nobody here knows and no group lets in."""
        app = sociallogin.provider.app
        given = groups.given(app, sociallogin.account.extra_data)
        if not sociallogin.is_existing:
            self._take_in(request, sociallogin, bool(given))
        has_factor = openid.has_second_factor(sociallogin.account.extra_data)
        with transaction.atomic():
            vouching.confirm(sociallogin.account, sociallogin.refresh_token, has_second_factor=has_factor)
            groups.apply(sociallogin.user, app.provider_id, given)

    def _take_in(self, request: HttpRequest, login: SocialLogin, is_given: bool) -> None:
        """Connect whoever comes for the first time with their account here, or make them one.

        An account that somebody signs in to already is connected by them, on their page: its address was typed by its
        owner, who may have typed somebody else's.
        """
        app, known = login.provider.app, groups.with_address(login)
        if not (is_given or known) or (known and not identities.is_unclaimed(known)):
            log.warning("%s: %s was turned away: %s", app.provider_id, login.account.uid,
                        "the account is somebody's already" if known else "no group gives a role")  # fmt: skip
            is_unverified = any(not each.verified for each in login.email_addresses)
            context = {"provider": app.name, "has_account": bool(known), "is_unverified": is_unverified}
            page = render(request, "socialaccount/turned_away.html", context, status=403)
            raise ImmediateHttpResponse(page)
        with transaction.atomic():
            person = known or groups.add_person(login.user, app.provider_id)
            login.connect(request, person)
            audit.record("sign-in-connected", str(person.pk), actor=person, team=None, name=app.name)

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        log.warning("%s: sign-in failed: %s %s", provider.app.provider_id if provider else "?", error, exception or "")
