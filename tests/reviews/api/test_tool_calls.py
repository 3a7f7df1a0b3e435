"""What an agent is about to do: held by rules, decided by people, bound to exactly that call."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Agent, AuditEvent, Policy
from reviews.held import decisions, grants
from reviews.models import CallGrant, HeldCall, HeldItem
from tests.conftest import HELD, Caller
from tests.tables import table

TRANSFER = {"kind": "tool_call", "name": "mcp__bank__transfer", "arguments": {"eur": 100, "to": "DE89"}}
SCHEMA = {
    "type": "object",
    "properties": {"eur": {"type": "number", "maximum": 500}, "to": {"type": "string"}},
    "required": ["eur"],
}


def ruled(caller: Caller, *rules: dict[str, Any], **policy: Any) -> None:
    """Put a version of the agent's policy into force."""
    agent = Agent.objects.get(public_id=caller.id)
    agent.policy_version += 1
    agent.save()
    Policy.objects.create(agent=agent, version=agent.policy_version, rules=list(rules), **policy)


def ask(caller: Caller, *, session: str = "s1", **changes: Any) -> dict[str, Any]:
    """Post a call, and return what the verdict says of it."""
    item: dict[str, Any] = caller.respond("", session=session, items=[TRANSFER | changes])["items"][0]
    return item


def held_by(caller: Caller, **changes: Any) -> str:
    held: str = ask(caller, **changes)["held"]
    assert held
    return held


def by_person(person: Any, held: str, verdict: str, **how: Any) -> None:
    decisions.decide(HeldItem.objects.get(public_id=held), person, verdict, reason="because", **how)


def refused(caller: Caller, **changes: Any) -> list[str]:
    answer = caller.post("/responses", {"response": "", "items": [TRANSFER | changes]})
    assert answer.status_code == 422, answer.content
    return [error["pointer"] for error in answer.json()["errors"]]


@pytest.mark.usefixtures("undo_at_once")
class TestAsking:
    def test_a_call_that_no_rule_knows_is_held_and_told_as_it_came(self, kuro: Any) -> None:
        item = ask(kuro, call_id="call_7", description="Pay invoice 4711")
        assert (item["kind"], item["disposition"], item["rule"]) == ("tool_call", "hold", None)
        assert (item["call_id"], item["name"], item["arguments"]) == (
            "call_7", TRANSFER["name"], TRANSFER["arguments"],
        )  # fmt: skip
        held = kuro.get(f"/held/{item['held']}").json()
        assert (held["state"], held["decision"], held["hesitation"], held["asks"]) == ("pending", None, None, 1)
        assert (held["name"], held["arguments"], held["call_id"]) == (TRANSFER["name"], TRANSFER["arguments"], "call_7")
        assert held["description"] == "Pay invoice 4711"
        assert held["text"] == 'mcp__bank__transfer {"eur":100,"to":"DE89"}'

    def test_the_first_rule_that_matches_decides(self, kuro: Any) -> None:
        dear = {"tool": "mcp__bank__*", "where": {"/eur": {"gt": 50}}, "do": "ask", "reason": "money leaves"}
        never = {"tool": "*", "where": {"/to": {"eq": "evil"}}, "do": "deny"}
        ruled(kuro, {"tool": "*", "do": "deny", "shadow": True}, never, dear, {"tool": "mcp__bank__*", "do": "allow"})
        assert (ask(kuro)["disposition"], ask(kuro)["rule"]) == ("hold", dear)
        assert ask(kuro, arguments={"eur": 50})["disposition"] == "pass"
        denied = ask(kuro, arguments={"eur": 1, "to": "evil"})
        assert (denied["disposition"], denied["rule"], denied["held"]) == ("reject", never, None)
        assert AuditEvent.objects.filter(action="tool_call-denied").count() == 1
        assert kuro.get("/held").json()["items"][0]["rule"] == dear

    def test_a_rule_may_have_the_heuristics_and_patterns_look(self, kuro: Any) -> None:
        ruled(kuro, default_tool_call="score")
        arguments = {"note": "The cause is clearly the cache."}
        item = ask(kuro, arguments=arguments)
        assert (item["disposition"], item["hesitation"]["score"]) == ("hold", 50)
        assert item["hesitation"]["matched_pattern_ids"] == ["ep-cache"]
        held = kuro.get(f"/held/{item['held']}").json()
        spans = [span for signal in held["hesitation"]["signals"] for span in signal["spans"]]
        assert {held["text"][span["start"] : span["end"]] for span in spans} == {"clearly", "cache"}
        assert HeldItem.objects.get().hesitation_score == 50

    def test_a_rule_that_cannot_be_checked_holds(self, kuro: Any) -> None:
        ruled(kuro, {"tool": "*", "where": {"/eur": {"lt": 50}}, "do": "allow"}, default_tool_call="allow")
        item = ask(kuro, arguments={"eur": "1e9"})
        assert (item["disposition"], item["fault"]) == ("hold", "/eur is not a number: “lt” cannot be checked.")

    def test_rules_hold_while_hesitation_is_off(self, kuro: Any) -> None:
        Agent.objects.update(hesitation_enabled=False)
        assert ask(kuro)["disposition"] == "hold"
        assert kuro.respond(HELD)["items"][0]["disposition"] == "pass"

    @table("kind", ["chat", "ask", "Deploy"], rolled_back=True)
    def test_what_is_to_be_reviewed_is_held_whatever_else_says(self, kuro: Any, alice: Any, kind: str) -> None:
        ruled(kuro, default_tool_call="allow")
        item = {"kind": kind, "text": "Fine.", "require_review": True}
        for _ in range(2):
            told = kuro.respond("Fine.", items=[item])["items"][0]
            assert (told["disposition"], told["text"]) == ("hold", None)
            by_person(alice, told["held"], "approve")
        assert ask(kuro, require_review=True)["disposition"] == "hold"
        ruled(kuro, default_tool_call="deny")
        assert ask(kuro, require_review=True, session="s2")["disposition"] == "hold"

    def test_words_are_scored_as_if_there_were_no_call(self, kuro: Any) -> None:
        call = TRANSFER | {"arguments": {"note": "obviously, clearly, certainly \u202e"}}
        words = {"kind": "chat", "text": "Hello."}
        assert kuro.respond("Hello.", items=[call, words])["hesitation"]["score"] == 0


