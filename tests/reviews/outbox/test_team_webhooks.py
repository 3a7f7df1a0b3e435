"""A team's webhooks get its events: signed, written with the change, apart from the agents' callbacks."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from standardwebhooks import Webhook

from metacog.accounts.retention import set_retention
from metacog.models import Agent, AuditEvent
from patterns.patterns import lifecycle
from reviews import retention
from reviews.held import decisions
from reviews.held.decisions import releasing
from reviews.learning import sweep
from reviews.learning.extract import PatternProposal
from reviews.models import AgentResponse, Delivery, Endpoint, HeldItem, TeamWebhook
from reviews.models.deliveries import EVENTS, TEAM_EVENTS
from reviews.outbox import deliveries, webhooks
from reviews.records import events
from tests.reviews.outbox.receiving import NOW, Receiver, at, owe
from tests.tables import table

State = Delivery.State
pytestmark = pytest.mark.django_db
ALL = [*TEAM_EVENTS]


@pytest.fixture
def added(aurora: Any, olga: Any, receiver: Receiver) -> tuple[TeamWebhook, str]:
    """Return a webhook of Aurora that goes to the receiver, and its secret."""
    return webhooks.add(aurora, olga, url=receiver.url, events=ALL)


@pytest.fixture
def webhook(added: tuple[TeamWebhook, str]) -> TeamWebhook:
    return added[0]


def arrived(receiver: Receiver, secret: str) -> list[dict[str, Any]]:
    """Send what is due and return what arrived, its signatures checked."""
    deliveries.deliver_due()
    return [Webhook(secret).verify(seen.body, seen.headers) for seen in receiver.seen]


def owed_to(webhook: TeamWebhook, count: int = 1, **fields: Any) -> list[Delivery]:
    return Delivery.objects.bulk_create(
        Delivery(webhook=webhook, type="item.held", body="{}", created_at=NOW, next_attempt_at=NOW, **fields)
        for _ in range(count)
    )


# -- the events ----------------------------------------------------------------------------------------


def test_a_held_item_is_told_as_the_agent_reads_it(kuro: Any, receiver: Any, added: Any, settings: Any) -> None:
    held = kuro.hold()
    [told] = arrived(receiver, added[1])
    assert told["type"] == "item.held"
    data = told["data"]
    assert data.pop("agent") == {"id": kuro.id, "name": "kuro"}
    assert data.pop("review_url") == f"{settings.PUBLIC_URL}/queue/{held}/"
    assert data == kuro.get(f"/held/{held}").json()


def test_each_held_item_of_a_response_is_told(kuro: Any, receiver: Any, added: Any) -> None:
    items = [{"kind": "chat", "text": "The cause is clearly the cache."}, {"kind": "ask", "text": "Is it?"}]
    verdict = kuro.respond(items=[*items, {"kind": "task", "text": "The cause is clearly the cache."}])
    told = arrived(receiver, added[1])
    held = [item["held"] for item in verdict["items"] if item["held"]]
    assert sorted(each["data"]["id"] for each in told) == sorted(held)
    assert len(held) == 2


@pytest.mark.parametrize("callback_too", [False, True])
def test_a_decision_is_told_as_the_feed_gives_it(
    kuro: Any, receiver: Any, another_receiver: Any, added: Any, alice: Any, undo_at_once: None, callback_too: bool
) -> None:
    if callback_too:
        at(kuro, another_receiver.url)
    held = HeldItem.objects.get(public_id=kuro.hold())
    decisions.decide(held, alice, "reject", reason="not measured")
    _, told = sorted(arrived(receiver, added[1]), key=lambda each: each["type"] == "item.decided")
    assert told["type"] == "item.decided"
    [decision] = kuro.get("/decisions").json()["items"]
    assert told["data"] == {**decision, "agent": {"id": kuro.id, "name": "kuro"}}
    assert len(another_receiver.seen) == callback_too
    for seen in another_receiver.seen:
        assert Webhook(kuro.secret).verify(seen.body, seen.headers)["data"] == decision


def test_nothing_is_told_of_a_decision_before_its_undo_is_over(
    kuro: Any, receiver: Any, added: Any, alice: Any, settings: Any
) -> None:
    settings.UNDO_SECONDS = 10
    held = HeldItem.objects.get(public_id=kuro.hold())
    decision, _ = decisions.decide(held, alice, "reject")
    decisions.undo(decision, alice)
    assert [each["type"] for each in arrived(receiver, added[1])] == ["item.held"]


def test_an_expired_item_is_told(kuro: Any, receiver: Any, added: Any) -> None:
    held = kuro.hold()
    HeldItem.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    decisions.settle()
    told = {each["type"]: each["data"] for each in arrived(receiver, added[1])}
    assert (told["item.expired"]["held"], told["item.expired"]["verdict"]) == (held, "expire")


def test_a_request_for_more_tool_calls_is_told_once(kuro: Any, receiver: Any, added: Any) -> None:
    asked = [kuro.post("/extensions", {"problem": "bug", "reason": "need more time"}) for _ in range(2)]
    [told] = arrived(receiver, added[1])
    assert told["type"] == "extension.requested"
    assert told["data"] == {**asked[0].json(), "agent": {"id": kuro.id, "name": "kuro"}}


def test_a_proposed_pattern_is_told_whoever_proposed_it(
    receiver: Receiver, added: Any, aurora: Any, carla: Any
) -> None:
    by_hand = lifecycle.add(aurora, carla, keywords=["princess"], description="who she is", source="external")
    learned = PatternProposal(
        keywords=["thirty days"], description="14", source="external", told="14", kind="memory", row="mem_1"
    )
    found = sweep.propose(aurora, learned)
    assert found
    assert sweep.propose(aurora, replace(learned, row="mem_2")) == found, "it joins the proposal, which was told"
    told = {each["data"]["id"]: each for each in arrived(receiver, added[1])}
    assert len(receiver.seen) == 2
    assert {each["type"] for each in told.values()} == {"pattern.proposed"}
    assert told[found.public_id]["data"]["keywords"] == ["thirty days"]
    own = told[by_hand.public_id]["data"]
    assert own == {
        "id": by_hand.public_id, "keywords": ["princess"], "description": "who she is", "source": "external",
        "createdAt": own["createdAt"], "triggerCount": 0,
    }  # fmt: skip


def test_a_pattern_that_is_proposed_again_is_told(receiver: Any, added: Any, aurora: Any, carla: Any) -> None:
    pattern = lifecycle.add(aurora, carla, keywords=["princess"], description="x", source="external")
    lifecycle.take_step(pattern, "dismiss", carla, because="no")
    lifecycle.take_step(pattern, "reopen", carla)
    assert [each["type"] for each in arrived(receiver, added[1])] == ["pattern.proposed"] * 2


def test_it_gets_only_what_it_wants_and_only_of_its_own_team(
    kuro: Any, other: Any, webhook: Any, aurora: Any, olga: Any, receiver: Any
) -> None:
    webhooks.set_events(webhook, olga, ["item.decided"])
    wanting, _ = webhooks.add(aurora, olga, url=receiver.url, events=["item.held"])
    off, _ = webhooks.add(aurora, olga, url=receiver.url, events=["item.held"])
    webhooks.set_enabled(off, olga, False)
    kuro.hold()
    other.hold()
    assert list(Delivery.objects.values_list("webhook", flat=True)) == [wanting.pk]


def test_what_is_rolled_back_is_told_to_nobody(
    kuro: Any, webhook: Any, monkeypatch: pytest.MonkeyPatch, alice: Any, undo_at_once: None
) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    before = Delivery.objects.count()

    def fail(*given: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(releasing, "remember_released", fail)  # after it was put into the outbox
    with pytest.raises(RuntimeError):
        decisions.decide(held, alice, "reject")
    tell_held = events.tell_held
    monkeypatch.setattr("reviews.intake.write.tell_held", lambda *given: (tell_held(*given), fail()))
    assert (
        kuro.post("/responses", {"response": held.text, "items": [{"kind": "chat", "text": held.text}]}).status_code
        == 500
    )
    assert (Delivery.objects.count(), HeldItem.objects.count(), AgentResponse.objects.count()) == (before, 1, 1)


def test_a_response_of_which_nothing_is_held_asks_for_no_webhooks(
    kuro: Any, webhook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.records.events._wanting", lambda *given: pytest.fail("it did"))
    kuro.respond("I looked.", items=[])


# -- sending -------------------------------------------------------------------------------------------


def test_both_secrets_sign_while_one_is_rotated(added: Any, olga: Any, receiver: Any) -> None:
    webhook, first = added
    second = webhooks.rotate(webhook, olga)
    webhooks.send_test(webhook, olga)
    for secret in (first, second):
        [told] = arrived(receiver, secret)
        assert (told["type"], told["data"]) == ("webhook.test", {"team": "Aurora"})
    assert webhooks.end_former_secret(webhook, olga)
    receiver.seen.clear()
    webhooks.send_test(webhook, olga)
    with pytest.raises(Exception, match="No matching signature"):
        arrived(receiver, first)


def test_it_is_retried_with_the_same_id_and_bytes(webhook: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_SCHEDULE = (5.0, 60.0)
    receiver.answers = [500, 503, 204]
    owed_to(webhook)
    for seconds in (0, 5, 65):
        assert deliveries.deliver_due(NOW + timedelta(seconds=seconds)) == 1
    assert len({(seen.headers["webhook-id"], seen.body) for seen in receiver.seen}) == 1
    webhook.refresh_from_db()
    assert (webhook.failed_at, webhook.trouble, webhook.failed_status) == (NOW + timedelta(seconds=5), "status", 503)
    assert webhook.delivered_at == NOW + timedelta(seconds=65)
    assert webhook.failing_since is None


def test_a_private_address_is_not_reached(webhook: Any, receiver: Any, settings: Any) -> None:
    settings.CALLBACK_ALLOW = frozenset()
    owed_to(webhook)
    deliveries.deliver_due(NOW)
    assert receiver.seen == []
    assert Delivery.objects.get().last_error == "forbidden"


def test_it_is_switched_off_by_itself_and_on_by_a_person(webhook: Any, receiver: Any, olga: Any) -> None:
    receiver.then = 410
    owed_to(webhook, 2)
    deliveries.deliver_due(NOW)
    deliveries.deliver_due(NOW + timedelta(seconds=1))
    webhook.refresh_from_db()
    assert (webhook.is_off, webhook.off_reason) == (True, "gone")
    assert Delivery.objects.filter(state=State.EXHAUSTED).count() == 2
    with pytest.raises(deliveries.SwitchedOff):
        webhooks.send_test(webhook, olga)
    receiver.then = 204
    assert deliveries.switch_on(webhook, olga, with_given_up=True) == (True, 2)
    assert deliveries.deliver_due() == 2
    actions = AuditEvent.objects.filter(object_id=webhook.public_id).values_list("action", flat=True)
    assert {"webhook-switched-off", "webhook-switched-on"} <= set(actions)
    assert not AuditEvent.objects.exclude(agent=None).filter(action__startswith="webhook-").exists()


def test_what_fails_at_a_team_leaves_the_agents_slots_and_endpoint_alone(
    kuro: Any, agent: Any, aurora: Any, olga: Any, receiver: Any
) -> None:
    for _ in range(webhooks.MOST):
        failing, _secret = webhooks.add(aurora, olga, url=receiver.url, events=ALL)
        TeamWebhook.objects.filter(pk=failing.pk).update(failing_since=NOW)
        owed_to(failing, 4, agent=agent)
    owe(agent, deliveries.AGENT_SLOTS)
    claimed = deliveries._claim_due(timezone.now(), [], True)
    to_agents = [attempt for attempt in claimed if attempt.to == (Agent, agent.pk)]
    assert len(to_agents) == deliveries.AGENT_SLOTS
    assert len(claimed) - len(to_agents) == deliveries.WEBHOOK_SLOTS // 2
    assert Endpoint.objects.get(agent=agent).failing_since is None
    later = timezone.now() + deliveries.LEASE
    assert {attempt.to[0] for attempt in deliveries._claim_due(later, [], True, webhooks_too=False)} == {Agent}


def test_a_disabled_webhook_is_sent_nothing_until_it_is_enabled(webhook: Any, olga: Any, receiver: Any) -> None:
    owed_to(webhook)
    webhooks.set_enabled(webhook, olga, False)
    assert deliveries.deliver_due() == 0
    webhooks.set_enabled(webhook, olga, True)
    assert deliveries.deliver_due() == 1


# -- setting them up -----------------------------------------------------------------------------------


@table("url", ["", "ftp://x.example", "https://user:pass@x.example", "https://x.example/#a", "x"], rolled_back=True)
def test_an_address_that_is_none_is_refused(aurora: Any, olga: Any, url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        webhooks.add(aurora, olga, url=url, events=ALL)
    assert set(refused.value.message_dict) == {"url"}


@table("events", [[], ["item.held", "item.invented"]], rolled_back=True)
def test_events_that_are_none_are_refused(aurora: Any, olga: Any, events: list[str]) -> None:
    with pytest.raises(ValidationError) as refused:
        webhooks.add(aurora, olga, url="https://x.example", events=events)
    assert set(refused.value.message_dict) == {"events"}


def test_a_team_has_ten_at_most(aurora: Any, olga: Any) -> None:
    made = [webhooks.add(aurora, olga, url="https://x.example", events=ALL)[0] for _ in range(webhooks.MOST)]
    with pytest.raises(ValidationError, match="at most 10"):
        webhooks.add(aurora, olga, url="https://x.example", events=ALL)
    webhooks.remove(made[0], olga)
    webhooks.add(aurora, olga, url="https://x.example", events=ALL)


def test_a_removed_one_is_sent_nothing_and_keeps_no_text(kuro: Any, webhook: Any, olga: Any, receiver: Any) -> None:
    kuro.hold()
    webhooks.remove(webhook, olga)
    kuro.hold(session="another")
    assert deliveries.deliver_due() == 0
    assert webhooks.forget_removed(timezone.now()) == 0, "it can be restored"
    assert webhooks.forget_removed(timezone.now() + timedelta(hours=24)) == 1
    assert not webhooks.restore(webhook, olga)
    row, delivery = TeamWebhook.objects.get(), Delivery.objects.get()
    assert (row.secret_encrypted, row.former_secret_encrypted, delivery.body) == ("", "", "")
    assert (row.enabled, delivery.state) == (False, State.EXHAUSTED)


def test_a_restored_one_is_as_it_was_and_gets_what_it_is_owed(
    kuro: Any, webhook: Any, olga: Any, receiver: Any
) -> None:
    kuro.hold()
    webhooks.remove(webhook, olga)
    assert deliveries.deliver_due() == 0
    assert webhooks.restore(webhook, olga)
    assert not webhooks.restore(webhook, olga)
    assert deliveries.deliver_due() == 1
    webhooks.set_enabled(webhook, olga, False)
    webhooks.remove(webhook, olga)
    webhooks.restore(webhook, olga)
    assert not TeamWebhook.objects.get().enabled


def test_every_change_is_audited_without_address_and_secret(added: Any, olga: Any, receiver: Any) -> None:
    webhook, secret = added
    webhooks.set_events(webhook, olga, ["item.held"])
    other = webhooks.rotate(webhook, olga)
    webhooks.end_former_secret(webhook, olga)
    webhooks.set_enabled(webhook, olga, False)
    webhooks.set_enabled(webhook, olga, True)
    webhooks.send_test(webhook, olga)
    webhooks.remove(webhook, olga)
    events = AuditEvent.objects.filter(object_id=webhook.public_id).order_by("pk")
    assert [event.action.removeprefix("webhook-") for event in events] == [
        "added", "changed", "secret-rotated", "secret-ended", "disabled", "enabled", "tested", "removed",
    ]  # fmt: skip
    assert {event.actor for event in events} == {"olga"}
    record = json.dumps([event.data for event in events])
    assert not any(hidden in record for hidden in (secret, other, "/hook"))


# -- keeping -------------------------------------------------------------------------------------------


def test_its_texts_are_erased_with_the_teams(
    kuro: Any, webhook: Any, aurora: Any, olga: Any, alice: Any, receiver: Any, undo_at_once: None
) -> None:
    set_retention(aurora, 30, olga)
    held = HeldItem.objects.get(public_id=kuro.hold())
    decisions.decide(held, alice, "reject", reason="princess")
    kuro.post("/extensions", {"problem": "bug", "reason": "the princess asked"})
    deliveries.deliver_due()
    webhooks.set_enabled(webhook, olga, False)
    owed_to(webhook)  # waits for ever, unless it is given up
    then = timezone.now() - timedelta(days=31)
    AgentResponse.objects.update(received_at=then)
    HeldItem.objects.update(closed_at=then)
    Delivery.objects.update(created_at=then)
    retention.erase()
    assert Delivery.objects.filter(webhook=webhook).count() == 4
    assert set(Delivery.objects.values_list("body", flat=True)) == {""}


@table("name", EVENTS)
def test_the_shape_of_an_event_is_documented(name: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "callbacks.md"
    rows = " ".join(row for row in page.read_text().splitlines() if row.startswith("|") and f"`{name}`" in row)
    assert [part for part in EVENTS[name].data.split(", ") if part not in rows] == []
