"""Who must approve a tool call: several people, those with a role, those of a group."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.models import Agent, AuditEvent, MemberGroup, Membership, Policy
from reviews.models import Approval, Decision, HeldItem
from tests.conftest import Caller
from tests.reviews.api.test_review import decide, program_of, undo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]

CALL = {"kind": "tool_call", "name": "pay", "arguments": {"eur": 100, "to": "Mei"}, "call_id": "c1"}


def under(agent: Caller, *rules: dict[str, Any]) -> None:
    """Hold an agent to these rules from now on."""
    row = Agent.objects.get(public_id=agent.id)
    row.policy_version += 1
    row.save()
    Policy.objects.create(agent=row, version=row.policy_version, rules=list(rules))


def rule(**approvers: Any) -> dict[str, Any]:
    return {"tool": "pay", "do": "ask", "approvers": approvers}


def ask(agent: Caller, *rules: dict[str, Any], **changes: Any) -> str:
    under(agent, *rules)
    held: str = agent.respond("", items=[CALL | changes])["items"][0]["held"]
    return held


def approvals(shape: dict[str, Any]) -> list[int]:
    return [shape["approvals"]["given"], shape["approvals"]["needed"]]


@pytest.fixture
def programs(alice: Any, bob: Any) -> list[Caller]:
    return [program_of(alice), program_of(bob)]


# -- two people ----------------------------------------------------------------------------------------


def test_it_waits_for_the_second_person(kuro: Caller, alice: Any, programs: list[Caller]) -> None:
    held = ask(kuro, rule(people=2))
    first, second = programs
    assert approvals(kuro.get(f"/held/{held}").json()) == [0, 2]

    answer = decide(first, held)
    body = answer.json()
    assert (answer.status_code, body["state"], body["verdict"], approvals(body)) == (201, "pending", "approve", [1, 2])
    assert (body["arguments"], body["seq"], body["permission"], body["approvals"]["by"]) == (
        None,
        None,
        None,
        ["alice"],
    )
    told = kuro.get(f"/held/{held}").json()
    assert (told["state"], told["decision"], approvals(told), told["approvals"]["by"]) == (
        "pending",
        None,
        [1, 2],
        None,
    )
    assert kuro.get("/decisions").json()["items"] == []
    assert not Decision.objects.exists()

    answer = decide(second, held)
    assert (answer.status_code, answer.json()["state"], approvals(answer.json())) == (201, "approved", [2, 2])
    (fed,) = kuro.get("/decisions").json()["items"]
    assert (fed["verdict"], fed["arguments"], fed["permission"]) == ("approve", CALL["arguments"], "given")
    assert Decision.objects.get().person.username == "bob"
    told = list(AuditEvent.objects.filter(action="tool_call-approval-given").order_by("id"))
    assert [(each.actor, each.data["given"], each.data["needed"]) for each in told] == [("alice", 1, 2), ("bob", 2, 2)]
    assert AuditEvent.objects.get(action="tool_call-approved").actor == "bob"


def test_the_same_person_counts_once(kuro: Caller, programs: list[Caller]) -> None:
    held, (first, _second) = ask(kuro, rule(people=2)), programs
    once, again = decide(first, held), decide(first, held)
    assert (once.status_code, again.status_code, again.json()["id"]) == (201, 200, once.json()["id"])
    assert (again.json()["state"], approvals(again.json())) == ("pending", [1, 2])
    assert AuditEvent.objects.filter(action="tool_call-approval-given").count() == 1


@pytest.mark.parametrize("who", [0, 1])
def test_a_rejection_by_anybody_ends_it(kuro: Caller, programs: list[Caller], who: int) -> None:
    held = ask(kuro, rule(people=2))
    decide(programs[0], held)
    answer = decide(programs[who], held, "reject", reason="Not this account.")
    assert (answer.status_code, answer.json()["state"]) == (201, "rejected")
    assert kuro.get(f"/held/{held}").json()["state"] == "rejected"
    assert decide(programs[1 - who], held).status_code == 409


def test_the_agent_does_not_count_and_may_withdraw(kuro: Caller, programs: list[Caller]) -> None:
    held = ask(kuro, rule(people=2))
    decide(programs[0], held)
    assert kuro.post(f"/held/{held}/decision", {"verdict": "approve", "reason": "Sure."}).status_code == 403
    assert kuro.post(f"/held/{held}/decision", {"verdict": "withdraw"}).status_code == 201


def test_an_approval_is_taken_back_while_it_decides_nothing(kuro: Caller, programs: list[Caller]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held)
    assert undo(second, held).status_code == 409
    answer = undo(first, held)
    assert (answer.status_code, approvals(answer.json()), answer.json()["approved"]) == (200, [0, 2], [])
    assert undo(first, held).status_code == 200  # the same again
    assert decide(second, held).json()["state"] == "pending"
    assert decide(first, held).json()["state"] == "approved"
    assert undo(first, held).status_code == 409
    assert AuditEvent.objects.get(action="tool_call-approval-ended").after == "withdrawn"


def test_undoing_the_last_leaves_the_first(kuro: Caller, programs: list[Caller], settings: Any) -> None:
    settings.UNDO_SECONDS = 10
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held)
    assert decide(second, held).json()["undo_until"]
    assert kuro.get(f"/held/{held}").json()["state"] == "pending"
    answer = undo(second, held).json()
    assert (answer["state"], approvals(answer), answer["approvals"]["by"]) == ("pending", [1, 2], ["alice"])
    assert decide(second, held).json()["state"] == "approved"


def test_who_lost_the_role_no_longer_counts(kuro: Caller, alice: Any, carla: Any, programs: list[Caller]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held)
    Membership.objects.filter(user=alice).update(role="viewer")
    answer = decide(second, held).json()
    assert (answer["state"], approvals(answer), answer["approvals"]["by"]) == ("pending", [1, 2], ["bob"])
    assert Approval.objects.get(person=alice).ended == "lapsed"
    assert decide(program_of(carla), held).json()["state"] == "approved"


# -- edits ---------------------------------------------------------------------------------------------


def test_an_approval_is_of_what_was_approved(kuro: Caller, programs: list[Caller]) -> None:
    """Bob edits what alice approved: alice approves that anew, by its id or by its arguments."""
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held)
    answer = decide(second, held, "edit", arguments={"eur": 50, "to": "Mei"}).json()
    assert (answer["state"], approvals(answer), answer["approvals"]["by"]) == ("pending", [1, 2], ["bob"])
    item = first.get(f"/review/held/{held}").json()
    (given,) = item["approved"]
    assert (given["by"], given["verdict"], given["arguments"]) == ("bob", "edit", {"eur": 50, "to": "Mei"})
    assert decide(first, held, version=1).status_code == 409  # what it read is not what is approved now

    answer = decide(first, held, version=item["version"], approval=given["id"]).json()
    assert (answer["state"], answer["verdict"], answer["arguments"]) == ("edited", "edit", {"eur": 50, "to": "Mei"})
    assert [each["arguments"] for each in kuro.get("/decisions").json()["items"]] == [{"eur": 50, "to": "Mei"}]


def test_the_same_edit_by_two_people_is_the_same(kuro: Caller, programs: list[Caller]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held, "edit", arguments={"eur": 50, "to": "Mei"})
    assert decide(second, held, "edit", arguments={"to": "Mei", "eur": 50}).json()["state"] == "edited"


def test_what_was_asked_for_is_approved_against_an_edit(kuro: Caller, carla: Any, programs: list[Caller]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), programs
    decide(first, held, "edit", arguments={"eur": 50, "to": "Mei"})
    answer = decide(second, held).json()
    assert (answer["state"], answer["approvals"]["by"]) == ("pending", ["bob"])
    assert Approval.objects.get(person__username="alice").ended == "replaced"
    assert decide(program_of(carla), held).json()["arguments"] == CALL["arguments"]


def test_an_approval_that_ended_is_not_joined(kuro: Caller, programs: list[Caller]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), programs
    given = decide(first, held, "edit", arguments={"eur": 50, "to": "Mei"}).json()["id"]
    undo(first, held)
    assert decide(second, held, approval=given).status_code == 409
    assert decide(second, held, "reject", reason="No.", approval=given).status_code == 422
    assert not Decision.objects.exists()


def test_an_edit_that_meets_a_rule_takes_whom_that_names(kuro: Caller, olga: Any, programs: list[Caller]) -> None:
    large = {"tool": "pay", "where": {"/eur": {"gt": 500}}, "do": "ask", "approvers": {"people": 2}}
    held, (first, second) = ask(kuro, large, {"tool": "pay", "do": "ask"}), programs
    edit = {"arguments": {"eur": 900, "to": "Mei"}, "accept_risk": True}
    answer = decide(first, held, "edit", **edit).json()
    assert (answer["state"], approvals(answer)) == ("pending", [1, 2])
    assert decide(second, held, approval=answer["id"]).json()["state"] == "edited"


# -- roles and groups ----------------------------------------------------------------------------------


def test_a_role_is_wanted(kuro: Caller, carla: Any, olga: Any, programs: list[Caller]) -> None:
    held = ask(kuro, rule(role="owner"))
    for program in (*programs, program_of(carla)):
        answer = decide(program, held)
        assert (answer.status_code, "an owner" in answer.json()["detail"]) == (403, True)
        assert program.get(f"/review/held/{held}").json()["may_approve"] is False
    assert HeldItem.objects.get().state == "pending"
    told = kuro.get(f"/held/{held}").json()["approvals"]
    assert told == {"given": 0, "needed": 1, "role": "owner", "group": None, "by": None}
    assert decide(program_of(olga), held).json()["state"] == "approved"


def test_who_may_not_approve_may_reject(kuro: Caller, programs: list[Caller]) -> None:
    held = ask(kuro, rule(role="owner"))
    assert decide(programs[0], held, "reject", reason="Never.").json()["state"] == "rejected"


def test_a_group_is_wanted(kuro: Caller, alice: Any, aurora: Any, borealis: Any, programs: list[Caller]) -> None:
    held = ask(kuro, rule(group="finance"))
    assert decide(programs[0], held).status_code == 403  # there is none
    MemberGroup.objects.create(team=borealis, name="finance")
    group = MemberGroup.objects.create(team=aurora, name="finance")
    assert decide(programs[0], held).status_code == 403
    group.members.add(Membership.objects.get(user=alice))
    assert decide(programs[1], held).status_code == 403
    assert decide(programs[0], held).json()["state"] == "approved"


def test_a_viewer_of_the_group_decides_nothing(kuro: Caller, victor: Any, aurora: Any) -> None:
    held = ask(kuro, rule(group="finance"))
    MemberGroup.objects.create(team=aurora, name="finance").members.add(Membership.objects.get(user=victor))
    assert decide(program_of(victor), held).status_code == 403


def test_people_and_role_go_together(kuro: Caller, olga: Any, carla: Any, programs: list[Caller]) -> None:
    held = ask(kuro, rule(people=2, role="curator"))
    assert decide(programs[0], held).status_code == 403
    assert decide(program_of(carla), held).json()["state"] == "pending"
    assert decide(program_of(olga), held).json()["state"] == "approved"


# -- what follows --------------------------------------------------------------------------------------


def test_a_call_asked_again_keeps_its_approval(kuro: Caller, programs: list[Caller]) -> None:
    held = ask(kuro, rule(people=2))
    decide(programs[0], held)
    assert kuro.respond("", items=[CALL])["items"][0]["held"] == held
    assert approvals(kuro.get(f"/held/{held}").json()) == [1, 2]
    decide(programs[1], held)
    assert kuro.respond("", items=[CALL])["items"][0]["disposition"] == "pass"


def test_the_queue_says_how_many(kuro: Caller, programs: list[Caller], django_assert_num_queries: Any) -> None:
    held = ask(kuro, rule(people=2))
    first, second = programs
    decide(first, held)
    (item,) = second.get("/review/queue").json()["items"]
    assert (item["id"], item["state"], approvals(item), item["approvals"]["by"]) == (held, "pending", [1, 2], ["alice"])


def test_wrong_approvers_are_refused_with_their_place(kuro: Caller) -> None:
    from metacog.heuristics.tool_calls.rules import errors_in

    for named, place in (
        ({}, ""), ("owner", ""), ({"people": 0}, "people"), ({"people": True}, "people"), ({"people": 1.5}, "people"),
        ({"people": 11}, "people"), ({"people": 1}, "people"), ({"role": "viewer"}, "role"),
        ({"role": "chief"}, "role"), ({"group": ""}, "group"), ({"group": "x" * 101}, "group"),
        ({"group": 7}, "group"), ({"who": "me"}, "who"),
    ):  # fmt: skip
        ((where, _detail),) = errors_in([{"tool": "pay", "do": "ask", "approvers": named}])
        assert where == ("0", "approvers", *filter(None, [place])), named
    assert not errors_in([{"tool": "pay", "do": "ask", "approvers": {"people": 2, "role": "owner", "group": "財務"}}])
