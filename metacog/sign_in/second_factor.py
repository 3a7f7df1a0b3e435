"""Write down when somebody changes what signing in asks of them, and remember where they are signed in."""

from __future__ import annotations

from typing import Any

from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest

from metacog.audit import audit
from metacog.models import User

# Recovery codes come and go with these: they are no factor of their own.
_NAMES = {Authenticator.Type.TOTP: "app", Authenticator.Type.WEBAUTHN: "passkey"}


def added(sender: object, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    if factor := _NAMES.get(authenticator.type):
        audit.record("second-factor-added", str(user.pk), actor=user, team=None, factor=factor)


def removed(sender: object, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    if factor := _NAMES.get(authenticator.type):
        audit.record("second-factor-removed", str(user.pk), actor=user, team=None, factor=factor)


def made_again(sender: object, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    audit.record("recovery-codes-made", str(user.pk), actor=user, team=None)


def signed_in(sender: object, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """Remember it by whichever way: the form, a provider, a one-time link."""
    if request.session.session_key:
        request.user = user
        UserSession.objects.create_from_request(request)


signals.authenticator_added.connect(added)
signals.authenticator_reset.connect(made_again)
signals.authenticator_removed.connect(removed)
user_logged_in.connect(signed_in)
