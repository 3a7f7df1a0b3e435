"""What is masked of texts, JSON, calls, schemas and verdicts; what comes back of an edit; and a call on one line."""

from __future__ import annotations

import json
from typing import Any

from metacog.heuristics.tool_calls.secrets import (
    MASK,
    excerpt,
    is_mask_left,
    is_secret_at,
    leaves,
    line,
    mask,
    mask_item,
    masked,
    masked_body,
    masked_call,
    masked_effects,
    masked_errors,
    masked_hesitation,
    masked_schema,
    masked_text,
    masked_verdict,
    masked_words,
    restored,
    restored_text,
)
from tests.tables import table

KEY = "mck_aB3dE5gH7jK9mN1pQ3sT5vW7"


@table(
    ("text", "shown"),
    [
        ("nothing here", "nothing here"),
        (f"with {KEY}, and {KEY}.", f"with {MASK}, and {MASK}."),
        ('{"password": "a", "n": 1, "pin": 7}', f'{{"password": "{MASK}", "n": 1, "pin": "{MASK}"}}'),
        ('{"password": "", "pin": null, "token": true, "secret": false}', None),
        (f'["x {KEY}", "--password", "a b", "c"]', f'["x {MASK}", "--password", "{MASK}", "c"]'),
        ('{"n": {"password": {"old": "a", "new": ["b"]}}}',
         f'{{"n": {{"password": {{"old": "{MASK}", "new": ["{MASK}"]}}}}}}'),
        (f'{{"x": "{KEY}"}}', f'{{"x": "{MASK}"}}'),
        ('{"x": "' + KEY + '"', '{"x": "' + MASK + '"'),  # no JSON, and a secret all the same
        ("[" * 5_000, None),
        (f"{KEY}, redis://:{KEY}!x@h or redis://:x!{KEY}@h, {KEY}",
         f"{MASK}, redis://:{MASK}@h or redis://:{MASK}@h, {MASK}"),
        ('["\\u5bc6 密 ' + KEY + '"]', f'["密 密 {MASK}"]'),
        ('{"p\\u0061ss": "a b"}', f'{{"p\\u0061ss": "{MASK}"}}'),
        ('{"c": ["--password", "a b"]}', f'{{"c": ["--password", "{MASK}"]}}'),
        # What an escape ends with is no part of a word, be it read as JSON or not.
        (f'{{"x\\n{KEY}": "x\\n{KEY}"}}', f'{{"x\\n{MASK}": "x\\n{MASK}"}}'),
        (f'{{"a": "x\\n{KEY}"}}\n{{"a": "x\\u000a{KEY}", "b": "\\npin=1234\\n[1]"}}',
         f'{{"a": "x\\n{MASK}"}}\n{{"a": "x\\u000a{MASK}", "b": "\\npin={MASK}[1]"}}'),
        (f"a%0A{KEY}&b=%3D{KEY}", f"a%0A{MASK}&b=%3D{MASK}"),
        # Nor is a terminal's color, nor the letter of an option.
        (f"\x1b[31m{KEY}\x1b[0m \\x1b[1;32m{KEY} \\u001b[m{KEY}",
         f"\x1b[31m{MASK}\x1b[0m \\x1b[1;32m{MASK} \\u001b[m{MASK}"),
        (f"login -p{KEY}; x-p{KEY}", f"login -p{MASK}; x-p{KEY}"),
        ("pg://u:a/bX+c@h pg:\\/\\/u:pw@h\\/db http://h:80/x@y", f"pg://u:{MASK}@h pg:\\/\\/u:{MASK}@h\\/db http://h:80/x@y"),
        ("Authorization%3A%20Bearer%20abc123def456", f"Authorization%3A%20Bearer%20{MASK}"),
        # A secret that goes on into one of JSON: a key of 43 characters would have none behind it.
        (f'{{"{KEY}/":{{"pin":7}}}}', f'{{"{MASK}/":{{"pin":"{MASK}"}}}}'),
    ],
)  # fmt: skip
def test_a_text_is_masked(text: str, shown: str | None) -> None:
    assert masked_text(text) == (text if shown is None else shown)


def test_of_a_text_that_is_cut_off_the_end_is_masked_too() -> None:
    half = KEY[:9]
    assert (masked_text(f"x {half}"), masked_text(f"x {half}", is_cut=True)) == (f"x {half}", f"x {MASK}")


