"""Research after an assessment: the calls, the worker against a search that does as told, the delivery, the pages."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog import settings as module
from metacog.models import Agent, AuditEvent, Team
from reviews import retention
from reviews.investigation import research
from reviews.models import Delivery, Research
from tests.reviews.outbox.receiving import Handler, Receiver, listening
from tests.tables import table

pytestmark = pytest.mark.django_db

VERDICT = {"verdict": "You should hold the fund for ten years; TSMC makes up 48 % of it.", "topic": "0050 ETF"}


def says(*results: dict[str, Any], status: int = 200, body: bytes | None = None) -> Callable[[Handler], None]:
    """Answer as SearXNG does."""
    content = json.dumps({"results": results}).encode() if body is None else body

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def found(number: int) -> dict[str, Any]:
    return {"url": f"https://example.org/{number}", "title": f"Title {number}", "content": f"Snippet {number}"}


@pytest.fixture
def searxng(settings: Any) -> Iterator[Receiver]:
    with listening() as receiver:
        receiver.then = says(found(1))
        settings.SEARXNG_URL = receiver.origin
        yield receiver


def begin(caller: Any, **changes: Any) -> Any:
    answer = caller.post("/research", VERDICT | changes)
    assert answer.status_code == 201, answer.content
    return answer.json()


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


class TestTheCalls:
    def test_it_asks_at_once_and_has_the_advice_once_it_was_searched(self, kuro: Any, searxng: Receiver) -> None:
        searxng.answers = [says(found(1), found(2)), says(), says(found(3))]
        begun = begin(kuro)
        assert (begun["state"], begun["advice"], begun["searched"]) == ("waiting", None, False)
        assert begun["questions"] == [
            "How do I hold the fund for ten years?",
            "Where is the latest report on TSMC?",
            "Where can “TSMC makes up 48 % of it” be checked?",
        ]
        assert research.search_due() == 1
        read = kuro.get(f"/research/{begun['id']}").json()
        assert (read["state"], read["searched"], read["reason"]) == ("finished", True, None)
        assert [(each["question"], each["address"]) for each in read["findings"]] == [
            (0, "https://example.org/1"), (0, "https://example.org/2"), (2, "https://example.org/3"),
        ]  # fmt: skip
        for part in ("## 2. To find", "The search found nothing for this.", "> Snippet 3", "> <https://example.org/3>"):
            assert part in read["advice"]
        assert [event.action for event in AuditEvent.objects.filter(object_id=begun["id"]).order_by("pk")] == [
            "research-begun", "research-finished",
        ]  # fmt: skip
        assert "TSMC" not in str(list(AuditEvent.objects.values_list("data")))

    def test_without_a_search_it_is_finished_with_its_questions(self, kuro: Any, settings: Any) -> None:
        settings.SEARXNG_URL = ""
        begun = begin(kuro)
        assert (begun["state"], begun["searched"], begun["findings"]) == ("finished", False, [])
        assert "No search is configured here" in begun["advice"]
        assert research.search_due() == 0

    def test_what_waits_when_the_search_is_taken_away_is_finished_without(
        self, kuro: Any, searxng: Receiver, settings: Any
    ) -> None:
        begun = begin(kuro)
        settings.SEARXNG_URL = ""
        research.search_due()
        assert kuro.get(f"/research/{begun['id']}").json()["state"] == "finished"
        assert searxng.seen == []

    def test_it_speaks_the_verdicts_language(self, kuro: Any, settings: Any) -> None:
        settings.SEARXNG_URL = ""
        begun = begin(kuro, verdict="我們應該先試辦三個月，再決定預算。", topic="電動公車")
        assert begun["language"] == "zh-Hant"
        assert begun["questions"][0] == "如何試辦三個月？"
        assert begun["advice"].startswith("# 接下來怎麼做")

    @table(
        ("body", "pointer"),
        [({}, "/verdict"), ({"verdict": ""}, "/verdict"), ({"verdict": " \n\ufeff"}, "/verdict"),
         ({"verdict": "x" * 20_001}, "/verdict"), ({"verdict": "x", "topic": "y" * 201}, "/topic"),
         ({"verdict": "x", "address": "http://10.0.0.1"}, "/address"), ({"verdict": 5}, "/verdict")],
        rolled_back=True,
    )  # fmt: skip
    def test_what_is_out_of_shape_is_refused(self, kuro: Any, body: Any, pointer: str) -> None:
        answer = kuro.post("/research", body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
        assert not Research.objects.exists()

    def test_twenty_may_wait(self, kuro: Any, searxng: Receiver, monkeypatch: Any) -> None:
        monkeypatch.setattr(research, "MOST_WAITING", 2)
        begin(kuro)
        begin(kuro, topic="b")
        answer = kuro.post("/research", VERDICT | {"topic": "c"})
        assert (answer.status_code, answer["Retry-After"]) == (429, "60")
        assert Research.objects.count() == 2

    def test_what_waits_is_begun_once_where_the_answer_was_lost(self, kuro: Any, searxng: Receiver) -> None:
        begun = begin(kuro)
        again = kuro.post("/research", VERDICT)
        assert (again.status_code, again.json()) == (200, begun)
        assert research.search_due() == 1
        assert begin(kuro)["id"] != begun["id"], "there may be more to find by now"

    def test_a_strangers_is_not_there(self, kuro: Any, other: Any, settings: Any) -> None:
        settings.SEARXNG_URL = ""
        begun = begin(kuro)
        assert other.get(f"/research/{begun['id']}").status_code == 404


class TestTheSearch:
    def test_it_is_asked_for_json_once_a_question_and_nothing_found_is_fetched(
        self, kuro: Any, searxng: Receiver
    ) -> None:
        searxng.then = says({"url": f"{searxng.origin}/found", "title": "t"})
        begin(kuro)
        research.search_due()
        asked = [parse_qs(urlsplit(seen.path).query) for seen in searxng.seen]
        assert [urlsplit(seen.path).path for seen in searxng.seen] == ["/search"] * 3
        assert [each["format"] for each in asked] == [["json"]] * 3
        assert asked[0]["q"] == ["hold the fund for ten years 0050 ETF"]
        assert "authorization" not in searxng.seen[0].headers

    @table(
        ("answer", "reason"),
        [(says(status=403), "refused"), (says(status=429), "refused"), (says(status=302), "refused"),
         (says(body=b"<html>"), "answer"), (says(body=b"[" * 100_000), "answer"), (says(body=b"{}"), "answer"),
         (says(body=b"\xff"), "answer"), (lambda handler: handler.connection.close(), "reach")],
        rolled_back=True,
    )  # fmt: skip
    def test_what_fails_is_tried_again_and_given_up_in_the_end(
        self, kuro: Any, searxng: Receiver, answer: Any, reason: str
    ) -> None:
        searxng.then = answer
        begun = begin(kuro)
        now = timezone.now()
        assert research.search_due(now) == 1
        read = kuro.get(f"/research/{begun['id']}").json()
        assert (read["state"], read["reason"]) == ("waiting", reason)
        assert research.search_due(now + timedelta(seconds=29)) == 0
        for seconds in research.PAUSES:
            now += timedelta(seconds=seconds)
            assert research.search_due(now) == 1
        read = kuro.get(f"/research/{begun['id']}").json()
        assert (read["state"], read["reason"], read["advice"]) == ("failed", reason, None)
        assert research.search_due(now + timedelta(days=1)) == 0
        assert AuditEvent.objects.get(action="research-failed").data["attempts"] == 4

    @pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=8)])
    def test_it_goes_on_where_the_clock_was_set_back(
        self, kuro: Any, searxng: Receiver, noon: Any, back: timedelta
    ) -> None:
        searxng.answers = [says(status=503)]
        begun = begin(kuro)
        assert research.search_due() == 1
        noon.at -= back
        assert research.search_due() == 1
        assert kuro.get(f"/research/{begun['id']}").json()["state"] == "finished"

    def test_it_gets_there_on_a_later_attempt(self, kuro: Any, searxng: Receiver) -> None:
        searxng.answers = [says(status=503)]
        begun = begin(kuro)
        research.search_due()
        research.search_due(timezone.now() + timedelta(seconds=31))
        assert kuro.get(f"/research/{begun['id']}").json()["state"] == "finished"

    def test_what_a_dead_worker_left_is_taken_up_when_its_lease_is_over(self, kuro: Any, searxng: Receiver) -> None:
        begin(kuro)
        now = timezone.now()
        assert research._claim(now) is not None
        assert research.search_due(now) == 0
        assert research.search_due(now + research.LEASE) == 1
        assert Research.objects.get().state == "finished"

    def test_one_that_kills_every_worker_fails(self, kuro: Any, searxng: Receiver) -> None:
        begin(kuro)
        now = timezone.now()
        for _ in range(4):
            assert research._claim(now) is not None
            now += research.LEASE
        assert research.search_due(now) == 0
        assert (Research.objects.get().state, Research.objects.get().trouble) == ("failed", "interrupted")

    @pytest.mark.parametrize("pauses", [research.PAUSES, ()])  # without any the first attempt is the last
    def test_whoever_comes_second_writes_nothing(
        self, kuro: Any, searxng: Receiver, pauses: tuple[int, ...], monkeypatch: Any
    ) -> None:
        monkeypatch.setattr(research, "PAUSES", pauses)
        begin(kuro)
        row = research._claim(timezone.now())
        assert row is not None
        for _ in range(2):
            research._finish(row, [], timezone.now(), searched=True)
        research._put_off(row, Research.Trouble.REACH, timezone.now())
        assert Research.objects.get().trouble == ""
        assert AuditEvent.objects.filter(action="research-finished").count() == 1
        assert not AuditEvent.objects.filter(action="research-failed").exists()


@pytest.mark.parametrize("status", [200, 500])
def test_the_end_is_told_by_a_callback_in_its_transaction(
    kuro: Any, searxng: Receiver, status: int, monkeypatch: Any
) -> None:
    Agent.objects.update(callback_url="https://agent.example/hook")
    monkeypatch.setattr(research, "PAUSES", ())
    searxng.then = says(found(1), status=status)
    begun = begin(kuro)
    assert not Delivery.objects.exists()
    research.search_due()
    body = json.loads(Delivery.objects.get().body)
    assert body["type"] == "research.finished"
    assert body["data"] == kuro.get(f"/research/{begun['id']}").json()


def test_its_texts_go_with_the_retention(kuro: Any, aurora: Any, settings: Any, searxng: Receiver) -> None:
    begin(kuro)
    research.search_due()
    waiting = begin(kuro)["id"]
    Team.objects.filter(pk=aurora.pk).update(retention_days=30)
    Research.objects.update(created_at=timezone.now() - timedelta(days=90))
    for days, erased in ((29, 0), (31, 1)):
        Research.objects.filter(state="finished").update(ended_at=timezone.now() - timedelta(days=days))
        assert retention.erase() == erased
    row = Research.objects.get(state="finished")
    assert (row.verdict, row.topic, row.questions, row.findings, row.advice) == ("", "", [], [], "")
    assert Research.objects.get(public_id=waiting).verdict
    assert AuditEvent.objects.filter(action="research-erased").count() == 1


class TestThePages:
    def test_they_show_what_was_asked_found_and_advised(
        self, kuro: Any, searxng: Receiver, victor: Any, as_person: Any
    ) -> None:
        searxng.then = says(
            {"url": "https://example.org/1", "title": "<script>alert(1)</script>", "content": "Snippet"}
        )
        begun = begin(kuro)
        client = as_person(victor)
        address = reverse("research", args=[begun["id"]])
        assert "Searching" in words(client.get(address))
        research.search_due()
        page = client.get(address).content.decode()
        assert 'href="https://example.org/1" rel="noreferrer noopener nofollow"' in page
        assert "<script>alert" not in page
        assert "How do I hold the fund for ten years?" in page
        assert address in client.get("/research/").content.decode()

    def test_a_stranger_finds_nothing(self, kuro: Any, settings: Any, mallory: Any, as_person: Any) -> None:
        settings.SEARXNG_URL = ""
        begun = begin(kuro)
        client = as_person(mallory)
        assert client.get(reverse("research", args=[begun["id"]])).status_code == 404
        for query in ({}, {"agent": kuro.id}):
            page = words(client.get("/research/", query))
            assert "kuro" not in page
            assert "No search engine is configured" in page

    def test_the_list_costs_the_same_however_long(
        self, kuro: Any, settings: Any, victor: Any, as_person: Any, django_assert_max_num_queries: Any
    ) -> None:
        settings.SEARXNG_URL = ""
        for _ in range(6):
            begin(kuro)
        client = as_person(victor)
        with django_assert_max_num_queries(9):
            assert client.get("/research/").status_code == 200


class TestTheSetting:
    @pytest.mark.parametrize(
        ("given", "read"),
        [
            ("", ""),
            ("http://127.0.0.1:8888/", "http://127.0.0.1:8888"),
            ("https://s.example/sub", "https://s.example/sub"),
        ],
    )
    def test_it_reads_an_address(self, given: str, read: str, monkeypatch: Any) -> None:
        found: list[Any] = []
        monkeypatch.setattr(module, "CONFIG_PROBLEMS", found)
        monkeypatch.setitem(module._ENV, "METACOG_SEARXNG_URL", given)
        assert (module._address("METACOG_SEARXNG_URL", "http://127.0.0.1:8888"), found) == (read, [])

    @pytest.mark.parametrize("given", ["searxng:8888", "ftp://s", "http://u:secret@s", "http://s/?q=", "http://[::1"])
    def test_it_refuses_what_is_none_and_repeats_no_password(self, given: str, monkeypatch: Any) -> None:
        found: list[Any] = []
        monkeypatch.setattr(module, "CONFIG_PROBLEMS", found)
        monkeypatch.setitem(module._ENV, "METACOG_SEARXNG_URL", given)
        assert module._address("METACOG_SEARXNG_URL", "http://127.0.0.1:8888") == ""
        assert "METACOG_SEARXNG_URL" in found[0][0]
        assert "secret" not in str(found)


SECRET = "AKIAB3DE5GH7JK9MN1P9"


def test_questions_and_advice_quote_no_piece_of_a_secret_and_no_search_is_told_one(
    kuro: Any, victor: Any, as_person: Any, searxng: Receiver
) -> None:
    verdict = f"We must rotate {SECRET} now. “mck_{SECRET}” cost 48 %. {'And so on. ' * 20}It is glpat-{SECRET}, too."
    asked = begin(kuro, verdict=verdict, topic=f"Keys of sk-{SECRET}")
    research.search_due()
    row = Research.objects.get()
    heard = [unquote_plus(each.path) for each in searxng.seen]
    assert len(heard) == 3
    said = [*asked["questions"], row.advice, *heard, json.dumps(row.questions)]
    assert [each for each in said if SECRET[:8] in each or ("•" in each and "/search" in each)] == []
    main = re.compile("<main.*</main>", re.DOTALL)
    page = main.findall(as_person(victor).get(reverse("research", args=[row.public_id])).content.decode())
    assert SECRET[:8] not in page[0]
    # As former releases wrote them.
    Research.objects.update(questions=[{**each, "text": f"How to rotate {SECRET[4:]}?"} for each in row.questions])
    Research.objects.update(advice=f"> rotate {SECRET[4:]}")
    again = main.findall(as_person(victor).get(reverse("research", args=[row.public_id])).content.decode())
    assert again == page
