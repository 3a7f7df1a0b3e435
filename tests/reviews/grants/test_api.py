"""Grants: a person lets such calls pass for a while, with an approval; shown, counted, audited, withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from metacog.accounts import tokens
from metacog.accounts.agents import create_agent
from metacog.models import Agent, AuditEvent, Membership, User
from reviews.held import grants
from reviews.models import CallGrant, Decision, HeldItem
from tests.conftest import Caller
from tests.reviews.api.test_tool_calls import ruled
from tests.tables import table

pytestmark = pytest.mark.usefixtures("undo_at_once")
SOON = (datetime.now(UTC) + timedelta(hours=2)).isoformat()


class Person:
    """A person's program: a token with both scopes."""

    def __init__(self, user: User) -> None:
        token = tokens.issue(user, name="x", scopes=["read", "decide"], days=7)[1]
        self.user, self.caller = user, Caller("", token, "")

    def approve(self, held: str, grant: Any = None, **fields: Any) -> Any:
        return self.caller.post(f"/review/held/{held}/decision", {"verdict": "approve", "grant": grant} | fields)

    def grants(self, **asked: str) -> list[dict[str, Any]]:
        answer = self.caller.get(f"/review/grants?{urlencode(asked)}")
        assert answer.status_code == 200, answer.content
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def withdraw(self, grant: str) -> Any:
        return self.caller.call("DELETE", f"/review/grants/{grant}")


@pytest.fixture
def sibling(aurora: Any) -> Caller:
    """Another agent of kuro's team."""
    agent, key, secret = create_agent(aurora, "shiro", None)
    return Caller(agent.public_id, key, secret)


@pytest.fixture
def person(alice: Any) -> Person:
    return Person(alice)


def ask(caller: Caller, name: str = "Bash", arguments: Any = None, session: str = "s1", **fields: Any) -> Any:
    item = {"kind": "tool_call", "name": name, "arguments": arguments or {"command": "git push"}} | fields
    return caller.respond("", session=session, items=[item])["items"][0]


def granted(caller: Caller, person: Person, grant: Any, **call: Any) -> str:
    """Have a call approved with a grant, and return the grant's id."""
    answer = person.approve(ask(caller, call_id="first", **call)["held"], grant)
    assert answer.status_code == 201, answer.content
    found: str = answer.json()["grant"]
    return found


def refused(caller: Caller, person: Person, grant: Any, **call: Any) -> str:
    """Have a call approved with a grant that cannot be, and return where it says why."""
    held = ask(caller, **call)["held"]
    answer = person.approve(held, grant)
    assert answer.status_code == 422, answer.content
    assert HeldItem.objects.get(public_id=held).state == "pending", "nothing was decided"
    pointer: str = answer.json()["errors"][0]["pointer"]
    return pointer


def passes(caller: Caller, **call: Any) -> bool:
    """Post a call anew, and leave nothing that waits."""
    item = ask(caller, call_id=f"call-{AuditEvent.objects.count()}", **call)
    HeldItem.objects.filter(closed_at=None).update(closed_at=timezone.now(), state="withdrawn")
    return bool(item["disposition"] == "pass")


REFUND: dict[str, Any] = {"name": "refund", "arguments": {"charge_id": "ch_1", "amount": 5}}
OTHER_REFUND: dict[str, Any] = {"name": "refund", "arguments": {"charge_id": "ch_2", "amount": 7}}


class TestWhatPasses:
    def test_a_call_in_its_session_passes_under_any_id_and_no_other(self, kuro: Any, person: Person) -> None:
        grant = granted(kuro, person, {"until": SOON})
        item = ask(kuro, call_id="second")
        assert (item["disposition"], item["grant"]) == ("pass", grant)
        assert item["recognised"] == person.grants()[0]["held"]
        assert not passes(kuro, arguments={"command": "git push --force"})
        assert not passes(kuro, session="s2")
        assert not passes(kuro, name="sh")

    def test_a_call_in_all_sessions_of_its_agent_and_of_no_other(self, kuro: Any, sibling: Any, person: Person) -> None:
        granted(kuro, person, {"scope": "agent", "until": SOON})
        assert passes(kuro, session="s2")
        assert not passes(sibling)

    def test_a_tool_without_free_text_whatever_its_arguments(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"match": "tool", "until": SOON}, **REFUND)
        assert passes(kuro, **OTHER_REFUND)
        assert not passes(kuro, session="s2", **OTHER_REFUND)
        assert not passes(kuro, name="refund", arguments={"charge_id": "ch_2", "amount": 7, "note": "and all others"})

    def test_what_an_edit_released_is_what_passes(self, kuro: Any, person: Person) -> None:
        edit = {"verdict": "edit", "arguments": {"command": "git pull"}, "accept_risk": True}
        assert person.approve(ask(kuro)["held"], {"until": SOON}, **edit).status_code == 201
        assert passes(kuro, arguments={"command": "git pull"})
        assert "git pull" in person.grants()[0]["words"]
        assert not passes(kuro)


