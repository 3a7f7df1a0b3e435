"""Lessons in a real browser: one confirmed in place, several dismissed at once, by forms without the script."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import expect

from metacog.models import Agent
from patterns.lessons import lessons
from patterns.lessons.lessons import Proposal
from patterns.models import Lesson

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_step_takes_what_is_being_written_away_only_when_pressed_twice(open_page: Any, carla: Any, kuro: Any) -> None:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    with transaction.atomic():
        lessons.propose(agent, [Proposal("gap", "First", "First, {}".format, (), ("resp_1",))], "r", timezone.now())
    page = open_page(carla)
    page.goto("/lessons/")
    page.locator("summary", has_text="Add lesson").click()
    page.locator("#id_text").fill("In my own words.")
    confirm = page.get_by_role("button", name="Confirm").first
    confirm.click()
    page.get_by_text("not sent yet. Press again").wait_for()
    expect(page.locator("#id_text")).to_have_value("In my own words.")
    confirm.click()
    page.get_by_text("Lesson confirmed: ").wait_for()


@pytest.mark.parametrize("has_script", [True, False])
def test_proposals_are_answered_one_by_one_and_many_at_once(
    open_page: Any, carla: Any, kuro: Any, has_script: bool
) -> None:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    proposals = [
        Proposal("gap", name, f"{name}, {{}}".format, (), ("resp_1",)) for name in ("First", "Second", "Third")
    ]
    with transaction.atomic():
        lessons.propose(agent, proposals, "refl_1", timezone.now())
    page = open_page(carla, java_script_enabled=has_script)
    page.goto("/lessons/")
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    page.get_by_role("listitem").filter(has_text="First, 1").get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="2 proposed lessons")).to_be_visible()
    expect(page.get_by_text("Lesson confirmed: First, 1")).to_be_visible()
    assert bool(loads) == (not has_script)
    for name in ("Second",) if has_script else ("Second", "Third"):
        page.get_by_role("checkbox", name=f"Select: {name}, 1").check()
    if has_script:
        page.keyboard.press("Enter")  # on a box: confirms nothing
        page.get_by_role("button", name="Select all").click()
    page.locator("form#many").get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("2 lessons were dismissed.")).to_be_visible()
    expect(page.get_by_role("cell", name="First, 1")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 lessons are proposed again.")).to_be_visible()
    for name in ("Second", "Third"):
        page.get_by_role("checkbox", name=f"Select: {name}, 1").check()
    page.locator("form#many").get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("2 lessons were dismissed.")).to_be_visible()
    assert sorted(Lesson.objects.values_list("state", flat=True)) == ["active", "dismissed", "dismissed"]
