"""A mention's day: somebody is asked with an @, is told by mail, takes the item, snoozes it and decides it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import expect

from reviews.models import HeldItem, ItemTalk
from reviews.outbox import notifications
from tests.browser.axe import faults
from tests.browser.queue.test_deciding import settled
from tests.metacog.notices.conftest import tell

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_mention_leads_to_the_item_that_is_taken_snoozed_and_decided(
    open_page: Any, alice: Any, bob: Any, kuro: Any, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR, settings.MAIL_FROM = tmp_path, "metacog@example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    tell(bob, "never")
    held, other = kuro.hold(), kuro.hold()

    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    page.keyboard.press("c")
    page.keyboard.type("Was this measured, @b")
    expect(page.get_by_role("option", name="@bob Bob")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Comment", exact=True)).to_have_value("Was this measured, @bob ")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#talk-said .mention")).to_have_text("@bob")
    expect(page.locator("#item-title")).to_be_focused()  # the next keys are for the item
    expect(page.locator("#live")).to_contain_text("Comment added")
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    expect(page.locator("#item-title")).to_be_focused()  # where keys are keys again

    notifications.send_due()
    (told,) = mail.outbox
    assert told.to == ["bob@example.org"]
    (address,) = re.findall(rf"/queue/{held}/$", str(told.body), re.MULTILINE)

    page = open_page(bob)
    page.goto(address)
    expect(page.locator("#talk-said .mention.me")).to_have_text("@bob")
    expect(page.get_by_role("link", name="Mentions me")).to_be_visible()
    page.keyboard.press("i")
    expect(page.locator("#talk-whose")).to_have_text("Assigned to you")
    expect(page.locator("#item-title")).to_be_focused()
    expect(page.locator("#live")).to_have_text("It is assigned to you now.")
    expect(page.locator(".row .whose")).to_have_text("@bob")
    assert faults(page) == []
    page.keyboard.press("z")
    page.keyboard.press("Enter")
    expect(page.locator(".message", has_text="Snoozed until")).to_be_visible()
    expect(page.locator("#item")).to_have_attribute("data-held", other)
    expect(page.locator("#item-title")).to_be_focused()
    expect(page.locator("#live")).to_contain_text("Snoozed until")
    expect(page.locator(f"#row-{held}")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(f"#row-{held}")).to_have_count(1)

    ItemTalk.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    with page.expect_response(f"**/queue/{held}/*"):
        page.locator(f"#row-{held}").click()  # it comes back by itself
    settled(page)
    page.keyboard.press("a")
    expect(page.get_by_text("approved by you")).to_be_visible()
    assert HeldItem.objects.get(public_id=held).state == "approved"