class TestShapes:
    @table(
        ("granted_call", "others", "wider"),
        [
            (
                {"command": "git push origin main"},
                [{"command": "git push origin fix/login"}, {"command": "git  push 'origin' next"}],
                [
                    {"command": command}
                    for command in (
                        "git push --force origin main",
                        "git push origin +main",
                        "git push origin :main",
                        "git push elsewhere main",
                        "git -C /other push origin main",
                        "git pull origin main",
                        "git push origin main && rm x",
                        "git push origin main > x",
                        "git push origin $(cat x)",
                        "GIT_SSH_COMMAND=x git push origin main",
                        "sudo git push origin main",
                        "eval git push origin",
                    )
                ],
            ),
            (
                {"file_path": "src/a.py", "content": "x"},
                [{"file_path": "src/b.py", "content": "y"}],
                [{"file_path": "/etc/passwd", "content": "x"}, {"file_path": "../a.py", "content": "x"}],
            ),
        ],
        rolled_back=True,
    )
    def test_what_it_lets_pass_and_what_not(
        self, kuro: Any, person: Person, granted_call: Any, others: list[Any], wider: list[Any]
    ) -> None:
        name = "Bash" if "command" in granted_call else "Write"
        granted(kuro, person, {"match": "shape", "until": SOON}, name=name, arguments=granted_call)
        for arguments in (granted_call, *others):
            assert passes(kuro, name=name, arguments=arguments), arguments
        for arguments in wider:
            assert not passes(kuro, name=name, arguments=arguments), arguments

    def test_it_is_said_in_words(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"match": "shape", "until": SOON, "uses": 20}, arguments={"command": "git push origin x"})
        (told,) = person.grants()
        assert told["words"] == (
            "`git push`, without flags, publishes to `origin`, not by force, in this session, "
            f"until {told['until']}, at most 20 times"
        )
        assert told["shape"]["program"] == "git"

    @pytest.mark.parametrize("command", ["cd a && git push", "git push | tee x", "git push > x", "eval $X", "git '"])
    def test_never_of_a_command_wider_than_itself(self, kuro: Any, person: Person, command: str) -> None:
        for match in ("shape", "tool"):
            grant = {"match": match, "until": SOON}
            assert refused(kuro, person, grant, arguments={"command": command}) == "/grant/match"
        granted(kuro, person, {"match": "call", "until": SOON}, arguments={"command": command})
        assert passes(kuro, arguments={"command": command})


class TestWhatBeatsIt:
    def test_a_rule_that_denies(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"until": SOON})
        ruled(kuro, {"tool": "Bash", "do": "deny"})
        assert ask(kuro, call_id="b")["disposition"] == "reject"

    def test_a_rule_that_says_who_approves(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"until": SOON})
        ruled(kuro, {"tool": "Bash", "do": "ask", "approvers": {"people": 2}})
        assert not passes(kuro)
        assert refused(kuro, person, {"until": SOON}) == "/grant"

    def test_a_demanded_review(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"until": SOON})
        assert not passes(kuro, require_review=True)

    @pytest.mark.parametrize("change", [{"description": "Another."}, {"schema": {"type": "object"}}])
    def test_a_tool_that_changed(self, kuro: Any, person: Person, change: Any) -> None:
        grant = granted(kuro, person, {"until": SOON}, description="Runs a command.")
        item = ask(kuro, call_id="b", **{"description": "Runs a command."} | change)
        assert (item["disposition"], item["definition_changed"]) == ("hold", True)
        HeldItem.objects.filter(closed_at=None).update(closed_at=timezone.now(), state="withdrawn")
        assert ask(kuro, call_id="c", description="Runs a command.")["grant"] == grant

    def test_what_was_reported_as_done(self, kuro: Any, person: Person) -> None:
        held = ask(kuro, call_id="a")["held"]
        assert person.approve(held, {"until": SOON}).status_code == 201
        assert kuro.post(f"/held/{held}/outcome", {"status": "done"}).status_code == 201
        assert ask(kuro, call_id="a")["disposition"] == "hold"

    def test_that_who_gave_it_is_no_reviewer_any_more(self, kuro: Any, person: Person, bob: Any) -> None:
        granted(kuro, person, {"until": SOON})
        Membership.objects.filter(user=person.user).update(role="viewer")
        assert not passes(kuro)
        assert [each["state"] for each in Person(bob).grants()] == ["suspended"]
        Membership.objects.filter(user=person.user).update(role="reviewer")
        assert passes(kuro)

    def test_a_rule_that_cannot_be_checked_where_it_is_wider_than_the_call(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"match": "tool", "until": SOON}, **REFUND)
        ruled(kuro, {"tool": "refund", "where": {"/amount": {"gt": 9}}, "do": "deny"}, default_tool_call="ask")
        assert passes(kuro, **OTHER_REFUND)
        assert not passes(kuro, name="refund", arguments={"charge_id": "ch_2", "amount": True})


