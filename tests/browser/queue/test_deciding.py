"""Deciding as people do it: with keys, without JavaScript, and at the same time as somebody else."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Container, Iterable
from typing import Any

import pytest
from playwright.sync_api import expect

from scripts.key_to_next import when
from tests.browser.axe import OF_COLOURS, faults
from tests.browser.test_people import LOW
from tests.conftest import HELD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RISKY = "The cause is clearly the cache."
# All the seed's signals fire on it but the one that wants a known error.
SURE = "The cause is clearly the cache. Therefore it is off, therefore all is well, in conclusion it is over. " * 6
TITLE = "#item-title"
A_LOOK = 200  # milliseconds: longer than keys rest


def settled(page: Any) -> None:
    """Wait until what is on the desk has been in sight so long that a key decides it."""
    page.wait_for_function(when("performance.now() - state.settledAt >= 150"))


def rested(page: Any) -> None:
    """Wait until a click is no longer taken for the second of a double click, meant for the item before."""
    page.wait_for_function(when("performance.now() - state.cameAt >= 350"))


def press(page: Any, key: str) -> None:
    settled(page)
    page.keyboard.press(key)


def idle(page: Any) -> None:
    """Wait until what was decided is saved: the next item is shown before."""
    page.wait_for_function(when("!state.decisions.length && !state.isSending && !state.isAsking"))


def none_held(page: Any, **limit: float) -> None:
    page.get_by_role("heading", name="No held items").wait_for(**limit)
    idle(page)


def decided(public_id: str) -> Any:
    from reviews.models import Decision

    return Decision.objects.get(held__public_id=public_id, undone_at=None)


def test_an_item_comes_up_by_itself_and_is_decided_undone_and_decided_again(
    open_page: Any, alice: Any, kuro: Any, settings: Any
) -> None:
    queue = open_page(alice)
    queue.goto("/queue/")
    queue.get_by_role("heading", name="No responses yet").wait_for()
    held = kuro.hold()
    queue.locator(f"#row-{held}").wait_for()
    expect(queue).to_have_title(re.compile(r"^\(1\) "))
    expect(queue.locator("#text mark")).to_have_count(2)
    press(queue, "a")
    none_held(queue)
    assert decided(held).verdict == "approve"
    assert kuro.get("/decisions").json()["items"] == []

    press(queue, "u")
    queue.locator(TITLE, has_text="CHAT from kuro").wait_for()
    expect(queue.locator(".row.done")).to_have_count(0)
    settings.UNDO_SECONDS = 0
    press(queue, "a")
    none_held(queue)
    assert [item["held"] for item in kuro.get("/decisions").json()["items"]] == [held]


def test_a_decision_opens_the_next_item_and_puts_the_focus_on_its_heading(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    second, first = kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    expect(page.locator("#item")).to_have_attribute("data-held", second)
    press(page, "a")
    page.locator(f'#item[data-held="{first}"]').wait_for()
    expect(page.locator(TITLE)).to_be_focused()
    expect(page.locator(f"#row-{first}")).to_have_attribute("aria-current", "true")
    expect(page.locator(f"#row-{second}")).to_contain_text("approved by you")
    expect(page).to_have_url(re.compile(f"/queue/{first}/$"))
    expect(page.locator("#told")).to_contain_text("Approved “The cause is clearly the cache.”")
    expect(page.locator("#live")).to_contain_text("Approved")


def type_key(page: Any, key: str, code: str) -> None:
    """Press a key of another layout, which Playwright has none of."""
    settled(page)
    pressed = {"key": key, "code": code}
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": key, **pressed})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **pressed})


def test_keys_of_other_layouts_go_by_their_place(open_page: Any, alice: Any, kuro: Any) -> None:
    """As tests/node/keys.test.mjs has it of more of them; here that the browser tells where a key lies."""
    _, second, third = (kuro.hold() for _ in range(3))
    page = open_page(alice)
    page.goto(f"/queue/{second}/")
    type_key(page, "о", "KeyJ")  # Russian
    expect(page.locator("#item")).to_have_attribute("data-held", third)
    type_key(page, "ф", "KeyA")
    expect(page.locator(f"#row-{third}")).to_contain_text("approved by you")
    type_key(page, "?", "Digit7")
    expect(page.locator("#keys")).to_be_visible()


def test_keys_rest_while_another_item_is_on_its_way(open_page: Any, alice: Any, kuro: Any) -> None:
    third, _second, first = kuro.hold(), kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.route(re.compile("/queue/held_[^/]*/(next.*)?$"), lambda route: None)  # it is on its way, and never comes
    page.goto("/queue/")
    expect(page.locator("#item")).to_have_attribute("data-held", third)
    settled(page)
    for key in "jja":
        page.keyboard.press(key)
    expect(page.locator(f"#row-{first}")).to_have_attribute("aria-current", "true")
    expect(page.locator("#desk")).to_have_attribute("aria-busy", "true")
    page.locator(f"#row-{first}").click()  # lets go of the A that waits for it
    page.unroute_all()
    expect(page.locator("#item")).to_have_attribute("data-held", first)
    expect(page.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator(".row.done")).to_have_count(0)
    press(page, "a")
    expect(page.locator(f"#row-{first}")).to_contain_text("approved by you")


def test_what_was_typed_outlives_a_lost_answer_and_the_end_of_the_session(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held = kuro.hold()
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))  # nor does it tell of the session first
    page.goto("/queue/")
    press(page, "e")
    page.locator("#edited").fill("It may be the cache.")
    expect(page.locator("#edit-score")).to_contain_text("scores")  # not while nobody is signed in
    page.route("**/decide", lambda route: route.abort())
    page.get_by_role("button", name="Approve with edits").click()
    expect(page.get_by_role("alert")).to_contain_text("so the result is unknown")
    page.unroute("**/decide")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Approve with edits").click()
    expect(page.get_by_role("alert")).to_contain_text("The decision was not saved; sign in and decide again.")
    page.fill("[name=username]", "alice")
    page.fill("[name=password]", "alice-password")
    page.keyboard.press("Enter")
    expect(page.locator("#edited")).to_have_value("It may be the cache.")
    settled(page)
    page.get_by_role("button", name="Approve with edits").click()
    expect(page.locator(f"#row-{held}")).to_contain_text("approved with edits by you")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_answer_that_never_comes_is_told_of_and_waited_for_no_longer(open_page: Any, alice: Any, kuro: Any) -> None:
    held = kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    assert page.evaluate("htmx.config.timeout") > 0
    page.evaluate("htmx.config.timeout = 300")
    page.route("**/decide", lambda route: None)
    press(page, "a")
    expect(page.get_by_role("alert")).to_contain_text("so the result is unknown")
    expect(page.get_by_role("alert")).not_to_contain_text("Your text")
    page.unroute("**/decide")
    page.evaluate("htmx.config.timeout = 20000")  # a busy machine may take longer than 300 ms
    press(page, "a")
    expect(page.locator(f"#row-{held}")).to_contain_text("approved by you")


@pytest.mark.parametrize("is_refused", [False, True])
def test_what_was_typed_is_left_only_by_choosing_twice(open_page: Any, alice: Any, kuro: Any, is_refused: bool) -> None:
    first, second = kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    shown = page.locator("#item").get_attribute("data-held")
    other = page.locator(f"#row-{second if shown == first else first}")
    press(page, "e")
    page.locator("#edited").fill(RISKY + " Really.")
    if is_refused:
        page.keyboard.press("Control+Enter")
        page.get_by_text("The edited text scores 50").wait_for()
    other.click()
    expect(page.locator("#complaint")).to_contain_text("not sent yet")
    expect(page.locator("#edited")).to_have_value(RISKY + " Really.")
    other.click()
    expect(page.locator("#item")).not_to_have_attribute("data-held", shown)


def test_an_edit_is_released_as_it_was_written(open_page: Any, alice: Any, kuro: Any) -> None:
    held = kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    settled(page)
    for _ in range(3):  # a key that is held writes nothing into the field it opens
        page.keyboard.down("e")
    expect(page.locator("#edited")).to_be_focused()
    expect(page.locator("#edited")).to_have_value(RISKY)
    page.keyboard.up("e")
    expect(page.locator("#approve-label")).to_have_text("Approve")
    page.keyboard.type("ea: ")  # these are no commands now
    expect(page.locator("#edited")).to_have_value(f"ea: {RISKY}")
    expect(page.locator("#approve-label")).to_have_text("Approve with edits")
    page.locator("#edited").fill("The store may be the cause.\nNot measured yet.")
    page.get_by_role("button", name="Approve with edits").click()
    none_held(page)
    assert (decided(held).verdict, decided(held).text) == (
        "edit",
        "The store may be the cause.\nNot measured yet.",
    )


def test_an_edit_is_scored_while_it_is_written_and_can_be_insisted_on(open_page: Any, alice: Any, kuro: Any) -> None:
    held = kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    press(page, "e")
    page.locator("#edited").fill("The cause is the cache.")
    expect(page.locator("#edit-score")).to_contain_text("scores 30 and would not be held")
    expect(page.locator("#live")).to_contain_text("scores 30")
    page.locator("#edited").fill(RISKY)
    expect(page.locator("#edit-score")).to_be_empty()
    page.locator("#edited").fill(RISKY + " Really.")
    expect(page.locator("#edit-score")).to_contain_text("scores 50 and would be held again")
    page.route("**/score", lambda route: route.abort())
    page.locator("#edited").fill("It may be the store.")
    expect(page.locator("#edit-score")).to_be_empty()  # rather than what an older text scored
    expect(page.get_by_role("alert")).to_have_count(0)
    page.locator("#edited").fill(RISKY + " Really.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("The edited text scores 50").wait_for()
    expect(page.locator("#edited")).to_have_value(RISKY + " Really.")
    page.get_by_role("button", name="Approve with edits anyway").click()
    none_held(page)
    assert decided(held).text == RISKY + " Really."


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_warning_about_an_edit_leaves_the_editor_in_sight(
    open_page: Any, alice: Any, kuro: Any, width: int, height: int
) -> None:
    held = kuro.respond(SURE)["items"][0]["held"]
    page = open_page(alice, viewport={"width": width, "height": height})
    page.goto(f"/queue/{held}/")
    press(page, "e")
    page.locator("#edited").fill(SURE * 2)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Approve with edits anyway").wait_for()
    editor, buttons = (page.locator(name).bounding_box() for name in ("#edited", ".act"))
    assert editor["y"] >= 0
    assert editor["y"] + editor["height"] <= buttons["y"]
    assert buttons["y"] + buttons["height"] <= height


def test_a_rejection_asks_for_a_reason_and_carries_it_to_the_agent(
    open_page: Any, alice: Any, kuro: Any, undo_at_once: None
) -> None:
    kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    press(page, "r")
    refused, first = page.get_by_role("alert").filter(has_text="Give a reason"), page.get_by_text("Wrong 1")
    button = page.get_by_role("button", name="Reject", exact=True)
    for reject in (lambda: page.keyboard.press("Control+Enter"), button.click):
        reject()
        expect(refused).to_be_visible()
        said = refused.bounding_box()
        assert said["y"] + said["height"] <= first.bounding_box()["y"]
        refused.evaluate("said => said.textContent = ''")  # the next refusal says it anew
    press(page, "2")
    expect(page.get_by_role("radio", name="No evidence")).to_be_checked()
    page.locator("#reason").fill("Nobody measured it.")
    page.get_by_role("button", name="Reject", exact=True).click()
    none_held(page)
    (told,) = kuro.get("/decisions").json()["items"]
    assert (told["verdict"], told["reason"]) == ("reject", "No evidence: Nobody measured it.")


def test_what_is_typed_after_the_number_of_a_reason_is_a_note_to_it(
    open_page: Any, alice: Any, kuro: Any, undo_at_once: None
) -> None:
    kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    press(page, "r")
    for _ in range(3):  # without a release between them, the later ones are repeats
        page.keyboard.down("2")
    expect(page.locator("#reason")).to_be_focused()
    expect(page.locator("#reason")).to_have_value("")
    page.keyboard.up("2")
    expect(page.locator("#live")).to_contain_text("No evidence")
    expect(page.locator("#reject-key")).to_have_text("Enter")
    page.keyboard.type("1 of 5 is measured.")
    expect(page.locator("#reject-key")).to_have_text("Ctrl Enter")  # the key that sends it now
    page.keyboard.press("Enter")  # a new line
    page.keyboard.type("Which?")
    expect(page.get_by_role("radio", name="No evidence")).to_be_checked()
    page.keyboard.press("Control+Enter")
    none_held(page)
    (told,) = kuro.get("/decisions").json()["items"]
    assert told["reason"] == "No evidence: 1 of 5 is measured.\nWhich?"


def test_a_quick_hand_that_opens_and_chooses_at_once_stays_in_the_note(open_page: Any, alice: Any, kuro: Any) -> None:
    kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    settled(page)
    # Both in one task: the browser tells that the form was opened after the second.
    page.evaluate(
        """() => new Promise((told) => {
            document.getElementById("rejecting").addEventListener("toggle", () => setTimeout(told, 0));
            for (const key of ["r", "2"]) {
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            }
        })"""
    )
    expect(page.get_by_role("radio", name="No evidence")).to_be_checked()
    expect(page.locator("#reason")).to_be_focused()


def test_a_curator_makes_a_pattern_of_what_they_rejected_with_one_key(open_page: Any, carla: Any, kuro: Any) -> None:
    held = kuro.hold()
    kuro.hold()
    page = open_page(carla, viewport={"width": 1000, "height": 800})
    page.goto("/queue/")
    for key in ("r", "1", "Enter"):
        press(page, key)
    page.get_by_role("link", name="Create error pattern").wait_for()
    assert page.locator("#told .what").bounding_box()["width"] > 100  # what was rejected can be read beside it
    press(page, "p")
    page.get_by_role("heading", name="Add pattern").wait_for()
    assert page.url.endswith(f"/patterns/new?decision={decided(held).public_id}")


def test_a_double_click_decides_one_item(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    second, first = kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    settled(page)
    page.evaluate(
        """() => {
            const click = () => document.querySelector("#approve button").click();
            document.addEventListener("htmx:afterSettle", () => setTimeout(click, 20), {once: true});
            click();
        }"""
    )
    page.locator(f'#item[data-held="{first}"]').wait_for()
    rested(page)
    idle(page)
    assert [decision.held.public_id for decision in Decision.objects.select_related("held")] == [second]
    page.get_by_role("button", name="Approve").click()
    none_held(page)


def test_a_click_decides_no_item_that_was_not_painted_yet(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    second, first = kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    settled(page)
    page.evaluate(
        """() => {
            const inTime = requestAnimationFrame, held = [];
            window.requestAnimationFrame = (painted) => held.push(painted);
            window.paint = () => { window.requestAnimationFrame = inTime; held.forEach(inTime); };
            document.querySelector("#approve button").click();
        }"""
    )
    page.locator(f'#item[data-held="{first}"]').wait_for()
    page.wait_for_timeout(400)  # longer than a double click
    page.evaluate("document.querySelector('#approve button').click()")
    page.keyboard.press("a")
    idle(page)
    assert [decision.held.public_id for decision in Decision.objects.select_related("held")] == [second]
    page.evaluate("paint()")
    none_held(page)  # the key waited


def test_a_reason_that_is_being_typed_stays_although_somebody_else_decides(
    open_page: Any, alice: Any, bob: Any, kuro: Any
) -> None:
    from reviews.held import decisions
    from reviews.models import HeldItem

    held = HeldItem.objects.select_related("agent__team").get(public_id=kuro.hold())
    page = open_page(alice)
    page.goto("/queue/")
    press(page, "r")
    page.locator("#reason").fill("Nobody measured it.")
    decisions.decide(held, bob, "approve")
    page.locator("#standing", has_text="approved by Bob").wait_for()
    expect(page.locator(".act .stopped")).to_contain_text("approved by Bob")
    expect(page.locator("#reason")).to_have_value("Nobody measured it.")
    page.locator("#reason").press("Control+Enter")
    expect(page.locator("#standing")).to_contain_text("Your reason, which was not sent: Nobody measured it.")


def test_a_page_with_something_typed_is_left_only_when_the_browser_has_asked(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held, asked = kuro.hold(), []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page = open_page(alice)
    page.on("dialog", stay)
    page.goto("/queue/")
    press(page, "e")
    page.locator("#edited").press_sequentially("My own words. ")
    page.get_by_role("link", name="The whole response").click()
    page.locator("summary", has_text="Alice").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("#edited")).to_have_value(f"My own words. {RISKY}")
    assert asked == ["beforeunload"] * 2
    page.remove_listener("dialog", stay)
    page.locator("#edited").fill("It may be the cache.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(f"#row-{held}")).to_contain_text("approved with edits by you")
    page.get_by_role("link", name="Responses", exact=True).click()
    page.wait_for_url("**/responses/")
    assert len(asked) == 2


def test_keys_work_beside_a_box_that_was_ticked_with_the_mouse(open_page: Any, alice: Any, kuro: Any) -> None:
    for _ in range(2):
        kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    for pick in page.locator(".pick").all():
        pick.click()
    press(page, "o")
    page.get_by_role("checkbox").last.click()
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved “")


def test_what_somebody_else_decided_is_shown_in_place(open_page: Any, alice: Any, bob: Any, kuro: Any) -> None:
    held = kuro.hold()
    mine, theirs = open_page(alice), open_page(bob)
    mine.goto("/queue/")
    press(mine, "e")
    mine.locator("#edited").fill("My own words.")
    theirs.goto("/queue/")
    press(theirs, "a")
    none_held(theirs)

    mine.locator("#standing", has_text="This was decided while you had it open").wait_for()
    expect(mine.locator("#standing")).not_to_contain_text("Your")
    expect(mine.locator("#standing")).to_contain_text("approved by Bob")
    expect(mine.locator("#about")).not_to_contain_text("review")
    expect(mine.get_by_role("button", name="Approve")).to_have_count(0)
    expect(mine.locator("#edited")).to_have_value("My own words.")
    expect(mine.locator(f"#row-{held}")).to_contain_text("approved by Bob")


def test_a_decision_that_comes_too_late_shows_the_one_that_stands(
    open_page: Any, alice: Any, bob: Any, kuro: Any
) -> None:
    from reviews.held import decisions
    from reviews.models import HeldItem

    held = HeldItem.objects.select_related("agent__team").get(public_id=kuro.hold())
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))
    page.goto("/queue/")
    press(page, "e")
    page.locator("#edited").fill("My own words.")
    decisions.decide(held, bob, "reject", reason="Wrong")
    page.get_by_role("button", name="Approve with edits").click()
    page.locator("#standing", has_text="rejected by Bob").wait_for()
    expect(page.locator("#standing")).to_contain_text("Wrong")
    expect(page.locator("#edited")).to_have_value("My own words.")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_keys_rest_for_modifiers_composition_dialogs_and_those_who_switched_them_off(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    from reviews.models import Decision

    kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    settled(page)
    page.keyboard.press("Control+a")
    page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', bubbles: true, isComposing: true}))"
    )
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', bubbles: true, keyCode: 229}))")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    alice.keyboard = False
    alice.save()
    page.reload()
    press(page, "a")
    page.wait_for_timeout(300)
    assert not Decision.objects.exists()


def test_another_theme_stays_at_the_item(open_page: Any, alice: Any, kuro: Any) -> None:
    _first, second = kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/?kind=chat")
    press(page, "j")
    page.locator(f'#item[data-held="{second}"]').wait_for()
    page.locator("summary", has_text="Alice").click()
    page.get_by_role("button", name="Dark").click()
    page.locator("html[data-theme=dark]").wait_for()
    expect(page).to_have_url(re.compile(f"/queue/{second}/.kind=chat$"))


def test_the_list_is_walked_with_j_and_k(open_page: Any, alice: Any, kuro: Any) -> None:
    held = [kuro.hold() for _ in range(3)]
    page = open_page(alice)
    page.goto("/queue/")
    for key, expected in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        page.locator(f'#item[data-held="{held[expected]}"]').wait_for()


def test_j_on_the_last_row_goes_to_the_next_page(
    open_page: Any, alice: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.held.listing.PAGE", 2)
    held = [kuro.hold() for _ in range(3)]
    page = open_page(alice)
    page.goto("/queue/")

    def goes_to(key: str, expected: str) -> None:
        page.keyboard.press(key)
        expect(page.locator("#item")).to_have_attribute("data-held", expected)
        page.wait_for_load_state()  # its scripts read the next key

    for expected in held[1:]:
        goes_to("j", expected)
    expect(page.locator(".entry")).to_have_count(1)
    goes_to("j", held[-1])  # it ends there
    for expected in held[-2::-1]:
        goes_to("k", expected)
    goes_to("k", held[0])  # and begins here


def test_an_item_that_is_opened_by_its_address_is_in_sight_in_the_list(open_page: Any, alice: Any, kuro: Any) -> None:
    last = kuro.hold()
    for _ in range(12):
        kuro.hold()
    page = open_page(alice, viewport={"width": 1280, "height": 560})
    page.goto(f"/queue/{last}/")
    place = page.locator(f"#row-{last}").bounding_box()
    assert place["y"] + place["height"] < 561
    assert page.evaluate("scrollY") == 0


def test_the_list_goes_on_by_itself_and_the_page_stays_where_it_is(open_page: Any, alice: Any, kuro: Any) -> None:
    held = [kuro.hold() for _ in range(10)][::-1]
    page = open_page(alice, viewport={"width": 1280, "height": 560})
    page.goto("/queue/")
    for each in reversed(held[2:-1]):
        page.keyboard.press("j")
        expect(page.locator("#item")).to_have_attribute("data-held", each)
    assert page.evaluate("scrollY") == 0
    chosen = page.locator(f"#row-{held[2]}")
    place = chosen.bounding_box()
    assert place["y"] + place["height"] < 560
    page.locator(f"#pick-{held[3]}").focus()
    urgent = {"kind": "chat", "text": f"{HELD} Now.", "expires_in": 3600}
    newest = kuro.respond(items=[urgent])["items"][0]["held"]
    page.locator(f"#row-{newest}").wait_for(state="attached")
    assert chosen.bounding_box()["y"] == pytest.approx(place["y"], abs=1)
    expect(page.locator(f"#pick-{held[3]}")).to_be_focused()


def test_on_a_phone_the_list_is_found_again_where_it_was_left(open_page: Any, alice: Any, kuro: Any) -> None:
    for _ in range(20):
        kuro.hold()
    page = open_page(alice, viewport={"width": 390, "height": 600}, has_touch=True, is_mobile=True)
    page.goto("/queue/")
    for back in (page.go_back, lambda: page.locator("#desk .back").tap()):
        row = page.locator(".row").nth(15)
        row.scroll_into_view_if_needed()
        left = page.evaluate("scrollY")
        assert left > 300
        row.tap()
        page.locator("#main[data-view=item]").wait_for()
        back()
        page.locator("#main[data-view=list]").wait_for()
        page.wait_for_function("left => Math.abs(scrollY - left) < 5", arg=left)


def test_the_question_comes_first_then_the_text_then_why(open_page: Any, alice: Any, kuro: Any) -> None:
    address = f"/queue/{kuro.hold(user_message='Why so slow?')}/"
    page = open_page(alice)
    page.goto(address)
    order = (".question", "#text", ".bar", ".parts", ".beside")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        tops = [page.locator(f"#item {part}").bounding_box()["y"] for part in order]
        assert tops == sorted(tops)
    page.set_viewport_size({"width": 1440, "height": 900})
    question, text, beside = (
        page.locator(f"#item {part}").bounding_box() for part in (".question", "#text", ".beside")
    )
    assert question["x"] == beside["x"] > text["x"] + text["width"]


def test_paper_shows_the_item_and_nothing_to_press(open_page: Any, alice: Any, kuro: Any) -> None:
    kuro.hold()
    page = open_page(alice, viewport={"width": 794, "height": 1123})  # A4
    page.goto("/queue/")
    page.emulate_media(media="print")
    expect(page.locator("#text")).to_be_visible()
    for hidden in (".top", ".list", ".act", "#talk"):
        expect(page.locator(hidden)).to_be_hidden()


def test_only_the_time_in_which_an_item_was_in_sight_counts_and_adds_up(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Looking

    second, first = kuro.hold(), kuro.hold()
    page = open_page(alice, viewport={"width": 390, "height": 844})
    page.goto("/queue/")
    with page.expect_response(re.compile("/queue/changes")):
        pass
    assert not Looking.objects.exists(), "on a phone the list hides the item"
    began = time.monotonic()
    for _ in range(2):
        page.locator(f"#row-{second}").click()
        expect(page.locator("#item")).to_have_attribute("data-held", second)
        page.wait_for_timeout(A_LOOK)
        page.get_by_role("link", name="Queue").first.click()
        expect(page.locator(f"#row-{first}")).to_be_visible()
    assert Looking.objects.get().held.public_id == second
    page.wait_for_timeout(2 * A_LOOK)  # before the list, which is not counted
    before_list = 2 * A_LOOK
    page.locator(f"#row-{second}").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#item")).to_have_attribute("data-held", first)
    idle(page)
    shown_ms = decided(second).shown_ms
    assert 2 * A_LOOK <= shown_ms <= 1000 * (time.monotonic() - began) - before_list


def test_shift_and_x_select_all_in_the_list_and_then_none(open_page: Any, alice: Any, kuro: Any) -> None:
    for _ in range(3):
        kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    page.keyboard.press("x")
    for ticked in (3, 0, 3):
        page.keyboard.press("Shift+X")
        expect(page.locator(".pick :checked")).to_have_count(ticked)
    page.keyboard.press("o")
    expect(page.get_by_role("checkbox")).to_have_count(3)


def test_all_in_the_list_are_selected_by_mouse_once_one_is(open_page: Any, alice: Any, kuro: Any) -> None:
    for _ in range(3):
        kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    page.locator(".pick").first.click()
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Decide selected together 3").click()
    expect(page.get_by_role("checkbox")).to_have_count(3)


def test_several_are_selected_with_x_read_together_and_decided_with_one_press(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    third, second, _ = kuro.hold(), kuro.hold(), kuro.hold()
    page = open_page(alice)
    page.goto("/queue/")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.locator(f'#item[data-held="{second}"]').wait_for()
    page.keyboard.press("x")
    kuro.hold()  # the list is drawn anew, and what was ticked stays ticked
    expect(page.locator(".entry")).to_have_count(4)
    expect(page.locator(".pick :checked")).to_have_count(2)
    expect(page.get_by_role("button", name="Decide selected together 2")).to_be_visible()
    page.keyboard.press("o")
    expect(page.get_by_role("checkbox")).to_have_count(2)
    page.get_by_role("checkbox").first.focus()
    page.keyboard.press("Enter")  # presses nothing that decides
    page.get_by_text("Choose to approve or to reject.").wait_for()
    press(page, "r")
    page.keyboard.press("Escape")
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved 2 items")
    assert (decided(third).verdict, decided(second).verdict) == ("approve", "approve")
    press(page, "u")
    expect(page.locator("#told")).to_contain_text("Undone")
    expect(page.locator(".row.done")).to_have_count(0)
    expect(page.locator(".pick :checked")).to_have_count(0)
    for held in (second, third):
        page.locator(f"#pick-{held}").check(force=True)
    page.keyboard.press("o")
    expect(page.get_by_role("checkbox")).to_have_count(2)
    press(page, "r")
    page.keyboard.press("1")
    page.keyboard.press("Enter")  # as one item is rejected
    expect(page.locator("#told")).to_contain_text("Rejected 2 items")


def test_a_spot_check_is_answered_on_a_phone(open_page: Any, alice: Any, kuro: Any) -> None:
    from metacog.models import Agent
    from reviews.models import AgentResponse, Sample

    kuro.respond("It may rain.")
    passed = AgentResponse.objects.get()
    Sample.objects.create(response=passed, agent=Agent.objects.get(), day=passed.received_at.date())
    page = open_page(alice, viewport={"width": 390, "height": 844})
    page.goto("/spot-checks/")
    page.get_by_role("button", name="Should have been held").click()
    page.get_by_text("No spot checks pending").wait_for()
    assert Sample.objects.get().verdict == "missed"


def test_everything_works_without_javascript(open_page: Any, alice: Any, kuro: Any) -> None:
    third, second, first = kuro.hold(), kuro.hold(), kuro.hold()
    page = open_page(alice, java_script_enabled=False)
    page.goto("/queue/")
    page.get_by_role("button", name="Approve").click()
    expect(page).to_have_url(re.compile(f"/queue/{second}/$"))
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile(f"/queue/{third}/$"))
    page.get_by_role("button", name="Edit").click()
    page.locator("#edited").fill("The store may be the cause.")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#told")).to_contain_text("Approved with edits")
    assert decided(third).text == "The store may be the cause."
    page.locator(f"#row-{first}").click()
    page.locator("#rejecting > summary").click()
    page.get_by_text("Out of scope").click()
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    assert decided(first).reason == "Out of scope"


EVERY_PAGE = pytest.mark.parametrize(
    "every", [pytest.param(False, id="most-used"), pytest.param(True, id="all", marks=pytest.mark.starts)]
)


@EVERY_PAGE
def test_the_pages_have_no_fault_axe_can_find(open_page: Any, alice: Any, kuro: Any, every: bool) -> None:
    kuro.hold()
    held = kuro.hold(user_message="Why?\u200b", cycle=3)
    verdict = kuro.respond("[REMEMBER]It is obviously so.[/REMEMBER] [NOTE]", items=None)
    page = open_page(alice)
    addresses = (
        "/queue/", f"/queue/{held}/", f"/queue/{held}/?edit=1", f"/queue/together/?held={held}",
        "/responses/", f"/responses/{verdict['id']}/",
    )  # fmt: skip
    check_screens(page, addresses, of_axe=addresses if every else (f"/queue/{held}/",))


def check_screens(page: Any, addresses: Iterable[str], of_axe: Container[str]) -> None:
    """Ask axe of pages, wide and on a phone, in both schemes; no page is too wide, or too low for a finger."""
    for address, width in itertools.product(addresses, (1440, 390)):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(address)
        for scheme, rules in (("light", ()), ("dark", OF_COLOURS)) if address in of_axe else ():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # nothing half way
            assert faults(page, rules) == [], (address, width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        if width < 820:
            assert page.evaluate(LOW) == [], address
