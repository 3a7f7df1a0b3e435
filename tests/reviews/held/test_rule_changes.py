"""A policy that changes: what it makes of the calls that wait, listed with it, and decided where that is said."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import agents
from metacog.audit.words import tell
from metacog.models import Agent, AuditEvent, Policy, TeamRules
from patterns.patterns.scorer import as_scored, scorer_for, scorer_shown
from reviews.held import decisions
from reviews.held.calls import rule_changes
from reviews.held.calls.rule_changes import Listed, Waiting
from reviews.held.decisions import Change, Circumstances
from reviews.held.similar import of_tool
from reviews.models import CallGrant, Decision, HeldItem
from reviews.scoring.rule_suggestions import suggestions
from tests.conftest import Caller
from tests.metacog.accounts.test_policy import DRAFT
from tests.reviews.api.test_review import decide, program_of
from tests.reviews.held.test_approvers import under
from tests.reviews.held.test_waiting_words import chat, post, state
from tests.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]

LS = {"tool": "Bash", "effects": {"only": ["read"]}, "do": "allow", "reason": "only looks"}
RM = {"tool": "Bash", "effects": {"any": ["delete"]}, "do": "deny", "reason": "nothing is deleted here"}


def bash(command: str, **changes: Any) -> dict[str, Any]:
    call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": command}, "call_id": command}
    return call | changes


def wait(agent: Caller, *items: dict[str, Any]) -> list[str]:
    """Post calls one by one; return their held items."""
    found: list[str] = [post(agent, item)[0]["held"] for item in items]
    assert all(found)
    return found


def change(agent: Caller, person: Any, *rules: dict[str, Any], settle: bool = True, **values: Any) -> Policy:
    """Put rules in force as the policy page does, and with them decide what is listed."""
    row = Agent.objects.select_related("team").get(public_id=agent.id)
    current = Policy.objects.get(agent=row, version=row.policy_version).as_dict() | {"rules": list(rules)} | values
    draft = Policy(**current | {"marks": {}}, note="quieter")
    listed = found(row, draft).listed if settle else Listed()
    saved, _count = rule_changes.change_policy(row, person, draft, listed, based_on=row.policy_version)
    return saved


def found(row: Agent, draft: Policy) -> Waiting:
    return Waiting.of({row.pk: scorer_shown(row).with_policy(as_scored(row, draft))}, [row])


def settle_team(team: Any, person: Any, *rules: dict[str, Any]) -> TeamRules:
    team.refresh_from_db()
    return agents.change_team_rules(team, person, rules, "for all", based_on=team.rules_version)


@pytest.fixture
def desk(olga: Any, as_person: Any) -> Any:
    return as_person(olga)


def values_of(page: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in re.findall(r'name="(seen|waiting)" value="([^"]*)"', page)}


# -- listed with the change, decided where the owner says so -----------------------------------------------


@pytest.mark.parametrize("is_said", [False, True])
def test_the_page_lists_them_and_decides_them_only_if_the_owner_says_so(kuro: Caller, desk: Any, is_said: bool) -> None:
    looks, removes, fetches = wait(kuro, bash("ls -l src"), bash("rm -rf build"), bash("curl https://example.org"))
    address = reverse("policy", args=[kuro.id])
    draft = DRAFT | {"rules": json.dumps([LS, RM]), "rules_in": "json"}
    page = desk.post(address, draft | {"do": "preview"}).content.decode()
    shown = html.unescape(re.sub(r"<[^>]+>", "", page.partition('id="waiting"')[2].partition("</section>")[0]))
    assert "1 pending call would pass:" in " ".join(shown.split())
    assert "1 pending call would be denied:" in " ".join(shown.split())
    assert "ls -l src" in shown
    assert "rm -rf build" in shown
    assert "Deletes build" in shown
    assert "curl" not in shown
    assert 'name="settle"' in page
    assert "checked" not in page.partition('name="settle"')[2].partition(">")[0]

    sent = draft | values_of(page) | {"do": "save"} | ({"settle": "on"} if is_said else {})
    assert desk.post(address, sent).status_code == 302
    states = [state(kuro, {"held": held}) for held in (looks, removes, fetches)]
    assert states == (["approved", "rejected", "pending"] if is_said else ["pending"] * 3)
    page = desk.get(address).content.decode()
    assert ("1 pending call was released. 1 pending call was rejected." in page) == is_said


def test_what_was_left_is_listed_under_the_policy_in_force_and_decided_there(
    kuro: Caller, desk: Any, olga: Any, alice: Any, as_person: Any
) -> None:
    (looks,) = wait(kuro, bash("ls -l src"))
    change(kuro, olga, LS, settle=False)
    address = reverse("policy", args=[kuro.id])
    sent = values_of(desk.get(address, {"from": 2}).content.decode()) | {"do": "settle"}
    assert as_person(alice).post(address, sent).status_code == 403
    assert state(kuro, {"held": looks}) == "pending"
    assert desk.post(address, sent).status_code == 302
    assert state(kuro, {"held": looks}) == "approved"
    assert Agent.objects.get().policy_version == 2


def test_what_came_or_changed_since_it_was_listed_goes_on_waiting(kuro: Caller, olga: Any) -> None:
    (listed,) = wait(kuro, bash("ls a"))
    row = Agent.objects.select_related("team").get()
    draft = Policy(rules=[LS], note="x")
    shown = found(row, draft).listed
    (since,) = wait(kuro, bash("ls b"))
    HeldItem.objects.filter(public_id=listed).update(version=2)
    _saved, count = rule_changes.change_policy(row, olga, draft, shown, based_on=1)
    assert count == (0, 0)
    assert {state(kuro, {"held": held}) for held in (listed, since)} == {"pending"}


def test_a_listing_that_a_form_garbles_decides_nothing() -> None:
    assert list(Listed.read("held_a.1.approve x held_b.²x.approve held_c.2 ..")) == [("held_a", 1, "approve")]
    assert list(Listed.read(Listed([("held_a", 1, "reject")]).text)) == [("held_a", 1, "reject")]


# -- the decision: by metacog, by which version, whose --------------------------------------------------------


def test_the_decision_names_the_version_and_who_changed_it(kuro: Caller, olga: Any, alice: Any) -> None:
    looks, removes = wait(kuro, bash("ls -l src"), bash("rm -rf build"))
    change(kuro, olga, LS, RM)
    feed = kuro.get("/decisions").json()["items"]
    assert [(each["verdict"], each["by"], each["policy_version"], each["reason"]) for each in feed] == [
        ("approve", "system", 2, "Policy 2 of this agent allows this call. Reason: only looks"),
        ("reject", "system", 2, "Policy 2 of this agent denies this call. Reason: nothing is deleted here"),
    ]
    assert "decided_by" not in feed[0]
    assert feed[0]["arguments"] == {"command": "ls -l src"}
    told = program_of(alice).get(f"/review/held/{removes}").json()["decision"]
    assert (told["by"], told["decided_by"], told["policy_version"]) == ("system", "olga", 2)
    events = AuditEvent.objects.filter(action__in=["tool_call-approved", "tool_call-rejected"]).order_by("pk")
    assert [(each.actor, each.object_id, each.data["by_policy"]) for each in events] == [
        ("olga", looks, 2), ("olga", removes, 2),
    ]  # fmt: skip
    assert tell(events[0]) == "olga had policy 2 release a held TOOL CALL of kuro"


def test_the_item_and_the_queue_say_so(kuro: Caller, olga: Any, alice: Any, as_person: Any) -> None:
    (looks,) = wait(kuro, bash("ls -l src"))
    change(kuro, olga, LS)
    page = as_person(alice).get(reverse("item", args=[looks])).content.decode()
    assert "approved by policy 2, changed by Olga" in page
    file = as_person(alice).get(reverse("queue-export") + "?state=decided&format=csv").getvalue().decode()
    assert "policy 2, changed by Olga" in file


def test_words_that_waited_for_the_call_go_out_with_it(kuro: Caller, olga: Any) -> None:
    under(kuro)
    Policy.objects.update(hold_words_with_calls=True)
    words, _call = post(kuro, chat(), bash("ls -l src"))
    change(kuro, olga, LS)
    assert state(kuro, words) == "approved"


def test_a_released_call_is_one_permission(kuro: Caller, olga: Any) -> None:
    call = bash("ls -l src", call_id=None)
    (looks,) = wait(kuro, call)
    change(kuro, olga, LS)
    change(kuro, olga, settle=False)
    assert post(kuro, call)[0]["recognised"] == looks
    assert post(kuro, call)[0]["disposition"] == "hold"


def test_nothing_is_learned_of_it_as_of_a_persons_verdict(kuro: Caller, olga: Any) -> None:
    wait(kuro, *(bash(f"ls {number}") for number in range(25)))
    change(kuro, olga, LS)
    under(kuro)
    row = Agent.objects.select_related("team").get()
    assert Decision.objects.filter(by="system", person=None, verdict="approve").count() == 25
    assert suggestions(row, scorer_for(row).rules) == []
    (again,) = wait(kuro, bash("ls again"))
    assert of_tool(HeldItem.objects.select_related("call").get(public_id=again)).decided == 0
    assert not CallGrant.objects.exists()


# -- what waits for something else is not released ------------------------------------------------------------


def test_what_waits_for_more_than_a_rule_is_not_released(kuro: Caller, olga: Any) -> None:
    under(kuro, {"tool": "Bash", "do": "ask", "approvers": {"people": 2}})
    (two,) = wait(kuro, bash("ls two"))
    under(kuro)
    demanded, budgeted, plain = wait(kuro, bash("ls a", require_review=True), bash("ls b"), bash("ls c"))
    HeldItem.objects.filter(public_id=budgeted).update(by_budget=True)
    change(kuro, olga, LS)
    states = {held: state(kuro, {"held": held}) for held in (two, demanded, budgeted, plain)}
    assert states == {two: "pending", demanded: "pending", budgeted: "pending", plain: "approved"}


def test_a_denial_rejects_what_others_must_approve_but_not_what_the_agent_had_reviewed(
    kuro: Caller, olga: Any, alice: Any
) -> None:
    under(kuro, {"tool": "Bash", "do": "ask", "approvers": {"people": 2}})
    (two,) = wait(kuro, bash("rm -rf a"))
    assert decide(program_of(alice), two).json()["state"] == "pending"
    under(kuro)
    (demanded,) = wait(kuro, bash("rm -rf b", require_review=True))
    change(kuro, olga, RM)
    assert [state(kuro, {"held": held}) for held in (two, demanded)] == ["rejected", "pending"]


@table("is_paused", [True, False], rolled_back=True)
def test_nothing_is_released_while_the_agent_is_paused_or_disabled(kuro: Caller, olga: Any, is_paused: bool) -> None:
    row = Agent.objects.select_related("team").get()
    looks, removes = wait(kuro, bash("ls a"), bash("rm -rf a"))
    if is_paused:
        agents.pause(row, olga, "odd")
    else:
        agents.set_enabled(row, olga, False)
    change(kuro, olga, LS, RM)
    agents.set_enabled(row, olga, True)
    assert [state(kuro, {"held": held}) for held in (looks, removes)] == ["pending", "rejected"]


def test_an_expired_call_is_never_released(kuro: Caller, olga: Any) -> None:
    (looks,) = wait(kuro, bash("ls -l src"))
    HeldItem.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    change(kuro, olga, LS)
    assert state(kuro, {"held": looks}) == "expired"


def test_a_scored_call_passes_below_the_holding_score_only(kuro: Caller, olga: Any) -> None:
    (looks,) = wait(kuro, bash("ls -l src"))
    change(kuro, olga, {"tool": "Bash", "do": "score"}, threshold=0, hold_at=0)
    assert state(kuro, {"held": looks}) == "pending"
    change(kuro, olga, {"tool": "Bash", "do": "score"}, threshold=30, hold_at=50)
    assert state(kuro, {"held": looks}) == "approved"


# -- a team's rules, above all its agents' policies ---------------------------------------------------------


def test_a_teams_rules_come_before_every_agents(kuro: Caller, aurora: Any, olga: Any, other: Caller) -> None:
    for agent in (kuro, other):
        under(agent, {"tool": "*", "do": "allow"})
    settle_team(aurora, olga, {"tool": "Bash", "effects": {"any": ["delete"]}, "do": "ask", "reason": "the team"})
    item = post(kuro, bash("rm -rf build"))[0]
    assert (item["disposition"], item["rule"]) == ("hold", {
        "tool": "Bash", "effects": {"any": ["delete"]}, "do": "ask", "reason": "the team",
        "team": True, "version": 1, "place": 1,
    })  # fmt: skip
    assert post(kuro, bash("ls"))[0]["disposition"] == "pass"
    assert post(other, bash("rm -rf build"))[0]["disposition"] == "pass"
    settle_team(aurora, olga)
    assert post(kuro, bash("rm -rf build", call_id="again"))[0]["disposition"] == "pass"


def test_a_teams_change_settles_what_waits_for_its_agents(kuro: Caller, aurora: Any, olga: Any) -> None:
    (removes,) = wait(kuro, bash("rm -rf build"))
    row = Agent.objects.select_related("team").get()
    saved = settle_team(aurora, olga, RM)
    listed = Listed([(removes, 1, "reject")])
    how = Circumstances(change=Change(olga, rules_version=saved.version))
    assert rule_changes.settle([row], listed, how) == (0, 1)
    told = kuro.get("/decisions").json()["items"][0]
    assert (told["team_rules_version"], told["reason"]) == (
        1, "Version 1 of the team's rules denies this call. Reason: nothing is deleted here",
    )  # fmt: skip


def test_a_later_version_decides_nothing_by_an_earlier_listing(kuro: Caller, aurora: Any, olga: Any) -> None:
    (removes,) = wait(kuro, bash("rm -rf build"))
    saved = settle_team(aurora, olga, RM)
    settle_team(aurora, olga)
    row = Agent.objects.select_related("team").get()
    how = Circumstances(change=Change(olga, rules_version=saved.version))
    assert rule_changes.settle([row], Listed([(removes, 1, "reject")]), how) == (0, 0)
    assert decisions.decide(HeldItem.objects.get(), olga, "approve")[1]
