"""Send callbacks: Standard Webhooks, at least once, the same id and bytes on every attempt.

A Delivery row is the outbox and the truth. Whoever sends it claims it first, for the length of a lease,
by a conditional UPDATE; it is stamped delivered after a 2xx. A worker that dies leaves a lease that
runs out, and the next sweep takes the row up again. No transaction is open while anything is sent, and
the threads that send touch no row: they get plain values and give one back.

They go to agents' callback addresses and to teams' webhooks, in the same way; each kind has slots of its own, so
that no team's receiver takes an agent's. An agent's endpoint, or a webhook's row, is locked before its deliveries are
claimed or their outcomes written, here and nowhere else, so that the bounds hold with any number of workers.
"""

from __future__ import annotations

import fcntl
import logging
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog import egress
from metacog.accounts import keys
from metacog.audit import audit
from metacog.db import clocks
from metacog.db.prepared import Select
from metacog.models import Agent, AuditEvent, User
from metacog.notices import events
from reviews.intake import approvals
from reviews.isolation import by_itself
from reviews.models import Delivery, Endpoint, TeamWebhook

State, Trouble, Off = Delivery.State, Delivery.Trouble, Endpoint.Off

# Seconds from each attempt to the next; 23.7 hours in all.
SCHEDULE = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800)
JITTER = 0.2  # of each pause, to either side
LONGEST_WAIT = 3600.0  # seconds that a receiver may ask for (Retry-After) in place of a shorter pause
ASKS_TO_WAIT = (429, 503)  # the answers with which it may (RFC 6585, 4; RFC 9110, 10.2.3)

SLOTS = 32  # sends at once in one sweep
FAILING_SLOTS = SLOTS // 2  # of them for endpoints that are failing: healthy ones never wait for those
WEBHOOK_SLOTS = 16  # beside them, for teams' webhooks, and half of those for failing ones
AGENT_SLOTS = 4  # sends at once to one agent or webhook, from all workers together
FAILING_AGENT_SLOTS = 1
BATCH = 200  # deliveries given up in one transaction
MOST_OWED = 10_000  # deliveries that wait for one failing receiver; what goes beyond is given up, and can be sent again

# What a delivery's move to a state is called in the record, and where it comes from.
MOVES = {
    State.DELIVERED: ("delivered", State.WAITING),
    State.EXHAUSTED: ("given-up", State.WAITING),
    State.WAITING: ("sent-again", State.EXHAUSTED),
}

# Longer than a send and the writing of its outcome may take.
LEASE = timedelta(seconds=30)
GIVEN_UP_IN_A_ROW = 5
FAILING_TOO_LONG = timedelta(hours=24)

# A sweep starts sends for its turn. While some of them are slow it goes on longer for the others, so
# that nobody waits for a slow receiver, and still ends before the worker's time limit.
TURN_SECONDS = 5.0
LONGEST_TURN_SECONDS = 25.0
SLOW_SECONDS = 1.0
TICK_SECONDS = 0.5  # how often what became due is looked for while sends are under way

log = logging.getLogger(__name__)


Receiver = Agent | TeamWebhook  # whose address deliveries go to
Key = tuple[type[Receiver], int]  # which of them, in plain values


class SwitchedOff(Exception):
    """The endpoint is off, or the agent has none; nothing was written."""


@dataclass(frozen=True)
class Attempt:
    """One claimed delivery, as the thread that sends it needs it."""

    pk: int
    to: Key
    number: int  # 1 is the first
    url: str
    public_id: str
    body: bytes
    secrets: tuple[str, ...]  # live ones, newest first
    at: datetime
    to_failing: bool
    began: float  # on the monotonic clock


@dataclass(frozen=True)
class Outcome:
    trouble: str  # a Trouble; empty when it was delivered
    status: int | None = None
    wait: float = 0.0  # seconds that the receiver asked for