class TestItsEnd:
    def test_its_uses_are_counted_and_end_it(self, kuro: Any, person: Person) -> None:
        grant = granted(kuro, person, {"until": SOON, "uses": 2})
        call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": "git push"}}
        both = [call | {"call_id": each} for each in "bc"]
        assert passes(kuro)
        told = kuro.respond("", session="s1", items=both)["items"]
        assert [each["disposition"] for each in told] == ["pass", "hold"], "one was left"
        assert person.grants() == []
        (ended,) = person.grants(state="ended")
        assert (ended["id"], ended["state"], ended["used"], ended["uses"]) == (grant, "used-up", 2, 2)
        assert ended["last_used_at"]
        used = AuditEvent.objects.filter(action="tool_call-grant-used")
        assert [each.data["grant"] for each in used] == [grant, grant]

    def test_its_time(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {"until": SOON})
        CallGrant.objects.update(until=timezone.now())
        assert not passes(kuro)
        assert [each["state"] for each in person.grants(state="all")] == ["expired"]

    def test_without_a_time_it_ends_tonight(self, kuro: Any, person: Person) -> None:
        granted(kuro, person, {})
        until = CallGrant.objects.get().until
        assert (until.hour, until.minute) == (0, 0)
        assert timedelta(hours=1) <= until - timezone.now() <= timedelta(hours=25)

    def test_it_is_withdrawn_by_reviewers_of_its_team_once(
        self, kuro: Any, person: Person, bob: Any, victor: Any, mallory: Any
    ) -> None:
        grant = granted(kuro, person, {"until": SOON})
        assert Person(mallory).withdraw(grant).status_code == 404
        assert Person(mallory).grants() == []
        assert Person(victor).withdraw(grant).status_code == 403
        assert passes(kuro)
        for _ in range(2):
            answer = Person(bob).withdraw(grant)
            assert answer.status_code == 200
            assert (answer.json()["state"], answer.json()["withdrawn_by"]) == ("withdrawn", "bob")
        assert not passes(kuro)
        event = AuditEvent.objects.get(action="tool_call-grant-withdrawn")
        assert (event.actor, event.data["grant"], event.data["uses"]) == ("bob", grant, 1)

    def test_it_is_in_force_for_the_next_post_and_ends_with_an_approval_that_is_undone(
        self, kuro: Any, person: Person, settings: Any
    ) -> None:
        settings.UNDO_SECONDS = 60
        held = ask(kuro, call_id="a")["held"]
        answer = person.approve(held, {"until": SOON}).json()
        assert [(each["id"], each["state"]) for each in person.grants()] == [(answer["grant"], "active")]
        assert ask(kuro, call_id="b")["grant"] == answer["grant"]
        assert ask(kuro, call_id="a")["held"] == held, "its own call waits as long as it can be undone"
        assert person.caller.post(f"/review/held/{held}/undo", None).status_code == 200
        assert person.grants() == []
        assert ask(kuro, call_id="c")["held"] == held
        told = AuditEvent.objects.filter(action__startswith="tool_call-grant").order_by("pk")
        assert [(each.action.rpartition("-")[2], each.data.get("uses")) for each in told] == [
            ("given", None), ("used", None), ("withdrawn", 1),
        ]  # fmt: skip
        assert not grants.restore(CallGrant.objects.get(), person.user)
        settings.UNDO_SECONDS = 0
        assert person.approve(held).json()["grant"] is None
        assert not passes(kuro)

    def test_who_withdrew_it_cannot_restore_it_once_its_approval_is_undone(
        self, kuro: Any, person: Person, settings: Any
    ) -> None:
        settings.UNDO_SECONDS = 60
        held = ask(kuro)["held"]
        assert person.withdraw(person.approve(held, {"until": SOON}).json()["grant"]).status_code == 200
        assert person.caller.post(f"/review/held/{held}/undo", None).status_code == 200
        assert not grants.restore(CallGrant.objects.get(), person.user)


