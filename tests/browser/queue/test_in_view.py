"""What is approved was in view: cut areas say how much more there is, and A asks once while an end was never seen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.models import HeldItem
from tests.browser.queue.test_deciding import A_LOOK, press
from tests.conftest import Caller

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "".join(f"echo line {number}\n" for number in range(90)) + "rm -rf /srv"
IN_VIEW = "await import('/static/metacog/in_view.js')"
SHOWN = f"async () => ({IN_VIEW}).unseenEnds(document).length"


def ask(caller: Caller, command: str = LONG, **fields: Any) -> str:
    item = {"kind": "tool_call", "name": "Bash", "arguments": {"command": command}} | fields
    held: str = caller.respond("", items=[item])["items"][0]["held"]
    return held


def states() -> list[str]:
    return list(HeldItem.objects.order_by("pk").values_list("state", flat=True))


def test_a_cut_area_counts_the_lines_below_and_a_asks_once(open_page: Any, alice: Any, kuro: Any) -> None:
    ask(kuro)
    ask(kuro, "ls")
    page = open_page(alice)
    page.goto("/queue/")
    area, edge = page.locator("#text pre.code"), page.locator("#text .edge")
    heights = area.evaluate("""area => {
        const {lineHeight, paddingTop} = getComputedStyle(area);
        return (area.clientHeight - parseFloat(paddingTop)) / parseFloat(lineHeight);
    }""")
    expect(edge).to_have_text(f"{91 - int(heights)} more lines")
    press(page, "a")
    expect(page.locator("#notice")).to_have_text(
        "The end of “command” was not in view. Read it, then press again to approve."
    )
    expect(edge).to_have_text("The end")
    assert states() == ["pending", "pending"]
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved")
    with page.expect_response("**/decide*"):  # the page says so before it is answered
        press(page, "a")  # a short one was seen whole
    expect(page.locator("#item")).to_contain_text("No held items")
    expect(page.locator(".row.done")).to_have_count(2)
    assert states() == ["approved", "approved"]


def test_what_was_scrolled_into_view_is_approved_at_once(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro)
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    page.locator("#text .edge").click()  # all of it, so that the page scrolls
    expect(page.locator("#text .edge")).to_be_hidden()
    page.locator("#text .end").scroll_into_view_if_needed()
    page.wait_for_timeout(A_LOOK)
    assert page.evaluate(SHOWN) == 0
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved")


def test_a_command_that_was_read_laid_out_is_approved_with_edits_at_once(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro, "cd /tmp && rm -rf /srv/other ~/x; ls")
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    expect(page.locator("#text .laid .line")).to_have_count(3)
    page.wait_for_timeout(A_LOOK)
    press(page, "e")
    page.locator("#f-0").fill("ls")
    expect(page.locator("#edit-score")).to_contain_text("Changes")
    page.locator("#approve button").first.click()
    expect(page.locator("#told")).to_contain_text("Approved")


def test_a_few_lines_more_are_shown_instead_of_counted(open_page: Any, alice: Any, kuro: Any) -> None:
    held = [ask(kuro, f"ls {lines}", description="Why\n" * lines + "so.") for lines in (9, 14)]
    page = open_page(alice)
    for one, counted in zip(held, (0, 1), strict=True):
        page.goto(f"/queue/{one}/")
        expect(page.locator(".says.shaded:is(.cut, .whole-shown)")).to_be_visible()
        expect(page.locator(".agent-says .edge")).to_have_count(counted)


def test_one_wide_line_is_counted_by_the_lines_it_takes(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro, "echo " + "x" * 20_000 + "; rm -rf /srv")
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    expect(page.locator("#text .edge")).to_contain_text("more lines")
    lines = page.locator("#text pre.code").evaluate(f"async area => ({IN_VIEW}).linesBelow(area)")
    assert lines > 100
    assert page.locator("#text pre.code").evaluate("area => area.scrollWidth <= area.clientWidth")


def test_a_folded_part_and_a_long_text_are_asked_about(open_page: Any, alice: Any, kuro: Any) -> None:
    folded = {"kind": "tool_call", "name": "deep", "arguments": {"a": {f"k{number}": number for number in range(14)}}}
    first = kuro.respond("", items=[folded])["items"][0]["held"]
    text = "\n\n".join(f"Paragraph {number}." for number in range(60))
    second = kuro.respond("x", items=[{"kind": "chat", "text": text, "require_review": True}])["items"][0]["held"]
    page = open_page(alice)
    page.goto(f"/queue/{first}/")
    press(page, "a")
    expect(page.locator("#notice")).to_contain_text("The end of “k0”, “k1”, “k2” and 11 more was not in view.")
    expect(page.get_by_text("k13", exact=True)).to_be_visible()
    page.goto(f"/queue/{second}/")
    press(page, "a")
    expect(page.locator("#notice")).to_contain_text("The end of the text was not in view.")
    expect(page.locator(".end")).to_be_in_viewport()
    assert states() == ["pending", "pending"]


def test_several_are_asked_about_where_they_are_read_together(open_page: Any, alice: Any, kuro: Any) -> None:
    held = [ask(kuro), ask(kuro, LONG.replace("line", "row"))]
    page = open_page(alice)
    page.goto("/queue/")
    for each in held:
        page.locator(f"#pick-{each}").check(force=True)
    press(page, "a")  # none of them is read whole in the list
    page.wait_for_url("**/queue/together/**")
    assert page.locator("pre.code").first.evaluate("area => area.scrollHeight - area.clientHeight") <= 1
    press(page, "a")
    expect(page.locator("#notice")).to_contain_text("was not in view")
    assert states() == ["pending", "pending"]
    for _ in held:
        press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved 2 items")


def test_without_a_script_all_is_laid_out_before_the_buttons(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro)
    page = open_page(alice, java_script_enabled=False)
    page.goto(f"/queue/{held}/")
    area, button = page.locator("#text pre.code").bounding_box(), page.locator("#approve button").bounding_box()
    assert area["height"] > 91 * 15
    assert button["y"] > area["y"] + area["height"]


def test_a_long_value_is_edited_once_its_editor_is_asked_for(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro, "echo\n" * 5_000)
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    expect(page.locator("#editor")).to_have_count(0)
    press(page, "e")
    expect(page.locator("#f-0")).to_be_focused()
    page.locator("#f-0").fill("ls")
    expect(page.locator("#approve-label")).to_have_text("Approve with edits")


def test_a_long_name_leaves_its_value_room(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro, metadata={"k" * 90: "v" * 20})
    page = open_page(alice)
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"/queue/{held}/")
        value, whole = (page.locator(part).bounding_box() for part in (".facts.given dd", ".facts.given"))
        assert value["width"] >= whole["width"] * 0.45, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
