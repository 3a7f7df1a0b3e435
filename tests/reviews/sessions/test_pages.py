"""The page of a session: one line of time, its filters, its parts, what changes while it is open, and its files."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.models import Policy
from reviews.held import decisions
from reviews.held.decisions import Answer, Arguments
from reviews.models import AgentResponse, HeldItem
from reviews.records import sessions
from tests.conftest import HELD, Caller
from tests.tables import table

DELETE = {"kind": "tool_call", "name": "shell", "arguments": {"command": "rm -rf /srv/app/build"}, "call_id": "c1"}
SECRET = "sk-live-51HhJ3kLmN8pQrStUvWxYz0123456789"


@pytest.fixture(autouse=True)
def _no_undo(settings: Any) -> None:
    settings.UNDO_SECONDS = 0


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def address(kuro: Any, name: str = "s", page: str = "", **asked: str) -> str:
    return f"/sessions/{kuro.id}/{page}?{urlencode({'session': name, **asked})}"


def shown(answer: Any) -> list[str]:
    """Return the posts that stand on the line, in order."""
    assert answer.status_code == 200
    return re.findall(r'<li class="post[^"]*" id="(resp_\w+)"', answer.content.decode())


def decide(held: str, person: Any, verdict: str, **how: Any) -> None:
    decisions.decide(HeldItem.objects.get(public_id=held), person, verdict, accept_risk=True, **how)
    decisions.settle()


def says(page: str, *parts: str) -> bool:
    """Say whether these stand in the page, one after the other."""
    place = 0
    for part in parts:
        place = page.find(part, place) + 1
        assert place, part
    return True


def test_it_tells_in_order_what_was_said_asked_held_decided_and_what_came_of_it(
    client: Any, kuro: Any, alice: Any, bob: Any
) -> None:
    kuro.respond("I look first.", items=[], session="s", cycle=1, user_message="Why is it slow?")
    again = {"session": "s", "cycle": 1, "user_message": "Why is it slow?"}
    said = kuro.respond("The cache is clearly slow.", **again)["items"][0]["held"]
    decide(said, bob, "reject", reason="It was not measured.")
    call = kuro.respond("I clean up.", items=[DELETE], session="s", cycle=2)["items"][0]["held"]
    decide(call, alice, "edit", edit=Arguments({"command": "rm -rf /srv/app/tmp"}), reason="The build is needed.")
    kuro.post(f"/held/{call}/outcome", {"status": "done", "detail": "exit 0"})
    asked = {"kind": "question", "text": "Which account?", "choices": ["A", "B"]}
    question = kuro.respond("A question.", items=[asked], session="s", cycle=2)["items"][0]["held"]
    decide(question, alice, "answer", edit=Answer("B"))
    waits = kuro.respond("Once more.", items=[DELETE | {"call_id": "c2"}], session="s", cycle=3)["items"][0]["held"]
    kuro.respond("Not of it.", session="other")
    page = client.get(address(kuro)).content.decode()
    assert "Not of it." not in page
    assert says(page, "Session s", "5 responses", "2 tool calls: 2 held", "4 held, 2 of them tool calls: 1 pending")
    assert says(page, "1 approved with edits", "Effects of the held calls: delete · outside", "1 approved call: 1 done")
    assert says(page, "cycle 1", "Why is it slow?", "I look first.", "The cache is clearly slow.", "rejected by Bob")
    assert says(page, "It was not measured.", "cycle 2", "I clean up.", "rm -rf /srv/app/build", "Deletes")
    assert says(page, "Deletes", "approved with edits by you", "The build is needed.", "rm -rf /srv/app/tmp", "ran")
    assert says(page, "exit 0", "Which account?", "answered by you", "B", "cycle 3", "Once more.", "Pending")
    assert says(page, "Once more.", f'href="/queue/{waits}/"')
    assert (page.count("cycle 2"), page.count("Why is it slow?")) == (1, 1)


def test_its_numbers_count_every_call_once(client: Any, kuro: Any, alice: Any) -> None:
    held = kuro.respond("I clean up.", items=[DELETE], session="s")["items"][0]["held"]
    decide(held, alice, "approve")
    assert kuro.respond("I clean up.", items=[DELETE], session="s")["items"][0]["disposition"] == "pass"
    other = DELETE | {"arguments": {"command": "rm -rf /srv/app/tmp"}}
    for _ in range(3):
        kuro.respond("I clean up there.", items=[other], session="s")
    page = client.get(address(kuro)).content.decode()
    assert says(page, "5 tool calls: 1 approved earlier, 2 held, 2 asked again while pending", "2 held: 1 pending")


def test_what_is_tried_again_is_folded_and_what_came_out_otherwise_is_not(client: Any, kuro: Any, alice: Any) -> None:
    failed = {"items": [], "session": "s", "command": "pytest -x", "command_failed": True}
    for number in range(4):
        kuro.respond(f"Try {number}.", **failed, errors=[f"TimeoutError after {number} s"])
    kuro.respond("Another.", items=[], session="s", errors=["KeyError: 7"])
    for _ in range(3):
        held = kuro.respond("Let me.", items=[DELETE], session="s")["items"][0]["held"]
    decide(held, alice, "reject")
    again = kuro.respond("Let me.", items=[DELETE | {"call_id": "c9"}], session="s")["items"][0]["held"]
    page = client.get(address(kuro)).content.decode()
    assert says(page, "Try 0.", "<summary>the same command 3 more times", "Try 3.", "</details>", "Another.")
    assert says(page, "Another.", "<summary>the same call 2 more times", "</details>", f"/queue/{again}/", "Pending")
    assert page.count("<summary>the same") == 2


def test_a_call_that_was_held_again_and_came_to_the_same_end_is_folded(client: Any, kuro: Any, alice: Any) -> None:
    for reason in ("No.", "No.", "No.", "Stop asking."):
        held = kuro.respond("Let me.", items=[DELETE], session="s")["items"][0]["held"]
        decide(held, alice, "reject", reason=reason)
    last = [kuro.respond("Let me.", items=[DELETE], session="s")["id"] for _ in range(2)]
    page = client.get(address(kuro)).content.decode()
    assert says(page, "<summary>the same call 2 more times", "No.", "</details>", "Stop asking.", last[0])
    assert says(page, last[0], "<summary>the same call once more", "</details>")
    new = kuro.respond("Let me.", items=[DELETE], session="s")["id"]
    told = client.get(address(kuro, page="changes", after=last[1])).content.decode()
    assert says(told, "beforeend:#line", '<li class="run">', "<summary>the same call once more", new, "</details>")
    assert f'id="{last[1]}"' not in told


def test_a_pending_call_that_is_asked_again_later_is_one_short_line(client: Any, kuro: Any) -> None:
    held = kuro.respond("Let me.", items=[DELETE], session="s")["items"][0]["held"]
    kuro.respond("Meanwhile I look.", items=[], session="s")
    kuro.respond("Let me, please.", items=[DELETE], session="s")
    page = client.get(address(kuro)).content.decode()
    assert says(page, "Pending", "asked 2 times", "Deletes", "Meanwhile", "please.", f"/queue/{held}/", "asked again")
    assert (page.count("asked 2 times"), page.count("Deletes /srv")) == (1, 1)


def test_calls_in_a_row_are_folded_where_only_their_arguments_differ(client: Any, kuro: Any) -> None:
    Policy.objects.filter(agent__public_id=kuro.id).update(rules=[{"tool": "*", "do": "allow"}])
    commands = ["cat a", "cat b", "cat c", "cat c", "rm -r /srv/build", "cat d", "cat e", "cat f"]
    posts = [
        kuro.respond("I look.", items=[DELETE | {"arguments": {"command": command}}], session="s")["id"]
        for command in commands
    ]
    kuro.respond("It broke.", items=[], session="s", command="make", command_failed=True)
    kuro.respond("It broke, too.", items=[], session="s", errors=["KeyError"])
    page = client.get(address(kuro)).content.decode()
    assert says(page, posts[0], "<details><summary>3 more calls of shell within", posts[3], "</details>", posts[4])
    assert page.count(" more call") == 1
    assert "10 responses" in page
    assert "errors in 2 responses" in page
    assert "names no workspace, so absolute paths count as outside" in page
    Policy.objects.filter(agent__public_id=kuro.id).update(packs=[{"name": "coding", "workspace": "/srv"}])
    page = client.get(address(kuro, at=posts[2])).content.decode()
    assert ("<details open><summary>" in page, "names no workspace" in page) == (True, False)


@table(
    "asked, found",
    [
        ({}, "words held rejected approved call failed"),
        ({"show": "user"}, "words call"),
        ({"show": "held"}, "held rejected approved"),
        ({"show": "pending"}, "held"),
        ({"show": "approved"}, "approved"),
        ({"show": "rejected"}, "rejected"),
        ({"show": "calls"}, "approved call"),
        ({"show": "errors"}, "approved failed"),
        ({"effect": "delete"}, "approved"),
        ({"effect": "outside"}, "approved"),
        ({"effect": "read", "show": "calls"}, "call"),
        ({"show": "nothing"}, "words held rejected approved call failed"),
    ],
    rolled_back=True,
)
def test_it_shows_what_happened_alone(client: Any, kuro: Any, alice: Any, asked: dict[str, str], found: str) -> None:
    Policy.objects.filter(agent__public_id=kuro.id).update(rules=[{"tool": "look", "do": "allow"}])
    said = {"user_message": "Clean up."}
    posts = {"words": kuro.respond('He wrote "errors" and "effect": "delete".', items=[], session="s", **said)}
    posts["held"] = kuro.respond(HELD, session="s", **said)
    posts["rejected"] = kuro.respond(f"{HELD} Once more.", session="s")
    decide(posts["rejected"]["items"][0]["held"], alice, "reject", reason="No.")
    posts["approved"] = kuro.respond("I clean up.", items=[DELETE], session="s")
    decide(held := posts["approved"]["items"][0]["held"], alice, "approve")
    kuro.post(f"/held/{held}/outcome", {"status": "failed", "detail": "no such folder"})
    look = {"kind": "tool_call", "name": "look", "arguments": {"command": "cat README.md"}}
    posts["call"] = kuro.respond("I look.", items=[look], session="s", errors=[], user_message="Is it gone?")
    posts["failed"] = kuro.respond("It broke.", items=[], session="s", errors=["KeyError"])
    answer = client.get(address(kuro, **asked))
    names = {post["id"]: name for name, post in posts.items()}
    assert [names[each] for each in shown(answer)] == found.split()
    assert ("Unknown selection" in answer.content.decode()) == (asked.get("show") == "nothing")


def test_json_without_blanks_is_read_alike(client: Any, kuro: Any) -> None:
    body = b'{"response":"It broke.","items":[],"session":"s","user_message":"Why?","errors":["KeyError"]}'
    posted = kuro.post("/responses", body).json()["id"]
    assert says(client.get(address(kuro)).content.decode(), "1 response", "errors in 1 response")
    assert shown(client.get(address(kuro, show="user"))) == [posted]


def test_its_parts_follow_each_other_as_one_scrolls(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "PAGE", 3)
    posted = [kuro.respond(f"Post {number}.", items=[], session="s")["id"] for number in range(8)]
    seen, answer = [], client.get(address(kuro))
    while True:
        seen += shown(answer)
        more = re.search(r'hx-get="([^"]*after=[^"]*)" hx-trigger="revealed"', answer.content.decode())
        if not more:
            break
        answer = client.get(more[1].replace("&amp;", "&"), headers={"hx-request": "true"})
        assert "<html" not in answer.content.decode()
    assert seen == posted
    assert shown(client.get(address(kuro, after=posted[1]))) == posted[2:5]
    earlier = client.get(address(kuro, before=posted[7]))
    assert shown(earlier) == posted[4:7]
    assert f"before={posted[4]}" in earlier.content.decode()
    around = client.get(address(kuro, at=posted[6]))
    assert shown(around) == posted[1:4]
    assert f"before={posted[1]}" in around.content.decode()


def test_a_kind_is_looked_for_in_a_bounded_part_at_once(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "WINDOW", 4)
    posted = [kuro.respond(f"Post {number}.", items=[], session="s")["id"] for number in range(6)]
    held = kuro.respond(session="s")["id"]
    first = client.get(address(kuro, show="held"))
    assert shown(first) == []
    assert f"after={posted[3]}" in first.content.decode()
    assert shown(client.get(address(kuro, show="held", after=posted[3]))) == [held]


def test_a_page_that_is_open_hears_of_new_posts_and_of_what_changed(client: Any, kuro: Any, bob: Any) -> None:
    first = kuro.respond(session="s")
    page = client.get(address(kuro)).content.decode()
    (known,) = re.findall(r'name="open" value="([^"]*)"', page)
    assert f'hx-get="{address(kuro, page="changes")}" hx-trigger="every 3s"' in page
    asked = {"after": first["id"], "open": known}
    assert client.get(address(kuro, page="changes", **asked)).status_code == 204
    second = kuro.respond("And then.", items=[], session="s")
    decide(first["items"][0]["held"], bob, "reject", reason="No.")
    told = client.get(address(kuro, page="changes", **asked)).content.decode()
    assert says(told, f'id="what-{first["id"]}" hx-swap-oob="true"', "rejected by Bob", "beforeend:#line", "And then.")
    assert says(told, 'id="facts" hx-swap-oob="true"', "2 responses", "1 held: 1 rejected"), "its head, too"
    assert f'name="after" value="{second["id"]}"' in told
    assert client.get(address(kuro, page="changes", after=second["id"], open="")).status_code == 204
    assert client.get(address(kuro, page="changes", after="resp_0", open="held_0.1 x")).status_code == 204


@table("form", ["md", "json"], rolled_back=True)
def test_its_files_have_all_of_it_with_secrets_masked(client: Any, kuro: Any, alice: Any, form: str) -> None:
    call = DELETE | {"arguments": {"command": f"curl -H 'Authorization: Bearer {SECRET}' x.example", "password": "pw7"}}
    held = kuro.respond(f"```\n# Not a heading\nThe key is {SECRET}.", items=[call], session="s", cycle=7)["items"][0]
    decide(held["held"], alice, "reject", reason=f"Not with {SECRET}.")
    for number in range(3):
        kuro.respond(f"Post {number}.", items=[], session="s", command=f"export TOKEN={SECRET}")
    answer = client.get(address(kuro, page="export", format=form))
    text = b"".join(answer).decode()
    assert f".{form}" in answer["Content-Disposition"]
    assert SECRET not in text
    assert "pw7" not in text
    assert "•••" in text
    page = client.get(address(kuro)).content.decode()
    assert SECRET not in page
    assert "pw7" not in page
    assert says(text, "The key is", "shell", "Not with", "Post 0.", "Post 2.")
    if form == "json":
        told = json.loads(text)
        item = told["posts"][0]["items"][0]
        assert (told["session"], len(told["posts"]), item["state"]) == ("s", 4, "rejected")
        assert item["decisions"][0]["decided_by"] == "alice"
    else:
        assert says(text, "# Session `s`", "· cycle 7", "````text\n```\n# Not a heading", "````", "rejected by you")


def test_it_is_of_ones_own_teams_and_of_posts_that_there_are(
    client: Any, kuro: Any, other: Any, as_person: Any
) -> None:
    kuro.respond(session="s")
    other.respond(session="s")
    for page in ("", "changes", "export"):
        assert client.get(address(other, page=page)).status_code == 404
        assert client.get(address(kuro, page=page, name="s")).status_code in (200, 204)
    assert client.get(f"/agents/{other.id}/day/").status_code == 404
    assert client.get(address(kuro, "another")).status_code == 404
    assert client.get(address(kuro, "another", page="export")).status_code == 404
    assert client.get(address(kuro, page="export", format="exe")).status_code == 404
    assert client.get(f"/sessions/{kuro.id}/").url == f"/agents/{kuro.id}/day/"


def test_it_shows_nothing_of_the_same_session_of_another_agent(client: Any, kuro: Any, aurora: Any) -> None:
    agent, key, secret = create_agent(aurora, "second", None)
    theirs = Caller(agent.public_id, key, secret).respond("Theirs.", session="s")["id"]
    ours = [kuro.respond(f"Ours {number}.", items=[], session="s")["id"] for number in range(2)]
    assert shown(client.get(address(kuro))) == ours
    assert shown(client.get(address(kuro, after=theirs))) == ours
    assert "Theirs." not in client.get(address(kuro, page="changes", after=ours[0])).content.decode()


@table("name", ["", "a/b?c#d&e", "..", "話題 1", "<b>x</b>"], rolled_back=True)
def test_any_name_has_a_page(client: Any, kuro: Any, name: str) -> None:
    post = kuro.respond("Here I am.", items=[], session=name)["id"]
    assert shown(client.get(address(kuro, name))) == [post]
    assert "<b>x</b>" not in client.get(address(kuro, name)).content.decode()


def test_it_is_reached_from_item_response_search_and_agent(client: Any, kuro: Any) -> None:
    posted = kuro.respond(session="of orders")
    target = f"/sessions/{kuro.id}/?session=of"
    pages = (f"/queue/{posted['items'][0]['held']}/", f"/responses/{posted['id']}/", f"/agents/{kuro.id}/")
    for page in (*pages, "/search/?q=cache&kind=responses"):
        assert target in client.get(page).content.decode(), page
    assert f"at={posted['id']}#{posted['id']}" in client.get(pages[1]).content.decode()


def test_its_queries_are_as_many_for_one_post_as_for_many(client: Any, kuro: Any, alice: Any) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address(kuro)).status_code == 200
        return len(queries)

    decide(kuro.respond(session="s")["items"][0]["held"], alice, "reject")
    kuro.respond("Call.", items=[DELETE], session="s")
    client.get(address(kuro))
    few = count()
    for number in range(12):
        held = kuro.respond(f"{HELD} {number}", items=[DELETE | {"arguments": {"n": number}}], session="s")
        if number % 2:
            decide(held["items"][0]["held"], alice, "approve")
    assert count() == few


def test_its_head_names_the_day_of_its_end_where_it_began_on_another(client: Any, kuro: Any) -> None:
    first = kuro.respond("One.", session="s")["id"]
    kuro.respond("Two.", session="s")

    def head() -> str:
        return client.get(address(kuro)).content.decode().partition('<p class="lead">')[2].partition("</p>")[0]

    year = str(timezone.localdate().year)
    assert year not in re.sub("<[^>]+>", "", head())
    AgentResponse.objects.filter(public_id=first).update(received_at=timezone.now() - timedelta(days=3))
    assert re.sub("<[^>]+>", "", head()).count(year) == 2
