"""Second factors: each code works once, changes are written down, and it is remembered where people are signed in."""

from __future__ import annotations

from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.http import HttpRequest

from metacog.audit import audit
from metacog.models import User

# Recovery codes come and go with these: they are no factor of their own.
_NAMES = {Authenticator.Type.TOTP: "app", Authenticator.Type.WEBAUTHN: "passkey"}
REMEMBERED = 10  # half minutes around now in which a used code is kept: longer than one is taken, even if clocks differ


def use_code(app: Authenticator, code: str) -> bool:
    """Use up a right code of an authenticator app; False where it was used before, in whichever process.

    allauth remembers codes in a cache, and for half a minute: one is taken for a minute and a half.
    """
    with transaction.atomic():
        app = Authenticator.objects.select_for_update().get(pk=app.pk)
        secret, counters = totp.decrypt(app.data["secret"]), list(totp.yield_hotp_counters_from_time())
        right = {
            each for each in counters
            if compare_user_code(actual=code, expected=totp.format_hotp_value(totp.hotp_value(secret, each)))
        }  # fmt: skip
        used = {each for each in app.data.get("used", ()) if abs(each - counters[0]) <= REMEMBERED}
        if not right or right & used:
            return False
        app.data["used"] = sorted(used | right)
        app.save(update_fields=["data"])
    return True


def is_required(person: User) -> bool:
    """Say whether a team that somebody is in requires a second factor."""
    return any(team.requires_second_factor for team in person.teams)


def has_one(person: User) -> bool:
    return bool(Authenticator.objects.filter(user=person, type__in=_NAMES).exists())


def added(sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    if authenticator.type == Authenticator.Type.TOTP:
        use_code(authenticator, request.POST.get("code", ""))
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