@pytest.mark.usefixtures("undo_at_once")
class TestTheSameCall:
    def test_one_that_waits_is_the_same_item_and_its_asks_are_counted(self, kuro: Any) -> None:
        held = held_by(kuro, call_id="a")
        assert ask(kuro, call_id="b", arguments={"to": "DE89", "eur": 1e2})["held"] == held
        assert kuro.get(f"/held/{held}").json()["asks"] == 2
        assert ask(kuro, session="s2")["held"] != held
        assert ask(kuro, name="other")["held"] != held
        assert ask(kuro, arguments={"eur": 9007199254740993})["held"] != ask(kuro, arguments={"eur": 2**53})["held"]
        both = kuro.respond("", session="s3", items=[TRANSFER, TRANSFER])["items"]
        assert both[0]["held"] == both[1]["held"]
        assert AuditEvent.objects.filter(action="tool_call-asked-again").count() == 2

    def test_an_approval_lets_pass_that_call_alone_as_often_as_it_is_asked_about(self, kuro: Any, alice: Any) -> None:
        held = held_by(kuro, call_id="a")
        by_person(alice, held, "approve")
        others: list[dict[str, Any]] = [{"call_id": "b"}, {"session": "s2"}, {"name": "x"}, {"arguments": {}}]
        for other in others:
            assert ask(kuro, **{"call_id": "a"} | other)["disposition"] == "hold", other
        for _ in range(2):
            told = ask(kuro, call_id="a")
            assert (told["disposition"], told["recognised"]) == ("pass", held)

    def test_no_approval_lets_pass_what_a_rule_denies_now(self, kuro: Any, alice: Any) -> None:
        by_person(alice, held_by(kuro), "approve")
        ruled(kuro, {"tool": "*", "do": "deny"})
        assert ask(kuro)["disposition"] == "reject"
        ruled(kuro, {"tool": "*", "do": "allow"})
        assert ask(kuro)["recognised"] is None
        ruled(kuro)
        assert ask(kuro)["disposition"] == "pass", "the approval was not used yet"

    def test_an_approval_is_good_for_a_week(self, kuro: Any, alice: Any) -> None:
        from reviews.models import Decision

        by_person(alice, held_by(kuro), "approve")
        Decision.objects.update(released_at=timezone.now() - timedelta(days=7, seconds=1))
        assert ask(kuro)["disposition"] == "hold"

    def test_a_person_may_allow_the_same_call_for_a_while_and_end_that(self, kuro: Any, alice: Any) -> None:
        how = decisions.Circumstances(grant=grants.Wanted(seconds=600))
        by_person(alice, held_by(kuro, call_id="a"), "approve", circumstances=how)
        assert [ask(kuro, call_id=name)["disposition"] for name in "abc"] == ["pass"] * 3
        assert ask(kuro, session="s2")["disposition"] == "hold"
        assert ask(kuro, call_id="e", require_review=True)["disposition"] == "hold"
        HeldItem.objects.filter(closed_at=None).update(closed_at=timezone.now(), state="withdrawn")
        grant = CallGrant.objects.get()
        assert grant.uses == 2
        assert grants.withdraw(grant, alice)
        assert not grants.withdraw(grant, alice)
        assert ask(kuro, call_id="d")["disposition"] == "hold"
        told = ["tool_call-grant-given", "tool_call-grant-withdrawn"]
        assert sorted(AuditEvent.objects.filter(action__in=told).values_list("action", flat=True)) == told

    def test_leave_ends_by_itself(self, kuro: Any, alice: Any) -> None:
        how = decisions.Circumstances(grant=grants.Wanted(seconds=600))
        by_person(alice, held_by(kuro, call_id="a"), "approve", circumstances=how)
        CallGrant.objects.update(until=timezone.now())
        assert ask(kuro, call_id="b")["disposition"] == "hold"


