"""An item as it is read and edited: Markdown or raw, changes word by word, and a reason that covers nothing."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import OF_COLOURS, faults
from tests.browser.queue.test_deciding import press
from tests.tables import table

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = """## Cause

The cause is **clearly** the `cache`, see [the log](log/today).

```python
def flush(key: str) -> None:  # clearly safe
    return cache.delete(f"s:{key}", 1)
```

| Region | Errors |
|--------|-------:|
| eu     | 12 |
"""


def held(kuro: Any, text: str = TEXT, **fields: Any) -> str:
    items = [{"kind": "chat", "text": text, "require_review": True}]
    public_id: str = kuro.respond(text, items=items, **fields)["items"][0]["held"]
    return public_id


def test_markdown_is_read_laid_out_and_raw_at_a_key(open_page: Any, alice: Any, kuro: Any) -> None:
    first, second = held(kuro), held(kuro)
    page = open_page(alice)
    page.goto(f"/queue/{second}/")
    text = page.locator("#text")
    expect(text.get_by_role("heading", name="Cause")).to_be_visible()
    expect(text.get_by_role("table")).to_be_visible()
    expect(text.locator(".md pre mark")).to_have_count(2)  # a claim and a known error
    expect(text.locator(".raw")).to_be_hidden()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is read on its way
        assert faults(page, OF_COLOURS) == []
    press(page, "m")
    expect(text.get_by_role("table")).to_have_count(0)
    expect(text.locator(".raw")).to_contain_text("The cause is **")
    press(page, "j")
    expect(page.locator("#item")).to_have_attribute("data-held", first)
    expect(text.locator(".raw")).to_be_visible()  # the choice stays
    press(page, "m")
    expect(text.locator(".raw")).to_be_hidden()


def test_the_words_of_an_edit_that_change_are_shown_beside_the_marked_original(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    page = open_page(alice, viewport={"width": 1440, "height": 900})
    page.goto(f"/queue/{held(kuro)}/")
    expect(page.locator(".act .hints")).to_have_text("J K next, previous ?", use_inner_text=True)
    press(page, "e")
    changes = page.locator("#word-changes")
    expect(changes).to_be_hidden()
    page.locator("#edited").fill(TEXT.replace("clearly** the", "probably** the"))
    for _ in range(2):  # as it is typed, and once the server has scored it
        expect(changes.locator("del")).to_have_text("clearly")
        expect(changes.locator("ins")).to_have_text("probably")
        expect(page.locator("#edit-score")).to_contain_text("This edit scores")
    expect(page.locator("#text .md strong mark")).to_be_visible()
    original, editor = (page.locator(part).bounding_box() for part in ("#text", "#edited"))
    assert original["x"] + original["width"] < editor["x"]
    expect(page.locator(".act .hints")).to_have_text("Esc close", use_inner_text=True)
    expect(page.locator("#approve .btn")).to_have_text("Approve with edits Ctrl Enter", use_inner_text=True)
    page.locator("#edited").fill(TEXT)
    expect(changes).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#approve .btn")).to_have_text("Approve A", use_inner_text=True)


@table(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_a_reason_covers_neither_the_question_nor_the_beginning_of_the_text(
    open_page: Any, alice: Any, kuro: Any, width: int, height: int
) -> None:
    item = held(kuro, user_message="Why do users see old prices? " * 12)
    page = open_page(alice, viewport={"width": width, "height": height})
    page.goto(f"/queue/{item}/")
    press(page, "r")
    expect(page.locator("#reject")).to_be_visible()
    question, text, act = (page.locator(part).bounding_box() for part in (".question", "#text", ".act"))
    assert question["y"] + question["height"] <= act["y"]
    assert text["y"] + 40 <= act["y"]
    assert act["y"] + act["height"] <= height + 1
    page.keyboard.type("Not so")
    expect(page.locator("#reason")).to_have_value("Not so")
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("Escape")
    assert page.evaluate("scrollY") == 0
    press(page, "e")
    page.keyboard.press("Escape")
    assert page.evaluate("scrollY") == 0
    page.context.close()


def test_a_letter_that_chooses_no_reason_is_the_beginning_of_the_note(open_page: Any, alice: Any, kuro: Any) -> None:
    page = open_page(alice)
    page.goto(f"/queue/{held(kuro)}/")
    press(page, "r")
    page.keyboard.type("Not measured")
    expect(page.locator("#reason")).to_have_value("Not measured")
    expect(page.locator("#buttons kbd.at-rest:visible")).to_have_count(0)  # these keys are letters now
