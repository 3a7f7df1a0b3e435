"""Set up a team's webhooks. Each change and its audit event are one transaction; who may is the caller's to check."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.accounts import keys
from metacog.accounts.addresses import refuse_private
from metacog.accounts.agents import check_callback_url
from metacog.audit import audit
from metacog.models import Team, User
from reviews.models import Delivery, TeamWebhook
from reviews.models.deliveries import TEAM_EVENTS
from reviews.outbox.deliveries import SwitchedOff
from reviews.serializers import body_of

MOST = 10  # of one team
RESTORABLE_FOR = timedelta(hours=24)  # one that was removed
DAYS = 7  # over which what it gets a day is counted
TEST = "webhook.test"


def of_team(team: Team) -> list[TeamWebhook]:
    """Return a team's webhooks, the oldest first."""
    return list(TeamWebhook.objects.filter(team=team, removed_at=None))


def add(team: Team, person: User, *, url: str, events: Collection[str]) -> tuple[TeamWebhook, str]:
    """Add a webhook; return it with its signing secret, shown this once. Raises ValidationError, by field."""
    url, secret = _checked(url), keys.new_secret()
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)  # two owners at once, one after the other
        _check_room(team)
        Team.objects.filter(pk=team.pk).update(has_webhooks=True)
        webhook = TeamWebhook.objects.create(
            team=team,
            url=url,
            events=_in_order(events),
            secret_encrypted=keys.encrypted(secret),
            created_by=person,
        )
        _record("webhook-added", webhook, person, after="on", fields=webhook.events)
    return webhook, secret


def set_events(webhook: TeamWebhook, person: User, events: Collection[str]) -> bool:
    """Choose which events a webhook gets from now on; return whether that was a change."""
    with transaction.atomic():
        row = _locked(webhook)
        before, row.events = row.events, _in_order(events)
        if row.events == before:
            return False
        row.save(update_fields=["events"])
        _record("webhook-changed", row, person, fields=row.events, was=before)
    return True


def rotate(webhook: TeamWebhook, person: User) -> str:
    """Give a webhook a new secret and return it, shown this once; the last one signs as well until it is ended."""
    secret = keys.new_secret()
    with transaction.atomic():
        row = _locked(webhook)
        row.former_secret_encrypted, row.secret_encrypted = row.secret_encrypted, keys.encrypted(secret)
        row.save(update_fields=["former_secret_encrypted", "secret_encrypted"])
        _record("webhook-secret-rotated", row, person)
    return secret


def end_former_secret(webhook: TeamWebhook, person: User) -> bool:
    """Have only the newest secret sign; return whether there was another."""
    with transaction.atomic():
        row = _locked(webhook)
        if not row.former_secret_encrypted:
            return False
        row.former_secret_encrypted = ""
        row.save(update_fields=["former_secret_encrypted"])
        _record("webhook-secret-ended", row, person)
    return True


def set_enabled(webhook: TeamWebhook, person: User, on: bool) -> bool:
    """Let a webhook have events, or none from now on; return whether that was a change.

    What it is owed already waits until it is enabled again.
    """
    with transaction.atomic():
        row = _locked(webhook)
        if row.enabled == on:
            return False
        row.enabled = on
        row.save(update_fields=["enabled"])
        states = ("disabled", "enabled")
        _record(f"webhook-{states[on]}", row, person, before=states[not on], after=states[on])
    return True


def remove(webhook: TeamWebhook, person: User, because: str = "") -> None:
    """Tell a webhook nothing more. For a day it can be restored; then its secrets and deliveries are forgotten."""
    with transaction.atomic():
        row = _locked(webhook)
        # The row stays: whoever owes it something at this moment must not fail. Disabled, it is sent nothing.
        row.was_enabled, row.enabled, row.removed_at = row.enabled, False, timezone.now()
        row.save(update_fields=["was_enabled", "enabled", "removed_at"])
        reason = {"because": because} if because else {}
        _record("webhook-removed", row, person, before="on" if row.was_enabled else "off", **reason)


def removed_from(team: Team, now: datetime) -> list[TeamWebhook]:
    """Return the webhooks of a team that can be restored, the last removed first."""
    rows = TeamWebhook.objects.filter(team=team, removed_at__gt=now - RESTORABLE_FOR).exclude(secret_encrypted="")
    return list(rows.order_by("-removed_at"))


