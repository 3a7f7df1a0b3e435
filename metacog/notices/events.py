"""Owe people and chats a notice of one event: a mention, an assignment, an item to decide, a webhook switched off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db.models import Q, QuerySet

from metacog.models import Channel, Notice, PushDevice, Role, User
from metacog.notices import mail


def owe(kind: Notice.Kind, about: str, people: Sequence[User], team_id: int | None, now: datetime) -> None:
    """Write into the outbox, once an event, who is to be told of it: of these people, and the team's chat.

    People are told by mail and on their devices. Nobody is told who chose not to be. It belongs into the transaction of
    the event.
    """
    told = _to_people(kind, about, "mentions", User.objects.filter(pk__in=[person.pk for person in people]), now)
    if team_id and Channel.objects.filter(team=team_id, mentions=True).exists():
        told.append(_notice(kind, about, now, team_id=team_id))
    Notice.objects.bulk_create(told, ignore_conflicts=True)


def owe_asked(about: str, people: Collection[int], team_id: int | None, now: datetime) -> None:
    """Write into the outbox who is asked to decide: these people, by their keys, and the chat of a team where given."""
    told = _to_people(Notice.Kind.ASKED, about, "mentions", User.objects.filter(pk__in=people), now)
    if team_id and Channel.objects.filter(team=team_id).exists():
        told.append(_notice(Notice.Kind.ASKED, about, now, team_id=team_id))
    Notice.objects.bulk_create(told, ignore_conflicts=True)


def owe_outage(about: str, team_id: int, now: datetime) -> None:
    """Write into the outbox, once an event, that a webhook was switched off: to the owners who want to be told."""
    is_owner = Q(memberships__team=team_id, memberships__role=Role.OWNER)
    owners = User.objects.filter(is_owner | Q(is_superuser=True)).distinct()
    Notice.objects.bulk_create(_to_people(Notice.Kind.OUTAGE, about, "outages", owners, now), ignore_conflicts=True)


def _to_people(kind: Notice.Kind, about: str, choice: str, people: QuerySet[User], now: datetime) -> list[Notice]:
    """Return the notices to those who want these events: by mail, and to each of their devices."""
    active = people.filter(is_active=True)
    wanted = active.filter(Q(told=None) | Q(**{f"told__{choice}": True})).exclude(email="").order_by("pk")
    by_mail = wanted.values_list("pk", flat=True) if mail.is_set_up() else ()
    devices = PushDevice.objects.filter(person__in=active.order_by(), **{f"person__push__{choice}": True})
    return [
        *(_notice(kind, about, now, person_id=person) for person in by_mail),
        *(_notice(kind, about, now, device_id=device) for device in devices.values_list("pk", flat=True)),
    ]


def _notice(kind: Notice.Kind, about: str, now: datetime, **reader: int) -> Notice:
    return Notice(kind=kind, about=about, until=now, created_at=now, next_attempt_at=now, **reader)
