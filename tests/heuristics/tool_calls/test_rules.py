"""Rules on tool calls: what they match, what is wrong with them, what cannot be checked."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.heuristics.policy.errors import PolicyError
from metacog.heuristics.policy.policy import Policy
from metacog.heuristics.tool_calls.rules import Rules
from tests.tables import table

CALL = {"eur": 100, "to": "DE89", "day": "2026-02-16", "tags": ["a", {"b": None}], "a/b": {"~": True}, "half": 0.5}


def do(rule: dict[str, Any], arguments: Any = CALL, tool: str = "mcp__bank__transfer") -> str:
    return Rules([{"tool": "mcp__bank__*", "do": "deny", **rule}], "allow").judge(tool, arguments).do


@table(
    ("where", "expected"),
    [
        ({}, "deny"),
        ({"/eur": {"gt": 99.5}}, "deny"),
        ({"/eur": {"gt": 100}}, "allow"),
        ({"/eur": {"ge": 100, "le": 100}}, "deny"),
        ({"/eur": {"ge": 100, "lt": 100}}, "allow"),
        ({"/eur": {"eq": 100.0}}, "deny"),
        ({"/eur": {"ne": 100}}, "allow"),
        ({"/eur": {"in": [1, 1e2]}}, "deny"),
        ({"/eur": {"in": ["100", True]}}, "allow"),
        ({"/a~1b/~0": {"eq": True}}, "deny"),
        ({"/a~1b/~0": {"eq": 1}}, "allow"),
        ({"/day": {"lt": "2026-03"}}, "deny"),
        ({"/to": {"glob": "DE*"}}, "deny"),
        ({"/to": {"glob": "de*"}}, "allow"),
        ({"/to": {"regex": "E[0-9]"}}, "deny"),
        ({"/to": {"regex": "^E"}}, "allow"),
        ({"/tags/1/b": {"exists": True, "eq": None}}, "deny"),
        ({"/tags/2": {"exists": False}}, "deny"),
        ({"/tags/01": {"exists": True}}, "allow"),
        ({"/tags/-": {"exists": True}}, "allow"),
        ({"/nothing": {"ne": 1}}, "allow"),
        ({"": {"eq": CALL}}, "deny"),
        ({"/eur": {"gt": 50}, "/to": {"eq": "FR"}}, "allow"),
        # What cannot be checked asks a person, unless another condition rules the rule out.
        ({"/to": {"gt": 50}}, "ask"),
        ({"/eur": {"glob": "1*"}}, "ask"),
        ({"/a~1b/~0": {"ge": 1}}, "ask"),
        ({"/to": {"gt": 50}, "/eur": {"lt": 1}}, "allow"),
    ],
)
def test_a_rule_matches_where_all_its_conditions_hold(where: dict[str, Any], expected: str) -> None:
    assert do({"where": where}) == expected


def test_a_tool_is_named_by_a_glob_in_its_own_case() -> None:
    assert [do({}, tool=name) for name in ("mcp__bank__", "MCP__bank__x", "mcp__mail__x")] == ["deny", "allow", "allow"]


def test_a_search_takes_time_in_proportion_to_the_text() -> None:
    assert do({"where": {"/x": {"regex": "(a+)+$"}}}, {"x": "a" * 200_000 + "!"}) == "allow"


def test_rules_in_shadow_decide_only_where_they_are_asked_to() -> None:
    rules = Rules([{"tool": "*", "do": "deny", "shadow": True}, {"tool": "*", "do": "allow"}])
    assert (rules.judge("x", {}).do, rules.judge("x", {}, with_shadow=True).do) == ("allow", "deny")


@table(
    ("rule", "places"),
    [
        ("ask", ["/rules/0"]),
        ({}, ["/rules/0/do", "/rules/0/tool"]),
        ({"tool": "", "do": "hold"}, ["/rules/0/do", "/rules/0/tool"]),
        ({"tool": "*", "do": "ask", "if": 1}, ["/rules/0/if"]),
        ({"tool": "*", "do": "ask", "reason": 1, "shadow": "no"}, ["/rules/0/reason", "/rules/0/shadow"]),
        ({"tool": "*", "do": "ask", "where": []}, ["/rules/0/where"]),
        ({"tool": "*", "do": "ask", "where": {"eur": {"gt": 1}}}, ["/rules/0/where/eur"]),
        ({"tool": "*", "do": "ask", "where": {"/e~2": {"gt": 1}}}, ["/rules/0/where/~1e~02"]),
        ({"tool": "*", "do": "ask", "where": {"/eur": {}}}, ["/rules/0/where/~1eur"]),
        ({"tool": "*", "do": "ask", "where": {"/eur": {"over": 1}}}, ["/rules/0/where/~1eur/over"]),
        ({"tool": "*", "do": "ask", "where": {"/eur": {"gt": True}}}, ["/rules/0/where/~1eur/gt"]),
        ({"tool": "*", "do": "ask", "where": {"/eur": {"in": []}}}, ["/rules/0/where/~1eur/in"]),
        ({"tool": "*", "do": "ask", "where": {"/to": {"regex": "("}}}, ["/rules/0/where/~1to/regex"]),
        ({"tool": "*", "do": "ask", "where": {"/to": {"regex": "(?=a)"}}}, ["/rules/0/where/~1to/regex"]),
        ({"tool": "*", "do": "ask", "where": {"/to": {"exists": 1}}}, ["/rules/0/where/~1to/exists"]),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_with_its_place(rule: Any, places: list[str]) -> None:
    with pytest.raises(PolicyError) as wrong:
        Policy.from_dict({"rules": [rule]})
    assert sorted(place for place, _detail in wrong.value.errors) == places
