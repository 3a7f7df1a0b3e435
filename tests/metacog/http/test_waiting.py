"""Waiting for a decision (`?wait=`): no thread is taken, and the answer comes as soon as there is one."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from metacog import asgi
from metacog.http import waiting
from reviews.api import responses
from reviews.held import decisions
from reviews.held.waiting import ready
from reviews.models import Decision, HeldItem
from tests.metacog.http.test_bodies import CUT_OFF, STALLS, Sent

pytestmark = pytest.mark.django_db(transaction=True)

LONG = 50  # seconds: a test that waits for their end fails


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.01)


def asks(kuro: Any, held: str, seconds: float, then: object = STALLS) -> Sent:
    sent = Sent("GET", f"/api/v1/held/{held}", [b"", then], authorization=f"Bearer {kuro.key}", content_type="")
    sent.scope["query_string"] = f"wait={seconds}".encode()
    return sent


def play(*sent: Sent, meanwhile: Callable[[], Any] | None = None) -> None:
    """Send these, and once all of them wait do something in another thread."""

    async def together() -> None:
        asked = [asyncio.ensure_future(one.played()) for one in sent]
        while meanwhile and asgi.waiting.count < len(sent):
            await asyncio.sleep(0.01)
        if meanwhile:
            await asyncio.to_thread(closing, meanwhile)
        await asyncio.wait_for(asyncio.gather(*asked), LONG - 10)

    def closing(call: Callable[[], Any]) -> None:
        try:
            call()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, together()).result()
    assert asgi.waiting.count == 0


def told(sent: Sent) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(sent.body)
    return shape


@pytest.mark.parametrize("undo_seconds", [0, 0.3])
def test_the_answer_comes_once_the_decision_is_released(
    kuro: Any, alice: Any, settings: Any, undo_seconds: float
) -> None:
    settings.UNDO_SECONDS = undo_seconds
    held = kuro.hold()
    sent = [asks(kuro, held, LONG) for _ in range(30)]  # more than there are threads
    play(*sent, meanwhile=lambda: decisions.decide(HeldItem.objects.get(), alice, "approve"))
    assert {(told(one)["state"], told(one)["decision"]["verdict"]) for one in sent} == {("approved", "approve")}


def test_the_answer_comes_when_it_expires(kuro: Any) -> None:
    sent = asks(kuro, kuro.hold(), LONG)
    play(sent, meanwhile=lambda: HeldItem.objects.update(expires_at=timezone.now() - timedelta(seconds=1)))
    assert told(sent)["state"] == "expired"


def test_a_decision_that_was_taken_back_wakes_nobody(
    kuro: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    undone, other = kuro.hold(), kuro.hold()
    ids = dict(HeldItem.objects.values_list("public_id", "pk"))
    woken: set[int] = set()

    def look(keys: Collection[int]) -> set[int]:
        found = ready(keys)
        woken.update(found)
        return found

    def withdraw(held: str) -> None:
        assert kuro.post(f"/held/{held}/decision", {"verdict": "withdraw"}).status_code == 201

    def meanwhile() -> None:
        decision, *_ = decisions.decide(HeldItem.objects.get(public_id=undone), alice, "approve")
        assert decisions.undo(decision, alice)
        Decision.objects.update(release_at=timezone.now())  # when it would have gone out
        withdraw(other)
        while ids[other] not in woken:  # the same look would tell of both
            time.sleep(0.01)
        assert woken == {ids[other]}
        withdraw(undone)

    monkeypatch.setattr(responses, "ready", look)
    sent = [asks(kuro, each, LONG) for each in (undone, other)]
    play(*sent, meanwhile=meanwhile)
    assert [told(one)["state"] for one in sent] == ["withdrawn", "withdrawn"]


def test_when_the_time_is_over_the_answer_is_the_state_as_it_is(kuro: Any) -> None:
    sent = asks(kuro, kuro.hold(), 0.05)
    play(sent)
    assert (sent.status, told(sent)["state"], told(sent)["decision"]) == (200, "pending", None)


def test_what_is_decided_is_answered_at_once(kuro: Any) -> None:
    held = kuro.hold()
    assert kuro.post(f"/held/{held}/decision", {"verdict": "withdraw"}).status_code == 201
    sent = asks(kuro, held, LONG)
    play(sent)
    assert told(sent)["decision"]["verdict"] == "withdraw"


def test_whoever_has_gone_waits_no_longer(kuro: Any) -> None:
    sent = asks(kuro, kuro.hold(), LONG, then=CUT_OFF)
    play(sent)
    assert (sent.status, sent.body) == (0, b"")


def test_beyond_the_bound_it_says_when_to_come_back(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MOST", 0)
    sent = asks(kuro, kuro.hold(), LONG)
    play(sent)
    assert (sent.status, sent.headers[b"retry-after"]) == (503, b"5")


@pytest.mark.parametrize("seconds", ["61", "-1", "x", "nan"])
def test_no_more_than_a_minute_is_waited(kuro: Any, seconds: str) -> None:
    assert kuro.get(f"/held/{kuro.hold()}?wait={seconds}").status_code == 422
