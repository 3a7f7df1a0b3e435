"""The page of a team's rules: who may change them, what a draft would have done, versions."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.models import AuditEvent, Policy, Team, TeamRules
from reviews.models import AgentResponse
from reviews.scoring.replay import Replayer
from tests.conftest import Caller
from tests.reviews.held.test_rule_changes import RM, bash, settle_team, wait
from tests.reviews.held.test_waiting_words import post, state

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]


@pytest.fixture
def address(aurora: Any) -> str:
    return reverse("team-rules", args=[aurora.pk])


def sent(page: str) -> dict[str, str]:
    found = re.findall(r'name="(seen|waiting|based_on)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def draft(*rules: dict[str, Any]) -> dict[str, str]:
    return {"rules_in": "json", "rules": json.dumps(rules), "note": "for all agents"}


def test_an_owner_saves_a_draft_as_it_was_shown(
    kuro: Caller, olga: Any, alice: Any, address: str, as_person: Any
) -> None:
    removes, looks = wait(kuro, bash("rm -rf build"), bash("ls"))
    desk = as_person(olga)
    page = desk.post(address, draft(RM) | {"do": "preview"}).content.decode()
    assert "Deletes build" in page
    assert "would have denied 1 time: 1 still held" in page
    assert "Reject these calls with the change" in page
    values = draft(RM) | sent(page) | {"do": "save", "settle": "on"}
    assert as_person(alice).post(address, values).status_code == 403
    assert desk.post(address, values | {"note": ""}).status_code == 422
    assert desk.post(address, values | {"seen": ""}).status_code == 200
    assert not TeamRules.objects.exists()
    assert desk.post(address, values).status_code == 302
    assert [state(kuro, {"held": held}) for held in (removes, looks)] == ["rejected", "pending"]
    event = AuditEvent.objects.get(action="team-rules-changed")
    assert (event.actor, event.before, event.after, event.data["reason"]) == ("olga", "0", "1", "for all agents")
    assert desk.post(address, values).status_code == 409
    told = as_person(alice).get(address).content.decode()
    assert "The draft changes nothing until an owner saves it." in told
    assert "Version 1" in told
    assert "for all agents" in told


def test_the_agents_policy_page_says_that_they_come_first(kuro: Caller, olga: Any, aurora: Any, as_person: Any) -> None:
    page = reverse("policy", args=[kuro.id])
    assert 'id="team-rules"' not in as_person(olga).get(page).content.decode()
    settle_team(aurora, olga, RM)
    post(kuro, bash("rm -rf build"))
    told = as_person(olga).get(page + "?from=1").content.decode()
    assert "Deny: Bash" in told.partition('id="team-rules"')[2].partition("</ol>")[0]
    by_rule = told.partition("by-rule")[2].partition("</ol>")[0]
    assert "Team 1. Deny: Bash" in html.unescape(by_rule)


def test_it_is_the_teams_alone(other: Caller, mallory: Any, address: str, as_person: Any) -> None:
    assert as_person(mallory).get(address).status_code == 404


def test_the_page_asks_the_same_questions_however_much_waits(
    kuro: Caller, olga: Any, address: str, as_person: Any
) -> None:
    desk, asked = as_person(olga), []
    for turn in range(3):
        wait(kuro, *(bash(f"rm -rf {turn}-{number}") for number in range(1 + 3 * turn)))
        desk.post(address, draft(RM) | {"do": "preview"})  # the scorers are known from here on
        with CaptureQueriesContext(connection) as queries:
            desk.post(address, draft(RM) | {"do": "preview"})
        asked.append(len(queries))
    assert asked[1] == asked[2]


def test_a_response_is_made_again_by_the_teams_rules_of_then(kuro: Caller, aurora: Any, olga: Any) -> None:
    post(kuro, bash("rm -rf a"))
    settle_team(aurora, olga, RM)
    post(kuro, bash("rm -rf b"))
    settle_team(aurora, olga)
    rows = AgentResponse.objects.select_related("agent__team").order_by("pk")
    replayer = Replayer()
    assert [replayer.replay(row).is_equal for row in rows] == [True, True]


def test_rules_that_cannot_be_read_let_nothing_in_and_are_mended_on_the_page(
    kuro: Caller, aurora: Any, olga: Any, address: str, as_person: Any
) -> None:
    settle_team(aurora, olga, RM)
    TeamRules.objects.update(rules=[{"tool": 7}])
    answer = kuro.post("/responses", {"response": "", "items": [bash("ls")]})
    assert answer.status_code == 503
    assert "rules of Aurora cannot be read: /0/tool" in answer.json()["detail"]
    desk = as_person(olga)
    assert desk.get(reverse("policy", args=[kuro.id])).status_code == 200
    assert desk.get(address).status_code == 422
    page = desk.post(address, draft() | {"do": "preview"}).content.decode()
    settle_team(aurora, olga)
    assert sent(page)["based_on"] == "1"
    assert kuro.post("/responses", {"response": "", "items": [bash("ls")]}).status_code == 201


def test_a_post_asks_no_more_with_a_teams_rules(kuro: Caller, aurora: Any, olga: Any) -> None:
    def questions(name: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            post(kuro, bash(f"ls {name}"))
        return len(queries)

    Policy.objects.update(default_tool_call="allow")
    questions("warm")
    before = questions("a")
    settle_team(aurora, olga, RM)
    questions("warm again")
    assert questions("b") == before
    assert Team.objects.get(pk=aurora.pk).rules_version == 1


def test_a_draft_says_whose_approval_nobody_can_give(olga: Any, address: str, as_person: Any) -> None:
    asks = RM | {"do": "ask", "approvers": {"group": "finanse"}}
    page = (
        as_person(olga).post(address, draft(asks) | {"do": "preview"}, headers={"HX-Request": "true"}).content.decode()
    )
    assert "A rule leaves approval to a member of “finanse”. The team has too few such members (n = 0)" in page


def test_a_preview_says_what_is_wrong_at_its_cell(olga: Any, address: str, as_person: Any) -> None:
    row = {"tool": "x", "do": "ask", "where-0-pointer": "/eur", "where-0-operator": "gt", "where-0-value": "much"}
    table = {"rules_in": "table", "rule-order": "0"} | {f"rule-0-{name}": value for name, value in row.items()}
    page = as_person(olga).post(address, table, headers={"HX-Request": "true"}).content.decode()
    assert re.search(r'of-value"\s+id="rule-0-where-0-error" hx-swap-oob="true">\s*<p>Enter a number', page)
