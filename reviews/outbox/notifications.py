"""Tell people by mail and on their devices, and teams' chats, of held items (of each once) and of events.

A Notice row is the outbox and the truth: whoever sends it claims it first, for the length of a lease, by a conditional
UPDATE. While one about held items waits, no other is written for its reader; each attempt tells of all that is held by
then, so that an outage ends in one message. Those about an event are written by metacog/notices/events.py in the
event's transaction, and are not needed any more once it was taken back. What a device shows of an item is replaced once
the item is decided. No transaction is open while anything is sent,
and the threads that send touch no row.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog.audit import audit
from metacog.db import clocks
from metacog.models import Channel, Notice, PersonNotices, PersonPush, PushDevice, PushKey, Role
from metacog.notices import chat, devices, mail, push
from metacog.notices.push import Outcome
from reviews.held import approvers, presence
from reviews.isolation import by_itself
from reviews.models import Asked, ExtensionRequest, HeldItem
from reviews.outbox import (
    asked_texts,
    event_texts,
    notification_texts,
    outage_texts,
    push_texts,
    quiet_hours,
    weekly,
)
from reviews.outbox.deliveries import turn

Kind, State, Trouble, When = Notice.Kind, Notice.State, Notice.Trouble, PersonNotices.When
Held = HeldItem.Kind

AT_MOST_EVERY = timedelta(hours=1)  # mail to one person
# How far behind the clock items are told of: those of a transaction that commits late are there by then.
SETTLED = timedelta(minutes=1)
SETTLED_ON_DEVICES = timedelta(seconds=10)  # an agent may be waiting
SCHEDULE = (60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 28_800)  # seconds from each attempt to the next: a day
LONGEST_PAUSE = 3600  # seconds for which a push service may ask to be left alone
PUSH_PAUSES = [max(pause, LONGEST_PAUSE) for pause in SCHEDULE]
LEASE = timedelta(seconds=60)  # longer than an attempt and the writing of its outcome may take
SLOTS = 16  # attempts at once
TURN_SECONDS = 15.0  # in which a sweep begins attempts; with the deadline of the last it ends before the task's limit
KEPT = timedelta(days=90)  # rows of what is over; the audit record keeps that it was sent

log = logging.getLogger(__name__)

Reader = PersonNotices | PushDevice | Channel  # who is told, and up to when they have been
READERS = (PersonNotices, PushDevice, Channel)


@dataclass(frozen=True)
class Attempt:
    """One claimed notice, and what sends it."""

    notice: Notice
    send: Callable[[], Outcome]  # touches no row


def write_due(now: datetime | None = None) -> int:
    """Write the notices whose time has come into the outbox; return how many."""
    now = now or timezone.now()
    _forget_the_future(now)
    waiting = Notice.objects.filter(state=State.WAITING, kind=Kind.HELD)
    people = (
        PersonNotices.objects.exclude(when=When.NEVER)
        .filter(~Exists(waiting.filter(person=OuterRef("person"))), person__is_active=True)
        .exclude(person__email="")
        .select_related("person")
    )
    devices = PushDevice.objects.filter(~Exists(waiting.filter(device=OuterRef("pk"))), person__is_active=True)
    channels = Channel.objects.filter(~Exists(waiting.filter(team=OuterRef("team")))).select_related("team")
    readers: list[Reader] = [*(people if mail.is_set_up() else ()), *devices.select_related("person__push"), *channels]
    written = _write_decided(now)
    for reader in readers:
        with by_itself("No notice written for the %s %s", type(reader).__name__, reader.pk):
            written += _is_due(reader, now) and _write(reader, now)
    return written


def send_due(now: datetime | None = None) -> int:
    """Send what is due, many at once, and return how many attempts that took.

    It ends with the slowest attempt begun in its turn, which has a deadline, and holds one of a machine's worker
    processes at most.
    """
    began, sent = time.monotonic(), 0
    with turn("notices") as is_ours, ThreadPoolExecutor(SLOTS, thread_name_prefix="notify") as pool:
        while is_ours and time.monotonic() - began < TURN_SECONDS:
            attempts = _claim_due(now or timezone.now())
            for attempt, outcome in zip(attempts, pool.map(lambda each: each.send(), attempts), strict=True):
                _record(attempt.notice, outcome, now or timezone.now())
            sent += len(attempts)
            if len(attempts) < SLOTS:
                break
    return sent


def forget(now: datetime | None = None) -> int:
    """Delete the notices that were over so long ago; return how many."""
    over = Notice.objects.exclude(state=State.WAITING).filter(ended_at__lt=(now or timezone.now()) - KEPT)
    return over.delete()[0]


# -- whose turn it is --------------------------------------------------------------------------------


def _forget_the_future(now: datetime) -> None:
    """Begin anew, where the clock was set back, with those who were told by the one before: what comes now is new."""
    for readers in READERS:
        readers._default_manager.filter(told_until__gt=now).update(told_until=now)
        readers._default_manager.filter(turn_at__gt=now).update(turn_at=now)
    to_devices = Q(device__isnull=False)
    too_far = ~to_devices & clocks.too_far(now, SCHEDULE) | to_devices & clocks.too_far(now, PUSH_PAUSES)
    clocks.bring_forward(Notice.objects.filter(too_far, state=State.WAITING), "next_attempt_at", now)


def _is_due(reader: Reader, now: datetime) -> bool:
    if reader.turn_at is None:
        return True
    if isinstance(reader, Channel):
        return reader.turn_at <= now - timedelta(minutes=reader.minutes)
    if isinstance(reader, PushDevice):
        return reader.turn_at <= now - timedelta(minutes=reader.person.push.every)
    return reader.turn_at < (_last_hour(reader, now) if reader.when == When.DAILY else now - AT_MOST_EVERY)


def _last_hour(row: PersonNotices, now: datetime) -> datetime:
    """Return when it last was the hour that the person chose, where they are."""
    today = now.astimezone(notification_texts.zone_of(row.person))
    today = today.replace(hour=row.hour, minute=0, second=0, microsecond=0, fold=0)  # an hour that comes twice is once
    # Compared in UTC: within one zone Python compares the hands of the clock.
    came = today.astimezone(UTC)
    return came if came <= now else (today - timedelta(days=1)).astimezone(UTC)


def _until(reader: Reader, now: datetime) -> datetime:
    """Return up to when what was held is told of now."""
    if isinstance(reader, PushDevice):
        return now - max(timedelta(minutes=reader.person.push.minutes), SETTLED_ON_DEVICES)
    has_to_wait = isinstance(reader, PersonNotices) and reader.when == When.WAITING
    return now - (timedelta(minutes=reader.minutes) if has_to_wait else SETTLED)


def _waiting_for(reader: Reader, now: datetime) -> QuerySet[HeldItem]:
    """Return what waits where a person decides and may approve it, or in a team; not what a route sends elsewhere."""
    routed = Asked.objects.filter(held=OuterRef("pk"), step=0).exclude(to="")
    pending = HeldItem.objects.filter(~Exists(routed), state=HeldItem.State.PENDING, expires_at__gt=now)
    if isinstance(reader, Channel):
        return approvers.narrowed(pending.filter(team=reader.team_id), "", None)
    decided = pending.filter(team__in=reader.person.teams_as(Role.REVIEWER))
    if isinstance(reader, PushDevice):
        decided = decided.filter(_chosen(reader.person.push))
    return approvers.to_tell(decided, reader.person_id)


def _chosen(choice: PersonPush) -> Q:
    """Match the held items that a person chose to be told of on their devices."""
    kinds = [
        kind for kind, is_chosen in ((Held.TOOL_CALL, choice.calls), (Held.QUESTION, choice.questions)) if is_chosen
    ]
    return Q(kind__in=kinds) | (~Q(kind__in=HeldItem.NO_WORDS) if choice.words else Q(pk=None))


def _new(waiting: QuerySet[HeldItem], since: datetime | None, until: datetime) -> QuerySet[HeldItem]:
    """Return what was held after `since` (None: ever) and until `until`."""
    items = waiting.filter(held_at__lte=until)
    return items.filter(held_at__gt=since) if since else items


def _write(reader: Reader, now: datetime) -> bool:
    """Write a notice when something new waits that nobody has open. A daily turn is over either way."""
    until = _until(reader, now)
    new = _new(_waiting_for(reader, now), reader.told_until, until)
    # What somebody has open is told with the others, or when they went away: this is its only time.
    has_news = new.exclude(looked_at__seen_at__range=presence.of_late(now)).exists()
    is_daily = isinstance(reader, PersonNotices) and reader.when == When.DAILY
    if not (has_news or is_daily):
        return False
    with transaction.atomic():
        # Another sweep may have been faster, or somebody may have changed what is told.
        ours = type(reader)._default_manager.filter(pk=reader.pk, turn_at=reader.turn_at).update(turn_at=now)
        if ours and has_news:
            Notice.objects.create(
                person_id=reader.pk if isinstance(reader, PersonNotices) else None,
                device_id=reader.pk if isinstance(reader, PushDevice) else None,
                team_id=reader.pk if isinstance(reader, Channel) else None,
                since=reader.told_until,
                until=until,
                created_at=now,
                next_attempt_at=now,
            )
    return bool(ours and has_news)


def _write_decided(now: datetime) -> int:
    """Write a notice of each item that is decided for good and still stands on a device; return how many."""
    over = HeldItem.objects.filter(public_id=OuterRef("shows"), closed_at__isnull=False)
    shown = Notice.objects.filter(Exists(over), state=State.SENT, device__isnull=False).exclude(shows="")
    written = 0
    for former in shown:
        with by_itself("No notice written in place of %s", former.public_id):
            written += _replace(former, now)
    return written


def _replace(former: Notice, now: datetime) -> bool:
    """Owe a device what takes the place of a notice; False where another sweep did, or the device shows it no more."""
    with transaction.atomic():
        ours = Notice.objects.filter(pk=former.pk, shows=former.shows).update(shows="")
        if ours:
            Notice.objects.create(
                device_id=former.device_id,
                kind=Kind.DECIDED,
                about=former.public_id,
                shows=former.shows,
                since=former.since,
                until=former.until,
                created_at=now,
                next_attempt_at=now,
            )
    return bool(ours)


# -- sending -----------------------------------------------------------------------------------------


def _claim_due(now: datetime) -> list[Attempt]:
    due = Notice.objects.filter(clocks.is_free(now, LEASE), state=State.WAITING, next_attempt_at__lte=now)
    # Not of `due` itself: with a join the UPDATE that claims would not look again at a row it waited for.
    awake = due.exclude(~Q(kind=Kind.TEST), device__person__in=quiet_hours.people(now))
    claimed = []
    readers = awake.select_related("person", "device__person__push", "team__channel")
    for notice in readers.order_by("next_attempt_at", "pk")[:SLOTS]:
        if notice.attempts > len(SCHEDULE):  # a worker died in the last one
            _end(notice, State.GIVEN_UP, Trouble.INTERRUPTED, now)
        elif attempt := _claim(due, notice, now):
            claimed.append(attempt)
    return claimed


def _claim(due: QuerySet[Notice], notice: Notice, now: datetime) -> Attempt | None:
    """Claim one notice, and make what it says of all that is new by now; None when another has it or nothing is."""
    reader = _reader(notice)
    of_held = notice.kind == Kind.HELD
    until = max(notice.until, _until(reader, now)) if reader and of_held else notice.until
    died = {"trouble": Trouble.INTERRUPTED} if notice.leased_until else {}
    with transaction.atomic():
        ours = due.filter(pk=notice.pk, attempts=notice.attempts)
        if not ours.update(attempts=F("attempts") + 1, leased_until=now + LEASE, until=until, **died):
            return None
        if reader and of_held:
            type(reader)._default_manager.filter(pk=reader.pk).update(turn_at=now, told_until=until)
    notice.attempts += 1
    try:
        send = _made(notice, reader, until, now) if reader else None
    except Exception:  # one that cannot be made must not hold up the others
        log.exception("Notice %s could not be made", notice.public_id)
        _record(notice, Outcome(Trouble.ERROR), now)
        return None
    if send is None:
        _end(notice, State.MOOT, "", now)
        return None
    return Attempt(notice, send)


def _made(notice: Notice, reader: Reader, until: datetime, now: datetime) -> Callable[[], Outcome] | None:
    """Return what sends a notice; None when nothing is new any more."""
    if isinstance(reader, PushDevice):
        return _made_for_device(notice, reader, until, now)
    send = _made_in_words(notice, reader, until, now)
    return (lambda: Outcome(send())) if send else None


def _made_for_device(
    notice: Notice, device: PushDevice, until: datetime, now: datetime
) -> Callable[[], Outcome] | None:
    new = _new(_waiting_for(device, now), notice.since, until)
    try:
        message = push_texts.message_of(notice, device, new, now)
    except notification_texts.NothingNew:
        return None
    notice.shows = message.shows
    return partial(push.post, device, PushKey.objects.filter(pk=PushKey.ONLY).first(), message)


def _made_in_words(
    notice: Notice, reader: PersonNotices | Channel, until: datetime, now: datetime
) -> Callable[[], str] | None:
    if notice.kind != Kind.HELD:
        return _made_of_event(notice, reader, now)
    waiting = _waiting_for(reader, now)
    new = _new(waiting, notice.since, until)
    try:
        if isinstance(reader, Channel):
            return partial(chat.post, reader, notification_texts.message_of(reader, new, waiting, now))
        asked = ExtensionRequest.objects.filter(state=ExtensionRequest.State.PENDING, expires_at__gt=now)
        mine = asked.filter(agent__team__in=reader.person.teams_as(Role.REVIEWER)).count()
        return partial(mail.send, notification_texts.mail_of(notice, reader, new, waiting, mine, now))
    except notification_texts.NothingNew:
        return None


def _made_of_event(notice: Notice, reader: PersonNotices | Channel, now: datetime) -> Callable[[], str] | None:
    try:
        if isinstance(reader, Channel):
            if notice.kind == Kind.ASKED:
                return partial(chat.post, reader, asked_texts.message_of(reader, notice, now))
            return partial(chat.post, reader, event_texts.message_of(reader, notice))
        letter = _LETTERS.get(Kind(notice.kind), event_texts.mail_of)
        return partial(mail.send, letter(notice, reader, now))
    except notification_texts.NothingNew:
        return None


_LETTERS = {
    Kind.OUTAGE: outage_texts.mail_of,
    Kind.ASKED: asked_texts.mail_of,
    Kind.ON_CALL: asked_texts.on_call_mail_of,
    Kind.WEEKLY: weekly.mail_of,
}


def _reader(notice: Notice) -> Reader | None:
    """Return who is told; None once they are to be told nothing of this."""
    of_held = notice.kind == Kind.HELD
    if notice.team is not None:
        channel: Channel | None = getattr(notice.team, "channel", None)
        return channel if channel and (of_held or notice.kind == Kind.ASKED or channel.mentions) else None
    if notice.device is not None:
        return notice.device if notice.device.person.is_active and _is_chosen(notice) else None
    person = notice.person
    assert person is not None
    told = PersonNotices.of(person)
    wanted = {
        Kind.HELD: told.when != When.NEVER,
        Kind.OUTAGE: told.outages,
        Kind.WEEKLY: told.weekly != PersonNotices.Weekly.NEVER,
    }
    is_wanted = wanted.get(Kind(notice.kind), told.mentions)
    return told if person.is_active and person.email and is_wanted else None


def _is_chosen(notice: Notice) -> bool:
    """Say whether the person still wants this on their devices. Of held items what is told is asked then."""
    assert notice.device is not None
    choice = notice.device.person.push
    events = (Kind.MENTION, Kind.ASSIGNED, Kind.ASKED, Kind.ON_CALL)
    return {**dict.fromkeys(events, choice.mentions), Kind.OUTAGE: choice.outages}.get(Kind(notice.kind), True)


def _record(notice: Notice, outcome: Outcome, now: datetime) -> None:
    """Write what came of the attempt that was claimed with this notice."""
    trouble = outcome.trouble
    if outcome.is_gone and notice.device is not None:
        devices.withdraw(notice.device, None, because=trouble)  # and with it what is owed to it
    elif not trouble:
        _end(notice, State.SENT, "", now)
    elif notice.attempts > len(SCHEDULE):
        _end(notice, State.GIVEN_UP, trouble, now)
    else:
        pause = timedelta(seconds=max(SCHEDULE[notice.attempts - 1], min(outcome.retry_after, LONGEST_PAUSE)))
        ours = Notice.objects.filter(pk=notice.pk, state=State.WAITING, attempts=notice.attempts)
        ours.update(leased_until=None, next_attempt_at=now + pause, trouble=trouble)


def _end(notice: Notice, after: Notice.State, trouble: str, now: datetime) -> None:
    values = {"state": after, "ended_at": now, "leased_until": None, "trouble": trouble}
    values |= {"shows": notice.shows if after == State.SENT else ""}
    with transaction.atomic():
        ended = Notice.objects.filter(pk=notice.pk, state=State.WAITING).update(**values)
        if ended and after == State.SENT and notice.device:
            _shown_on(notice.device, notice, now)
        if ended and after != State.MOOT:
            counts = {"attempts": notice.attempts, "trouble": trouble}
            reader = notice.person or (notice.device and notice.device.person)
            person = {"person": reader.get_username()} if reader else {}
            way = "channel" if notice.team else "push" if notice.device else "notice"
            said = {State.SENT: "told" if notice.team else "sent", State.GIVEN_UP: "given-up"}[after]
            audit.record(
                f"{way}-{said}",
                notice.public_id,
                actor=None,
                team=notice.team,
                before=State.WAITING,
                after=after,
                **person,
                **counts,
            )


def _shown_on(device: PushDevice, notice: Notice, now: datetime) -> None:
    """Write that a device shows a notice, in place of what it showed of held items before."""
    PushDevice.objects.filter(pk=device.pk).update(pushed_at=now)
    if notice.kind == Kind.HELD:
        before = Notice.objects.filter(device=device, kind__in=(Kind.HELD, Kind.DECIDED), state=State.SENT)
        before.exclude(pk=notice.pk).exclude(shows="").update(shows="")
