"""One approval, one run: who hears of it first has it, and what became of it is reported once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Agent, AuditEvent
from reviews.held import decisions, grants
from reviews.models import HeldCall, HeldItem
from tests.reviews.api.test_tool_calls import ask, by_person, held_by, ruled
from tests.tables import table

pytestmark = pytest.mark.usefixtures("undo_at_once")


def by_id(kuro: Any, held: str) -> dict[str, Any]:
    found: dict[str, Any] = kuro.get(f"/held/{held}").json()["decision"]
    return found


def in_list(kuro: Any, held: str) -> dict[str, Any]:
    found = kuro.get("/held?state=approved").json()["items"]
    return next(each["decision"] for each in found if each["id"] == held)


def in_feed(kuro: Any, held: str) -> dict[str, Any]:
    return next(each for each in kuro.get("/decisions").json()["items"] if each["held"] == held)


def in_context(kuro: Any, held: str) -> dict[str, Any]:
    return next(each for each in kuro.get("/context").json()["decided"] if each["held"] == held)


def by_conflict(kuro: Any, held: str) -> dict[str, Any]:
    answer = kuro.post(f"/held/{held}/decision", {"verdict": "withdraw"})
    assert answer.status_code == 409
    found: dict[str, Any] = answer.json()["decision"]
    return found


def by_waiting(kuro: Any, held: str) -> dict[str, Any]:
    found: dict[str, Any] = kuro.get(f"/held/{held}?wait=1").json()["decision"]
    return found


HEARINGS = [by_id, by_waiting, in_list, in_feed, in_context, by_conflict]
Hearing = Callable[[Any, str], dict[str, Any]]


def approved(kuro: Any, person: Any, **changes: Any) -> str:
    held = held_by(kuro, **changes)
    by_person(person, held, "approve")
    return held


@table("hear", HEARINGS)
def test_whoever_hears_first_of_a_call_without_an_id_has_its_approval(kuro: Any, alice: Any, hear: Hearing) -> None:
    session = hear.__name__
    held = approved(kuro, alice, session=session)
    assert hear(kuro, held)["permission"] == "given"
    for again in HEARINGS:
        told = again(kuro, held)
        assert told["permission"] == "used", again.__name__
        assert told["verdict"] == "approve", "it stays to be read"
    assert by_id(kuro, held)["used_at"] is not None
    anew = ask(kuro, session=session)
    assert (anew["disposition"], anew["recognised"]) == ("hold", None)
    assert anew["held"] != held


@table("hear", HEARINGS)
def test_posted_again_first_it_is_used_for_all_who_hear(kuro: Any, alice: Any, hear: Hearing) -> None:
    session = hear.__name__
    held = approved(kuro, alice, session=session)
    assert ask(kuro, session=session)["recognised"] == held
    assert hear(kuro, held)["permission"] == "used"
    assert ask(kuro, session=session)["disposition"] == "hold"


@table("hear", [each for each in HEARINGS if each is not in_context])  # which tells of it until the next post
def test_a_call_with_an_id_is_answered_until_its_outcome(kuro: Any, alice: Any, hear: Hearing) -> None:
    call = {"session": hear.__name__, "call_id": "call_7"}
    held = approved(kuro, alice, **call)
    for _ in range(2):
        assert hear(kuro, held)["permission"] == "given"
        assert ask(kuro, **call)["recognised"] == held
    assert kuro.post(f"/held/{held}/outcome", {"status": "done"}).status_code == 201
    assert hear(kuro, held)["permission"] == "used"
    assert ask(kuro, **call)["disposition"] == "hold"


def test_under_several_ids_the_first_that_is_posted_again_has_it(kuro: Any, alice: Any) -> None:
    held = held_by(kuro, call_id="a")
    assert ask(kuro, call_id="b")["held"] == held
    by_person(alice, held, "approve")
    assert by_id(kuro, held)["permission"] == "post"
    for _ in range(2):
        assert ask(kuro, call_id="b")["recognised"] == held
        assert by_id(kuro, held)["permission"] == "post"
    assert ask(kuro, call_id="a")["disposition"] == "hold"
    kuro.post(f"/held/{held}/outcome", {"status": "failed"})
    assert by_id(kuro, held)["permission"] == "used"
    assert ask(kuro, call_id="b")["disposition"] == "hold"


def test_asked_with_and_without_an_id_it_is_one_permission(kuro: Any, alice: Any) -> None:
    held = held_by(kuro, call_id="a")
    ask(kuro)
    by_person(alice, held, "approve")
    assert [by_id(kuro, held)["permission"], in_feed(kuro, held)["permission"]] == ["given", "used"]
    assert [ask(kuro, call_id="a")["disposition"], ask(kuro)["disposition"]] == ["hold", "hold"]
    other = held_by(kuro, session="s2")
    ask(kuro, session="s2", call_id="b")
    by_person(alice, other, "approve")
    assert ask(kuro, session="s2", call_id="b")["recognised"] == other
    assert by_id(kuro, other)["permission"] == "post"
    assert ask(kuro, session="s2")["disposition"] == "hold"


def test_an_edit_without_an_id_is_one_permission_too(kuro: Any, alice: Any) -> None:
    held = held_by(kuro)
    by_person(alice, held, "edit", edit=decisions.Arguments({"eur": 40, "to": "DE89"}))
    told = in_feed(kuro, held)
    assert (told["permission"], told["arguments"]) == ("given", {"eur": 40, "to": "DE89"})
    assert ask(kuro, arguments={"eur": 40, "to": "DE89"})["disposition"] == "hold"


def test_people_who_read_it_use_nothing_up(kuro: Any, alice: Any, as_person: Any) -> None:
    from metacog.accounts import tokens
    from tests.conftest import Caller

    held = approved(kuro, alice)
    program = Caller("", tokens.issue(alice, name="ci", scopes=["read"], days=7)[1], "")
    for _ in range(2):
        assert program.get(f"/review/held/{held}").json()["decision"]["permission"] == "given"
    assert as_person(alice).get(f"/agents/{kuro.id}/context/").status_code == 200
    assert as_person(alice).get(f"/queue/{held}/").status_code == 200
    assert ask(kuro)["recognised"] == held
    assert program.get(f"/review/held/{held}").json()["decision"]["permission"] == "used"


def test_another_decision_permits_nothing(kuro: Any, alice: Any) -> None:
    held = held_by(kuro)
    by_person(alice, held, "reject")
    assert [by_id(kuro, held)[name] for name in ("permission", "used_at", "outcome")] == [None] * 3
    by_person(alice, words := kuro.hold(), "approve")
    assert by_id(kuro, words)["permission"] is None
    assert HeldCall.objects.get().used_at is None


def test_the_same_post_again_is_answered_as_before(kuro: Any, alice: Any) -> None:
    approved(kuro, alice)
    body = {"id": "once", "response": "", "session": "s1", "items": [CALL]}
    first, again = kuro.post("/responses", body), kuro.post("/responses", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["items"] == again.json()["items"]
    assert first.json()["items"][0]["disposition"] == "pass"


def test_the_prompt_of_the_next_cycle_says_what_is_used(kuro: Any, alice: Any) -> None:
    approved(kuro, alice)
    used = "This approval is used up: do not make the call for it again."
    assert used not in kuro.get("/context", Accept="text/plain").content.decode()
    assert used in kuro.get("/context", Accept="text/plain").content.decode()


def test_a_permission_to_make_it_again_does_not_cover_what_is_done(kuro: Any, alice: Any) -> None:
    held = held_by(kuro, call_id="a")
    by_person(alice, held, "approve", circumstances=decisions.Circumstances(grant=grants.Wanted(seconds=600)))
    kuro.post(f"/held/{held}/outcome", {"status": "done"})
    assert [ask(kuro, call_id=name)["disposition"] for name in "bcab"] == ["pass", "pass", "hold", "hold"]
    other = held_by(kuro, session="s2")
    by_person(alice, other, "approve", circumstances=decisions.Circumstances(grant=grants.Wanted(seconds=600)))
    assert by_id(kuro, other)["permission"] == "given"
    assert [ask(kuro, session="s2")["disposition"] for _ in range(2)] == ["pass", "pass"]


class TestTheOutcome:
    def test_it_stands_on_the_item_in_the_feed_and_in_the_audit_log(self, kuro: Any, alice: Any) -> None:
        held = approved(kuro, alice, call_id="a")
        assert by_id(kuro, held)["outcome"] is None
        body = {"status": "failed", "detail": "No such account.", "result": {"code": [1, None]}}
        answer = kuro.post(f"/held/{held}/outcome", body)
        assert answer.status_code == 201
        outcome = answer.json()
        assert {name: outcome[name] for name in body} == body
        item = kuro.get(f"/held/{held}").json()
        assert item["outcome"] == item["decision"]["outcome"] == in_feed(kuro, held)["outcome"] == outcome
        event = AuditEvent.objects.get(action="tool_call-reported")
        assert (event.object_id, event.after, event.agent.public_id) == (held, "failed", kuro.id)
        assert "account" not in json.dumps(event.data), "texts are not in the record"

    def test_it_is_reported_once(self, kuro: Any, alice: Any) -> None:
        held = approved(kuro, alice)
        first = kuro.post(f"/held/{held}/outcome", {"status": "done"}).json()
        for status in ("done", "failed"):
            answer = kuro.post(f"/held/{held}/outcome", {"status": status})
            assert (answer.status_code, answer.json()["outcome"]) == (409, first)

    def test_what_was_not_released_has_none(self, kuro: Any, alice: Any, settings: Any, other: Any) -> None:
        pending, rejected, words = held_by(kuro), held_by(kuro, name="x"), kuro.hold()
        by_person(alice, rejected, "reject")
        by_person(alice, words, "approve")
        undoable = held_by(kuro, name="y")
        settings.UNDO_SECONDS = 10
        by_person(alice, undoable, "approve")
        for held in (pending, rejected, words, undoable):
            assert kuro.post(f"/held/{held}/outcome", {"status": "done"}).status_code == 409
        assert other.post(f"/held/{pending}/outcome", {"status": "done"}).status_code == 404

    @table(
        ("body", "pointers"),
        [
            ({}, ["/status"]),
            ({"status": "ok"}, ["/status"]),
            ({"status": "done", "detail": 1}, ["/detail"]),
            ({"status": "done", "detail": "x" * 10_001}, ["/detail"]),
            ({"status": "done", "result": "x" * 16_383}, ["/result"]),
            ({"status": "done", "more": 1}, ["/more"]),
            ({"status": "done", "result": "x" * 16_382}, None),
        ],
        rolled_back=True,
    )
    def test_what_is_out_of_shape_is_refused(self, kuro: Any, alice: Any, body: Any, pointers: Any) -> None:
        held = approved(kuro, alice)
        answer = kuro.post(f"/held/{held}/outcome", body)
        found = None if answer.status_code == 201 else [each["pointer"] for each in answer.json()["errors"]]
        assert found == pointers

    def test_people_see_it_with_its_secrets_masked(self, kuro: Any, alice: Any, as_person: Any, capsys: Any) -> None:
        from django.core.management import call_command

        from metacog.accounts import tokens
        from tests.conftest import Caller

        key = "sk-abcdefghijklmnopqrstuvwx"
        held = approved(kuro, alice, call_id="a")
        said = {"detail": f"By {key}.", "result": {"password": "swordfish"}}
        kuro.post(f"/held/{held}/outcome", {"status": "done", **said})
        program = Caller("", tokens.issue(alice, name="ci", scopes=["read"], days=7)[1], "")
        call_command("export", "decisions")
        exported = b"".join(as_person(alice).get("/queue/export?state=decided&format=jsonl").streaming_content)
        ways = [
            program.get(f"/review/held/{held}").content.decode(),
            program.get("/review/queue?state=decided").content.decode(),
            as_person(alice).get(f"/queue/{held}/").content.decode(),
            capsys.readouterr().out,
            exported.decode(),
        ]
        for way in ways:
            assert "By ••••••••." in way
            assert key not in way
            assert "swordfish" not in way

    def test_its_texts_are_erased_with_the_response(self, kuro: Any, alice: Any, aurora: Any) -> None:
        from reviews import retention
        from reviews.models import AgentResponse, CallOutcome

        held = approved(kuro, alice)
        kuro.post(f"/held/{held}/outcome", {"status": "done", "detail": "swordfish", "result": ["swordfish"]})
        long_ago = timezone.now() - timedelta(days=400)
        AgentResponse.objects.update(received_at=long_ago)
        HeldItem.objects.update(closed_at=long_ago)
        aurora.retention_days = 30
        aurora.save()
        retention.erase()
        assert CallOutcome.objects.values_list("status", "detail", "result").get() == ("done", "", None)


CALL = {"kind": "tool_call", "name": "mcp__bank__transfer", "arguments": {"eur": 100, "to": "DE89"}}


class TestALargeSchema:
    LARGE = {"type": "object", "description": "x" * 65_536}

    def test_the_call_is_held_and_says_that_it_is_not_checked(self, kuro: Any, alice: Any, as_person: Any) -> None:
        held = held_by(kuro, schema=self.LARGE)
        item = kuro.get(f"/held/{held}").json()
        assert (item["schema"], item["schema_omitted"]) == (None, True)
        page = as_person(alice).get(f"/queue/{held}/").content.decode()
        assert "not checked against the tool's schema" in page
        by_person(alice, held, "edit", edit=decisions.Arguments({"eur": "many", "to": "DE89"}))

    def test_a_client_may_leave_it_out_and_say_so(self, kuro: Any) -> None:
        held = held_by(kuro, schema_omitted=True)
        assert kuro.get(f"/held/{held}").json()["schema_omitted"] is True
        assert kuro.get(f"/held/{held_by(kuro, name='x')}").json()["schema_omitted"] is False

    def test_of_64_kib_it_is_checked(self, kuro: Any) -> None:
        largest = {"type": "object", "description": "x" * (65_536 - 34)}
        assert len(json.dumps(largest, separators=(",", ":"))) == 65_536
        item = kuro.get(f"/held/{held_by(kuro, schema=largest)}").json()
        assert (item["schema"], item["schema_omitted"]) == (largest, False)

    def test_rules_decide_about_it_as_about_any(self, kuro: Any) -> None:
        ruled(kuro, {"tool": "*", "do": "allow"})
        assert ask(kuro, schema=self.LARGE)["disposition"] == "pass"
        assert Agent.objects.get(public_id=kuro.id).held_items.count() == 0
