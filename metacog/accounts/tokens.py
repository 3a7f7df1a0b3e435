"""People's access tokens: made, looked up with each call, revoked. Kept as hashes."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least
from django.utils import timezone
from django.utils.translation import gettext as _

from metacog.audit import audit
from metacog.db.clocks import APART_SECONDS
from metacog.models import PersonalToken, Team, User

PREFIX = "mcp_"
CALLS_PER_SECOND = 20  # of one token; as many may come at once
RESTORABLE_FOR = timedelta(hours=24)  # a token that was revoked
USED_AGAIN = timedelta(minutes=1)  # how old `last_used_at` gets before it is written again


def issue(person: User, *, name: str, scopes: Iterable[str], days: int) -> tuple[PersonalToken, str]:
    """Make a person a token that works for so many days; return it and its text, which is shown this once.

    The text holds 256 random bits, so its plain SHA-256 is safe to store. Raises ValidationError where the person has
    as many live ones as they may.
    """
    text = PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)  # two at once take turns to be counted
        if PersonalToken.objects.live(now).filter(person=person).count() >= PersonalToken.MOST_LIVE:
            raise ValidationError(
                _("You have %(most)s active tokens, which is the limit. Revoke one first.")
                % {"most": PersonalToken.MOST_LIVE}
            )
        token = PersonalToken.objects.create(
            person=person,
            name=name,
            token_sha256=_digest(text),
            hint=text[:8],
            scopes=[scope for scope in PersonalToken.Scope.values if scope in scopes],
            created_at=now,
            expires_at=now + timedelta(days=min(days, settings.TOKEN_DAYS or days)),
        )
        _record("token-created", token, person, scopes=token.scopes, days=days)
    return token, text


def revoke(token: PersonalToken, actor: User, team: Team | None = None, because: str = "") -> bool:
    """End a token from the next call on; return whether that was a change. An owner does it in a `team`."""
    with transaction.atomic():
        live = PersonalToken.objects.filter(pk=token.pk, revoked_at=None)
        if not live.update(revoked_at=timezone.now(), revoked_by=actor):
            return False
        _record("token-revoked", token, actor, [team.pk] if team else None, **({"because": because} if because else {}))
    return True


class NotRestored(Exception):
    """A token ended too long ago, or its person has as many live ones as they may; nothing was written."""


def restorable(actor: User, now: datetime) -> QuerySet[PersonalToken]:
    """Return what somebody revoked a while ago and may take back: nobody else may."""
    ended = PersonalToken.objects.filter(revoked_by=actor, revoked_at__gt=now - RESTORABLE_FOR, expires_at__gt=now)
    return ended.select_related("person").order_by("person__username", "-id")


def restore(token: PersonalToken, actor: User, team: Team | None = None) -> bool:
    """Let a token work again that `actor` revoked a while ago; return whether that was a change.

    Raises NotRestored.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=token.person_id)
        now = timezone.now()
        if PersonalToken.objects.filter(pk=token.pk, revoked_at=None).exists():
            return False
        live = PersonalToken.objects.live(now).filter(person=token.person_id).count()
        if live >= PersonalToken.MOST_LIVE:
            raise NotRestored
        if not restorable(actor, now).filter(pk=token.pk).order_by().update(revoked_at=None, revoked_by=None):
            raise NotRestored
        _record("token-restored", token, actor, [team.pk] if team else None)
    return True


def live_tokens_of(team: Team) -> QuerySet[PersonalToken]:
    """Return the live tokens of a team's members, by member."""
    live = PersonalToken.objects.live(timezone.now()).select_related("person")
    return live.filter(person__memberships__team=team, person__is_active=True).order_by("person__username", "-id")


def live_token(text: str) -> PersonalToken | None:
    """Return the live token of an active person (read with it) whose text this is."""
    live = PersonalToken.objects.live(timezone.now()).select_related("person")
    return live.filter(token_sha256=_digest(text), person__is_active=True).first()


def count_call(token: PersonalToken) -> bool:
    """Count a call with this token; return False, having counted nothing, where it comes too soon.

    GCRA as for posts (`reviews.intake.rate.take_turn`), in one statement. A time that no calls lead to, since the
    clock was set back, counts as none.
    """
    interval, now = 1 / CALLS_PER_SECOND, time.time()
    latest = now + 1 - interval
    is_in_time = Q(rate_tat__lte=latest) | Q(rate_tat__gt=now + 1 + APART_SECONDS)
    values: dict[str, Any] = {"rate_tat": Least(Greatest(F("rate_tat"), Value(now)), Value(latest)) + Value(interval)}
    used_at = timezone.now()
    if token.last_used_at is None or token.last_used_at < used_at - USED_AGAIN:
        values["last_used_at"] = used_at
    return bool(PersonalToken.objects.filter(is_in_time, pk=token.pk).update(**values))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _record(action: str, token: PersonalToken, actor: User, teams: list[int] | None = None, **told: object) -> None:
    """Write the event for each of these teams, else for each in which the token acts: so their owners read it."""
    person = token.person
    of_person = list(person.memberships.values_list("team_id", flat=True))
    where: list[int | None] = [*(teams or of_person)] or [None]
    for team in where:
        audit.record(
            action,
            str(token.pk),
            actor=actor,
            team=team,
            person=person.get_username(),
            name=token.name,
            hint=token.hint,
            **told,
        )
