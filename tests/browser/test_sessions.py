"""A session in a browser: it comes as one scrolls, keys walk it, and what is new appears by itself."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.records import sessions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_it_comes_as_one_scrolls_and_goes_on_by_itself(
    open_page: Any, alice: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PAGE", 20)
    held = kuro.hold(session="s")
    for number in range(45):
        kuro.respond(f"Post {number}.", items=[], session="s")
    page = open_page(alice)
    page.goto(f"/sessions/{kuro.id}/?session=s")
    posts = page.locator("#line > .post")
    expect(posts).to_have_count(20)
    while posts.count() < 46:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")  # the foot is another after each part
        expect(page.locator("#foot .htmx-request")).to_have_count(0)
    expect(page.locator("#end")).to_be_visible()
    kuro.respond("And one more.", items=[], session="s")
    expect(page.get_by_text("And one more.")).to_be_visible(timeout=15_000)
    expect(posts).to_have_count(47)
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/queue/{held}/**")
    page.go_back()
    page.get_by_role("link", name="Go to the latest").click()
    page.wait_for_url("**#resp_*")
    page.keyboard.press("k")
    expect(posts.last.get_by_role("link").first).to_be_focused()  # the one that is framed
    page.keyboard.press("k")
    expect(posts.nth(-2).get_by_role("link").first).to_be_focused()
