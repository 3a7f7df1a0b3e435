"""A step with a thread, in a real browser: at once with the script, by the form without it."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from patterns.models import ThoughtThread

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def thread(kuro: Any) -> ThoughtThread:
    kuro.post("/threads", {"title": "Hope", "note": "begun"})
    return ThoughtThread.objects.get()


@pytest.mark.parametrize("has_script", [True, False])
def test_a_step_is_taken_and_told(open_page: Any, carla: Any, thread: ThoughtThread, has_script: bool) -> None:
    page = open_page(carla, java_script_enabled=has_script)
    page.goto(reverse("thread", args=[thread.public_id]))
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    page.get_by_label("Note").fill("went further")
    page.get_by_role("button", name="Add entry").click()
    page.locator(".trail .entry", has_text="went further").wait_for()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert bool(loads) == (not has_script)
    if has_script:
        expect(page.get_by_text("Saved.")).to_be_focused()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    thread.refresh_from_db()
    assert (thread.state, thread.touches) == ("paused", 2)


def test_what_is_no_longer_possible_is_told_in_place(
    open_page: Any, carla: Any, kuro: Any, thread: ThoughtThread
) -> None:
    page = open_page(carla)
    page.goto(reverse("thread", args=[thread.public_id]))
    kuro.post("/threads/hope/pause", {})
    page.get_by_label("Note").fill("typed")
    page.get_by_role("button", name="Add entry").click()
    page.get_by_text("is paused. Resume it first.").wait_for()
    expect(page.get_by_label("Note")).to_have_value("typed")