class TestWhatWaits:
    """Calls that wait and that a new grant would let pass are released with it, where the person says so."""

    def held(self, kuro: Caller, command: str, **fields: Any) -> str:
        held: str = ask(kuro, arguments={"command": command}, **fields)["held"]
        return held

    def approve(self, person: Person, held: str, listed: list[str], **grant: Any) -> list[str]:
        answer = person.approve(held, {"match": "shape", "until": SOON, "release": listed} | grant)
        assert answer.status_code == 201, answer.content
        states = dict(HeldItem.objects.values_list("public_id", "state"))
        return [states[each] for each in listed]

    def test_what_it_lets_pass_is_approved_with_it_and_counted(self, kuro: Any, person: Person) -> None:
        first = self.held(kuro, "git push origin main", call_id="a")
        same, other, elsewhere, unlisted = (
            self.held(kuro, command, **fields)
            for command, fields in (
                ("git push origin fix", {}),
                ("git push --force origin main", {}),
                ("git push origin main", {"session": "s2"}),
                ("git push origin next", {}),
            )
        )
        assert self.approve(person, first, [same, other, elsewhere]) == ["approved", "pending", "pending"]
        assert HeldItem.objects.get(public_id=unlisted).state == "pending", "nobody said so"
        grant = CallGrant.objects.get()
        assert grant.uses == 1
        used = AuditEvent.objects.get(action="tool_call-grant-used")
        assert (used.object_id, used.actor, used.data["grant"]) == (same, "alice", grant.public_id)
        assert kuro.get(f"/held/{same}").json()["decision"]["verdict"] == "approve"

    def test_no_more_than_its_uses_the_oldest_first(self, kuro: Any, person: Person) -> None:
        first, *others = (self.held(kuro, f"git push origin x{number}") for number in range(4))
        assert self.approve(person, first, others, uses=2) == ["approved", "approved", "pending"]
        assert [each["state"] for each in person.grants(state="all")] == ["used-up"]

    @pytest.mark.parametrize(
        "beaten",
        [{"require_review": True}, {"description": "Another."}, {"session": "s2"}],
        ids=["a demanded review", "another tool", "another session"],
    )
    def test_what_beats_a_grant_waits_on(self, kuro: Any, person: Person, beaten: Any) -> None:
        first = self.held(kuro, "git push origin main")
        assert self.approve(person, first, [self.held(kuro, "git push origin x", **beaten)]) == ["pending"]

    def test_so_do_all_calls_of_a_paused_agent(self, kuro: Any, person: Person) -> None:
        first, other = (self.held(kuro, f"git push origin x{number}") for number in range(2))
        Agent.objects.update(paused_at=timezone.now())
        assert self.approve(person, first, [other]) == ["pending"]

    @pytest.mark.parametrize("by", ["console", "API"])
    def test_one_undo_takes_all_of_it_back(
        self, kuro: Any, person: Person, as_person: Any, settings: Any, by: str
    ) -> None:
        settings.UNDO_SECONDS = 60
        first, other = (self.held(kuro, f"git push origin x{number}") for number in range(2))
        assert self.approve(person, first, [other]) == ["approved"]
        decision = Decision.objects.get(held__public_id=first)
        if by == "console":
            answer = as_person(person.user).post(f"/decisions/{decision.public_id}/undo")
        else:
            answer = person.caller.post(f"/review/held/{first}/undo", None)
        assert answer.status_code in (200, 302)
        assert set(HeldItem.objects.values_list("state", flat=True)) == {"pending"}
        assert person.grants() == []
        assert AuditEvent.objects.filter(action="tool_call-decision-undone").count() == 2

    def test_an_undo_takes_back_what_the_same_approval_released_when_it_was_sent_again(
        self, kuro: Any, person: Person, settings: Any
    ) -> None:
        settings.UNDO_SECONDS = 60
        first, other = (self.held(kuro, f"git push origin x{number}") for number in range(2))
        grant = {"match": "shape", "until": SOON, "release": [other]}
        Agent.objects.update(paused_at=timezone.now())
        assert person.approve(first, grant).status_code == 201
        Agent.objects.update(paused_at=None)
        assert person.approve(first, grant).status_code == 200
        assert HeldItem.objects.get(public_id=other).state == "approved"
        assert person.caller.post(f"/review/held/{first}/undo", None).status_code == 200
        assert set(HeldItem.objects.values_list("state", flat=True)) == {"pending"}

    @pytest.mark.parametrize("call_id", ["b", None])
    def test_what_is_decided_waits_as_long_as_that_can_be_undone(
        self, kuro: Any, person: Person, settings: Any, call_id: str | None
    ) -> None:
        settings.UNDO_SECONDS = 60
        first, *others = (self.held(kuro, f"git push origin x{number}", call_id=call_id) for number in range(3))
        assert person.approve(others[1], verdict="reject", reason="No.").status_code == 201
        assert self.approve(person, first, others[:1]) == ["approved"]
        assert [self.held(kuro, f"git push origin x{number}", call_id=call_id) for number in (1, 2)] == others
        assert CallGrant.objects.get().uses == 1, "it is let pass once, by the approval"

    def test_a_call_that_nobody_has_decided_stays_the_same_item(self, kuro: Any, person: Person) -> None:
        first, other = self.held(kuro, "git push origin x1"), self.held(kuro, "git push origin x2", call_id="a")
        assert person.approve(first, {"match": "shape", "until": SOON}).status_code == 201
        assert self.held(kuro, "git push origin x2", call_id="b") == other, "approved later it would run again"
        assert CallGrant.objects.get().uses == 0