@pytest.mark.usefixtures("undo_at_once")
class TestDeciding:
    def test_an_edit_gives_back_arguments_which_pass(self, kuro: Any, alice: Any) -> None:
        held = held_by(kuro, schema=SCHEMA, call_id="a", metadata={"run": "r-12"})
        by_person(alice, held, "edit", edit=decisions.Arguments({"eur": 40}), accept_risk=True)
        shape = kuro.get(f"/held/{held}").json()
        assert shape["decision"] == kuro.get("/decisions").json()["items"][0]
        decision = shape["decision"]
        assert (decision["verdict"], decision["text"], decision["arguments"]) == ("edit", None, {"eur": 40})
        assert (decision["reason"], decision["by"], decision["metadata"]) == ("because", "person", {"run": "r-12"})
        assert ask(kuro, call_id="a")["disposition"] == "hold", "that was not approved"
        edited: dict[str, Any] = {"call_id": "a", "arguments": {"eur": 40}}
        assert ask(kuro, **edited)["disposition"] == "pass"

    def test_an_edit_must_meet_the_schema(self, kuro: Any, alice: Any) -> None:
        held = held_by(kuro, schema=SCHEMA)
        for arguments, pointer in (({"eur": 501}, "/eur"), ({}, ""), (None, "")):
            with pytest.raises(decisions.OutOfSchema) as wrong:
                by_person(alice, held, "edit", edit=decisions.Arguments(arguments), accept_risk=True)
            assert [error["pointer"] for error in wrong.value.errors] == [pointer]
        assert HeldItem.objects.get().state == "pending"

    def test_an_edit_is_asked_about_by_what_it_meets_itself(self, kuro: Any, alice: Any) -> None:
        dear = {"tool": "*", "where": {"/eur": {"gt": 50}}, "do": "ask"}
        never = {"tool": "*", "where": {"/to": {"eq": "evil"}}, "do": "deny"}
        scored = {"tool": "*", "where": {"/note": {"exists": True}}, "do": "score"}
        ruled(kuro, never, scored, dear)
        held = held_by(kuro)
        doubtful = {"note": "The cause is clearly the cache."}
        for arguments in ({"eur": 1, "to": "evil"}, {"eur": 1, "to": "DE89", **doubtful}, {"eur": "60", "to": "DE89"}):
            with pytest.raises(decisions.StillRisky) as risky:
                by_person(alice, held, "edit", edit=decisions.Arguments(arguments))
            assert risky.value.edited.is_held_again
        by_person(alice, held, "edit", edit=decisions.Arguments({"eur": 60, "to": "DE89"}))
        assert HeldItem.objects.get().state == "edited"

    def test_it_expires_when_the_agent_says_so_and_is_never_approved(self, kuro: Any) -> None:
        held = held_by(kuro, expires_in=3600)
        row = HeldItem.objects.get()
        assert row.expires_at - row.held_at == timedelta(hours=1)
        HeldItem.objects.update(expires_at=timezone.now())
        shape = kuro.get(f"/held/{held}").json()
        assert (shape["state"], shape["decision"]["verdict"], shape["decision"]["arguments"]) == (
            "expired", "expire", None,
        )  # fmt: skip
        assert ask(kuro)["disposition"] == "hold"


