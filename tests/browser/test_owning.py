"""An owner's first day in a real browser."""

from __future__ import annotations

import csv
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from metacog.models import Agent, Policy, Team
from reviews.metrics import daily
from tests.browser import axe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What the audit log tells of that day, and where it leads.
RECORDED = {
    "agent-created": "/agents/agt_", "key-issued": "/agents/agt_", "chat-held": "/queue/held_", "view-saved": "/queue/",
    "member-added": "/team/", "member-link-made": "/team/", "decide-within-changed": "/team/",
    "policy-changed": "/agents/agt_", "agent-disabled": "/agents/agt_", "agent-enabled": "/agents/agt_",
}  # fmt: skip
PASSWORD = "a-password-of-olga"


def post(base: str, key: str, text: str) -> dict[str, Any]:
    head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{base}/api/v1/responses", json.dumps({"response": text}).encode(), head)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def test_an_owners_first_day(open_page: Any, olga: Any, aurora: Team, live_server: Any) -> None:
    olga.set_password(PASSWORD)
    olga.save()
    page = open_page(olga, permissions=["clipboard-read", "clipboard-write"])
    page.context.clear_cookies()

    page.goto("/")
    page.get_by_label("User name").fill(olga.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="No agents yet").wait_for()

    page.get_by_role("link", name="Add agent").click()
    page.get_by_label("Name").fill("pilot")
    page.get_by_role("button", name="Add agent").click()
    page.get_by_role("button", name="Copy: API key", exact=True).click()
    expect(page.locator("#live")).to_have_text("Copied")
    key = page.evaluate("navigator.clipboard.readText()")
    agent = Agent.objects.get(name="pilot")

    verdict = post(live_server.url, key, "[CHAT]It is definitely the cache.[/CHAT]")
    (held,) = [each["held"] for each in verdict["items"]]
    page.goto("/queue/")
    expect(page.locator("#item")).to_have_attribute("data-held", held)

    page.get_by_text("Save view", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Risky chats")
    page.locator("[name=team]:visible").select_option(label="Team Aurora")
    page.get_by_role("button", name="Save filters as view").click()
    expect(page.get_by_role("link", name="Risky chats")).to_be_visible()

    page.goto("/team/")
    page.get_by_label("User name").fill("nina")
    page.get_by_label("Role", exact=True).select_option(label="Reviewer")
    page.get_by_role("button", name="Add member").click()
    page.get_by_role("heading", name="Send this link to nina").wait_for()
    link = urlsplit(page.locator("#link").inner_text()).path
    page.goto("/team/")
    page.get_by_role("link", name="Deciding").click()
    page.locator("[name=hours]").fill("2")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".message")).to_have_text("Saved.")

    page.goto(f"/agents/{agent.public_id}/policy/")
    page.locator("[name=threshold]").fill("35")
    page.locator("[name=note]").fill("The first day is for looking.")
    page.locator("button[value=save]").first.click()
    page.get_by_text("Version 2 is in force.").first.wait_for()
    page.locator("#would").wait_for()
    assert Policy.objects.get(version=2).threshold == 35

    page.goto(f"/agents/{agent.public_id}/")
    page.get_by_role("link", name="Disable agent…").click()
    page.get_by_label("Reason").fill("Loops since noon")
    page.get_by_role("button", name="Disable agent").click()
    with pytest.raises(urllib.error.HTTPError):
        post(live_server.url, key, "Still here?")
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_role("link", name="Disable agent…").wait_for()
    post(live_server.url, key, "Back again.")

    daily.count_days(timezone.now())  # as the sweep does
    page.goto("/statistics/")
    page.get_by_role("link", name="7 days", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Days by agent").click()
    with Path(download.value.path()).open(encoding="utf-8-sig") as file:
        days = list(csv.DictReader(file))
    assert [(day["name"], day["responses"], day["held"]) for day in days] == [("pilot", "2", "1")]

    page.goto("/audit/")
    page.get_by_role("link", name="All events").click()
    page.wait_for_url("**/audit/?actor=**")
    found = page.locator("[data-list] > tr").evaluate_all(
        "rows => rows.map((row) => "
        "[row.querySelector('details code').textContent, row.querySelector('.id a')?.pathname])"
    )
    led = dict(found)
    assert [action for action, address in RECORDED.items() if not (led.get(action) or "").startswith(address)] == []
    assert axe.faults(page) == []

    page.context.clear_cookies()
    page.goto(link)
    for label in ("New password", "Repeat the new password"):
        page.get_by_label(label, exact=True).fill("a-password-of-nina")
    page.get_by_role("button", name="Set the password and sign in").click()
    page.goto(f"/queue/{held}/")
    page.get_by_role("button", name="Approve").wait_for()


@pytest.mark.parametrize(("width", "is_phone"), [(390, True), (1440, False)])
def test_the_parts_of_statistics_are_folded_on_phones_alone(
    open_page: Any, alice: Any, kuro: Any, width: int, is_phone: bool
) -> None:
    call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": "rm x"}}
    kuro.respond("", items=[call])
    kuro.hold()
    daily.count_days(timezone.now())
    page = open_page(alice)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/statistics/#effects")
    parts = page.locator("details.foldable")
    folded = page.locator("details.foldable:not([open])")
    expect(page.get_by_text("All calls").first).to_be_visible()
    expect(folded).to_have_count(parts.count() - 1 if is_phone else 0)
    if is_phone:
        folded.first.locator("summary").click()
        expect(folded).to_have_count(parts.count() - 2)
    page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true })")
    expect(page.get_by_role("region", name="Held items, as a table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
