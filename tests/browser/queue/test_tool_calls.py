"""A tool call is read, edited and decided in a browser: by keys, without script, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.models import Decision, HeldItem
from tests.browser.queue.test_deciding import EVERY_PAGE, check_screens, press
from tests.conftest import Caller

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECRET = "hunter2-t0psecret"
ARGUMENTS = {
    "command": 'for f in *.log; do\n  gzip "$f"; done # \u202e',
    "timeout": 30,
    "loud": False,
    "env": {"API_TOKEN": SECRET, "HOME": {"deep": list(range(40))}},
    "patch": "--- a\n+++ b\n-old\n+new",
}
SCHEMA = {"properties": {"timeout": {"maximum": 60}}}


def ask(caller: Caller) -> str:
    call = {"kind": "tool_call", "name": "Bash", "arguments": ARGUMENTS, "schema": SCHEMA, "description": "Make room"}
    held: str = caller.respond("I make room.", items=[call], metadata={"run": "r-12"})["items"][0]["held"]
    return held


def test_an_edit_is_checked_while_it_is_written_and_approved_by_keys(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro)
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    expect(page.locator("#text")).not_to_contain_text(SECRET)
    page.locator(".reveal").first.click()
    expect(page.locator("#text")).to_contain_text(SECRET)
    press(page, "e")
    expect(page.locator("#f-0")).to_be_focused()
    page.locator("#f-1").fill("61")
    expect(page.locator("#wrong-1")).to_contain_text("61 is greater than the maximum of 60")
    page.locator("#f-1").fill("60")
    expect(page.locator("#wrong-1")).to_be_empty()
    expect(page.locator("#edit-score")).to_contain_text("30 → 60")
    expect(page.locator("#approve-label")).to_have_text("Approve edited")
    page.locator("#f-1").press("Enter")
    page.get_by_role("link", name="Edit as JSON").click()
    expect(page.locator("#complaint")).to_contain_text("not sent yet")
    assert HeldItem.objects.get().state == "pending", "Enter in a field sends nothing"
    page.locator("#f-1").press("Control+Enter")
    expect(page.locator("#told")).to_contain_text("Approved edited")
    assert Decision.objects.get().arguments == ARGUMENTS | {"timeout": 60}


def test_it_is_edited_and_allowed_for_a_while_without_script(
    open_page: Any, alice: Any, kuro: Any, settings: Any
) -> None:
    settings.UNDO_SECONDS = 0
    held = ask(kuro)
    page = open_page(alice, java_script_enabled=False)
    page.goto(f"/queue/{held}/")
    page.locator(".reveal").first.click()
    expect(page.locator("#text")).to_contain_text(SECRET)
    page.locator("#edit").click()
    page.locator("#f-2").check()
    page.locator("[name=again]").check()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#told")).to_contain_text("Approved edited")
    assert Decision.objects.get().arguments == ARGUMENTS | {"loud": True}
    page.goto(f"/queue/{held}/")
    page.get_by_role("button", name="Withdraw permission").click()
    expect(page.get_by_text("That was withdrawn")).to_be_visible()


@EVERY_PAGE
def test_its_pages_have_no_fault_axe_can_find(open_page: Any, alice: Any, kuro: Any, every: bool) -> None:
    held = ask(kuro)
    page = open_page(alice)
    response = HeldItem.objects.get().response.public_id
    addresses = (
        f"/queue/{held}/", f"/queue/{held}/?edit=1", f"/queue/{held}/?edit=json", f"/queue/together/?held={held}",
        f"/responses/{response}/", "/queue/?metadata.run=r-12",
    )  # fmt: skip
    check_screens(page, addresses, of_axe=addresses if every else ())
