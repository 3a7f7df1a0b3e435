"""Many agents: their list is read a page at a time, and other pages let one be found by its name."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.urls import reverse

from metacog.accounts import agents
from metacog.models import Agent, Membership
from metacog.pages import agent_choice
from metacog.pages import agents as agent_views
from tests.tables import table

LIST = "/agents/"


@pytest.fixture
def client(as_person: Any, olga: Any) -> Any:
    return as_person(olga)


@pytest.fixture
def scouts(aurora: Any) -> list[Agent]:
    return [agents.create_agent(aurora, f"scout-{number}", None)[0] for number in range(5)]


@pytest.fixture
def few_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_choice, "MOST", 3)


def listed(client: Any, address: str = LIST) -> list[str]:
    return re.findall(r"<b>([^<]+)</b></a></td>", client.get(address).content.decode())


def test_its_pages_follow_each_other_by_team_and_name(
    client: Any, olga: Any, borealis: Any, scouts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Membership.objects.create(user=olga, team=borealis, role="viewer")
    for name in ("anton", "zora"):  # by name alone the one would be first, and the other not last
        agents.create_agent(borealis, name, None)
    monkeypatch.setattr(agent_views, "PAGE", 3)
    seen, address = [], LIST
    while address:
        page = client.get(address).content.decode()
        seen.append(re.findall(r"<b>([^<]+)</b></a></td>", page))
        assert ("Back to the first page" in page) == (address != LIST)
        more = re.search(r'rel="next" href="([^"]+)"', page)
        address = more[1].replace("&amp;", "&") if more else ""
    assert seen == [["scout-0", "scout-1", "scout-2"], ["scout-3", "scout-4", "anton"], ["zora"]]


def test_a_part_of_a_name_finds_agents_and_stays_asked_on_the_next_page(
    client: Any, kuro: Any, scouts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_views, "PAGE", 4)
    page = client.get(LIST, {"q": "SCOUT-"}).content.decode()
    assert listed(client, f"{LIST}?q=SCOUT-") == ["scout-0", "scout-1", "scout-2", "scout-3"]
    address = re.search(r'rel="next" href="([^"]+)"', page)[1].replace("&amp;", "&")
    assert listed(client, address) == ["scout-4"]
    assert "No agent matches" in client.get(LIST, {"q": "%"}).content.decode()


def test_nothing_is_to_be_searched_where_all_are_seen(client: Any, scouts: Any) -> None:
    assert 'type="search" name="q"' not in client.get(LIST).content.decode()


@table("asked", [{"after": "agt_nobody"}, {"q": "%20"}, {"to": "sign-out"}], rolled_back=True)
def test_what_names_nothing_is_passed_over(client: Any, scouts: Any, asked: dict[str, str]) -> None:
    assert len(listed(client, f"{LIST}?{'&'.join(f'{name}={value}' for name, value in asked.items())}")) == 5


def test_no_place_in_the_list_of_another_team_is_known(client: Any, scouts: Any, other: Any) -> None:
    assert len(listed(client, f"{LIST}?after={other.id}")) == 5


@table("name", agent_choice.PAGES, rolled_back=True)
def test_a_page_names_few_agents_and_lets_one_be_found_among_many(
    client: Any, scouts: list[Agent], few_fit: None, name: str
) -> None:
    page = client.get(reverse(name)).content.decode()
    assert sum(f"agent={each.public_id}" in page or f'value="{each.public_id}"' in page for each in scouts) <= 1
    assert f'<input type="hidden" name="to" value="{name}">' in page
    chosen = client.get(LIST, {"to": name, "q": "Scout-3"}, follow=True)
    assert chosen.redirect_chain == [(f"{reverse(name)}?agent={scouts[3].public_id}", 302)]
    assert re.search(r'type="search"[^>]*value="scout-3"', chosen.content.decode())


@table("name", ["queue", "responses", "deliveries", "statistics"], rolled_back=True)
def test_another_filter_leaves_the_agent_that_was_found(
    client: Any, scouts: list[Agent], few_fit: None, name: str
) -> None:
    page = client.get(reverse(name), {"agent": scouts[3].public_id}).content.decode()
    assert f'<input type="hidden" name="agent" value="{scouts[3].public_id}">' in page


FILTERS = {
    "queue": "state=decided&kind=chat&signal=no-hedge&by=person",
    "responses": "show=held",
    "deliveries": "state=given-up",
    "statistics": "days=90",
    "audit": "action=chat-held&actor=person&since=2026-01-02",
}


@pytest.mark.parametrize("name", FILTERS)
def test_the_agent_that_is_found_leaves_the_other_filters(
    client: Any, scouts: list[Agent], few_fit: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(agent_views, "PAGE", 3)
    filters = dict(parse_qsl(FILTERS[name]))
    # What the page's form hands on is what the list of agents is asked for.
    page = client.get(reverse(name), filters | {"agent": scouts[0].public_id, "after": "x"}).content.decode()
    form = re.search(r'<form[^>]*action="/agents/"(.*?)</form>', page)
    asked = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form[1]))
    assert asked == {"to": name} | filters
    there = reverse(name)
    assert client.get(LIST, asked | {"q": "scout-3"}).url == f"{there}?{FILTERS[name]}&agent={scouts[3].public_id}"
    assert client.get(LIST, asked | {"q": ""}).url == f"{there}?{FILTERS[name]}"
    several = html.unescape(client.get(LIST, asked | {"q": "scout"}).content.decode())
    assert f'href="{there}?{FILTERS[name]}&agent={scouts[2].public_id}"' in several
    more = re.search(r'rel="next" href="([^"]+)"', several)
    assert f'href="{there}?{FILTERS[name]}&agent={scouts[4].public_id}"' in html.unescape(
        client.get(more[1]).content.decode()
    )


def test_no_other_word_of_an_address_is_handed_on(client: Any, scouts: list[Agent]) -> None:
    asked = {"to": "statistics", "q": "scout-3", "days": "7", "kind": "chat", "next": "//evil.example"}
    answer = client.get(LIST, asked)
    assert answer.url == f"/statistics/?days=7&agent={scouts[3].public_id}"


@pytest.mark.parametrize("has_second_team", [False, True])
def test_the_team_stands_by_a_response_where_many_agents_are_of_several(
    client: Any, olga: Any, borealis: Any, kuro: Any, scouts: Any, other: Any, few_fit: None, has_second_team: bool
) -> None:
    kuro.respond()
    if has_second_team:
        Membership.objects.create(user=olga, team=borealis, role="viewer")
    assert ('<span class="quiet">Aurora</span>' in client.get("/responses/").content.decode()) == has_second_team


@table("name", agent_choice.PAGES, rolled_back=True)
def test_a_page_names_all_of_a_few_agents(client: Any, scouts: list[Agent], name: str) -> None:
    page = client.get(reverse(name)).content.decode()
    assert all(f"agent={each.public_id}" in page or f'value="{each.public_id}"' in page for each in scouts)
    assert 'name="to"' not in page


def test_several_that_may_be_meant_are_listed_with_the_way_back(client: Any, scouts: list[Agent]) -> None:
    page = client.get(LIST, {"to": "lessons", "q": "scout"}).content.decode()
    assert "Choose one." in page
    assert f'href="/lessons/?agent={scouts[2].public_id}"' in page


def test_whose_whole_name_it_is_is_meant(client: Any, scouts: list[Agent], aurora: Any) -> None:
    agents.create_agent(aurora, "scout-10", None)
    answer = client.get(LIST, {"to": "queue", "q": "scout-1"})
    assert answer.url == f"/queue/?agent={scouts[1].public_id}"


def test_agents_of_one_name_in_two_teams_are_both_listed(client: Any, olga: Any, borealis: Any, scouts: Any) -> None:
    Membership.objects.create(user=olga, team=borealis, role="viewer")
    agents.create_agent(borealis, "scout-1", None)
    assert listed(client, f"{LIST}?to=queue&q=scout-1") == ["scout-1", "scout-1"]


def test_who_takes_the_name_out_sees_all_again(client: Any, scouts: Any) -> None:
    assert client.get(LIST, {"to": "queue", "q": ""}).url == "/queue/"


def test_no_agent_of_another_team_is_meant(client: Any, scouts: Any, other: Any) -> None:
    assert "No agent matches" in client.get(LIST, {"to": "queue", "q": "other"}).content.decode()


def test_a_lesson_is_written_for_the_agent_that_was_found(client: Any, scouts: list[Agent], few_fit: None) -> None:
    page = client.get("/lessons/", {"agent": scouts[3].public_id}).content.decode()
    assert f'<option value="{scouts[3].public_id}" selected>scout-3</option>' in page
    client.post("/lessons/new", {"whose": scouts[3].public_id, "text": "Measure first.", "topics": ""})
    assert [lesson.text for lesson in scouts[3].lessons.all()] == ["Measure first."]
