"""What an edit scores while it is being written."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from metacog.accounts import agents
from metacog.models import Agent, AuditEvent, Policy
from reviews.models import Decision, HeldItem
from tests.tables import table

HELD = "The cause is clearly the cache."


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def said(client: Any, held: str, text: str) -> str:
    answer = client.post(f"/queue/{held}/score", {"text": text}, headers={"hx-request": "true"})
    assert answer.status_code == 200
    return str(answer.content.decode())


@table(
    ("text", "expected"),
    [
        ("It is clearly the cache.", "scores 50 and would be held again"),
        ("It is the cache.", "scores 30 and would not be held"),
        ("It is clearly so.", "scores 20 and would not be held"),
        ("It may be so.", "scores 0 and would not be held"),
        ("", "scores 0 and would not be held"),
    ],
    rolled_back=True,
)
def test_it_says_what_the_text_would_score(client: Any, kuro: Any, text: str, expected: str) -> None:
    assert expected in said(client, kuro.hold(), text)


def test_it_shows_the_words_that_are_left(client: Any, kuro: Any) -> None:
    page = said(client, kuro.hold(), "It is clearly so, <b>really</b>.")
    assert "clearly" in page
    assert "cache" not in page
    assert "<b>really" not in page


@table("text", [HELD, HELD + "\r\n"], rolled_back=True)
def test_of_the_text_as_it_was_it_says_nothing(client: Any, kuro: Any, text: str) -> None:
    held = kuro.respond(HELD, items=[{"kind": "chat", "text": text.replace("\r", "")}])["items"][0]["held"]
    assert said(client, held, text) == ""


def test_it_goes_by_the_policy_of_now(client: Any, kuro: Any, olga: Any) -> None:
    held = kuro.hold()
    agents.add_policy(Agent.objects.get(), olga, Policy(hold_at=30), based_on=1)
    assert "scores 30 and would be held again" in said(client, held, "It is the cache.")
    Agent.objects.update(hesitation_enabled=False)
    assert said(client, held, "It is the cache.") == "", "what is not scored cannot be held"


def test_it_says_what_cannot_be_stored(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    assert "has a NUL character" in said(client, held, "a\0b")
    assert "too long: 1 MiB" in said(client, held, "x" * (2**20 + 1))


@table("line", ["漢" * 9 + "\n", "\n"], rolled_back=True)
def test_the_longest_text_that_is_taken_can_be_sent_by_a_form(client: Any, kuro: Any, line: str) -> None:
    text = line * (1_048_576 // len(line.encode()))
    held = kuro.hold()
    form = urlencode({"text": text.replace("\n", "\r\n"), "shown": "x" * 100, "sha256": "x" * 64})
    kind = "application/x-www-form-urlencoded"
    assert client.post(f"/queue/{held}/score", form, content_type=kind).status_code == 200
    longer = urlencode({"text": text + "x" * 10})
    assert "1 MiB at most" in client.post(f"/queue/{held}/score", longer, content_type=kind).content.decode()


def test_it_keeps_nothing(client: Any, kuro: Any, django_assert_max_num_queries: Any) -> None:
    held, events = kuro.hold(), AuditEvent.objects.count()
    said(client, held, "warm")
    # session, person, teams, the item with its response and agent, roles
    with django_assert_max_num_queries(6):
        said(client, held, "It may be so.")
    assert (Decision.objects.count(), AuditEvent.objects.count()) == (0, events)
    assert HeldItem.objects.get().text == HELD


def test_only_who_may_decide_is_told(as_person: Any, victor: Any, mallory: Any, kuro: Any) -> None:
    held = kuro.hold()
    for person, status in ((victor, 403), (mallory, 404)):
        assert as_person(person).post(f"/queue/{held}/score", {"text": "x"}).status_code == status
    assert as_person(victor).get(f"/queue/{held}/score").status_code == 405
