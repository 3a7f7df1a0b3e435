"""Two people approve one tool call in two browsers, by keys; the first takes it back and gives it again."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.models import Approval, HeldItem
from tests.browser.queue.test_deciding import press
from tests.conftest import Caller
from tests.reviews.held.test_approvers import ask, rule

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_second_person_sees_one_of_two_and_decides(open_page: Any, alice: Any, bob: Any, kuro: Caller) -> None:
    held, other = ask(kuro, rule(people=2)), kuro.hold()
    first, second = open_page(alice), open_page(bob)
    first.goto(f"/queue/{held}/")
    second.goto(f"/queue/{held}/")
    expect(second.locator(f"#row-{held}")).to_contain_text("0 of 2 approvals")
    press(first, "a")
    expect(first.locator("#told")).to_contain_text("Approved, 1 of 2")
    expect(first.locator("#item")).to_have_attribute("data-held", other)
    expect(first.locator(f"#row-{held}")).to_have_count(0)
    expect(second.locator(f"#row-{held}")).to_contain_text("1 of 2 approvals")
    press(first, "u")
    expect(first.locator("#told")).to_contain_text("Approval withdrawn")
    expect(first.locator("#item")).to_have_attribute("data-held", held)
    press(first, "a")
    expect(first.locator("#told")).to_contain_text("Approved, 1 of 2")
    first.goto(f"/queue/{held}/")
    expect(first.locator("#approve button")).to_be_disabled()
    expect(first.locator("#why-not")).to_contain_text("Another person must approve it, too.")
    press(first, "a")
    assert Approval.objects.filter(ended_at=None).count() == 1
    second.goto(f"/queue/{held}/")
    expect(second.locator(".approvals")).to_contain_text("1 of 2")
    press(second, "a")
    expect(second.locator("#told .countdown")).to_be_visible()  # the server has it
    assert HeldItem.objects.get(public_id=held).state == "approved"