class TestWhatCannotBeGranted:
    @table(
        ("grant", "pointer"),
        [
            ({"scope": "team"}, "/grant/scope"),
            ({"match": "all"}, "/grant/match"),
            ({"uses": 0}, "/grant/uses"),
            ({"uses": 10_001}, "/grant/uses"),
            ({"until": "tonight"}, "/grant/until"),
            ({"until": "2020-01-01T00:00:00Z"}, "/grant/until"),
            ({"until": "2099-01-01T00:00:00Z"}, "/grant/until"),
            ({"for": 3}, "/grant/for"),
            ({"match": "tool"}, "/grant/match"),
            ({"match": "shape"}, "/grant/match"),
        ],
        rolled_back=True,
    )
    def test_out_of_shape(self, kuro: Any, person: Person, grant: Any, pointer: str) -> None:
        command = {"command": 'cd /tmp && eval "$X"'}
        assert refused(kuro, person, grant, arguments=command) == pointer

    def test_with_a_rejection_or_with_words(self, kuro: Any, person: Person) -> None:
        answer = person.approve(ask(kuro)["held"], {"until": SOON}, verdict="reject", reason="no")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/grant")
        assert person.approve(kuro.hold(), {"until": SOON}).status_code == 422

    def test_what_a_rule_denies(self, kuro: Any, person: Person) -> None:
        held = ask(kuro)["held"]
        ruled(kuro, {"tool": "Bash", "do": "deny"})
        answer = person.approve(held, {"until": SOON})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/grant")


def test_the_list_goes_on_by_its_cursor_and_by_agent(kuro: Any, sibling: Any, person: Person) -> None:
    given = [granted(each, person, {"until": SOON}, session=str(n)) for n, each in enumerate([kuro, sibling, kuro])]
    first = person.caller.get("/review/grants?limit=2").json()
    assert ([each["id"] for each in first["items"]], first["next"]) == ([given[2], given[1]], given[1])
    rest = person.caller.get(f"/review/grants?limit=2&after={first['next']}").json()
    assert ([each["id"] for each in rest["items"]], rest["next"]) == ([given[0]], None)
    assert [each["id"] for each in person.grants(agent=sibling.id)] == [given[1]]
    assert person.caller.get("/review/grants?agent=agent_x").status_code == 422
    assert person.caller.get("/review/grants?team=1").status_code == 422
    shape = first["items"][0]
    assert (shape["by"], shape["tool"], shape["scope"], shape["match"]) == ("alice", "Bash", "session", "call")
    assert (shape["agent"]["name"], shape["session"], shape["used"], shape["uses"]) == ("kuro", "2", 0, None)
    assert shape["words"] == f"exactly `Bash git push`, in this session, until {shape['until']}"
