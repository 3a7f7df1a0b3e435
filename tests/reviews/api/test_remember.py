"""What an agent remembers by a REMEMBER in a response, and what time and sources make of contradictions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.accounts.agents import add_policy
from metacog.heuristics.memory import recall
from metacog.models import Agent, AuditEvent, Policy
from patterns.memory import memory
from patterns.models import ErrorPattern, Memory, MemoryConflict, MemoryTerm
from reviews import tasks
from reviews.held import decisions
from reviews.intake import knowledge
from reviews.learning import sweep
from reviews.models import AgentResponse, HeldItem, PatternOrigin
from reviews.scoring.replay import Replayer
from tests.conftest import HELD
from tests.tables import table

pytestmark = pytest.mark.django_db

OLD, NEW = "The API supports pagination.", "The API does not support pagination."


def remember(caller: Any, text: str, *, way: str, at: str | None = None, source: str = "") -> Memory:
    """Have an agent say something, the one way or the other; return the memory that came of it."""
    if way == "api":
        answer = caller.post("/memory", {"text": text, "source": source, "occurred_at": at})
        assert answer.status_code == 201
    else:
        caller.respond("Noted.", items=[item(text, source=source)], occurred_at=at)
    return Memory.objects.get(text=text)


def item(text: str, **attributes: str) -> dict[str, Any]:
    return {"kind": "remember", "text": text, "attributes": {k: v for k, v in attributes.items() if v}}


def active(caller: Any) -> list[str]:
    return [each["text"] for each in caller.get("/memory").json()["items"]]


def proposed() -> list[str]:
    return [pattern.keywords[0] for pattern in ErrorPattern.objects.filter(state="proposed")]


class TestATag:
    def test_what_passes_is_remembered_at_once_with_where_it_was_said(self, kuro: Any) -> None:
        text = "Done. <kuro:remember topic='deploys' source='run 12'> The deploy takes five minutes. </kuro:remember>"
        verdict = kuro.respond(text, items=None, occurred_at="2026-02-16T08:00:00Z")
        assert [each["memory"] for each in verdict["items"]] == ["stored"]
        (shape,) = kuro.get("/memory?q=deploy").json()["items"]
        assert (shape["text"], shape["topic"], shape["source"]) == (
            "The deploy takes five minutes.", "deploys", "run 12",
        )  # fmt: skip
        assert (shape["response"], shape["occurred_at"]) == (verdict["id"], "2026-02-16T08:00:00.000Z")
        assert AuditEvent.objects.get(action="memory-added").object_id == shape["id"]

    def test_the_same_sentence_is_one_memory_whichever_way_and_how_often_it_comes(self, kuro: Any) -> None:
        body = json.dumps({"response": "Noted.", "id": "once", "items": [item(OLD), item(f" {OLD}\n")]})
        first, again = kuro.post("/responses", body), kuro.post("/responses", body)
        assert first.content == again.content
        assert [each["memory"] for each in first.json()["items"]] == ["stored", "stored"]
        kuro.respond("Noted.", items=[item(OLD)])
        assert kuro.post("/memory", {"text": OLD}).status_code == 200
        assert Memory.objects.count() == AuditEvent.objects.filter(action="memory-added").count() == 1

    def test_one_switch_says_whether_it_becomes_memory(self, kuro: Any, olga: Any) -> None:
        agent = Agent.objects.get(public_id=kuro.id)
        add_policy(agent, olga, Policy(remember_into_memory=False), based_on=1)
        assert kuro.respond("Noted.", items=[item(OLD)])["items"][0]["memory"] is None
        assert not Memory.objects.exists()
        assert kuro.post("/memory", {"text": OLD}).json()["state"] == "confirmed"

    @table(
        ("text", "memory", "flags"),
        [
            ("x" * Memory.MAX_TEXT, "stored", []),
            ("x" * (Memory.MAX_TEXT + 1), None, ["memory-too-long"]),
            (" \u200b", None, []),
        ],
        rolled_back=True,
    )
    def test_what_cannot_be_remembered_says_so(
        self, kuro: Any, text: str, memory: str | None, flags: list[str]
    ) -> None:
        (told,) = kuro.respond("Noted.", items=[item(text)])["items"]
        assert (told["memory"], told["flags"]) == (memory, flags)
        assert Memory.objects.exists() is bool(memory)

    def test_a_full_memory_and_one_that_was_retired_refuse_no_response(
        self, kuro: Any, carla: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(memory, "MAX_MEMORIES", 1)
        told = kuro.respond("Noted.", items=[item(OLD), item("One more.")])["items"]
        assert [(each["memory"], each["flags"]) for each in told] == [("stored", []), (None, ["memory-full"])]
        memory.retire(Memory.objects.get(), carla)
        (told,) = kuro.respond("Noted.", items=[item(OLD)])["items"]
        assert (told["memory"], told["flags"]) == (None, ["memory-retired"])

    def test_of_a_great_many_in_one_response_the_rest_waits(self, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(knowledge, "AT_ONCE", 2)
        told = kuro.respond("Noted.", items=[item(text) for text in ("One thing.", "Another.", "A third.")])["items"]
        assert [each["memory"] for each in told] == ["stored", "stored", "waiting"]
        assert Memory.objects.get(state="pending").reasons == ["many"]

    def test_the_verdict_is_made_again_with_what_became_of_it(self, kuro: Any, carla: Any) -> None:
        kuro.respond("Noted.", items=[item(OLD), item("x" * 2001), {"kind": "chat", "text": "Hi."}])
        kuro.respond("It is the cache.", items=[item("It is the cache.")])
        for row in Memory.objects.all():
            memory.retire(row, carla)
        for response in AgentResponse.objects.select_related("agent__team"):
            replayed = Replayer().replay(response)
            assert (replayed.is_equal, replayed.differences) == (True, [])

    def test_a_response_without_one_costs_no_query_for_it(self, kuro: Any, olga: Any) -> None:
        def queries(**fields: Any) -> int:
            kuro.respond("Noted.", **fields)
            with CaptureQueriesContext(connection) as asked:
                kuro.respond("Noted.", **fields)
            return len(asked)

        without = queries(items=[{"kind": "chat", "text": "Hi."}])
        add_policy(Agent.objects.get(public_id=kuro.id), olga, Policy(remember_into_memory=False), based_on=1)
        assert queries(items=[{"kind": "chat", "text": "Hi."}]) == without == queries(items=[item(OLD)])


@pytest.mark.usefixtures("undo_at_once")
class TestAHeldTag:
    @table(
        ("decision", "left"),
        [
            ({"verdict": "approve"}, HELD),
            ({"verdict": "edit", "edit": "It was slow."}, "It was slow."),
            ({"verdict": "reject", "reason": "x"}, None),
        ],
        rolled_back=True,
    )
    def test_it_is_remembered_once_a_person_lets_it_go(
        self, kuro: Any, alice: Any, decision: Any, left: str | None
    ) -> None:
        kuro.hold("remember")
        assert not Memory.objects.exists()
        decisions.decide(HeldItem.objects.get(), alice, **decision)
        assert active(kuro) == ([left] if left else [])
        for row in Memory.objects.all():
            assert (row.confirmed_by, row.said_in) == (alice, AgentResponse.objects.get().public_id)
        verdict = kuro.respond(left or HELD, items=[item(left or HELD)])
        assert verdict["items"][0].get("memory") == ("stored" if left else None)
        assert Memory.objects.count() == bool(left)

    def test_what_waits_in_the_memory_too_is_confirmed_with_it(self, kuro: Any, alice: Any) -> None:
        assert kuro.post("/memory", {"text": HELD}).json()["state"] == "pending"
        kuro.hold("remember")
        decisions.decide(HeldItem.objects.get(), alice, "approve")
        assert active(kuro) == [HELD]
        assert Memory.objects.count() == 1

    def test_what_the_agent_releases_itself_waits_for_a_curator(self, kuro: Any) -> None:
        Policy.objects.update(release={"remember": "agent"})
        held = kuro.hold("remember")
        kuro.respond("Later.", items=[])
        answer = kuro.post(f"/held/{held}/decision", {"verdict": "approve", "reason": "seen again"})
        assert answer.status_code == 201
        assert list(Memory.objects.values_list("state", "reasons")) == [("pending", ["score", "error-pattern"])]

    def test_one_that_is_too_long_is_decided_all_the_same(self, kuro: Any, alice: Any) -> None:
        text = HELD + "x" * Memory.MAX_TEXT
        kuro.respond(text, items=[item(text)])
        decisions.decide(HeldItem.objects.get(), alice, "approve")
        assert HeldItem.objects.get().state == "approved"
        assert not Memory.objects.exists()
        assert AuditEvent.objects.get(action="memory-too-long").object_id == HeldItem.objects.get().public_id


class TestTime:
    """Of two that contradict each other the older by when it was said is proposed as an error pattern."""

    @table("first", ["api", "tag"])
    @table("second", ["api", "tag"])
    @table("is_late", [False, True], rolled_back=True)
    def test_whichever_way_they_come(self, kuro: Any, first: str, second: str, is_late: bool) -> None:
        kept = remember(kuro, OLD, way=first, at="2026-02-16T08:00:00Z")
        at = "2026-02-15T08:00:00Z" if is_late else "2026-02-17T08:00:00Z"
        come = remember(kuro, NEW, way=second, at=at)
        conflict = MemoryConflict.objects.get()
        assert (conflict.older, conflict.newer) == ((come, kept) if is_late else (kept, come))
        assert proposed() == [(NEW if is_late else OLD)[:-1]]
        assert PatternOrigin.objects.get().row == conflict.newer.public_id
        assert active(kuro) == [OLD], "what came later waits"
        sweep.learn()
        assert PatternOrigin.objects.count() == 1, "it teaches once, in the memory"

    def test_a_persons_memory_counts_from_when_it_was_written(self, kuro: Any, aurora: Any, carla: Any) -> None:
        written = memory.add(aurora, memory.Said(OLD), carla)
        come = remember(kuro, NEW, way="api", at="2026-02-16T08:00:00Z")
        assert (MemoryConflict.objects.get().older, MemoryConflict.objects.get().newer) == (come, written)
        assert proposed() == [NEW[:-1]]

    def test_what_lies_ahead_is_said_now(self, kuro: Any) -> None:
        row = remember(kuro, OLD, way="api", at="2999-01-01T00:00:00Z")
        assert row.occurred_at <= timezone.now()

    @table(
        ("older", "newer", "patterns"),
        [("run 12", "", []), ("run 12", "run 13", [OLD[:-1]]), ("", "run 13", [OLD[:-1]]), ("", "", [OLD[:-1]])],
    )
    @table("way", ["api", "tag"], rolled_back=True)
    def test_what_has_a_source_is_not_turned_round_by_what_has_none(
        self, kuro: Any, way: str, older: str, newer: str, patterns: list[str]
    ) -> None:
        remember(kuro, OLD, way=way, source=older)
        remember(kuro, NEW, way=way, source=newer)
        sweep.learn()
        assert MemoryConflict.objects.filter(outcome="").count() == 1
        assert proposed() == patterns


class TestSettling:
    """The page's own calls are in tests/reviews/pages/test_memory.py."""

    @table(
        ("source", "outcome", "state", "action"),
        [
            ("", "newer", "proposed", "pattern-proposed"),
            ("", "older", "retired", "pattern-dismissed"),
            ("", "both", "retired", "pattern-dismissed"),
            ("run 12", "newer", "proposed", "pattern-proposed"),
        ],
        rolled_back=True,
    )
    def test_it_settles_what_was_proposed(
        self, kuro: Any, carla: Any, source: str, outcome: str, state: str, action: str
    ) -> None:
        remember(kuro, OLD, way="api", source=source)
        remember(kuro, NEW, way="api")
        knowledge.settle(MemoryConflict.objects.get(), outcome, carla)
        pattern = ErrorPattern.objects.get(keywords=[OLD[:-1]])
        assert pattern.state == state
        assert bool(pattern.dismissed_because) is (state == "retired")
        assert AuditEvent.objects.filter(object_id=pattern.public_id).latest("pk").action == action

    def test_a_proposal_that_something_else_taught_too_stays(self, kuro: Any, carla: Any) -> None:
        remember(kuro, OLD, way="api")
        remember(kuro, NEW, way="api")
        PatternOrigin.objects.create(
            pattern=ErrorPattern.objects.get(state="proposed"), kind="correction", row="resp_1"
        )
        knowledge.settle(MemoryConflict.objects.get(), "older", carla)
        assert proposed() == [OLD[:-1]]


