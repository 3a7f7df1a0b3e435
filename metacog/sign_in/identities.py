"""What providers know people as: connected with their accounts here, and disconnected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import is_password_usable
from django.db import IntegrityError, transaction

from metacog.accounts import keys
from metacog.audit import audit
from metacog.models import User
from metacog.sign_in import groups, openid, vouching


class LastWayIn(Exception):
    """Nobody could sign in to the account any more; nothing was written."""


def connect(person: User, app: Any, identity: Mapping[str, Any]) -> bool:
    """Let an identity {"uid", "told"} of a provider sign in as somebody; False where it is another person's."""
    try:
        with transaction.atomic():
            account, is_new = SocialAccount.objects.get_or_create(
                provider=app.provider_id, uid=identity["uid"], defaults={"user": person, "extra_data": identity["told"]}
            )
            if is_new:
                _record("identity-connected", person, app.name, account)
                has_factor = openid.has_second_factor(identity["told"])
                refresh_token = keys.decrypted(identity["refresh_token_encrypted"]) or ""
                vouching.confirm(account, refresh_token, has_second_factor=has_factor)
    except IntegrityError:  # somebody was faster
        return False
    return bool(account.user_id == person.pk)


def disconnect(person: User, account: SocialAccount) -> None:
    """Let an identity sign in no more; what it gave goes with it: roles and sessions. Raises LastWayIn."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)  # two at once take turns
        if not has_other_way_in(person, account):
            raise LastWayIn
        _record("identity-disconnected", person, account.provider, account)
        groups.apply(person, account.provider, {})
        vouching.end_sessions(account)
        account.delete()


def is_unclaimed(person: User) -> bool:
    """Say whether nobody can have signed in to an account yet, so that its address is as an owner wrote it."""
    return not (
        is_password_usable(person.password)
        or SocialAccount.objects.filter(user=person).exists()
        or Authenticator.objects.filter(user=person).exists()
    )


def has_other_way_in(person: User, account: SocialAccount) -> bool:
    """Say whether somebody can sign in by anything but this: a password, a passkey alone, another provider."""
    there = [app.provider_id for app in openid.apps()]
    others = SocialAccount.objects.filter(user=person, provider__in=there).exclude(pk=account.pk)
    passkeys = Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN)
    return (
        person.has_usable_password()
        or others.exists()
        or (settings.HAS_PASSKEYS and not settings.SSO_ONLY and any(each.wrap().is_passwordless for each in passkeys))
    )


def known_as(account: SocialAccount) -> str:
    """Return what people know an identity by."""
    return str(openid.person(account.extra_data).get("email") or account.uid)


def _record(action: str, person: User, provider: str, account: SocialAccount) -> None:
    audit.record(action, str(person.pk), actor=person, team=None, name=provider, identity=known_as(account))
