"""Search in the header: what is found of each kind, within which bounds, and by whom."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django.utils.html import strip_tags

from metacog.models import Agent, Team
from patterns.lessons import lessons
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread
from reviews.models import AgentResponse, HeldItem
from reviews.search import indexing, search
from tests.conftest import HELD
from tests.patterns.api.test_problems import get_stuck
from tests.tables import table


@pytest.fixture
def client(as_person: Any, victor: Any) -> Any:
    return as_person(victor)


@pytest.fixture(autouse=True, params=["as it is", "by the index"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have what was posted read as it is, or by the index alone."""
    if request.param == "by the index":
        monkeypatch.setattr(search, "WALKED", 0)
        monkeypatch.setattr("tests.reviews.pages.test_search.prepare", indexing.sweep)
    return str(request.param)


def prepare() -> None:
    """Stand for what `way` makes of it."""


def found(client: Any, query: str = "", **filters: str) -> dict[str, list[str]]:
    """Return the addresses of what was found, by kind."""
    prepare()
    return of_page(client.get("/search/", {"q": query, **filters}).content.decode())


def of_page(page: str) -> dict[str, list[str]]:
    groups = re.findall(r'<h2 id="g\d+">([^<]+)</h2>(.*?)</section>', page, re.S)
    return {title: re.findall(r'class="clip" href="([^"]+)"', rows) for title, rows in groups}


@pytest.fixture
def everything(kuro: Any, aurora: Any, carla: Any) -> dict[str, list[str]]:
    """One row of each kind that holds the word zebra."""
    verdict = kuro.respond("Clearly the ZEBRA cache.", items=[{"kind": "chat", "text": "Clearly the ZEBRA cache."}])
    kuro.post("/threads", {"title": "Of zebras", "note": "x"})
    kuro.post("/memory", {"text": "A zebra has stripes.", "topic": "animals", "source": "run 1"})
    lessons.write(aurora, Agent.objects.get(), "Count the zebra first.", [], carla)
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["斑馬", "zebra crossing"], description="d")
    problem = Problem.objects.create(agent=Agent.objects.get(), key="zebra-17", state={})
    Agent.objects.update(name="zebra")
    return {
        "Held": [f"/queue/{verdict['items'][0]['held']}/"],
        "Responses": [f"/responses/{verdict['id']}/"],
        "Problems": [f"/stuck/{problem.public_id}/"],
        "Patterns": [f"/patterns/{pattern.pk}/"],
        "Threads": [f"/threads/{ThoughtThread.objects.get().public_id}/"],
        "Memory": [f"/memory/{Memory.objects.get().public_id}/"],
        "Lessons": [f"/lessons/{Lesson.objects.get().public_id}/"],
        "Agents": [f"/agents/{Agent.objects.get().public_id}/"],
    }


def test_a_word_finds_each_kind(client: Any, everything: Any) -> None:
    assert found(client, "Zebra") == everything
    assert found(client, "zebra stripes") == {"Memory": everything["Memory"]}
    assert found(client, "斑馬") == {"Patterns": everything["Patterns"]}
    assert found(client, "giraffe") == found(client, "  ") == found(client, "\0") == {}


def test_what_is_shown_begins_shortly_before_the_first_word(client: Any, kuro: Any) -> None:
    kuro.respond("a" * 200 + " zebra " + "z" * 300, items=[])
    page = client.get("/search/", {"q": "zebra"}).content.decode()
    assert re.search(r">…a{39} zebra z{114}…<", re.sub(r"</?mark>", "", page))


def test_only_the_beginning_of_a_long_query_is_looked_for(client: Any, kuro: Any) -> None:
    asked = "zebra " + "x" * search.MAX_QUERY
    kuro.respond(asked[: search.MAX_QUERY], items=[])
    assert found(client, asked)["Responses"]


def test_a_stranger_finds_nothing(as_person: Any, mallory: Any, everything: Any) -> None:
    client = as_person(mallory)
    assert found(client, "zebra") == {}
    for address in [address for addresses in everything.values() for address in addresses]:
        identifier = address.strip("/").rpartition("/")[2]
        assert client.get("/search/", {"q": identifier}).status_code == 200
        assert found(client, identifier) == {}


