"""The search in the header, by its key."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_slash_leads_into_the_search_but_not_out_of_a_text(open_page: Any, alice: Any, kuro: Any) -> None:
    held = kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    find = page.get_by_role("searchbox", name="Search everything")
    page.locator("#item-title").press("/")
    expect(find).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#item-title")).to_be_focused()
    page.keyboard.press("/")
    find.press_sequentially("a/b")  # letters are no keys while somebody types, nor is the slash
    expect(find).to_have_value("a/b")
    page.keyboard.press("Control+a")
    find.press_sequentially(held[:12])
    find.press("Enter")
    page.get_by_role("heading", name="Held", exact=True).wait_for()
    page.locator(".clip").click()
    page.locator("#item-title", has_text="CHAT from kuro").wait_for()
