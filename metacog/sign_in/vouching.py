"""How long a provider's word about somebody holds: whoever is removed there loses what it gave, within the hour.

A sign-in by a provider and a role that its groups gave hold for an hour (models.sign_in.HOLDS) after the provider last
said so. It is asked again by the refresh token where it gave one, in the background; else by the next sign-in there.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import user_logged_in
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from requests import RequestException

from metacog.accounts import keys
from metacog.audit import audit
from metacog.models import Identity, User
from metacog.models.sign_in import GRACE, HOLDS
from metacog.sign_in import groups, openid, second_factor

log = logging.getLogger(__name__)

ASK_AFTER = timedelta(minutes=20)  # thrice within the hour
MOST_ASKED = 100  # in one sweep
LOGOUT_SECONDS = 600  # how old a notice of a logout may be
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


def confirm(account: SocialAccount, refresh_token: str = "", **said: Any) -> None:
    """Remember that the provider has vouched for somebody just now, and by what it can be asked again."""
    now = timezone.now()
    said |= {"confirmed_at": now, "asked_at": now, "holds_until": now + HOLDS, "has_lapsed": False, "refused_at": None}
    if refresh_token:  # some give one only the first time
        said["refresh_token_encrypted"] = keys.encrypted(refresh_token)
    Identity.objects.update_or_create(account=account, defaults=said)


def refuse(identity: Identity, because: str) -> None:
    """Take what the provider gave somebody whom it vouches for no more: roles of groups, and sessions."""
    now, person = timezone.now(), identity.account.user
    asked_by = {"pk": identity.pk, "refresh_token_encrypted": identity.refresh_token_encrypted}
    with transaction.atomic():
        refused = {"refused_at": now, "holds_until": now, "has_lapsed": True, "refresh_token_encrypted": ""}
        if not Identity.objects.filter(**asked_by).update(**refused):
            return  # they have signed in there meanwhile
        told = {"person": person.get_username(), "name": identity.account.provider}
        audit.record("identity-refused", str(person.pk), actor=None, team=None, **told)
        groups.apply(person, identity.account.provider, {})
    end_sessions(identity.account)
    log.info("%s: %s is refused: %s", identity.account.provider, identity.account.uid, because)


def lapse(identity: Identity) -> None:
    """Take the roles that a provider's groups gave somebody for whom it has not vouched for an hour."""
    with transaction.atomic():
        if Identity.objects.filter(pk=identity.pk, has_lapsed=False).update(has_lapsed=True):
            groups.apply(identity.account.user, identity.account.provider, {})


def sweep() -> None:
    """Ask the providers about those whose hour is going by, and let lapse what nobody vouched for."""
    apps = {app.provider_id: app for app in openid.apps()}
    now = timezone.now()
    known = Identity.objects.select_related("account__user")
    due = known.filter(asked_at__lt=now - ASK_AFTER).exclude(refresh_token_encrypted="")
    for identity in due.filter(account__provider__in=apps).order_by("asked_at")[:MOST_ASKED]:
        # Whoever is first asks: a refresh token that is used twice is taken for a stolen one.
        if Identity.objects.filter(pk=identity.pk, asked_at=identity.asked_at).update(asked_at=timezone.now()):
            ask(apps[identity.account.provider], identity)
    for identity in known.filter(has_lapsed=False).exclude(pk__in=Identity.objects.holding(now)):
        lapse(identity)


def ask(app: Any, identity: Identity) -> None:
    """Ask a provider whether it still vouches for somebody, and for which groups."""
    account = identity.account
    try:
        token = keys.decrypted(identity.refresh_token_encrypted)
        if token is None:
            raise openid.Refused("the key by which the refresh token was encrypted is gone")
        answer = openid.exchanged(app, grant_type="refresh_token", refresh_token=token)
        _keep_token(identity, openid.refresh_token(answer))
        told = openid.claims_of(app, answer, nonce=None)
        if openid.person(told)["sub"] != account.uid:
            raise openid.Refused("the provider told of another person")
        _check_groups(app, told, account.extra_data)
    except openid.Ended as error:
        return refuse(identity, str(error))
    except openid.Refused as error:  # nothing was said, so the hour goes by
        log.warning("%s: %s was not confirmed: %s", app.provider_id, account.uid, error)
        return None
    except RequestException as error:
        log.warning("%s cannot be reached: %s", app.provider_id, error)
        until = min(timezone.now() + HOLDS, identity.confirmed_at + GRACE)
        Identity.objects.filter(pk=identity.pk, has_lapsed=False, holds_until__lt=until).update(holds_until=until)
        return None
    with transaction.atomic():
        SocialAccount.objects.filter(pk=account.pk).update(extra_data=account.extra_data | told)
        confirm(account)
        groups.apply(account.user, app.provider_id, groups.given(app, told))
    return None