def test_an_id_leads_to_its_page_and_its_beginning_to_a_list(client: Any, everything: Any) -> None:
    for title, [address] in everything.items():
        identifier = address.strip("/").rpartition("/")[2]
        if title == "Patterns":
            identifier = ErrorPattern.objects.get(pk=identifier).public_id
        answer = client.get("/search/", {"q": identifier})
        assert (answer.status_code, answer.headers.get("location")) == (302, address)
        assert address in found(client, identifier[:-3])[title]
    assert found(client, "held_") == {"Held": everything["Held"]}
    assert found(client, "held_zzz") == {}


@table(
    ("text", "query"),
    [
        ("快取壞了，一定是網路。", "網路"),
        ("L’ÉCOLE est finie", "école"),
        ('She said "don\'t"', '"DON\'T"'),
        ("a/b\\c", "a/b\\C"),
        ("tab\there", "here"),
    ],
)
@table("in_ascii", [True, False], rolled_back=True)
def test_words_are_found_however_the_body_writes_them(
    client: Any, kuro: Any, text: str, query: str, in_ascii: bool
) -> None:
    kuro.post("/responses", json.dumps({"response": text, "items": []}, ensure_ascii=in_ascii))
    assert len(found(client, query)["Responses"]) == 1


@table(
    ("stored", "query", "marked"),
    [
        ("沒有別的可能，", "别的可能", ["別的可能"]),
        ("没有别的可能，", "別的可能", ["别的可能"]),
        ("請看ＡＰＩ閘道。", "API 閘道", ["ＡＰＩ", "閘道"]),
        ("請看API 閘道。", "ＡＰＩ　閘道", ["API", "閘道"]),
        ("版本２．１。", "2.1", ["２．１"]),
        ("Le cafe\u0301 ferme", "café", ["cafe\u0301"]),
        ("Le café ferme", "cafe\u0301", ["café"]),
        ("e\u0302\u0323 e", "\u1ec7", ["e\u0302\u0323"]),
        ("L’ÉCOLE", "l'école", ["L’ÉCOLE"]),
        ("一ｚｅbra二", "Zebra", ["ｚｅbra"]),
    ],
)
@table("in_ascii", [True, False], rolled_back=True)
def test_words_are_found_in_whatever_form_they_are_written(
    client: Any, kuro: Any, stored: str, query: str, marked: list[str], in_ascii: bool
) -> None:
    text = "e" * 300 + f" {stored} " + "e" * 300
    kuro.post("/responses", json.dumps({"response": text, "items": []}, ensure_ascii=in_ascii))
    kuro.post("/memory", {"text": stored, "topic": "t", "source": "run 1"})
    prepare()
    page = client.get("/search/", {"q": query}).content.decode()
    assert list(of_page(page)) == ["Responses", "Memory"]
    assert [html.unescape(mark) for mark in re.findall("<mark>(.*?)</mark>", page)] == marked * 2


def test_a_form_that_means_something_else_is_not_found(client: Any, kuro: Any) -> None:
    kuro.respond("Le cafe ferme: 2.1 ze\u00adbra", items=[])
    assert list(found(client, "zeb\u200bra")) == ["Responses"], "what is hidden in a word parts it not"
    assert [found(client, query) for query in ("café", "2,1", "\u00ad\u200b")] == [{}, {}, {}]


def test_attributes_of_items_are_found(client: Any, kuro: Any) -> None:
    mail = {"to": "ops@example.org", "cc": ["dev@example.org"]}
    sent = kuro.respond(items=[{"kind": "chat", "text": HELD, "attributes": mail}])
    tagged = kuro.respond(f'<kuro:chat to="support@example.org">{HELD}</kuro:chat>', items=None)
    for verdict, word in ((sent, "ops@example.org"), (sent, "DEV@example.org"), (tagged, "support@example.org")):
        assert found(client, word) == {
            "Held": [f"/queue/{verdict['items'][0]['held']}/"],
            "Responses": [f"/responses/{verdict['id']}/"],
        }
    assert "<mark>ops@example.org</mark>" in client.get("/search/", {"q": "ops@example.org"}).content.decode()


def test_field_names_are_no_words(client: Any, kuro: Any) -> None:
    kuro.respond("Perhaps.", session="s1")
    assert found(client, "response") == {}


def test_sessions_problems_and_imported_patterns_are_found(client: Any, kuro: Any) -> None:
    one = kuro.respond("An old giraffe.", session="s-old")["id"]
    get_stuck(kuro)
    assert found(client, "s-old") == {"Responses": [f"/responses/{one}/"]}
    assert found(client, Problem.objects.get().key)["Problems"]
    assert found(client, "ep-cache") == {"Patterns": [f"/patterns/{ErrorPattern.objects.get().pk}/"]}
    ErrorPattern.objects.update(public_id="ep_0123456789")
    page = client.get("/search/?q=cache").content.decode()
    assert "ep_0123456789" not in page


