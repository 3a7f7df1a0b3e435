"""Every page that an owner can open, and what opens on a page: no fault axe can find, light and dark."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from metacog.accounts import tokens
from reviews.metrics import daily
from tests.browser.axe import OF_COLOURS, faults
from tests.metacog.accounts.test_other_teams import fill
from tests.test_every_page import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MARKDOWN = (
    "## Cause\n\nThe cause is *clearly* the cache, see `cache.py`:\n\n- first\n- second\n\n> measured\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n"
)
# Without rows of their own, or with others than those of `addresses`.
MORE = (
    "/search/?q=cache&kind=responses&since=2020-01-01&until=2020-02-01", "/search/?q=cache", "/queue/?state=decided",
    "/queue/?view=1", "/responses/?show=held", "/patterns/?state=active", "/patterns/?state=shadow",
    "/audit/?actor=all", "/statistics/?days=7",
    "/team/?tab=deciding", "/team/?tab=notices", "/team/?tab=webhooks", "/team/?tab=data",
)  # fmt: skip


def are_faultless(page: Any, where: str) -> list[Any]:
    """Give what axe finds in light, all rules, and in dark, those about colours."""
    found = []
    for scheme, rules in (("light", ()), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [(where, scheme, *each) for each in faults(page, rules)]
    return found


@pytest.mark.starts
def test_no_page_of_an_owner_has_a_fault_axe_can_find(open_page: Any, as_person: Any, olga: Any, kuro: Any) -> None:
    fill(kuro, olga, "princess")
    tokens.issue(olga, name="script", scopes=["read", "decide"], days=7)
    daily.count_days(timezone.now())
    client = as_person(olga)
    page = open_page(olga)
    found = []
    session = f"/sessions/{kuro.id}/?session=princess"
    pages = [*(path for name, path in addresses(1) if not path.startswith("/admin/")), *MORE, session]
    for path in dict.fromkeys(pages):
        answer = client.get(path)
        is_page = answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html")
        if answer.streaming or not is_page or b"<html" not in answer.content:
            continue
        page.goto(path)
        found += are_faultless(page, path)
    assert not found, "\n".join(map(str, found))


@pytest.mark.starts
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_that_opens_on_the_queue_has_a_fault_axe_can_find(
    open_page: Any, olga: Any, kuro: Any, scheme: str
) -> None:
    text = f"{MARKDOWN} Run "
    for number in range(3):  # one row of near-duplicates
        kuro.respond(f"{text} {number}", items=[{"kind": "chat", "text": f"{text} {number}", "require_review": True}])
    page = open_page(olga)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto("/queue/")
    page.locator("#item").wait_for()
    found: list[Any] = []

    def look(what: str) -> None:
        found.extend((what, *each) for each in faults(page))

    page.keyboard.press("c")
    page.keyboard.type("Was *this* measured?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#talk-said")).to_contain_text("measured")
    look("item, group and comment")
    page.locator("#item-title").focus()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    look("keys")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    look("palette")
    page.keyboard.press("Escape")
    page.locator("#item-title").focus()
    page.keyboard.press("e")
    expect(page.locator("#edited")).to_be_visible()
    look("editing")
    page.keyboard.press("Escape")
    page.locator("#item-title").focus()
    page.keyboard.press("r")
    expect(page.locator("#reason")).to_be_visible()
    look("rejecting")
    for each in page.locator("main details.tool > summary, .filters summary").all():
        each.click()
        look("filters")
    assert not found, "\n".join(map(str, found))
