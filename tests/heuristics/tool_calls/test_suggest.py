"""Rules that what people decided about tool calls speaks for."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.rules import Rules
from metacog.heuristics.tool_calls.suggest import DecidedCall, Suggestion, suggest


def calls(verdicts: str, arguments: Any = None, tool: str = "read_file") -> list[DecidedCall]:
    """Give a call for each letter: a approved, e approved after an edit, r rejected."""
    told = {"a": "approve", "e": "edit", "r": "reject"}
    return [
        DecidedCall(tool, arguments(at) if callable(arguments) else arguments, told[letter], f"held_{tool}_{at}")  # type: ignore[arg-type]
        for at, letter in enumerate(verdicts)
    ]


def rules(found: list[Suggestion]) -> list[dict[str, Any]]:
    return [dict(each.rule) for each in found]


ALLOW, DENY = {"tool": "read_file", "do": "allow"}, {"tool": "read_file", "do": "deny"}


@pytest.mark.parametrize(
    ("verdicts", "suggested"),
    [
        ("a" * 19, []),
        ("a" * 20, [ALLOW]),
        ("a" * 19 + "e", []),
        ("a" * 30 + "r", []),
        ("r" + "a" * 20, [ALLOW]),  # in a row, up to now
        ("e" + "a" * 19, []),
        ("rrrr", []),
        ("rrrrr", [DENY]),
        ("arrrrrr", [DENY]),  # 6 of 7
        ("aarrrrr", []),  # 71 %
        ("arrrr" * 2, [DENY]),  # 80 %
        ("", []),
    ],
)
def test_a_tool_is_suggested_from_its_own_boundaries_on(verdicts: str, suggested: list[Any]) -> None:
    assert rules(suggest(calls(verdicts), Rules([], "ask"))) == suggested


def test_it_says_how_many_agreed_and_how_sure_that_is() -> None:
    (found,) = suggest(calls("a" * 40), Rules([], "ask"))
    assert found.share == (40, 40)
    assert round(found.low, 2) == 0.91
    assert [call.held for call in found.decided] == [f"held_read_file_{at}" for at in range(40)]


def mails(verdicts: str, domain: str) -> list[DecidedCall]:
    return calls(verdicts, lambda at: {"to": f"p{at}@{domain}", "subject": f"{at}"}, "send_mail")


class TestWhatTellsThemApart:
    def test_the_domain_of_an_address(self) -> None:
        found = suggest([*mails("a" * 20, "ours.example"), *mails("arrrrrr", "else.example")], Rules([], "ask"))
        assert rules(found) == [
            {"tool": "send_mail", "where": {"/to": {"regex": r"^[^@\s,;<>]+@ours\.example$"}}, "do": "allow"},
            {"tool": "send_mail", "where": {"/to": {"glob": "*@else.example"}}, "do": "deny"},
        ]
        assert [each.share for each in found] == [(20, 20), (6, 7)]

    @pytest.mark.parametrize("to", ["x@evil.example, a@ours.example", "a@ours.example.evil", "a@oursXexample"])
    def test_what_is_allowed_cannot_be_feigned(self, to: str) -> None:
        found = suggest([*mails("a" * 20, "ours.example"), *mails("rrr", "else.example")], Rules([], "ask"))
        assert Rules(rules(found), "ask").judge(ToolCall("send_mail", {"to": "b@ours.example"})).do == "allow"
        assert Rules(rules(found), "ask").judge(ToolCall("send_mail", {"to": to})).do == "ask"

    def test_the_host_of_an_address_of_the_web(self) -> None:
        good = calls("a" * 20, lambda at: {"url": f"https://docs.example/{at}"}, "fetch")
        bad = calls("rrr", lambda at: {"url": f"https://else.example/{at}"}, "fetch")
        assert rules(suggest([*good, *bad], Rules([], "ask"))) == [
            {"tool": "fetch", "where": {"/url": {"glob": "https://docs.example/*"}}, "do": "allow"}
        ]

    def test_a_number_as_the_limit(self) -> None:
        found = suggest(calls("a" * 25 + "r" * 5, lambda at: {"pay": {"eur": at}}, "pay"), Rules([], "ask"))
        assert rules(found) == [
            {"tool": "pay", "where": {"/pay/eur": {"le": 24}}, "do": "allow"},
            {"tool": "pay", "where": {"/pay/eur": {"ge": 25}}, "do": "deny"},
        ]

    def test_a_value_seen_often(self) -> None:
        found = suggest([*calls("a" * 20, {"db": "test"}, "sql"), *calls("r", {"db": "live"}, "sql")], Rules([], "ask"))
        assert rules(found) == [{"tool": "sql", "where": {"/db": {"eq": "test"}}, "do": "allow"}]

    def test_no_condition_lets_pass_what_anybody_rejected_or_edited(self) -> None:
        mixed = [*calls("e" + "a" * 30, {"db": "test"}, "sql"), *calls("r", {"db": "live"}, "sql")]
        assert suggest(mixed, Rules([], "ask")) == []


class TestUnderTheRulesInForce:
    def test_only_what_people_are_still_asked_about_counts(self) -> None:
        decided = [*calls("a" * 20), *calls("rrrrr", tool="rm")]
        assert suggest(decided, Rules([{"tool": "*", "do": "allow"}], "ask")) == []
        assert suggest(decided, Rules([], "deny")) == []
        assert rules(suggest(decided, Rules([{"tool": "r*_file", "do": "score"}], "deny"))) == [ALLOW]

    def test_an_allowance_stands_before_the_rule_that_asks_and_behind_a_denial(self) -> None:
        never, ask = {"tool": "*", "where": {"/path": {"eq": "/etc/shadow"}}, "do": "deny"}, {"tool": "*", "do": "ask"}
        assert suggest(calls("a" * 20, {"path": "x"}), Rules([never, ask], "ask"))[0].place == 1
        assert suggest(calls("a" * 20, {"path": "x"}), Rules([never], "ask"))[0].place == 1
        assert suggest(calls("r" * 5, {"path": "x"}), Rules([never, ask], "ask"))[0].place == 0
