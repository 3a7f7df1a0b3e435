"""The rules on tool calls on the policy page: edited without JavaScript, previewed, saved, suggested."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from django.utils.translation import override

from metacog.accounts.rule_forms import RuleTable
from metacog.heuristics.tool_calls.pack import packs
from metacog.models import Agent, AuditEvent, Policy
from reviews.held import decisions
from reviews.models import AgentResponse, HeldItem
from tests.conftest import Caller
from tests.metacog.accounts.test_policy import DRAFT, Desk
from tests.reviews.api.test_tool_calls import ask, by_person, ruled
from tests.tables import table

DEAR = {"tool": "mcp__bank__*", "where": {"/eur": {"gt": 50}, "/to": {"glob": "DE*"}}, "do": "ask", "reason": "money"}
READ = {"tool": "read_file", "do": "allow"}
NEVER = {"tool": "rm", "do": "deny", "shadow": True}


@pytest.fixture
def desk(olga: Any, kuro: Any, as_person: Any) -> Desk:
    return Desk(as_person(olga), kuro)


def address(*rules: Any) -> str:
    return "?rules=" + json.dumps(rules)


def fields(page: str) -> dict[str, Any]:
    """Return what a browser would send of the rules that a page shows, in the order of the page."""
    part = page.partition('id="rules"')[2].partition("</fieldset>")[0]
    sent: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", part):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        assert name
        if re.search("checkbox|radio", tag) and "checked" not in tag:
            continue
        told = html.unescape(value[1]) if value else "on"
        sent.setdefault(name[1], []).append(told)
    for name_, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', part, re.S):
        chosen = re.search(r'value="(\w*)" selected', options)
        sent[name_] = [chosen[1] if chosen else "ask"]
    for name_, text in re.findall(r'<textarea name="([^"]+)"[^>]*>(.*?)</textarea>', part, re.S):
        sent[name_] = [html.unescape(text)]
    return sent


def post(desk: Desk, sent: dict[str, Any], **changed: Any) -> Any:
    return desk.client.post(desk.address, DRAFT | sent | changed)


def as_json(desk: Desk, sent: dict[str, Any]) -> list[Any]:
    """Return the rules that a table stands for."""
    shown = fields(post(desk, sent, do="rules-as-json").content.decode())
    rules: list[Any] = json.loads(shown["rules"][0])
    return rules


def test_packs_are_added_with_their_folder_and_removed(desk: Desk, kuro: Any) -> None:
    sent = fields(desk.client.get(desk.address).content.decode())
    page = post(desk, sent | {"pack-new": "coding", "pack-new-workspace": "/srv/app"}, do="pack-add").content.decode()
    shown = packs()["coding"]
    assert html.escape(shown.asks) in page
    assert 'data-focus="packs-title"' in page, "else the page stands at what comes after the rules"
    assert f"“{shown.title}” comes first and decides about every call" in page
    rules = page.partition("pack-rules")[2].partition("</ol>")[0]
    assert "outside /srv/app" in rules
    assert "except on what the same command made" in rules
    sent = fields(page)
    assert (sent["pack-name"], sent["pack-workspace"]) == (["coding"], ["/srv/app"])
    assert post(desk, sent | {"note": "a coding agent"}, do="preview").status_code == 200
    page = post(desk, sent, do="preview").content.decode()
    seen = re.search(r'name="seen"[^>]*value="(\w+)"', page)
    assert seen
    post(desk, fields(page), do="save", note="a coding agent", seen=seen[1])
    assert Policy.objects.get(version=2).packs == [{"name": "coding", "workspace": "/srv/app"}]
    assert "pack coding added): “a coding agent”" in desk.client.get("/audit/").content.decode()
    assert ask(kuro, name="Bash", arguments={"command": "echo $("})["rule"]["pack"] == "coding"
    page = desk.client.get(desk.address, {"from": 2}).content.decode()
    assert "would have asked 1 time" in page
    kept = '<input name="pack-new-workspace" value="/srv/app"'
    assert kept in page, "what takes a pack's place gets its folder"
    page = post(desk, fields(page), do="pack-remove-0").content.decode()
    assert "pack-name" not in fields(page)
    assert kept in page


def test_a_chosen_pack_is_in_the_draft_before_its_button_is_pressed(desk: Desk) -> None:
    sent = fields(desk.client.get(desk.address).content.decode()) | {"pack-new": "mail", "pack-new-workspace": ""}
    page = post(desk, sent, do="preview").content.decode()
    seen = re.search(r'name="seen"[^>]*value="(\w+)"', page)
    assert seen
    post(desk, sent, do="save", note="it reads mail", seen=seen[1])
    assert Policy.objects.get(version=2).packs == [{"name": "mail"}]


def test_each_rule_says_what_it_did(desk: Desk, kuro: Any, alice: Any, undo_at_once: None) -> None:
    for at in range(3):
        held = ask(kuro, arguments={"eur": 60 + at, "to": "DE1"})["held"]
        by_person(alice, held, "approve" if at else "reject")
    page = desk.client.get(desk.address + address(READ, DEAR)).content.decode()
    told = re.findall(r'class="quiet rule-did"[^>]*>([^<]*)<', page)
    assert told == ["would have decided no call", "would have asked 3 times: people approved 2, rejected 1"]


class TestTheTable:
    def test_it_shows_the_rules_and_gives_them_back_as_they_are(self, desk: Desk) -> None:
        odd = {
            "tool": "t",
            "where": {
                "": {"exists": True}, "/a~1b": {"eq": "50"}, "/c": {"in": ["x", 1, "a,b"], "ne": None},
                "/d": {"regex": "^[a-z] $", "ge": 1.5}, "/e": {"in": ["DE", 7]}, "/f": {"eq": " spaced"},
            },
            "do": "score",
        }  # fmt: skip
        sent = fields(desk.client.get(desk.address + address(DEAR, READ, NEVER, odd)).content.decode())
        assert sent["rule-0-tool"] == ["mcp__bank__*"]
        assert (sent["rule-0-where-0-value"], sent["rule-3-where-1-value"]) == (["50"], ['"50"'])
        assert as_json(desk, sent) == [DEAR, READ, NEVER, odd]

    def test_it_holds_effects_hints_approvers_and_definitions(self, desk: Desk) -> None:
        effects = {"any": ["delete", "send"], "inside": ["/srv/app", "."], "objects": ["*.log"]}
        approvers = {"people": 2, "role": "owner", "group": "money"}
        rules = [
            {"tool": "*", "do": "ask", "effects": effects, "approvers": approvers},
            {"tool": "*", "do": "deny", "effects": {"any": ["write"], "outside": ["/srv/app"], "except": ["*.tmp"]}},
            {"tool": "mcp__fs__*", "do": "allow", "hints": {"a": True, "b": "c"}, "definition": "0" * 64},
            {"tool": "*", "where": {"": {"secret": True}}, "effects": {"only": ["read"]}, "do": "deny"},
        ]
        page = desk.client.get(desk.address + address(*rules)).content.decode()
        assert "Ask a person (2 people, each an owner, a member of “money”)" in page
        sent = fields(page)
        assert (sent["rule-0-effects"], sent["rule-0-people"]) == (["delete", "send"], ["2"])
        assert as_json(desk, sent) == rules
        # They come once they are asked for, and what is wrong with them is said.
        sent = fields(desk.client.get(desk.address + address(READ)).content.decode())
        sent = fields(post(desk, sent, do="rule-more-0").content.decode())
        sent |= {"rule-0-effects-of": "only", "rule-0-effects": ["read", "fetch"], "rule-0-outside": " /a , /b "}
        assert as_json(desk, sent) == [READ | {"effects": {"only": ["read", "fetch"], "outside": ["/a", "/b"]}}]
        answer = post(desk, sent | {"rule-0-people": "2"})
        assert (answer.status_code, b"Only a rule that asks has approvers." in answer.content) == (422, True)
        # What a table cannot hold is shown as JSON.
        both = {"tool": "*", "do": "ask", "effects": {"any": ["send"], "all": ["read"]}}
        assert json.loads(fields(desk.client.get(desk.address + address(both)).content.decode())["rules"][0]) == [both]

    def test_a_missing_number_is_asked_about_by_one_press(self, desk: Desk) -> None:
        page = desk.client.get(desk.address + address(DEAR)).content.decode()
        assert "Ask when /eur is missing" in page
        page = post(desk, fields(page), do="rule-missing-0-0").content.decode()
        missing = {"tool": "mcp__bank__*", "where": {"/eur": {"exists": False}}, "do": "ask"}
        assert as_json(desk, fields(page)) == [missing, DEAR]
        assert "Ask when /eur is missing" not in page
        assert "is missing" not in desk.client.get(desk.address + address(READ)).content.decode()

    def test_an_allowance_by_a_pattern_says_of_what_it_holds(self, desk: Desk) -> None:
        rule = {"tool": "Bash", "where": {"/command": {"glob": "git *"}}, "do": "allow"}
        told = "this allows only one simple command"
        for do, said in (("allow", True), ("deny", False)):
            assert (told in desk.client.get(desk.address + address(rule | {"do": do})).content.decode()) == said

    @table(
        ("do", "after"),
        [
            ("rule-up-1", [READ, DEAR, NEVER]),
            ("rule-down-1", [DEAR, NEVER, READ]),
            ("rule-up-0", [DEAR, READ, NEVER]),
            ("rule-remove-0", [READ, NEVER]),
            ("rule-drop-0-1", [DEAR | {"where": {"/eur": {"gt": 50}}}, READ, NEVER]),
            ("rule-up-77", [DEAR, READ, NEVER]),
        ],
        rolled_back=True,
    )
    def test_buttons_move_and_remove_and_lose_nothing_else(self, desk: Desk, do: str, after: list[Any]) -> None:
        sent = fields(desk.client.get(desk.address + address(DEAR, READ, NEVER)).content.decode())
        page = post(desk, sent, do=do, threshold="33").content.decode()
        assert 'name="threshold" value="33"' in page
        assert as_json(desk, fields(page)) == after
        assert Policy.objects.count() == 1

    def test_a_rule_is_added_and_filled_in(self, desk: Desk) -> None:
        sent = fields(desk.client.get(desk.address).content.decode())
        sent = fields(post(desk, sent, do="rule-add").content.decode())
        answer = post(desk, sent | {"rule-0-tool": "pay"}, do="rule-if-0")
        sent = fields(answer.content.decode())
        assert answer.status_code == 200  # what was not filled in yet is no error
        sent |= {"rule-0-where-0-pointer": "/eur", "rule-0-where-0-operator": "le", "rule-0-where-0-value": "50"}
        rule = {"tool": "pay", "where": {"/eur": {"le": 50}}, "do": "allow"}
        assert as_json(desk, sent | {"rule-0-do": "allow"}) == [rule]

    def test_the_order_is_that_of_the_page(self, desk: Desk) -> None:
        sent = fields(desk.client.get(desk.address + address(DEAR, READ, NEVER)).content.decode())
        assert as_json(desk, sent | {"rule-order": ["2", "0", "1"]}) == [NEVER, DEAR, READ]

    def test_a_button_that_only_has_the_focus_does_nothing(self, desk: Desk) -> None:
        sent = fields(desk.client.get(desk.address + address(DEAR, READ)).content.decode()) | {"do": "rule-up-1"}
        for target, first in (("preview", "mcp__bank__*"), ("rules", "read_file")):
            headers = {"hx-request": "true", "hx-target": target}
            page = desk.client.post(desk.address, DRAFT | sent, headers=headers).content.decode()
            shown = r"Rule 1 added</dt>.*?<ins>[^:]*: (\S+)|name=.rule-0-tool[^>]*value=.([^\"]+)"
            found = re.search(shown, page, re.S)
            assert found
            assert first in found.groups()

    def test_many_are_folded_to_a_line_each_but_those_that_need_care(self, desk: Desk) -> None:
        few, many = desk.get(address(DEAR, READ, NEVER)), desk.get(address(DEAR, READ, NEVER, READ))
        assert [page.count('class="rule-edit" open') for page in (few, many)] == [3, 0]
        assert "Ask a person: mcp__bank__* where /eur is more than 50" in many
        sent = fields(many) | {"rule-2-tool": ""}
        page = post(desk, sent).content.decode()
        assert page.count('class="rule-edit" open') == 1
        assert post(desk, fields(many), do="rule-add").content.decode().count('class="rule-edit" open') == 1

    def test_the_whole_list_is_edited_as_json(self, desk: Desk) -> None:
        text = json.dumps([READ])
        table = fields(post(desk, {"rules_in": "json", "rules": text}, do="rules-as-table").content.decode())
        assert table["rule-0-tool"] == ["read_file"]
        broken = post(desk, {"rules_in": "json", "rules": '[{"tool": "x", "do": "y"}'})
        assert broken.status_code == 422
        assert "not JSON" in broken.content.decode()
        assert '[{"tool": "x", "do": "y"}' in html.unescape(broken.content.decode())

    def test_a_page_that_knows_of_no_rules_keeps_them(self, desk: Desk, kuro: Any) -> None:
        ruled(kuro, READ)
        assert desk.save(based_on="2").status_code == 302
        assert Policy.objects.order_by("-version")[0].rules == [READ]

    @pytest.mark.parametrize("rule", [READ | {"tool": "read_file "}, READ | {"where": {"/a": {"regex": "a\nb"}}}])
    def test_what_a_table_cannot_hold_is_shown_as_json(self, desk: Desk, rule: dict[str, Any]) -> None:
        sent = fields(desk.client.get(desk.address, {"rules": json.dumps([rule])}).content.decode())
        assert json.loads(sent["rules"][0]) == [rule]

    def test_more_than_a_form_holds_are_shown_as_json(self, desk: Desk) -> None:
        page = desk.get(address(*[DEAR] * 90))
        assert fields(page)["rules_in"] == ["json"]


@table(
    ("cells", "said"),
    [
        ({"rule-0-tool": ""}, "Enter the name of a tool"),
        ({"rule-0-reason": "x" * 301}, "At most 300 characters"),
        ({"rule-0-where-0-pointer": "eur"}, "Write a JSON Pointer"),
        (
            {"rule-0-where-0-pointer": "eur", "rule-0-where-0-operator": "regex", "rule-0-where-0-value": "(?=x)"},
            "linear time",
        ),
        ({"rule-0-where-0-value": "true"}, "Enter a number, or a text"),
        ({"rule-0-where-0-value": "[1"}, "Not valid JSON"),
        ({"rule-0-where-1-operator": "regex", "rule-0-where-1-value": "(?=x)"}, "linear time"),
        ({"rule-0-where-1-operator": "exists"}, "Write true or false"),
        (
            {
                "rule-0-where-1-pointer": "/eur",
                "rule-0-where-1-operator": "gt",
                "rule-0-where-1-value": "60",
            },
            "already has this condition",
        ),
        ({"rule-0-where-0-value": "1,000"}, "Enter a number. A text"),
        ({"rule-0-where-0-value": "2026-99-99"}, "This is no date."),
        ({"rule-0-where-0-value": "2026-02-28T25:00Z"}, "This is no date."),
        ({"rule-0-do": "nod"}, "Choose what to do"),
    ],
    rolled_back=True,
)
def test_what_is_wrong_is_said_at_its_cell(desk: Desk, cells: dict[str, str], said: str) -> None:
    sent = fields(desk.client.get(desk.address + address(DEAR, READ)).content.decode())
    answer = post(desk, sent | cells, do="save")
    assert answer.status_code == 422
    first, second = html.unescape(answer.content.decode()).partition('id="rules"')[2].split('<li class="rule', 2)[1:]
    assert said in first
    assert "<p>" not in second.partition("</li>")[0]
    assert Policy.objects.count() == 1


@table(
    "text",
    [
        '[{"tool": "x"', "[NaN]", "[1e999]", '[{"do": "ask", "do": "ask"}]', '"x"', '["x"]', '["\\u0000"]', "[" * 33,
        '[{"tool": "", "do": "nod", "reason": 1, "shadow": 1, "where": 1, "more": 1}]',
        '[{"tool": "x", "do": "ask", "where": {"a": 1, "/b": {"by": 1, "in": 1, "lt": [], "regex": 1, "exists": 1}}}]',
    ],
)  # fmt: skip
def test_the_json_is_refused_in_the_readers_language(translated: Any, text: str) -> None:
    def told() -> list[str]:
        return RuleTable([], text=text).errors

    with override("zh-hant"):
        assert told()
        assert [each for each in told() if re.search("[a-z]{3,} [a-z]{2,}", each)] == []


def test_a_preview_says_what_is_wrong_at_the_cell_that_sent_it(desk: Desk) -> None:
    sent = fields(desk.client.get(desk.address + address(READ, DEAR)).content.decode())
    moved = sent | {"rule-order": ["1", "0"], "rule-1-where-0-pointer": "eur"}  # as the page has it after a move
    page = desk.client.post(desk.address, DRAFT | moved, headers={"HX-Request": "true"}).content.decode()
    assert re.findall(r'id="([\w-]+)" hx-swap-oob="true">\s*<p>Write a JSON Pointer', page) == ["rule-1-where-0-error"]
    moved |= {"rule-1-where-0-pointer": "/eur", "rule-1-where-0-value": "1,000"}
    page = desk.client.post(desk.address, DRAFT | moved, headers={"HX-Request": "true"}).content.decode()
    assert re.findall(r'of-value"\s+id="([\w-]+)" hx-swap-oob="true">\s*<p>Enter a number', page) == [
        "rule-1-where-0-error"
    ]
    shown = re.findall(
        r'name="(rule-\d-where-\d-\w+)"[^>]*aria-invalid', post(desk, moved, do="preview").content.decode()
    )
    assert shown == ["rule-0-where-0-value"]
    moved |= {"rule-1-where-0-pointer": "eur", "rule-1-where-0-value": "50"}
    as_json = fields(post(desk, moved, do="rules-as-json").content.decode())
    assert "eur" in json.loads(as_json["rules"][0])[0]["where"]


def test_saving_makes_a_version_that_is_recorded_and_told_in_words(desk: Desk, kuro: Any) -> None:
    sent = fields(desk.client.get(desk.address + address(DEAR, READ)).content.decode()) | {"default_tool_call": "deny"}
    seen = re.search(r'name="seen" value="(\w+)"', post(desk, sent).content.decode())
    assert seen
    assert post(desk, sent, do="save", seen=seen[1]).status_code == 302
    saved = Policy.objects.get(version=2)
    assert (saved.rules, saved.default_tool_call) == ([DEAR, READ], "deny")
    assert {"rules", "default_tool_call"} <= set(AuditEvent.objects.get(action="policy-changed").data["fields"])
    assert ask(kuro, name="read_file")["disposition"] == "pass"
    assert ask(kuro, name="other")["disposition"] == "reject"
    told = desk.get().partition('id="versions"')[2]
    assert "Rule 1 added" in told
    assert 'Ask a person: mcp__bank__* where /eur is more than 50 and /to is like "DE*" – “money”' in told


def test_a_history_says_what_moved_changed_and_went(desk: Desk, kuro: Any) -> None:
    ruled(kuro, DEAR, READ, NEVER)
    other = {"tool": "other", "do": "score"}
    drafts = [
        ([READ, DEAR, NEVER], ["Rule 1 moved"]),
        ([DEAR | {"do": "deny"}, READ, NEVER], ["Rule 1 changed"]),
        ([DEAR, NEVER], ["Rule 2 removed"]),
        ([DEAR, READ, NEVER, other], ["Rule 4 added"]),
        ([DEAR, other, NEVER], ["Rule 2 changed"]),
        ([DEAR, READ | {"where": {}}, NEVER], []),
    ]
    for draft, said in drafts:
        told = desk.get(address(*draft)).partition('id="would"')[2].partition("</section>")[0]
        assert re.findall(r"Rule \d \w+", told) == said


def decided(caller: Caller, person: Any, verdict: str, **call: Any) -> str:
    held: str = ask(caller, **call)["held"]
    if verdict:
        by_person(person, held, verdict)
    return held


@pytest.mark.usefixtures("undo_at_once")
class TestPreview:
    @pytest.fixture
    def posted(self, kuro: Any, alice: Any) -> None:
        for at in range(4):
            decided(kuro, alice, "approve" if at < 3 else "reject", arguments={"eur": 60 + at, "to": "DE"})
        decided(kuro, alice, "", arguments={"eur": 70, "to": "DE"})
        for _ in range(2):  # asked for again: one call
            decided(kuro, alice, "", name="rm", arguments={})

    def told(self, desk: Desk, *rules: Any) -> str:
        return re.sub(r"\s*<[^>]*>\s*", " | ", desk.get(address(*rules)).partition('id="calls"')[2])

    def test_it_says_what_each_rule_would_have_done_and_what_people_did(self, desk: Desk, posted: None) -> None:
        told = self.told(desk, DEAR, READ)
        assert "6 tool calls of the last 30 days" in told
        assert "would have asked 5 times: people approved 3, rejected 1, 1 still held" in told
        assert "would have decided no call" in told
        assert "would have asked 1 time: 1 still held" in told

    def test_it_compares_the_draft_with_what_is_in_force(self, desk: Desk, posted: None) -> None:
        told = self.told(desk, DEAR | {"do": "allow"})
        assert re.search(r"Held for a person[ |]+6[ |]+1[ |]+−5", told)
        assert re.search(r"Allowed[ |]+0[ |]+5[ |]+\+5", told)
        assert "held → allowed" in " ".join(told.replace("|", " ").split())

    def test_a_shadow_rule_is_counted_and_never_acts(self, desk: Desk, kuro: Any, posted: None) -> None:
        told = self.told(desk, NEVER)
        assert "would have denied 1 time: 1 still held" in told
        assert re.search(r"Denied[ |]+0[ |]+0", told)
        ruled(kuro, NEVER)
        assert ask(kuro, name="rm", arguments={"x": 1})["disposition"] == "hold"

    def test_a_call_that_was_approved_and_posted_again_is_one(self, desk: Desk, kuro: Any, alice: Any) -> None:
        decided(kuro, alice, "approve", call_id="a")
        first = AgentResponse.objects.get()
        assert ask(kuro, call_id="a")["disposition"] == "pass"
        assert "1 tool call of the last 30 days" in self.told(desk, READ)
        AgentResponse.objects.filter(pk=first.pk).update(received_at=timezone.now() - timedelta(days=31))
        told = self.told(desk, READ)
        assert "1 tool call of the last 30 days" in told
        assert "would have asked 1 time: people approved 1" in told

    def test_what_was_erased_is_left_out_and_said(self, desk: Desk, posted: None) -> None:
        first = AgentResponse.objects.order_by("pk")[:1].values("pk")
        AgentResponse.objects.filter(pk__in=list(first.values_list("pk", flat=True))).update(erased_at=timezone.now())
        told = self.told(desk, DEAR)
        assert "5 tool calls of the last 30 days" in told
        assert "1 erased tool call is left out" in told

    def test_it_looks_at_thirty_days(self, desk: Desk, posted: None) -> None:
        AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
        assert "No tool calls in the last 30 days" in self.told(desk, DEAR)

    def test_words_are_counted_without_the_calls(self, desk: Desk, kuro: Any) -> None:
        call = {"kind": "tool_call", "name": "t", "arguments": {"note": "hidden \u202e"}}
        kuro.respond("Hello.", items=[call])
        page = desk.get("?profile=aware")
        assert re.search(r"Responses that trigger</th>\s*<td[^>]*>0</td>\s*<td[^>]*><b>0<", page)

    def test_it_costs_the_same_however_much_there_is(
        self, desk: Desk, kuro: Any, posted: None, django_assert_num_queries: Any
    ) -> None:
        for at in range(3):
            with django_assert_num_queries(16):
                desk.get(address(DEAR))
            ask(kuro, name=f"more{at}")


@pytest.mark.usefixtures("undo_at_once")
class TestSuggestions:
    @pytest.fixture
    def approved(self, kuro: Any, alice: Any) -> list[str]:
        return [decided(kuro, alice, "approve", name="read_file", arguments={"path": f"{at}"}) for at in range(20)]

    def test_one_opens_a_draft_that_is_not_saved(
        self, desk: Desk, kuro: Any, approved: list[str], monkeypatch: Any
    ) -> None:
        ruled(kuro, {"tool": "rm", "do": "deny"})
        page = desk.get()
        told = re.sub(r"<[^>]*>", "", page.partition('id="suggested"')[2])
        read = "read_file where it does only: reads, each path is in the working directory"
        assert f"{read} was approved 20 of 20 times (95% CI from 84" in told
        assert [held in page for held in approved] == [False] * 8 + [True] * 12, "the latest"
        assert "<code>path=19</code>" in page, "the calls themselves"
        (link,) = re.findall(r'href="(\?rules=[^"]*)"', page)
        drafted = json.loads(parse_qs(urlsplit(link).query)["rules"][0])
        only_read = {"effects": {"only": ["read"], "inside": ["."]}}
        assert drafted == [{"tool": "rm", "do": "deny"}, READ | only_read]
        shown = desk.get(link.partition("#")[0])
        assert "would have allowed 20 times: people approved 20" in shown
        assert Policy.objects.count() == 2
        agent_page = desk.client.get(f"/agents/{kuro.id}/").content.decode()
        assert "1 suggested rule" in agent_page
        assert "1 rule, others: Ask a person" in re.sub(r"\s+", " ", agent_page)
        monkeypatch.setattr("reviews.scoring.rule_suggestions.LOOKED_AT", 19)
        assert "read_file was approved" not in re.sub(r"<[^>]*>", "", desk.get())

    def test_a_denial_is_suggested_from_rejections(self, desk: Desk, kuro: Any, alice: Any) -> None:
        for at in range(5):
            decided(kuro, alice, "reject", name="send_mail", arguments={"to": f"p{at}@else.example"})
        assert "send_mail was rejected 5 of 5 times" in re.sub(r"<[^>]*>", "", desk.get())

    def test_what_was_undone_or_demanded_counts_for_nothing(self, desk: Desk, kuro: Any, alice: Any) -> None:
        for at in range(20):
            decided(kuro, alice, "approve", name="read_file", arguments=at, require_review=True)
        assert "stop asking" not in desk.get()

    def test_the_agents_own_rejections_are_not_peoples(self, desk: Desk, kuro: Any) -> None:
        for at in range(6):
            held = ask(kuro, name="rm", arguments=at)["held"]
            decisions.decide(HeldItem.objects.get(public_id=held), Agent.objects.get(), "reject", reason="no")
        assert "deny?" not in desk.get()