@table(("default", "disposition"), [("ask", "hold"), ("allow", "pass"), ("deny", "reject"), ("score", "pass")])
def test_where_none_matches_the_default_does(kuro: Any, default: str, disposition: str) -> None:
    ruled(kuro, {"tool": "other", "do": "deny"}, default_tool_call=default)
    assert ask(kuro, session=default)["disposition"] == disposition


@table(
    ("body", "status"),
    [
        ({"verdict": "approve", "reason": "safe"}, 403),
        ({"verdict": "approve"}, 403),
        ({"verdict": "edit", "arguments": {}, "reason": "safe"}, 403),
        ({"verdict": "edit", "text": "x", "reason": "safe"}, 403),
        ({"verdict": "withdraw", "arguments": {}}, 422),
        ({"verdict": "withdraw"}, 201),
    ],
)
def test_an_agent_may_withdraw_its_call_and_no_more(kuro: Any, body: dict[str, Any], status: int) -> None:
    ruled(kuro, review_seconds=1)
    held = held_by(kuro, session=str(body))
    HeldItem.objects.update(review_due_at=timezone.now())
    assert kuro.post(f"/held/{held}/decision", body).status_code == status


@table(
    ("changes", "pointers"),
    [
        ({"name": ""}, ["/items/0/name"]),
        ({"name": "x" * 256}, ["/items/0/name"]),
        ({"name": 3}, ["/items/0/name"]),
        ({"text": "pay"}, ["/items/0/text"]),
        ({"attributes": {}}, ["/items/0/attributes"]),
        ({"call_id": ""}, ["/items/0/call_id"]),
        ({"call_id": 7}, ["/items/0/call_id"]),
        ({"schema": {"type": "nothing"}}, ["/items/0/schema"]),
        ({"schema": True}, ["/items/0/schema"]),
        ({"description": 1}, ["/items/0/description"]),
        ({"require_review": "yes"}, ["/items/0/require_review"]),
        ({"expires_in": 0}, ["/items/0/expires_in"]),
        ({"expires_in": 604_801}, ["/items/0/expires_in"]),
        ({"metadata": []}, ["/items/0/metadata"]),
        ({"metadata": {"a": "x" * 4089}}, ["/items/0/metadata"]),
    ],
)
def test_a_call_out_of_shape_is_refused_with_its_place(kuro: Any, changes: Any, pointers: list[str]) -> None:
    assert refused(kuro, **changes) == pointers
    assert not HeldCall.objects.exists()


def test_a_call_needs_a_name_and_arguments_of_any_kind(kuro: Any) -> None:
    answer = kuro.post("/responses", {"response": "", "items": [{"kind": "TOOL_CALL"}]})
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/items/0/name", "/items/0/arguments"]
    given = [None, True, 1.5, "ls", [1], {"a": {"b": [None]}}, 12345678901234567890]
    for arguments in given:
        held = held_by(kuro, arguments=arguments, metadata={"a": "x" * 4088})
        assert kuro.get(f"/held/{held}").json()["arguments"] == arguments


