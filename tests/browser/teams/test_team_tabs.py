"""The tabs of a team's page, with and without a script."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from metacog.models import Membership, Team
from tests.browser import axe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("has_script", [True, False])
def test_what_was_typed_on_one_tab_is_there_on_the_next_and_saved_with_one_button(
    open_page: Any, olga: Any, aurora: Any, has_script: bool
) -> None:
    page = open_page(olga, java_script_enabled=has_script)
    page.goto("/team/")
    save = page.get_by_role("button", name="Save", exact=True).filter(visible=True)
    expect(page.get_by_label("User name")).to_be_visible()
    expect(page.locator("[name=hours]")).to_be_hidden()
    page.get_by_role("link", name="Deciding").click()
    page.locator("[name=hours]").fill("2")
    expect(page.get_by_label("User name")).to_be_hidden()
    page.get_by_role("link", name="Data").click()
    page.get_by_label("Tell agents who decided").check()
    page.go_back()
    expect(page.locator("[name=hours]")).to_have_value("2")
    expect(save).to_have_count(1)
    save.click()
    expect(page.locator(".message")).to_have_text("Saved.")
    expect(page.locator("[name=hours]")).to_be_visible()
    team = Team.objects.get(pk=aurora.pk)
    assert (team.decide_within_minutes, team.names_people) == (120, True)

    page.get_by_role("link", name="Deciding").click()
    page.locator("[name=hours]").fill("1000")
    page.get_by_role("link", name="Notices and chat").click()
    save.click()
    expect(page.get_by_role("alert").filter(has_text="Nothing was saved.")).to_be_visible()
    expect(page.locator("[name=hours]")).to_be_visible()
    expect(page.locator("[name=hours]")).to_have_value("1000")


@pytest.mark.parametrize("has_script", [True, False])
def test_a_refused_address_is_in_sight_above_the_save(open_page: Any, olga: Any, aurora: Any, has_script: bool) -> None:
    page = open_page(olga, java_script_enabled=has_script)
    page.set_viewport_size({"width": 1024, "height": 500})
    page.goto("/team/?tab=notices")
    address = page.get_by_label("Address of its incoming webhook")
    address.fill("http://chat.example.org")
    page.locator(".save .btn").click()
    expect(address).to_be_focused()
    expect(page.locator(".field.wrong .errorlist")).to_be_in_viewport()  # a browser scrolls after the focus
    error, save = page.locator(".field.wrong .errorlist").bounding_box(), page.locator(".save").bounding_box()
    assert error["y"] + error["height"] <= save["y"]


@pytest.mark.parametrize("has_script", [True, False])
def test_a_role_goes_with_the_one_save(open_page: Any, olga: Any, alice: Any, aurora: Any, has_script: bool) -> None:
    page = open_page(olga, java_script_enabled=has_script)
    page.goto("/team/")
    page.get_by_label("Role of alice").select_option("curator")
    page.get_by_role("link", name="Deciding").click()
    if has_script:
        expect(page.get_by_role("link", name="People Not saved yet")).to_be_visible()
    page.locator("[name=hours]").fill("2")
    page.locator(".save .btn").click()
    expect(page.locator(".message")).to_have_text("Saved.")
    assert Membership.objects.get(user=alice).role == "curator"


def test_to_save_a_group_asks_before_what_was_typed_beside_it_is_lost(
    open_page: Any, olga: Any, alice: Any, aurora: Any
) -> None:
    page = open_page(olga)
    page.goto("/team/")
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("User name").fill("nina")
    page.locator("[name=member]").first.check()
    page.locator(".save .btn").click(no_wait_after=True)
    expect(page.get_by_label("User name")).to_have_value("nina")
    assert asked == ["beforeunload"]
    page.remove_listener("dialog", stay)


def test_a_tab_says_what_is_not_saved_on_it_and_to_leave_asks(open_page: Any, olga: Any, aurora: Any) -> None:
    page = open_page(olga)
    asked = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto("/team/#chat")  # an address from before there were tabs
    here = page.locator(".parts [aria-current]")
    expect(here).to_contain_text("Notices and chat")
    page.get_by_label("Mentions and assignments").check()
    page.get_by_role("link", name="People").press("Enter")
    expect(here).to_contain_text("People")
    expect(page.get_by_role("link", name="Notices and chat Not saved yet")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Not saved yet: Notices and chat")).to_be_visible()
    assert axe.faults(page) == []
    page.get_by_role("link", name="Audit log").click(no_wait_after=True)
    expect(here).to_contain_text("People")
    assert asked == ["beforeunload"]
    page.get_by_role("link", name="Notices and chat").click()
    page.get_by_label("Mentions and assignments").uncheck()
    expect(page.get_by_role("link", name="Not saved yet")).to_have_count(0)
    page.get_by_role("link", name="Audit log").click()
    page.wait_for_url("**/audit/")
    assert asked == ["beforeunload"]
    page.remove_listener("dialog", stay)
