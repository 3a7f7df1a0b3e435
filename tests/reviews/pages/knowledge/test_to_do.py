"""The page "To do": it counts and offers what a person's role may decide, and what is decided leads back to it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.models import Agent, AgentState
from patterns.models import ErrorPattern, Lesson, Memory, MemoryConflict, ThoughtThread, ThreadSuggestion
from patterns.threads import suggestions
from patterns.threads.threads import changes
from reviews.held.counts import TO_DO, to_do
from reviews.models import AgentResponse, PossibleCorrection, Sample
from tests.tables import table

PAGE = "/to-do/"


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


@pytest.fixture
def waiting(aurora: Any, kuro: Any) -> None:
    """One of each kind waits."""
    agent = Agent.objects.get(public_id=kuro.id)
    for text in ("It rains.", "It rains no more."):
        kuro.respond(text, items=[])
    first, second = AgentResponse.objects.order_by("pk")
    Sample.objects.create(response=first, agent=agent, day=timezone.now().date())
    PossibleCorrection.objects.create(
        response=second, before=first, agent=agent, confidence=0.5, place=0.1, counts=False, is_likely=True
    )
    ErrorPattern.objects.create(team=aurora, keywords=["thirty days"], description="Fourteen.", state="proposed")
    Lesson.objects.create(team=aurora, text="Measure first.", evidence={"count": 3})
    old, new = (
        Memory.objects.create(team=aurora, text=text, sha256=text, state=state)
        for text, state in (("Tea is hot.", "confirmed"), ("Tea is cold.", "pending"))
    )
    MemoryConflict.objects.create(older=old, newer=new, kind="antonym", confidence=0.9)
    ThreadSuggestion.objects.create(agent=agent, topic="the tide", cycles=3)
    ThoughtThread.objects.create(agent=agent, slug="dew", title="Dew", state="resolved", has_draft=True)


@table(
    ("name", "count", "shown", "hidden"),
    [
        ("victor", 0, ["Nothing to do", "Viewers can only read."], ["Fourteen.", "It rains."]),
        ("alice", 2, ["Spot checks 1", "Possible corrections 1"], ["Fourteen.", "Measure first.", "the tide"]),
        (
            "carla",
            7,
            [
                "Spot checks 1", "Proposed patterns 1", "Proposed lessons 1", "Memory conflicts 1",
                "Suggested threads 1", "Journal drafts 1", "Fourteen.", "Measure first.", "the tide", "Dew",
            ],
            ["Pending memories"],  # the one there is contradicts another: one task, not two
        ),
        ("mallory", 0, ["Nothing to do"], ["Fourteen."]),
    ],
)  # fmt: skip
def test_it_counts_and_shows_what_the_role_may_decide(
    request: pytest.FixtureRequest, waiting: None, as_person: Any, name: str, count: int, shown: list[str],
    hidden: list[str],
) -> None:  # fmt: skip
    person = request.getfixturevalue(name)
    assert to_do(person)["to_do"] == count
    page = re.sub(r"<[^>]+>", " ", words(as_person(person).get(PAGE)))
    page = re.sub(r"\s+", " ", page)
    assert [text for text in shown if text not in page] == []
    assert [text for text in hidden if text in page] == []


def test_a_superuser_decides_in_every_team(waiting: None, carla: Any) -> None:
    carla.memberships.all().delete()
    carla.is_superuser = True
    carla.save()
    assert to_do(carla)["to_do"] == 7


def test_what_is_decided_there_leads_back_to_it(waiting: None, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    memory, conflict = Memory.objects.get(state="pending"), MemoryConflict.objects.get()
    pattern, lesson = ErrorPattern.objects.get(state="proposed"), Lesson.objects.get()
    agent, draft = Agent.objects.get(), ThoughtThread.objects.get()
    for name, arguments, data in (
        ("patterns-decide", [], {"pk": pattern.pk, "step": "try"}),
        ("lessons-many", [], {"pk": lesson.public_id, "step": "confirm"}),
        ("memory-settle", [conflict.pk], {"outcome": "newer"}),
        ("suggestion-dismiss", [agent.public_id], {"topic": "the tide"}),
        ("draft-done", [draft.public_id], {}),
    ):
        answer = client.post(reverse(name, args=arguments), data | {"back": "to-do"})
        assert (answer.status_code, answer.url) == (302, PAGE), name
    memory.refresh_from_db()
    assert memory.state == "confirmed"
    left = to_do(carla)
    assert [name for name in TO_DO[3:] if left.get(name)] == []
    assert "Nothing was dismissed" in words(
        client.post(reverse("suggestion-dismiss", args=[agent.public_id]), {"topic": "the ebb"}, follow=True)
    )


@table(
    ("name", "address"),
    [(name, address) for name in ("alice", "mallory") for address in ("suggestion-dismiss", "draft-done")],
)
def test_only_a_curator_of_the_team_decides(
    request: pytest.FixtureRequest, waiting: None, as_person: Any, name: str, address: str
) -> None:
    row = Agent.objects.get() if address == "suggestion-dismiss" else ThoughtThread.objects.get()
    client = as_person(request.getfixturevalue(name))
    answer = client.post(reverse(address, args=[row.public_id]), {"topic": "the tide"})
    assert answer.status_code == (403 if name == "alice" else 404)


def test_a_suggestion_goes_with_its_topic_or_once_there_is_a_thread(kuro: Any, carla: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)

    def cycles(topic: str) -> None:
        AgentState.objects.filter(pk=agent.pk).update(cycles=[[number, [topic]] for number in range(3)])
        suggestions.refresh(agent)

    cycles("tides")
    suggestion = ThreadSuggestion.objects.get()
    assert suggestions.dismiss(suggestion, carla)
    cycles("tides")
    assert ThreadSuggestion.objects.get().is_dismissed
    cycles("storms")
    assert not ThreadSuggestion.objects.get().is_dismissed
    with changes(agent, carla, "Storms") as made:
        made.create("Storms")
    assert not ThreadSuggestion.objects.exists()
    suggestions.refresh(agent)
    assert not ThreadSuggestion.objects.exists(), "there is a thread"


def test_a_resolved_thread_leaves_a_draft(kuro: Any, carla: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    with changes(agent, carla, "Dew") as made:
        made.create("Dew")
    with changes(agent, carla, "Dew") as made:
        made.step("dew", "resolve")
    assert to_do(carla)["drafts"] == 1


def test_it_costs_the_same_number_of_queries_however_much_there_is(
    waiting: None, aurora: Any, carla: Any, as_person: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(carla)
    for number in range(12):
        ErrorPattern.objects.create(team=aurora, keywords=[f"{number} years"], description="d", state="proposed")
        Lesson.objects.create(team=aurora, text=f"Lesson {number}.", evidence={"count": 3})
        Memory.objects.create(team=aurora, text=f"It was {number}.", sha256=str(number))
    client.get(PAGE)
    with django_assert_max_num_queries(29):
        assert client.get(PAGE).status_code == 200