def deliver_due(now: datetime | None = None) -> int:
    """Send what is due, fairly, and return how many sends that took.

    Without `now` the clock goes on, and so does the sweep, for its turn. Returns at once when another
    sweep of this machine has its turn: one holds one of the worker's processes, however slow receivers are.
    """
    if not is_anything_owed():
        return 0
    clock: Callable[[], datetime] = timezone.now if now is None else lambda: now
    flying: dict[Future[Outcome], Attempt] = {}
    sent = 0
    with ThreadPoolExecutor(SLOTS + WEBHOOK_SLOTS, thread_name_prefix="deliver") as pool, turn("deliver") as is_ours:
        began = time.monotonic()
        if is_ours:
            _bring_forward(clock())
        while is_ours:
            elapsed = time.monotonic() - began
            if _goes_on(elapsed, flying.values()):
                in_time = elapsed < LONGEST_TURN_SECONDS - egress.DEADLINE_SECONDS
                for attempt in _claim_due(clock(), list(flying.values()), elapsed < TURN_SECONDS, webhooks_too=in_time):
                    flying[pool.submit(send, attempt)] = attempt
                    sent += 1
            if not flying:
                break
            landed, _ = wait(flying, TICK_SECONDS, FIRST_COMPLETED)
            outcomes: dict[Key, list[tuple[Attempt, Outcome]]] = {}
            for future in landed:
                attempt = flying.pop(future)
                outcomes.setdefault(attempt.to, []).append((attempt, future.result()))
            for to, of_one in outcomes.items():
                with by_itself("The outcomes of deliveries to the %s with the key %s are lost", to[0].__name__, to[1]):
                    _record(to, of_one, clock())
    return sent


def send(attempt: Attempt) -> Outcome:
    """Make one attempt. Runs in a thread of its own, reads no row and never raises."""
    if not attempt.secrets:
        return Outcome(Trouble.NO_SECRET)
    timestamp = str(int(attempt.at.timestamp()))
    content = f"{attempt.public_id}.{timestamp}.".encode() + attempt.body
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "metacog",
        "webhook-id": attempt.public_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{keys.sign(key, content).decode()}" for key in attempt.secrets),
    }
    try:
        answer = egress.request("POST", attempt.url, headers=headers, content=attempt.body)
    except egress.Failed as failed:
        return Outcome(failed.why)
    except Exception:  # one delivery that cannot be sent must not take the others' outcomes with it
        log.exception("Delivery %s could not be sent", attempt.public_id)
        return Outcome(Trouble.ADDRESS)
    status = answer.status
    if 200 <= status <= 299:
        return Outcome("", status)
    if status == 410:
        return Outcome(Trouble.GONE, status)
    wait = answer.retry_after if status in ASKS_TO_WAIT else 0.0
    return Outcome(Trouble.REDIRECT if 300 <= status <= 399 else Trouble.STATUS, status, wait)


def send_again(delivery: Delivery, person: User) -> bool:
    """Have what was given up sent again, from the start of the schedule; return whether it was given up.

    Raises SwitchedOff. Whether `person` may is the caller's to check.
    """
    to = delivery.receiver
    with transaction.atomic():
        if _locked(to).is_off or not _address(to):
            raise SwitchedOff
        return bool(_move([delivery], to, person, State.WAITING, attempts=0, next_attempt_at=timezone.now()))


def switch_on(to: Receiver, person: User, *, with_given_up: bool) -> tuple[bool, int]:
    """Let deliveries go to an address again, and with them, if wanted, all that was given up.

    Returns whether it was off, and how many deliveries go out again.
    """
    now, again = timezone.now(), 0
    with transaction.atomic():
        endpoint = _locked(to)
        if not endpoint.is_off:
            return False, 0
        endpoint.off_at, endpoint.off_reason = None, ""
        endpoint.failing_since, endpoint.given_up = None, 0
        endpoint.save(update_fields=HEALTH)
        _event(f"{_kind(to)}-switched-on", to.public_id, to, person, "off", "on").save()
        if with_given_up:
            # All at once: one by one, 20,000 kept everybody else on SQLite waiting for 14 s.
            given_up = deliveries_of(to).filter(state=State.EXHAUSTED).exclude(body="")
            rows = given_up.select_for_update().only("public_id", "type", "attempts")
            events = [_moved(row, to, person, State.WAITING) for row in rows]
            AuditEvent.objects.bulk_create(events, batch_size=500)
            again = given_up.update(state=State.WAITING, attempts=0, next_attempt_at=now)
    return True, again


def discard(to: Receiver, person: User) -> int:
    """Delete the bodies of all that was given up, which is then sent no more; return how many those were.

    The rows stay in the list. An agent reads its decisions from the feed all the same.
    """
    with transaction.atomic():
        _locked(to)
        discarded = deliveries_of(to).filter(state=State.EXHAUSTED).exclude(body="").update(body="")
        if discarded:
            _event(f"{_kind(to)}-discarded", to.public_id, to, person, "", "", count=discarded).save()
    return discarded