def test_it_lists_five_of_a_kind_and_says_that_there_are_more(client: Any, kuro: Any) -> None:
    for n in range(6):
        kuro.respond(f"giraffe {n}", items=[])
    assert len(found(client, "giraffe")["Responses"]) == 5
    assert '"?q=giraffe&amp;kind=responses"' in client.get("/search/?q=giraffe").content.decode()


def test_it_shows_the_place_and_texts_are_only_text(client: Any, kuro: Any) -> None:
    kuro.respond("before " * 60 + "<b>giraffe</b> after", items=[])
    page = client.get("/search/?q=giraffe").content.decode()
    assert "&lt;b&gt;<mark>giraffe</mark>&lt;/b&gt; after" in page
    assert "<b>giraffe" not in page
    assert 'value="&quot;&gt;&lt;b&gt;"' in client.get("/search/", {"q": '"><b>'}).content.decode()


def test_erased_texts_are_not_found(client: Any, kuro: Any) -> None:
    kuro.respond(HELD, session="s1")
    AgentResponse.objects.update(erased_at=timezone.now(), body="")
    HeldItem.objects.update(text="")
    assert found(client, "cause") == {"Patterns": [f"/patterns/{ErrorPattern.objects.get().pk}/"]}
    assert len(found(client, "s1")["Responses"]) == 1
    assert "Erased" in client.get("/search/?q=s1").content.decode()


def test_it_costs_the_same_number_of_queries_however_much_is_found(
    client: Any, kuro: Any, way: str, django_assert_num_queries: Any
) -> None:
    kuro.hold()
    prepare()
    by_index = 65 if connection.vendor == "postgresql" else 41  # there each is asked within a setting of its own
    cost = 27 if way == "as it is" else by_index
    client.get("/search/?q=cache")
    with django_assert_num_queries(cost):
        client.get("/search/?q=cache")
    for n in range(8):
        kuro.hold()
        ErrorPattern.objects.create(team=Team.objects.get(), keywords=[f"cache {n}"], description="d")
    prepare()
    with django_assert_num_queries(cost):
        client.get("/search/?q=cache")


def test_a_call_is_told_as_in_the_queue_and_near_duplicates_once(client: Any, kuro: Any) -> None:
    for order in (1, 2, 3):
        arguments = {"to": "pei@mail.example", "order": order, "token": "sk-ant-api03-Zx9vKq27LmPw40RtYbNc81sDfGhJ"}
        kuro.respond("x", items=[{"kind": "tool_call", "name": "send_mail", "arguments": arguments}])
    kuro.respond("x", items=[{"kind": "tool_call", "name": "send_fax", "arguments": {"to": "pei@mail.example"}}])
    prepare()
    page = client.get("/search/?q=pei&kind=held").content.decode()
    assert re.search(r'<h2 id="g1">Held</h2>\s*<span class="n">4</span>', page)
    assert page.count('class="clip"') == 2
    assert re.search(r"<b>×3</b>\s*near-duplicates", page)
    said = " ".join(strip_tags(page).split())
    assert "send_mail to=pei@mail.example order=3" in said
    assert "effect:" not in said
    assert "sk-ant" not in page
    assert re.search(r'<span class="effects-short">[^<]*send', page)


def test_the_words_that_were_looked_for_are_marked(client: Any, kuro: Any) -> None:
    kuro.respond("A <b>Zebra</b> crossing; zebra.", items=[])
    page = client.get("/search/", {"q": "zebra CROSSING"}).content.decode()
    assert re.findall(r"<mark>([^<]+)</mark>", page) == ["Zebra", "crossing", "zebra"]
    assert "&lt;b&gt;<mark" in page


def test_a_problem_says_which_of_its_words_is_its_session(client: Any, kuro: Any) -> None:
    agent = Agent.objects.get()
    named = Problem.objects.create(agent=agent, key="slow", session="ci", state={})
    Problem.objects.create(agent=agent, key="", session="ci-night", state={})
    page = client.get("/search/", {"q": "ci"}).content.decode()
    assert f'href="/stuck/{named.public_id}/">slow</a>' in page
    assert "session ci ·" in " ".join(strip_tags(page).split())
    assert "A problem without a name</a>" in page, "it is not erased"
