"""Send callbacks: Standard Webhooks, at least once, the same id and bytes on every attempt.

A Delivery row is the outbox and the truth. Whoever sends it claims it first, for the length of a lease,
by a conditional UPDATE; it is stamped delivered after a 2xx. A worker that dies leaves a lease that
runs out, and the next sweep takes the row up again. No transaction is open while anything is sent, and
the threads that send touch no row: they get plain values and give one back.

An agent's endpoint is locked before its deliveries are claimed or their outcomes written, here and
nowhere else, so that the bounds hold with any number of workers.
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
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog import egress
from metacog.accounts import keys
from metacog.audit import audit
from metacog.db import clocks
from metacog.models import Agent, AuditEvent, User
from reviews.isolation import by_itself
from reviews.models import Delivery, Endpoint

State, Trouble, Off = Delivery.State, Delivery.Trouble, Endpoint.Off

# Seconds from each attempt to the next; 23.7 hours in all.
SCHEDULE = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800)
JITTER = 0.2  # of each pause, to either side
LONGEST_WAIT = 3600.0  # seconds that a receiver may ask for (Retry-After) in place of a shorter pause
ASKS_TO_WAIT = (429, 503)  # the answers with which it may (RFC 6585, 4; RFC 9110, 10.2.3)

SLOTS = 32  # sends at once in one sweep
FAILING_SLOTS = SLOTS // 2  # of them for endpoints that are failing: healthy ones never wait for those
AGENT_SLOTS = 4  # sends at once to one agent, from all workers together
FAILING_AGENT_SLOTS = 1
BATCH = 200  # deliveries given up in one transaction

# What a delivery's move to a state is called in the record, and where it comes from.
MOVES = {
    State.DELIVERED: ("callback-delivered", State.WAITING),
    State.EXHAUSTED: ("callback-given-up", State.WAITING),
    State.WAITING: ("callback-sent-again", State.EXHAUSTED),
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


class SwitchedOff(Exception):
    """The endpoint is off, or the agent has none; nothing was written."""


@dataclass(frozen=True)
class Attempt:
    """One claimed delivery, as the thread that sends it needs it."""

    pk: int
    agent_id: int
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
    clock: Callable[[], datetime] = timezone.now if now is None else lambda: now
    flying: dict[Future[Outcome], Attempt] = {}
    sent = 0
    with ThreadPoolExecutor(SLOTS, thread_name_prefix="deliver") as pool, turn("deliver") as is_ours:
        began = time.monotonic()
        if is_ours:
            _bring_forward(clock())
        while is_ours:
            elapsed = time.monotonic() - began
            if _goes_on(elapsed, flying.values()):
                for attempt in _claim_due(clock(), list(flying.values()), elapsed < TURN_SECONDS):
                    flying[pool.submit(send, attempt)] = attempt
                    sent += 1
            if not flying:
                break
            landed, _ = wait(flying, TICK_SECONDS, FIRST_COMPLETED)
            outcomes: dict[int, list[tuple[Attempt, Outcome]]] = {}
            for future in landed:
                attempt = flying.pop(future)
                outcomes.setdefault(attempt.agent_id, []).append((attempt, future.result()))
            for agent_id, of_agent in outcomes.items():
                with by_itself("The outcomes of callbacks to the agent with the key %s are lost", agent_id):
                    _record(agent_id, of_agent, clock())
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
    agent = delivery.agent
    with transaction.atomic():
        if _locked_endpoint(agent).is_off or not agent.callback_url:
            raise SwitchedOff
        return bool(_move([delivery], agent, person, State.WAITING, attempts=0, next_attempt_at=timezone.now()))


def switch_on(agent: Agent, person: User, *, with_given_up: bool) -> tuple[bool, int]:
    """Let callbacks go to the agent's address again, and with them, if wanted, all that was given up.

    Returns whether it was off, and how many deliveries go out again.
    """
    now, again = timezone.now(), 0
    with transaction.atomic():
        endpoint = _locked_endpoint(agent)
        if not endpoint.is_off:
            return False, 0
        endpoint.off_at, endpoint.off_reason = None, ""
        endpoint.failing_since, endpoint.given_up = None, 0
        endpoint.save()
        _event("endpoint-switched-on", agent.public_id, agent, person, "off", "on").save()
        if with_given_up:
            # All at once: one by one, 20,000 kept everybody else on SQLite waiting for 14 s.
            given_up = Delivery.objects.filter(agent=agent, state=State.EXHAUSTED).exclude(body="")
            rows = given_up.select_for_update().only("public_id", "type", "attempts")
            events = [_moved(row, agent, person, State.WAITING) for row in rows]
            AuditEvent.objects.bulk_create(events, batch_size=500)
            again = given_up.update(state=State.WAITING, attempts=0, next_attempt_at=now)
    return True, again


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


def _due(now: datetime) -> QuerySet[Delivery]:
    return Delivery.objects.filter(clocks.is_free(now, LEASE), state=State.WAITING, next_attempt_at__lte=now)


def _bring_forward(now: datetime) -> None:
    """Have due now what was put off by a clock that was set back since."""
    given = settings.CALLBACK_SCHEDULE
    pauses = [pause * (1 + JITTER) for pause in SCHEDULE] if given is None else given
    too_far = clocks.too_far(now, [max(pause, LONGEST_WAIT) for pause in pauses])
    too_far |= clocks.too_far(now, pauses) & ~Q(last_status__in=ASKS_TO_WAIT)
    # By agent, as the index is.
    ahead = Delivery.objects.filter(too_far, state=State.WAITING, next_attempt_at__gt=now + clocks.LEEWAY)
    for agent in Agent.objects.filter(Exists(ahead.filter(agent=OuterRef("pk")))):
        clocks.bring_forward(ahead.filter(agent=agent), "next_attempt_at", now)


def _claim_due(now: datetime, flying: Sequence[Attempt], failing_too: bool) -> list[Attempt]:
    """Claim as much as there are slots for, beginning with whoever was served longest ago.

    A disabled agent is sent nothing: what it is owed waits until it is let in again.
    """
    under_way = Counter(attempt.agent_id for attempt in flying)
    room = SLOTS - len(flying)
    failing_room = FAILING_SLOTS - sum(attempt.to_failing for attempt in flying) if failing_too else 0
    claimed: list[Attempt] = []
    owed = (
        Agent.objects.filter(Exists(_due(now).filter(agent=OuterRef("pk"))), enabled=True)
        .select_related("endpoint")
        .order_by(F("endpoint__tried_at").asc(nulls_first=True), "pk")
    )
    for agent in owed:
        if not room:
            break
        is_failing = _is_failing(agent)
        slots = min(FAILING_AGENT_SLOTS, failing_room) if is_failing else AGENT_SLOTS
        if slots <= under_way[agent.pk]:
            continue
        attempts: list[Attempt] = []
        with by_itself("No callback goes to %s", agent.public_id):
            attempts = _claim(agent, now, slots, room)
        claimed += attempts
        room -= len(attempts)
        failing_room -= len(attempts) if is_failing else 0
    return claimed


def _is_failing(agent: Agent) -> bool:
    endpoint: Endpoint | None = getattr(agent, "endpoint", None)
    return bool(endpoint and endpoint.failing_since and endpoint.url == agent.callback_url)


def _claim(agent: Agent, now: datetime, slots: int, room: int) -> list[Attempt]:
    """Claim what one agent is owed, up to `slots` on their way at once; give up what can reach nobody."""
    pauses = schedule()
    with transaction.atomic():
        endpoint = _locked_endpoint(agent)
        if not agent.enabled:
            return []
        due = _due(now).filter(agent=agent).order_by("next_attempt_at", "pk")
        if not agent.callback_url or endpoint.is_off:
            trouble = Trouble.OFF if agent.callback_url else Trouble.NO_URL
            give_up(list(due.defer("body")[:BATCH]), agent, last_error=trouble)
            return []
        leased = Delivery.objects.filter(agent=agent, state=State.WAITING, leased_until__gt=now)
        under_way = leased.exclude(clocks.is_free(now, LEASE)).count()
        secrets = tuple(keys.live_secrets(agent))
        claimed = []
        for delivery in due[: max(0, min(slots - under_way, room))]:
            died = {"last_error": Trouble.INTERRUPTED} if delivery.leased_until else {}
            if delivery.attempts > len(pauses):  # a worker died in the last one
                give_up([delivery], agent, **died)
            elif (
                _due(now)
                .filter(pk=delivery.pk, attempts=delivery.attempts)
                .update(attempts=F("attempts") + 1, leased_until=now + LEASE, **died)
            ):
                claimed.append(
                    Attempt(
                        pk=delivery.pk,
                        agent_id=agent.pk,
                        number=delivery.attempts + 1,
                        url=agent.callback_url,
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


def _locked_endpoint(agent: Agent) -> Endpoint:
    """Return the endpoint at the agent's address, locked; a new address starts afresh.

    Where the agent is reached, and whether at all, is read anew: it may have changed since the agent was read.
    """
    endpoint, _ = Endpoint.objects.select_for_update().get_or_create(agent=agent, defaults={"url": agent.callback_url})
    agent.refresh_from_db(fields=["callback_url", "enabled"])
    if endpoint.url != agent.callback_url:
        endpoint = Endpoint(agent=agent, url=agent.callback_url, tried_at=endpoint.tried_at)
        endpoint.save(force_update=True)
    endpoint.agent = agent
    return endpoint


# -- outcomes ----------------------------------------------------------------------------------------


def _record(agent_id: int, outcomes: Iterable[tuple[Attempt, Outcome]], now: datetime) -> None:
    """Write what came of an agent's attempts, and what they say of its endpoint."""
    with transaction.atomic():
        endpoint = Endpoint.objects.select_for_update(of=("self",)).select_related("agent").get(pk=agent_id)
        for attempt, outcome in outcomes:
            given_up = _settle(attempt, outcome, endpoint.agent, now)
            if attempt.url == endpoint.url == endpoint.agent.callback_url:
                _judge(endpoint, outcome, given_up, now)


