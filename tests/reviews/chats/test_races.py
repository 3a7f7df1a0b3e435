"""A press in a chat meets a decision in the browser, and one worker another: exactly one decision, one message."""

from __future__ import annotations

from functools import partial
from threading import get_ident
from typing import Any

import pytest
from django.urls import reverse

from metacog.chats import setup
from metacog.models import ChatUser
from reviews.chats import cards
from reviews.models import ChatCard, Decision, HeldItem
from reviews.outbox import deliveries
from tests.races.test_races import at_once
from tests.reviews.chats.conftest import ANNA, Slack

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_a_press_and_a_browser_decide_once(chat: Any, kuro: Any, olga: Any, as_person: Any) -> None:
    browser = as_person(olga)
    for turn in range(8):
        held = HeldItem.objects.get(public_id=kuro.hold())
        cards.sweep()
        approve = {"slack": {"action_id": "approve-0", "value": f"{held.public_id}:1"}}.get(
            chat.kind, {"callback_data": f"approve|{held.public_id}:1"}
        )
        form = {"verdict": "reject", "reason": "No.", "version": held.version, "sha256": held.sha256}
        url = reverse("decide", args=[held.public_id])
        at_once([partial(chat.press, ANNA[chat.kind], "", approve), partial(browser.post, url, form)])
        decision = Decision.objects.get(held=held)
        held.refresh_from_db()
        assert {"approve": "approved", "reject": "rejected"}[decision.verdict] == held.state, turn
        cards.sweep()
    shown = [str(message) for message in chat.stub.messages.values() if "Approve" not in str(message)]
    assert len(shown) >= 8
    assert not ChatCard.objects.exclude(held__version=2, version=2).exists()


def test_a_double_click_is_one_decision(chat: Any, kuro: Any) -> None:
    held = kuro.hold()
    cards.sweep()
    button = chat.buttons()["Approve"]
    at_once([partial(chat.press, ANNA[chat.kind], "", button) for _ in range(4)])
    assert Decision.objects.get(held__public_id=held).verdict == "approve"


def test_two_workers_post_each_item_once_and_one_at_a_time(slack: Slack, kuro: Any, monkeypatch: Any) -> None:
    for _ in range(20):
        kuro.hold()
    # As on machines of their own: each has its turn.
    monkeypatch.setattr(cards, "turn", lambda name: deliveries.turn(f"{name}-{get_ident()}"))
    at_once([cards.sweep] * 4)
    cards.sweep()
    assert len(slack.stub.made("chat.postMessage")) == len(slack.stub.messages) == 20
    assert slack.stub.most_at_once == 1


def test_a_user_is_bound_once(slack: Slack, alice: Any, bob: Any) -> None:
    def connect(person: Any) -> bool:
        try:
            setup.connect(setup.Link(slack.app, "U1", "x"), person)
        except setup.Taken:
            return False
        return True

    assert sorted(at_once([partial(connect, alice), partial(connect, bob)])) == [False, True]
    assert ChatUser.objects.count() == 1
