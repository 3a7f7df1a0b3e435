"""`manage.py policy`: what is in force as a file, and a file put into force."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from metacog.accounts.agents import create_agent
from metacog.heuristics.tool_calls import pack
from metacog.models import Agent, AuditEvent, Policy, TeamRules
from reviews.models import Decision, HeldItem
from tests.reviews.api.test_tool_calls import ask, by_person, ruled
from tests.tables import table

PACKS = Path(pack.__file__).parent / "packs"
DEAR = {"tool": "mcp__bank__*", "where": {"/eur": {"gt": 50}}, "do": "ask", "reason": "money leaves"}
ODD = {"tool": "t", "where": {"/a": {"in": ["no", "1e3", "2026-01-01", "DE", 7, True, None, "~"]}}, "do": "deny"}


def policy(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("policy", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments: Any) -> list[str]:
    """Return what was said on the error output."""
    err = io.StringIO()
    with pytest.raises(CommandError, match="nothing was written"):
        call_command("policy", *map(str, arguments), stderr=err, stdout=io.StringIO())
    return err.getvalue().splitlines()


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Return a function that writes a text, or JSON, to a file."""

    def write(value: Any) -> Path:
        path = tmp_path / "policy.yaml"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_is_shown_and_applied_changes_nothing(kuro: Any, written: Any, form: list[str]) -> None:
    ruled(kuro, DEAR, ODD, threshold=12, marks={"chat": "(again: no)"}, quality={"pass_at": 0.8})
    shown = policy("show", "kuro", *form)
    assert "nothing changes" in policy("apply", "kuro", written(shown))
    assert Policy.objects.count() == 2


def test_a_file_becomes_the_next_version_that_is_recorded(kuro: Any, written: Any) -> None:
    ruled(kuro, threshold=12)
    told = policy("apply", "kuro", written("default_tool_call: deny\nrules:\n- {tool: read_file, do: allow}\n"))
    saved = Policy.objects.get(version=3)
    # What the file leaves out is as a new agent has it, and the diff says so.
    assert saved.rules == [{"tool": "read_file", "do": "allow"}]
    assert (saved.default_tool_call, saved.threshold) == ("deny", 30)
    for line in ("-threshold: 12", "+threshold: 30", "-rules: []", "+- tool: read_file", "+  do: allow"):
        assert line in told.splitlines()
    assert "Policy 3 of kuro is in force." in told
    event = AuditEvent.objects.get(action="policy-changed")
    assert (event.actor_kind, event.before, event.after) == ("system", "2", "3")
    assert event.data["os_user"]
    assert ask(kuro, name="read_file")["disposition"] == "pass"


def test_it_is_in_force_though_nobody_reads_what_is_told(kuro: Any, written: Any) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        call_command("policy", "apply", "kuro", str(written("default_tool_call: deny")), stdout=Gone())
    assert Policy.objects.latest("version").default_tool_call == "deny"


def test_a_dry_run_says_all_of_it_and_writes_nothing(kuro: Any, alice: Any, undo_at_once: None, written: Any) -> None:
    for at in range(3):
        by_person(alice, ask(kuro, arguments={"eur": 60 + at})["held"], "approve" if at else "reject")
    kuro.hold()
    told = policy("apply", kuro.id, written({"hold_at": 60, "rules": [DEAR, {"tool": "x", "do": "deny"}]}), "--dry-run")
    assert "would have asked 3 times: people approved 2, rejected 1" in told
    assert "would have decided no call" in told
    assert "items held: 1 → 0" in told
    assert "Nothing was written" in told
    assert Policy.objects.count() == 1