def _settle(attempt: Attempt, outcome: Outcome, agent: Agent, now: datetime) -> int:
    """Write what came of one attempt; return how many deliveries that ended without success, 0 or 1."""
    delivery = Delivery.objects.defer("body").get(pk=attempt.pk)
    told = {"last_error": outcome.trouble, "last_status": outcome.status}
    pauses = schedule()
    if not outcome.trouble:
        # Whichever attempt it was: one whose lease ran out has got through all the same.
        _move([delivery], agent, None, State.DELIVERED, delivered_at=now, leased_until=None, **told)
    elif delivery.attempts == attempt.number:  # else the next attempt is under way, and tells
        if outcome.trouble == Trouble.GONE or attempt.number > len(pauses):
            return give_up([delivery], agent, **told)
        pause = timedelta(seconds=max(pauses[attempt.number - 1], min(outcome.wait, LONGEST_WAIT)))
        Delivery.objects.filter(pk=attempt.pk, state=State.WAITING).update(
            leased_until=None, next_attempt_at=now + pause, **told
        )
    return 0


def _judge(endpoint: Endpoint, outcome: Outcome, given_up: int, now: datetime) -> None:
    """Note how the endpoint does, and switch it off when it is gone or nothing gets through for too long."""
    if not outcome.trouble:
        if endpoint.failing_since or endpoint.given_up:
            endpoint.failing_since, endpoint.given_up = None, 0
            endpoint.save(update_fields=["failing_since", "given_up"])
        return
    endpoint.failing_since = endpoint.failing_since or now
    endpoint.given_up += given_up
    reason = ""
    if outcome.trouble == Trouble.GONE:
        reason = Off.GONE
    elif given_up and endpoint.given_up >= GIVEN_UP_IN_A_ROW:
        reason = Off.GIVEN_UP
    elif given_up and now - endpoint.failing_since >= FAILING_TOO_LONG:
        reason = Off.FAILING
    if reason and not endpoint.off_at:
        endpoint.off_at, endpoint.off_reason = now, reason
        # Not the address: it may carry a token.
        agent = endpoint.agent
        _event("endpoint-switched-off", agent.public_id, agent, None, "on", "off", reason=reason).save()
        log.warning("The endpoint of agent %s was switched off: %s", agent.public_id, reason)
    endpoint.save()


