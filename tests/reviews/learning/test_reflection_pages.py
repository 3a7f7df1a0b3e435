"""The pages about reflections: what was seen, the day's error review, and the button."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from metacog.models import Agent, AuditEvent
from reviews.learning import reflections
from reviews.metrics import daily
from reviews.models import AgentResponse, DailyFigure, Reflection
from tests.tables import table

pytestmark = pytest.mark.django_db


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


@pytest.fixture
def agent(kuro: Any) -> Agent:
    return Agent.objects.select_related("team").get(public_id=kuro.id)


def play(kuro: Any) -> None:
    for _ in range(3):
        kuro.respond("Run the script.", user_message="And the deploy?", topics=["deploys"], session="s", items=[])
        kuro.respond(
            "Sorry.", user_message="You forgot the rollback plan! <i>", topics=["deploys"], session="s", items=[]
        )
        kuro.respond("x", topics=["tax"], retrieval={"scores": [0.1]}, items=[])
    kuro.hold()


@pytest.fixture
def made(kuro: Any, agent: Agent) -> Reflection:
    """A reflection on yesterday."""
    play(kuro)
    midnight = datetime.combine(timezone.now().date(), time(), UTC)
    AgentResponse.objects.update(received_at=midnight - timedelta(hours=5))
    row = reflections.reflect(agent, midnight, day=(midnight - timedelta(days=1)).date())
    assert row is not None
    daily.recount(agent, (midnight - timedelta(days=1)).date())
    return row


def test_the_list_says_what_each_saw(made: Reflection, victor: Any, as_person: Any) -> None:
    page = words(as_person(victor).get("/reflections/"))
    assert reverse("reflection", args=[made.public_id]) in page
    assert "deploys" in page
    assert "Too few to tell" in page
    assert "Reflect on kuro now" not in page, "a viewer reads"


def test_one_shows_all_of_it_with_the_error_review_of_its_day(made: Reflection, victor: Any, as_person: Any) -> None:
    page = words(as_person(victor).get(reverse("reflection", args=[made.public_id])))
    order = [
        "When asked about deploys, also mention rollback plan.", "Error review of", "1 of 10", "Error pattern",
        "Too few to tell", "deploys", "You forgot the rollback plan!", "tax", "Held",
    ]  # fmt: skip
    places = [page.index(text) for text in order]
    assert places[:2] == sorted(places[:2])
    assert "<i>" not in page.replace("meta<i>", "")


def test_what_became_of_it_stands_in_one_order(made: Reflection, victor: Any, as_person: Any) -> None:
    made.figures["held"] = {"withdrawn": 6, "approved": 26, "pending": 5, "edited": 4, "rejected": 8}
    made.save(update_fields=["figures"])
    page = words(as_person(victor).get(reverse("reflection", args=[made.public_id])))
    told = page.partition(">Outcome<")[2].partition("</dl>")[0]
    assert re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", told) == [
        ("Held", "5"), ("Approved", "26"), ("Approved with edits", "4"), ("Rejected", "8"), ("Withdrawn", "6"),
    ]  # fmt: skip


def test_what_is_better_is_told_with_an_interval_above_nought(made: Reflection, victor: Any, as_person: Any) -> None:
    halves = {"older": {"passed": 80, "judged": 100}, "newer": {"passed": 91, "judged": 100}}
    made.figures["trend"] |= halves | {"says": "better", "low": 0.0041, "high": 0.2}
    made.save()
    page = words(as_person(victor).get(reverse("reflection", args=[made.public_id])))
    assert "Difference in points, 95% CI +0.4 … +20.0" in page


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_its_days_are_of_utc_wherever_it_is_read(made: Reflection, victor: Any, as_person: Any, zone: str) -> None:
    type(victor).objects.update(time_zone=zone)
    days = (date_format(day, "MONTH_DAY_FORMAT") for day in (made.since.date(), made.until.date() - timedelta(days=1)))
    page = words(as_person(victor).get(reverse("reflection", args=[made.public_id])))
    assert f"{' to '.join(days)}: 10 responses" in page


@table(
    ("language", "day", "days", "hour"),
    [
        ("en", "Jan 2, 2026", ("Dec 27", "Jan 2"), "Jan 3, 2026 15:04"),
        ("zh-hant", "2026年1月2日", ("12月27日", "1月2日"), "2026年1月3日 15:04"),
        ("zh-hans", "2026年1月2日", ("12月27日", "1月2日"), "2026年1月3日 15:04"),
    ],
    rolled_back=True,
)
def test_days_are_written_one_way_in_each_language(
    made: Reflection, victor: Any, as_person: Any, language: str, day: str, days: tuple[str, str], hour: str
) -> None:
    type(victor).objects.update(language=language, time_zone="UTC")
    made.since, made.until = datetime(2025, 12, 27, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    made.day = made.until.date() - timedelta(days=1)
    made.save()
    client = as_person(victor)
    page = words(client.get(reverse("reflection", args=[made.public_id])))
    assert all(each in page for each in (day, *days))
    assert f">{day}</a>" in words(client.get("/reflections/"))
    made.day, made.until = None, made.until + timedelta(hours=15, minutes=4)  # one that was asked for
    made.save()
    assert f">{hour}</a>" in words(client.get("/reflections/"))


def test_the_error_review_tells_all_that_was_held(made: Reflection, agent: Agent, victor: Any, as_person: Any) -> None:
    figures_of = DailyFigure.objects.filter(agent=agent)
    figures_of.update(held=15, rejected=1, withdrawn=2, edited=4, approved=5, expired=2, pending=1)
    page = words(as_person(victor).get(reverse("reflection", args=[made.public_id])))
    assert "<b>3</b>or withdrawn" in page
    assert "<b>9</b>or approved with edits, of 15 held that day; 2 expired, 1 pending" in page


def test_a_curator_has_it_reflect_now_as_often_as_they_like(
    kuro: Any, agent: Agent, carla: Any, as_person: Any
) -> None:
    play(kuro)
    client = as_person(carla)
    for _ in range(2):
        answer = client.post(reverse("reflect-now", args=[kuro.id]))
        assert answer.status_code == 302
    assert list(Reflection.objects.values_list("day", "person__username", "responses")) == [(None, "carla", 10)] * 2
    assert AuditEvent.objects.filter(action="meta:reflection", actor="carla").count() == 2
    assert "requested by" in words(client.get(answer.url))


def test_a_strangers_is_not_there(made: Reflection, kuro: Any, mallory: Any, as_person: Any) -> None:
    client = as_person(mallory)
    assert client.get(reverse("reflection", args=[made.public_id])).status_code == 404
    for query in ({}, {"agent": kuro.id}):
        assert "kuro" not in words(client.get("/reflections/", query))


def test_without_agents_and_before_the_first_it_says_so(alice: Any, as_person: Any, request: Any) -> None:
    client = as_person(alice)
    assert "No agents yet" in words(client.get("/reflections/"))
    request.getfixturevalue("kuro")
    assert "No reflection yet" in words(client.get("/reflections/"))


def test_what_was_erased_is_told(made: Reflection, olga: Any, aurora: Any, as_person: Any) -> None:
    from metacog.accounts.retention import set_retention
    from reviews import retention

    set_retention(aurora, 1, olga)
    Reflection.objects.update(until=timezone.now() - timedelta(days=3), since=timezone.now() - timedelta(days=10))
    retention.erase()
    page = words(as_person(olga).get(reverse("reflection", args=[made.public_id])))
    assert "Counts are kept." in page
    assert "You forgot" not in page


def test_the_queries_of_both_pages_do_not_grow(made: Reflection, agent: Agent, victor: Any, as_person: Any) -> None:
    client = as_person(victor)
    counted: dict[str, set[int]] = {}
    for _ in range(3):
        reflections.reflect(agent, timezone.now())
        for path in ("/reflections/", reverse("reflection", args=[made.public_id])):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200
            counted.setdefault(path, set()).add(len(queries))
    assert all(len(numbers) == 1 for numbers in counted.values()), counted
