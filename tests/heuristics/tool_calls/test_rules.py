"""Rules on tool calls: what they match, what is wrong with them, what cannot be checked."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.effects.effect import KINDS
from metacog.heuristics.policy.errors import PolicyError
from metacog.heuristics.policy.policy import Policy
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.definition import definition_of
from metacog.heuristics.tool_calls.rules import Rules, errors_in, is_for_people, is_own, of_team, team_errors_in
from tests.tables import table

CALL = {"eur": 100, "to": "DE89", "day": "2026-02-16", "tags": ["a", {"b": None}], "a/b": {"~": True}, "half": 0.5}

CALLED = ToolCall("x", {})


def do(rule: dict[str, Any], arguments: Any = CALL, tool: str = "mcp__bank__transfer") -> str:
    return Rules([{"tool": "mcp__bank__*", "do": "deny", **rule}], "allow").judge(ToolCall(tool, arguments)).do


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
        ({"/tags/1": {"exists": True}, "/eur": {"gt": 100}}, "allow"),
        ({"/tags/2": {"exists": False}, "/eur": {"gt": 99}}, "deny"),
        ({"/day": {"gt": "2026-02-15", "ge": "2026-02-16", "le": "2026-02-16"}}, "deny"),
        ({"/day": {"gt": "2026-02-16"}}, "allow"),
        ({"/eur": {"ne": 99}}, "deny"),
        ({"/eur": {"in": [100]}}, "deny"),
        ({"/eur": {"lt": 101, "gt": 99}}, "deny"),
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


@table(
    ("where", "value", "fault"),
    [
        ({"/to": {"gt": 50}}, {"to": "DE89"}, "/to is not a number: “gt” cannot be checked."),
        ({"/to": {"le": 50}}, {"to": True}, "/to is not a number: “le” cannot be checked."),
        ({"/to": {"lt": "2026"}}, {"to": 2025}, "/to is not a text: “lt” cannot be checked."),
        ({"/to": {"regex": "a"}}, {"to": ["a"]}, "/to is not a text: “regex” cannot be checked."),
        ({"": {"glob": "*"}}, {}, "The whole of the arguments is not a text: “glob” cannot be checked."),
        ({"/a": {"gt": 1}, "/b": {"gt": 1}}, {"a": "x", "b": "x"}, "/a is not a number: “gt” cannot be checked."),
    ],
)
def test_what_cannot_be_checked_is_told_with_the_rule(where: dict[str, Any], value: Any, fault: str) -> None:
    rule = {"tool": "*", "where": where, "do": "allow"}
    assert Rules([rule]).judge(ToolCall("x", value)).fault == fault


def test_the_rule_that_decides_is_named_and_without_one_a_person_is_asked() -> None:
    rule = {"tool": "a", "do": "allow"}
    rules = Rules([rule])
    judged = [rules.judge(ToolCall(name, {})) for name in ("a", "b")]
    assert [(each.do, each.rule, each.fault) for each in judged] == [("allow", rule, ""), ("ask", None, "")]
    with pytest.raises(ValueError, match="must be an object"):
        Rules(["allow"])  # type: ignore[list-item]


@table(
    ("command", "expected"),
    [
        ("ls src", "allow"),
        ("ls src; rm -rf /srv", "ask"),
        ("ls $(rm -rf /srv)", "ask"),
        ("ls $HOME", "ask"),
        ("ls src > x", "ask"),
        ("ls src/../../etc", "ask"),
        ("ls src/../x", "ask"),
    ],
)
def test_a_pattern_allows_one_simple_command_by_what_it_leads_to(command: str, expected: str) -> None:
    rules = Rules([{"tool": "Bash", "where": {"/command": {"glob": "ls src*"}}, "do": "allow"}])
    assert rules.judge(ToolCall("Bash", {"command": command})).do == expected


def test_a_tool_is_named_by_a_glob_in_its_own_case() -> None:
    assert [do({}, tool=name) for name in ("mcp__bank__", "MCP__bank__x", "mcp__mail__x")] == ["deny", "allow", "allow"]


def test_a_search_takes_time_in_proportion_to_the_text() -> None:
    assert do({"where": {"/x": {"regex": "(a+)+$"}}}, {"x": "a" * 200_000 + "!"}) == "allow"


def test_rules_in_shadow_decide_only_where_they_are_asked_to() -> None:
    rules = Rules([{"tool": "*", "do": "deny", "shadow": True}, {"tool": "*", "do": "allow"}])
    assert (rules.judge(CALLED).do, rules.judge(CALLED, with_shadow=True).do) == ("allow", "deny")


DO = 'must be "ask" or "allow" or "deny" or "score"'
TOOL = "must be the name of a tool, with * for any characters; 1 to 500"
OPERATORS = "eq, ne, gt, ge, lt, le, in, glob, regex, exists, secret"
ORDERED = "must be a number, or a text to compare texts with"
HINTS = 'must be an object of hints, such as {"destructiveHint": true}'
PEOPLE = "must be a whole number from 2 to 10"


@table(
    ("wrong", "told"),
    [
        ({"tool": "", "do": "hold"}, {"do": DO, "tool": TOOL}),
        ({"tool": "x" * 501, "do": None}, {"do": DO, "tool": TOOL}),
        ({"if": 1}, {"if": "is not part of a rule"}),
        ({"reason": 1, "shadow": "no"}, {
            "reason": "must be a text of at most 300 characters", "shadow": "must be true or false",
        }),
        ({"reason": "x" * 301}, {"reason": "must be a text of at most 300 characters"}),
        ({"where": []}, {"where": "must be an object: JSON Pointers into the arguments, each with its conditions"}),
        ({"where": {"eur": {"gt": 1}}}, {"where/eur": 'must be a JSON Pointer into the arguments, such as "/eur"'}),
        ({"where": {"/e~2": {"gt": 1}}}, {"where/~1e~02": 'must be a JSON Pointer into the arguments, such as "/eur"'}),
        ({"where": {"/eur": {}, "/to": 1}}, {
            "where/~1eur": f"must be an object with {OPERATORS}", "where/~1to": f"must be an object with {OPERATORS}",
        }),
        ({"where": {"/eur": {"over": 1, "gt": True}}}, {
            "where/~1eur/over": f"must be one of {OPERATORS}", "where/~1eur/gt": ORDERED,
        }),
        ({"where": {"/eur": {"lt": None}}}, {"where/~1eur/lt": ORDERED}),
        ({"where": {"/eur": {"in": []}}}, {"where/~1eur/in": "must be a list of 1 to 1000 values"}),
        ({"where": {"/eur": {"in": [*range(1001)]}}}, {"where/~1eur/in": "must be a list of 1 to 1000 values"}),
        ({"where": {"/eur": {"in": "1"}}}, {"where/~1eur/in": "must be a list of 1 to 1000 values"}),
        ({"where": {"/to": {"glob": ""}}}, {"where/~1to/glob": "must be a glob of 1 to 500 characters"}),
        ({"effects": {"any": ["fly"]}, "if": 1}, {
            "effects/any": f"must be a list of effects: {', '.join(KINDS)}", "if": "is not part of a rule",
        }),
        ({"where": {"/to": {"regex": 1}}}, {"where/~1to/regex": "must be a regular expression of 1 to 500 characters"}),
        ({"where": {"/to": {"exists": 1}}}, {"where/~1to/exists": "must be true or false"}),
        ({"where": {f"/{at}": {"gt": 1} for at in range(21)}}, {"where": "must have at most 20 conditions"}),
        ({"hints": {}}, {"hints": HINTS}),
        ({"hints": {f"h{at}": True for at in range(21)}}, {"hints": HINTS}),
        ({"approvers": []}, {"approvers": "must be an object with people, role or group"}),
        ({"approvers": {"who": 1, "people": 1, "role": "", "group": ""}}, {
            "approvers/who": "must be one of people, role, group", "approvers/people": PEOPLE,
            "approvers/role": 'must be "reviewer" or "curator" or "owner"',
            "approvers/group": "must be the name of a group, of 1 to 100 characters",
        }),
        ({"approvers": {"people": 11}}, {"approvers/people": PEOPLE}),
        ({"approvers": {"people": 2}, "do": "deny"}, {
            "approvers": "must stand in a rule that asks: nobody approves what it allows or denies",
        }),
        ({"definition": "0" * 63}, {"definition": "must be the SHA-256 of a tool's description and schema"}),
        ({"definition": "0" * 64}, {"definition": "must stand in a rule that allows"}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_rule_is_told_with_its_place(wrong: dict[str, Any], told: dict[str, str]) -> None:
    with pytest.raises(PolicyError) as refused:
        Policy.from_dict({"rules": [{"tool": "*", "do": "ask"}, {"tool": "*", "do": "ask"} | wrong]})
    assert dict(refused.value.errors) == {f"/rules/1/{place}": detail for place, detail in told.items()}


@table("regex", ["(", "(?=a)", r"(a)\1"])
def test_a_regular_expression_is_one_that_takes_no_time(regex: str) -> None:
    (((_rule, *place), detail),) = errors_in([{"tool": "*", "do": "ask", "where": {"/to": {"regex": regex}}}])
    assert (place, bool(detail)) == (["where", "/to", "regex"], True)


@table(
    ("rules", "told"),
    [
        ("ask", [((), "must be a list")]),
        ([1, {"tool": "*"}], [(("0",), "must be an object"), (("1", "do"), DO)]),
        ([{"tool": "*", "do": "ask"}] * 201, [((), "must be at most 200 rules")]),
        # As much as there may be of everything is taken.
        ([{"tool": "*", "do": "ask"}] * 200, []),
        ([{
            "tool": "x" * 500, "do": "score", "reason": "x" * 300, "shadow": False, "where": {
                **{f"/{at}": {"exists": True} for at in range(16)}, "/" + "x" * 499: {"in": [*range(1000)]},
                "/a": {"in": [1], "glob": "x" * 500}, "/b": {"regex": "x"},
            },
        }], []),
    ],
)  # fmt: skip
def test_limits_are_inclusive(rules: Any, told: Any) -> None:
    assert errors_in(rules) == told


def test_a_pointer_is_no_longer_than_a_glob() -> None:
    (((*place,), _detail),) = errors_in([{"tool": "*", "do": "ask", "where": {"/" + "x" * 500: {"gt": 1}}}])
    assert place[:2] == ["0", "where"]


def test_a_stored_call_is_read_once_by_each_way_of_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, inside = Rules(), Rules(reader=Reader(workspace="/srv/app"))
    monkeypatch.setattr("metacog.heuristics.tool_calls.rules._readings", {})
    call, long = (ToolCall("Write", {"file_path": "/srv/app/a.py", "content": each}) for each in ("x", "x" * 5_000))
    read = [(rules, each, rules.read(each)) for rules in (plain, inside) for each in (call, long)]
    assert read[0][2] != read[2][2]  # in the workspace, or nobody knows
    assert [rules.read_again(each) for rules, each, _ in read] == [reading for _, _, reading in read]
    asked = []
    monkeypatch.setattr(Reader, "read", lambda reader, name, arguments, **rest: asked.append(arguments))
    assert [rules.read_again(call) for rules in (plain, inside)] == [read[0][2], read[2][2]]
    assert asked == []
    plain.read_again(long)  # too long to be kept
    assert asked == [long.arguments]


def test_who_must_approve_and_which_definition_are_parts_of_a_rule() -> None:
    both = {"people": 10, "role": "owner", "group": "x" * 100}
    asks = [{"tool": "*", "do": do, "approvers": each} for do in ("ask", "score") for each in (both, {"people": 2})]
    allows = {"tool": "*", "do": "allow", "definition": "0" * 64, "hints": {f"h{at}": True for at in range(20)}}
    assert errors_in([*asks, allows]) == []


def test_a_rule_allows_its_tool_as_it_was_defined_and_by_what_a_call_would_do() -> None:
    call = ToolCall("Bash", {"command": "git push origin main"}, description="Runs a command.")
    rule = {"tool": "Bash", "do": "allow", "definition": "0" * 64}
    assert (Rules([rule], "deny").judge(call).do, Rules([rule], "deny").judge(call).definition_changed) == ("ask", True)
    assert Rules([{**rule, "definition": definition_of(call)}], "deny").judge(call).do == "allow"
    assert Rules([{"tool": "Bash", "do": "deny", "effects": {"any": ["publish"]}}], "allow").judge(call).do == "deny"
    assert Rules([{"tool": "Bash", "do": "deny", "effects": {"any": ["pay"]}}], "allow").judge(call).do == "allow"


def test_hints_are_compared_as_values_and_allow_only_for_a_trusted_server() -> None:
    call = ToolCall("mcp__bank__list", {}, hints={"readOnlyHint": True, "rounds": 1})

    def judged(hints: dict[str, Any], do: str, *trusted: str) -> str:
        return Rules([{"tool": "*", "do": do, "hints": hints}], "ask", trusted=trusted).judge(call).do

    assert judged({"readOnlyHint": True}, "deny") == "deny"
    assert [judged({"readOnlyHint": each}, "deny") for each in (False, 1)] == ["ask", "ask"]
    assert judged({"openWorldHint": True}, "deny") == "ask"
    assert (judged({"rounds": 1.0}, "allow"), judged({"rounds": 1.0}, "allow", "bank")) == ("ask", "allow")
    told = Rules([{"tool": "*", "do": "score", "hints": {"rounds": 1}}], "deny").judge(call)
    assert (told.do, (told.rule or {})["do"]) == ("ask", "score")
    assert is_for_people({"approvers": {"people": 2}})
    assert not any(map(is_for_people, ({"do": "ask"}, None)))
    assert [is_own(each) for each in ({}, {"pack": "coding"}, {"team": True})] == [True, False, False]


def test_a_call_is_read_by_what_its_tool_says_of_itself() -> None:
    asked = {"query": "TABLE orders"}
    told, silent = (Rules().read(ToolCall("run", asked, description=each)) for each in ("Runs SQL.", None))
    assert [[effect.effect for effect in each.effects] for each in (told, silent)] == [["read"], ["execute"]]


def test_a_rule_of_the_team_has_its_version_and_place() -> None:
    rule = {"tool": "*", "do": "ask"}
    given = of_team([rule, rule], 3)
    assert given == [{**rule, "team": True, "version": 3, "place": place} for place in (1, 2)]
    assert (team_errors_in(given), team_errors_in([rule])) == ([], [])
    assert [place for place, _ in errors_in(given[:1])] == [("0", field) for field in ("team", "version", "place")]
