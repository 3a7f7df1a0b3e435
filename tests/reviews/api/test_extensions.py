"""Requests for more tool calls (seed 003), as an agent meets them: three gates, one decision, a budget."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.translation import trans_real

from metacog.accounts.agents import add_policy
from metacog.models import Agent, AuditEvent, Policy
from metacog.runtime import catalogs
from patterns.memory import memory
from patterns.models import Memory
from reviews import tasks
from reviews.investigation import extensions
from reviews.models import Delivery, ExtensionRequest
from tests.tables import table

pytestmark = pytest.mark.django_db

REASON = "Need TSMC Q3 revenue to settle the main point"
ANOTHER = "Need the 2023 inflation rate of Japan"
KNOWN = "TSMC's revenue in Q3 was NT$989.9 billion."


def ask(agent: Any, reason: str = REASON, **fields: Any) -> Any:
    return agent.post("/extensions", {"session": "s1", "problem": "margin", "reason": reason, "step": 5} | fields)


def wait(agent: Any, **fields: Any) -> dict[str, Any]:
    """Make a request that waits for the chairman."""
    shape: dict[str, Any] = ask(agent, "need more time", **fields).json()
    assert shape["state"] == "pending", shape
    return shape


def row_of(shape: dict[str, Any]) -> ExtensionRequest:
    return ExtensionRequest.objects.select_related("agent__team").get(public_id=shape["id"])


def policy(kuro: Any, olga: Any, **values: Any) -> None:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    old = Policy.objects.get(agent=agent, version=agent.policy_version)
    fresh = Policy(**{field.name: getattr(old, field.name) for field in Policy._meta.fields if field.name != "id"})
    for name, value in values.items():
        setattr(fresh, name, value)
    add_policy(agent, olga, fresh, based_on=agent.policy_version)


class TestTheBudget:
    def test_it_is_five_and_says_when_they_are_used_up(self, kuro: Any) -> None:
        early = kuro.get("/extensions?session=s1&problem=margin&step=4").json()
        assert (early["budget"], early["message"]) == ({"allowed": 5, "used": 4, "left": 1}, None)
        spent = kuro.get("/extensions?session=s1&problem=margin&step=5").json()
        assert spent["budget"] == {"allowed": 5, "used": 5, "left": 0}
        assert spent["message"] == "Max steps reached. 1. Conclude. 2. Extend."

    def test_what_is_granted_counts_in_its_own_investigation(self, kuro: Any) -> None:
        assert ask(kuro).json()["budget"] == {"allowed": 8, "used": 5, "left": 3}
        told = kuro.get("/extensions?session=s1&problem=margin&step=8").json()
        assert (told["budget"], told["message"] is not None) == ({"allowed": 8, "used": 8, "left": 0}, True)
        assert kuro.get("/extensions?session=s2&problem=margin").json()["budget"]["allowed"] == 5
        assert kuro.get("/extensions?session=s1&problem=margin").json()["budget"]["used"] == 5

    def test_both_numbers_are_the_agents_policy(self, kuro: Any, olga: Any) -> None:
        policy(kuro, olga, budget_calls=36, budget_extension=10)
        assert ask(kuro, step=36).json()["budget"] == {"allowed": 46, "used": 36, "left": 10}

    def test_it_is_told_in_the_agents_language(self, kuro: Any, settings: Any, tmp_path: Any, monkeypatch: Any) -> None:
        settings.LOCALE_PATHS = [tmp_path]
        catalogs.compile_all()
        monkeypatch.setattr(trans_real, "_translations", {})
        Agent.objects.update(language="zh-hant")
        assert "Extend（申請延長）" in kuro.get("/extensions?step=5").json()["message"]
        kuro.post("/memory", {"text": "台積電 Q3 財報：營收 9899 億元。", "confidence": 0.9})
        told = ask(kuro, "目前缺乏台積電 Q3 財報數據，此為核心論據").json()
        assert (told["state"], told["by"]) == ("rejected", "memory")
        refused, known = told["message"].splitlines()
        assert refused == "延長申請已駁回，因為在共享記憶中發現了相關資訊。請利用這些資訊繼續。"
        assert known == "| 台積電 Q3 財報：營收 9899 億元。"


class TestTheMemory:
    def test_what_is_known_refuses_and_is_told(self, kuro: Any) -> None:
        known = kuro.post("/memory", {"text": KNOWN, "confidence": 0.9, "source": "report"}).json()
        answer = ask(kuro)
        assert answer.status_code == 201
        shape = answer.json()
        assert (shape["state"], shape["by"], shape["granted"], shape["rule"]) == ("rejected", "memory", 0, None)
        (found,) = shape["found"]
        assert (found["id"], found["text"], found["source"]) == (known["id"], KNOWN, "report")
        assert (found["answers"], found["matched"]) == (True, ["TSMC", "revenue", "Q3"])
        assert shape["message"].endswith(f"Go on with what it says.\n| {KNOWN}")
        assert shape["budget"]["allowed"] == 5

    @table(
        "text",
        ["TSMC's revenue in Q2 was NT$933.8 billion.", "TSMC will tell its Q3 margin.", "Revenue."],
        rolled_back=True,
    )
    def test_what_is_another_question_is_told_and_refuses_nothing(self, kuro: Any, text: str) -> None:
        kuro.post("/memory", {"text": text, "confidence": 1})
        shape = ask(kuro).json()
        assert (shape["state"], shape["by"]) == ("approved", "rule")
        assert [(found["text"], found["answers"]) for found in shape["found"]] == [(text, False)]

    @pytest.mark.parametrize("seconds", [0, 5])
    def test_trials_hasten_when_it_is_due(self, kuro: Any, settings: Any, seconds: int) -> None:
        settings.REVIEW_SECONDS = seconds
        row = row_of(ask(kuro).json())
        assert row.due_at - row.created_at == timedelta(seconds=seconds)

    def test_only_the_best_are_told(self, kuro: Any) -> None:
        for text in (KNOWN, *(f"TSMC's factory {name} opened." for name in "ABCDEF")):
            kuro.post("/memory", {"text": text, "confidence": 0.6})
        found = ask(kuro).json()["found"]
        assert (len(found), found[0]["text"]) == (5, KNOWN)

    def test_only_what_is_trusted_refuses(self, kuro: Any, carla: Any) -> None:
        for session, confidence, state in (("a", 0.69, "approved"), ("b", 0.7, "rejected")):
            Memory.objects.all().delete()
            kuro.post("/memory", {"text": KNOWN, "confidence": confidence})
            assert ask(kuro, session=session).json()["state"] == state
        Memory.objects.all().delete()
        kuro.post("/memory", {"text": KNOWN})
        assert ask(kuro, session="c").json()["state"] == "approved"
        Memory.objects.update(confirmed_by=carla)
        assert ask(kuro, session="d").json()["state"] == "rejected"

    def test_what_waits_is_retired_contradicted_or_a_strangers_refuses_nothing(
        self, kuro: Any, other: Any, carla: Any
    ) -> None:
        other.post("/memory", {"text": KNOWN, "confidence": 1})
        assert ask(kuro, session="a").json()["found"] == []
        kuro.post("/memory", {"text": f"{KNOWN} Clearly not the cache.", "confidence": 1})
        assert ask(kuro, session="b").json()["found"] == []
        kuro.post("/memory", {"text": KNOWN, "confidence": 1})
        kuro.post("/memory", {"text": "TSMC's revenue in Q3 was NT$900 billion.", "confidence": 1})
        contradicted = ask(kuro, session="c").json()
        assert [found["answers"] for found in contradicted["found"]] == [False], "what contradicts it waits"
        for row in Memory.objects.filter(team__name="Aurora").exclude(state="retired"):
            memory.retire(row, carla)
        assert ask(kuro, session="d").json()["found"] == []
        assert kuro.get(f"/extensions/{contradicted['id']}").json()["found"] == []

    def test_what_it_was_given_before_refuses_no_more(self, kuro: Any) -> None:
        kuro.post("/memory", {"text": KNOWN, "confidence": 1})
        assert ask(kuro).json()["by"] == "memory"
        again = ask(kuro, "TSMC gave its Q3 revenue before the restatement of Samsung", step=6).json()
        assert (again["state"], again["by"]) == ("approved", "rule")

    def test_nor_does_it_where_the_same_is_asked_one_step_later(self, kuro: Any) -> None:
        kuro.post("/memory", {"text": KNOWN, "confidence": 1})
        assert ask(kuro).json()["by"] == "memory"
        assert ask(kuro, step=6).json()["by"] != "memory"


class TestTheRules:
    def test_the_first_two_pass_and_the_third_is_the_chairmans(self, kuro: Any) -> None:
        first, second = ask(kuro).json(), ask(kuro, ANOTHER, step=8).json()
        assert [each["granted"] for each in (first, second)] == [3, 3]
        assert first["message"] == "The extension is granted: 3 more tool calls."
        third = ask(kuro, "Need the server logs of the failed deploy", step=11).json()
        assert (third["state"], third["by"], third["decided_at"]) == ("pending", None, None)
        assert [each["type"] for each in third["rule"]["objections"]] == ["too-many"]
        assert third["budget"] == {"allowed": 11, "used": 11, "left": 0}

    @table(
        ("reason", "objection"),
        [("need more time", "filler"), ("需要更多時間", "filler"), ("Need more data", "not-concrete")],
        rolled_back=True,
    )
    def test_what_names_nothing_waits_for_the_chairman(self, kuro: Any, reason: str, objection: str) -> None:
        shape = ask(kuro, reason).json()
        assert shape["state"] == "pending"
        assert objection in [each["type"] for each in shape["rule"]["objections"]]
        assert "You may conclude" in shape["message"]

    @table(
        ("reason", "state"),
        [
            ("Need order 88213 status at the courier", "approved"),
            ("需要查包裹 4417 的簽收單", "approved"),
            ("The invoice of the supplier is missing; I need its total", "approved"),
            ("More context would help me produce a better answer", "pending"),
            ("再給我幾步就好", "pending"),
        ],
        rolled_back=True,
    )
    def test_what_names_a_document_a_record_or_its_number_passes(self, kuro: Any, reason: str, state: str) -> None:
        assert ask(kuro, reason).json()["state"] == state

    def test_the_same_reason_at_a_later_step_waits_for_the_chairman(self, kuro: Any) -> None:
        ask(kuro)
        shape = ask(kuro, step=8).json()
        assert [each["type"] for each in shape["rule"]["objections"]] == ["same-reason"]

    def test_once_the_chairman_has_refused_the_rules_pass_no_more(self, kuro: Any, alice: Any) -> None:
        extensions.decide(row_of(wait(kuro)), alice, is_approved=False, answer="Enough is known.")
        shape = ask(kuro).json()
        assert [each["type"] for each in shape["rule"]["objections"]] == ["refused-before"]

    def test_a_policy_that_grants_nothing_leaves_all_to_the_chairman(self, kuro: Any, olga: Any) -> None:
        policy(kuro, olga, budget_extension=0)
        assert ask(kuro).json()["state"] == "pending"


class TestTheChairman:
    def test_an_approval_grants_and_guides(self, kuro: Any, alice: Any) -> None:
        shape = wait(kuro)
        extensions.decide(
            row_of(shape), alice, is_approved=True, granted=2, answer="It matters.", guidance="Use\nthe filing."
        )
        told = kuro.get(f"/extensions/{shape['id']}").json()
        assert (told["state"], told["by"], told["granted"]) == ("approved", "person", 2)
        assert (told["reason"], told["guidance"]) == ("It matters.", "Use\nthe filing.")
        assert told["message"] == (
            "The extension is granted: 2 more tool calls.\n| It matters.\nGuidance:\n| Use\n| the filing."
        )
        assert told["budget"]["allowed"] == 7

    def test_a_refusal_forces_a_conclusion(self, kuro: Any, alice: Any) -> None:
        shape = wait(kuro)
        extensions.decide(row_of(shape), alice, is_approved=False, answer="Enough is known.")
        told = kuro.get(f"/extensions/{shape['id']}").json()
        assert (told["state"], told["by"], told["granted"]) == ("rejected", "person", 0)
        assert "FORCE A CONCLUSION" in told["message"]

    def test_the_budget_offers_no_extension_that_cannot_be_had(self, kuro: Any, alice: Any) -> None:
        def told() -> Any:
            return kuro.get("/extensions?session=s1&problem=margin&step=5").json()["message"]

        shape = wait(kuro)
        assert told() == shape["message"]
        extensions.decide(row_of(shape), alice, is_approved=False, answer="Enough is known.")
        assert told() == kuro.get(f"/extensions/{shape['id']}").json()["message"]
        assert kuro.get("/extensions?session=s1&problem=another&step=5").json()["message"].startswith("Max steps")

    def test_only_one_decision_stands(self, kuro: Any, alice: Any, bob: Any) -> None:
        row = row_of(wait(kuro))
        first = extensions.decide(row, alice, is_approved=True, granted=3)
        assert extensions.decide(row, alice, is_approved=True, granted=9) == first
        for person, is_approved in ((bob, True), (alice, False), (None, True)):
            with pytest.raises(extensions.Standing) as standing:
                extensions.decide(row, person, is_approved=is_approved, granted=9)
            assert (standing.value.request.person, standing.value.request.granted) == (alice, 3)
        assert AuditEvent.objects.filter(action="extension-approved").count() == 1

    def test_unanswered_is_no_refusal_and_frees_the_agent(self, kuro: Any, alice: Any) -> None:
        shape = wait(kuro)
        ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        told = kuro.get(f"/extensions/{shape['id']}").json()
        assert (told["state"], told["by"], told["granted"]) == ("expired", "system", 0)
        assert "Nobody answered" in told["message"]
        assert "refused" not in told["message"]
        with pytest.raises(extensions.Standing):
            extensions.decide(row_of(shape), alice, is_approved=True, granted=3)
        assert ask(kuro).json()["state"] == "approved", "nobody has refused, so the rules still pass"

    def test_nobody_decides_what_has_expired_though_nobody_has_noticed(self, kuro: Any, alice: Any) -> None:
        row = row_of(wait(kuro))
        ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        with pytest.raises(extensions.Standing) as standing:
            extensions.decide(row, alice, is_approved=True, granted=3)
        assert (standing.value.request.state, standing.value.request.granted) == ("expired", 0)
        row.refresh_from_db()
        assert row.state == "expired"

    def test_nobody_decides_what_has_expired_behind_a_batch_of_others(
        self, kuro: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(extensions, "BATCH", 1)
        wait(kuro, problem="older")
        row = row_of(wait(kuro))
        ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        with pytest.raises(extensions.Standing) as standing:
            extensions.decide(row, alice, is_approved=True, granted=3)
        assert standing.value.request.state == "expired"

    def test_what_was_asked_before_the_clock_was_set_back_stands_in_nobodys_way(self, kuro: Any, noon: Any) -> None:
        shape = wait(kuro)
        noon.at -= timedelta(days=8)
        tasks.settle()
        assert kuro.get(f"/extensions/{shape['id']}").json()["state"] == "expired"

    def test_what_has_expired_stands_in_nobodys_way(self, kuro: Any) -> None:
        wait(kuro)
        ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert ask(kuro, ANOTHER).json()["state"] == "approved"

    def test_while_one_waits_another_is_not_taken(self, kuro: Any) -> None:
        shape = wait(kuro)
        answer = ask(kuro, ANOTHER)
        assert (answer.status_code, answer.json()["extension"]["id"]) == (409, shape["id"])
        assert ask(kuro, ANOTHER, problem="another").status_code == 201

    def test_the_agent_is_called_back_once_and_only_about_what_waited(self, kuro: Any, alice: Any) -> None:
        Agent.objects.update(callback_url="https://agent.example.org/")
        ask(kuro)
        row = row_of(wait(kuro, problem="another"))
        assert not Delivery.objects.exists()
        extensions.decide(row, alice, is_approved=True, granted=3)
        delivery = Delivery.objects.get()
        body = json.loads(delivery.body)
        assert (delivery.type, body["type"]) == ("extension.decided", "extension.decided")
        assert body["data"] == kuro.get(f"/extensions/{row.public_id}").json()


class TestWithdrawing:
    def test_a_request_that_waits_is_taken_back_and_stands_in_nobodys_way(self, kuro: Any, alice: Any) -> None:
        Agent.objects.update(callback_url="https://agent.example.org/")
        shape = wait(kuro)
        told = kuro.post(f"/extensions/{shape['id']}/withdraw", {})
        assert told.status_code == 200
        assert (told.json()["state"], told.json()["by"], told.json()["granted"]) == ("withdrawn", "agent", 0)
        assert told.json()["decided_at"]
        assert "You withdrew your request" in told.json()["message"]
        assert kuro.post(f"/extensions/{shape['id']}/withdraw", b"").json() == told.json(), "the same again"
        assert kuro.get(f"/extensions/{shape['id']}").json() == told.json()
        event = AuditEvent.objects.get(action="extension-withdrawn")
        assert (event.object_id, event.actor_kind, event.after) == (shape["id"], "agent", "withdrawn")
        assert not Delivery.objects.exists(), "who took it back knows of it"
        with pytest.raises(extensions.Standing) as standing:
            extensions.decide(row_of(shape), alice, is_approved=True, granted=3)
        assert standing.value.request.state == "withdrawn"
        assert ask(kuro, ANOTHER).json()["state"] == "approved", "to take one back is no refusal"

    def test_what_was_answered_stands(self, kuro: Any, alice: Any) -> None:
        shape = wait(kuro)
        extensions.decide(row_of(shape), alice, is_approved=False, answer="Enough is known.")
        late = kuro.post(f"/extensions/{shape['id']}/withdraw", {})
        assert (late.status_code, late["Content-Type"]) == (409, "application/problem+json")
        assert late.json()["extension"] == kuro.get(f"/extensions/{shape['id']}").json()
        assert (late.json()["extension"]["state"], late.json()["extension"]["reason"]) == (
            "rejected",
            "Enough is known.",
        )
        assert not AuditEvent.objects.filter(action="extension-withdrawn").exists()

    def test_what_has_expired_has_expired(self, kuro: Any) -> None:
        shape = wait(kuro)
        ExtensionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        late = kuro.post(f"/extensions/{shape['id']}/withdraw", {})
        assert (late.status_code, late.json()["extension"]["state"]) == (409, "expired")

    def test_it_wants_no_more_than_the_id(self, kuro: Any, other: Any) -> None:
        shape = wait(kuro)
        answer = kuro.post(f"/extensions/{shape['id']}/withdraw", {"state": "approved"})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/state")
        assert other.post(f"/extensions/{shape['id']}/withdraw", {}).status_code == 404
        assert row_of(shape).state == "pending"


class TestAskingOnce:
    def test_the_same_again_is_the_same_request(self, kuro: Any) -> None:
        first = ask(kuro)
        again = ask(kuro, evidence=["more"])
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()

    def test_a_key_stands_for_its_bytes(self, kuro: Any) -> None:
        body = {"reason": REASON}
        first = kuro.post("/extensions", body, **{"idempotency-key": "k1"})
        assert kuro.post("/extensions", body, **{"idempotency-key": "k1"}).json() == first.json()
        other = kuro.post("/extensions", {"reason": ANOTHER}, **{"idempotency-key": "k1"})
        assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "/idempotency-key")
        assert kuro.post("/extensions", body, **{"idempotency-key": "k 1"}).status_code == 422
        assert ExtensionRequest.objects.count() == 1

    @table(
        ("fields", "pointer"),
        [
            ({"reason": ""}, "/reason"),
            ({"reason": " \u200b\u3000"}, "/reason"),
            ({"reason": "x" * 4097}, "/reason"),
            ({"step": -1}, "/step"),
            ({"step": 2**31}, "/step"),
            ({"evidence": "all of it"}, "/evidence"),
            ({"evidence": ["x" * 50_000]}, "/evidence"),
            ({"session": "x" * 256}, "/session"),
            ({"state": "approved"}, "/state"),
        ],
        rolled_back=True,
    )
    def test_what_is_out_of_shape_is_refused(self, kuro: Any, fields: Any, pointer: str) -> None:
        answer = ask(kuro, **fields)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
        assert not ExtensionRequest.objects.exists()


def test_requests_are_listed_page_by_page_and_by_investigation(kuro: Any) -> None:
    ids = [ask(kuro, problem=problem).json()["id"] for problem in ("a", "b", "a/2")]
    listed, after = [], ""
    while after is not None:
        page = kuro.get(f"/extensions?limit=2&after={after}").json()
        assert (page["budget"], page["message"]) == (None, None)
        listed += [item["id"] for item in page["items"]]
        after = page["next"]
    assert listed == ids[::-1]
    assert [item["id"] for item in kuro.get("/extensions?session=s1&problem=b").json()["items"]] == [ids[1]]
    assert kuro.get("/extensions?after=ext_none").status_code == 422


@pytest.mark.parametrize("stranger", ["other", "sibling"])
def test_another_agents_requests_are_not_there(kuro: Any, aurora: Any, request: Any, stranger: str) -> None:
    from tests.conftest import _agent

    stranger_ = _agent(aurora, "sibling") if stranger == "sibling" else request.getfixturevalue("other")
    shape = ask(kuro).json()
    missing = stranger_.get("/extensions/ext_none").json()
    assert stranger_.get(f"/extensions/{shape['id']}").json() == missing | {
        "detail": missing["detail"].replace("ext_none", shape["id"])
    }
    assert stranger_.get("/extensions").json()["items"] == []
    assert stranger_.get(f"/extensions?after={shape['id']}").status_code == 422
    assert ask(stranger_).json()["budget"] == shape["budget"]
