"""From six hundred decisions to another order of the queue, the reasons for it, and a budget that is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import expect

from metacog.models import Team
from reviews.learning import contrast
from tests.conftest import HELD
from tests.decided import decide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_decisions_change_the_order_say_why_and_let_a_budget_hold_the_riskiest(
    open_page: Any, olga: Any, kuro: Any
) -> None:
    for text in ("The parcel was sent on time.", "Please refund the order, refund it now."):
        kuro.respond(f"{text} {HELD}")
    page = open_page(olga)
    rows = page.locator(".clip")
    page.goto("/queue/")
    expect(rows.first).to_contain_text("The parcel was sent on time")  # of equal scores what expires next
    page.goto("/statistics/risk/")
    expect(page.get_by_text("Nothing learned yet")).to_be_visible()

    decide(kuro, 600, person=olga, since=timezone.now() - timedelta(days=2))
    call_command("learn", stdout=None)
    contrast.look(Team.objects.get(), timezone.now())  # reasons are phrases that hold by themselves
    page.goto("/statistics/")
    expect(page.get_by_text("Reviewing the tenth of items").first).to_be_visible()
    page.goto("/queue/")
    expect(rows.first).to_contain_text("Please refund the order")
    rows.first.click()
    why = page.get_by_role("heading", name="Learned risk").locator("..")
    expect(why).to_contain_text("refund")
    expect(page.locator("mark.learned", has_text="refund").first).to_be_visible()

    page.goto("/statistics/risk/")
    curve = page.locator("#how-far-words [data-curve]")
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    for step, share in ((page.mouse.move, 0.2), (None, 0.2), (page.mouse.move, 0.54)):  # its axis is not all of it
        step(box["x"] + share * box["width"], box["y"] + 60) if step else page.mouse.down()
    page.mouse.up()
    expect(page.locator("#how-far-words > [data-told]")).to_contain_text("Reviewing 50% finds")
    expect(page.get_by_label("Also review up to")).to_have_value("10")  # of 20 a day that passed
    expect(page.locator("#preview")).to_contain_text("300 would have been reviewed")
    assert Team.objects.get().risk_budget is None  # nothing counts before it is saved
    page.get_by_label("Also review up to").fill("40")
    page.get_by_label("hold them for review").check()
    expect(page.locator("#preview")).to_contain_text("would have been reviewed")
    page.get_by_role("button", name="Save choices").click()
    expect(page.get_by_label("Also review up to")).to_have_value("40")
    posted = [kuro.respond(f"Please refund order {number}.")["items"][0] for number in range(41)]
    assert [item["disposition"] for item in posted] == ["hold"] * 40 + ["pass"]
    assert all(item["by_budget"] for item in posted[:40])
    page.goto("/queue/")
    rows.filter(has_text="Please refund order").first.click()
    expect(page.get_by_text("Held by the review budget")).to_be_visible()
