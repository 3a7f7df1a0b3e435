"""What an agent reads next, shown to people."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.urls import reverse

from patterns.models import Lesson, ThoughtThread


@pytest.fixture
def page(as_person: Any, victor: Any, kuro: Any) -> Any:
    """Return a function that reads the page's text as somebody who may only read."""
    client, address = as_person(victor), reverse("agent-context", args=[kuro.id])

    def read() -> str:
        found = re.search(r"<pre[^>]*>(.*)</pre>", client.get(address).content.decode(), re.DOTALL)
        return html.unescape(found[1] if found else "")

    return read


@pytest.fixture
def lesson(aurora: Any) -> Lesson:
    return Lesson.objects.create(team=aurora, public_id="les_1", text="Measure first.", state="active")


def test_it_is_what_the_agent_is_given(page: Any, kuro: Any, lesson: Lesson) -> None:
    kuro.hold()
    shown = page()
    assert "Measure first." in shown
    assert shown == kuro.get("/context", accept="text/plain").content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hant", "zh-hans"])
def test_thousands_are_told_apart_in_every_language(
    as_person: Any, victor: Any, kuro: Any, aurora: Any, translated: None, language: str
) -> None:
    victor.language = language
    victor.save()
    for number in range(3):
        Lesson.objects.create(team=aurora, public_id=f"les_{number}", text="Measure first. " * 30, state="active")
    page = as_person(victor).get(reverse("agent-context", args=[kuro.id])).content.decode()
    assert re.search(r"\b1,\d{3} (characters|個字元|个字符)", page)


def test_to_look_counts_as_nothing(page: Any, kuro: Any, lesson: Lesson) -> None:
    held = kuro.hold()
    kuro.post(f"/held/{held}/decision", {"verdict": "reject", "reason": "Not measured."})
    kuro.post("/extensions", {"reason": "Need TSMC Q3 revenue"})
    for _ in range(2):  # a response behind a look has heard of nothing
        told = page()
        assert "| Not measured." in told
        assert "3 more tool calls" in told
        kuro.respond("Next.")
    kuro.post("/threads", {"title": "How teams decide", "note": "Objection is cheaper."})
    kuro.post("/threads/how-teams-decide/resolve", {})
    assert "is resolved" in page()
    lesson.refresh_from_db()
    assert lesson.given == 0
    assert ThoughtThread.objects.get().article_until == ThoughtThread.ARTICLE_UNREAD


def test_its_cost_does_not_grow_with_what_is_held(
    as_person: Any, victor: Any, kuro: Any, lesson: Lesson, django_assert_num_queries: Any
) -> None:
    client, address = as_person(victor), reverse("agent-context", args=[kuro.id])
    kuro.hold()
    client.get(address)
    for _ in range(3):
        kuro.hold()
        # session, person, agent, state, threads, held, texts, latest, extensions, lessons, problems, what waits, teams
        with django_assert_num_queries(13):
            client.get(address)


def test_a_text_is_shown_as_text_and_its_hidden_characters_as_marks(as_person: Any, victor: Any, kuro: Any) -> None:
    kuro.respond("The cause is clearly the cache.\u200b <b>Bold</b>")
    page = as_person(victor).get(reverse("agent-context", args=[kuro.id])).content.decode()
    assert "&lt;b&gt;Bold&lt;/b&gt;" in page
    assert "U+200B" in page
