"""Tell people by mail what waits for them: of each item once, and nothing when nothing waits.

A Notice row is the outbox and the truth: whoever sends it claims it first, for the length of a lease, by a conditional
UPDATE. While one waits, no other is written for its person; each attempt tells of all that waits by then, so that an
outage ends in one mail. No transaction is open while anything is sent, and the threads that send touch no row.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog import audit, mail
from metacog.models import Notice, PersonNotices, Role, User
from reviews import notice_texts
from reviews.deliveries import turn
from reviews.models import HeldItem
from reviews.presence import SEEN_FOR

State, Trouble, When = Notice.State, Notice.Trouble, PersonNotices.When

AT_MOST_EVERY = timedelta(hours=1)
# How far behind the clock items are told of: those of a transaction that commits late are there by then.
SETTLED = timedelta(minutes=1)
SCHEDULE = (60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 28_800)  # seconds from each attempt to the next: a day
LEASE = timedelta(seconds=60)  # longer than an attempt and the writing of its outcome may take
SLOTS = 16  # attempts at once


@dataclass(frozen=True)
class Attempt:
    """One claimed notice, and what is sent."""

    notice: Notice
    number: int  # 1 is the first
    message: EmailMultiAlternatives


def write_due(now: datetime | None = None) -> int:
    """Write the notices whose time has come into the outbox; return how many."""
    now = now or timezone.now()
    if not mail.is_set_up():
        return 0
    under_way = Notice.objects.filter(person=OuterRef("person"), state=State.WAITING)
    rows = PersonNotices.objects.exclude(when=When.NEVER).exclude(Exists(under_way))
    reachable = rows.filter(person__is_active=True).exclude(person__email="").select_related("person")
    return sum(_write(row, now) for row in reachable if _is_due(row, now))


def send_due(now: datetime | None = None) -> int:
    """Send what is due, all at once, and return how many attempts that took.

    It takes as long as the slowest attempt, which has a deadline, and no more than one of a machine's worker processes.
    """
    with turn("notices") as is_ours:
        attempts = _claim_due(now or timezone.now()) if is_ours else []
        with ThreadPoolExecutor(SLOTS, thread_name_prefix="notify") as pool:
            troubles = list(pool.map(mail.send, [attempt.message for attempt in attempts]))
        for attempt, trouble in zip(attempts, troubles, strict=True):
            _record(attempt, trouble, now or timezone.now())
    return len(attempts)


# -- whose turn it is --------------------------------------------------------------------------------


def _is_due(row: PersonNotices, now: datetime) -> bool:
    if row.turn_at is None:
        return True
    return row.turn_at < (_last_hour(row, now) if row.when == When.DAILY else now - AT_MOST_EVERY)


def _last_hour(row: PersonNotices, now: datetime) -> datetime:
    """Return when it last was the hour that the person chose, where they are."""
    today = now.astimezone(notice_texts.zone_of(row.person)).replace(hour=row.hour, minute=0, second=0, microsecond=0)
    # Compared in UTC: within one zone Python compares the hands of the clock.
    came = today.astimezone(UTC)
    return came if came <= now else (today - timedelta(days=1)).astimezone(UTC)


def _until(row: PersonNotices, now: datetime) -> datetime:
    """Return up to when what was held is told of now."""
    return now - (SETTLED if row.when == When.DAILY else timedelta(minutes=row.minutes))


def _waiting_for(person: User, now: datetime) -> QuerySet[HeldItem]:
    """Return what waits where a person decides."""
    pending = HeldItem.objects.filter(state=HeldItem.State.PENDING, expires_at__gt=now)
    return pending.filter(team__in=person.teams_as(Role.REVIEWER))


def _new(waiting: QuerySet[HeldItem], since: datetime | None, until: datetime, now: datetime) -> QuerySet[HeldItem]:
    """Return what was held after `since` (None: ever) and until `until`, and nobody has open."""
    items = waiting.filter(held_at__lte=until).exclude(looked_at__seen_at__gt=now - SEEN_FOR)
    return items.filter(held_at__gt=since) if since else items


def _write(row: PersonNotices, now: datetime) -> bool:
    """Write a notice when there is something new to tell. A daily turn is over either way."""
    until = _until(row, now)
    has_news = _new(_waiting_for(row.person, now), row.told_until, until, now).exists()
    if not has_news and row.when != When.DAILY:
        return False
    with transaction.atomic():
        # Another sweep may have been faster, or the person may have changed their mind.
        ours = PersonNotices.objects.filter(pk=row.pk, turn_at=row.turn_at, when=row.when).update(turn_at=now)
        if ours and has_news:
            Notice.objects.create(
                person=row.person, since=row.told_until, until=until, created_at=now, next_attempt_at=now
            )
    return bool(ours and has_news)


# -- sending -----------------------------------------------------------------------------------------


def _claim_due(now: datetime) -> list[Attempt]:
    due = Notice.objects.filter(
        Q(leased_until=None) | Q(leased_until__lte=now), state=State.WAITING, next_attempt_at__lte=now
    )
    claimed = []
    for notice in due.select_related("person__told").order_by("next_attempt_at", "pk")[:SLOTS]:
        if notice.attempts > len(SCHEDULE):  # a worker died in the last one
            _end(notice, State.GIVEN_UP, Trouble.INTERRUPTED, now)
        elif attempt := _claim(due, notice, now):
            claimed.append(attempt)
    return claimed


def _claim(due: QuerySet[Notice], notice: Notice, now: datetime) -> Attempt | None:
    """Claim one notice, and make what it says of all that is new by now; None when another has it or nothing is."""
    person, row = notice.person, notice.person.told
    until = max(notice.until, _until(row, now))
    died = {"trouble": Trouble.INTERRUPTED} if notice.leased_until else {}
    with transaction.atomic():
        if not due.filter(pk=notice.pk, attempts=notice.attempts).update(
            attempts=F("attempts") + 1, leased_until=now + LEASE, until=until, **died
        ):
            return None
        PersonNotices.objects.filter(pk=row.pk).update(turn_at=now, told_until=until)
    notice.attempts += 1
    waiting = _waiting_for(person, now)
    new = _new(waiting, notice.since, until, now)
    if not (person.is_active and person.email and row.when != When.NEVER and new.exists()):
        _end(notice, State.MOOT, "", now)
        return None
    return Attempt(notice, notice.attempts, notice_texts.mail_of(notice, new, waiting, now))


def _record(attempt: Attempt, trouble: str, now: datetime) -> None:
    """Write what came of an attempt."""
    notice = attempt.notice
    if not trouble:
        _end(notice, State.SENT, "", now)
    elif attempt.number > len(SCHEDULE):
        _end(notice, State.GIVEN_UP, trouble, now)
    else:
        pause = timedelta(seconds=SCHEDULE[attempt.number - 1])
        ours = Notice.objects.filter(pk=notice.pk, state=State.WAITING, attempts=attempt.number)
        ours.update(leased_until=None, next_attempt_at=now + pause, trouble=trouble)


def _end(notice: Notice, after: Notice.State, trouble: str, now: datetime) -> None:
    with transaction.atomic():
        if (
            Notice.objects.filter(pk=notice.pk, state=State.WAITING).update(
                state=after, ended_at=now, leased_until=None, trouble=trouble
            )
            and after != State.MOOT
        ):
            audit.record(
                f"notice-{after}",
                notice.public_id,
                actor=None,
                team=None,
                before=State.WAITING,
                after=after,
                person=notice.person.get_username(),
                attempts=notice.attempts,
                trouble=trouble,
            )