@table(
    ("place", "moved"),
    [
        ((0, 4), (0, 4)),  # before it
        ((0, 5), (0, 5)),
        ((34, 37), (14, 17)),  # "and" after it
        ((0, 37), (0, 17)),  # around it
        ((7, 12), (5, 13)),  # within: all of the mask
        ((2, 12), (2, 13)),
        ((7, 37), (5, 17)),
        ((5, 33), (5, 13)),
        ((33, 99), (13, 79)),
    ],
)
def test_a_place_in_a_text_is_found_in_the_masked_one(place: tuple[int, int], moved: tuple[int, int]) -> None:
    text = mask(f"with {KEY} and")
    assert text.text == f"with {MASK} and"
    assert tuple(text.moved(*place)) == moved


def test_a_place_behind_two_secrets_is_moved_by_both() -> None:
    text = f"{KEY} and {KEY} then"
    assert mask(text).moved(text.index("then"), len(text)) == (
        len(f"{MASK} and {MASK} "),
        len(f"{MASK} and {MASK} then"),
    )


@table(
    ("value", "shown"),
    [
        ({"password": "a", "user": "b"}, {"password": MASK, "user": "b"}),
        ({"password": 7, "pin": 0}, {"password": MASK, "pin": MASK}),
        ({"password": None, "token": "", "pin": True, "secret": False}, None),
        ({"password": [{"a": "x"}, "y", None]}, {"password": [{"a": MASK}, MASK, None]}),
        (["--password", "x", "y"], ["--password", MASK, "y"]),
        (["x", "--password"], None),
        (["x", "--token", {"a": "b"}, 1], ["x", "--token", {"a": MASK}, 1]),
        ([f"{KEY}!", 1.5, None], [f"{MASK}!", 1.5, None]),
        ({KEY: 1, f"{KEY}x": 2}, {MASK: 1, MASK + MASK[0]: 2}),
        ("x", None),
        (7, None),
    ],
)
def test_json_is_masked(value: Any, shown: Any) -> None:
    assert masked(value) == (value if shown is None else shown)


@table(
    ("words", "shown"),
    [
        (["curl", "-u", "admin:hunter2", "https://x"], ["curl", "-u", MASK, "https://x"]),
        (["curl", "-uadmin:hunter2"], ["curl", f"-uadmin:{MASK}"]),  # a word tells it alone
        (["mysql", "-h", "db", "-phunter2"], ["mysql", "-h", "db", MASK]),
        (["sshpass", "-p", "hunter2", "ssh", "x"], ["sshpass", "-p", MASK, "ssh", "x"]),
        (["sh", "-c", "sshpass -p hunter2 ssh x"], ["sh", "-c", f"sshpass -p {MASK} ssh x"]),
        (["curl", "-H", "Authorization:", "Bearer abc123def456"], ["curl", "-H", "Authorization:", f"Bearer {MASK}"]),
        (["-----BEGIN PRIVATE KEY-----", "MIIE", {"a": 1}, "x"], [MASK, MASK, {"a": 1}, MASK]),
        (["ls", "-a", "hunter2", 3, None], ["ls", "-a", "hunter2", 3, None]),
    ],
)
def test_a_command_that_is_a_list_is_masked_as_a_shell_reads_it(words: list[Any], shown: list[Any]) -> None:
    assert masked({"c": words}) == {"c": shown}
    for told in (masked_text(json.dumps({"c": words})), line("run", json.dumps({"c": words}))):
        assert ("hunter2" in told) == ("hunter2" in shown)
    assert [is_secret_at(words, [str(at)]) for at in range(len(words))] == [
        word != told for word, told in zip(words, shown, strict=True)
    ]
    assert restored({"c": shown}, {"c": words}, {"c": shown}) == {"c": words}


