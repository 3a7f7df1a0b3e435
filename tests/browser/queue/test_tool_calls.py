"""A tool call is read, edited and decided in a browser: by keys, without script, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reviews.models import CallGrant, Decision, HeldItem
from tests.browser.queue.test_deciding import A_LOOK, EVERY_PAGE, check_screens, press
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
    effects = page.locator("#effects-text")
    expect(effects).to_have_text("Effects", use_inner_text=True)
    press(page, "e")
    expect(page.locator("#f-0")).to_be_focused()
    expect(effects).to_have_text("Effects of the call as sent", use_inner_text=True)
    expect(page.locator("#item-title")).to_be_in_viewport()
    page.locator("#f-1").fill("61")
    expect(page.locator("#wrong-1")).to_contain_text("61 is greater than the maximum of 60")
    page.locator("#f-1").fill("60")
    expect(page.locator("#wrong-1")).to_be_empty()
    expect(page.locator("#edit-score")).to_contain_text("30 → 60")
    expect(page.locator("#approve-label")).to_have_text("Approve with edits")
    page.locator("#f-1").press("Enter")
    page.get_by_role("link", name="Edit as JSON").click()
    expect(page.locator("#complaint")).to_contain_text("not sent yet")
    assert HeldItem.objects.get().state == "pending", "Enter in a field sends nothing"
    page.locator("#f-1").press("Control+Enter")
    expect(page.locator("#told")).to_contain_text("Approved with edits")
    assert Decision.objects.get().arguments == ARGUMENTS | {"timeout": 60}


def test_it_is_edited_without_script(open_page: Any, alice: Any, kuro: Any) -> None:
    held = ask(kuro)
    page = open_page(alice, java_script_enabled=False)
    page.goto(f"/queue/{held}/")
    page.locator(".reveal").first.click()
    expect(page.locator("#text")).to_contain_text(SECRET)
    page.locator("#edit").click()
    page.locator("#f-2").check()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#told")).to_contain_text("Approved with edits")
    assert Decision.objects.get().arguments == ARGUMENTS | {"loud": True}


def push(caller: Caller, session: str = "s1") -> str:
    call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": "git push origin main"}}
    held: str = caller.respond("", items=[call], session=session)["items"][0]["held"]
    return held


def test_g_opens_the_form_of_a_grant_which_says_what_passes(open_page: Any, alice: Any, kuro: Any) -> None:
    held = push(kuro)
    push(kuro, session="s2")
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    said = page.locator("#grant-words")
    press(page, "g")
    expect(said).to_have_text(
        "git push, without flags, publishes to origin, not by force, in this session, until tonight"
    )
    expect(page.locator("[name=grant_match]:checked")).to_be_focused()
    page.keyboard.press("Escape")
    expect(said).to_be_hidden()
    expect(page.locator("#grant")).not_to_be_checked()
    press(page, "g")
    expect(said).to_be_visible()
    page.locator("[name=grant_match][value=call]").check()
    page.get_by_label("in all sessions of kuro").check()
    expect(page.locator(".waiting-too [name=grant_release]")).to_be_visible()  # it was asked for as the form was opened
    page.locator("[name=grant_until]").select_option("1h")
    page.locator("[name=grant_uses]").fill("20")
    expect(said).to_have_text(
        "exactly Bash git push origin main, in all sessions of kuro, for 1 hour, at most 20 times"
    )
    with page.expect_response(f"**/queue/{held}/decide*"):  # the page says so before it is answered
        page.locator("[name=grant_uses]").press("Enter")
        expect(page.locator("#told")).to_contain_text("Approved")
    grant = CallGrant.objects.get()
    assert (grant.held.public_id, grant.match, grant.scope, grant.most_uses) == (held, "call", "agent", 20)


def test_g_and_a_letter_still_go_to_a_page(open_page: Any, alice: Any, kuro: Any) -> None:
    page = open_page(alice)
    page.goto(f"/queue/{push(kuro)}/")
    page.keyboard.press("g")
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Grants", exact=True)).to_be_visible()


def test_all_of_a_grants_form_is_seen_at_once_on_a_small_screen(open_page: Any, alice: Any, kuro: Any) -> None:
    page = open_page(alice, viewport={"width": 1024, "height": 800})
    arguments = {"to": "pei@mail.example", "subject": "Your order 54819", "text": "Dear pei,\n\nit is on its way. " * 3}
    call = {"kind": "tool_call", "name": "send_mail", "arguments": arguments}
    page.goto(f"/queue/{kuro.respond('I write.', items=[call])['items'][0]['held']}/")
    press(page, "g")
    for part in (
        "#grant",
        "[name=grant_scope][value=agent]",
        "[name=grant_until]",
        "[name=grant_uses]",
        "#grant-words",
    ):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Approve and grant")).to_be_in_viewport(ratio=1)
    covered = page.locator(".grant .limits").bounding_box(), page.locator(".grant .sheet > .actions").bounding_box()
    assert covered[0]["y"] + covered[0]["height"] <= covered[1]["y"], "nor does the sentence lie above them"


def test_nothing_of_a_grants_form_lies_below_its_buttons_on_a_phone(open_page: Any, alice: Any, kuro: Any) -> None:
    page = open_page(alice, viewport={"width": 390, "height": 720})
    page.goto(f"/queue/{push(kuro)}/")
    page.get_by_text("Grant…").click()
    uses = page.locator("[name=grant_uses]").bounding_box()
    button = page.get_by_role("button", name="Approve and grant")
    expect(button).to_be_in_viewport(ratio=1)
    assert uses["y"] + uses["height"] <= button.bounding_box()["y"]


def test_a_grant_is_given_and_withdrawn_without_script(open_page: Any, alice: Any, kuro: Any, settings: Any) -> None:
    settings.UNDO_SECONDS = 0
    held = push(kuro)
    page = open_page(alice, java_script_enabled=False)
    page.goto(f"/queue/{held}/")
    page.get_by_text("Grant…").click()
    page.locator("#grant").check()
    page.get_by_role("button", name="Approve and grant").click()
    page.goto(f"/queue/{held}/")
    expect(page.get_by_text("Such calls pass without asking:")).to_be_visible()
    page.get_by_role("button", name="Withdraw grant").click()
    expect(page.get_by_role("button", name="Restore grant")).to_be_visible()


def test_what_was_done_last_takes_one_line_beside_the_buttons_of_a_call(open_page: Any, alice: Any, kuro: Any) -> None:
    calls = [
        {"kind": "tool_call", "name": name, "arguments": {"path": "/srv/shop" * 9}} for name in ("ls", "cat", "rm")
    ]
    held = [each["held"] for each in kuro.respond("I look.", items=calls)["items"]]
    page = open_page(alice)
    page.goto("/queue/")
    for key, shown in (("a", 1), ("a", 2), ("u", 1)):
        press(page, key)
        expect(page.locator("#item")).to_have_attribute("data-held", held[shown])
    expect(page.locator("#told")).to_contain_text("Undo the one before")
    places = []
    for label in ("plain", "one"):
        page.locator("#approve-label").evaluate("(name, which) => { name.textContent = name.dataset[which]; }", label)
        places.append(page.locator("#granting").bounding_box()["x"])
    approve = page.locator("#approve button").bounding_box()
    assert set(places) == {approve["x"] + approve["width"] + 12}
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        told, what = (page.locator(part).bounding_box() for part in ("#told", "#told .what"))
        assert told["height"] <= 44, width
        assert told["x"] + told["width"] <= width
        assert what["width"] >= 90, width


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


def test_what_a_call_would_do_is_lit_in_its_command_when_it_is_pointed_at_or_focused(
    open_page: Any, alice: Any, kuro: Any
) -> None:
    command = "cd /tmp && rm -rf /srv/other ~/x; ls"
    call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": command}, "require_review": True}
    held = kuro.respond("I tidy up.", items=[call])["items"][0]["held"]
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    things, marks = page.locator(".effect a"), page.locator(".laid .fx")
    expect(page.locator(".laid .line")).to_have_text(["cd /tmp", "&& rm -rf /srv/other ~/x;", "ls"])
    things.filter(has_text="/srv/other").hover()
    expect(marks.filter(has_text="/srv/other")).to_contain_class("lit")
    expect(marks.filter(has_text="~/x")).not_to_contain_class("lit")
    things.filter(has_text="~/x").focus()
    expect(marks.filter(has_text="~/x")).to_contain_class("lit")
    page.locator(".effect.of-delete").hover(position={"x": 30, "y": 5})
    expect(marks.filter(has_text="/srv/other")).to_contain_class("lit")
    marks.filter(has_text="/srv/other").hover()
    expect(things.filter(has_text="/srv/other")).to_contain_class("lit")
    expect(page.locator(".sent")).to_be_hidden()
    page.get_by_label("Show as sent").check()
    expect(page.locator(".sent")).to_have_text(command)
    expect(page.locator(".laid")).to_be_hidden()
    things.filter(has_text="~/x").click()
    expect(page.locator(".sent .fx").filter(has_text="~/x")).to_be_in_viewport()
    press(page, "a")
    expect(page.locator("#told")).to_contain_text("Approved")
    assert Decision.objects.get().arguments == {"command": command}, "what was sent, whatever way it was shown"


def test_a_masked_command_is_shown_by_its_button(open_page: Any, alice: Any, kuro: Any) -> None:
    command = "curl -H 'Authorization: Bearer sk-hunter2t0psecret4me' https://example.com && make && make install"
    held = kuro.respond("", items=[{"kind": "tool_call", "name": "Bash", "arguments": {"command": command}}])
    page = open_page(alice)
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"/queue/{held['items'][0]['held']}/")
        label, button = page.locator(".show-sent"), page.locator("#text .reveal")
        assert label.bounding_box()["width"] < 200, width
        button.click(timeout=3000)  # refused where something lies over it
        expect(page.locator("#text .laid")).to_contain_text("hunter2t0psecret4me")
        expect(page.locator(".show-sent input")).not_to_be_checked()


def test_what_was_read_stays_read_when_an_edit_is_refused(open_page: Any, alice: Any, kuro: Any) -> None:
    call = {
        "kind": "tool_call", "name": "refund", "arguments": {"order": "A-17", "eur": 900, "note": "Late"},
        "schema": {"type": "object", "properties": {"eur": {"type": "integer", "maximum": 500}}},
    }  # fmt: skip
    held = kuro.respond("", items=[call])["items"][0]["held"]
    page = open_page(alice)
    page.goto(f"/queue/{held}/")
    expect(page.locator("#approve-label")).to_be_visible()
    page.wait_for_timeout(A_LOOK)
    press(page, "e")
    page.locator("#f-1").fill("9000")
    page.locator("#f-1").press("Control+Enter")
    expect(page.locator("#problem")).to_contain_text("Nothing was decided")
    page.locator("#f-1").fill("90")
    expect(page.locator("#problem")).to_have_count(0)
    page.locator("#f-1").press("Control+Enter")
    expect(page.locator("#told")).to_contain_text("Approved with edits")
    assert Decision.objects.get().arguments["eur"] == 90
