"""The page behind a link in a mail, in a browser: its forms send no origin, and need no script."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from metacog.models import Team
from reviews.models import HeldItem
from reviews.outbox import mail_links
from tests.conftest import HELD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_it_says_why_decides_and_undoes_without_script(open_page: Any, alice: Any, mallory: Any, kuro: Any) -> None:
    kuro.respond(items=[{"kind": "chat", "text": HELD, "require_review": True}])
    Team.objects.update(mail_links=True)
    page = open_page(mallory, java_script_enabled=False)
    page.goto(mail_links.path(mail_links.link_to(alice, HeldItem.objects.get(), timezone.now())))
    expect(page.get_by_text("The agent's framework asked for a review.")).to_be_visible()
    expect(page.locator(".part").first).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("approved by you")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Decide as alice")).to_be_visible()
    page.get_by_text("No evidence").click()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("rejected by you")).to_be_visible()
    assert HeldItem.objects.get().state == "rejected"
