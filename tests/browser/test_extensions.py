"""The chairman's answer and a curator's step, in a real browser: at once with the script, by the form without it."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from patterns.models import Memory
from reviews.investigation import extensions
from reviews.models import ExtensionRequest
from tests.conftest import HELD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def waiting(kuro: Any) -> ExtensionRequest:
    kuro.post("/extensions", {"reason": "need more time", "step": 5})
    return ExtensionRequest.objects.select_related("agent__team").get()


@pytest.mark.parametrize("has_script", [True, False])
def test_a_grant_is_given_and_told(open_page: Any, alice: Any, waiting: Any, has_script: bool) -> None:
    page = open_page(alice, java_script_enabled=has_script)
    page.goto(reverse("extension", args=[waiting.public_id]))
    page.get_by_role("button", name="Refuse").click()
    expect(page.get_by_text("Say why it is refused.")).to_be_visible()
    page.get_by_label("Guidance").fill("Use the filing.")
    page.get_by_role("button", name="Grant").click()
    expect(page.get_by_text("Your answer is sent to the agent.")).to_be_visible()
    expect(page.get_by_text("Use the filing.")).to_be_visible()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.granted) == ("approved", 3)


def test_an_answer_that_comes_second_is_shown_the_first(open_page: Any, alice: Any, bob: Any, waiting: Any) -> None:
    page = open_page(alice)
    page.goto(reverse("extension", args=[waiting.public_id]))
    extensions.decide(waiting, bob, is_approved=False, answer="Enough is known.")
    page.get_by_role("button", name="Grant").click()
    expect(page.get_by_text("Somebody answered first.")).to_be_visible()
    expect(page.get_by_text("Enough is known.")).to_be_visible()


def test_a_memory_is_confirmed_in_place(open_page: Any, carla: Any, kuro: Any) -> None:
    kuro.post("/memory", {"text": HELD})
    page = open_page(carla)
    page.goto(reverse("memory", args=[Memory.objects.get().public_id]))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Memory.objects.get().state == "confirmed"
