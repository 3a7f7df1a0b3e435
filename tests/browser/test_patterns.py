"""Patterns in a real browser: what Enter presses, where several buttons stand beside one field."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from metacog.models import Team
from patterns.models import ErrorPattern

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize("is_alone", [True, False])
def test_enter_in_the_reason_dismisses_and_tries_nothing_out(
    open_page: Any, carla: Any, aurora: Team, is_alone: bool, has_script: bool
) -> None:
    pattern = ErrorPattern.objects.create(
        team=aurora, keywords=["out of ideas"], description="gave up", state=ErrorPattern.State.PROPOSED
    )
    page = open_page(carla, java_script_enabled=has_script)
    page.goto("/patterns/?q=ideas")
    page.get_by_role("checkbox").check()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Dismiss selected").click()
    expect(page.get_by_placeholder("Reason")).to_be_focused()  # the browser says there that it is missing
    expect(page.get_by_role("checkbox")).to_be_checked()
    if is_alone:
        page.get_by_role("link", name="gave up").click()
    page.get_by_placeholder("Reason").fill("Too common")
    page.keyboard.press("Enter")
    page.locator("body > :not(#live)").get_by_text("Saved." if is_alone else "1 proposal was dismissed.").wait_for()
    pattern.refresh_from_db()
    assert (pattern.state, pattern.dismissed_because) == ("retired", "Too common")


def test_a_backtest_takes_the_focus_to_what_it_found(open_page: Any, carla: Any, aurora: Team) -> None:
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["out of ideas"], description="gave up")
    page = open_page(carla)
    page.goto(f"/patterns/{pattern.pk}/")
    page.get_by_role("button", name="Run backtest").click()
    expect(page.get_by_role("heading", name="Backtest")).to_be_focused()
