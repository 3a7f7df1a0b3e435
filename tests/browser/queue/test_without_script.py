"""The console in a browser that runs no script: what is essential is done by forms, and nothing dead is offered."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from metacog.models import Agent
from patterns.models import Problem, ThinkTwice
from reviews.models import HeldItem
from tests.patterns.api.test_problems import get_stuck

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(open_page: Any, alice: Any) -> Any:
    return open_page(alice, java_script_enabled=False)


def states() -> list[str]:
    return list(HeldItem.objects.order_by("pk").values_list("state", flat=True))


def test_items_are_edited_rejected_approved_and_taken_back(page: Any, kuro: Any) -> None:
    for _ in range(3):
        kuro.hold()
    page.goto(reverse("queue"))
    page.locator("#edit").click()
    page.locator("#edited").fill("Perhaps the cache; nobody has measured it.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Approved with edits “")).to_be_visible()
    page.locator("#rejecting summary").click()
    page.locator("#reject textarea").fill("Not measured.")
    page.locator("#reject button").click()
    assert sorted(states()) == ["edited", "pending", "rejected"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone:")).to_be_visible()
    assert sorted(states()) == ["edited", "pending", "pending"]
    for box in page.locator("label.pick").all():
        box.click()
    page.get_by_role("button", name="Decide selected together").click()
    page.get_by_role("button", name="Approve selected").click()
    expect(page.get_by_text("Approved 2 items")).to_be_visible()
    assert sorted(states()) == ["approved", "approved", "edited"]


def test_near_duplicates_are_selected_by_one_box_and_decided_without_one_of_them(page: Any, kuro: Any) -> None:
    for number in range(3):
        text = f"Order {number} was certainly sent."
        kuro.respond("x", items=[{"kind": "chat", "text": text, "require_review": True}])
    page.goto(reverse("queue"))
    expect(page.locator(".row")).to_have_count(1)
    page.locator("label.pick").click()
    page.get_by_role("button", name="Decide selected together").click()
    page.get_by_role("checkbox", name="Decide item 2").uncheck()
    page.get_by_role("button", name="Approve selected").click()
    expect(page.get_by_text("Approved 2 items")).to_be_visible()
    assert states() == ["approved", "pending", "approved"]
    expect(page.locator(".row")).to_have_count(2)
    expect(page.locator(".alike")).to_contain_text("×2")


def test_a_question_whether_to_think_twice_is_answered(page: Any, kuro: Any) -> None:
    get_stuck(kuro)
    page.goto(reverse("problem", args=[Problem.objects.get().public_id]))
    page.get_by_role("button", name="Yes, think twice").click()
    expect(page.get_by_text("The agent is told with its next response")).to_have_count(2)
    assert ThinkTwice.objects.get().answer == "yes"


@pytest.mark.parametrize("has_script", [True, False])
def test_keys_and_copying_are_offered_where_they_work(open_page: Any, olga: Any, kuro: Any, has_script: bool) -> None:
    page = open_page(olga, java_script_enabled=has_script)
    kuro.hold()
    page.goto(reverse("queue"))
    expect(page.locator("#approve .at-rest")).to_be_visible(visible=has_script)
    expect(page.locator(".act .hints")).to_be_visible(visible=has_script)
    get_stuck(kuro)
    page.goto(reverse("problem", args=[Problem.objects.get().public_id]))
    expect(page.locator("[data-copy]")).to_be_visible(visible=has_script)
    page.goto(reverse("agent", args=[Agent.objects.get().public_id]))
    expect(page.get_by_role("link", name="Disable agent…")).to_be_visible()


def test_on_a_phone_the_navigation_is_a_menu_and_nothing_goes_sideways(open_page: Any, alice: Any, kuro: Any) -> None:
    kuro.hold()
    page = open_page(alice, java_script_enabled=False, viewport={"width": 390, "height": 844})
    page.goto("/queue/")
    export, filters = page.get_by_text("Export", exact=True), page.get_by_text("Filters", exact=True)
    expect(export).to_be_hidden()
    place = filters.bounding_box()
    assert page.locator(".controls").bounding_box()["height"] < 2 * place["height"]
    filters.click()
    expect(export).to_be_visible()
    assert filters.bounding_box() == place
    menu, link = page.get_by_role("button", name="Menu Queue"), page.get_by_role("link", name="Knowledge")
    expect(link).to_be_hidden()
    menu.click()
    link.click()
    expect(page.get_by_role("button", name="Menu Knowledge")).to_be_visible()
    for tab in page.get_by_role("navigation", name="Pages of this section").get_by_role("link").all():
        box = tab.bounding_box()
        assert box["x"] + box["width"] <= 390
    page.get_by_role("button", name="Menu Knowledge").click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Log imports").click()
    expect(page.get_by_role("heading", name="Log imports", level=1)).to_be_visible()