def give_up_disabled(agent: Agent, before: datetime, now: datetime) -> int:
    """Give up what a disabled agent was owed before a moment, BATCH at most; return how many that were.

    Nothing that is on its way, nor once the agent is let in again.
    """
    with transaction.atomic(durable=True):
        _locked_endpoint(agent)
        if agent.enabled:
            return 0
        free = clocks.is_free(now, LEASE)
        owed = Delivery.objects.filter(free, agent=agent, state=State.WAITING, created_at__lt=before).exclude(body="")
        return give_up(list(owed.defer("body").order_by("pk")[:BATCH]), agent, last_error=Trouble.DISABLED)


def give_up(deliveries: Sequence[Delivery], agent: Agent, **told: Any) -> int:
    """End deliveries that did not get through; people can have them sent again. Returns how many ended."""
    return _move(deliveries, agent, None, State.EXHAUSTED, leased_until=None, **told)


def _move(
    deliveries: Sequence[Delivery], agent: Agent, person: User | None, after: Delivery.State, **values: Any
) -> int:
    """Move deliveries to a state, each with its audit event; return how many were not there already.

    One whose text was erased stays where it is: there is nothing left to send.
    """
    _, before = MOVES[after]
    events = [
        _moved(delivery, agent, person, after, **values)
        for delivery in deliveries
        if Delivery.objects.filter(pk=delivery.pk, state=before).exclude(body="").update(state=after, **values)
    ]
    AuditEvent.objects.bulk_create(events)
    return len(events)


def _moved(delivery: Delivery, agent: Agent, person: User | None, after: Delivery.State, **values: Any) -> AuditEvent:
    action, before = MOVES[after]
    return _event(
        action,
        delivery.public_id,
        agent,
        person,
        before,
        after,
        type=delivery.type,
        attempts=delivery.attempts,
        trouble=values.get("last_error", ""),
        status=values.get("last_status"),
    )


def _event(
    action: str, public_id: str, agent: Agent, person: User | None, before: str, after: str, **data: object
) -> AuditEvent:
    return audit.event(
        action, public_id, actor=person, team=agent.team_id, agent=agent, before=before, after=after, **data
    )


def for_list(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    """Return deliveries with what a row shows, latest first, without the texts."""
    shown = rows.select_related("agent__endpoint", "agent__team", "held")
    return shown.defer("body", "held__text", "held__attributes").order_by("-id")