@table(
    ("came", "original", "wanted"),
    [
        ({"password": MASK, "to": "bob"}, {"password": "a", "to": "al"}, {"password": "a", "to": "bob"}),
        ({"password": "new"}, {"password": "a"}, None),
        ({"x": {"password": MASK}, "y": 1}, {"x": {"password": "a"}, "y": 0}, {"x": {"password": "a"}, "y": 1}),
        ([{"password": MASK}, 2], [{"password": "a"}, 1], [{"password": "a"}, 2]),
        ([{"password": MASK}], [{"password": "a"}, {"password": "b"}], None),  # whose it is nobody knows
        ([{"password": MASK}, 1], [{"password": "a"}, {"password": "a"}], [{"password": "a"}, 1]),
        ({"password": MASK}, {"pin": "a"}, None),
        (MASK, {"password": "a"}, None),
        (f"use {MASK}", f"use {KEY}", f"use {KEY}"),
        ([f"use {MASK}", "x"], [f"use {KEY}"], [f"use {KEY}", "x"]),
        ({"a": 1, "b": [1]}, {"a": [1], "b": {"c": 1}}, None),
    ],
)
def test_what_was_masked_is_put_back_into_an_edit(came: Any, original: Any, wanted: Any) -> None:
    assert restored(came, original, masked(original)) == (came if wanted is None else wanted)


@table(
    ("came", "original", "wanted"),
    [
        (f"use {MASK}", f"use {KEY}", f"use {KEY}"),
        (f"do use {MASK}!", f"use {KEY}", f"do use {KEY}!"),
        (f"{MASK} {MASK}", f"use {KEY}", None),
        (f"use {MASK}", f"use {KEY} or {KEY}", None),
        (f"use {MASK} or {MASK}", f"use {KEY} or {KEY}", f"use {KEY} or {KEY}"),
        (f"use {MASK}, was", f"use {KEY}, {MASK}", None),
        ("use none", f"use {KEY}", None),
    ],
)
def test_the_one_secret_of_a_text_is_put_back(came: str, original: str, wanted: str | None) -> None:
    assert restored_text(came, original) == (came if wanted is None else wanted)


@table(
    ("value", "original", "is_left"),
    [
        ({"a": MASK}, {"a": "x"}, True),
        ({"a": [{"b": f"x {MASK}"}]}, {}, True),
        ({MASK: 1}, {}, True),
        ({"a": MASK}, {"b": MASK}, False),  # it was there before
        ({"a": 1}, {}, False),
        (MASK, "x", True),
    ],
)
def test_a_mask_that_is_left_is_known(value: Any, original: Any, is_left: bool) -> None:
    assert is_mask_left(value, original) is is_left


@table(
    ("text", "shown"),
    [
        ('pay {"password":"a","to":"b"}', f'pay {{"password":"{MASK}","to":"b"}}'),
        ('pay now {"password":"a"}', f'pay now {{"password":"{MASK}"}}'),
        (f"pay {KEY}", f"pay {MASK}"),
        ('pay it now {"password":{"x":"a b"}}', f'pay it now {{"password":{{"x":"{MASK}"}}}}'),
        ('pay {"password":{"x":"a b"}}', f'pay {{"password":{{"x":"{MASK}"}}}}'),
        ('pay "x"', 'pay "x"'),  # arguments may be any JSON
        ('pay "x {"password":{"x":"a b"}}', f'pay "x {{"password":{{"x":"{MASK}"}}}}'),
        ("pay", "pay"),
        ("", ""),
        # A tool has no longer name.
        (f'{"x" * 255} {{"password":{{"x":"a"}}}}', f'{"x" * 255} {{"password":{{"x":"{MASK}"}}}}'),
        (f'{"x" * 256} {{"password":{{"x":"a"}}}}', f'{"x" * 256} {{"password":{{"x":"a"}}}}'),
    ],
)
def test_a_call_is_masked_with_its_name(text: str, shown: str) -> None:
    assert masked_call(text) == shown


def test_an_item_is_masked_as_what_it_is() -> None:
    assert mask_item(f"x {KEY}", None, None).text == f"x {MASK}"
    assert (
        mask_item("", "pay", {"to": "b", "password": {"x": "a b"}}).text
        == f'pay {{"password":{{"x":"{MASK}"}},"to":"b"}}'
    )


def test_of_a_schema_what_a_secret_may_be_is_masked() -> None:
    schema = {
        "properties": {
            "password": {"type": "string", "default": "a", "enum": ["a", "b"], "example": "a"},
            "to": {"default": "c"},
        },
        "required": ["password"],
        "examples": [{"password": "a"}],
        "description": f"like {KEY}",
        "anyOf": [{"const": "x"}],
    }
    assert masked_schema(schema) == {
        "properties": {
            "password": {"type": "string", "default": MASK, "enum": [MASK, MASK], "example": MASK},
            "to": {"default": "c"},
        },
        "required": ["password"],
        "examples": [{"password": MASK}],
        "description": f"like {MASK}",
        "anyOf": [{"const": "x"}],
    }
    either = {"properties": {"password": {"anyOf": [{"const": "x"}, {"items": {"default": "y"}}]}}, "const": "z"}
    assert masked_schema(either) == {
        "properties": {"password": {"anyOf": [{"const": MASK}, {"items": {"default": MASK}}]}},
        "const": "z",
    }


