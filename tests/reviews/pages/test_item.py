"""What an item's page tells: why, the whole text, and what helps to decide."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from metacog.models import AuditEvent, Policy
from reviews.models import AgentResponse, HeldItem
from tests.tables import table

ATTACK = "<script>alert(1)</script>\"' onclick=x {{ 7|add:7 }} &amp; javascript:alert(1) www.evil.example"


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def test_it_explains_the_score_by_its_parts_with_their_record(client: Any, kuro: Any, decide: Any) -> None:
    held, earlier, rejected = kuro.hold(), kuro.hold(), kuro.hold()
    decide(client, earlier)
    decide(client, rejected, "reject", reason="Wrong")
    page = " ".join(strip_tags(client.get(f"/queue/{held}/").content.decode()).split())
    assert "50 of 100" in page
    assert "held from 50" in page
    assert "20 Absolute claim, with no source named in the response · “clearly”" in page
    assert "30 Error pattern: “cause named before it was measured” · “cache”" in page
    assert page.count("fired 3 times, 1 of 2 decided were rejected") == 1  # a pattern's own record is counted behind


def test_a_text_of_blanks_is_said_to_be_empty_wherever_it_is_told(client: Any, kuro: Any, decide: Any) -> None:
    items = [{"kind": "chat", "text": " \u3000\n", "require_review": True}]
    held = kuro.respond("x", items=items)["items"][0]["held"]
    page = client.get("/queue/").content.decode()
    assert '<span class="clip">(empty text)</span>' in page
    assert "The text is empty." in page
    answer = decide(client, held, htmx=True).content.decode()
    assert "Approved (empty text)" in " ".join(strip_tags(answer).split())


@table(
    ("fate", "looks"), [("approve", ("ok", "✓")), ("reject", ("bad", "✗")), ("expire", ("off", "○"))], rolled_back=True
)
def test_what_expired_looks_unlike_what_was_rejected(
    client: Any, kuro: Any, decide: Any, undo_at_once: None, fate: str, looks: tuple[str, str]
) -> None:
    held = kuro.hold()
    if fate == "expire":
        HeldItem.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert kuro.get(f"/held/{held}").json()["state"] == "expired"
    else:
        decide(client, held, fate, reason="Wrong" if fate == "reject" else "")
    page = " ".join(client.get(f"/queue/{held}/").content.decode().split())
    told = re.search(r'<div class="note (\w+) ?"> ?<p class="verdict-line"><b>(.)', page)
    assert told is not None
    assert told.groups() == looks
    assert f"<span>{looks[1]} " in page  # its row


def test_a_hint_is_told_and_marked_and_is_no_reason(client: Any, kuro: Any) -> None:
    Policy.objects.update(profile="aware")
    text = "顯然是快取。cache\u200b"
    held = kuro.respond(text, items=[{"kind": "chat", "text": text}])["items"][0]["held"]
    page = client.get(f"/queue/{held}/").content.decode()
    told = " ".join(strip_tags(page).split())
    assert "60 of 100" in told
    assert "0 Absolute claim, with no source named in the response · “顯然” a hint without weight" in told
    assert told.count("a hint without weight") == 1
    assert re.search(r'<mark class="signal s-claim" title="Absolute claim">(<span.*?</span>)?顯然', page)
    context = kuro.get("/context").json()
    assert context["suggestion"] == "Hesitation triggered (score=60): error-pattern, hidden-text"
    assert [each["type"] for each in context["signals"]] == ["error-pattern", "hidden-text"]
    assert AuditEvent.objects.get(action="chat-held").data["signals"] == ["error-pattern", "hidden-text"]


@table(("weight", "stretches"), [(20, ["20", "30"]), (90, ["90", "10"]), (100, ["100", "0"])], rolled_back=True)
def test_the_bar_ends_at_100_whatever_its_parts_add_up_to(
    client: Any, kuro: Any, weight: int, stretches: list[str]
) -> None:
    Policy.objects.update(weights={"absolute-claim": weight})
    page = client.get(f"/queue/{kuro.hold()}/").content.decode()
    assert re.findall(r'<rect class="signal [^"]*" x="\d+" y="2" width="(\d+)"', page) == stretches


def test_it_marks_the_words_that_fired(client: Any, kuro: Any) -> None:
    held = kuro.respond("Hello. [CHAT]The cause is clearly the cache.[/CHAT]", items=None)["items"][0]["held"]
    page = client.get(f"/queue/{held}/").content.decode()
    text = re.search(r'<div class="text" id="text" data-stays>(.*?)</div>', page, re.DOTALL)[1]
    assert '<mark class="signal s-claim" title="Absolute claim">' in text
    assert 'title="Error pattern: cause named before it was measured"' in text
    assert re.sub(r"<span class=.unseen.>.*?</span>", "", text).replace("</mark>", "").endswith("cache.")


def test_it_shows_the_whole_text_and_nothing_of_it_as_markup(client: Any, kuro: Any) -> None:
    text = f"The cause is clearly the cache. {ATTACK} \u202egnp.exe end"
    held = kuro.respond(
        text, items=[{"kind": "chat", "text": text, "attributes": {ATTACK: ATTACK}}], user_message=ATTACK
    )["items"][0]["held"]
    for address in (f"/queue/{held}/", "/queue/", "/responses/"):
        page = client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "\u202e" not in re.sub(r"<textarea.*?</textarea>", "", page, flags=re.DOTALL)
        assert "evil.example</a>" not in page
        assert not re.search(r"<[^>]*\sonclick=", page)
        assert "U+202E" in page


def test_its_pages_hold_no_inline_script_or_style(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    for address in ("/queue/", f"/queue/{held}/", "/responses/"):
        answer = client.get(address)
        page = answer.content.decode()
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", page)


def test_it_shows_what_the_agent_said_on_second_look(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("The slowdown began before the store went live.", replies_to_held=held)
    page = client.get(f"/queue/{held}/").content.decode()
    assert "Second look by kuro" in page
    assert "The slowdown began before the store went live." in page


@table(
    ("second", "is_told"),
    [
        ("I looked again. The cause is not the cache.", True),
        ("I take that back.", True),
        ("The cause is the cache; the graph shows it.", False),
        ("Is the cause not the cache?", False),
    ],
    rolled_back=True,
)
def test_it_says_where_a_second_look_seems_to_contradict_the_first(
    client: Any, kuro: Any, second: str, is_told: bool
) -> None:
    held = kuro.hold()
    kuro.respond(second, items=[], replies_to_held=held)
    assert ("It seems to contradict the held text:" in client.get(f"/queue/{held}/").content.decode()) == is_told


def test_it_shows_what_it_answered_and_the_response_around_it(client: Any, kuro: Any) -> None:
    verdict = kuro.respond(
        "Before. [CHAT]The cause is clearly the cache.[/CHAT] After.", items=None, user_message="Why so slow?"
    )
    page = client.get(f"/queue/{verdict['items'][0]['held']}/").content.decode()
    assert "Why so slow?" in page
    assert "Text within the whole response" in page
    assert f"/responses/{verdict['id']}/" in page


def test_an_edit_that_is_refused_shows_its_changes_beside_the_marked_text(client: Any, kuro: Any, decide: Any) -> None:
    page = decide(client, kuro.hold(), "approve", text="The cause is clearly this cache.").content.decode()
    assert re.search(r"is clearly <del\s*>the</del><ins\s*>this</ins> cache", page)
    assert re.search(r'id="text" data-stays>.*<mark class="signal s-claim"', page)


def test_what_an_edit_released_stays_beside_the_text(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    decide(client, held, "approve", text="The cause is clearly this cache.", accept_risk="1")
    page = client.get(f"/queue/{held}/").content.decode()
    assert "approved with edits by you" in page
    assert re.search(r"is clearly <del\s*>the</del><ins\s*>this</ins> cache", page)


def test_it_tells_who_decided_before_and_why(client: Any, as_person: Any, bob: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    decide(as_person(bob), held, "reject", preset="no-evidence", reason="Not measured.")
    page = client.get(f"/queue/{held}/").content.decode()
    assert "rejected by Bob" in page
    assert "No evidence: Not measured." in page
    assert 'id="approve"' not in page


def test_the_reason_speaks_the_agents_language(client: Any, kuro: Any, decide: Any) -> None:
    from metacog.models import Agent
    from reviews.models import Decision

    Agent.objects.update(language="zh-hant")
    decide(client, kuro.hold(), "reject", preset="tone", reason="太急")
    assert Decision.objects.get().reason.endswith("太急")


def test_the_page_says_whether_the_agent_heard(
    alice: Any, as_person: Any, kuro: Any, aurora: Any, undo_at_once: None
) -> None:
    aurora.agents.update(callback_url="https://agent.example/hook")
    held = kuro.hold()
    kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "wrong"})
    assert "Show deliveries" in as_person(alice).get(f"/queue/{held}/").content.decode()


def test_an_attribute_may_be_called_as_it_likes(client: Any, kuro: Any) -> None:
    tag = {"kind": "chat", "text": "clearly the cache", "attributes": {"items": "of the list", "keys": "x"}}
    verdict = kuro.respond("clearly the cache", items=[tag])
    for page in ("/queue/", f"/queue/{verdict['items'][0]['held']}/", f"/responses/{verdict['id']}/"):
        text = strip_tags(client.get(page).content.decode())
        assert "of the list" in text, page


def test_what_an_engine_of_before_took_for_an_item_is_shown(client: Any, kuro: Any) -> None:
    """It found a tag in front of the one that today's finds."""
    verdict = kuro.respond("[CHAT]The cause is clearly the cache.[/CHAT]", items=None)
    (item,) = verdict["items"]
    passed = {**item, "disposition": "pass", "held": None, "text": "Hello there."}
    stored = AgentResponse.objects.get()
    stored.verdict = json.dumps(verdict | {"items": [passed, {**item, "index": 1}]})
    stored.save()
    HeldItem.objects.update(index=1)
    for page, text in ((f"/queue/{item['held']}/", "clearly the cache"), (f"/responses/{verdict['id']}/", "Hello")):
        answer = client.get(page)
        assert answer.status_code == 200
        assert text in strip_tags(answer.content.decode())
