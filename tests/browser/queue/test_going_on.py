"""The next item comes at once and its decision is sent behind: nothing is lost, and what is refused comes back."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from scripts.key_to_next import WATCH, figures_of, when
from tests.browser.queue.test_deciding import A_LOOK, decided, idle, none_held, rested, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Which order of answers leads to what is held by tests/node/desk.test.mjs, in every run.
IN_NODE = pytest.mark.starts

BETWEEN, CHORD = 0.17, 0.08  # seconds: from one thought to the next, and from a key to the next of one thought
# What differs in a number is one row of near-duplicates.
WORDS = ["".join(syllables) for syllables in product(("ba", "de", "ki", "lo", "mu"), repeat=3)]
HELD = {"kind": "chat", "text": "The cause is clearly the cache."}


def hold(kuro: Any, count: int) -> list[str]:
    """Have items held, and return them in the order in which the queue shows them."""
    items = [HELD | {"text": f"{HELD['text']} {word}"} for word in islice(WORDS, count)]
    verdict = kuro.respond(" ".join(each["text"] for each in items), items=items)
    return [each["held"] for each in verdict["items"]]


def kept(page: Any, count: int = 1) -> None:
    page.wait_for_function(when(f"state.ahead.length >= {count}"))


def on_desk(page: Any, held: str) -> None:
    expect(page.locator("#item")).to_have_attribute("data-held", held)


def hold_back(page: Any, address: Any) -> Callable[[], None]:
    """Keep what is asked of an address from the server until the function that is returned is called."""
    waiting: list[Any] = []
    page.route(address, lambda route: waiting.append(route))

    def let_go() -> None:
        for route in waiting:
            route.continue_()
        page.unroute(address)

    return let_go


def presses(count: int) -> Iterator[tuple[str, float]]:
    """Give the keys of a quick hand, each with its pause: most items are approved, some rejected, some undone."""
    for number in range(count):
        decide = [("r", BETWEEN), ("2", CHORD), ("Enter", CHORD)] if number % 10 == 6 else [("a", BETWEEN)]
        yield from decide
        if number % 12 == 9 and number < count - 1:  # it sees too late what that was, and decides it once more
            yield ("u", BETWEEN)
            yield from decide


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.starts)])
def test_every_press_of_a_quick_hand_decides_one_item_in_the_order_of_the_list(
    open_page: Any, alice: Any, kuro: Any, count: int, record_property: Callable[[str, object], None]
) -> None:
    from reviews.models import Decision

    order = hold(kuro, count)
    page = open_page(alice)
    page.goto("/queue/")
    on_desk(page, order[0])
    kept(page, 2)
    settled(page)
    page.evaluate(WATCH)
    due = time.monotonic()
    for key, pause in presses(count):
        due += pause
        page.wait_for_timeout(max(0.0, due - time.monotonic()) * 1000)
        if key == "a":  # behind another decision that waits it would be ignored: a busy machine is slower than a hand
            page.wait_for_function(when("!state.keys.length"))
        page.keyboard.press(key)
    none_held(page, timeout=20_000 + 2_000 * count)  # its keys wait for a slow server
    standing = Decision.objects.filter(undone_at=None).order_by("id")
    reasons = {"approve": "", "reject": "No evidence"}
    pressed = ["reject" if number % 10 == 6 else "approve" for number in range(count)]
    assert list(standing.values_list("held__public_id", "verdict", "reason")) == [
        (each, verdict, reasons[verdict]) for each, verdict in zip(order, pressed, strict=True)
    ]
    assert all(each > 0 for each in standing.values_list("shown_ms", flat=True))
    figures = {"presses": count} | figures_of(page.evaluate("keyToNext"))
    record_property("key_to_next", figures)
    line = json.dumps(figures)
    print("key to next item:", line)
    if path := os.environ.get("KEY_TO_NEXT"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def test_near_duplicates_are_decided_one_after_the_other_without_waiting(open_page: Any, alice: Any, kuro: Any) -> None:
    texts = [f"{HELD['text']} Run {number}." for number in range(3)]
    verdict = kuro.respond(" ".join(texts), items=[HELD | {"text": text} for text in texts])
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))
    page.goto("/queue/")
    let_go = hold_back(page, "**/decide")
    for each in verdict["items"]:
        on_desk(page, each["held"])
        settled(page)
        page.keyboard.press("a")
    let_go()
    none_held(page)
    assert [decided(each["held"]).verdict for each in verdict["items"]] == ["approve"] * 3


def test_an_item_of_those_decided_together_is_left_out_by_key(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    texts = [f"{HELD['text']} Run {number}." for number in range(2)]
    alike = kuro.respond(" ".join(texts), items=[HELD | {"text": text} for text in texts])["items"]
    held = [*(each["held"] for each in alike), kuro.hold()]
    page = open_page(alice)
    page.goto(f"/queue/together/?held={'&held='.join(held)}")
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(page.locator(f"[href*={held[at]}]")).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(":checked")).to_have_count(2)
    for ticked in (3, 0, 3):
        page.keyboard.press("Shift+X")
        expect(page.locator(":checked")).to_have_count(ticked)
    for key in "xa":
        page.keyboard.press(key)
    expect(page.locator("#told")).to_contain_text("Approved 2 items")
    assert set(Decision.objects.values_list("held__public_id", flat=True)) == {held[0], held[2]}


def test_the_next_near_duplicate_says_how_many_are_left(open_page: Any, alice: Any, kuro: Any) -> None:
    texts = [f"{HELD['text']} Run {number}." for number in range(3)]
    verdict = kuro.respond(" ".join(texts), items=[HELD | {"text": text} for text in texts])
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))
    page.goto("/queue/")
    expect(page.locator("#approve-all")).to_contain_text("Approve all 3")
    kept(page)
    settled(page)
    page.keyboard.press("a")
    on_desk(page, verdict["items"][1]["held"])
    expect(page.locator("#approve-all")).to_contain_text("Approve all 2")
    expect(page.locator("#approve-label")).to_have_text("Approve this one")
    settled(page)
    page.keyboard.press("a")
    on_desk(page, verdict["items"][2]["held"])
    expect(page.locator("#approve-all")).to_have_count(0)
    expect(page.locator("#approve-label")).to_have_text("Approve")


@IN_NODE
def test_what_is_kept_is_shown_before_the_server_has_answered(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Looking

    held = hold(kuro, 3)
    page = open_page(alice)
    let_go = hold_back(page, "**/decide")
    page.goto("/queue/")
    kept(page, 2)
    page.wait_for_timeout(A_LOOK)
    assert Looking.objects.get().held.public_id == held[0], "to fetch an item is not to look at it"
    page.keyboard.press("a")
    on_desk(page, held[1])
    expect(page).to_have_url(re.compile(f"/queue/{held[1]}/$"))
    expect(page.locator("#item-title")).to_be_focused()
    expect(page.locator("#told")).to_contain_text("Approved “The cause is clearly the cache.")
    expect(page.locator("#live")).to_contain_text("Approved")
    expect(page.locator(f"#row-{held[0]}")).to_have_class(re.compile("done"))
    let_go()
    expect(page.locator(f"#row-{held[0]}")).to_contain_text("approved by you")
    assert Looking.objects.get().held.public_id == held[1], "what is shown is looked at"
    page.wait_for_timeout(A_LOOK)
    page.keyboard.press("a")
    on_desk(page, held[2])
    idle(page)
    assert A_LOOK <= decided(held[1]).shown_ms < 10_000, "its time begins when it is shown"


@IN_NODE
def test_an_item_that_somebody_else_decided_comes_back_and_the_others_stay_decided(
    open_page: Any, alice: Any, bob: Any, kuro: Any
) -> None:
    from reviews.held import decisions
    from reviews.models import HeldItem

    held = hold(kuro, 4)
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))
    page.goto("/queue/")
    kept(page, 2)
    theirs = HeldItem.objects.select_related("agent__team").get(public_id=held[0])
    decisions.decide(theirs, bob, "reject", reason="Wrong")
    let_go = hold_back(page, "**/decide")
    for following in held[1:3]:
        settled(page)
        page.keyboard.press("a")
        on_desk(page, following)
    settled(page)
    page.keyboard.press("e")
    page.locator("#edited").fill("It may be the cache.")
    let_go()
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"Not decided: “The cause is .*”\. ✗ rejected by Bob .* · Your decision was not saved\.")
    )
    page.keyboard.press("Control+Enter")
    on_desk(page, held[0])
    expect(page.locator("#standing")).to_contain_text("rejected by Bob")
    expect(page.locator(".act").get_by_role("alert")).to_contain_text("Your decision was not saved.")
    idle(page)
    assert decided(held[1]).person == alice
    page.locator(f"#row-{held[2]}").click()
    on_desk(page, held[2])


def test_without_an_answer_the_item_comes_back_with_its_reason_and_is_decided_by_one_more_press(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    held = hold(kuro, 3)
    page = open_page(alice)
    page.goto("/queue/")
    kept(page)
    page.route("**/decide", lambda route: route.abort())
    settled(page)
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.keyboard.type("Nobody measured it.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Your text is still in the field.")
    on_desk(page, held[0])
    expect(page.locator("#live")).to_be_empty()
    expect(page.locator("#reason")).to_have_value("Nobody measured it.")
    page.unroute("**/decide")
    kept(page)
    rested(page)
    page.get_by_role("button", name="Reject", exact=True).click()
    on_desk(page, held[1])
    idle(page)
    assert decided(held[0]).reason == "No evidence: Nobody measured it."


@IN_NODE
def test_undo_takes_back_the_last_decision_before_its_answer_has_come(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    held = hold(kuro, 3)
    page = open_page(alice)
    let_go = hold_back(page, "**/decide")
    page.goto("/queue/")
    kept(page)
    settled(page)
    page.keyboard.press("a")
    on_desk(page, held[1])
    page.keyboard.press("u")
    let_go()
    on_desk(page, held[0])
    expect(page.locator("#told")).to_contain_text("Undone")
    idle(page)
    assert not Decision.objects.filter(undone_at=None).exists()


def test_undo_goes_back_decision_by_decision_and_says_when_nothing_is_left(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    from reviews.models import Decision

    held = hold(kuro, 4)
    page = open_page(alice)
    page.goto("/queue/")
    for following in held[1:]:
        kept(page)
        settled(page)
        page.keyboard.press("a")
        on_desk(page, following)
    idle(page)
    for back in reversed(held[:3]):
        page.locator("#comment").evaluate("field => { field.style.height = '9rem'; }")  # as who draws it larger does
        settled(page)
        page.keyboard.press("u")
        on_desk(page, back)
        expect(page.locator("#told")).to_contain_text("Undone: ")
        expect(page.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    assert not Decision.objects.filter(undone_at=None).exists()
    settled(page)
    page.keyboard.press("u")
    for place in ("#notice", "#live"):
        expect(page.locator(place)).to_contain_text("Nothing left to undo")


def test_what_an_undone_decision_was_sent_with_is_there_again_once_it_is_asked_for(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    first, second = hold(kuro, 2)
    page = open_page(alice)
    page.goto("/queue/")
    kept(page)
    settled(page)
    page.keyboard.press("e")
    page.locator("#edited").fill("The store may be the cause.")
    page.keyboard.press("Control+Enter")
    on_desk(page, second)
    settled(page)
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.keyboard.type("Nobody measured it.")
    page.keyboard.press("Control+Enter")
    none_held(page)
    for back in (second, first):
        settled(page)
        page.keyboard.press("u")
        on_desk(page, back)
    settled(page)
    page.keyboard.press("e")
    expect(page.locator("#edited")).to_have_value("The store may be the cause.")
    expect(page.locator("#approve-label")).to_have_text("Approve with edits")
    page.keyboard.press("Control+Enter")
    on_desk(page, second)
    settled(page)
    page.keyboard.press("r")
    expect(page.locator("#reason")).to_have_value("Nobody measured it.")
    expect(page.locator("#reject [name=preset]").nth(1)).to_be_checked()


@IN_NODE
def test_every_press_of_undo_takes_one_decision_back_and_what_is_told_gives_way(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    from reviews.models import Decision

    held = hold(kuro, 5)
    page = open_page(alice)
    page.goto("/queue/")
    kept(page)
    settled(page)
    for following in held[1:]:
        page.keyboard.press("a")
        on_desk(page, following)
        settled(page)
    idle(page)
    page.keyboard.type("uuu")
    on_desk(page, held[1])
    expect(page.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#waiting-keys")).to_be_hidden()
    standing = Decision.objects.filter(undone_at=None).values_list("held__public_id", flat=True)
    assert list(standing) == held[:1]
    page.keyboard.type("uu")
    expect(page.locator("#notice")).to_contain_text("Nothing left to undo")
    assert not Decision.objects.filter(undone_at=None).exists()
    page.locator("#notice").evaluate("note => clearTimeout(note.timer)")  # after which it would leave by itself
    page.keyboard.press("r")
    expect(page.locator("#rejecting")).to_have_attribute("open", "")
    expect(page.locator("#notice")).to_have_count(0)


@pytest.mark.parametrize("following", ["kept", "none"])
def test_a_decision_after_the_session_ended_says_so_and_what_was_typed_is_there_again(
    open_page: Any, alice: Any, kuro: Any, following: str
) -> None:
    from django.contrib.sessions.models import Session

    from reviews.models import Decision

    held = hold(kuro, 1 if following == "none" else 3)
    page = open_page(alice)
    page.route("**/queue/changes**", lambda route: route.fulfill(status=204))
    page.goto("/queue/?kind=chat")
    if following == "kept":
        kept(page, 2)
    settled(page)
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.keyboard.type("Nobody measured it.")
    Session.objects.all().delete()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "You were signed out. The decision was not saved; sign in and decide again."
    )
    assert not Decision.objects.exists()
    page.fill("[name=username]", "alice")
    page.fill("[name=password]", "alice-password")
    page.keyboard.press("Enter")
    on_desk(page, held[0])
    expect(page).to_have_url(re.compile(f"/queue/{held[0]}/\\?kind=chat$"))
    expect(page.locator("#reason")).to_have_value("Nobody measured it.")
    expect(page.locator("#reject [name=preset]").nth(1)).to_be_checked()
    expect(page.locator("#notice")).to_contain_text("Nothing is decided yet.")
    assert page.evaluate("Object.keys(JSON.parse(sessionStorage.unsaved).items).length") == 0


@IN_NODE
def test_what_is_kept_is_thrown_away_when_the_list_changes(open_page: Any, alice: Any, bob: Any, kuro: Any) -> None:
    from reviews.held import decisions
    from reviews.models import HeldItem

    held = hold(kuro, 4)
    page = open_page(alice)
    page.goto("/queue/")
    kept(page, 2)
    decisions.decide(HeldItem.objects.select_related("agent__team").get(public_id=held[1]), bob, "approve")
    expect(page.locator(f"#row-{held[1]}")).to_contain_text("approved by Bob")
    kept(page, 2)
    settled(page)
    page.keyboard.press("a")
    on_desk(page, held[2])


@IN_NODE
def test_keys_that_wait_are_shown_and_let_go_with_escape(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    held = hold(kuro, 3)
    page = open_page(alice)
    let_go = hold_back(page, re.compile(r"/queue/held_\w+/next"))
    page.goto("/queue/")
    on_desk(page, held[0])
    settled(page)
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator("#waiting-keys")).to_contain_text("A")
    page.keyboard.press("Escape")
    expect(page.locator("#waiting-keys")).to_be_hidden()
    let_go()
    on_desk(page, held[1])
    page.wait_for_timeout(A_LOOK)  # in which a key that waited would act
    idle(page)
    assert [decision.held.public_id for decision in Decision.objects.select_related("held")] == [held[0]]


@IN_NODE
def test_what_a_quick_hand_types_after_r_is_the_reason(open_page: Any, alice: Any, kuro: Any) -> None:
    held = hold(kuro, 4)
    page = open_page(alice)
    let_go = hold_back(page, re.compile(r"/queue/held_\w+/next"))
    page.goto("/queue/")
    on_desk(page, held[0])
    settled(page)
    page.keyboard.press("a")
    page.keyboard.type("r2")  # the next item has not come
    page.keyboard.type("Ask an author: 1 run, 2 noons.")
    expect(page.locator("#waiting-keys")).to_contain_text("n o o n s .")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+Enter")
    page.keyboard.type("r1")
    page.keyboard.press("Enter")
    page.keyboard.press("u")  # all of it
    page.keyboard.type("aua")  # neither A is for an item that anybody has seen, and the undo is of the first
    let_go()
    on_desk(page, held[2])
    settled(page)
    page.keyboard.press("a")
    on_desk(page, held[3])
    settled(page)
    page.keyboard.type("rNot measured.")  # before a reason is chosen
    expect(page.locator("#reason")).to_have_value("Not measured.")
    page.keyboard.press("Control+Enter")
    none_held(page)
    reasons = [decided(each).reason for each in held]
    assert reasons == ["", "No evidence: Ask an author: 1 run, 2 noons", "", "Not measured."]


def test_a_and_r_decide_what_is_selected(open_page: Any, alice: Any, kuro: Any) -> None:
    from reviews.models import Decision

    held = hold(kuro, 4)
    page = open_page(alice)
    page.goto("/queue/")
    page.locator(f"#pick-{held[1]}").check(force=True)
    page.locator(f"#pick-{held[2]}").check(force=True)
    settled(page)
    page.keyboard.press("a")
    expect(page.locator("#told")).to_contain_text("Approved 2 items")
    assert decided(held[1]).together == decided(held[2]).together
    page.wait_for_load_state()
    page.keyboard.press("u")
    expect(page.locator("#told")).to_contain_text("Undone: 2 items")
    expect(page.locator(".pick :checked")).to_have_count(0)
    on_desk(page, held[2])
    kept(page)
    settled(page)
    page.keyboard.press("a")  # decides what is open, alone
    on_desk(page, held[3])
    idle(page)
    assert list(Decision.objects.filter(undone_at=None).values_list("held__public_id", flat=True)) == [held[2]]
    page.locator(f"#pick-{held[0]}").check(force=True)
    page.locator(f"#pick-{held[3]}").check(force=True)
    settled(page)
    page.keyboard.press("r")
    expect(page.locator("#rejecting")).to_have_attribute("open", "")
    page.wait_for_load_state()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("Rejected 2 items")
