"""`manage.py agent`, to the letter of the contract."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from metacog.models import Agent, AgentKey, AuditEvent, Policy, Team
from tests.conftest import Caller
from tests.tables import table


def run(*words: str) -> str:
    out = StringIO()
    call_command("agent", *words, stdout=out)
    return out.getvalue()


def test_create_prints_one_line_of_json_that_works(db: None, settings: Any) -> None:
    settings.CALLBACK_ALLOW = {"http://127.0.0.1:9"}
    out = run("create", "kuro", "--team", "Aurora", "--callback-url", "http://127.0.0.1:9/x", "--json")
    assert out.count("\n") == 1
    made = json.loads(out)
    assert list(made) == ["id", "team", "api_key", "signing_secret"]
    assert made["team"] == "Aurora"
    agent = Agent.objects.get(public_id=made["id"])
    assert agent.callback_url == "http://127.0.0.1:9/x"
    assert Policy.objects.filter(agent=agent, version=1).exists()
    assert Caller(made["id"], made["api_key"], made["signing_secret"]).get("/context").status_code == 200
    actions = list(AuditEvent.objects.order_by("id").values_list("action", "actor_kind"))
    assert actions == [("team-created", "system"), ("agent-created", "system"), ("key-issued", "system")]


def test_create_takes_the_team_that_is_there(aurora: Any) -> None:
    error = StringIO()
    words = ("create", "kuro", "--team", "Aurora", "--language", "zh-hans")
    call_command("agent", *words, stdout=StringIO(), stderr=error)
    assert (Team.objects.count(), error.getvalue()) == (1, "")
    assert Agent.objects.get().language == "zh-hans"


def test_create_says_that_it_made_a_team(aurora: Any) -> None:
    error = StringIO()
    call_command("agent", "create", "kuro", "--team", "Auroa", stdout=StringIO(), stderr=error)
    assert "There was no team Auroa" in error.getvalue()


def test_create_is_readable_without_json(db: None) -> None:
    out = run("create", "kuro", "--team", "Aurora")
    assert "API key         mck_" in out
    assert "never shown again" in out


@table(
    "words",
    [
        ["create", "new", "--team", "New", "--callback-url", "https://u:p@a.example"],
        ["create", " ", "--team", "New"],
        ["create", "new", "--team", "x" * 101],
        ["create", "kuro", "--team", "Aurora"],
        ["rotate", "nobody"],
        ["disable", "kuro", "--team", "Nowhere"],
        ["list", "--team", "Nowhere"],
    ],
    rolled_back=True,
)
def test_it_refuses_in_a_sentence_and_changes_nothing(kuro: Any, words: list[str]) -> None:
    events = AuditEvent.objects.count()
    with pytest.raises(CommandError) as refused:
        run(*words)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)
    assert Team.objects.count() == 1
    assert AuditEvent.objects.count() == events


def test_rotate_prints_like_create_and_the_old_key_stays(kuro: Any) -> None:
    made = json.loads(run("rotate", "kuro", "--json"))
    assert made["id"] == kuro.id
    assert Caller(kuro.id, made["api_key"], "").get("/context").status_code == 200
    assert kuro.get("/context").status_code == 200


def test_two_keys_are_live_at_a_time_and_a_third_ends_the_oldest(kuro: Any) -> None:
    second, third = (json.loads(run("rotate", "kuro", "--json"))["api_key"] for _ in range(2))
    assert kuro.get("/context").status_code == 401
    assert {Caller(kuro.id, key, "").get("/context").status_code for key in (second, third)} == {200}
    assert AuditEvent.objects.filter(action="keys-revoked").count() == 1


def test_revoke_ends_all_but_the_newest(kuro: Any) -> None:
    made = json.loads(run("rotate", "kuro", "--json"))
    run("revoke", "kuro")
    assert kuro.get("/context").status_code == 401
    assert Caller(kuro.id, made["api_key"], "").get("/context").status_code == 200
    assert AgentKey.objects.filter(revoked_at=None).count() == 1


def test_revoke_ends_no_key_of_another_agent_and_none_twice(kuro: Any, other: Any) -> None:
    for _ in range(2):
        run("rotate", "kuro")
        run("revoke", "kuro")
    assert other.get("/context").status_code == 200
    first, second = AuditEvent.objects.filter(action="keys-revoked").order_by("pk")
    assert len(first.data["keys"]) == len(second.data["keys"]) == 1
    assert set(first.data["keys"]).isdisjoint(second.data["keys"])


def test_disable_and_enable(kuro: Any) -> None:
    assert "refused from now on" in run("disable", "kuro")
    assert kuro.get("/context").status_code == 403
    assert "disabled before" in run("disable", "kuro")
    run("enable", "kuro")
    assert kuro.get("/context").status_code == 200


def test_a_name_of_several_teams_is_asked_about(kuro: Any, borealis: Any) -> None:
    run("create", "kuro", "--team", "Borealis")
    with pytest.raises(CommandError, match=r"say which with --team \(Aurora, Borealis\)"):
        run("disable", "kuro")
    run("disable", "kuro", "--team", "Borealis")
    assert kuro.get("/context").status_code == 200


def test_list_shows_each(kuro: Any, other: Any) -> None:
    assert "Aurora / kuro" in run("list")
    assert "kuro" not in run("list", "--team", "Borealis")


@pytest.mark.parametrize("words", [("create", "nori", "--team", "Tern"), ("rotate", "kuro")])
def test_a_key_that_cannot_be_shown_is_not_made(aurora: Any, words: tuple[str, ...]) -> None:
    run("create", "kuro", "--team", "Aurora")
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "w") as full:
        call_command("agent", *words, stdout=full)
    assert (Agent.objects.count(), AgentKey.objects.count(), Team.objects.count()) == (1, 1, 1)
