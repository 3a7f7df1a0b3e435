"""Set what people and chats are told, and what mail may hold. Each change and its audit event are one transaction."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from metacog import egress
from metacog.accounts import keys
from metacog.accounts.addresses import refuse_private
from metacog.audit import audit
from metacog.models import Channel, Language, PersonNotices, Team, User
from metacog.models.people import LONG_AGO

STOP = "notices.stop"  # what the signature of a link to stop mail is for

When, Weekly = PersonNotices.When, PersonNotices.Weekly


def set_for(person: User, *, email: str, **values: Any) -> list[str]:
    """Set where and when a person is told what waits, by the names of PersonNotices; return those of what changed.

    A daily mail and a weekly report come first when their hour does: not at once.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        # The row as well: a sweep may be writing down up to when they were told.
        row = PersonNotices.objects.select_for_update().filter(person=person).first() or PersonNotices.of(person)
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        for name, value in values.items():
            setattr(row, name, value)
        if row.when == When.DAILY and changed:
            row.turn_at = timezone.now()
        if row.weekly != Weekly.NEVER and any(name.startswith("weekly") for name in changed):
            row.weekly_from = timezone.now()
            User.objects.filter(pk=person.pk).update(report_at=LONG_AGO)
        row.language = spoken()
        row.save()
        if person.email != email:
            person.email = email
            person.save(update_fields=["email"])
            changed.append("email")
        if changed:
            _record(person, after=row.when, fields=changed)
    return changed


def set_for_team(team: Team, actor: User, *, mail_links: bool, mail_texts: bool) -> list[str]:
    """Set what mail about a team's items may hold; return the names of what changed.

    Links that were sent work only as long as the team allows them.
    """
    with transaction.atomic():
        row = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        values = {"mail_links": mail_links, "mail_texts": mail_texts}
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        if changed:
            Team.objects.filter(pk=team.pk).update(**values)
            audit.record("team-notices-changed", str(team.pk), actor=actor, team=team, fields=changed, **values)
    return changed


def set_channel(
    team: Team, actor: User, *, url: str, minutes: int, language: str, texts: bool, mentions: bool = False
) -> list[str]:
    """Set the chat that is told what waits for a team; return the names of what changed.

    An empty `url` leaves the address as it is. Raises ValidationError, by field.
    """
    if url:
        refuse_private(url, "url")
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        row = Channel.objects.select_for_update().filter(team=team).first()  # a sweep writes to it, too
        is_new = row is None
        row = row or Channel(team=team)
        values = {"minutes": minutes, "language": language, "texts": texts, "mentions": mentions}
        changed = [name for name, value in values.items() if is_new or getattr(row, name) != value]
        row.minutes, row.language, row.texts, row.mentions = minutes, language, texts, mentions
        if url:
            row.hint = _hint(url)
            row.url_encrypted = keys.encrypted(url)
            changed.append("url")
        elif is_new:
            raise ValidationError({"url": _("Give the address that the chat gave you.")})
        if changed:
            row.save()
            # Not the address: whoever has it can post there.
            audit.record("channel-changed", str(team.pk), actor=actor, team=team, after="on", fields=changed)
    return changed


def remove_channel(team: Team, actor: User) -> bool:
    """Tell the team's chat nothing more, and forget its address; return whether there was one."""
    with transaction.atomic():
        removed, _rows = Channel.objects.filter(team=team).delete()
        if removed:
            audit.record("channel-removed", str(team.pk), actor=actor, team=team, before="on")
    return bool(removed)


def _hint(url: str) -> str:
    """Return enough of an address to tell it from others; ValidationError when nothing can be posted there."""
    try:
        target = egress.Target.of(url)
    except egress.Failed:
        raise ValidationError({"url": _("Enter an address such as https://hooks.slack.com/services/….")}) from None
    if target.scheme != "https" and not target.is_allowed:
        raise ValidationError(
            {"url": _("The address must begin with https://, because anyone who reads it can post there.")}
        )
    return f"{target.host}/…{target.path[-4:]}"


def stop_link(person: User) -> str:
    """Return the address at which whoever got a mail stops the next one, without signing in."""
    token = signing.Signer(salt=STOP).sign_object([person.pk, fingerprint(person.email)])
    return settings.PUBLIC_URL + reverse("notices-stop", args=[token])


def of_stop_link(token: str) -> User | None:
    """Return whose mail a link stops; nobody's once their address is another."""
    try:
        pk, mark = signing.Signer(salt=STOP).unsign_object(token)
    except (signing.BadSignature, ValueError):
        return None
    person = User.objects.filter(pk=pk).first()
    return person if person and fingerprint(person.email) == mark else None


def is_told(person: User) -> bool:
    """Say whether a person is told anything by mail."""
    return PersonNotices.of(person).is_any


def stop(person: User) -> bool:
    """Tell a person nothing more by mail; return whether that was a change."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        changed = is_told(person)
        if changed:
            nothing = {"when": When.NEVER, "mentions": False, "outages": False, "weekly": Weekly.NEVER}
            PersonNotices.objects.update_or_create(person=person, defaults=nothing)
            _record(person, after=When.NEVER, fields=[*nothing], via="mail")
    return changed


def fingerprint(email: str) -> str:
    """Return what ties a link to the address it was sent to."""
    return hashlib.sha256(email.encode()).hexdigest()[:16]


def spoken() -> str:
    language = get_language() or ""
    return language if language in Language.values else Language.EN


def _record(person: User, **rest: object) -> None:
    audit.record("notices-changed", str(person.pk), actor=person, team=None, **rest)