def restore(webhook: TeamWebhook, person: User) -> bool:
    """Have a removed webhook as it was, and send what it is owed; return whether it was.

    Raises ValidationError where the team has as many as it may have.
    """
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=webhook.team_id)
        removed = TeamWebhook.objects.select_for_update(of=("self",), no_key=True).select_related("team")
        row = removed.filter(pk=webhook.pk, removed_at__gt=timezone.now() - RESTORABLE_FOR).first()
        if row is None or not row.secret_encrypted:
            return False
        _check_room(row.team)
        row.enabled, row.removed_at = row.was_enabled, None
        row.save(update_fields=["enabled", "removed_at"])
        _record("webhook-restored", row, person, after="on" if row.enabled else "off")
    return True


def forget_removed(now: datetime) -> int:
    """Forget the secrets and deliveries of the webhooks that can no longer be restored; return how many those were."""
    due = TeamWebhook.objects.filter(removed_at__lte=now - RESTORABLE_FOR).exclude(secret_encrypted="")
    forgotten = 0
    for pk in list(due.values_list("pk", flat=True)):
        with transaction.atomic():
            # One that is restored at this moment has no such time any more.
            ended = due.filter(pk=pk).update(secret_encrypted="", former_secret_encrypted="")
            if ended:
                Delivery.objects.filter(webhook=pk).update(body="")
                Delivery.objects.filter(webhook=pk, state=Delivery.State.WAITING).update(
                    state=Delivery.State.EXHAUSTED, leased_until=None, last_error=Delivery.Trouble.DISABLED
                )
            forgotten += ended
    return forgotten


def consequences(webhook: TeamWebhook, now: datetime) -> list[str]:
    """Say what removing a webhook takes away."""
    owed = Delivery.objects.filter(webhook=webhook)
    waiting = owed.filter(state=Delivery.State.WAITING).count()
    a_day = -(-owed.filter(created_at__gte=now - timedelta(days=DAYS)).count() // DAYS)
    return [
        ngettext(
            "%(count)s event a day is no longer sent to %(host)s.",
            "%(count)s events a day are no longer sent to %(host)s.",
            a_day,
        )
        % {"count": f"{a_day:,}", "host": webhook.host},
        ngettext(
            "%(count)s pending delivery is paused until it is restored.",
            "%(count)s pending deliveries are paused until it is restored.",
            waiting,
        )
        % {"count": f"{waiting:,}"},
        _("After 24 hours its secrets and deliveries are deleted."),
    ]


def _check_room(team: Team) -> None:
    if TeamWebhook.objects.filter(team=team, removed_at=None).count() >= MOST:
        raise ValidationError(_("A team has at most %(most)d webhooks. Remove one first.") % {"most": MOST})


def send_test(webhook: TeamWebhook, person: User) -> None:
    """Owe a webhook an event that says nothing but the team's name. Raises SwitchedOff."""
    now = timezone.now()
    with transaction.atomic():
        row = _locked(webhook)
        if row.is_off or not row.enabled:
            raise SwitchedOff
        Delivery.objects.create(webhook=row, type=TEST, body=body_of(TEST, {"team": row.team.name}, now))
        _record("webhook-tested", row, person)


def _checked(url: str) -> str:
    try:
        found = check_callback_url(url)
    except ValidationError as error:
        raise ValidationError({"url": error.messages}) from None
    if not found:
        raise ValidationError({"url": _("Give the address that events are posted to.")})
    refuse_private(found, "url")
    return found


def _in_order(events: Collection[str]) -> list[str]:
    """Return events in their usual order. Raises ValidationError where there is none, or one that is not known."""
    if not events or not set(events) <= TEAM_EVENTS.keys():
        raise ValidationError({"events": _("Choose at least one event.")})
    return [event for event in TEAM_EVENTS if event in events]


def _locked(webhook: TeamWebhook) -> TeamWebhook:
    rows = TeamWebhook.objects.select_for_update(of=("self",), no_key=True).select_related("team")
    return rows.get(pk=webhook.pk, removed_at=None)


def _record(action: str, webhook: TeamWebhook, person: User, **rest: Any) -> None:
    # Not the address: it may carry a token.
    audit.record(action, webhook.public_id, actor=person, team=webhook.team_id, host=webhook.host, **rest)