def test_metadata_come_back_and_find_their_items(kuro: Any, alice: Any) -> None:
    kuro.respond(HELD, session="s1", metadata={"run": "r-12", "trace": "t"})
    kuro.respond("", session="s2", metadata={"run": "r-12"}, items=[TRANSFER | {"metadata": {"run": "r-13", "n": 4}}])

    def found(query: str) -> list[dict[str, Any]]:
        return [each["metadata"] for each in kuro.get(f"/held?{query}").json()["items"]]

    words, call = {"run": "r-12", "trace": "t"}, {"run": "r-13", "n": 4}
    assert found("metadata.run=r-12") == found("session=s1") == [words]
    assert found("metadata.n=4&session=s2") == found("metadata.run=r-13") == [call]
    assert found("metadata.run=r-12&metadata.trace=u") == found("metadata.x=1") == []
    assert kuro.get("/held?bogus=1").status_code == 422
    for held in HeldItem.objects.all():
        decisions.decide(held, alice, "approve")
    HeldItem.objects.get(kind="tool_call").decisions.update(release_at=timezone.now())
    (decision,) = kuro.get("/decisions?session=s2&metadata.run=r-13").json()["items"]
    assert decision["metadata"] == call


def test_a_verdict_with_calls_is_made_again(kuro: Any, alice: Any, undo_at_once: None) -> None:
    from reviews.models import AgentResponse
    from reviews.scoring.replay import Replayer

    ruled(kuro, {"tool": "read_*", "do": "allow"}, {"tool": "sh", "do": "score"}, {"tool": "rm", "do": "deny"})
    by_person(alice, held_by(kuro), "approve")
    calls = [TRANSFER, TRANSFER | {"name": "read_file"}, TRANSFER | {"name": "sh"}, TRANSFER | {"name": "rm"}]
    kuro.respond("", session="s1", items=[*calls, {"kind": "ask", "text": "Now?", "require_review": True}])
    response = AgentResponse.objects.get(pk=AgentResponse.objects.latest("pk").pk)
    assert [item["disposition"] for item in response.wire_verdict()["items"]] == [
        *("pass", "pass", "pass", "reject", "hold"),
    ]  # fmt: skip
    assert Replayer().replay(response).differences == []


def test_what_was_decided_about_calls_is_counted_apart(
    kuro: Any, alice: Any, as_person: Any, undo_at_once: None
) -> None:
    from reviews.learning import sweep
    from reviews.metrics import daily
    from reviews.models import DailyFigure

    ruled(kuro, {"tool": "read_*", "do": "allow"}, {"tool": "rm", "do": "deny"})
    by_person(alice, held_by(kuro), "reject")
    by_person(alice, held_by(kuro), "approve")
    waiting = held_by(kuro, arguments={})
    by_person(alice, kuro.hold(), "approve")
    kuro.respond("", session="s1", items=[TRANSFER, TRANSFER | {"name": "read_file"}, TRANSFER | {"name": "rm"}])
    sweep.learn()
    daily.count_days(timezone.now())
    figure = DailyFigure.objects.get()
    assert (figure.responses, figure.held, figure.approved, figure.rejected) == (5, 1, 1, 0)
    bank = {"approved": 1, "rejected": 1, "pending": 1}
    assert figure.calls == {"mcp__bank__transfer": bank, "read_file": {"passed": 1}, "rm": {"denied": 1}}
    by_person(alice, waiting, "approve")
    daily.count_days(timezone.now() + timedelta(days=2))
    figure.refresh_from_db()
    assert (figure.calls["mcp__bank__transfer"], figure.calls_pending) == ({"approved": 2, "rejected": 1}, 0)
    page = as_person(alice).get("/statistics/").content.decode()
    assert re.search(r">mcp__bank__transfer</th>.*?>3</td>.*?>2</td>", page, re.DOTALL)
    head, *_ = as_person(alice).get("/statistics.csv").content.decode().splitlines()
    assert '"calls_pending","calls_granted","effect_read"' in head


