"""How a tool call's arguments are laid out, and what of them is masked."""

from __future__ import annotations

import json
from typing import Any

from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.secret_shapes import is_secret
from metacog.heuristics.tool_calls.secrets import (
    MASK,
    leaves,
    line,
    masked,
    masked_call,
    masked_text,
    restored,
)
from reviews.presentation.arguments import MOST_CODE, MOST_FIELDS, Field, at, code, table
from reviews.presentation.calls.argument_changes import changes
from reviews.presentation.phrases import code as as_html
from reviews.presentation.rule_words import in_words
from tests import tables


def one(name: str, value: Any, **beside: Any) -> Field:
    return table({name: value} | beside)[0]


def test_it_names_the_types_and_keeps_numbers_as_they_are() -> None:
    given: dict[str, Any] = {"eur": 1.5, "id": 2**70, "to": "DE89", "now": True, "memo": None}
    given |= {"tags": ["a", "b"], "who": {"a": 1}, "": []}
    told = [(field.pointer, field.type, str(field.text)) for field in table(given)]
    assert told == [
        ("/eur", "number", "1.5"),
        ("/id", "number", str(2**70)),
        ("/to", "string", "DE89"),
        ("/now", "boolean", "true"),
        ("/memo", "null", "null"),
        ("/tags", "list of 2", '["a", "b"]'),
        ("/who", "object of 1", "None"),
        ("/", "list of 0", "[]"),
    ]
    assert [(field.name, field.type) for field in table([{"a": 1}])] == [("", "list of 1")]
    assert [str(field.text) for field in table({})] == ["{}"]


def test_what_is_nested_folds_where_it_is_large() -> None:
    field = one("a/b", {"x": {f"k{n}": n for n in range(20)}, "y": {"z": [{"deep": "text\nmore"}]}})
    assert not field.is_folded
    assert [(each.pointer, each.is_folded) for each in field.fields] == [("/a~1b/x", True), ("/a~1b/y", False)]
    assert at({"a/b": {"y": 5}}, "/a~1b/y").text, "found by its pointer"
    many = table({"list": [{"n": n} for n in range(MOST_FIELDS + 1)]})[0]
    assert many.block, "a field each would be too many to draw"


