"""A policy that cannot be read: its agent is refused and named, nothing of it passes, and people can mend it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from metacog import unreadable
from metacog.accounts import agents as accounts
from metacog.accounts import tokens
from metacog.models import Agent, AuditEvent, Heartbeat, Policy, Team, User
from patterns.models import Memory
from reviews.held import decisions
from reviews.models import AgentResponse, HeldItem
from tests.conftest import HELD, Caller
from tests.metacog.accounts.test_policy import Desk
from tests.tables import forget_scorers

pytestmark = pytest.mark.django_db


def spoil(caller: Caller, **texts: str | int) -> None:
    """Write into columns of the policy in force what no form would, which no process has read yet."""
    forget_scorers()
    spoil_read(caller, **texts)


def spoil_read(caller: Caller, **texts: str | int) -> None:
    """Write it into what this process has read."""
    policy = Policy.objects.get(agent__public_id=caller.id)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        for name, text in texts.items():
            cursor.execute(f"UPDATE metacog_policy SET {name} = %s WHERE id = %s", [text, policy.pk])
    unreadable.policies.forget()  # as in a process that has not looked yet


SPOILED: list[tuple[str, str | int, str]] = [
    ("rules", '"[]"', "/rules"),
    ("rules", '[{"tool": "rm"', "/rules"),
    ("rules", "null", "/rules"),
    ("rules", '{"tool": "rm"}', "/rules"),
    ("rules", '[{"tool": "rm"}]', "/rules/0/do"),
    ("rules", '["rm"]', "/rules/0"),
    ("weights", "[]", "/weights"),
    ("weights", '{"no-hedge": "5"}', "/weights/no-hedge"),
    ("weights", '{"unheard-of": 5}', "/weights/unheard-of"),
    ("release", '"person"', "/release"),
    ("marks", '"none"', "/marks"),
    ("parts", '{"quality": 1}', "/parts/quality"),
    ("quality", "7", "/quality"),
    ("stuck", '["x"]', "/stuck"),
    ("hold_at", 150, "/hold_at"),
    ("hold_at", 20, "/hold_at"),  # below the threshold
    ("default_tool_call", "maybe", "/default_tool_call"),
    ("profile", "none", "/profile"),
]


@pytest.mark.parametrize(("column", "stored", "pointer"), SPOILED)
def test_people_read_what_is_wrong_in_their_language(
    kuro: Any, translated: Any, column: str, stored: str | int, pointer: str
) -> None:
    spoil(kuro, **{column: stored})
    with override("zh-hant"):
        [told] = Policy.objects.get(agent__public_id=kuro.id).fault_sentences
    assert told.startswith(f"{pointer}：")
    assert not re.search("[a-z]{3,} [a-z]{2,}", told)


@pytest.mark.parametrize(("column", "stored", "pointer"), SPOILED)
def test_the_agent_is_refused_and_the_field_is_named(kuro: Any, column: str, stored: str | int, pointer: str) -> None:
    held = kuro.hold()
    Heartbeat.objects.create(name="worker", at=timezone.now())
    assert Client().get("/readyz").json()["status"] == "ok"
    spoil(kuro, **{column: stored})
    before = AgentResponse.objects.count()
    body = {"response": "It is done.", "items": [{"kind": "tool_call", "name": "rm", "arguments": {}}]}
    refused = [
        kuro.post("/responses", body),
        kuro.get("/context"),
        kuro.get("/policy"),
        kuro.post("/memory", {"text": "The sky is blue."}),
        kuro.post("/extensions", {"problem": "bug", "reason": "One more look at the log is needed."}),
        kuro.post(f"/held/{held}/decision", {"verdict": "approve", "reason": "I am sure."}),
    ]
    for answer in refused:
        told = answer.json()
        assert (answer.status_code, told["agent"], told["policy"]) == (503, kuro.id, 1), told
        assert answer["Content-Type"] == "application/problem+json"
        assert pointer in [each["pointer"] for each in told["errors"]]
        assert f"Policy 1 of kuro cannot be read: {told['errors'][0]['pointer']} " in told["detail"]
    assert AgentResponse.objects.count() == before
    assert HeldItem.objects.get().state == "pending"
    ready = Client().get("/readyz")
    told = ready.json()
    assert (ready.status_code, told["status"], told["policies"][0]["agent"]) == (200, "degraded", kuro.id)
    assert pointer in told["policies"][0]["fault"]


def test_a_policy_that_is_spoiled_after_it_was_read_counts_no_more_once_that_was_seen(kuro: Any) -> None:
    kuro.hold()
    spoil_read(kuro, rules='"[]"')
    assert Client().get("/readyz").json()["status"] == "degraded"
    assert kuro.post("/responses", {"response": "Done.", "items": []}).status_code == 503
    assert kuro.get("/policy").status_code == 503
    agent = Agent.objects.get(public_id=kuro.id)
    accounts.add_policy(agent, None, Policy(note="Mended."), based_on=agent.policy_version)
    assert kuro.post("/responses", {"response": "Done.", "items": []}).status_code == 201


def test_other_agents_go_on(kuro: Any, other: Any) -> None:
    spoil(kuro, rules='"[]"')
    assert other.respond()["items"][0]["held"]
    assert other.get("/context").status_code == 200


def test_whoever_sees_the_agent_is_told_and_an_owner_mends_it(
    as_person: Any, kuro: Any, other: Any, olga: User, victor: User, mallory: User
) -> None:
    kuro.hold()
    spoil(kuro, rules='"[]"', hold_at=150)
    for person in (olga, victor):
        for path in ("/queue/", "/agents/", f"/agents/{kuro.id}/", f"/agents/{kuro.id}/policy/"):
            page = as_person(person).get(path)
            shown = page.content.decode()
            assert page.status_code == 200
            assert "Policy 1 of kuro cannot be read" in shown
            assert "/rules: Write a list." in shown
            assert f'href="/agents/{kuro.id}/policy/"' in shown
    assert "cannot be read" not in as_person(mallory).get("/queue/").content.decode()
    desk = Desk(as_person(olga), kuro)
    saved = desk.save(note="The defaults, in place of what was there.")
    assert (saved.status_code, Agent.objects.get(public_id=kuro.id).policy_version) == (302, 2)
    assert set(AuditEvent.objects.get(action="policy-changed").data["fields"]) >= {"rules", "hold_at"}
    assert "cannot be read" not in desk.client.get("/queue/").content.decode()
    assert kuro.respond(HELD + " Again.")["items"][0]["held"]
    assert desk.client.get(desk.address).status_code == 200  # with the version that cannot be read in its history
    assert Client().get("/readyz").json()["policies"] == "ok"


def test_people_decide_what_was_held_before(kuro: Any, alice: User, settings: Any) -> None:
    settings.UNDO_SECONDS = 0
    items = [HeldItem.objects.get(public_id=kuro.hold(kind)) for kind in ("chat", "remember")]
    spoil(kuro, rules='"[]"')
    for item in items:
        decisions.decide(item, alice, "approve", reason="It was measured.")
    assert [each["verdict"] for each in kuro.get("/decisions").json()["items"]] == ["approve", "approve"]
    assert Memory.objects.get().text == items[1].text


def test_nobody_edits_what_no_rule_can_judge(as_person: Any, kuro: Any, alice: User) -> None:
    held = kuro.hold()
    spoil(kuro, rules='"[]"')
    item = HeldItem.objects.get(public_id=held)
    edit: dict[str, Any] = {"verdict": "edit", "text": "It may be so.", "reason": "Softer."}
    edit |= {"version": item.version, "sha256": item.sha256}
    page = as_person(alice).post(f"/queue/{held}/decide", edit | {"verdict": "approve"})
    assert page.status_code == 503
    assert "Policy cannot be read" in page.content.decode()
    _, token = tokens.issue(alice, name="script", scopes=["read", "decide"], days=7)
    answer = Client().post(
        f"/api/v1/review/held/{held}/decision",
        json.dumps(edit),
        content_type="application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    assert (answer.status_code, answer.json()["agent"]) == (503, kuro.id)
    assert HeldItem.objects.get(public_id=held).state == "pending"


def test_an_operator_reads_the_fault_and_mends_it_by_a_file(
    kuro: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(kuro, rules='"[]"')
    with pytest.raises(CommandError, match=r"Policy 1 of kuro cannot be read: /rules must be a list\."):
        call_command("rescore", agent="kuro")
    call_command("policy", "show", kuro.id)
    shown = capsys.readouterr()
    assert shown.err == "Policy 1 of kuro cannot be read: /rules must be a list. The default stands in its place.\n"
    file = tmp_path / "policy.yaml"
    file.write_text(shown.out)
    call_command("policy", "apply", kuro.id, str(file))
    assert capsys.readouterr().out.endswith("Policy 2 of kuro is in force.\n")
    assert kuro.respond()["items"][0]["held"]


def spoil_rules(team: Team, stored: str) -> None:
    """Put rules in force for a team, and write into their row what no form would."""
    accounts.change_team_rules(team, None, [{"tool": "rm", "do": "deny"}], "", based_on=team.rules_version)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE metacog_teamrules SET rules = %s WHERE team_id = %s", [stored, team.pk])
    forget_scorers()
    unreadable.rules.forget()


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        ('{"tool": "rm"}', "must be a list"),
        ('[{"tool": "rm"', "must be a list"),
        ('[{"tool": "rm"}]', "/0/do must be"),
        ('["rm"]', "/0 must be an object"),
    ],
)
def test_a_team_whose_rules_cannot_be_read_is_told_as_well(
    as_person: Any, kuro: Any, olga: User, mallory: User, stored: str, fault: str
) -> None:
    Heartbeat.objects.create(name="worker", at=timezone.now())
    assert Client().get("/readyz").json()["team_rules"] == "ok"
    team = Agent.objects.get(public_id=kuro.id).team
    spoil_rules(team, stored)
    told = Client().get("/readyz").json()
    assert (told["status"], told["policies"]) == ("degraded", "ok")
    assert told["team_rules"] == [{"team": team.pk, "version": 1, "fault": told["team_rules"][0]["fault"]}]
    assert told["team_rules"][0]["fault"].startswith(fault)
    refused = kuro.post("/responses", {"response": "It is done."})
    assert (refused.status_code, refused.json()["team_rules"]) == (503, 1)
    assert f"Version 1 of the rules of {team} cannot be read: {fault}" in refused.json()["detail"]
    client = as_person(olga)
    rules = f"/team/{team.pk}/rules"
    for path in ("/queue/", f"/agents/{kuro.id}/policy/", rules):
        shown = client.get(path).content.decode()
        assert f"Version 1 of the rules of {team} cannot be read" in shown
        assert f'href="{rules}"' in shown
    assert "cannot be read" not in as_person(mallory).get("/queue/").content.decode()
    accounts.change_team_rules(Team.objects.get(pk=team.pk), olga, [], "None, in place of what was there.", based_on=1)
    assert "cannot be read" not in client.get("/queue/").content.decode()
    assert kuro.respond()["items"]
    assert Client().get("/readyz").json() == told | {"status": "ok", "team_rules": "ok"}
