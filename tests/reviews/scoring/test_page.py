"""*Repeat assessment* on the page of a response."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.heuristics import ENGINE
from metacog.models import Agent
from reviews.models import AgentResponse

HTMX = {"hx-request": "true"}


@pytest.fixture
def address(kuro: Any) -> str:
    return f"/responses/{kuro.respond(retrieval={'scores': [0.9]})['id']}/"


@pytest.fixture
def client(as_person: Any, victor: Any) -> Any:
    return as_person(victor)


def changed(old: str, new: str) -> None:
    row = AgentResponse.objects.get()
    assert old in row.verdict
    row.verdict = row.verdict.replace(old, new)
    row.save()


def test_it_is_run_where_it_is_asked_for(client: Any, address: str) -> None:
    said = f"Same assessment, byte for byte (engine {ENGINE}, policy 1, 1 pattern of version 1)."
    assert said not in client.get(address).content.decode()
    assert said in client.get(address + "?replay=1").content.decode()
    fragment = client.get(address + "?replay=1", headers=HTMX).content.decode()
    assert said in fragment
    assert "<main" not in fragment


def test_what_differs_is_told_by_its_place(client: Any, address: str) -> None:
    changed('"disposition": "hold"', '"disposition": "<b>hold</b>"')
    changed('"score": 50', '"score": 49')
    page = client.get(address + "?replay=1").content.decode()
    assert "The inputs are the same, but the assessment differs." in page
    assert "Item 1" in page
    assert "&quot;&lt;b&gt;hold&lt;/b&gt;&quot;" in page
    assert "<b>hold" not in page


def test_what_was_not_as_it_was_is_told(client: Any, address: str) -> None:
    Agent.objects.update(language="zh-hant")
    AgentResponse.objects.update(language="")
    page = client.get(address + "?replay=1").content.decode()
    assert "The assessment differs. What changed since:" in page
    assert "The agent&#x27;s language at that time is unknown" in page
    assert "Confidence" in page
    changed(f'"engine": "{ENGINE}"', '"engine": "1.0.9"')
    AgentResponse.objects.update(language="en", engine="1.0.9")
    page = client.get(address + "?replay=1").content.decode()
    assert f"Same assessment, except for the engine version (then engine 1.0.9, now {ENGINE};" in page


def test_an_erased_text_offers_nothing_to_run(client: Any, address: str) -> None:
    AgentResponse.objects.update(erased_at=timezone.now() - timedelta(days=1), body="")
    assert 'name="replay"' not in client.get(address).content.decode()
    assert "the assessment cannot be repeated" in client.get(address + "?replay=1").content.decode()


def test_it_costs_queries_only_where_it_is_asked_for(client: Any, kuro: Any, django_assert_num_queries: Any) -> None:
    address = [f"/responses/{kuro.respond(session='s1')['id']}/" for _ in range(3)][-1]
    client.get(address)
    with django_assert_num_queries(9):
        client.get(address)
    with django_assert_num_queries(12):  # and the texts before, the patterns, the policy
        client.get(address + "?replay=1")


def test_a_stranger_cannot_run_it(as_person: Any, mallory: Any, address: str) -> None:
    assert as_person(mallory).get(address + "?replay=1", headers=HTMX).status_code == 404
