"""A person's program: it reads the queue and decides as its person, by the console's rules."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.urls import reverse

from metacog.accounts import tokens
from metacog.models import Agent, AuditEvent
from reviews.models import Decision, HeldItem
from tests.conftest import HELD, Caller
from tests.tables import table

pytestmark = pytest.mark.django_db


def program_of(person: Any, *scopes: str) -> Caller:
    _token, text = tokens.issue(person, name="script", scopes=scopes or ("read", "decide"), days=7)
    return Caller("", text, "")


def decide(program: Caller, held: str, verdict: str = "approve", **body: Any) -> Any:
    return program.post(f"/review/held/{held}/decision", {"verdict": verdict} | body)


def undo(program: Caller, held: str) -> Any:
    return program.post(f"/review/held/{held}/undo", None)


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [item["id"] for item in answer.json()["items"]]


# -- who may call ----------------------------------------------------------------------------------


def test_a_call_says_which_kind_of_key_it_wants(kuro: Any, alice: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    for path in ("/review/queue", f"/review/held/{held}"):
        answer = kuro.get(path)
        assert (answer.status_code, "person's token" in answer.json()["detail"]) == (401, True)
        assert Caller("", "", "").get(path).status_code == 401
        assert "person's live token" in Caller("", "mcp_none", "").get(path).json()["detail"]
    assert kuro.post(f"/review/held/{held}/decision", {"verdict": "approve"}).status_code == 401
    for answer in (program.get("/held"), program.post("/responses", {"response": "x"})):
        assert answer.status_code == 401
        assert answer.json()["detail"].startswith("This is a person's token, and this call needs an agent's key")
    assert not Decision.objects.exists()


def test_a_token_does_what_its_scopes_say(kuro: Any, alice: Any) -> None:
    held = kuro.hold()
    reads, decides = program_of(alice, "read"), program_of(alice, "decide")
    refused = decide(reads, held)
    assert (refused.status_code, "`decide`" in refused.json()["detail"]) == (403, True)
    assert undo(reads, held).status_code == 403
    assert decides.get("/review/queue").status_code == decides.get(f"/review/held/{held}").status_code == 403
    assert reads.get(f"/review/held/{held}").json()["decision"] is None
    assert decide(decides, held).status_code == 201


def test_a_viewer_reads_and_does_not_decide(kuro: Any, victor: Any) -> None:
    held, program = kuro.hold(), program_of(victor)
    assert ids(program.get("/review/queue")) == [held]
    assert decide(program, held).status_code == undo(program, held).status_code == 403
    assert not Decision.objects.exists()


def test_items_of_other_teams_are_not_there(kuro: Any, other: Any, mallory: Any) -> None:
    held, stranger = kuro.hold(), program_of(mallory)
    assert ids(stranger.get("/review/queue")) == []
    assert stranger.get(f"/review/held/{held}").status_code == 404
    assert decide(stranger, held).status_code == undo(stranger, held).status_code == 404
    assert stranger.get(f"/review/queue?after={held}").status_code == 422
    assert stranger.get(f"/review/queue?agent={kuro.id}").status_code == 422
    assert HeldItem.objects.get().state == "pending"


# -- the queue -------------------------------------------------------------------------------------


def test_the_queue_is_in_the_consoles_order(kuro: Any, alice: Any, as_person: Any) -> None:
    held = [kuro.hold() for _ in range(3)]
    HeldItem.objects.filter(public_id=held[1]).update(hesitation_score=90)
    program = program_of(alice)
    assert ids(program.get("/review/queue")) == [held[1], held[0], held[2]]
    assert ids(program.get("/review/queue?order=age")) == held
    page = as_person(alice).get(reverse("queue")).content.decode()
    assert sorted(held, key=lambda each: page.index(f"/queue/{each}/")) == [held[1], held[0], held[2]]


@table("query", ["", "order=age&", "state=decided&"], rolled_back=True)
def test_it_pages_without_gap_or_repeat(kuro: Any, alice: Any, query: str) -> None:
    held = [kuro.hold() for _ in range(5)]
    program = program_of(alice)
    if "decided" in query:
        for each in held:
            decide(program, each)
    whole, paged, after = ids(program.get(f"/review/queue?{query}")), [], ""
    while after is not None:
        answer = program.get(f"/review/queue?{query}limit=2&after={after}")
        paged += ids(answer)
        after = answer.json()["next"]
    assert paged == whole
    assert sorted(paged) == sorted(held)


def test_it_filters_by_effect(kuro: Any, alice: Any) -> None:
    program = program_of(alice)
    kuro.hold()
    sql = {"kind": "tool_call", "name": "query", "arguments": {"sql": "DELETE FROM orders"}}
    call = kuro.respond("x", items=[sql])["items"][0]["held"]
    assert ids(program.get("/review/queue?effect=delete")) == [call]
    assert ids(program.get("/review/queue?effect=pay")) == []
    assert program.get("/review/queue?effect=moon").status_code == 422


def test_it_filters_by_state_agent_and_kind(kuro: Any, alice: Any, aurora: Any) -> None:
    from metacog.accounts.agents import create_agent

    agent, key, secret = create_agent(aurora, "robin", None)
    chat, task, theirs = kuro.hold(), kuro.hold("task"), Caller(agent.public_id, key, secret).hold()
    program = program_of(alice)
    assert ids(program.get("/review/queue?kind=task")) == [task]
    assert ids(program.get(f"/review/queue?agent={agent.public_id}")) == [theirs]
    decide(program, chat, "reject", reason="not measured")
    assert ids(program.get("/review/queue?order=age")) == [task, theirs]
    for state in ("decided", "rejected"):
        answer = program.get(f"/review/queue?state={state}")
        assert ids(answer) == [chat]
        assert answer.json()["items"][0]["decision"]["decided_by"] == "alice"
    assert ids(program.get("/review/queue?state=approved")) == []


def test_it_names_parameters_that_it_does_not_know(alice: Any) -> None:
    answer = program_of(alice).get("/review/queue?sort=age&kind=chat&page=2")
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/query/sort", "/query/page"]
    assert program_of(alice).get("/review/queue?order=name").status_code == 422


def test_a_page_of_the_queue_takes_the_same_queries_however_long_it_is(
    kuro: Any, alice: Any, django_assert_num_queries: Any
) -> None:
    program = program_of(alice)
    for _ in range(4):
        kuro.hold()
    program.get("/review/queue")
    with django_assert_num_queries(9):  # token, identities, count, teams, which, lengths, rows, decisions, grants
        assert len(ids(program.get("/review/queue"))) == 4


# -- an item ---------------------------------------------------------------------------------------


def test_an_item_comes_with_what_was_around_it(kuro: Any, alice: Any) -> None:
    whole = f"Well. {HELD}"
    verdict = kuro.respond(whole, items=[{"kind": "chat", "text": HELD}], user_message="Why is it slow?")
    held = verdict["items"][0]["held"]
    program = program_of(alice)
    (listed,) = program.get("/review/queue").json()["items"]
    item = program.get(f"/review/held/{held}").json()
    assert item == listed | {
        "user_message": "Why is it slow?",
        "asked": None,
        "comments": [],
        "response_text": whole,
        "signals": verdict["hesitation"]["signals"],
    }
    assert item["agent"] == {"id": kuro.id, "name": "kuro", "enabled": True}
    assert (item["team"], item["excerpt"], item["state"], item["decision"]) == ("Aurora", HELD, "pending", None)
    assert item["review_url"] == verdict["items"][0]["review_url"]
    assert item["text"] == HELD
    mine = kuro.get(f"/held/{held}").json()
    assert {name: item[name] for name in mine} == mine


# -- deciding --------------------------------------------------------------------------------------


def test_it_decides_as_its_person_and_the_agent_hears_after_the_undo(kuro: Any, alice: Any, settings: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    answer = decide(program, held, "reject", reason="not measured", version=1)
    decision = answer.json()
    assert answer.status_code == 201
    assert list(decision) == [
        "id", "seq", "held", "verdict", "text", "reason", "by", "decided_at", "arguments", "answer", "permission",
        "used_at", "outcome", "metadata", "decided_by", "undo_until", "grant", "state", "approvals",
    ]  # fmt: skip
    assert (decision["by"], decision["decided_by"], decision["reason"]) == ("person", "alice", "not measured")
    assert decision["undo_until"] > decision["decided_at"]
    item = program.get(f"/review/held/{held}").json()
    assert (item["state"], item["decision"]) == ("rejected", decision)
    assert kuro.get(f"/held/{held}").json()["state"] == "pending"
    event = AuditEvent.objects.get(action="chat-rejected")
    assert (event.actor, event.data["via"]) == ("alice", "api")
    Decision.objects.update(release_at=Decision.objects.get().decided_at)
    item = program.get(f"/review/held/{held}").json()
    assert (item["decision"]["undo_until"], item["decision"]["seq"]) == (None, 1)
    assert kuro.get("/decisions").json()["items"][0]["id"] == decision["id"]


def test_the_same_again_is_the_first_decision_and_another_is_a_conflict(kuro: Any, alice: Any, bob: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    first = decide(program, held).json()
    again = decide(program, held)
    assert (again.status_code, again.json()) == (200, first)
    for clash in (decide(program, held, "reject", reason="x"), decide(program_of(bob), held)):
        assert clash.status_code == 409
        assert clash.json()["decision"] == first
        assert "approve, by alice" in clash.json()["detail"]
    assert Decision.objects.count() == 1


@table("stale", [{"version": 7}, {"sha256": hashlib.sha256(b"another").hexdigest()}], rolled_back=True)
def test_what_is_out_of_date_is_not_decided(kuro: Any, alice: Any, stale: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    answer = decide(program, held, **stale)
    assert (answer.status_code, answer.json()["decision"]) == (409, None)
    item = program.get(f"/review/held/{held}").json()
    assert decide(program, held, version=item["version"], sha256=item["sha256"]).status_code == 201


def test_an_edit_that_would_be_held_again_takes_its_risk_accepted(kuro: Any, alice: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    refused = decide(program, held, "edit", text=HELD + " Obviously.")
    assert refused.status_code == 422
    hesitation = refused.json()["hesitation"]
    assert (hesitation["score"] >= hesitation["hold_at"], hesitation["signals"][0]["type"]) == (True, "absolute-claim")
    assert not Decision.objects.exists()
    assert decide(program, held, "edit", text=HELD + " Obviously.", accept_risk=True).status_code == 201
    assert decide(program, kuro.hold(), "edit", text="It may be the disk.").json()["text"] == "It may be the disk."


@table(
    ("body", "pointer"),
    [
        ({"verdict": "reject"}, "/reason"),
        ({"verdict": "reject", "reason": "  "}, "/reason"),
        ({"verdict": "edit"}, "/text"),
        ({"verdict": "approve", "text": "x"}, "/text"),
        ({"verdict": "withdraw"}, "/verdict"),
        ({"verdict": "approve", "accept_risk": "yes"}, "/accept_risk"),
        ({"verdict": "approve", "because": "x"}, "/because"),
    ],
    rolled_back=True,
)
def test_it_says_what_is_wrong_with_a_decision(kuro: Any, alice: Any, body: Any, pointer: str) -> None:
    answer = program_of(alice).post(f"/review/held/{kuro.hold()}/decision", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert not Decision.objects.exists()


# -- undo ------------------------------------------------------------------------------------------


def test_a_decision_is_undone_until_it_is_released(kuro: Any, alice: Any, bob: Any) -> None:
    held, program = kuro.hold(), program_of(alice)
    nothing = undo(program, held)
    assert (nothing.status_code, nothing.json()["decision"]) == (409, None)
    first = decide(program, held).json()
    another = undo(program_of(bob), held)
    assert (another.status_code, another.json()["decision"]) == (409, first)
    assert another.json()["detail"] == "Only who decided can undo it: approve, by alice."
    for _ in range(2):
        answer = undo(program, held)
        assert (answer.status_code, answer.json()["state"], answer.json()["decision"]) == (200, "pending", None)
    assert AuditEvent.objects.get(action="chat-decision-undone").data["via"] == "api"
    second = decide(program, held).json()
    Decision.objects.update(release_at=Decision.objects.first().decided_at)
    late = undo(program, held)
    assert (late.status_code, late.json()["decision"]["id"]) == (409, second["id"])
    assert kuro.get(f"/held/{held}").json()["state"] == "approved"


def test_the_console_shows_what_a_program_decided(kuro: Any, alice: Any, bob: Any, as_person: Any) -> None:
    held = kuro.hold()
    decide(program_of(alice), held, "reject", reason="It was not measured.")
    page = as_person(bob).get(reverse("item", args=[held])).content.decode()
    assert "It was not measured." in page
    agent = Agent.objects.get(public_id=kuro.id)
    assert AuditEvent.objects.filter(agent=agent, action="chat-rejected").count() == 1