def test_of_a_body_texts_and_arguments_are_masked_and_schemas_as_schemas() -> None:
    call = {"name": "pay", "arguments": {"password": "a"}, "schema": {"properties": {"password": {"type": "string"}}}}
    body = {"response": f"x {KEY}", "items": [call, {"kind": "chat", "text": "y"}]}
    assert masked_body(body) == {
        "response": f"x {MASK}",
        "items": [{**call, "arguments": {"password": MASK}}, {"kind": "chat", "text": "y"}],
    }
    assert masked_body({"response": "x"}) == {"response": "x"}


def span(text: str, part: str, **more: Any) -> dict[str, Any]:
    start = text.index(part)
    return {"start": start, "end": start + len(part), "text": part, **more}


def test_spans_of_a_verdict_are_places_in_the_masked_texts() -> None:
    response, asked, own = f"{KEY} is clearly it", f"Is {KEY} sure?", f"{KEY} is never it"
    body = {"response": response, "user_message": asked, "items": [{"text": own}, {"name": "pay", "arguments": [KEY]}]}
    call = f'pay ["{KEY}"]'
    signals = [
        {"type": "absolute-claim", "spans": [
            span(response, "clearly"), span(own, "never", item=0), span(call, "]", item=1), span("", "", item=7),
        ]},
    ]  # fmt: skip
    details = [{"flag": "question-unanswered", "spans": [span(asked, "sure", **{"in": "user_message"})]}]
    verdict = {
        "hesitation": {"signals": signals},
        "quality": {"details": details},
        "items": [{"hesitation": {"signals": signals}}, {"text": own, "hesitation": None}],
    }
    shown = masked_verdict(verdict, body)
    for part in (shown, shown["items"][0]):
        assert part["hesitation"]["signals"][0]["spans"] == [
            span(f"{MASK} is clearly it", "clearly"),
            span(f"{MASK} is never it", "never", item=0),
            span(f'pay ["{MASK}"]', "]", item=1),
            span("", "", item=7),
        ]
    assert shown["quality"]["details"][0]["spans"] == [span(f"Is {MASK} sure?", "sure", **{"in": "user_message"})]
    assert shown["items"][1] == {"text": f"{MASK} is never it", "hesitation": None}
    assert masked_verdict({"hesitation": None, "quality": None, "items": []}, {"response": ""})["items"] == []


def test_spans_of_a_tagged_item_are_places_in_its_own_text() -> None:
    inner = f"{KEY} is never it"
    signals = [{"type": "x", "spans": [span(inner, "never", item=0)]}]
    verdict = {"hesitation": {"signals": signals}, "quality": None, "items": []}
    for response in (f"<kuro:chat>{inner}</kuro:chat>", inner):
        told = masked_verdict(verdict, {"response": response})["hesitation"]["signals"][0]["spans"]
        assert told == [span(f"{MASK} is never it", "never", item=0)]


def test_a_hesitation_about_one_text_has_its_places_there() -> None:
    text = f"{KEY} is clearly it"
    told = {"score": 20, "signals": [{"type": "x", "detail": f"as {KEY}", "spans": [span(text, "clearly")]}]}
    shown = masked_hesitation(told, mask(text))
    assert shown["signals"] == [
        {"type": "x", "detail": f"as {MASK}", "spans": [span(f"{MASK} is clearly it", "clearly")]}
    ]
    assert masked_hesitation(None, mask(text)) is None
    part = {"signals": [{"type": "x", "detail": "", "spans": [span(text, f"{KEY[9:]} is")]}]}
    assert masked_hesitation(part, mask(text))["signals"][0]["spans"] == [span(f"{MASK} is clearly it", f"{MASK} is")]
    assert masked_hesitation(part, mask("erased"))["signals"][0]["spans"][0]["text"] == f"{KEY[9:]} is"
    whole = {"signals": [{"type": "x", "detail": "", "spans": [span(text, KEY)]}]}
    assert masked_hesitation(whole, mask("erased"))["signals"][0]["spans"][0]["text"] == MASK


