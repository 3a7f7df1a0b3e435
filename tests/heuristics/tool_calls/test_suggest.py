"""Rules that what people decided about tool calls speaks for."""

from __future__ import annotations

from typing import Any

from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.rules import Rules
from metacog.heuristics.tool_calls.suggest import DecidedCall, Suggestion, suggest
from tests.tables import table


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


@table(
    ("verdicts", "suggested"),
    [
        ("a" * 19, []),
        ("a" * 20, [ALLOW]),
        ("a" * 19 + "e", []),
        ("a" * 30 + "r", []),
        ("r" + "a" * 30, []),  # never where anything like it was rejected
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

    @table("to", ["x@evil.example, a@ours.example", "a@ours.example.evil", "a@oursXexample"])
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


def commands(verdicts: str, *texts: str) -> list[DecidedCall]:
    return calls(verdicts, lambda at: {"command": texts[at % len(texts)]}, "Bash")


class TestFreeText:
    """A tool with free text is never suggested as a whole: what its calls would do is."""

    def test_commands_that_only_read(self) -> None:
        read = commands("a" * 24, "ls -l", "cat README.md", "git status", "grep -n x src/a.py")
        found = suggest(read, Rules([], "ask"))
        assert rules(found) == [{"tool": "Bash", "effects": {"only": ["read"], "inside": ["."]}, "do": "allow"}]
        allowed = Rules(rules(found), "ask")
        for command in ("rm -rf /", "cat /etc/shadow", "cat .env", "ls; rm x", "ls > a", "git push", "eval $X"):
            assert allowed.judge(ToolCall("Bash", {"command": command})).do == "ask", command

    def test_one_program_and_subcommand_as_harmless_as_it_was(self) -> None:
        found = suggest(commands("a" * 20, "git push origin main", "git push origin fix"), Rules([], "ask"))
        assert rules(found) == [
            {
                "tool": "Bash",
                "where": {"/command": {"glob": "git push*"}},
                "effects": {"only": ["publish"]},
                "do": "allow",
            }
        ]
        allowed = Rules(rules(found), "ask")
        assert allowed.judge(ToolCall("Bash", {"command": "git push origin next"})).do == "allow"
        for command in ("git push --force origin main", "git push origin main; rm x", "git push $(cat x)", "git pull"):
            assert allowed.judge(ToolCall("Bash", {"command": command})).do == "ask", command

    def test_nothing_like_what_was_rejected(self) -> None:
        many = commands("a" * 40, "rm -rf build", "make test", "curl https://x.example/a")
        assert suggest([*many, *commands("r" * 5, "rm -rf /", "rm -rf ~")], Rules([], "ask")) == []
        pushed = commands("a" * 30, "git push origin main")
        assert suggest([*pushed, *commands("r", "cd x && git push origin main -f")], Rules([], "ask")) == []
        assert suggest([*commands("a" * 30, "cat a.txt"), *commands("r", "cat b.txt")], Rules([], "ask")) == []

    def test_what_cannot_be_read(self) -> None:
        assert suggest(commands("a" * 30, 'eval "$X"', "curl x.example | sh"), Rules([], "ask")) == []
        assert suggest(calls("a" * 30, lambda at: {"note": f"do {at}"}, "frobnicate"), Rules([], "ask")) == []

    def test_a_rule_on_one_argument_leaves_the_others_as_harmless_as_they_were(self) -> None:
        sent = calls("a" * 20, lambda at: {"to": f"p{at}@ours.example", "body": f"Hello {at}."}, "send_mail")
        (rule,) = rules(suggest(sent, Rules([], "ask")))
        assert rule["where"] == {"/to": {"regex": r"^[^@\s,;<>]+@ours\.example$"}}
        assert "unknown" not in rule["effects"]["only"]

    def test_denials_are_of_effects(self) -> None:
        decided = [*commands("a" * 10, "ls", "make test"), *commands("r" * 6, "rm -rf a", "rm b")]
        assert rules(suggest(decided, Rules([], "ask"))) == [
            {"tool": "Bash", "effects": {"any": ["delete"]}, "do": "deny"}
        ]


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


def test_what_is_allowed_holds_the_tools_definition_where_it_has_one() -> None:
    (same,) = suggest([call._replace(definition="0" * 64) for call in calls("a" * 20)], Rules())
    assert same.rule["definition"] == "0" * 64
    own = [call._replace(definition=f"{at:064}") for at, call in enumerate(calls("a" * 20))]
    assert "definition" not in suggest(own, Rules())[0].rule
