"""Answers come in any order: what was typed or refused is not lost, and what was chosen last stands on the desk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.models import Decision, HeldItem, ItemTalk
from scripts.key_to_next import when
from tests.browser.queue.test_deciding import RISKY, idle, settled
from tests.browser.queue.test_going_on import IN_NODE, hold, hold_back, kept, on_desk
from tests.browser.queue.test_tool_calls import ask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CHANGES = "**/queue/changes**"
NEXT = re.compile(r"/next\?(?!.*now=1)")
NOW = re.compile("now=1")
REASON = "Nobody measured it."
# As soon as something has come to the desk: a busy machine types its first key after the pause in which none counts.
TYPE_ON = """keys => document.addEventListener("htmx:afterSwap", () => {
    const event = { bubbles: true, cancelable: true };
    for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, ...event }));
}, { once: true })"""


@pytest.fixture
def quiet(open_page: Any, alice: Any) -> Any:
    """Give a page that takes no look at the list by itself."""
    page = open_page(alice)
    page.route(CHANGES, lambda route: route.fulfill(status=204))
    return page


def by_another(person: Any, held: str) -> None:
    from reviews.held import decisions

    decisions.decide(HeldItem.objects.select_related("agent__team").get(public_id=held), person, "approve")


def standing() -> list[tuple[str, str]]:
    found = Decision.objects.filter(undone_at=None).order_by("id")
    return list(found.values_list("held__public_id", "verdict"))


def asked(held: str) -> re.Pattern[str]:
    return re.compile(f"/queue/{held}/$")


def nth(page: Any, waiting: list[Any], number: int) -> Any:
    while len(waiting) <= number:  # the browser has asked, and the test hears of it a little later
        page.wait_for_timeout(20)
    return waiting[number]


def test_a_look_at_the_list_tells_nothing_of_another_item(open_page: Any, alice: Any, bob: Any, kuro: Any) -> None:
    held = hold(kuro, 3)
    page = open_page(alice)
    answer_changes = hold_back(page, CHANGES)
    with page.expect_request(CHANGES):
        page.goto("/queue/")
    kept(page, 2)
    by_another(bob, held[0])
    page.locator(f"#row-{held[1]}").click()
    on_desk(page, held[1])
    answer_changes()
    page.wait_for_load_state("networkidle")
    expect(page.locator(f"#row-{held[0]}")).to_contain_text("approved by Bob")
    expect(page.locator("#standing")).to_be_empty()
    expect(page.locator("#approve")).to_have_attribute("action", f"/queue/{held[1]}/decide")


@IN_NODE
def test_a_row_does_not_wait_for_a_look_at_the_list_in_which_a_key_would_decide_the_item_before(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held = hold(kuro, 4)
    page = open_page(alice)
    answer_changes = hold_back(page, CHANGES)
    with page.expect_request(CHANGES):
        page.goto("/queue/")
    kept(page, 2)
    settled(page)
    page.locator(f"#row-{held[3]}").click()
    page.keyboard.press("a")
    answer_changes()
    page.wait_for_load_state("networkidle")
    idle(page)
    assert standing() == [(held[3], "approve")]


def test_a_look_at_the_list_while_the_next_item_is_on_its_way_takes_no_button_from_the_decided_one(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held = hold(kuro, 2)
    page = open_page(alice)
    answer_ahead = hold_back(page, NEXT)
    page.goto("/queue/")
    settled(page)
    page.keyboard.press("a")
    page.wait_for_function(when("!state.decisions.length && !state.isSending"))
    kuro.hold()
    look = "poll => htmx.ajax('GET', poll.getAttribute('hx-get'), { source: poll, swap: 'none' })"
    page.locator("#poll").evaluate(look)
    expect(page.locator("#standing")).to_be_empty()
    answer_ahead()
    expect(page.locator("#item")).not_to_have_attribute("data-held", held[0])


@IN_NODE
def test_no_key_that_waits_acts_on_an_item_that_was_refused_or_did_not_come(quiet: Any, kuro: Any) -> None:
    held = hold(kuro, 4)
    quiet.goto("/queue/")
    kept(quiet, 2)
    cut: list[Any] = []
    quiet.route(asked(held[3]), lambda route: cut.append(route))
    settled(quiet)
    quiet.locator(f"#row-{held[3]}").click()
    quiet.keyboard.press("a")
    quiet.keyboard.press("i")  # nor is the item assigned that is going to leave
    nth(quiet, cut, 0).abort()
    expect(quiet.get_by_role("alert")).to_contain_text("could not be loaded")
    quiet.wait_for_load_state("networkidle")
    assert not ItemTalk.objects.exists()
    quiet.wait_for_function(when("performance.now() > state.ignoredUntil"))
    quiet.keyboard.press("e")
    quiet.locator("#edited").fill(RISKY + " Really.")
    answer_decision = hold_back(quiet, "**/decide")
    quiet.keyboard.press("Control+Enter")
    quiet.keyboard.type("a ")  # nothing that is typed goes with the text that is on its way
    answer_decision()
    quiet.get_by_role("button", name="Approve with edits anyway").wait_for()
    expect(quiet.locator("#edited")).to_be_focused()
    expect(quiet.locator("#edited")).to_have_value(RISKY + " Really.")
    settled(quiet)
    assert standing() == []


@IN_NODE
def test_a_row_that_does_not_come_after_the_list_was_drawn_anew_leaves_the_desk_free(quiet: Any, kuro: Any) -> None:
    held = hold(kuro, 5)
    quiet.goto("/queue/")
    kept(quiet, 2)
    answer_decision = hold_back(quiet, "**/decide")
    cut: list[Any] = []
    quiet.route(asked(held[4]), lambda route: cut.append(route))
    settled(quiet)
    quiet.keyboard.press("a")
    on_desk(quiet, held[1])
    quiet.locator(f"#row-{held[4]}").click()
    answer_decision()
    idle(quiet)
    nth(quiet, cut, 0).abort()
    expect(quiet.get_by_role("alert")).to_contain_text("could not be loaded")
    expect(quiet.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    settled(quiet)
    quiet.keyboard.press("a")
    idle(quiet)
    assert standing() == [(each, "approve") for each in held[:2]]


@pytest.mark.parametrize("key", ["a", "u"])
def test_a_comment_that_is_typed_is_left_only_by_pressing_twice(quiet: Any, kuro: Any, key: str) -> None:
    held = hold(kuro, 2)
    quiet.goto("/queue/")
    kept(quiet)
    settled(quiet)
    quiet.keyboard.press("a")
    on_desk(quiet, held[1])
    idle(quiet)
    quiet.locator("#comment").fill(REASON)
    quiet.keyboard.press("Escape")
    settled(quiet)
    quiet.keyboard.press(key)
    expect(quiet.get_by_role("alert")).to_contain_text("not sent yet")
    expect(quiet.locator("#comment")).to_have_value(REASON)
    quiet.keyboard.press(key)
    expect(quiet.locator("#comment")).not_to_have_value(REASON) if key == "u" else quiet.get_by_role(
        "heading", name="No held items"
    ).wait_for()


def test_an_editor_that_was_asked_for_comes_in_no_other_items_place(quiet: Any, kuro: Any) -> None:
    other, call = hold(kuro, 1)[0], ask(kuro)
    quiet.goto(f"/queue/{call}/?edit=1")
    answer_editor = hold_back(quiet, re.compile("edit=json"))
    quiet.locator("#f-1").fill("61")
    answer_check = hold_back(quiet, "**/score")
    expect(quiet.locator("#wrong-1")).to_be_empty()
    quiet.locator("#f-1").fill("30")
    quiet.get_by_role("link", name="Edit as JSON").click()
    quiet.locator(f"#row-{other}").click()
    on_desk(quiet, other)
    answer_editor()
    answer_check()
    quiet.wait_for_load_state("networkidle")
    on_desk(quiet, other)


def test_the_last_near_duplicate_is_no_group_although_it_was_drawn_before_the_others_were_decided(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    texts = [f"{RISKY} Run {number}." for number in range(2)]
    items = kuro.respond(" ".join(texts), items=[{"kind": "chat", "text": each} for each in texts])["items"]
    page = open_page(alice)
    drawn: list[Any] = []
    page.route(NEXT, lambda route: drawn.append((route, route.fetch())))
    page.goto("/queue/")
    settled(page)
    page.keyboard.press("a")
    page.wait_for_function(when("!state.decisions.length && !state.isSending"))
    route, answer = nth(page, drawn, 0)
    route.fulfill(response=answer)
    on_desk(page, items[1]["held"])
    expect(page.locator("#approve-all")).to_have_count(0)
    expect(page.locator("#approve-label")).to_have_text("Approve")


def test_an_edit_that_is_typed_before_its_item_has_come_is_of_that_item(quiet: Any, kuro: Any) -> None:
    held = hold(kuro, 3)
    answer_ahead = hold_back(quiet, NEXT)
    quiet.goto("/queue/")
    settled(quiet)
    quiet.keyboard.press("a")
    quiet.keyboard.press("e")
    quiet.keyboard.type("Source: ear")
    quiet.keyboard.press("Backspace")
    quiet.keyboard.press("Control+Enter")
    quiet.keyboard.press("a")  # of an item behind it, which nobody has seen
    expect(quiet.locator("#waiting-keys b")).to_have_text("E S o u r c e :   e a ↵")
    expect(quiet.locator("#ignored-keys")).to_have_text("1 press ignored: the next item had not been shown yet.")
    answer_ahead()
    on_desk(quiet, held[2])
    settled(quiet)
    idle(quiet)
    assert standing() == list(zip(held[:2], ("approve", "edit"), strict=True))
    assert Decision.objects.get(held__public_id=held[1]).text.startswith("Source: eaThe cause")


@IN_NODE
def test_who_types_on_while_a_refused_item_comes_back_gives_no_command(quiet: Any, bob: Any, kuro: Any) -> None:
    held = hold(kuro, 3)
    answer_ahead, answer_decision = hold_back(quiet, NEXT), hold_back(quiet, "**/decide")
    quiet.goto("/queue/")
    settled(quiet)
    by_another(bob, held[0])
    quiet.keyboard.press("a")
    quiet.keyboard.press("r")
    quiet.keyboard.type("no ")
    quiet.evaluate(TYPE_ON, "jcx a comment")
    answer_decision()
    quiet.locator("#standing", has_text="approved by Bob").wait_for()
    answer_ahead()
    expect(quiet.locator("#comment")).to_have_value("")
    on_desk(quiet, held[0])
    quiet.wait_for_function(when("performance.now() > state.ignoredUntil"))
    quiet.keyboard.press("j")
    on_desk(quiet, held[1])


def test_of_many_presses_one_approves_the_item_that_comes_next_and_the_page_tells_of_the_others(
    quiet: Any, kuro: Any
) -> None:
    held = hold(kuro, 5)
    quiet.goto("/queue/")
    kept(quiet, 2)
    settled(quiet)
    # As quick as can be: no frame is painted in between.
    quiet.evaluate("""() => { for (const _ of "aaaaa") document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key: "a", bubbles: true, cancelable: true })); }""")
    ignored = quiet.get_by_role("status").filter(has_text="3 presses ignored")
    expect(ignored).to_have_text("3 presses ignored: the next items had not been shown yet.")
    on_desk(quiet, held[2])
    settled(quiet)
    idle(quiet)
    assert standing() == [(each, "approve") for each in held[:2]]
    expect(ignored).to_be_hidden()


def test_an_edit_in_a_closed_editor_is_left_only_by_pressing_the_same_key_twice(quiet: Any, kuro: Any) -> None:
    held = hold(kuro, 2)
    quiet.goto("/queue/")
    settled(quiet)
    quiet.keyboard.press("e")
    quiet.locator("#edited").fill("Maybe.")
    quiet.keyboard.press("Escape")
    for key, said in (("j", "Your text is not sent yet."), ("a", "Press again to approve the original.")):
        quiet.keyboard.press(key)
        expect(quiet.get_by_role("alert")).to_contain_text(said)
    on_desk(quiet, held[0])
    assert standing() == []
    quiet.keyboard.press("a")
    on_desk(quiet, held[1])
    idle(quiet)
    assert standing() == [(held[0], "approve")]


def test_the_browser_asks_before_keys_that_wait_are_left_behind(quiet: Any, kuro: Any) -> None:
    hold(kuro, 2)
    answer_ahead, asked_for = hold_back(quiet, NEXT), list[str]()

    def stay(dialog: Any) -> None:
        asked_for.append(dialog.type)
        dialog.dismiss()

    quiet.on("dialog", stay)
    quiet.goto("/queue/")
    settled(quiet)
    for key in "aagt":
        quiet.keyboard.press(key)
    answer_ahead()
    quiet.get_by_role("heading", name="No held items").wait_for()
    assert asked_for == ["beforeunload"]