def test_a_thread_of_a_verdict_is_masked_in_its_spans_and_in_a_slug_of_a_former_release() -> None:
    response = f"We rotate {KEY} today"
    verdict = {"hesitation": None, "quality": None, "items": [], "threads": [
        {"thread": "rotate-mck-ab3de5gh7jk9mn1pq3st5vw7", "reason": KEY, "spans": [span(response, "today")]},
        {"thread": "rotate-keys", "reason": None, "spans": []},
    ]}  # fmt: skip
    first, second = masked_verdict(verdict, {"response": response, "session": "密 "})["threads"]
    assert first == {"thread": f"rotate-{MASK}", "reason": MASK, "spans": [span(f"We rotate {MASK} today", "today")]}
    assert second == verdict["threads"][1]


@table(
    ("words", "shown"),
    [
        ("clearly", "clearly"),
        (f"trust {KEY[:9]}", f"trust {MASK}"),  # ends within one
        (f"{KEY[9:]} is", f"{MASK} is"),  # begins within one
        (KEY[5:9], MASK),
        (f"stands elsewhere {KEY[:9]}", f"stands elsewhere {MASK}"),  # and may be cut
        ("stands elsewhere", "stands elsewhere"),
        (KEY, MASK),
    ],
)
def test_words_of_a_text_tell_no_half_of_a_secret(words: str, shown: str) -> None:
    assert masked_words(words, f"I trust {KEY} is clearly it.") == shown


def test_words_at_the_start_and_words_that_come_twice_tell_none_either() -> None:
    assert masked_words(KEY[:9], f"{KEY} it is") == MASK
    assert masked_words(KEY[5:9], f"it is {KEY}, {KEY[5:9]}") == MASK


def test_effects_of_a_call_are_masked_at_their_places() -> None:
    command = f"curl {KEY} /srv/x"
    arguments = {"command": command, "password": "abc", "list": ["--token", "xyz", "plain"]}
    effects: list[dict[str, Any]] = [
        {"effect": "write", "object": "/srv/x", "argument": "/command", "start": 34, "end": len(command)},
        {"effect": "send", "object": "abc and xyz", "argument": "/password", "start": 0, "end": 3},
        {"effect": "read", "object": None, "argument": "/nowhere", "start": None, "end": None},
    ]
    first, second, third = masked_effects(effects, arguments)
    shown = f"curl {MASK} /srv/x"
    assert first == {**effects[0], "start": shown.index("/srv"), "end": len(shown)}
    assert second == {**effects[1], "object": f"{MASK} and {MASK}", "start": 0, "end": len(MASK)}
    assert third == effects[2]
    unread = {"effect": "unknown", "object": None, "argument": "/command", "start": None, "end": None}
    assert masked_effects([unread], arguments) == [unread]
    item = {"hesitation": None, "effects": effects, "arguments": arguments}
    body = {"response": "", "items": [{"name": "x", "arguments": arguments}]}
    told = masked_verdict({"hesitation": None, "quality": None, "items": [item]}, body)["items"][0]
    assert told["effects"] == [first, second, third]
    places = [["password"], ["command"], ["list", "1"], ["list", "2"], ["list", "3"], ["nowhere"]]
    assert [is_secret_at(arguments, place) for place in places] == [True, True, True, False, False, False]


def test_an_object_is_masked_where_it_is_a_secret_or_holds_one() -> None:
    command = "curl -u bob:hunter2 x"
    arguments = {"command": command, "password": "bcd", "token": "abcde", "pin": ""}
    places = [("hunter2", 12, 19), ("unter", 13, 18), ("bob:", 8, 12), (" x", 19, 21), ("abcde", None, None)]
    told = masked_effects(
        [{"effect": "send", "object": o, "argument": "/command", "start": a, "end": b} for o, a, b in places], arguments
    )
    assert [each["object"] for each in told] == [MASK, MASK, "bob:", " x", MASK]
    told = masked_effects(
        [{"effect": "send", "object": "x", "argument": "/command", "start": 20, "end": 21}], {"command": "x", "pin": ""}
    )
    assert told[0]["object"] == "x"


def test_what_a_schema_says_of_a_secret_quotes_none() -> None:
    told = [
        {"pointer": "/a/password/0", "detail": "'hunter2' is too short"},
        {"pointer": "/to", "detail": f"'{KEY}' is too long"},
    ]
    assert masked_errors(told) == [
        {"pointer": "/a/password/0", "detail": "does not meet the schema"},
        {"pointer": "/to", "detail": f"'{MASK}' is too long"},
    ]


