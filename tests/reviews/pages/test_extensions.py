"""The seat of the chairman: what waits, what the gates said, and a person's answer."""

from __future__ import annotations

import hashlib
import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metacog.models import Agent, AuditEvent
from reviews.models import ExtensionRequest
from tests.tables import table

pytestmark = pytest.mark.django_db

EVIL = "</pre><script>alert(1)</script>\u202e"


@pytest.fixture
def waiting(kuro: Any) -> ExtensionRequest:
    evidence = ["Q2: 933.8", {"n": 1}]
    body = {"session": "s1", "problem": "margin", "reason": "need more time", "evidence": evidence, "step": 5}
    assert kuro.post("/extensions", body).json()["state"] == "pending"
    return ExtensionRequest.objects.select_related("agent").get()


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def answer(client: Any, row: ExtensionRequest, *, htmx: bool = False, **fields: Any) -> Any:
    headers = {"hx-request": "true"} if htmx else {}
    return client.post(reverse("extension-answer", args=[row.public_id]), fields, headers=headers)


def test_what_waits_comes_first(kuro: Any, waiting: Any, alice: Any, as_person: Any) -> None:
    kuro.post("/extensions", {"reason": "Need TSMC Q3 revenue"})
    page = words(as_person(alice).get("/extensions/"))
    wanted = ("Pending requests", "need more time", "Closed requests", "Need TSMC", "+3")
    places = [page.index(text) for text in wanted]
    assert places == sorted(places)


def test_it_is_overdue_in_the_words_of_the_queue(waiting: Any, alice: Any, as_person: Any) -> None:
    for minutes, said in ((53, "53 min overdue"), (185, "3 h overdue")):
        ExtensionRequest.objects.update(due_at=timezone.now() - timedelta(minutes=minutes, seconds=5))
        for address in ("/extensions/", reverse("extension", args=[waiting.public_id])):
            assert said in words(as_person(alice).get(address))


