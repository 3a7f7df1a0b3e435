"""Keys on every page: lists are walked, pages are gone to, and the palette finds what is there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults
from tests.browser.queue.test_deciding import press, settled
from tests.browser.queue.test_going_on import hold, hold_back, on_desk
from tests.reviews.questions.test_api import CHOICES, SCHEMA, asked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CHOSEN = "#palette [aria-selected=true]"


def test_j_and_k_go_from_row_to_row_and_enter_opens(open_page: Any, alice: Any, kuro: Any) -> None:
    for number in range(3):
        kuro.respond(f"It may rain {number}.")
    page = open_page(alice)
    page.goto("/responses/")
    rows = page.locator("[data-list] > tr")
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(rows.nth(at).locator("a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/responses/resp_*/")


def test_x_selects_rows_and_a_takes_the_step_of_the_bar(open_page: Any, carla: Any, aurora: Any) -> None:
    from patterns.models import ErrorPattern

    for name in ("first", "second", "third"):
        ErrorPattern.objects.create(team=aurora, description=name, keywords=[name], state="proposed")
    page = open_page(carla)
    page.goto("/patterns/")
    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("[data-list] :checked")).to_have_count(2)
    page.keyboard.press("a")
    expect(page.locator("[data-list] > tr")).to_have_count(1)
    assert ErrorPattern.objects.filter(state="shadow").count() == 2


def test_g_and_a_letter_go_to_a_page(open_page: Any, alice: Any) -> None:
    page = open_page(alice)
    page.goto("/queue/")
    for letter, address in (("a", "/agents/"), ("h", "/threads/"), ("q", "/queue/")):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(f"**{address}")
    page.keyboard.press("?")
    for letter in page.locator("#keys [data-go]:visible").all():
        assert len(letter.get_attribute("data-go")) == 1
    assert faults(page) == []


def test_every_letter_leads_to_one_page() -> None:
    from metacog.pages.navigation import by_key

    letters = [letter for letter, *_ in by_key() if letter]
    assert len(letters) == len(set(letters))


def test_the_palette_goes_to_pages_agents_and_items_and_acts_on_this_page(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held = hold(kuro, 2)
    page = open_page(alice)
    page.goto("/queue/")
    on_desk(page, held[0])
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search pages, agents and actions")
    expect(field).to_be_focused()
    expect(page.locator(CHOSEN)).to_contain_text("Approve")
    assert faults(page) == []
    page.keyboard.type("kuro")
    found = page.locator("#palette").get_by_role("option", name=re.compile("^kuro"))
    expect(found).to_be_visible()
    assert faults(page) == []
    field.fill("decided")
    expect(page.locator(CHOSEN)).to_have_text("Decided items")
    field.fill("policy kuro")
    expect(page.locator(CHOSEN)).to_have_text(re.compile("^Policy of kuro Agent"))
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()

    settled(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("approve")
    expect(page.locator(CHOSEN)).to_contain_text("Approve")
    page.keyboard.press("Enter")
    on_desk(page, held[1])

    page.keyboard.press("Control+k")
    page.keyboard.type("cache babade")
    expect(page.get_by_role("option", name=re.compile("The cause is clearly the cache. babade"))).to_be_visible()
    let_go = hold_back(page, re.compile("q=stat$"))
    field.fill("stat")
    expect(page.locator(CHOSEN)).to_contain_text("Statistics")
    expect(page.get_by_role("option", name=re.compile("cache"))).to_have_count(0)  # what was found for other words
    let_go()
    expect(page.get_by_role("option", name=re.compile("“stat”"))).to_be_visible()
    page.keyboard.press("ArrowDown")
    chosen = page.locator(CHOSEN)
    expect(field).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/statistics/")


def test_whoever_switched_keys_off_has_no_palette(open_page: Any, alice: Any) -> None:
    alice.keyboard = False
    alice.save()
    page = open_page(alice)
    page.goto("/queue/")
    page.keyboard.press("Control+k")
    page.keyboard.press("g")
    page.keyboard.press("a")
    expect(page.locator("#palette")).to_have_count(0)
    expect(page).to_have_url(re.compile("/queue/$"))


def test_an_incomplete_answer_takes_the_cursor_to_what_is_missing(open_page: Any, alice: Any, kuro: Any) -> None:
    asked(kuro, schema=SCHEMA | {"required": ["mail"]})
    page = open_page(alice)
    page.goto("/queue/")
    press(page, "a")
    expect(page.get_by_role("textbox", name="mail")).to_be_focused()
    page.keyboard.type("a@b.example")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#told")).to_contain_text("Answered")


def test_a_question_shows_its_keys_until_a_field_takes_letters(open_page: Any, alice: Any, kuro: Any) -> None:
    held = [asked(kuro), asked(kuro, **CHOICES)]
    page = open_page(alice)
    page.goto(f"/queue/{held[0]}/")
    keys = page.locator("#buttons .btn:visible kbd")
    field = page.get_by_role("textbox", name="Answer")
    field.focus()
    expect(keys.first).to_be_hidden()
    field.blur()
    expect(keys.first).to_be_visible()
    press(page, "j")
    on_desk(page, held[1])
    press(page, "2")
    expect(keys.first).to_be_visible()
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Answered")
    expect(page.locator("#told kbd")).to_be_visible()
    press(page, "u")
    expect(page.locator("#told")).to_contain_text("Undone")
    expect(page.get_by_role("radio").nth(1)).to_be_checked()  # the answer is there again
    press(page, "r")
    expect(page.locator("#reject")).to_be_visible()