def test_what_calls_say_is_erased_with_their_response(kuro: Any, alice: Any, aurora: Any, undo_at_once: None) -> None:
    from reviews import retention
    from reviews.models import AgentResponse, Decision

    secret = {"arguments": {"note": "swordfish"}, "description": "swordfish", "metadata": {"note": "swordfish"}}
    by_person(alice, held_by(kuro, **secret), "approve")
    long_ago = timezone.now() - timedelta(days=400)
    AgentResponse.objects.update(received_at=long_ago)
    HeldItem.objects.update(closed_at=long_ago)
    aurora.retention_days = 30
    aurora.save()
    retention.erase()
    rows = [*AgentResponse.objects.values(), *HeldItem.objects.values(), *HeldCall.objects.values()]
    assert "swordfish" not in str([*rows, *Decision.objects.values()])
    assert kuro.get("/decisions").json()["items"][0]["arguments"] is None


class TestAPersonsToken:
    @pytest.fixture
    def decide(self, alice: Any) -> Any:
        from metacog.accounts import tokens

        token = tokens.issue(alice, name="ci", scopes=["read", "decide"], days=7)[1]

        def post(held: str, **body: Any) -> Any:
            person = Caller("", token, "")
            return person.post(f"/review/held/{held}/decision", body)

        return post

    def test_it_edits_arguments_by_the_consoles_rules(self, kuro: Any, decide: Any, undo_at_once: None) -> None:
        ruled(kuro, {"tool": "*", "where": {"/to": {"eq": "evil"}}, "do": "deny", "reason": "never"})
        held = held_by(kuro, schema=SCHEMA)
        for body, pointer in (
            ({"verdict": "edit"}, "/arguments"),
            ({"verdict": "edit", "text": "x"}, "/text"),
            ({"verdict": "approve", "arguments": {}}, "/arguments"),
            ({"verdict": "edit", "arguments": {"eur": "x"}}, "/arguments/eur"),
            ({"verdict": "edit", "arguments": {"eur": 1, "to": "evil"}}, "/arguments"),
        ):
            answer = decide(held, **body)
            assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer), body
        assert answer.json()["rule"]["reason"] == "never"
        answer = decide(held, verdict="edit", arguments={"eur": 2, "to": "DE"})
        assert (answer.status_code, answer.json()["arguments"]) == (201, {"eur": 2, "to": "DE"})
        assert decide(held, verdict="edit", arguments={"to": "DE", "eur": 2.0}).status_code == 200

    def test_it_is_warned_once_of_keys_that_look_like_a_slip(self, kuro: Any, decide: Any, undo_at_once: None) -> None:
        edit = {"verdict": "edit", "arguments": {"euro": 2, "eur": 2}}
        answer = decide(held := held_by(kuro, schema=SCHEMA), **edit)
        assert (answer.status_code, answer.json()["rule"], answer.json()["hesitation"]) == (422, None, None)
        assert answer.json()["errors"] == [
            {"pointer": "/arguments/euro", "detail": "is a key that the tool's schema does not know"},
            {"pointer": "/arguments/to", "detail": "is a key that the call had, and the edit has not"},
        ]
        assert "Send `accept_risk: true` to release it." in answer.json()["detail"]
        assert decide(held, **edit, accept_risk=True).status_code == 201
        closed = held_by(kuro, name="closed", schema=SCHEMA | {"additionalProperties": False})
        answer = decide(closed, **edit, accept_risk=True)
        assert (answer.status_code, HeldItem.objects.get(public_id=closed).state) == (422, "pending")

    def test_it_may_allow_the_same_call_again(self, kuro: Any, decide: Any, undo_at_once: None) -> None:
        assert decide(held_by(kuro), verdict="approve", again_seconds=601).status_code == 422
        held = HeldItem.objects.get().public_id
        assert decide(held, verdict="approve", again_seconds=600).status_code == 201
        assert [ask(kuro, call_id=name)["disposition"] for name in "ab"] == ["pass", "pass"]
        assert decide(kuro.hold(), verdict="approve", again_seconds=600).status_code == 422


def test_an_agent_is_told_who_decided_where_its_team_allows_it(
    kuro: Any, alice: Any, aurora: Any, undo_at_once: None
) -> None:
    held = held_by(kuro)
    by_person(alice, held, "approve")
    assert "decided_by" not in kuro.get(f"/held/{held}").json()["decision"]
    aurora.names_people = True
    aurora.save()
    assert kuro.get(f"/held/{held}").json()["decision"]["decided_by"] == "alice"
    assert kuro.get("/decisions").json()["items"][0]["decided_by"] == "alice"