@tables.table(
    ("name", "text", "beside", "marked"),
    [
        ("command", "for f in *.log; do rm $f; done", {}, "hl-k"),
        ("sql", "SELECT id FROM orders", {}, "hl-k"),
        ("query", "  with a as (select 1) select * from a", {}, "hl-k"),
        ("query", "how to select a tent", {}, ""),
        ("content", "def f():\n    return 1", {"path": "/x/y.py"}, "hl-k"),
        ("content", "def f():\n    return 1", {}, ""),
        ("text", "#!/usr/bin/env python3\nimport os", {}, "hl-k"),
        ("note", "--- a/x\n+++ b/x\n-old\n+new", {}, 'hl-ins">+new'),
        ("payload", '{"a": [1, true]}', {}, "hl-n"),
        ("note", "just words", {}, ""),
        ("command", "x=1;" * (MOST_CODE // 4 + 1), {}, ""),
    ],
)
def test_code_is_highlighted_where_its_language_is_certain(
    name: str, text: str, beside: dict[str, str], marked: str
) -> None:
    field = one(name, text, **beside)
    page = as_html(field.block) if field.block else ""
    assert (marked in page) if marked else "hl-" not in page


def test_a_command_that_hides_is_seen_and_stays_text() -> None:
    page = as_html(one("command", "ls # \u202erm -rf /\r\n<b>x</b>").block)
    assert "U+202E" in page
    assert "&lt;" in page
    assert "<b>" not in page
    assert as_html(code("\n\nls\r\n", "bash")).count("\n") == 3, "no line break is lost"


@tables.table(
    ("name", "expected"),
    [
        ("password", True), ("db_password", True), ("x-api-key", True), ("githubToken", True), ("Authorization", True),
        ("private_key", True), ("cookie", True), ("AWS_SECRET_ACCESS_KEY", True), ("max_tokens", False),
        ("author", False), ("secretary", False), ("compass", False), ("keyboard", False), ("tokens", False),
    ],
)  # fmt: skip
def test_names_of_secrets(name: str, expected: bool) -> None:
    assert is_secret(name) == expected


@tables.table(
    ("text", "expected"),
    [
        ("use sk-abcdefghijklmnop1234 now", f"use {MASK} now"),
        ("ghp_abcdefghijklmnop1234", MASK),
        ("AKIAABCDEFGHIJKLMNOP", MASK),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", MASK),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", MASK),
        ('curl -H "Authorization: Bearer abcdefgh1234" x', f'curl -H "Authorization: Bearer {MASK}" x'),
        ("DB_PASSWORD=hunter2 ./run", f"DB_PASSWORD={MASK} ./run"),
        ("postgres://me:s3cret@db/x", f"postgres://me:{MASK}@db/x"),
        ('{"credentials": {"user": "me"}}', f'{{"credentials": {{"user": "{MASK}"}}}}'),
        ("token = get_token()", "token = get_token()"),
        ("password = settings.PASSWORD", "password = settings.PASSWORD"),
        ("author: Jane Austen", "author: Jane Austen"),
        ("https://example.com:8080/a@b", "https://example.com:8080/a@b"),
    ],
)
def test_what_looks_like_a_key_is_masked_in_any_text(text: str, expected: str) -> None:
    assert masked_text(text) == expected


def test_secrets_are_masked_however_deep_and_come_back_as_they_were() -> None:
    given = {"auth": {"user": "me", "pin": 1234, "ok": True}, "list": [{"token": "t0p"}], "to": "x", "password": ""}
    hidden = masked(given)
    assert hidden == {
        "auth": {"user": MASK, "pin": MASK, "ok": True}, "list": [{"token": MASK}], "to": "x", "password": "",
    }  # fmt: skip
    assert restored(hidden, given, hidden) == given
    edited = hidden | {"to": "y", "list": [{"token": "new"}]}
    assert restored(edited, given, hidden) == given | {"to": "y", "list": [{"token": "new"}]}
    (field,) = table({"password": "hunter2"})
    assert (str(field.text), field.is_masked) == (MASK, True)
    revealed = at({"password": "hunter2"}, "/password")
    assert (str(revealed.text), revealed.is_masked) == ("hunter2", False)


def test_a_line_names_what_tells_most_and_no_secret_wherever_it_is_cut() -> None:
    arguments = {"note": "n" * 200, "auth": {"password": "hunter2", "n": [1]}, "eur": 5, "a": "\u4e2d\n文"}
    text = "pay " + json.dumps(arguments)
    assert line("pay", text) == f"eur=5 auth.password={MASK} auth.n.0={MASK} a=中 文 note={'n' * 59}…"
    assert all("hunter2" not in line("pay", text[:cut]) for cut in range(len(text)))
    assert [leaf.value for leaf in leaves('["a\\u4e')] == ["a…"]
    assert "hunter2" not in masked_call(text)
    assert secrets.excerpt("chat", None, "<kuro:chat>Hello</kuro:chat>") == "Hello"


def test_changes_name_each_place_once_and_mask() -> None:
    old = {"eur": 100, "who": {"iban": "DE89", "token": "old"}, "text": "one\ntwo\nthree", "gone": 1}
    new = {"eur": 1e2, "who": {"iban": "DE90", "token": "new"}, "text": "one\n2\nthree", "more": [1]}
    found = {change.name: change for change in changes(old, new)}
    assert list(found) == ["who.iban", "who.token", "text", "gone", "more"]
    assert (str(found["who.iban"].old), str(found["who.iban"].new)) == ("DE89", "DE90")
    assert (str(found["who.token"].old), str(found["who.token"].new)) == (MASK, MASK)
    assert str(found["text"].lines) == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    assert found["gone"].new is None
    assert found["more"].old is None


@tables.table(
    ("rule", "expected"),
    [
        ({"tool": "Bash"}, "Bash"),
        ({"tool": "b*", "where": {"/eur": {"gt": 50}}}, "b* where /eur is more than 50"),
        (
            {"tool": "b", "where": {"/eur": {"ge": 1, "lt": 9}, "/to": {"exists": False}}},
            "b where /eur is at least 1 and /eur is less than 9 and /to does not exist",
        ),
        ({"tool": "b", "where": {"/day": {"lt": "2026-01-01"}}}, 'b where /day comes before "2026-01-01"'),
        ({"tool": "b", "where": {"/c": {"in": [*range(7)]}}}, "b where /c is one of 0, 1, 2, 3, 4, 2 more"),
        ({"tool": "b", "where": {"": {"regex": "rm -rf"}}}, "b where the whole of the arguments matches rm -rf"),
    ],
)
def test_a_rule_in_words(rule: dict[str, Any], expected: str) -> None:
    assert in_words(rule) == expected