def _keep_token(identity: Identity, token: str) -> None:
    """Keep what came in place of a refresh token at once, whatever else comes of asking: the former may be dead."""
    if token:
        identity.refresh_token_encrypted = keys.encrypted(token)
        identity.save(update_fields=["refresh_token_encrypted"])


def _check_groups(app: Any, told: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuse an answer that cannot say which groups somebody is in: they stood in the ID token, and there is none."""
    claim = app.settings["groups_claim"]
    if "id_token" not in told and claim in (before.get("id_token") or {}) and claim not in told["userinfo"]:
        raise openid.Refused("groups stand in the ID token alone, and none came")


def began_by(request: HttpRequest, person: User) -> dict[str, str] | None:
    """Return by which account {"provider", "uid"} of a provider a session began; None for any other."""
    records = get_authentication_records(request, person)
    used = [each for each in records if each.get("method") == "socialaccount"]
    return {name: used[-1][name] for name in ("provider", "uid")} if used else None


def identity_of(person: User, account: Mapping[str, str]) -> Identity | None:
    """Return what a provider says of somebody, for as long as that holds."""
    theirs = {f"account__{name}": value for name, value in account.items()}
    return Identity.objects.holding(timezone.now()).filter(account__user=person, **theirs).first()


def lacks_second_factor(person: User) -> bool:
    """Say whether somebody needs a second factor and has none: here, or at a provider when they last came by it."""
    if not second_factor.is_required(person) or second_factor.has_one(person):
        return False
    return not Identity.objects.filter(account__user=person, has_second_factor=True, refused_at=None).exists()


def may_use_tokens(person: User) -> bool:
    """Say whether tokens and chats may act as a person; roles that have lapsed are taken first, by whoever comes.

    Not where every provider refuses the person, who has no other way in.
    """
    identities = Identity.objects.filter(account__user=person).select_related("account__user")
    now = timezone.now()
    for identity in identities:
        if not (identity.has_lapsed or now < identity.holds_until <= now + GRACE):
            lapse(identity)
    return not identities or person.has_usable_password() or any(each.refused_at is None for each in identities)


def end_sessions(account: SocialAccount, sid: str = "") -> int:
    """End the sessions that began by an account of a provider, or the one of them with its `sid`; return how many."""
    sessions = UserSession.objects.filter(user=account.user, data__provider=account.provider, data__uid=account.uid)
    ended = [each for each in sessions if not sid or each.data.get("sid") == sid]
    for session in ended:
        session.end()
    return len(ended)


def remember(request: HttpRequest, sociallogin: Any = None, **kwargs: Any) -> None:
    """Note with a session which account of a provider it began by, so that the provider can end it."""
    if sociallogin is not None:
        account: SocialAccount = sociallogin.account
        sid = account.extra_data["id_token"].get("sid")
        data = {"provider": account.provider, "uid": account.uid, "sid": sid}
        UserSession.objects.filter(session_key=request.session.session_key).update(data=data)


user_logged_in.connect(remember)


def log_out(app: Any, token: Any) -> int:
    """Do what a provider's logout token says, once (OpenID Connect Back-Channel Logout 1.0). Raises Refused."""
    claims = openid.verified(app, token, typ="logout+jwt")
    events, now = claims.get("events"), timezone.now().timestamp()
    if not (isinstance(events, dict) and isinstance(events.get(LOGOUT), dict)) or "nonce" in claims:
        raise openid.Refused("it is no logout token")
    if claims["iat"] < now - LOGOUT_SECONDS:
        raise openid.Refused("the logout token is too old")
    sub, sid, jti = (claims.get(name, "") for name in ("sub", "sid", "jti"))
    if not (isinstance(sub, str) and isinstance(sid, str) and isinstance(jti, str) and jti and (sub or sid)):
        raise openid.Refused("the logout token says not whose")
    if not cache.add(f"logout:{app.provider_id}:{hashlib.sha256(jti.encode()).hexdigest()}", 1, 2 * LOGOUT_SECONDS):
        raise openid.Refused("the logout token was used before")
    accounts = SocialAccount.objects.filter(provider=app.provider_id).select_related("user")
    if sub:
        accounts = accounts.filter(uid=sub)
    else:
        began = UserSession.objects.filter(data__provider=app.provider_id, data__sid=sid)
        accounts = accounts.filter(user__in=began.values("user"))
    ended = sum(end_sessions(account, sid) for account in accounts)
    # Signed out is not removed: the provider is asked at once, by the next sweep.
    Identity.objects.filter(account__in=accounts).update(asked_at=timezone.now() - ASK_AFTER - timedelta(seconds=1))
    return ended