def test_it_shows_all_that_the_answer_hangs_on(kuro: Any, waiting: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    kuro.post("/memory", {"text": "Time is money."})
    client.post(reverse("agent-handcard", args=[kuro.id]), {"handcard": "The margin settles it.\nNo more than 8."})
    kuro.post("/extensions", {"session": "s1", "problem": "margin", "reason": "Need TSMC Q3 revenue", "step": 5})
    page = words(client.get(reverse("extension", args=[waiting.public_id])))
    for text in (
        "need more time", "5 of 5 tool calls used", "Q2: 933.8", '{"n": 1}', "The margin settles it. No more than 8.",
        "the reason only says that there is more to do", "The shared memory contains nothing about this.", "Grant",
        "request 1",
    ):  # fmt: skip
        assert text in page, text
    event = AuditEvent.objects.get(action="handcard-changed")
    was, now = (hashlib.sha256(text.encode()).hexdigest() for text in ("", "The margin settles it.\nNo more than 8."))
    assert event.data == {"characters": 38, "before_sha256": was, "sha256": now}


def test_a_grant_reaches_the_agent(kuro: Any, waiting: Any, alice: Any, as_person: Any) -> None:
    said = answer(as_person(alice), waiting, approved="1", granted="4", answer="It matters.", guidance="Look it up.")
    assert (said.status_code, said.url) == (302, f"/extensions/{waiting.public_id}/")
    told = kuro.get(f"/extensions/{waiting.public_id}").json()
    assert (told["state"], told["by"], told["granted"], told["guidance"]) == ("approved", "person", 4, "Look it up.")
    context = kuro.get("/context").json()["extensions"]
    assert [each["id"] for each in context] == [waiting.public_id]
    prompt = kuro.get("/context", accept="text/plain").content.decode()
    assert f"{waiting.public_id} · s1 · margin\nThe extension is granted: 4 more tool calls.\n| It matters." in prompt
    kuro.respond("Concluded.")
    assert kuro.get("/context").json()["extensions"] is None


@table(
    ("fields", "error"),
    [
        ({"approved": "0"}, "Say why it is refused."),
        ({"approved": "1", "granted": ""}, "Say how many."),
        ({"approved": "1", "granted": "0"}, "greater than or equal to 1"),
        ({"approved": "1", "granted": "1001"}, "less than or equal to 1000"),
        ({"approved": "1", "granted": "3", "guidance": "x" * 2001}, "at most 2000 characters"),
    ],
    rolled_back=True,
)
def test_an_answer_that_lacks_something_is_not_taken(
    waiting: Any, alice: Any, as_person: Any, fields: Any, error: str
) -> None:
    said = answer(as_person(alice), waiting, **fields)
    assert (said.status_code, error in words(said)) == (422, True)
    waiting.refresh_from_db()
    assert waiting.state == "pending"


def test_the_second_answer_is_shown_the_first(waiting: Any, alice: Any, bob: Any, as_person: Any) -> None:
    answer(as_person(alice), waiting, approved="0", answer="Enough is known.")
    late = answer(as_person(bob), waiting, htmx=True, approved="1", granted="3", guidance="Look into <the> filing.")
    assert late.status_code == 409
    page = words(late)
    assert "Somebody answered first" in page
    assert "Enough is known." in page
    assert 'as you typed it: <q class="answered">Look into &lt;the&gt; filing.</q>' in late.content.decode()
    assert "<html" not in late.content.decode()


def test_one_that_expired_reads_as_no_refusal(waiting: Any, alice: Any, as_person: Any) -> None:
    ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    page = words(as_person(alice).get(reverse("extension", args=[waiting.public_id])))
    assert "Unanswered" in page
    assert "its reason was not assessed" in page
    assert "Refused" not in page


def test_one_that_was_withdrawn_says_so_and_asks_for_nothing(
    kuro: Any, waiting: Any, alice: Any, as_person: Any
) -> None:
    kuro.post(f"/extensions/{waiting.public_id}/withdraw", {})
    client = as_person(alice)
    over = words(client.get("/extensions/"))
    assert "Pending requests" not in over
    assert "Withdrawn by agent" in over
    page = words(client.get(reverse("extension", args=[waiting.public_id])))
    assert "withdrew the request" in page
    assert "Your answer" not in page
    late = answer(client, waiting, approved="1", granted="3")
    assert (late.status_code, "Somebody answered first" in words(late)) == (409, True)


def test_texts_are_only_texts(kuro: Any, alice: Any, as_person: Any) -> None:
    Agent.objects.update(handcard=EVIL)
    kuro.post("/extensions", {"problem": EVIL, "session": EVIL, "reason": f"time {EVIL}", "evidence": [EVIL]})
    row = ExtensionRequest.objects.get()
    for path in ("/extensions/", reverse("extension", args=[row.public_id])):
        page = as_person(alice).get(path).content.decode()
        assert "<script>alert" not in page
        assert "\u202e" not in page


@pytest.mark.parametrize(
    ("person", "shown", "answered"),
    [("mallory", 404, 404), ("victor", 200, 403), ("alice", 200, 302), ("carla", 200, 302)],
)
def test_it_answers_each_as_their_role_allows(
    request: Any, waiting: Any, as_person: Any, person: str, shown: int, answered: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    page = client.get(reverse("extension", args=[waiting.public_id]))
    assert (page.status_code, b"need more time" in page.content) == (shown, shown == 200)
    assert (b">Grant</button>" in page.content) is (answered == 302)
    assert (b"need more time" in client.get("/extensions/").content) is (shown == 200)
    assert answer(client, waiting, approved="1", granted="3").status_code == answered


def test_the_pages_cost_as_many_queries_with_many_as_with_few(
    kuro: Any, waiting: Any, alice: Any, as_person: Any
) -> None:
    client = as_person(alice)
    paths = ("/extensions/", reverse("extension", args=[waiting.public_id]))

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get(path)
            return len(asked)

    few = [queries(path) for path in paths]
    for number in range(4):
        kuro.post("/extensions", {"problem": str(number), "reason": "need more time"})
        kuro.post("/extensions", {"problem": f"p{number}", "reason": "Need TSMC Q3 revenue"})
    assert [queries(path) for path in paths] == few
