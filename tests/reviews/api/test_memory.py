"""The team's shared memory, as agents meet it: what comes in, what waits, what is found, what contradicts what."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from metacog.models import Agent, AuditEvent, Policy
from patterns.memory import memory
from patterns.models import Memory, MemoryConflict, MemoryTerm
from tests.conftest import HELD
from tests.tables import table

pytestmark = pytest.mark.django_db

SAFE = "The deploy takes five minutes."


@pytest.fixture
def sibling(aurora: Any) -> Any:
    from tests.conftest import _agent

    return _agent(aurora, "sibling")


def remember(agent: Any, text: str = SAFE, **fields: Any) -> dict[str, Any]:
    answer = agent.post("/memory", {"text": text, **fields})
    assert answer.status_code in (200, 201), answer.content
    shape: dict[str, Any] = answer.json()
    return shape


def found(agent: Any, query: str) -> list[str]:
    return [item["text"] for item in agent.get(f"/memory?q={query}").json()["items"]]


class TestPosting:
    def test_it_answers_the_whole_row_and_every_agent_of_the_team_finds_it(self, kuro: Any, sibling: Any) -> None:
        answer = kuro.post("/memory", {"text": SAFE, "topic": "deploys", "source": "run 12", "confidence": 0.9})
        assert answer.status_code == 201
        shape = answer.json()
        assert shape | {"id": "", "created_at": ""} == {
            "id": "", "text": SAFE, "topic": "deploys", "source": "run 12", "confidence": 0.9, "state": "confirmed",
            "why": [], "by": "agent", "confirmed_by": "rule", "hesitation": 0, "response": None,
            "occurred_at": shape["occurred_at"], "created_at": "", "contradicts": [],
        }  # fmt: skip
        (item,) = sibling.get("/memory?q=deploying").json()["items"]
        assert item == shape | {"score": item["score"], "share": 1.0, "matched": ["deploy"]}
        assert sibling.get(f"/memory/{shape['id']}").json() == shape
        event = AuditEvent.objects.get(action="memory-added")
        assert event.data["sha256"] == Memory.objects.get().sha256
        assert SAFE not in str(event.data)

    def test_the_same_text_again_is_the_same_row_whoever_posts_it(self, kuro: Any, sibling: Any) -> None:
        first = remember(kuro, confidence=0.9)
        again = sibling.post("/memory", {"text": SAFE, "confidence": 0.1})
        assert (again.status_code, again.json()) == (200, first)
        assert AuditEvent.objects.filter(object_id=first["id"]).count() == 1

    def test_what_would_be_held_waits_and_answers_nobody(self, kuro: Any, sibling: Any) -> None:
        shape = remember(kuro, HELD)
        assert (shape["state"], shape["hesitation"], shape["confirmed_by"]) == ("pending", 50, None)
        assert found(sibling, "cache") == found(kuro, "cache") == found(kuro, "") == []
        assert not MemoryTerm.objects.exists()
        assert sibling.get(f"/memory/{shape['id']}").status_code == 404
        assert kuro.get(f"/memory/{shape['id']}").json()["state"] == "pending"
        assert AuditEvent.objects.get(action="memory-held").data["score"] == 50

    @table(
        ("weights", "text", "why"),
        [
            # Below the threshold; from it on; from hold_at on.
            ({"absolute-claim": 29}, "Clearly it works.", {}),
            ({"absolute-claim": 30}, "Clearly it works.", {"score": "hesitation 30: absolute-claim"}),
            ({"absolute-claim": 49}, "Clearly it works.", {"score": "hesitation 49: absolute-claim"}),
            ({"absolute-claim": 50}, "Clearly it works.", {"score": "hesitation 50: absolute-claim"}),
            # An error pattern, however little it weighs.
            ({"error-pattern": 1}, "It is the cache.", {"error-pattern": "error pattern ep-cache"}),
            (
                {"error-pattern": 30},
                "It is the cache.",
                {"score": "hesitation 30: error-pattern", "error-pattern": "error pattern ep-cache"},
            ),
        ],
    )
    @table("way", ["api", "tag"], rolled_back=True)
    def test_what_is_in_doubt_waits_whichever_way_it_comes(
        self, kuro: Any, way: str, weights: dict[str, int], text: str, why: dict[str, str]
    ) -> None:
        Policy.objects.update(weights=weights, hold_at=101)
        if way == "tag":
            item = kuro.respond(text, items=[{"kind": "remember", "text": text}])["items"][0]
            assert item["memory"] == ("waiting" if why else "stored")
            shape = kuro.get(f"/memory/{Memory.objects.get().public_id}").json()
        else:
            shape = remember(kuro, text)
        assert shape["state"] == ("pending" if why else "confirmed")
        assert {reason["type"]: reason["detail"] for reason in shape["why"]} == why
        assert found(kuro, "works cache") == ([] if why else [text])
        event = AuditEvent.objects.get(object_id=shape["id"])
        assert (event.action, event.data.get("reasons", [])) == ("memory-held" if why else "memory-added", list(why))

    def test_without_hesitation_nothing_waits(self, kuro: Any) -> None:
        Agent.objects.update(hesitation_enabled=False)
        shape = remember(kuro, HELD)
        assert (shape["state"], shape["hesitation"]) == ("confirmed", None)

    def test_a_policy_that_cannot_be_read_lets_nothing_in(self, kuro: Any) -> None:
        Policy.objects.update(weights={"absolute-claim": "?"})
        assert kuro.post("/memory", {"text": SAFE}).status_code == 503
        assert not Memory.objects.exists()

    @pytest.mark.usefixtures("undo_at_once")
    @pytest.mark.parametrize(("kind", "state"), [("remember", "confirmed"), ("chat", "pending")])
    def test_only_text_approved_as_a_memory_of_this_agent_passes(
        self, kuro: Any, sibling: Any, alice: Any, kind: str, state: str
    ) -> None:
        from reviews.held import decisions
        from reviews.models import HeldItem

        Policy.objects.update(remember_into_memory=False)
        assert remember(kuro, HELD)["state"] == "pending"
        kuro.hold(kind)
        decisions.decide(HeldItem.objects.get(), alice, "approve")
        assert remember(sibling, HELD)["state"] == "pending"
        assert remember(kuro, HELD)["state"] == state
        assert found(sibling, "cache") == ([HELD] if state == "confirmed" else [])

    @pytest.mark.usefixtures("undo_at_once")
    def test_approved_text_is_let_in_once_and_not_again_once_it_is_retired(
        self, kuro: Any, alice: Any, carla: Any
    ) -> None:
        from reviews.held import decisions
        from reviews.models import HeldItem

        kuro.hold("remember")
        decisions.decide(HeldItem.objects.get(), alice, "approve")
        for _ in range(2):
            assert remember(kuro, HELD)["state"] == "confirmed"
        memory.retire(Memory.objects.get(), carla)
        assert remember(kuro, HELD)["state"] == "retired"
        assert AuditEvent.objects.filter(action__in=["memory-added", "memory-confirmed"]).count() == 1

    @table(
        ("body", "pointer"),
        [
            ({}, "/text"),
            ({"text": ""}, "/text"),
            ({"text": " \n\u200b"}, "/text"),
            ({"text": "x" * 2001}, "/text"),
            ({"text": "x", "topic": "x" * 201}, "/topic"),
            ({"text": "x", "source": 1}, "/source"),
            ({"text": "x", "confidence": 1.1}, "/confidence"),
            ({"text": "x", "state": "confirmed"}, "/state"),
        ],
        rolled_back=True,
    )
    def test_what_is_out_of_shape_is_refused(self, kuro: Any, body: Any, pointer: str) -> None:
        answer = kuro.post("/memory", body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
        assert not Memory.objects.exists()

    def test_a_team_remembers_no_more_than_can_be_searched(self, kuro: Any, carla: Any, monkeypatch: Any) -> None:
        monkeypatch.setattr(memory, "MAX_MEMORIES", 1)
        remember(kuro)
        answer = kuro.post("/memory", {"text": "One more."})
        assert answer.status_code == 409
        assert "most it can" in answer.json()["detail"]
        assert kuro.post("/memory", {"text": SAFE}).status_code == 200
        memory.retire(Memory.objects.get(), carla)
        assert kuro.post("/memory", {"text": "One more."}).status_code == 201

    def test_the_longest_words_are_kept_and_found(self, kuro: Any) -> None:
        remember(kuro, "x" * 2000)
        assert len(found(kuro, "x" * 900)) == 1


class TestSearching:
    @pytest.fixture(autouse=True)
    def _memories(self, kuro: Any) -> None:
        for text in ("台積電 Q3 營收為 9899 億元。", "The queue is warm.", "The queue expires after the deploy."):
            remember(kuro, text)

    def test_the_best_comes_first_and_says_what_it_has(self, kuro: Any) -> None:
        items = kuro.get("/memory?q=does the queue expire").json()["items"]
        assert [item["matched"] for item in items] == [["queue", "expires"], ["queue"]]
        assert items[0]["score"] > items[1]["score"]
        assert items[0]["share"] == 1

    def test_the_topic_is_searched_too(self, kuro: Any) -> None:
        remember(kuro, "台積電 Q3 毛利率為 59.5%。", topic="財報", confidence=0.9)
        assert found(kuro, "財報") == ["台積電 Q3 毛利率為 59.5%。"]
        asked = {"session": "s", "problem": "p", "step": 5, "reason": "目前缺乏台積電 Q3 財報數據，此為核心論據"}
        assert kuro.post("/extensions", asked).json()["by"] == "memory", "the seed's own example"

    def test_simplified_finds_traditional(self, kuro: Any) -> None:
        (item,) = kuro.get("/memory?q=台积电的营收").json()["items"]
        assert item["matched"] == ["台積電", "營收"]

    def test_it_is_read_page_by_page(self, kuro: Any) -> None:
        for query in ("", "queue"):
            texts, after = [], ""
            while after is not None:
                page = kuro.get(f"/memory?q={query}&limit=1&after={after}").json()
                texts += [item["text"] for item in page["items"]]
                after = page["next"]
            assert texts == found(kuro, query)
        assert kuro.get("/memory?after=mem_none").status_code == 422

    def test_a_search_costs_as_many_queries_with_many_as_with_few(self, kuro: Any) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connection) as asked:
                kuro.get("/memory?q=queue")
                return len(asked)

        few = queries()
        for number in range(12):
            remember(kuro, f"Queue of shard {chr(97 + number)}.")
        assert len(found(kuro, "queue")) == 14
        assert queries() == few


class TestContradicting:
    def test_both_are_told_and_only_confirmed_text(self, kuro: Any, sibling: Any) -> None:
        old = remember(kuro, "The API supports pagination.")
        remember(kuro, "The API supports uploads.")
        new = remember(sibling, "The API does not support pagination.")
        assert new["contradicts"] == [
            {"id": old["id"], "type": "negation", "confidence": 0.95, "text": "The API supports pagination."}
        ]
        (item, *_) = kuro.get("/memory?q=API pagination").json()["items"]
        assert len(item["contradicts"]) == 1

    @table(
        ("old", "new"),
        [("The office is in Berlin.", "The office is in Hamburg."), ("負責人是王小明。", "負責人是李大華。")],
        rolled_back=True,
    )
    def test_another_value_of_what_has_one_is_told(self, kuro: Any, old: str, new: str) -> None:
        known = remember(kuro, old)
        assert remember(kuro, new)["contradicts"] == [
            {"id": known["id"], "type": "value", "confidence": pytest.approx(0.65, abs=0.1), "text": old}
        ]

    def test_a_retraction_takes_back_what_it_is_most_like_and_nothing_else(self, kuro: Any) -> None:
        remember(kuro, "The deploy runs at night.")
        old = remember(kuro, "The deploy takes five minutes.")
        new = remember(kuro, "I was wrong: the deploy takes longer than five minutes.")
        assert [(clash["id"], clash["type"]) for clash in new["contradicts"]] == [(old["id"], "retraction")]

    def test_what_waits_is_compared_and_not_quoted(self, kuro: Any) -> None:
        old = remember(kuro, "The queue is warm.")
        held = remember(kuro, "The queue is obviously not warm.")
        assert (held["state"], held["contradicts"][0]["id"]) == ("pending", old["id"])
        assert held["why"] == [{"type": "contradiction", "detail": f"contradicts {old['id']}"}]
        (item,) = kuro.get("/memory?q=queue").json()["items"]
        assert item["contradicts"][0]["text"] is None

    def test_a_person_says_which_stands(self, kuro: Any, carla: Any) -> None:
        remember(kuro, "The queue is warm.")
        remember(kuro, "The queue is obviously not warm.")
        memory.settle(MemoryConflict.objects.get(), "newer", carla)
        assert found(kuro, "queue") == ["The queue is obviously not warm."]
        assert list(Memory.objects.order_by("pk").values_list("state", flat=True)) == ["retired", "confirmed"]
        assert [event.action for event in AuditEvent.objects.order_by("pk")][-3:] == [
            "memory-settled", "memory-confirmed", "memory-retired",
        ]  # fmt: skip
        with pytest.raises(memory.Moved):
            memory.settle(MemoryConflict.objects.get(), "older", carla)

    def test_what_is_retired_answers_nobody_and_contradicts_nothing(self, kuro: Any, carla: Any) -> None:
        remember(kuro, "The API supports pagination.")
        new = remember(kuro, "The API does not support pagination.")
        memory.retire(Memory.objects.earliest("pk"), carla)
        assert found(kuro, "pagination") == []
        memory.confirm(Memory.objects.get(public_id=new["id"]), carla)
        assert found(kuro, "pagination") == ["The API does not support pagination."]
        assert kuro.get(f"/memory/{new['id']}").json()["contradicts"] == []
        assert MemoryConflict.objects.get().outcome == "newer"
        assert remember(kuro, "The API supports pagination.")["state"] == "retired"

    def test_it_becomes_the_proposal_of_a_pattern(self, kuro: Any) -> None:
        from reviews.models import PatternOrigin

        remember(kuro, "It is slow. The API supports pagination.")
        new = remember(kuro, "The API does not support pagination.")
        origin = PatternOrigin.objects.select_related("pattern").get()
        assert (origin.kind, origin.row, origin.pattern.state) == ("memory", new["id"], "proposed")
        assert origin.pattern.keywords == ["The API supports pagination"]
        told = "The API does not support pagination."
        assert origin.evidence["told"] == told
        said = "Contradicted by newer knowledge: “The API supports pagination.”"
        assert origin.pattern.description == f"{said} · {told}"

    def test_what_waits_for_what_it_says_itself_teaches_nothing(self, kuro: Any) -> None:
        from reviews.models import PatternOrigin

        remember(kuro, "The queue is warm.")
        shape = remember(kuro, "The queue is obviously not warm. It is the cache.")
        assert [reason["type"] for reason in shape["why"]] == ["score", "error-pattern", "contradiction"]
        assert not PatternOrigin.objects.exists()


def test_a_stranger_finds_nothing(kuro: Any, other: Any) -> None:
    shape = remember(kuro)
    assert found(other, "deploy") == found(other, "") == []
    missing = other.get("/memory/mem_none").json()
    assert other.get(f"/memory/{shape['id']}").json() == missing | {
        "detail": missing["detail"].replace("mem_none", shape["id"])
    }
    assert other.get(f"/memory?after={shape['id']}").status_code == 422
    assert other.post("/memory", {"text": SAFE}).status_code == 201
