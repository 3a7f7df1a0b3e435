"""Words of a response whose tool call is held wait for it: they go out when it is approved, and else never."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Agent, AuditEvent, Policy
from patterns.models import Memory
from reviews.held import decisions
from reviews.models import AgentResponse, AwaitedCall, Decision, HeldItem
from reviews.scoring.replay import Replayer
from tests.conftest import HELD, Caller
from tests.reviews.api.test_review import decide, ids, program_of, undo
from tests.reviews.held.test_approvers import under

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]

FINE = "The invoice is paid."


def call(**changes: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "name": "pay", "arguments": {"eur": 100}, "call_id": "c1"} | changes


def chat(text: str = FINE, **changes: Any) -> dict[str, Any]:
    return {"kind": "chat", "text": text} | changes


def post(agent: Caller, *items: dict[str, Any], response: str = "", **fields: Any) -> list[dict[str, Any]]:
    answer = agent.respond(response, items=list(items), **fields)
    found: list[dict[str, Any]] = answer["items"]
    return found


def state(agent: Caller, item: dict[str, Any]) -> str:
    found: str = agent.get(f"/held/{item['held']}").json()["state"]
    return found


def last(agent: Caller, item: dict[str, Any]) -> dict[str, Any]:
    decision: dict[str, Any] = agent.get(f"/held/{item['held']}").json()["decision"]
    return decision


@pytest.fixture
def program(alice: Any) -> Caller:
    return program_of(alice)


# -- what waits ----------------------------------------------------------------------------------------


def test_words_of_three_kinds_wait_for_every_held_call(kuro: Caller) -> None:
    items = [
        chat(), {"kind": "task", "text": "File it."}, {"kind": "remember", "text": "Mei was paid."},
        {"kind": "ask", "text": "Anything else?"}, {"kind": "action", "text": "looked it up"},
        call(), call(name="mail", call_id="c2"),
    ]  # fmt: skip
    found = kuro.respond("", items=items)
    *waiting, ask, action, first, second = found["items"]
    for each in waiting:
        assert (each["disposition"], each["text"]) == ("hold", None)
        assert each["waits_for"] == [first["held"], second["held"]]
        assert kuro.get(f"/held/{each['held']}").json()["waits_for"] == each["waits_for"]
    assert (ask["disposition"], action["disposition"]) == ("pass", "pass")
    assert found["schedule"]["reason"] == "hesitation review: held CHAT, REMEMBER, TASK, TOOL_CALL"
    assert not Memory.objects.exists()
    assert AuditEvent.objects.get(action="chat-held").data["waits_for"] == waiting[0]["waits_for"]


def test_words_pass_where_no_call_is_held(kuro: Caller) -> None:
    under(kuro, {"tool": "pay", "do": "allow"}, {"tool": "rm", "do": "deny"})
    Policy.objects.update(hold_words_with_calls=True)
    for item in (call(), call(name="rm")):
        words, _call = post(kuro, chat(), item)
        assert (words["disposition"], "waits_for" in words) == ("pass", False)
    assert not AwaitedCall.objects.exists()


def test_a_policy_without_it_lets_words_pass(kuro: Caller) -> None:
    under(kuro)  # as the policies of before have it
    assert [each["disposition"] for each in post(kuro, chat(), call())] == ["pass", "hold"]


# -- going out -----------------------------------------------------------------------------------------


def test_they_go_out_once_all_calls_are_approved(kuro: Caller, program: Caller) -> None:
    words, first, second = post(kuro, chat(), call(), call(name="mail", call_id="c2"))
    decide(program, first["held"])
    assert (state(kuro, first), state(kuro, words)) == ("approved", "pending")
    decide(program, second["held"], "edit", arguments={"eur": 50})  # an edited call is an approved one
    assert state(kuro, words) == "approved"
    decision = last(kuro, words)
    assert (decision["by"], decision["verdict"], decision["text"]) == ("system", "approve", FINE)
    fed = [each["held"] for each in kuro.get("/decisions").json()["items"]]
    assert fed == [first["held"], second["held"], words["held"]]
    assert post(kuro, chat())[0]["recognised"] is None  # it passes by itself


@pytest.mark.parametrize("verdict", ["reject", "withdraw", "expire"])
def test_they_are_rejected_when_one_call_is_not_approved(kuro: Caller, program: Caller, verdict: str) -> None:
    words, first, second = post(kuro, chat(), call(), call(name="mail", call_id="c2"))
    decide(program, first["held"])
    if verdict == "reject":
        decide(program, second["held"], "reject", reason="The wrong account.")
    elif verdict == "withdraw":
        kuro.post(f"/held/{second['held']}/decision", {"verdict": "withdraw"})
    else:
        HeldItem.objects.filter(public_id=second["held"]).update(expires_at=timezone.now())
    assert state(kuro, words) == "rejected"
    decision = last(kuro, words)
    assert (decision["by"], decision["verdict"], decision["text"], "mail" in decision["reason"]) == (
        "system", "reject", None, True,
    )  # fmt: skip
    assert ("The wrong account." in decision["reason"]) == (verdict == "reject")
    assert AuditEvent.objects.get(action="chat-rejected").actor_kind == "system"


def test_words_that_expire_with_their_call_are_rejected(kuro: Caller) -> None:
    words, _call = post(kuro, chat(), call())
    HeldItem.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    decisions.settle()
    assert state(kuro, words) == "rejected"
    assert last(kuro, words)["by"] == "system"


def test_words_with_a_shorter_time_expire_before(kuro: Caller, program: Caller) -> None:
    words, held = post(kuro, chat(expires_in=5), call())
    HeldItem.objects.filter(public_id=words["held"]).update(expires_at=timezone.now())
    assert state(kuro, words) == "expired"
    assert decide(program, held["held"]).json()["state"] == "approved"


def test_nothing_goes_out_while_the_call_can_be_taken_back(kuro: Caller, program: Caller, settings: Any) -> None:
    settings.UNDO_SECONDS = 10
    words, held = post(kuro, chat(), call())
    decide(program, held["held"])
    decisions.settle()
    assert state(kuro, words) == "pending"
    assert undo(program, held["held"]).status_code == 200
    assert state(kuro, words) == "pending"
    decide(program, held["held"])
    Decision.objects.filter(undone_at=None).update(release_at=timezone.now())
    assert state(kuro, words) == "approved"


def test_a_call_asked_again_is_waited_for_by_both(kuro: Caller, program: Caller) -> None:
    first, held = post(kuro, chat(), call())
    second, again = post(kuro, chat("It is on its way."), call())
    assert (again["held"], second["waits_for"]) == (held["held"], [held["held"]])
    decide(program, held["held"])
    assert [state(kuro, first), state(kuro, second)] == ["approved", "approved"]


def test_a_mark_is_on_what_goes_out(kuro: Caller, program: Caller) -> None:
    text = "The cause is the cache."  # a known error: 30, a mark
    (plain,) = post(kuro, chat(text), response=text)
    assert plain["disposition"] == "mark"
    words, held = post(kuro, chat(text), call(), response=text)
    assert words["disposition"] == "hold"
    decide(program, held["held"])
    assert last(kuro, words)["text"] == plain["text"]


def test_a_memory_comes_in_when_it_goes_out(kuro: Caller, program: Caller) -> None:
    _words, held = post(kuro, {"kind": "remember", "text": "Mei was paid."}, call())
    assert not Memory.objects.exists()
    decide(program, held["held"])
    assert [each.text for each in Memory.objects.all()] == ["Mei was paid."]
    assert Memory.objects.get().state == "confirmed"  # as it would have without the call


# -- words that are risky by themselves ----------------------------------------------------------------


def risky(agent: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
    words, held = post(agent, chat(HELD), call(), response=HELD)
    assert words["waits_for"] == [held["held"]]
    return words, held


def test_risky_words_wait_for_both(kuro: Caller, program: Caller) -> None:
    words, held = risky(kuro)
    decide(program, held["held"])
    assert state(kuro, words) == "pending"
    assert ids(program.get("/review/queue")) == [words["held"]]
    assert decide(program, words["held"]).json()["state"] == "approved"


def test_risky_words_approved_first_go_out_with_the_call(kuro: Caller, program: Caller, alice: Any) -> None:
    words, held = risky(kuro)
    answer = decide(program, words["held"], "edit", text="The cause may be the cache.")
    assert (answer.status_code, answer.json()["state"]) == (201, "pending")
    assert decide(program, words["held"], "edit", text="The cause may be the cache.").status_code == 200
    assert ids(program.get("/review/queue")) == [held["held"]]
    assert state(kuro, words) == "pending"
    decide(program, held["held"])
    decision = last(kuro, words)
    assert (decision["by"], decision["verdict"], decision["text"]) == ("person", "edit", "The cause may be the cache.")
    assert Decision.objects.get(held__public_id=words["held"]).person == alice


def test_an_approval_of_risky_words_does_not_outlive_the_call(kuro: Caller, program: Caller) -> None:
    words, held = risky(kuro)
    decide(program, words["held"])
    decide(program, held["held"], "reject", reason="No.")
    assert (state(kuro, words), last(kuro, words)["by"]) == ("rejected", "system")


def test_an_approval_of_risky_words_is_taken_back(kuro: Caller, program: Caller) -> None:
    words, held = risky(kuro)
    decide(program, words["held"])
    assert undo(program, words["held"]).json()["approved"] == []
    decide(program, held["held"])
    assert state(kuro, words) == "pending"


def test_the_agent_does_not_let_its_words_out_before_the_call(kuro: Caller, program: Caller) -> None:
    words, held = risky(kuro)
    kuro.respond("Still so.", items=[])
    look = {"verdict": "approve", "reason": "Measured meanwhile."}
    assert kuro.post(f"/held/{words['held']}/decision", look).status_code == 409
    decide(program, held["held"])
    assert kuro.post(f"/held/{words['held']}/decision", look).status_code == 201


# -- what a person does with them ----------------------------------------------------------------------


def test_they_are_no_task_of_their_own(kuro: Caller, program: Caller) -> None:
    words, held = post(kuro, chat(), call())
    assert ids(program.get("/review/queue")) == [held["held"]]
    assert program.get(f"/review/held/{words['held']}").json()["waits_for"] == [held["held"]]


@pytest.mark.parametrize(("verdict", "body", "became"), [
    ("approve", {}, "approved"), ("reject", {"reason": "No."}, "rejected"), ("edit", {"text": "Soon."}, "edited"),
])  # fmt: skip
def test_a_person_may_decide_them_by_themselves(
    kuro: Caller, program: Caller, verdict: str, body: dict[str, Any], became: str
) -> None:
    words, held = post(kuro, chat(), call())
    assert decide(program, words["held"], verdict, **body).json()["state"] == became
    assert (state(kuro, words), state(kuro, held)) == (became, "pending")
    decide(program, held["held"], "reject", reason="No.")
    assert (state(kuro, words), Decision.objects.filter(held__public_id=words["held"]).count()) == (became, 1)


def test_undoing_that_has_them_wait_again(kuro: Caller, program: Caller, settings: Any) -> None:
    settings.UNDO_SECONDS = 10
    words, held = post(kuro, chat(), call())
    decide(program, words["held"])
    undo(program, words["held"])
    assert ids(program.get("/review/queue")) == [held["held"]]
    settings.UNDO_SECONDS = 0
    decide(program, held["held"])
    assert (state(kuro, words), last(kuro, words)["by"]) == ("approved", "system")


# -- and the rest --------------------------------------------------------------------------------------


def test_a_disabled_agents_words_are_over_as_well(kuro: Caller, olga: Any) -> None:
    post(kuro, call(), chat(), call(name="mail", call_id="c2"))
    decisions.withdraw_all(Agent.objects.get(public_id=kuro.id), olga, "Over.")
    assert set(HeldItem.objects.values_list("state", flat=True)) <= {"withdrawn", "rejected"}
    assert Decision.objects.count() == 3


def test_the_context_says_what_they_wait_for(kuro: Caller) -> None:
    words, held = post(kuro, chat(), call())
    context = kuro.get("/context").json()
    assert {each["id"]: each["waits_for"] for each in context["held"]} == {
        words["held"]: [held["held"]],
        held["held"]: [],
    }
    assert f"all are approved: {held['held']}" in kuro.get("/context", accept="text/plain").content.decode()


def test_the_verdict_is_made_again_to_the_byte(kuro: Caller) -> None:
    risky(kuro)
    post(kuro, chat(), call(name="mail"))
    for response in AgentResponse.objects.select_related("agent__team"):
        assert Replayer().replay(response).is_equal
