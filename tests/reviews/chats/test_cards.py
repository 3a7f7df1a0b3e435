"""The outbox of messages in chats: nothing is lost while a chat is away, and what it asks is done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.models import AuditEvent, ChatApp
from reviews import activity
from reviews.chats import card_texts, cards
from reviews.held import decisions
from reviews.models import ChatCard, HeldItem, SearchDue
from reviews.outbox import weekly
from tests.reviews.chats.conftest import Slack, Telegram, sweep

pytestmark = pytest.mark.django_db

AWAY: Any = (503, {"ok": False, "error": "service_unavailable"}, {})
LIMITS: dict[str, Any] = {
    "slack": (429, {"ok": False, "error": "ratelimited"}, {"Retry-After": "40"}),
    "telegram": (
        429,
        {"ok": False, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 40}},
        {},
    ),
}


@pytest.fixture
def now() -> Any:
    return timezone.now()


def later(seconds: float) -> Any:
    return timezone.now() + timedelta(seconds=seconds)


def test_a_chat_that_asks_to_wait_is_left_alone_so_long(chat: Any, kuro: Any) -> None:
    for _ in range(3):
        kuro.hold()
    chat.stub.answers = [LIMITS[chat.kind]]
    began = timezone.now()
    assert cards.sweep(began) == 1
    assert ChatApp.objects.get().trouble == "limit"
    assert cards.sweep(began + timedelta(seconds=39)) == 0
    assert cards.sweep(began + timedelta(seconds=41)) == 3
    assert len(chat.stub.messages) == 3


def test_nothing_is_lost_while_it_is_away(chat: Any, kuro: Any) -> None:
    held = [kuro.hold() for _ in range(3)]
    chat.stub.answers = [AWAY] * 30
    at, calls = timezone.now(), 0
    for _ in range(30):
        calls += cards.sweep(at)
        at += timedelta(minutes=11)
    assert calls == 30  # one at a time, and never more of them
    assert chat.stub.messages == {}
    assert not AuditEvent.objects.filter(action="chat-given-up").exists()
    cards.sweep(at)
    assert len(chat.stub.messages) == len(held)
    assert ChatApp.objects.get().trouble == ""


def test_a_decision_while_it_is_away_is_shown_once_it_is_back(chat: Any, kuro: Any, bob: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    sweep(chat)
    chat.stub.answers = [AWAY]
    decisions.decide(held, bob, "reject", reason="No.")
    cards.sweep()
    assert "rejected by" not in chat.shown()
    cards.sweep(later(6))
    assert "rejected by Bob" in chat.shown()


def test_what_was_decided_before_it_was_posted_is_not_posted(slack: Slack, kuro: Any, bob: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    slack.stub.answers = [AWAY]
    cards.sweep()
    decisions.decide(held, bob, "approve")
    cards.sweep(later(6))
    assert len(slack.stub.calls) == 1
    assert not ChatCard.objects.exists()


def test_what_was_held_before_it_was_set_up_and_what_another_team_holds_is_not_posted(
    kuro: Any, other: Any, request: pytest.FixtureRequest
) -> None:
    kuro.hold()
    slack = request.getfixturevalue("slack")
    other.hold()
    assert cards.sweep() == 0
    kuro.hold()
    assert cards.sweep() == 1
    assert len(slack.stub.messages) == 1


def test_a_message_that_was_deleted_is_left_alone(chat: Any, kuro: Any, bob: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    sweep(chat)
    chat.stub.messages.clear()
    decisions.decide(held, bob, "approve")
    cards.sweep()
    assert (ChatCard.objects.get().is_over, ChatApp.objects.get().trouble) == (True, "")
    assert AuditEvent.objects.get(action="chat-given-up").data == {"chat": chat.kind, "trouble": "gone"}
    assert cards.sweep() == 0


def test_one_that_cannot_be_made_holds_up_no_other(slack: Slack, kuro: Any, monkeypatch: Any) -> None:
    kuro.hold()
    make, first = card_texts.card_of, HeldItem.objects.get()

    def fail(held: Any, *args: Any) -> Any:
        assert held.pk != first.pk
        return make(held, *args)

    monkeypatch.setattr(card_texts, "card_of", fail)
    cards.sweep()
    kuro.hold()
    cards.sweep()
    assert len(slack.stub.messages) == 1


def test_a_worker_that_died_leaves_a_lease_that_runs_out(slack: Slack, kuro: Any, monkeypatch: Any) -> None:
    kuro.hold()
    monkeypatch.setattr(cards, "_record", lambda *_: None)
    cards.sweep()
    monkeypatch.undo()
    assert cards.sweep() == 0
    assert cards.sweep(later(31)) == 1  # at least once: the chat knows no idempotency
    assert ChatCard.objects.get().message


def test_a_clock_that_was_set_back_puts_nothing_off(slack: Slack, kuro: Any) -> None:
    kuro.hold()
    ChatApp.objects.update(free_at=later(86_400))
    assert cards.sweep() == 1


def test_a_retry_that_is_due_wakes_the_beat(slack: Slack, kuro: Any) -> None:
    kuro.hold()
    SearchDue.objects.all().delete()
    weekly.write_due(timezone.now())
    assert activity.latest() == activity.latest()
    slack.stub.answers = [AWAY]
    cards.sweep()
    assert activity.latest() == activity.latest()  # while the chat is left alone nothing is due
    ChatApp.objects.update(free_at=timezone.now())
    assert activity.latest() != activity.latest()  # what is due is news each time


def test_a_private_address_that_nobody_named_is_not_reached(telegram: Telegram, kuro: Any, settings: Any) -> None:
    from metacog.chats import telegram as module

    kuro.hold()
    settings.TELEGRAM_URL, address = "", telegram.stub.url
    module_api, module.API = module.API, address
    try:
        cards.sweep()
    finally:
        module.API = module_api
    assert (ChatApp.objects.get().trouble, telegram.stub.calls) == ("forbidden", [])


def test_a_post_costs_the_same_whether_or_not_a_chat_is_set_up(kuro: Any, request: pytest.FixtureRequest) -> None:
    kuro.hold()

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            kuro.hold()
        return len(caught)

    before = queries()
    request.getfixturevalue("slack")
    assert queries() == before
