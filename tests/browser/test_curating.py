"""A curator's day in a real browser, with the mouse alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from metacog.models import Team
from patterns.models import ErrorPattern, Lesson
from reviews.models import AgentResponse, PatternOrigin, PossibleCorrection
from tests.browser import axe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_curators_day(open_page: Any, carla: Any, aurora: Team, kuro: Any, tmp_path: Path) -> None:
    for _ in range(2):
        kuro.respond("It will arrive in 30 days, I think.", items=[])
    response, reply = AgentResponse.objects.order_by("pk")
    PossibleCorrection.objects.create(
        response=reply, before=response, agent=response.agent, confidence=0.5, place=0.1, counts=False, is_likely=True
    )
    for number, keyword in enumerate(("in 30 days", "arrive in 30 days", "so they say")):
        made = ErrorPattern.objects.create(team=aurora, keywords=[keyword], description=keyword, state="proposed")
        if number < 2:
            PatternOrigin.objects.create(pattern=made, kind="correction", row=f"r{number}", response=response)
    Lesson.objects.create(team=aurora, text="Measure first.", evidence={"count": 3})
    page = open_page(carla)
    page.goto("/queue/")
    page.get_by_role("link", name="To do").click()
    page.get_by_role("heading", name="Proposed patterns").wait_for()
    assert axe.faults(page) == []
    expect(page.locator("#to-do-count")).to_have_text("5 pending")
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.locator("#to-do-count")).to_have_text("4 pending")
    expect(page.locator(".left-corrections")).to_have_text(["0", "0"])
    page.get_by_text("Merged with 1 similar proposal").click()
    page.get_by_role("button", name="Split pattern").wait_for()
    page.locator("#proposals").locator("xpath=ancestor::section").get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Accept to shadow").click()
    page.locator(".message", has_text="2 proposals are in shadow now.").wait_for()
    shadow = ErrorPattern.objects.filter(state="shadow").order_by("pk").values_list("keywords", flat=True)
    assert list(shadow) == [["in 30 days", "arrive in 30 days"], ["so they say"]]
    page.get_by_role("checkbox", name="Measure first.").check()
    page.get_by_role("button", name="Confirm selected").click()
    page.get_by_role("heading", name="Nothing to do").wait_for()
    good = {
        "id": "ep-1", "keywords": ["it must be DNS"], "description": "guessed", "source": "external",
        "createdAt": "2026-02-16T08:00:00Z", "triggerCount": 0,
    }  # fmt: skip
    file = tmp_path / "patterns.json"
    file.write_text(json.dumps([good, good | {"id": "ep-2", "keywords": []}], indent=1), encoding="utf-8")
    page.goto("/patterns/?state=shadow")
    page.get_by_role("link", name="Import").click()
    page.get_by_label("File").set_input_files(str(file))
    page.get_by_role("button", name="Show preview").click()
    page.get_by_text("Give at least one keyword or phrase.").wait_for()
    assert axe.faults(page) == []
    page.get_by_role("button", name="Confirm import").click()
    page.locator(".message", has_text="Imported: 1 added, 0 changed. 1 entry was skipped.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    exported = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert [each["id"] for each in exported] == ["ep-1"]