def schedule() -> tuple[float, ...]:
    """Return the pauses between attempts, in seconds: exact where the operator gave them."""
    if settings.CALLBACK_SCHEDULE is not None:
        given: tuple[float, ...] = settings.CALLBACK_SCHEDULE
        return given
    return tuple(pause * random.uniform(1 - JITTER, 1 + JITTER) for pause in SCHEDULE)


# -- whose turn it is --------------------------------------------------------------------------------


@contextmanager
def turn(name: str) -> Iterator[bool]:
    """Give whether this machine's turn at something is ours. It ends with the process, however that ends."""
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(settings.DATA_DIR / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _goes_on(elapsed: float, flying: Iterable[Attempt]) -> bool:
    if elapsed < TURN_SECONDS:
        return True
    slow_since = time.monotonic() - SLOW_SECONDS
    return elapsed < LONGEST_TURN_SECONDS and any(attempt.began < slow_since for attempt in flying)


# -- claiming ----------------------------------------------------------------------------------------


def deliveries_of(to: Receiver) -> QuerySet[Delivery]:
    """Return what goes, or went, to an agent's address or to a webhook."""
    if isinstance(to, TeamWebhook):
        return Delivery.objects.filter(webhook=to)
    return Delivery.objects.filter(agent=to, webhook=None)


def is_anything_owed() -> bool:
    """Tell, every second, what one statement tells that is written once; to write those that claim takes 20 ms."""
    with connection.cursor() as cursor:
        return any(owed(cursor) for owed in _owed)


# The time, which is always later, leads to the index of what waits.
_waiting = Delivery.objects.filter(state=State.WAITING, next_attempt_at__gt=datetime(2000, 1, 1, tzinfo=UTC))
_owed: tuple[Select[tuple[int]], ...] = (
    Select(lambda: _with_any(Agent, _waiting.filter(agent=OuterRef("pk"), webhook=None)), parameters=0),
    Select(lambda: _with_any(TeamWebhook, _waiting.filter(webhook=OuterRef("pk"))), parameters=0),
)


def _with_any(of: type[Receiver], rows: QuerySet[Delivery]) -> QuerySet[Any, tuple[int]]:
    return of._default_manager.filter(Exists(rows)).order_by().values_list("pk")[:1]


def _due(now: datetime) -> Q:
    return Q(clocks.is_free(now, LEASE), state=State.WAITING, next_attempt_at__lte=now)


def _bring_forward(now: datetime) -> None:
    """Have due now what was put off by a clock that was set back since."""
    given = settings.CALLBACK_SCHEDULE
    pauses = [pause * (1 + JITTER) for pause in SCHEDULE] if given is None else given
    too_far = clocks.too_far(now, [max(pause, LONGEST_WAIT) for pause in pauses])
    too_far |= clocks.too_far(now, pauses) & ~Q(last_status__in=ASKS_TO_WAIT)
    # By agent and by webhook, as the indexes are.
    ahead = Q(too_far, state=State.WAITING, next_attempt_at__gt=now + clocks.LEEWAY)
    receivers: list[QuerySet[Any]] = [
        Agent.objects.filter(Exists(Delivery.objects.filter(ahead, agent=OuterRef("pk"), webhook=None))),
        TeamWebhook.objects.filter(Exists(Delivery.objects.filter(ahead, webhook=OuterRef("pk")))),
    ]
    for to in (each for rows in receivers for each in rows):
        clocks.bring_forward(deliveries_of(to).filter(ahead), "next_attempt_at", now)


def _claim_due(
    now: datetime, flying: Sequence[Attempt], failing_too: bool, *, webhooks_too: bool = True
) -> list[Attempt]:
    """Claim as much as there are slots for. Webhooks only while they land within the turn: no agent waits for them.

    What is disabled is sent nothing: what it is owed waits until it is enabled again.
    """
    due = Delivery.objects.filter(_due(now))
    agents = Agent.objects.filter(Exists(due.filter(agent=OuterRef("pk"), webhook=None)), enabled=True)
    webhooks = TeamWebhook.objects.filter(Exists(due.filter(webhook=OuterRef("pk"))), enabled=True)
    agents = agents.select_related("endpoint").order_by(F("endpoint__tried_at").asc(nulls_first=True), "pk")
    owed: list[tuple[type[Receiver], QuerySet[Any], int, int]] = [(Agent, agents, SLOTS, FAILING_SLOTS)]
    if webhooks_too:
        webhooks = webhooks.order_by(F("tried_at").asc(nulls_first=True), "pk")
        owed.append((TeamWebhook, webhooks, WEBHOOK_SLOTS, WEBHOOK_SLOTS // 2))
    claimed: list[Attempt] = []
    for kind, receivers, slots, failing_slots in owed:
        of_kind = [attempt for attempt in flying if attempt.to[0] is kind]
        failing_room = failing_slots - sum(attempt.to_failing for attempt in of_kind) if failing_too else 0
        claimed += _claim_fairly(receivers, now, of_kind, slots - len(of_kind), failing_room)
    return claimed


def _claim_fairly(
    receivers: QuerySet[Any], now: datetime, flying: Sequence[Attempt], room: int, failing_room: int
) -> list[Attempt]:
    """Claim for receivers of one kind, in their order: whoever was served longest ago comes first."""
    under_way = Counter(attempt.to for attempt in flying)
    claimed: list[Attempt] = []
    for to in receivers:
        if not room:
            break
        is_failing = _is_failing(to)
        slots = min(FAILING_AGENT_SLOTS, failing_room) if is_failing else AGENT_SLOTS
        if slots <= under_way[type(to), to.pk]:
            continue
        attempts: list[Attempt] = []
        with by_itself("No delivery goes to %s", to.public_id):
            attempts = _claim(to, now, slots, room)
        claimed += attempts
        room -= len(attempts)
        failing_room -= len(attempts) if is_failing else 0
    return claimed


def health_of(to: Receiver) -> Endpoint | TeamWebhook | None:
    """Return how the address of a receiver has been doing; None where an agent's was never tried."""
    if isinstance(to, TeamWebhook):
        return to
    endpoint: Endpoint | None = getattr(to, "endpoint", None)
    return endpoint


def _is_failing(to: Receiver) -> bool:
    health = health_of(to)
    return bool(health and health.failing_since and health.url == _address(to))


def _address(to: Receiver) -> str:
    return to.url if isinstance(to, TeamWebhook) else to.callback_url


def _secrets(to: Receiver) -> tuple[str, ...]:
    """Return the secrets that sign what goes to a receiver, newest first."""
    if isinstance(to, Agent):
        return tuple(keys.live_secrets(to))
    stored = [each for each in (to.secret_encrypted, to.former_secret_encrypted) if each]
    return tuple(secret for secret in map(keys.decrypted, stored) if secret is not None)


def _claim(to: Receiver, now: datetime, slots: int, room: int) -> list[Attempt]:
    """Claim what one receiver is owed, up to `slots` on their way at once; give up what can reach nobody."""
    pauses = schedule()
    with transaction.atomic():
        endpoint = _locked(to)
        if not to.enabled:
            return []
        due = deliveries_of(to).filter(_due(now)).order_by("next_attempt_at", "pk")
        if not _address(to) or endpoint.is_off:
            trouble = Trouble.OFF if _address(to) else Trouble.NO_URL
            give_up(list(due.defer("body")[:BATCH]), to, last_error=trouble)
            return []
        if endpoint.failing_since:
            _bound(to, now)
        leased = deliveries_of(to).filter(state=State.WAITING, leased_until__gt=now)
        under_way = leased.exclude(clocks.is_free(now, LEASE)).count()
        secrets = _secrets(to)
        claimed = []
        first = list(due.values_list("pk", flat=True)[: max(0, min(slots - under_way, room))])
        if isinstance(to, Agent):
            approvals.take_to_send(first, now)
        # Read only now: what it says of an approval that is used meanwhile is another body.
        for delivery in due.filter(pk__in=first):
            died = {"last_error": Trouble.INTERRUPTED} if delivery.leased_until else {}
            if delivery.attempts > len(pauses):  # a worker died in the last one
                give_up([delivery], to, **died)
            elif Delivery.objects.filter(_due(now), pk=delivery.pk, attempts=delivery.attempts).update(
                attempts=F("attempts") + 1, leased_until=now + LEASE, **died
            ):
                claimed.append(
                    Attempt(
                        pk=delivery.pk,
                        to=(type(to), to.pk),
                        number=delivery.attempts + 1,
                        url=_address(to),
                        public_id=delivery.public_id,
                        body=delivery.body.encode(),
                        secrets=secrets,
                        at=now,
                        to_failing=endpoint.failing_since is not None,
                        began=time.monotonic(),
                    )
                )
        endpoint.tried_at = now
        endpoint.save(update_fields=["tried_at"])
    return claimed


def _bound(to: Receiver, now: datetime) -> None:
    """Give up some of what goes beyond the bound: what would be tried last. Reads no more index than the bound."""
    owed = deliveries_of(to).filter(clocks.is_free(now, LEASE), state=State.WAITING)
    beyond = list(owed.order_by("next_attempt_at", "pk").values_list("pk", flat=True)[MOST_OWED : MOST_OWED + BATCH])
    if beyond:
        give_up(list(Delivery.objects.filter(pk__in=beyond).defer("body")), to, last_error=Trouble.TOO_MANY)


def _locked(to: Receiver) -> Endpoint | TeamWebhook:
    """Return how the receiver's address has been doing, locked; a new address of an agent starts afresh.

    Where `to` is reached, and whether at all, is read anew: it may have changed since `to` was read.
    """
    if isinstance(to, TeamWebhook):
        # Not its key: who puts something into its outbox does not wait.
        to.refresh_from_db(from_queryset=TeamWebhook.objects.select_for_update(no_key=True))
        return to
    endpoint, _ = Endpoint.objects.select_for_update().get_or_create(agent=to, defaults={"url": to.callback_url})
    to.refresh_from_db(fields=["callback_url", "enabled"])
    if endpoint.url != to.callback_url:
        endpoint = Endpoint(agent=to, url=to.callback_url, tried_at=endpoint.tried_at)
        endpoint.save(force_update=True)
    endpoint.agent = to
    return endpoint


# -- outcomes ----------------------------------------------------------------------------------------


def _record(key: Key, outcomes: Iterable[tuple[Attempt, Outcome]], now: datetime) -> None:
    """Write what came of a receiver's attempts, and what they say of its endpoint."""
    with transaction.atomic():
        endpoint = _judged(key)
        to = endpoint if isinstance(endpoint, TeamWebhook) else endpoint.agent
        for attempt, outcome in outcomes:
            given_up = _settle(attempt, outcome, to, now)
            if attempt.url == endpoint.url == _address(to):
                _judge(endpoint, outcome, given_up, now)


def _judged(key: Key) -> Endpoint | TeamWebhook:
    """Return the endpoint that attempts went to, locked."""
    model, pk = key
    if model is TeamWebhook:
        return TeamWebhook.objects.select_for_update(no_key=True).get(pk=pk)
    return Endpoint.objects.select_for_update(of=("self",)).select_related("agent").get(pk=pk)


def _settle(attempt: Attempt, outcome: Outcome, to: Receiver, now: datetime) -> int:
    """Write what came of one attempt; return how many deliveries that ended without success, 0 or 1."""
    delivery = Delivery.objects.defer("body").get(pk=attempt.pk)
    told = {"last_error": outcome.trouble, "last_status": outcome.status}
    pauses = schedule()
    if not outcome.trouble:
        # Whichever attempt it was: one whose lease ran out has got through all the same.
        _move([delivery], to, None, State.DELIVERED, delivered_at=now, leased_until=None, **told)
        if isinstance(to, Agent):
            approvals.take_to_send([delivery.pk], now)
    elif delivery.attempts == attempt.number:  # else the next attempt is under way, and tells
        if outcome.trouble == Trouble.GONE or attempt.number > len(pauses):
            return give_up([delivery], to, **told)
        pause = timedelta(seconds=max(pauses[attempt.number - 1], min(outcome.wait, LONGEST_WAIT)))
        _not_taken([delivery], to)
        Delivery.objects.filter(pk=attempt.pk, state=State.WAITING).update(
            leased_until=None, next_attempt_at=now + pause, **told
        )
    return 0


HEALTH = ("failing_since", "given_up", "off_at", "off_reason")


def _judge(endpoint: Endpoint | TeamWebhook, outcome: Outcome, given_up: int, now: datetime) -> None:
    """Note how the endpoint does, and switch it off when it is gone or nothing gets through for too long."""
    if isinstance(endpoint, TeamWebhook):
        _note_last(endpoint, outcome, now)
    if not outcome.trouble:
        if endpoint.failing_since or endpoint.given_up:
            endpoint.failing_since, endpoint.given_up = None, 0
            endpoint.save(update_fields=["failing_since", "given_up"])
        return
    endpoint.failing_since = min(endpoint.failing_since or now, now)  # the clock may have been set back
    endpoint.given_up += given_up
    reason = ""
    if outcome.trouble == Trouble.GONE:
        reason = Off.GONE
    elif given_up and endpoint.given_up >= GIVEN_UP_IN_A_ROW:
        reason = Off.GIVEN_UP
    elif now - endpoint.failing_since >= FAILING_TOO_LONG:  # however few attempts each delivery had
        reason = Off.FAILING
    if reason and not endpoint.off_at:
        endpoint.off_at, endpoint.off_reason = now, reason
        to = endpoint if isinstance(endpoint, TeamWebhook) else endpoint.agent
        _event(f"{_kind(to)}-switched-off", to.public_id, to, None, "on", "off", reason=reason).save()
        events.owe_outage(mark_of(endpoint), to.team_id, now)
        log.warning("The endpoint of %s was switched off: %s", to.public_id, reason)
    endpoint.save(update_fields=HEALTH)


def _note_last(webhook: TeamWebhook, outcome: Outcome, now: datetime) -> None:
    """Note when a webhook last took something or failed to, for its owners."""
    if outcome.trouble:
        webhook.failed_at, webhook.trouble, webhook.failed_status = now, outcome.trouble, outcome.status
        webhook.save(update_fields=["failed_at", "trouble", "failed_status"])
    else:
        webhook.delivered_at = now
        webhook.save(update_fields=["delivered_at"])


def give_up_disabled(to: Receiver, before: datetime, now: datetime) -> int:
    """Give up what was owed before a moment to what is disabled, BATCH at most; return how many that were.

    Nothing that is on its way, nor once it is enabled again.
    """
    with transaction.atomic(durable=True):
        _locked(to)
        if to.enabled:
            return 0
        free = clocks.is_free(now, LEASE)
        owed = deliveries_of(to).filter(free, state=State.WAITING, created_at__lt=before).exclude(body="")
        return give_up(list(owed.defer("body").order_by("pk")[:BATCH]), to, last_error=Trouble.DISABLED)


def give_up(deliveries: Sequence[Delivery], to: Receiver, **told: Any) -> int:
    """End deliveries that did not get through; people can have them sent again. Returns how many ended."""
    _not_taken(deliveries, to)
    return _move(deliveries, to, None, State.EXHAUSTED, leased_until=None, **told)


def _not_taken(deliveries: Sequence[Delivery], to: Receiver) -> None:
    """Leave the approvals that an agent did not take to whoever hears of them first."""
    if isinstance(to, Agent):
        approvals.give_back([delivery.held_id for delivery in deliveries])


def _move(
    deliveries: Sequence[Delivery], to: Receiver, person: User | None, after: Delivery.State, **values: Any
) -> int:
    """Move deliveries to a state, each with its audit event; return how many were not there already.

    One whose text was erased stays where it is: there is nothing left to send.
    """
    _, before = MOVES[after]
    events = [
        _moved(delivery, to, person, after, **values)
        for delivery in deliveries
        if Delivery.objects.filter(pk=delivery.pk, state=before).exclude(body="").update(state=after, **values)
    ]
    AuditEvent.objects.bulk_create(events)
    return len(events)


def _moved(delivery: Delivery, to: Receiver, person: User | None, after: Delivery.State, **values: Any) -> AuditEvent:
    done, before = MOVES[after]
    return _event(
        f"{'webhook' if isinstance(to, TeamWebhook) else 'callback'}-{done}",
        delivery.public_id,
        to,
        person,
        before,
        after,
        type=delivery.type,
        attempts=delivery.attempts,
        trouble=values.get("last_error", ""),
        status=values.get("last_status"),
    )


def mark_of(endpoint: Endpoint | TeamWebhook) -> str:
    """Name one switching off of an endpoint for a notice: its receiver, and when."""
    to = endpoint if isinstance(endpoint, TeamWebhook) else endpoint.agent
    assert endpoint.off_at
    return f"{to.public_id}/{endpoint.off_at.timestamp():.0f}"


def _kind(to: Receiver) -> str:
    return "webhook" if isinstance(to, TeamWebhook) else "endpoint"


def _event(
    action: str, public_id: str, to: Receiver, person: User | None, before: str, after: str, **data: object
) -> AuditEvent:
    # Of an address its host alone: the rest may carry a token.
    about = {"host": to.host} if isinstance(to, TeamWebhook) else {}
    agent = to if isinstance(to, Agent) else None
    return audit.event(
        action, public_id, actor=person, team=to.team_id, agent=agent, before=before, after=after, **about, **data
    )


def for_list(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    """Return deliveries with what a row shows, latest first, without the texts."""
    shown = rows.select_related("agent__endpoint", "agent__team", "webhook", "held")
    return shown.defer("body", "held__text", "held__attributes").order_by("-id")