class TestTheIndex:
    """Terms that another stemmer made are not found; they are made anew."""

    @pytest.fixture(params=[recall.TERMS - 1, recall.TERMS + 1])  # the one before; a later release's, gone back from
    def outdated(self, kuro: Any, request: pytest.FixtureRequest) -> Memory:
        row = remember(kuro, "The deploys were tested.", way="api")
        remember(kuro, "The printer is on the third floor.", way="api")
        MemoryTerm.objects.filter(memory=row, term="deploy").update(term="deploys")
        Memory.objects.filter(pk=row.pk).update(terms_version=request.param, length=9)
        assert kuro.get("/memory?q=deploy").json()["items"] == []
        return row

    def test_it_is_made_anew(self, kuro: Any, outdated: Memory) -> None:
        tasks.index_memory()
        assert [each["text"] for each in kuro.get("/memory?q=deploy").json()["items"]] == [outdated.text]
        outdated.refresh_from_db()
        assert (outdated.terms_version, outdated.length) == (recall.TERMS, 2)
        assert sorted(outdated.terms.values_list("term", flat=True)) == ["deploy", "test"]
        assert not memory.outdated().exists()

    def test_what_waits_has_no_terms_to_make(self, kuro: Any) -> None:
        waits = kuro.post("/memory", {"text": "It is obviously the cache."}).json()
        assert waits["state"] == "pending"
        assert knowledge.index_anew() == 0
        assert not MemoryTerm.objects.exists()

    def test_a_run_takes_no_more_than_it_may(self, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(5):
            remember(kuro, f"Shelf {chr(97 + number)}{number} is full.", way="api")
        Memory.objects.update(terms_version=0)
        monkeypatch.setattr(memory, "INDEXED", 1)
        monkeypatch.setattr(memory, "INDEXED_A_RUN", 3)
        assert [knowledge.index_anew() for _ in range(3)] == [3, 2, 0]

    def test_nothing_to_do_costs_one_query(self, kuro: Any, django_assert_num_queries: Any) -> None:
        remember(kuro, OLD, way="api")
        with django_assert_num_queries(1):
            assert knowledge.index_anew() == 0
