"""What became of approved calls, on the Statistics page and in its files; "never reported" after a day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.metrics import daily
from reviews.models import HeldItem
from tests.reviews.api.test_tool_calls import by_person, held_by

pytestmark = pytest.mark.usefixtures("undo_at_once")

FATES = {"done": 2, "failed": 1, "skipped": 1, None: 3}


@pytest.fixture
def reported(kuro: Any, alice: Any) -> list[str]:
    """Seven approved calls: of three the agent reports nothing, and one of those was approved just now."""
    held = [held_by(kuro, arguments={"eur": number}) for number in range(8)]
    for each in held[:7]:
        by_person(alice, each, "approve")
    by_person(alice, held[7], "reject")
    statuses = [status for status, times in FATES.items() for _ in range(times)]
    for each, status in zip(held, statuses, strict=False):
        if status:
            kuro.post(f"/held/{each}/outcome", {"status": status, "detail": "exit 3 with mck_" + "a" * 40})
    HeldItem.objects.filter(public_id__in=held[4:6]).update(closed_at=timezone.now() - timedelta(hours=25))
    HeldItem.objects.filter(public_id=held[6]).update(closed_at=timezone.now() - timedelta(hours=23))
    daily.count_days(timezone.now())
    return held


def test_statistics_say_what_failed_and_what_was_never_reported(
    as_person: Any, alice: Any, reported: list[str]
) -> None:
    client = as_person(alice)
    page = client.get("/statistics/").content.decode()
    assert "7 approved calls: 1 failed, 2 never reported." in page
    [row] = client.get("/statistics/data/outcomes.json").json()["rows"]
    counts = {name: row[name] for name in ("approved", "done", "failed", "skipped", "never_reported", "open")}
    assert counts == {"approved": 7, "done": 2, "failed": 1, "skipped": 1, "never_reported": 2, "open": 1}
    assert "never_reported" in client.get("/statistics/data/outcomes.csv").content.decode()


def test_decided_items_say_what_became_of_them(as_person: Any, alice: Any, reported: list[str]) -> None:
    client = as_person(alice)
    rows = client.get("/queue/?state=decided").content.decode()
    assert rows.count("outcome never reported") == 2
    assert rows.count("outcome not reported yet") == 1
    assert rows.count(">ran <time") == 2
    assert "mck_aaaa" not in rows
    for held, words in [(reported[0], ">ran <time"), (reported[2], ">failed <time"), (reported[4], ">outcome never")]:
        assert words in client.get(f"/queue/{held}/").content.decode()
    assert "reported" not in client.get(f"/queue/{reported[7]}/").content.decode().split('id="standing"')[1][:2000]
    file = b"".join(client.get("/queue/export?state=decided&format=jsonl"))
    assert file.count(b'"never_reported": true') == 2
