"""The pages that show what agents posted."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.utils.html import strip_tags
from django.utils.translation import trans_real

from metacog.accounts.agents import create_agent
from metacog.models import Membership, Policy
from metacog.runtime import catalogs
from reviews.models import AgentResponse, Signal, response_id
from reviews.pages import response as response_views
from tests.conftest import HELD, Caller
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def listed(response: Any) -> list[str]:
    return re.findall(r'href="/responses/(resp_\w+)/"', response.content.decode())


def test_the_list_is_filtered_by_its_address(client: Any, kuro: Any) -> None:
    passed = kuro.respond("It may rain, according to [1].")["id"]
    marked = kuro.respond("The cache again.")["id"]
    held = kuro.respond()["id"]
    empty = kuro.respond(HELD, items=[])["id"]
    flagged = kuro.respond("`[CHAT]Hi[/CHAT]`", items=None)["id"]
    every = client.get("/responses/")
    assert listed(every) == [flagged, empty, held, marked, passed]
    came_to = re.findall(r'<td><span class="state[^>]*>([^<]*)<', every.content.decode())
    assert came_to == ["no items", "no items", "held", "marked", "passed"]
    assert listed(client.get("/responses/?show=triggered")) == [empty, held, marked]
    assert listed(client.get("/responses/?show=held")) == [held]
    assert listed(client.get("/responses/?show=flagged")) == [flagged]
    assert listed(client.get(f"/responses/?agent={kuro.id}&show=held")) == [held]
    assert listed(client.get(f"/responses/?agent={kuro.id}&show=flagged")) == [flagged]
    assert listed(client.get("/responses/?agent=agt_0")) == listed(every)  # it says so


@pytest.mark.parametrize(
    ("posted", "shown"),
    [
        ("one\n\n two", "one two"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("字" * 1001, "字" * 199 + "…"),
        ("short" + " " * 1000 + "and far away", "short…"),
    ],
    ids=["lines", "fits", "long", "longer", "blank"],
)
def test_the_list_shows_how_a_text_begins_and_that_it_goes_on(client: Any, kuro: Any, posted: str, shown: str) -> None:
    kuro.respond(posted)
    page = client.get("/responses/").content.decode()
    assert re.findall(r'<a class="clip"[^>]*>(.*?)</a>', page) == [shown]


def test_its_pages_follow_each_other(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_views, "PAGE", 2)
    posted = [kuro.respond()["id"] for _ in range(5)][::-1]
    seen, address = [], "/responses/"
    while address:
        page = client.get(address)
        seen += listed(page)
        more = re.search(r'class="btn" rel="next" href="(\?[^"]*)"', page.content.decode())
        address = "/responses/" + more[1].replace("&amp;", "&") if more else ""
    assert seen == posted


def test_a_response_shows_what_was_posted_and_what_was_answered(client: Any, kuro: Any) -> None:
    verdict = kuro.respond(
        "[CHAT]The cause is clearly the cache.[/CHAT][ACTION]restart[/ACTION][ASK]May I?[/ASK]",
        items=None,
        user_message="Why so slow?",
        session="s1",
        cycle=42,
        topics=["constraints"],
    )
    page = client.get(f"/responses/{verdict['id']}/").content.decode()
    for expected in ("Why so slow?", "cycle 42", "constraints", "50", "noted", "passed", "matched_pattern_ids"):
        assert expected in page
    assert f"/queue/{verdict['items'][0]['held']}/" in page


@table(("more", "is_shown_twice"), [("", False), (" Really.", True)], rolled_back=True)
def test_an_item_that_is_the_whole_text_is_not_shown_twice(
    client: Any, kuro: Any, more: str, is_shown_twice: bool
) -> None:
    verdict = kuro.respond("I will restart it." + more, items=[{"kind": "action", "text": "I will restart it."}])
    page = client.get(f"/responses/{verdict['id']}/").content.decode().partition("<pre")[0]
    assert (page.count("I will restart it.") == 2) == is_shown_twice
    assert ("The whole text above." in page) != is_shown_twice


def test_what_else_the_verdict_says_is_told_in_words(client: Any, kuro: Any) -> None:
    """Not as the engine puts it, whose details stay as they were answered."""
    verdict = kuro.respond("ok", retrieval={"scores": [0.91, 0.4], "facts": 3})
    assert verdict["quality"]["details"][-1]["detail"] == "2 character(s), 10 expected"
    page = client.get(f"/responses/{verdict['id']}/").content.decode().partition("<pre")[0]
    assert "2 characters, 10 expected" in page
    assert "(scores: 2, best 0.91; facts: 3)" in page


def test_it_says_when_hesitation_is_switched_off(client: Any, kuro: Any) -> None:
    from metacog.models import Agent

    Agent.objects.update(hesitation_enabled=False)
    verdict = kuro.respond()
    assert "Hesitation is switched off" in client.get(f"/responses/{verdict['id']}/").content.decode()
    assert "switched off" in client.get("/responses/").content.decode()


def test_a_stranger_finds_nothing(as_person: Any, mallory: Any, kuro: Any) -> None:
    verdict = kuro.respond()
    stranger = as_person(mallory)
    assert listed(stranger.get("/responses/")) == []
    assert stranger.get(f"/responses/{verdict['id']}/").status_code == 404
    assert stranger.get(f"/responses/{verdict['id']}/").status_code == 404


def test_whoever_is_in_several_teams_reads_which_team_an_agent_is_of(
    client: Any, kuro: Any, alice: Any, borealis: Any
) -> None:
    agent, key, secret = create_agent(borealis, "kuro", None)
    kuro.respond("One.")
    Caller(agent.public_id, key, secret).respond("Two.")
    assert "Aurora" not in client.get("/responses/").content.decode()
    Membership.objects.create(user=alice, team=borealis, role="viewer")
    page = client.get("/responses/").content.decode()
    assert re.findall(r"kuro · (\w+)</option>", page) == ["Aurora", "Borealis"]
    assert re.findall(r'kuro<br><span class="quiet">(\w+)</span>', page) == ["Borealis", "Aurora"]


def test_the_cost_of_the_list_is_fixed(client: Any, kuro: Any, django_assert_num_queries: Any) -> None:
    kuro.respond()
    with django_assert_num_queries(8):  # session, person, teams, agents, where theirs begin, which, rows, count, form
        client.get("/responses/")
    for _ in range(10):
        kuro.respond()
    with django_assert_num_queries(8):
        client.get("/responses/")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite says how many steps it took")
@pytest.mark.parametrize("address", ["/responses/", "/responses/{}/"])
def test_what_others_posted_since_is_not_read(client: Any, kuro: Any, other: Any, address: str) -> None:
    mine, theirs = kuro.respond(), other.respond()

    def steps() -> int:
        taken: list[None] = []
        connection.connection.set_progress_handler(lambda: taken.append(None), 1)
        client.get(address.format(mine["id"]))
        connection.connection.set_progress_handler(None, 0)
        return len(taken)

    before = steps()
    row = AgentResponse.objects.get(public_id=theirs["id"])
    for _ in range(1000):
        row.pk, row.public_id, row.key = None, response_id(), None
        row.save(force_insert=True)
    Signal.objects.bulk_create(
        Signal(response_id=pk, type="absolute-claim", weight=20)
        for pk in AgentResponse.objects.filter(agent__public_id=other.id).values_list("pk", flat=True)
    )
    assert steps() <= before + 500, "half a step for each of them"


def test_the_cost_of_a_response_is_fixed(client: Any, kuro: Any, django_assert_max_num_queries: Any) -> None:
    verdict = kuro.respond(items=[{"kind": "chat", "text": "one"}, {"kind": "task", "text": "two"}])
    with django_assert_max_num_queries(9):
        client.get(f"/responses/{verdict['id']}/")


def test_it_says_what_quality_did_not_pass_and_what_was_offered(kuro: Any, alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    good = kuro.respond("The meeting is at nine.", user_message="When is the meeting?", items=[])
    weak = kuro.respond("Perhaps.", user_message="When is the meeting? Who comes? Where is it?", items=[])
    assert (good["quality"]["passed"], weak["quality"]["passed"]) == (True, False)
    page = client.get(f"/responses/{good['id']}/").content.decode()
    assert "not passed" not in page
    assert "Suggested opening" not in page
    page = html.unescape(client.get(f"/responses/{weak['id']}/").content.decode())
    assert "not passed" in page
    assert (weak["quality"]["hedge_prefix"] or "…") in page


@pytest.fixture
def told(client: Any) -> Callable[[str], str]:
    """Return what a page says beside hesitation, as plain text."""

    def read(address: str) -> str:
        page = client.get(address).content.decode()
        (box,) = re.findall(r'<section class="box otherwise">(.*?)</section>', page, re.DOTALL)
        return " ".join(html.unescape(strip_tags(box)).split())

    return read


def pages_of(verdict: dict[str, Any]) -> list[str]:
    """Return the addresses of a response and of what of it is held."""
    return [f"/responses/{verdict['id']}/"] + [f"/queue/{one['held']}/" for one in verdict["items"] if one["held"]]


def test_both_pages_say_what_quality_was_made_of_and_when_the_next_cycle_is(kuro: Any, told: Any) -> None:
    Policy.objects.update(quality={"pass_at": 0.9, "low_at": 0.9})
    verdict = [kuro.respond(user_message="When is the meeting? Who comes?", problem="bug-17") for _ in range(3)][2]
    evaluation = verdict["quality"]["evaluation"]
    assert (verdict["events"], verdict["schedule"]["next"]) == (["meta:confidence-low", "meta:impasse"], "2m")
    addresses = pages_of(verdict)
    assert len(addresses) == 2
    for address in addresses:
        page = told(address)
        assert (
            f"responsiveness {evaluation['responsiveness']:g} · completeness {evaluation['completeness']:g}"
            " · consistency 1 · length ok · said before"
        ) in page
        assert "Events low quality meta:confidence-low · no progress meta:impasse" in page
        assert "Next cycle in 2 minutes · to look again at what is held: CHAT" in page


def test_it_says_what_there_was_nothing_to_judge_by(kuro: Any, told: Any) -> None:
    kuro.respond("It may rain in the north today, says [1].")
    page = told(pages_of(kuro.respond("It may rain in the north today, says [1]."))[0])
    assert "responsiveness not assessed · completeness not assessed · consistency 1 · length ok · said before" in page
    assert "length outside its limits" in told(pages_of(kuro.respond("Ok"))[0])
    for silent in ("Next cycle", "Events"):
        assert silent not in page


@table(
    ("seconds", "said"),
    [(0, "at once"), (1, "in 1 second"), (60, "in 1 minute"), (90, "in 90 seconds")],
    rolled_back=True,
)
def test_it_says_when_the_next_cycle_is_in_words(kuro: Any, told: Any, seconds: int, said: str) -> None:
    Policy.objects.update(review_seconds=seconds)
    assert f"Next cycle {said} · to look again" in told(pages_of(kuro.respond())[0])


def test_both_pages_say_the_confidence_and_what_it_tells_the_agent(kuro: Any, told: Any) -> None:
    verdict = kuro.respond(retrieval={"scores": [0.5], "facts": 3})
    confidence = verdict["confidence"]
    for address in pages_of(verdict):
        page = told(address)
        assert f"Confidence {confidence['level']} {confidence['score']} of 1" in page
        assert f"Prompt hint: {confidence['prompt']}" in page


@pytest.mark.parametrize("language", ["zh-hant", "zh-hans"])
def test_what_else_it_says_is_translated(
    kuro: Any, client: Any, told: Any, language: str, tmp_path: Path, settings: Any
) -> None:
    Policy.objects.update(quality={"pass_at": 0.9, "low_at": 0.9})
    said = {"user_message": "When is the meeting? Who comes?", "retrieval": {"scores": [0.5]}, "problem": "bug-17"}
    verdict = [kuro.respond(**said) for _ in range(3)][2]
    settings.LOCALE_PATHS = [tmp_path]
    catalogs.compile_all()
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    with mock.patch.object(trans_real, "_translations", {}):
        page = told(pages_of(verdict)[0])
    for english in ("responsiveness", "consistency", "Next cycle", "minute", "low quality", "Prompt hint", "of 1"):
        assert english not in page
    assert "meta:impasse" in page
