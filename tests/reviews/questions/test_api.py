"""A question to a person: always held, answered by its schema or choices, and given back to the agent."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.models import Agent, AuditEvent, Policy
from reviews.metrics import daily, review_time
from reviews.models import Decision, HeldItem, HeldQuestion
from tests.conftest import Caller
from tests.reviews.api.test_review import decide, program_of
from tests.tables import table

QUESTION = {"kind": "question", "text": "Which account?"}
CHOICES = {"choices": ["Savings", "Current"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "account": {"type": "string", "enum": ["A", "B"]},
        "eur": {"type": "integer", "minimum": 1, "maximum": 500},
        "mail": {"type": "string", "format": "email"},
        "on": {"type": "string", "format": "date"},
    },
    "required": ["account"],
    "additionalProperties": False,
}


def ask(caller: Caller, *, session: str = "s1", **changes: Any) -> dict[str, Any]:
    item: dict[str, Any] = caller.respond("", session=session, items=[QUESTION | changes])["items"][0]
    return item


def asked(caller: Caller, **changes: Any) -> str:
    held: str = ask(caller, **changes)["held"]
    return held


@pytest.mark.usefixtures("undo_at_once")
class TestAsking:
    def test_it_is_held_whatever_the_policy_says(self, kuro: Any) -> None:
        agent = Agent.objects.get(public_id=kuro.id)
        agent.policy_version, agent.hesitation_enabled = agent.policy_version + 1, False
        agent.save()
        rules = [{"tool": "*", "do": "allow"}]
        Policy.objects.create(
            agent=agent,
            version=agent.policy_version,
            threshold=101,
            hold_at=101,
            rules=rules,
            default_tool_call="allow",
        )
        answer = kuro.respond("I need to know.", items=[QUESTION | CHOICES | {"kind": "Question"}])
        item = answer["items"][0]
        assert (item["kind"], item["disposition"], item["text"], item["flags"]) == ("question", "hold", None, [])
        assert answer["schedule"]["reason"] == "hesitation review: held QUESTION"
        held = kuro.get(f"/held/{item['held']}").json()
        assert (held["text"], held["choices"], held["schema"]) == ("Which account?", ["Savings", "Current"], None)
        assert (held["state"], held["hesitation"], held["asks"], held["decision"]) == ("pending", None, 1, None)
        assert [each["id"] for each in kuro.get("/held").json()["items"]] == [item["held"]]

    def test_the_same_question_that_waits_is_the_same_item(self, kuro: Any) -> None:
        first = asked(kuro, **CHOICES)
        assert asked(kuro, **CHOICES) == first
        twice = kuro.respond("", session="s1", items=[QUESTION | CHOICES, QUESTION | CHOICES])["items"]
        assert {each["held"] for each in twice} == {first}
        assert kuro.get(f"/held/{first}").json()["asks"] == 4
        assert AuditEvent.objects.filter(action="question-asked-again", object_id=first).count() == 3
        others = [asked(kuro, choices=["Savings"]), asked(kuro), asked(kuro, session="s2", **CHOICES)]
        assert len({first, *others}) == 4
        assert HeldQuestion.objects.count() == HeldItem.objects.count() == 4

    @table(
        ("changes", "place"),
        [
            pytest.param({"text": " \u200b"}, "/items/0/text", id="blank"),
            pytest.param({"text": None}, "/items/0/text", id="no text"),
            pytest.param({"schema": {"type": "nothing"}}, "/items/0/schema", id="no schema"),
            pytest.param({"schema": []}, "/items/0/schema", id="schema is a list"),
            pytest.param({"schema": {"description": "x" * 65_536}}, "/items/0/schema", id="large schema"),
            pytest.param({"choices": "A"}, "/items/0/choices", id="choices are a text"),
            pytest.param({"choices": []}, "/items/0/choices", id="no choice"),
            pytest.param({"choices": ["A", 1]}, "/items/0/choices/1", id="a number"),
            pytest.param({"choices": ["A", " "]}, "/items/0/choices/1", id="a blank choice"),
            pytest.param({"choices": ["A", "A"]}, "/items/0/choices", id="twice"),
            pytest.param({"options": ["A"]}, "/items/0/options", id="unknown field"),
        ],
        rolled_back=True,
    )
    def test_it_refuses_what_is_no_question(self, kuro: Any, changes: dict[str, Any], place: str) -> None:
        answer = kuro.post("/responses", {"response": "", "items": [QUESTION | changes]})
        assert answer.status_code == 422
        assert [error["pointer"] for error in answer.json()["errors"]] == [place]
        assert not HeldItem.objects.exists()


@pytest.mark.usefixtures("undo_at_once")
class TestAnswering:
    @table(
        ("question", "answer"),
        [
            pytest.param(CHOICES, "Current", id="choices"),
            pytest.param(
                {"schema": SCHEMA}, {"account": "B", "eur": 20, "mail": "a@b.example", "on": "2026-11-27"}, id="schema"
            ),
            pytest.param({"schema": {"type": "boolean"}}, False, id="boolean"),
            pytest.param({"schema": {"type": ["null", "string"]}}, None, id="null"),
            pytest.param({}, "The one in Bremen", id="text"),
        ],
        rolled_back=True,
    )
    def test_the_answer_comes_back_everywhere(self, kuro: Any, alice: Any, question: Any, answer: Any) -> None:
        held, program = asked(kuro, metadata={"run": "r-1"}, **question), program_of(alice)
        taken = decide(program, held, "answer", answer=answer)
        assert (taken.status_code, taken.json()["answer"], taken.json()["state"]) == (201, answer, "answered")
        assert decide(program, held, "answer", answer=answer).status_code == 200
        now = kuro.get(f"/held/{held}?wait=5").json()
        assert (now["state"], now["decision"]["verdict"], now["decision"]["answer"]) == ("answered", "answer", answer)
        assert (now["decision"]["text"], now["decision"]["arguments"], now["decision"]["by"]) == (None, None, "person")
        (told,) = kuro.get("/decisions").json()["items"]
        assert (told["held"], told["answer"], told["metadata"]) == (held, answer, {"run": "r-1"})
        assert [each["id"] for each in kuro.get("/held?state=answered").json()["items"]] == [held]
        assert AuditEvent.objects.filter(action="question-answered", object_id=held).exists()
        assert [each["id"] for each in program.get("/review/queue?state=answered").json()["items"]] == [held]

    @table(
        ("question", "answer", "place"),
        [
            pytest.param(CHOICES, "Cash", "/answer", id="no choice"),
            pytest.param(CHOICES, 1, "/answer", id="choice of another type"),
            pytest.param({"schema": SCHEMA}, {"account": "C"}, "/answer/account", id="enum"),
            pytest.param({"schema": SCHEMA}, {"eur": 1}, "/answer", id="required"),
            pytest.param({"schema": SCHEMA}, {"account": "A", "eur": 501}, "/answer/eur", id="maximum"),
            pytest.param({"schema": SCHEMA}, {"account": "A", "mail": "nobody"}, "/answer/mail", id="mail"),
            pytest.param({"schema": SCHEMA}, {"account": "A", "on": "tomorrow"}, "/answer/on", id="date"),
            pytest.param({}, " ", "/answer", id="blank"),
            pytest.param({}, {"a": 1}, "/answer", id="no text"),
            pytest.param(
                {"schema": {"type": "string", "maxLength": 2}, "choices": ["A", "Long"]}, "Long", "/answer", id="both"
            ),
        ],
        rolled_back=True,
    )
    def test_it_says_what_is_wrong_with_an_answer(
        self, kuro: Any, alice: Any, question: Any, answer: Any, place: str
    ) -> None:
        held = asked(kuro, **question)
        refused = decide(program_of(alice), held, "answer", answer=answer)
        assert (refused.status_code, [each["pointer"] for each in refused.json()["errors"]]) == (422, [place])
        assert kuro.get(f"/held/{held}").json()["state"] == "pending"

    def test_nothing_but_an_answer_or_a_rejection_is_taken(self, kuro: Any, alice: Any) -> None:
        held, words, program = asked(kuro, **CHOICES), kuro.hold(), program_of(alice)
        for verdict, body in (("approve", {}), ("edit", {"text": "x"}), ("edit", {"arguments": {}})):
            answer = decide(program, held, verdict, **body)
            assert answer.status_code == 422
        assert "A question is answered" in decide(program, held, "approve").json()["detail"]
        assert decide(program, held, "answer").json()["errors"][0]["pointer"] == "/answer"
        assert decide(program, words, "answer", answer="x").json()["errors"][0]["pointer"] == "/verdict"
        assert decide(program, held, "reject").json()["errors"][0]["pointer"] == "/reason"
        assert decide(program, held, "reject", reason="Ask the bank.").status_code == 201
        decision = kuro.get(f"/held/{held}").json()["decision"]
        assert (decision["verdict"], decision["answer"], decision["reason"]) == ("reject", None, "Ask the bank.")

    def test_only_a_reviewer_answers(self, kuro: Any, other: Any, victor: Any, mallory: Any) -> None:
        held = asked(kuro, **CHOICES)
        for verdict in ("approve", "edit", "answer"):
            body = {"verdict": verdict, "reason": "because", "text": "x" if verdict == "edit" else None}
            assert kuro.post(f"/held/{held}/decision", body).status_code == 403
        assert decide(program_of(victor), held, "answer", answer="Savings").status_code == 403
        assert decide(program_of(mallory), held, "answer", answer="Savings").status_code == 404
        assert kuro.post(f"/held/{held}/decision", {"verdict": "withdraw"}).status_code == 201

    def test_it_counts_as_no_approval_and_teaches_nothing(self, kuro: Any, alice: Any) -> None:
        agent = Agent.objects.get(public_id=kuro.id)
        decide(program_of(alice), asked(kuro, **CHOICES), "answer", answer="Savings")
        day = Decision.objects.get().decided_at.date()
        counted = daily._count(agent, day)
        assert (counted["approved"], counted["held"], counted["pending"]) == (0, 0, 0)
        assert not review_time._final(Decision.objects.get().released_at).exists()


def test_it_can_be_undone(kuro: Any, alice: Any) -> None:
    held, program = asked(kuro, **CHOICES), program_of(alice)
    taken = decide(program, held, "answer", answer="Savings").json()
    assert (taken["undo_until"] is not None, kuro.get(f"/held/{held}").json()["state"]) == (True, "pending")
    assert program.post(f"/review/held/{held}/undo", None).json()["state"] == "pending"
    assert decide(program, held, "answer", answer="Current").json()["answer"] == "Current"


def test_a_choice_is_named_as_it_is_read(kuro: Any, alice: Any) -> None:
    """Secrets in choices are masked for people; the agent gets back its own."""
    key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
    held, program = asked(kuro, choices=[f"Key {key}", "None"]), program_of(alice)
    shown = program.get(f"/review/held/{held}").json()["choices"][0]
    assert key not in shown
    assert decide(program, held, "answer", answer=shown).status_code == 201
    assert Decision.objects.get().answer == f"Key {key}"
