"""Set what people are told by mail, and what it may hold. Each change and its audit event are one transaction."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language

from metacog import audit
from metacog.models import Language, PersonNotices, Team, User

STOP = "notices.stop"  # what the signature of a link to stop mail is for

When = PersonNotices.When


def set_for(person: User, *, email: str, when: str, minutes: int, hour: int) -> list[str]:
    """Set where and when a person is told what waits; return the names of what changed.

    A daily mail comes first when that hour does: not at once.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        row = PersonNotices.objects.filter(person=person).first() or PersonNotices(person=person)
        values = {"when": when, "minutes": minutes, "hour": hour}
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        if when == When.DAILY and changed:
            row.turn_at = timezone.now()
        row.when, row.minutes, row.hour = when, minutes, hour
        row.language = _spoken()
        row.save()
        if person.email != email:
            person.email = email
            person.save(update_fields=["email"])
            changed.append("email")
        if changed:
            _record(person, after=when, fields=changed)
    return changed


def set_for_team(team: Team, actor: User, *, mail_links: bool, mail_texts: bool) -> list[str]:
    """Set what mail about a team's items may hold; return the names of what changed.

    Links that were sent work only as long as the team allows them.
    """
    with transaction.atomic():
        row = Team.objects.select_for_update().get(pk=team.pk)
        values = {"mail_links": mail_links, "mail_texts": mail_texts}
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        if changed:
            Team.objects.filter(pk=team.pk).update(**values)
            audit.record("team-notices-changed", str(team.pk), actor=actor, team=team, fields=changed, **values)
    return changed


def stop_link(person: User) -> str:
    """Return the address at which whoever got a mail stops the next one, without signing in."""
    token = signing.dumps([person.pk, fingerprint(person.email)], salt=STOP)
    return settings.PUBLIC_URL + reverse("notices-stop", args=[token])


def of_stop_link(token: str) -> User | None:
    """Return whose mail a link stops; nobody's once their address is another."""
    try:
        pk, mark = signing.loads(token, salt=STOP)
    except (signing.BadSignature, ValueError):
        return None
    person = User.objects.filter(pk=pk).first()
    return person if person and fingerprint(person.email) == mark else None


def stop(person: User) -> bool:
    """Tell a person nothing more by mail; return whether that was a change."""
    with transaction.atomic():
        changed = PersonNotices.objects.filter(person=person).exclude(when=When.NEVER).update(when=When.NEVER)
        if changed:
            _record(person, after=When.NEVER, fields=["when"], via="mail")
    return bool(changed)


def fingerprint(email: str) -> str:
    """Return what ties a link to the address it was sent to."""
    return hashlib.sha256(email.encode()).hexdigest()[:16]


def _spoken() -> str:
    language = get_language() or ""
    return language if language in Language.values else Language.EN


def _record(person: User, **rest: object) -> None:
    audit.record("notices-changed", str(person.pk), actor=person, team=None, **rest)
