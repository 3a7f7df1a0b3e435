"""Post held items into the chats in which teams decide, and keep each message as its item is.

A ChatCard row is the outbox and the truth. What is new is found by rows, a pending item without a card, so that posts
write nothing more for it and nothing is lost with a worker; what has changed is a card whose item is another version.
One message is on its way to a chat at a time, from all workers together: whoever sends it has the chat until `free_at`.
What ails the chat (it is away, it asks to wait) puts all of it off, what ails one message that one. No transaction is
open while anything is sent, and the threads that send touch no row.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone, translation

from metacog.audit import audit
from metacog.chats.setup import CHATS
from metacog.chats.shapes import Card, Refused
from metacog.db import clocks
from metacog.models import ChatApp
from reviews.chats import card_texts
from reviews.held import approvers
from reviews.isolation import by_itself
from reviews.models import ChatCard, HeldItem
from reviews.outbox.deliveries import LONGEST_WAIT, turn

Trouble, State = ChatApp.Trouble, HeldItem.State

PAUSES = (5, 30, 120, 600)  # seconds from each failure to the next attempt, and the last from then on
OF_MESSAGE = (Trouble.REFUSED, Trouble.GONE)  # what ails one message, and not the chat
MOST_REFUSALS = 3  # of one message
LEASE = timedelta(seconds=30)  # longer than a call and the writing of its outcome may take
SLOTS = 8  # chats at once
TURN_SECONDS = 10.0
TICK_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    """One claimed card, as the thread that sends it needs it, and what of its item it shows."""

    app: ChatApp
    card: ChatCard
    shown: Card
    version: int
    given: int
    is_over: bool


@dataclass(frozen=True)
class Outcome:
    message: str
    trouble: str = ""
    wait: float = 0.0


def sweep(now: datetime | None = None) -> int:
    """Send what is new or has changed, and return how many calls that took."""
    if not ChatApp.objects.exists():
        return 0
    began, sent = time.monotonic(), 0
    flying: dict[Future[Outcome], Attempt] = {}
    with turn("cards") as is_ours, ThreadPoolExecutor(SLOTS, thread_name_prefix="cards") as pool:
        if is_ours:
            _bring_forward(now or timezone.now())
        while is_ours:
            if time.monotonic() - began < TURN_SECONDS:
                for attempt in _claim_due(now or timezone.now(), SLOTS - len(flying)):
                    flying[pool.submit(_send, attempt)] = attempt
                    sent += 1
            if not flying:
                break
            landed, _ = wait(flying, TICK_SECONDS, FIRST_COMPLETED)
            for future in landed:
                attempt = flying.pop(future)
                with by_itself("What became of the card %s is lost", attempt.card.pk):
                    _record(attempt, future.result(), now or timezone.now())
    return sent


def show_anew(app: ChatApp) -> None:
    """Have what is posted and not over shown once more: what may be said there is another now."""
    posted = ChatCard.objects.filter(app=app, is_over=False).exclude(message="")
    posted.update(next_attempt_at=timezone.now())


def _send(attempt: Attempt) -> Outcome:
    """Make one attempt. Runs in a thread of its own, reads no row and never raises."""
    chat, message = CHATS[attempt.app.kind], attempt.card.message
    try:
        if message:
            chat.update(attempt.app, message, attempt.shown)
        else:
            message = chat.send(attempt.app, attempt.shown)
    except Refused as refused:
        # Where it was posted may be a channel of before: that says nothing of the one of now.
        is_lost = bool(attempt.card.message) and refused.trouble == Trouble.PLACE
        return Outcome(message, Trouble.GONE if is_lost else refused.trouble, refused.wait)
    except Exception:  # one message that cannot be sent must not take the others' outcomes with it
        log.exception("The card %s could not be sent", attempt.card.pk)
        return Outcome(message, Trouble.REFUSED)
    return Outcome(message)


# -- whose turn it is --------------------------------------------------------------------------------


def _bring_forward(now: datetime) -> None:
    """Have due now what was put off by a clock that was set back since."""
    longest = timedelta(seconds=LONGEST_WAIT) + clocks.LEEWAY
    clocks.bring_forward(ChatApp.objects.filter(free_at__gt=now + longest), "free_at", now)
    clocks.bring_forward(ChatCard.objects.filter(next_attempt_at__gt=now + longest), "next_attempt_at", now)


def _claim_due(now: datetime, room: int) -> list[Attempt]:
    claimed: list[Attempt] = []
    for app in ChatApp.objects.filter(free_at__lte=now).select_related("team").order_by("sent_at", "pk"):
        if len(claimed) == room:
            break
        with by_itself("Nothing is posted to the chat %s", app.pk):
            attempt = _claim(app, now)
            claimed += [attempt] if attempt else []
    return claimed


def _claim(app: ChatApp, now: datetime) -> Attempt | None:
    """Claim a chat and what is to be shown there next: what changed before what is new."""
    while card := _next(app, now):
        with transaction.atomic():
            if not ChatApp.objects.filter(pk=app.pk, free_at__lte=now).update(free_at=now + LEASE):
                return None
            if card.pk is None:
                card.next_attempt_at = now + LEASE
                card.save()
            else:
                ChatCard.objects.filter(pk=card.pk).update(next_attempt_at=now + LEASE)
        try:
            if attempt := _made(app, card, now):
                return attempt
        except Exception:  # one that cannot be made must not hold up the others
            log.exception("The card %s could not be made", card.pk)
            _put_off(app, card, Trouble.ERROR, now)
            continue
        # Decided before it was posted: nobody needs it there.
        card.delete()
        ChatApp.objects.filter(pk=app.pk).update(free_at=now)
    return None


def _next(app: ChatApp, now: datetime) -> ChatCard | None:
    cards = ChatCard.objects.filter(app=app)
    due = cards.filter(next_attempt_at__lte=now).order_by("next_attempt_at", "pk")
    resting = cards.filter(is_over=False, next_attempt_at=None).annotate(now_given=Coalesce("held__terms__given", 0))
    is_as_shown = Q(held__version=F("version"), now_given=F("given"), held__closed_at=None)
    return resting.exclude(is_as_shown).order_by("pk").first() or due.first() or _new(app, cards, now)


def _new(app: ChatApp, cards: object, now: datetime) -> ChatCard | None:
    """Return a card, unsaved, of the riskiest pending item that has none."""
    pending = HeldItem.objects.filter(team=app.team_id, state=State.PENDING, expires_at__gt=now, held_at__gte=app.since)
    free = approvers.narrowed(pending, "", None).filter(~Exists(ChatCard.objects.filter(app=app, held=OuterRef("pk"))))
    held = free.order_by("-hesitation_score", "expires_at", "pk").only("pk").first()
    return ChatCard(app=app, held_id=held.pk) if held else None


def _made(app: ChatApp, card: ChatCard, now: datetime) -> Attempt | None:
    held = card_texts.read(card.held_id)
    if held.state != State.PENDING and not card.message:
        return None
    terms = approvers.terms_of(held)
    with translation.override(app.language):
        shown = card_texts.card_of(held, app, CHATS[app.kind].room, now)
    return Attempt(app, card, shown, held.version, terms.given if terms else 0, held.closed_at is not None)


# -- outcomes ----------------------------------------------------------------------------------------


def _record(attempt: Attempt, outcome: Outcome, now: datetime) -> None:
    """Write what came of an attempt, and what it says of the chat."""
    app, card = attempt.app, attempt.card
    apps, cards = ChatApp.objects.filter(pk=app.pk), ChatCard.objects.filter(pk=card.pk)
    with transaction.atomic():
        if not outcome.trouble:
            shown = {"version": attempt.version, "given": attempt.given, "is_over": attempt.is_over}
            cards.update(message=outcome.message, next_attempt_at=None, attempts=0, trouble="", **shown)
            apps.update(free_at=now, failures=0, trouble="", sent_at=now)
            if not card.message:
                _tell("chat-posted", app, card)
        elif outcome.trouble in OF_MESSAGE:
            _put_off(app, card, outcome.trouble, now)
        else:
            cards.update(next_attempt_at=now, trouble=outcome.trouble)
            pause = _pause(app.failures + 1, outcome.wait)
            apps.update(free_at=now + pause, failures=F("failures") + 1, trouble=outcome.trouble)


def _put_off(app: ChatApp, card: ChatCard, trouble: str, now: datetime) -> None:
    """Have one message wait that the chat does not take, and give it up after a few times, or once it is deleted."""
    attempts = card.attempts + 1
    is_lost = trouble == Trouble.GONE or attempts >= MOST_REFUSALS
    later = None if is_lost else now + _pause(attempts)
    with transaction.atomic():
        ChatCard.objects.filter(pk=card.pk).update(
            attempts=attempts, trouble=trouble, is_over=is_lost, next_attempt_at=later
        )
        ChatApp.objects.filter(pk=app.pk).update(free_at=now)
        if is_lost:
            _tell("chat-given-up", app, card, trouble=trouble)


def _pause(failures: int, asked: float = 0.0) -> timedelta:
    """Return how long to wait after so many failures in a row: as long as the chat asked to, where it did."""
    return timedelta(seconds=min(asked, LONGEST_WAIT) or PAUSES[min(failures, len(PAUSES)) - 1])


def _tell(action: str, app: ChatApp, card: ChatCard, **rest: object) -> None:
    audit.record(action, card.held.public_id, actor=None, team=app.team, chat=app.kind, **rest)
