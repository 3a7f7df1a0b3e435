"""An agent's day in lanes, the hours of its week, and the last days in the table of agents."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.held import decisions
from reviews.metrics import daily
from reviews.models import AgentResponse, HeldItem
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def post_at(kuro: Any, at: datetime, session: str, **fields: Any) -> dict[str, Any]:
    verdict: dict[str, Any] = kuro.respond(session=session, **fields)
    AgentResponse.objects.filter(public_id=verdict["id"]).update(received_at=at)
    return verdict


def row_of(page: str, session: str) -> list[str]:
    """Return the cells of a session's row: from, to, posts, held, rejected."""
    (row,) = re.findall(rf'<tr><th scope="row"><a[^>]*>{session}</a>.*?</tr>', page, re.DOTALL)
    return re.findall(r"<td[^>]*>([^<]*)</td>", row)[:5]


def test_each_session_of_the_day_has_a_lane_with_what_was_held(
    client: Any, kuro: Any, alice: Any, settings: Any
) -> None:
    settings.UNDO_SECONDS = 0
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    first = post_at(kuro, noon, "orders")
    decisions.decide(HeldItem.objects.get(public_id=first["items"][0]["held"]), alice, "reject", reason="No.")
    post_at(kuro, noon + timedelta(minutes=90), "orders", response="Fine.", items=[])
    post_at(kuro, noon + timedelta(hours=3), "night")
    post_at(kuro, noon + timedelta(days=1), "tomorrow")
    page = client.get(f"/agents/{kuro.id}/day/?day=2026-11-20").content.decode()
    assert row_of(page, "orders") == ["12:00", "13:30", "2", "1", "1"]
    assert row_of(page, "night") == ["15:00", "15:00", "1", "1", "0"]
    assert "tomorrow" not in page
    assert re.findall(r'<rect class="lane-(\w+)" x="([\d.]+)"', page) == [
        ("bar", "500.0"), ("refused", "500.0"), ("bar", "625.0"), ("pending", "625.0"),
    ]  # fmt: skip
    assert f'href="/sessions/{kuro.id}/?session=orders"' in page
    assert "3 responses in these days, 2 held; most between" in page
    hours = re.findall(r'<td class="num">([^<]*)</td>', page.split('class="hours"')[1])
    assert [(place % 24, cell) for place, cell in enumerate(hours) if cell != "0"] == [
        (12, "1/1"),
        (13, "1"),
        (15, "1/1"),
    ]


@table(
    "zone, at, hour",
    [
        ("UTC", "2026-11-20T23:50:00+00:00", (20, 23)),
        ("Asia/Taipei", "2026-11-20T03:50:00+00:00", (20, 11)),
        ("Asia/Taipei", "2026-11-19T23:50:00+00:00", (20, 7)),
        ("Asia/Kolkata", "2026-11-20T03:50:00+00:00", (20, 9)),
        ("Asia/Kathmandu", "2026-11-20T03:20:00.5+00:00", (20, 9)),
    ],
    rolled_back=True,
)
def test_hours_are_those_of_the_person(
    client: Any, kuro: Any, alice: Any, zone: str, at: str, hour: tuple[int, int]
) -> None:
    alice.time_zone = zone
    alice.save()
    post_at(kuro, datetime.fromisoformat(at), "s")
    page = client.get(f"/agents/{kuro.id}/day/?day=2026-11-20").content.decode()
    hours = re.findall(r'<td class="num">([^<]*)</td>', page.split('class="hours"')[1])
    (place,) = [place for place, cell in enumerate(hours) if cell != "0"]
    assert (14 + place // 24, place % 24) == hour


@table("day", ["", "yesterday", "9999-12-31", "2026-13-01"], rolled_back=True)
def test_a_day_that_is_none_is_the_last_on_which_the_agent_posted(client: Any, kuro: Any, day: str) -> None:
    assert "Nothing was posted on this day" in client.get(f"/agents/{kuro.id}/day/?day={day}").content.decode()
    post_at(kuro, datetime(2026, 5, 3, 8, tzinfo=UTC), "s")
    assert 'value="2026-05-03"' in client.get(f"/agents/{kuro.id}/day/?day={day}").content.decode()


def test_the_table_of_agents_draws_the_last_days_by_effect_too(client: Any, kuro: Any) -> None:
    kuro.respond()
    kuro.respond(
        "I clean up.", items=[{"kind": "tool_call", "name": "shell", "arguments": {"command": "rm -r /srv/x"}}]
    )
    assert "The last 14 days have not been counted yet." in client.get("/agents/").text
    daily.count_days(timezone.now())
    page = client.get("/agents/").content.decode()
    assert "not been counted" not in page
    assert re.findall(r"<span>(\d+ [^<]+)</span></span>", page) == ["2 responses", "2 held", "0 rejected", "1 delete"]
    assert page.count("<polyline") == 4
    rows = re.findall(r"<tr><th scope=\"row\">kuro</th>(.*?)</tr>", page, re.DOTALL)
    assert [re.findall(r'<td class="num">(\d+)</td>', row)[-1] for row in rows] == ["2", "2", "0", "1"]
