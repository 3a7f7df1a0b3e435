"""What is owed is sent: signed, the same each time, for a day, fairly, and to its end."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, get_args

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from metacog import egress
from metacog.accounts import keys
from metacog.accounts.agents import create_agent, rotate
from metacog.models import Agent, AuditEvent
from reviews.held import decisions
from reviews.models import Delivery, Endpoint, HeldItem
from reviews.outbox import deliveries
from tests.reviews.outbox.receiving import NOW, at, owe
from tests.tables import table

State, Trouble = Delivery.State, Delivery.Trouble
pytestmark = pytest.mark.django_db


def states(agent: Any) -> Counter[str]:
    return Counter(Delivery.objects.filter(agent=agent).values_list("state", flat=True))


def only() -> Delivery:
    return Delivery.objects.get()


def run_to_the_end(now: datetime = NOW) -> int:
    """Sweep at each moment at which something is due, until nothing waits; return how many sends that took."""
    sent = 0
    while waiting := Delivery.objects.filter(state=State.WAITING).order_by("next_attempt_at").first():
        now = max(now, waiting.next_attempt_at)
        sent += deliveries.deliver_due(now)
    return sent


# -- one delivery --------------------------------------------------------------------------------------


def test_a_decision_reaches_the_agent_signed(
    kuro: Any, agent: Any, receiver: Any, alice: Any, undo_at_once: None
) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    decision, _ = decisions.decide(held, alice, "reject", reason="not measured: “cache”")
    assert deliveries.deliver_due() == 1
    [seen] = receiver.seen
    told = Webhook(kuro.secret).verify(seen.body, seen.headers)
    assert told["type"] == "item.decided"
    assert told["data"]["id"] == decision.public_id
    assert told["data"]["reason"] == "not measured: “cache”"
    assert seen.headers["content-type"] == "application/json"
    delivery = only()
    assert seen.headers["webhook-id"] == delivery.public_id
    assert (delivery.state, delivery.attempts, delivery.last_status, delivery.last_error) == (
        State.DELIVERED, 1, 204, "",
    )  # fmt: skip
    assert delivery.delivered_at
    assert delivery.leased_until is None


def test_what_is_delivered_is_never_sent_again(agent: Any, receiver: Any) -> None:
    receiver.answers = [200, 299]
    owe(agent, 3)
    assert deliveries.deliver_due(NOW + timedelta(hours=1)) == 3
    for days in range(5):
        assert deliveries.deliver_due(NOW + timedelta(days=days)) == 0
    assert len(receiver.seen) == 3


def test_each_live_secret_signs_while_one_is_rotated(kuro: Any, agent: Any, receiver: Any) -> None:
    _, newer = rotate(agent, None)
    owe(agent)
    deliveries.deliver_due()
    [seen] = receiver.seen
    first, second = seen.headers["webhook-signature"].split(" ")
    for secret in (kuro.secret, newer):
        Webhook(secret).verify(seen.body, seen.headers)
    Webhook(newer).verify(seen.body, seen.headers | {"webhook-signature": first})
    Webhook(kuro.secret).verify(seen.body, seen.headers | {"webhook-signature": second})


def test_a_revoked_secret_signs_nothing(kuro: Any, agent: Any, receiver: Any) -> None:
    rotate(agent, None)
    keys.revoke(agent, None)
    owe(agent)
    deliveries.deliver_due()
    [seen] = receiver.seen
    with pytest.raises(Exception, match="No matching signature"):
        Webhook(kuro.secret).verify(seen.body, seen.headers)


def test_without_a_live_secret_nothing_is_sent_and_it_is_said(agent: Any, receiver: Any) -> None:
    keys.revoke(agent, None, keep=0)
    owe(agent)
    deliveries.deliver_due()
    assert receiver.seen == []
    assert (only().state, only().last_error) == (State.WAITING, Trouble.NO_SECRET)


def test_every_attempt_has_the_same_id_and_bytes_and_a_time_of_its_own(
    agent: Any, receiver: Any, settings: Any
) -> None:
    settings.CALLBACK_SCHEDULE = (5.0, 60.0)
    receiver.answers = [500, 503, 200]
    owe(agent)
    for seconds in (0, 5, 65):
        assert deliveries.deliver_due(NOW + timedelta(seconds=seconds)) == 1
    assert len({(seen.headers["webhook-id"], seen.body) for seen in receiver.seen}) == 1
    begun = [int(seen.headers["webhook-timestamp"]) for seen in receiver.seen]
    assert [moment - begun[0] for moment in begun] == [0, 5, 65]
    assert only().state == State.DELIVERED


def test_a_given_schedule_is_kept_to_the_second(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (1.0, 2.5, 60.0)
    receiver.then = 500
    owe(agent)
    moments = []
    while only().state == State.WAITING:
        moments.append((only().next_attempt_at - NOW).total_seconds())
        just_before = only().next_attempt_at - timedelta(milliseconds=1)
        assert deliveries.deliver_due(just_before) == 0
        assert deliveries.deliver_due(only().next_attempt_at) == 1
    assert moments == [0, 1, 3.5, 63.5]
    assert (only().attempts, len(receiver.seen)) == (4, 4)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("120", 120), ("1", 5), ("315360000", 3600), ("9" * 5000, 3600), ("Wed, 21 Oct 2099 07:28:00 GMT", 3600),
     ("Wed, 21 Oct 2015 07:28:00 GMT", 5), ("Wed, 21 Oct 2099 07:28:00 -0000", 3600), ("soon", 5), ("-7", 5), ("٣", 5)],
)  # fmt: skip
def test_a_receiver_that_asks_for_time_is_given_it_up_to_an_hour(
    agent: Any, receiver: Any, settings: Any, said: str, seconds: float
) -> None:
    def busy(handler: Any) -> None:
        handler.wfile.write(f"HTTP/1.1 429 Slow\r\nRetry-After: {said}\r\nContent-Length: 0\r\n\r\n".encode())

    settings.CALLBACK_SCHEDULE = (5.0,)
    receiver.answers = [busy]
    owe(agent)
    deliveries.deliver_due(NOW)
    assert only().next_attempt_at == NOW + timedelta(seconds=seconds)
    run_to_the_end()
    assert states(agent) == {State.DELIVERED: 1}


def test_no_other_answer_than_429_and_503_asks_for_time(agent: Any, receiver: Any) -> None:
    def broken(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 500 Broken\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n")

    receiver.answers = [broken]
    owe(agent)
    deliveries.deliver_due(NOW)
    assert deliveries.deliver_due(NOW + timedelta(seconds=6)) == 1


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=8)])
def test_what_was_put_off_before_the_clock_was_set_back_is_sent(agent: Any, receiver: Any, back: timedelta) -> None:
    receiver.answers = [500, 500, 204]
    owe(agent)
    assert deliveries.deliver_due(NOW) == 1
    assert deliveries.deliver_due(NOW + timedelta(seconds=6)) == 1
    owe(agent, created_at=NOW + timedelta(seconds=7), next_attempt_at=NOW + timedelta(seconds=7))
    owe(agent, attempts=1, leased_until=NOW + deliveries.LEASE)  # by a worker that died
    assert deliveries.deliver_due(NOW - back) == 3
    assert states(agent) == {State.DELIVERED: 3}


def test_the_time_that_a_receiver_asked_for_is_kept_where_the_clock_was_set_back_by_less(
    agent: Any, receiver: Any
) -> None:
    def busy(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 1800\r\nContent-Length: 0\r\n\r\n")

    receiver.answers = [busy]
    owe(agent)
    deliveries.deliver_due(NOW)
    assert deliveries.deliver_due(NOW - timedelta(minutes=20)) == 0
    assert deliveries.deliver_due(NOW - timedelta(minutes=40)) == 1


def test_the_usual_schedule_lasts_a_day_and_has_jitter(settings: Any) -> None:
    assert 23 < sum(deliveries.SCHEDULE) / 3600 < 24
    drawn = [deliveries.schedule() for _ in range(50)]
    assert len({pauses[0] for pauses in drawn}) > 40
    for usual, *pauses in zip(deliveries.SCHEDULE, *drawn, strict=True):
        assert all(0.8 * usual <= pause <= 1.2 * usual for pause in pauses)


@table(
    ("answer", "trouble"),
    [(500, "status"), (404, "status"), (429, "status"), (300, "redirect"), (304, "redirect"), (399, "redirect")],
    rolled_back=True,
)
def test_whatever_is_no_success_is_tried_again(agent: Any, receiver: Any, answer: Any, trouble: str) -> None:
    receiver.answers = [answer]
    owe(agent)
    deliveries.deliver_due(NOW)
    delivery = only()
    assert (delivery.state, delivery.attempts, delivery.last_error, delivery.last_status) == (
        State.WAITING, 1, trouble, answer,
    )  # fmt: skip
    assert timedelta(seconds=3) < delivery.next_attempt_at - NOW < timedelta(seconds=7)


def test_each_way_of_failing_has_its_words() -> None:
    assert set(get_args(egress.Why)) <= set(Trouble.values)


def test_a_forbidden_address_is_told_and_never_reached(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_ALLOW = frozenset()
    owe(agent)
    deliveries.deliver_due()
    assert receiver.seen == []
    assert only().last_error == Trouble.FORBIDDEN


def test_a_defect_in_one_delivery_keeps_no_other_from_being_sent(
    agent: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, *_ = owe(agent, 4)

    def request(method: str, url: str, *, headers: Any, content: Any) -> Any:
        if headers["webhook-id"] == broken.public_id:
            raise ZeroDivisionError
        return egress_request(method, url, headers=headers, content=content)

    egress_request = egress.request
    monkeypatch.setattr(egress, "request", request)
    deliveries.deliver_due()
    assert states(agent) == {State.DELIVERED: 3, State.WAITING: 1}


# -- the end of trying ---------------------------------------------------------------------------------


def test_it_gives_up_visibly_and_can_be_replayed_with_the_same_id_and_bytes(
    agent: Any, receiver: Any, settings: Any, carla: Any
) -> None:
    settings.CALLBACK_SCHEDULE = (1.0, 1.0)
    receiver.then = 500
    owe(agent)
    assert run_to_the_end() == 3
    delivery = only()
    assert (delivery.state, delivery.attempts, delivery.last_status) == (State.EXHAUSTED, 3, 500)
    assert deliveries.deliver_due(NOW + timedelta(days=30)) == 0
    receiver.then = 200
    assert deliveries.send_again(delivery, carla)
    assert not deliveries.send_again(delivery, carla), "the second click changes nothing"
    assert deliveries.deliver_due() == 1
    assert only().state == State.DELIVERED
    assert len({(seen.headers["webhook-id"], seen.body) for seen in receiver.seen}) == 1
    record = AuditEvent.objects.filter(object_id=delivery.public_id).order_by("id")
    assert [(event.action, event.actor, event.before, event.after) for event in record] == [
        ("callback-given-up", "", "waiting", "exhausted"),
        ("callback-sent-again", "carla", "exhausted", "waiting"),
        ("callback-delivered", "", "waiting", "delivered"),
    ]
    assert record[0].data == {"type": "item.decided", "attempts": 3, "trouble": "status", "status": 500}


def test_410_switches_the_endpoint_off_at_once(agent: Any, receiver: Any) -> None:
    receiver.then = 410
    owe(agent, 9)
    deliveries.deliver_due()
    assert len(receiver.seen) <= deliveries.AGENT_SLOTS, "what was on its way already"
    assert states(agent) == {State.EXHAUSTED: 9}
    told = Counter(Delivery.objects.values_list("last_error", flat=True))
    assert told[Trouble.GONE] == len(receiver.seen)
    assert told[Trouble.OFF] == 9 - len(receiver.seen)
    endpoint = Endpoint.objects.get()
    assert endpoint.is_off
    assert endpoint.off_reason == Endpoint.Off.GONE
    [event] = AuditEvent.objects.filter(action="endpoint-switched-off")
    assert (event.before, event.after, event.data) == ("on", "off", {"reason": "gone"})


def test_what_is_owed_while_it_is_off_is_given_up_unsent_and_nothing_is_lost(
    agent: Any, receiver: Any, olga: Any
) -> None:
    receiver.answers = [410]
    owe(agent)
    deliveries.deliver_due()
    owe(agent, 5)
    assert deliveries.deliver_due() == 0
    assert states(agent) == {State.EXHAUSTED: 6}
    assert len(receiver.seen) == 1
    with pytest.raises(deliveries.SwitchedOff):
        deliveries.send_again(Delivery.objects.first(), olga)
    assert deliveries.switch_on(agent, olga, with_given_up=True) == (True, 6)
    assert deliveries.switch_on(agent, olga, with_given_up=True) == (False, 0)
    assert run_to_the_end(timezone.now()) == 6
    assert states(agent) == {State.DELIVERED: 6}
    assert AuditEvent.objects.get(action="endpoint-switched-on").actor == "olga"


@pytest.mark.parametrize("count", [2, 40])
def test_to_send_all_again_asks_the_database_no_more_of_many(
    agent: Any, olga: Any, count: int, django_assert_num_queries: Any
) -> None:
    owe(agent, count)
    Delivery.objects.update(state=State.EXHAUSTED)
    Delivery.objects.filter(pk=Delivery.objects.first().pk).update(body="")  # erased: it stays
    Endpoint.objects.create(agent=agent, url=agent.callback_url, off_at=timezone.now(), off_reason="gone")
    with django_assert_num_queries(9):
        assert deliveries.switch_on(agent, olga, with_given_up=True) == (True, count - 1)
    assert Counter(Delivery.objects.values_list("state", flat=True)) == {State.WAITING: count - 1, State.EXHAUSTED: 1}
    again = AuditEvent.objects.filter(action="callback-sent-again").values_list("before", "after", "actor")
    assert list(again) == [("exhausted", "waiting", "olga")] * (count - 1)


def test_it_can_be_switched_on_without_what_was_given_up(agent: Any, receiver: Any, olga: Any) -> None:
    receiver.answers = [410]
    owe(agent)
    deliveries.deliver_due()
    assert deliveries.switch_on(agent, olga, with_given_up=False) == (True, 0)
    assert states(agent) == {State.EXHAUSTED: 1}
    owe(agent)
    assert deliveries.deliver_due() == 1
    assert states(agent) == {State.EXHAUSTED: 1, State.DELIVERED: 1}


def test_only_what_was_given_up_and_is_this_agents_goes_out_again(agent: Any, other: Any, olga: Any) -> None:
    stranger = at(other, agent.callback_url)
    owe(agent, state=State.DELIVERED)
    owe(agent, state=State.EXHAUSTED)
    owe(stranger, state=State.EXHAUSTED)
    Endpoint.objects.create(agent=agent, url=agent.callback_url, off_at=timezone.now(), off_reason="gone")
    assert deliveries.switch_on(agent, olga, with_given_up=True) == (True, 1)
    assert states(agent) == {State.DELIVERED: 1, State.WAITING: 1}
    assert states(stranger) == {State.EXHAUSTED: 1}


def test_what_was_erased_meanwhile_is_not_sent_again(agent: Any, receiver: Any, olga: Any) -> None:
    owe(agent, state=State.EXHAUSTED)
    Delivery.objects.update(body="")
    assert deliveries.send_again(only(), olga) is False
    assert states(agent) == {State.EXHAUSTED: 1}


def test_five_given_up_in_a_row_switch_it_off(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (1.0,)
    receiver.then = 500
    for n in range(5):
        assert not Endpoint.objects.filter(off_at__isnull=False).exists(), n
        owe(agent)
        run_to_the_end()
    assert Endpoint.objects.get().off_reason == Endpoint.Off.GIVEN_UP


def test_one_success_between_keeps_it_on(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (1.0,)
    for _ in range(2):
        receiver.answers = [500] * 8
        for _ in range(4):
            owe(agent)
            run_to_the_end()
        owe(agent)
        run_to_the_end()
    assert states(agent) == {State.EXHAUSTED: 8, State.DELIVERED: 2}
    endpoint = Endpoint.objects.get()
    assert (endpoint.is_off, endpoint.given_up, endpoint.failing_since) == (False, 0, None)


def test_a_day_without_any_success_switches_it_off(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (36_000.0, 36_000.0)  # given up after 20 hours
    receiver.then = 500
    owe(agent)
    run_to_the_end()
    assert not Endpoint.objects.get().is_off
    owe(agent)
    run_to_the_end(NOW + timedelta(hours=5))
    assert Endpoint.objects.get().off_reason == Endpoint.Off.FAILING


def test_a_success_ends_the_time_without_any(agent: Any, receiver: Any) -> None:
    receiver.answers = [500]
    owe(agent)
    deliveries.deliver_due(NOW)
    assert Endpoint.objects.get().failing_since == NOW
    run_to_the_end()
    assert Endpoint.objects.get().failing_since is None


def test_a_day_without_success_switches_it_off_whatever_the_attempts(agent: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (90_000.0, 90_000.0)  # 25 hours each
    receiver.then = 500
    owe(agent)
    off = []
    for attempt in range(3):
        deliveries.deliver_due(NOW + timedelta(hours=25 * attempt))
        off.append(Endpoint.objects.get().is_off)
    assert off == [False, True, True]


def test_a_backlog_that_uses_no_delivery_up_ends_with_the_day_and_is_sent_by_hand(
    agent: Any, receiver: Any, olga: Any
) -> None:
    """One attempt at a time goes round a backlog: each delivery has had a few when the day is over."""
    receiver.then = 500
    for hour in range(26):
        if hour % 4 == 0:
            owe(agent, next_attempt_at=NOW + timedelta(hours=hour))
        deliveries.deliver_due(NOW + timedelta(hours=hour))
    assert Endpoint.objects.get().off_reason == Endpoint.Off.FAILING
    assert Delivery.objects.order_by("-attempts").first().attempts <= len(deliveries.SCHEDULE)
    run_to_the_end(NOW + timedelta(hours=26))
    assert states(agent) == {State.EXHAUSTED: 7}
    receiver.then = 204
    assert deliveries.switch_on(agent, olga, with_given_up=True) == (True, 7)
    run_to_the_end()
    assert states(agent) == {State.DELIVERED: 7}


def test_the_backlog_of_a_failing_endpoint_is_bounded_and_what_goes_beyond_is_listed(
    agent: Any, receiver: Any, olga: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_OWED", 5)
    receiver.then = 500
    owe(agent)
    deliveries.deliver_due(NOW)
    owe(agent, 12)
    deliveries.deliver_due(NOW)
    beyond = Delivery.objects.filter(last_error=Delivery.Trouble.TOO_MANY)
    assert {row.state for row in beyond} == {State.EXHAUSTED}
    assert states(agent) == {State.WAITING: 5, State.EXHAUSTED: 8}
    assert AuditEvent.objects.filter(action="callback-given-up").count() == beyond.count() == 8
    assert deliveries.send_again(beyond[0], olga)


def test_another_address_starts_afresh(kuro: Any, agent: Any, receiver: Any, another_receiver: Any) -> None:
    receiver.then = 410
    owe(agent)
    deliveries.deliver_due()
    agent = at(kuro, another_receiver.url)
    assert not Endpoint.objects.get().is_off
    owe(agent)
    assert deliveries.deliver_due() == 1
    assert len(another_receiver.seen) == 1
    endpoint = Endpoint.objects.get()
    assert (endpoint.url, endpoint.off_at) == (another_receiver.url, None)


def test_an_address_that_is_changed_while_a_sweep_begins_is_the_one_that_counts(
    kuro: Any, agent: Any, receiver: Any, another_receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.then = 410
    owe(agent)
    deliveries.deliver_due(NOW)
    owe(agent)
    usual = deliveries.schedule

    def changed() -> Any:
        at(kuro, another_receiver.url)
        return usual()

    monkeypatch.setattr(deliveries, "schedule", changed)
    assert deliveries.deliver_due(NOW) == 1
    assert len(another_receiver.seen) == 1
    assert states(agent) == {State.EXHAUSTED: 1, State.DELIVERED: 1}


def test_an_agent_that_is_disabled_while_a_sweep_begins_is_sent_nothing(
    agent: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owe(agent)
    usual = deliveries.schedule

    def disabled() -> Any:
        Agent.objects.update(enabled=False)
        return usual()

    monkeypatch.setattr(deliveries, "schedule", disabled)
    assert deliveries.deliver_due(NOW) == 0
    assert only().state == State.WAITING


def test_an_address_of_before_switches_nothing_on_that_is_off_at_the_new_one(
    kuro: Any, agent: Any, another_receiver: Any, carla: Any
) -> None:
    [owed] = owe(agent, state=State.EXHAUSTED)
    seen = Delivery.objects.select_related("agent").get(pk=owed.pk)
    at(kuro, another_receiver.url)
    Endpoint.objects.create(agent=agent, url=another_receiver.url, off_at=NOW, off_reason=Endpoint.Off.GONE)
    with pytest.raises(deliveries.SwitchedOff):
        deliveries.send_again(seen, carla)
    assert Endpoint.objects.get().is_off


def test_without_an_address_what_is_owed_is_given_up(kuro: Any, agent: Any, receiver: Any) -> None:
    owe(agent)
    at(kuro, "")
    assert deliveries.deliver_due() == 0
    assert (only().state, only().last_error) == (State.EXHAUSTED, Trouble.NO_URL)


def test_a_disabled_agent_is_sent_nothing_until_it_is_let_in_again(agent: Any, receiver: Any) -> None:
    owe(agent)
    Agent.objects.update(enabled=False)
    assert deliveries.deliver_due() == 0
    assert only().state == State.WAITING
    Agent.objects.update(enabled=True)
    assert deliveries.deliver_due() == 1


# -- claims and leases ---------------------------------------------------------------------------------


def test_what_another_worker_holds_is_left_alone_until_its_lease_is_over(agent: Any, receiver: Any) -> None:
    owe(agent, attempts=1, leased_until=NOW + deliveries.LEASE)
    assert deliveries.deliver_due(NOW + deliveries.LEASE - timedelta(seconds=1)) == 0
    assert deliveries.deliver_due(NOW + deliveries.LEASE) == 1
    assert (only().state, only().attempts) == (State.DELIVERED, 2)


def test_an_attempt_that_was_interrupted_is_told(agent: Any, receiver: Any, settings: Any) -> None:
    receiver.then = 500
    settings.CALLBACK_SCHEDULE = (5.0,)
    owe(agent, attempts=2, leased_until=NOW)
    assert deliveries.deliver_due(NOW + timedelta(seconds=1)) == 0
    assert (only().state, only().last_error) == (State.EXHAUSTED, Trouble.INTERRUPTED)


def test_a_late_success_counts_and_a_late_failure_does_not(agent: Any) -> None:
    owe(agent)
    [first] = deliveries._claim(agent, NOW, 4, 4)
    later = NOW + deliveries.LEASE
    [second] = deliveries._claim(agent, later, 4, 4)
    assert (first.number, second.number) == (1, 2)
    deliveries._record((Agent, agent.pk), [(first, deliveries.Outcome(Trouble.TIMEOUT))], later)
    assert only().leased_until == later + deliveries.LEASE, "the second attempt is still under way"
    deliveries._record((Agent, agent.pk), [(first, deliveries.Outcome("", 200))], later)
    assert only().state == State.DELIVERED
    deliveries._record((Agent, agent.pk), [(second, deliveries.Outcome(Trouble.TIMEOUT))], later)
    assert only().state == State.DELIVERED
    assert AuditEvent.objects.filter(action="callback-delivered").count() == 1


def test_what_is_told_of_an_address_of_before_says_nothing_of_the_new_one(
    kuro: Any, agent: Any, another_receiver: Any
) -> None:
    owe(agent)
    [attempt] = deliveries._claim(agent, NOW, 4, 4)
    agent = at(kuro, another_receiver.url)
    deliveries._record((Agent, agent.pk), [(attempt, deliveries.Outcome(Trouble.GONE, 410))], NOW)
    owe(agent)
    assert deliveries.deliver_due(NOW) == 1
    assert Endpoint.objects.get().off_at is None
    assert len(another_receiver.seen) == 1


def test_one_sweep_at_a_time_has_the_turn_of_a_machine(agent: Any, receiver: Any) -> None:
    owe(agent)
    with deliveries.turn("deliver") as first, deliveries.turn("deliver") as second:
        assert (first, second) == (True, False)
        assert deliveries.deliver_due() == 0
    assert deliveries.deliver_due() == 1


# -- fairness ------------------------------------------------------------------------------------------


def sibling(agent: Any, name: str, url: str) -> Any:
    other, _, _ = create_agent(agent.team, name, None, callback_url=url)
    return other


def test_a_thousand_dead_deliveries_of_one_agent_delay_no_other(
    agent: Any, receiver: Any, another_receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "TURN_SECONDS", 1.0)
    owe(agent, 1000)
    lively = sibling(agent, "lively", another_receiver.url)
    owe(lively, 20, next_attempt_at=timezone.now())  # due after all of the thousand
    order = []
    for one in (receiver, another_receiver):
        one.then = lambda handler, one=one: (order.append(one), answer(handler, 500 if one is receiver else 204))
    while Delivery.objects.filter(agent=lively, state=State.WAITING).exists():
        deliveries.deliver_due(timezone.now())
    last = max(place for place, one in enumerate(order) if one is another_receiver)
    dead_before = sum(one is receiver for one in order[:last])
    assert dead_before <= 40, f"{dead_before} dead sends before the last lively one"


def answer(handler: Any, status: int) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def test_a_hanging_receiver_delays_no_other(agent: Any, receiver: Any, another_receiver: Any) -> None:
    let_go = threading.Event()
    receiver.then = lambda handler: let_go.wait(20)
    owe(agent, 12)
    lively = sibling(agent, "lively", another_receiver.url)
    owe(lively, 12, next_attempt_at=timezone.now())
    sweep = threading.Thread(target=until_delivered, args=(another_receiver, 12, let_go))
    sweep.start()
    deliveries.deliver_due(timezone.now())
    sweep.join()
    assert states(lively) == {State.DELIVERED: 12}
    assert receiver.most_at_once <= deliveries.AGENT_SLOTS


def until_delivered(receiver: Any, count: int, let_go: threading.Event) -> None:
    """Let the hanging receiver go only once the other has everything."""
    give_up = time.monotonic() + 20
    while len(receiver.seen) < count and time.monotonic() < give_up:
        let_go.wait(0.01)
    let_go.set()


def test_one_agent_is_sent_a_few_at_once_and_one_while_it_is_failing(agent: Any, receiver: Any) -> None:
    owe(agent, 12)
    deliveries.deliver_due(timezone.now())
    assert receiver.most_at_once <= deliveries.AGENT_SLOTS
    Endpoint.objects.update(failing_since=NOW)
    receiver.most_at_once, receiver.then = 0, 500
    owe(agent, 12)
    deliveries.deliver_due(timezone.now())
    assert receiver.most_at_once == 1


@pytest.fixture
def few_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "SLOTS", 8)
    monkeypatch.setattr(deliveries, "FAILING_SLOTS", 4)


def test_failing_endpoints_leave_slots_for_the_others(agent: Any, receiver: Any, few_slots: None) -> None:
    for n in range(10):
        failing = sibling(agent, f"failing {n}", receiver.url)
        Endpoint.objects.create(agent=failing, url=receiver.url, failing_since=NOW)
        owe(failing)
    owe(agent)
    claimed = deliveries._claim_due(timezone.now(), [], True)
    assert sum(attempt.to_failing for attempt in claimed) == deliveries.FAILING_SLOTS
    assert (Agent, agent.pk) in {attempt.to for attempt in claimed}
    assert not any(attempt.to_failing for attempt in deliveries._claim_due(timezone.now(), claimed, False))


def test_whoever_was_served_longest_ago_comes_first(agent: Any, receiver: Any, few_slots: None) -> None:
    agents = [agent, *(sibling(agent, f"agent {n}", receiver.url) for n in range(deliveries.SLOTS))]
    for each in agents:
        owe(each, deliveries.AGENT_SLOTS)
    served = set[deliveries.Key]()
    moment = timezone.now()
    while len(served) < len(agents):
        round_ = deliveries._claim_due(moment, [], True)
        assert not {attempt.to for attempt in round_} & served, "nobody twice before everybody once"
        served |= {attempt.to for attempt in round_}
        moment += timedelta(seconds=1)


def test_a_sweep_goes_on_for_others_while_a_receiver_is_slow_but_not_for_ever() -> None:
    now = time.monotonic()
    slow, quick = attempt(now - 3), attempt(now)
    assert deliveries._goes_on(1, [])
    assert deliveries._goes_on(6, [quick, slow])
    assert not deliveries._goes_on(6, [quick])
    assert not deliveries._goes_on(26, [slow])


def attempt(began: float) -> deliveries.Attempt:
    return deliveries.Attempt(1, (Agent, 1), 1, "", "msg_1", b"", (), NOW, False, began)


def test_a_sweep_stays_within_the_workers_time_limit(settings: Any) -> None:
    longest = deliveries.LONGEST_TURN_SECONDS + egress.DEADLINE_SECONDS
    assert longest + 5 < settings.CELERY_TASK_SOFT_TIME_LIMIT
    assert deliveries.LEASE.total_seconds() > 2 * egress.DEADLINE_SECONDS


def test_the_body_is_sent_as_it_was_written(agent: Any, receiver: Any) -> None:
    [delivery] = owe(agent)
    deliveries.deliver_due()
    assert receiver.seen[0].body == delivery.body.encode()
    assert json.loads(receiver.seen[0].body)["data"]["text"] == "快取 “ok” 🙂"