@table(
    ("text", "found"),
    [
        ('{"a": "x", "b": [1, {"c": null}], "d": {}}', [("a", "x"), ("b.0", "1"), ("b.1.c", "null"), ("d", "{}")]),
        ('["a", ["b"], "c"]', [("0", "a"), ("1.0", "b"), ("2", "c")]),
        ('{"a": "x\\"y", "b": true}', [("a", 'x"y'), ("b", "true")]),
        ('"x"', [("", "x")]),
        ('{"e": [], "f": 1}', [("e", "[]"), ("f", "1")]),
        # Cut off.
        ('{"a": "hello wor', [("a", "hello wor…")]),
        ('{"a": "hello\\u00', [("a", "hello…")]),
        ('{"a": "hello\\', [("a", "hello…")]),
        ('{"a": "', [("a", "…")]),
        ('{"a": 12', [("a", "12")]),
        ('{"a', []),
        ("", []),
        ("}]", []),
    ],
)
def test_leaves_have_the_way_to_them(text: str, found: list[tuple[str, str]]) -> None:
    told = list(leaves(text))
    assert [(leaf.name, leaf.value) for leaf in told] == found
    assert [".".join(map(str, leaf.path)) for leaf in told] == [name for name, _ in found]
    assert [(leaf.is_text, leaf.is_secret) for leaf in told] == [(text[leaf.start] == '"', False) for leaf in told]
    for leaf in told:
        if "…" not in leaf.value:
            assert (
                str(json.loads(text[leaf.start : leaf.end]) if text[leaf.start] == '"' else text[leaf.start : leaf.end])
                == leaf.value
            )


@table(
    ("text", "shown"),
    [
        ('{"a": 1, "command": "ls -l"}', "command=ls -l a=1"),
        ('pay {"to": "bob", "note": "' + "x" * 61 + '", "eur": 5}', "to=bob eur=5 note=" + "x" * 59 + "…"),
        ('{"note": "' + "x" * 61 + '", "a": "' + "y" * 60 + '"}', "a=" + "y" * 60 + " note=" + "x" * 59 + "…"),
        ('{"query": "' + "x" * 161 + '"}', "query=" + "x" * 159 + "…"),
        ('{"query": "' + "x" * 160 + '"}', "query=" + "x" * 160),
        ('{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}', "a=1 b=2 c=3 d=4 e=5 f=6"),
        ('{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}', "a=1 b=2 c=3 d=4 e=5 f=6 …"),
        ('{"password": "x", "token": null, "to": "a  b\\n c"}', f"to=a b c password={MASK} token=null"),
        ('{"to": "' + KEY + '"}', f"to={MASK}"),
        ('{"b": 1, "x": {"Path": "/a"}}', "x.Path=/a b=1"),
        ('{"a": 1, "b": "' + "x" * 58 + ' yy"}', "a=1 b=" + "x" * 58 + "…"),
        ('{"a": 1, "b": "' + "x" * 58 + '…yy"}', "a=1 b=" + "x" * 58 + "…"),
        ('{"to": "use ' + KEY[:9], f"to=use {MASK}…"),
        ('"x"', "x"),
        (f'{{"x.{KEY}": {{"y": 1}}, "t=abcd1": 2}}', f"x.{MASK}.y=1 t=abcd1=2"),
        ('{"pin=abcd1": 1}', f"pin={MASK}=1"),
        ('{"to": "bob and al', "to=bob and al…"),
        ("{}", ""),
        ("[]", ""),
    ],
)
def test_a_call_is_one_line(text: str, shown: str) -> None:
    assert line("pay", text) == shown


@table(
    ("kind", "name", "text", "shown"),
    [
        ("tool_call", "pay", '{"to": "bob"}', "pay to=bob"),
        ("chat", None, f"It is {KEY}.", f"It is {MASK}."),
        ("chat", None, f"It is {KEY[:9]}", f"It is {MASK}"),
        ("tool_call", None, "x", "x"),
        ("chat", "pay", '{"to": "bob"}', '{"to": "bob"}'),
    ],
)
def test_an_item_says_what_it_is(kind: str, name: str | None, text: str, shown: str) -> None:
    assert excerpt(kind, name, text) == shown
