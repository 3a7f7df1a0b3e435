"""What the command palette asks the server: bounded, and of one's own teams."""

from __future__ import annotations

import re
from typing import Any

from django.urls import reverse

from metacog.models import Agent


def found(client: Any, query: str) -> list[str]:
    page = client.get(reverse("palette"), {"q": query}).content.decode()
    return re.findall(r'data-href="([^"]+)"', page)


def test_it_finds_agents_by_name_items_by_words_and_rows_by_the_beginning_of_their_id(
    alice: Any, as_person: Any, kuro: Any
) -> None:
    held, client = kuro.hold(), as_person(alice)
    assert found(client, "UR") == [f"/agents/{kuro.id}/{page}" for page in ("", "policy/", "context/", "day/")]
    assert found(client, "policy ur") == [f"/agents/{kuro.id}/policy/"]
    assert found(client, "session") == [f"/agents/{kuro.id}/day/"]
    assert found(client, "cache clearly") == [f"/queue/{held}/"]
    assert found(client, held[:20]) == [f"/queue/{held}/"]
    assert found(client, kuro.id) == [f"/agents/{kuro.id}/"]
    for nothing in ("", "  ", "\0", "nowhere"):
        assert found(client, nothing) == []


def test_parts_of_pages_are_found_by_what_stands_there(alice: Any, as_person: Any) -> None:
    page = as_person(alice).get("/queue/").content.decode()
    parts = dict(re.findall(r'<li hidden><a href="([^"]+)"[^>]*>([^<]+)</a>', page))
    assert parts["/queue/?state=decided"] == "Decided items"
    assert "retention" in parts["/team/?tab=data"]
    assert "quiet hours" in parts["/preferences/#devices"]


def test_it_finds_nothing_of_another_team(mallory: Any, as_person: Any, kuro: Any) -> None:
    held, client = kuro.hold(), as_person(mallory)
    for query in ("kuro", "cache", held, kuro.id):
        assert found(client, query) == []


def test_it_asks_as_much_of_many_rows_as_of_one(
    alice: Any, as_person: Any, kuro: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(alice)
    for _ in range(7):
        kuro.hold()
    Agent.objects.create(team=Agent.objects.get().team, name="kuro-2")
    with django_assert_max_num_queries(5):  # two of them are the session's and the person's
        assert len(found(client, "cache")) == 5
