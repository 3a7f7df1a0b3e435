"""Rules and packs on commands and SQL as agents post them, from the text to what becomes of the call."""

from __future__ import annotations

from typing import Any

from metacog.heuristics import Scorer
from tests.tables import table

CODING = {"packs": [{"name": "coding", "workspace": "/srv/app"}]}


def scored(policy: dict[str, Any], name: str, arguments: Any, **given: Any) -> Any:
    item = {"kind": "tool_call", "name": name, "arguments": arguments, **given}
    return Scorer(policy=policy).score({"response": "", "items": [item]})["items"][0]


@table(
    ("asked", "command", "expected"),
    [
        ({"glob": "git log*"}, "git log -5", "pass"),
        ({"glob": "git log*"}, "git log -5 | head", "hold"),
        ({"glob": "git log*"}, "git log -5; rm -rf ~", "hold"),
        ({"glob": "git log*"}, "git log `rm -rf ~`", "hold"),
        ({"glob": "git log*"}, "git log > ~/.bashrc", "hold"),
        ({"glob": "git log*"}, "git log <(rm x)", "hold"),
        ({"regex": r"^git\b"}, "git log &", "hold"),
        ({"regex": r"\bstatus\b"}, "git status", "pass"),
        ({"glob": "cat docs/*"}, "cat docs/../.env", "hold"),
        ({"glob": "cat docs/*"}, "cat docs/a.md", "pass"),
        ({"glob": "git log*"}, "git log 'unclosed", "hold"),
        ({"eq": "make a && make b"}, "make a && make b", "pass"),
    ],
)
def test_a_pattern_on_a_command(asked: Any, command: str, expected: str) -> None:
    rules = {"rules": [{"tool": "Bash", "where": {"/command": asked}, "do": "allow"}]}
    assert scored(rules, "Bash", {"command": command})["disposition"] == expected


@table(
    ("sql", "expected"),
    [
        ("select * from orders", "pass"),
        ("select 1; delete from orders", "hold"),
        ("with x as (delete from orders returning *) select * from x", "hold"),
        ("selec * from", "hold"),
    ],
)
def test_a_pattern_on_sql(sql: str, expected: str) -> None:
    rules = {"rules": [{"tool": "query", "where": {"/sql": {"regex": r"(?i)^(select|with)\b"}}, "do": "allow"}]}
    told = scored(rules | {"readers": {"query": {"/sql": "sql:postgres"}}}, "query", {"sql": sql})
    assert told["disposition"] == expected


@table(
    ("command", "expected"),
    [
        ("pytest -q", "pass"),
        ("sed -i s/a/b/ src/app.py", "pass"),
        ("git push origin main", "hold"),
        ("cat ~/.aws/credentials", "hold"),
        ("find . -name '*.py' -exec rm -rf /srv/other {} +", "hold"),
        ('eval "$X"', "hold"),
    ],
)
def test_a_pack_decides_and_is_named(command: str, expected: str) -> None:
    told = scored(CODING, "Bash", {"command": command})
    assert (told["disposition"], told["rule"]["pack"], told["rule"]["version"]) == (expected, "coding", 1)


def test_rules_come_before_packs_and_packs_before_the_default() -> None:
    own = {"tool": "Bash", "where": {"/command": {"glob": "git push*"}}, "do": "allow"}
    policy = {**CODING, "rules": [own], "default_tool_call": "deny"}
    assert scored(policy, "Bash", {"command": "git push origin main"})["rule"] == own
    assert scored(policy, "zorp", {})["disposition"] == "hold"
    own = {"tool": "Bash", "effects": {"only": ["read"], "inside": ["/srv/app"]}, "do": "allow"}
    policy = {"rules": [own], "readers": {"run": {"/line": "shell"}}}
    assert scored(policy, "Bash", {"command": "cat /srv/app/a"})["disposition"] == "pass"
    assert scored(policy, "Bash", {"command": "cat /srv/app/../a"})["disposition"] == "hold"
    assert scored(policy, "run", {"line": "rm x"})["effects"][0]["argument"] == "/line"
