"""The filters of the search page, its pages, and whose rows they are."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Membership
from reviews.models import AgentResponse
from reviews.search import indexing, search
from tests.conftest import _agent
from tests.reviews.pages.test_search import found
from tests.tables import table

CALL = {"kind": "tool_call", "name": "deploy", "arguments": {"where": "lagoon", "password": "hunter2secret"}}


@pytest.fixture
def client(as_person: Any, victor: Any) -> Any:
    return as_person(victor)


@pytest.fixture(autouse=True, params=[True, False])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(search, "WALKED", 0)
        monkeypatch.setattr("tests.reviews.pages.test_search.prepare", indexing.sweep)


@pytest.fixture
def three(kuro: Any, aurora: Any) -> list[str]:
    """Three responses that say zebra: of another agent and older, with a tool call, in a session with metadata."""
    old = _agent(aurora, "robin").respond("A zebra, long ago.", items=[])["id"]
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=10))
    call = kuro.respond("Deploying the zebra.", items=[CALL])["id"]
    run = kuro.respond("A zebra run.", items=[], session="s-17", metadata={"run": "R2", "n": 3})["id"]
    return [old, call, run]


@table(
    ("asked", "which"),
    [
        ({"q": "zebra", "kind": "responses"}, [2, 1, 0]),
        ({"q": "zebra", "session": "s-17"}, [2]),
        ({"session": "s-1", "q": "zebra"}, []),
        ({"q": "zebra", "tool": "deploy"}, [1]),
        ({"tool": "Deploy"}, [1]),
        ({"metadata": "run=R2"}, [2]),
        ({"metadata": "run=R"}, []),
        ({"metadata": "n=3", "q": "zebra"}, [2]),
        ({"metadata.run": "R2"}, [2]),
        ({"metadata.run": "R2", "tool": "deploy"}, []),
        ({"q": "run=R2"}, [2]),
        ({"q": "run=r2 zebra"}, [2]),
        ({"q": "zebra", "agent": "kuro", "kind": "responses"}, [2, 1]),
        ({"q": "zebra", "since": 5, "kind": "responses"}, [2, 1]),
        ({"q": "zebra", "until": 5, "kind": "responses"}, [0]),
        ({"q": "zebra", "until": 0, "kind": "responses"}, [2, 1, 0]),  # the last day is whole
        ({"q": "zebra", "since": 10, "until": 10, "kind": "responses"}, [0]),
        ({"q": "lagoon"}, [1]),
        ({"q": "hunter2secret"}, []),
        ({"q": "zebra", "state": "pending"}, []),
    ],
    rolled_back=True,
)
def test_it_finds_what_matches_all_filters(
    client: Any, three: list[str], kuro: Any, asked: dict[str, Any], which: list[int]
) -> None:
    days: dict[str, Any] = {
        name: f"{timezone.now() - timedelta(days=asked[name]):%Y-%m-%d}" for name in ("since", "until") if name in asked
    }
    given: dict[str, Any] = {**asked, **days, **({"agent": kuro.id} if "agent" in asked else {})}
    addresses = found(client, given.pop("q", ""), **given).get("Responses", [])
    assert addresses == [f"/responses/{three[place]}/" for place in which]


@table(
    ("asked", "said"),
    [
        ("since=tomorrow", "Enter a valid date."),
        ("metadata=run", "Write a name and a value: run=R2."),
        ("kind=bogus", "Unknown kind “bogus”"),
        ("state=bogus", "Unknown state “bogus”"),
        ("agent=bogus", "Unknown agent “bogus”"),
    ],
)
def test_what_cannot_be_read_is_told_and_gives_no_file(client: Any, three: Any, asked: str, said: str) -> None:
    page = client.get(f"/search/?q=zebra&{asked}").content.decode()
    assert said in page
    assert "zebra</mark>" in page
    assert client.get(f"/search/export/?q=zebra&{asked}").status_code == 404


def pages(client: Any, address: str) -> list[list[str]]:
    """Follow the pages from one on."""
    seen = []
    while address:
        page = client.get(address).content.decode()
        seen.append(re.findall(r'class="clip" href="/responses/([^"]+)/"', page))
        more = re.search(r'class="btn" rel="next" href="(/search/[^"]+before=[^"]+)"', page)
        address = more[1].replace("&amp;", "&") if more else ""
    return seen


def test_its_pages_follow_each_other_to_the_oldest(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PAGE", 3)
    monkeypatch.setattr(search, "A_STEP", 2)
    every = [kuro.respond(f"A zebra, {number}.", items=[])["id"] for number in range(7)][::-1]
    found(client, "zebra")
    assert pages(client, "/search/?q=zebra&kind=responses") == [every[:3], every[3:6], every[6:]]
    kuro.respond("A zebra, still to be indexed.", items=[])
    assert [len(page) for page in pages(client, "/search/?q=zebra&kind=responses")] == [3, 3, 2]


def test_where_it_stops_early_it_says_so_and_goes_on(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WALKED", 2)
    monkeypatch.setattr(search, "A_STRETCH", 2)
    monkeypatch.setattr(search, "AT_ONCE_SECONDS", -1)
    old = kuro.respond("It => that.", items=[])["id"]
    for _ in range(4):
        kuro.respond("Perhaps.", items=[])
    indexing.sweep()
    page = client.get("/search/?q=%3D%3E&kind=responses").content.decode()
    assert "Searched back to" in page
    assert [each for page in pages(client, "/search/?q=%3D%3E&kind=responses") for each in page] == [old]


def test_somebody_of_two_teams_finds_both_and_a_stranger_none(
    as_person: Any, kuro: Any, other: Any, victor: Any, mallory: Any, borealis: Any, admin_user: Any
) -> None:
    ours = kuro.respond("A zebra.", items=[], metadata={"run": "R2"})["id"]
    theirs = other.respond("A zebra.", items=[], metadata={"run": "R2"})["id"]
    for asked in ({"query": "zebra"}, {"metadata": "run=R2"}, {"kind": "responses"}):
        assert found(as_person(victor), **asked)["Responses"] == [f"/responses/{ours}/"]
        assert found(as_person(mallory), **asked)["Responses"] == [f"/responses/{theirs}/"]
        assert len(found(as_person(admin_user), **asked)["Responses"]) == 2
    Membership.objects.create(user=victor, team=borealis, role="viewer")
    assert len(found(as_person(victor), "zebra")["Responses"]) == 2
    assert b"".join(as_person(mallory).get("/search/export/?q=zebra")).count(b"zebra") == 1
