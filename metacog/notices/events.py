"""Owe people and chats a notice of one event: somebody was mentioned, or an item was assigned to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from metacog.models import Channel, Notice, PersonNotices, User
from metacog.notices import mail


def owe(kind: Notice.Kind, about: str, people: Sequence[User], team_id: int, now: datetime) -> None:
    """Write into the outbox, once an event, who is to be told of it: of these people, and the team's chat.

    Each is told only if they chose to be. It belongs into the transaction of the event.
    """
    told: list[Notice] = []
    if mail.is_set_up():
        wanted = PersonNotices.objects.filter(person__in=people, mentions=True, person__is_active=True)
        readers = wanted.exclude(person__email="").order_by("pk").values_list("person", flat=True)
        told += [_notice(kind, about, now, person_id=person) for person in readers]
    if Channel.objects.filter(team=team_id, mentions=True).exists():
        told.append(_notice(kind, about, now, team_id=team_id))
    Notice.objects.bulk_create(told, ignore_conflicts=True)


def _notice(kind: Notice.Kind, about: str, now: datetime, **reader: int) -> Notice:
    return Notice(kind=kind, about=about, until=now, created_at=now, next_attempt_at=now, **reader)