@table(
    ("text", "pointers"),
    [
        ("rules: [{tool: a, do: x, do: ask}]", ["/rules/0/do"]),
        ("no_such: 1\nthreshold: 200\nrules: [{tool: '', do: ask, why: x}, 7]", [
            "/no_such", "/threshold", "/rules/0/why", "/rules/0/tool", "/rules/1",
        ]),
        ("language: en\n", ["/language"]),
        ("review_seconds: 0\n", ["/review_seconds"]),
        ('{"threshold": 1, "threshold": 2}', ["/threshold"]),
        ("a: &x [1]\nb: *x\n", ["(the whole)"]),
        ("a: [", ["(the whole)"]),
        ("- 1", ["(the whole)"]),
        ("rules: [{tool: !!python/name:os.system a, do: ask}]", ["/rules/0/tool"]),
    ],
    rolled_back=True,
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(kuro: Any, written: Any, text: str, pointers: list[str]) -> None:
    path = written(text)
    assert [line.split(": ")[1] for line in refused("apply", "kuro", path)] == pointers
    assert Policy.objects.count() == 1


def test_an_agent_is_named_by_name_team_or_id(kuro: Any, borealis: Any) -> None:
    create_agent(borealis, "kuro", None)
    with pytest.raises(CommandError, match="Several teams"):
        policy("show", "kuro")
    Policy.objects.filter(agent__team=borealis).update(threshold=11)
    assert "threshold: 11" in policy("show", "Borealis/kuro")
    assert "threshold: 30" in policy("show", kuro.id)
    with pytest.raises(CommandError, match="no agent"):
        policy("show", "nobody")
    assert Agent.objects.count() == 2


class TestPacks:
    def test_they_are_listed_with_what_they_ask_and_pass(self, db: None) -> None:
        told = policy("packs")
        asks = json.loads((PACKS / "everything-asks.json").read_text())
        assert f"everything-asks {asks['version']}: {asks['title']}\n  asks: {asks['asks']}\n  passes: " in told
        assert {each["name"]: each["rules"] for each in json.loads(policy("packs", "--json"))} == {
            path.stem: json.loads(path.read_text())["rules"] for path in PACKS.glob("*.json")
        }

    def test_one_is_put_behind_the_policys_own_rules(self, kuro: Any) -> None:
        ruled(kuro, {"tool": "read_file", "do": "allow"}, default_tool_call="allow")
        told = policy("apply", "kuro", "--pack", "everything-asks", "--set", "workspace=/srv/app", "--dry-run")
        assert "+- name: everything-asks" in told.splitlines()
        assert Policy.objects.count() == 2
        told = policy("apply", "kuro", "--pack", "everything-asks", "--set", "workspace=/srv/app")
        saved = Policy.objects.get(version=3)
        assert saved.packs == [{"name": "everything-asks", "workspace": "/srv/app"}]
        assert saved.rules == [{"tool": "read_file", "do": "allow"}]
        rule = ask(kuro, name="rm")["rule"]
        assert (rule["pack"], rule["version"], rule["do"]) == ("everything-asks", 1, "ask")
        assert rule["place"] > 1
        assert ask(kuro, name="read_file")["disposition"] == "pass"
        assert "nothing changes" in policy("apply", "kuro", "--pack", "everything-asks", "--set", "workspace=/srv/app")

    @table(
        ("options", "told"),
        [
            (["--pack", "codng"], "There is no pack codng; nothing was written. There are: .*everything-asks"),
            (["--pack", "everything-asks", "--set", "folder=/a"], "--set folder=/a: write workspace=VALUE."),
            (["--pack", "everything-asks", "--set", "workspace"], "--set workspace: write workspace=VALUE."),
            (["x.yaml", "--set", "workspace=/a"], "--set goes with --pack"),
            (["x.yaml", "--pack", "everything-asks"], "not allowed with argument"),
        ],
    )
    def test_what_is_wrong_is_said(self, kuro: Any, options: list[str], told: str) -> None:
        with pytest.raises(CommandError, match=told):
            policy("apply", "kuro", *options)

    def test_an_unknown_pack_in_a_file_is_refused_with_the_known_ones(self, kuro: Any, written: Any) -> None:
        (said,) = refused("apply", "kuro", written({"packs": [{"name": "codng"}]}))
        assert "/packs/0/name: must be one of " in said
        assert "everything-asks" in said


class TestATeamsRules:
    """`show-team` and `apply-team`; `--settle` of both commands that change rules."""

    def test_a_file_becomes_the_next_version(self, kuro: Any, written: Any) -> None:
        held = ask(kuro, name="rm")["held"]
        path = written([{"tool": "rm", "do": "deny", "reason": "never"}])
        told = policy("apply-team", "Aurora", path, "--dry-run")
        assert "+- tool: rm\n+  do: deny" in told
        assert "denied: 0 → 1" in told
        assert "1 pending call would be denied:" in told
        assert f"  {held} kuro: rm " in told
        assert "Nothing was written" in told
        assert not TeamRules.objects.exists()
        assert "Version 1 of the rules of Aurora is in force." in policy("apply-team", "Aurora", path)
        assert HeldItem.objects.get().state == "pending"
        assert "nothing changes" in policy("apply-team", "Aurora", written(policy("show-team", "Aurora")))
        assert "0 released, 1 rejected." in policy("apply-team", "Aurora", path, "--settle")
        assert HeldItem.objects.get().state == "rejected"
        event = AuditEvent.objects.get(action="team-rules-changed")
        assert (event.actor_kind, event.data["count"], bool(event.data["os_user"])) == ("system", 1, True)
        assert json.loads(policy("show-team", "Aurora", "--json")) == {
            "rules": [{"tool": "rm", "do": "deny", "reason": "never"}]
        }

    def test_settle_decides_what_apply_lists(self, kuro: Any, written: Any) -> None:
        ask(kuro, name="ls")
        path = written({"rules": [{"tool": "ls", "do": "allow"}]})
        assert "1 pending call would pass:" in policy("apply", "kuro", path)
        assert HeldItem.objects.get().state == "pending"
        assert "1 released, 0 rejected." in policy("apply", "kuro", path, "--settle")
        assert Decision.objects.get().policy_version == 2

    @table(
        ("given", "told"),
        [
            ([{"tool": "rm", "do": "forbid"}], '/0/do: must be "ask"'),
            ({"rule": []}, "(the whole): must be a list"),
            ("a: [", "(the whole): "),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_written(self, kuro: Any, written: Any, given: Any, told: str) -> None:
        (line,) = refused("apply-team", "Aurora", written(given))
        assert told in line

    def test_they_are_no_part_of_an_agents_file(self, kuro: Any, written: Any) -> None:
        (line,) = refused("apply", "kuro", written({"team_rules": []}))
        assert "/team_rules: are the team's" in line
        assert "team_rules" not in policy("show", "kuro")
        with pytest.raises(CommandError, match="There is no team boreas"):
            policy("show-team", "boreas")
