"""Every malformed body: a 4xx that says what is wrong, the same on both databases, and never a row."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from metacog.models import AuditEvent
from reviews.models import AgentResponse, HeldItem
from tests.tables import table

pytestmark = pytest.mark.django_db

R = '"response": "x"'


def nested(depth: int) -> str:
    return '{"response": "x", "topics": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


# (name, body, status, pointer). Whoever adds a field adds its defects here.
MALFORMED = [
    ("empty", "", 400, None),
    ("not JSON", "hello", 400, None),
    ("cut off", '{"response": "x', 400, None),
    ("two values", "{} {}", 400, None),
    ("trailing comma", "{%s,}" % R, 400, None),
    ("single quotes", "{'response': 'x'}", 400, None),
    ("NaN", '{%s, "context_used": NaN}' % R, 400, None),
    ("Infinity", '{%s, "context_used": -Infinity}' % R, 400, None),
    ("overflow", '{%s, "context_used": 1e999}' % R, 400, None),
    ("endless integer", '{%s, "cycle": %s}' % (R, "9" * 10_000), 400, None),
    ("byte order mark", b"\xef\xbb\xbf{}", 400, None),
    ("UTF-16", "{}".encode("utf-16"), 400, None),
    ("not UTF-8", b'{"response": "\xff"}', 400, None),
    ("overlong UTF-8", b'{"response": "\xc0\x80"}', 400, None),
    ("encoded surrogate", b'{"response": "\xed\xa0\x80"}', 400, None),
    ("raw control character", '{"response": "a\x01b"}', 400, None),
    ("a list", "[]", 422, ""),
    ("a string", '"x"', 422, ""),
    ("null", "null", 422, ""),
    ("a number", "1", 422, ""),
    ("no response", "{}", 422, "/response"),
    ("response is null", '{"response": null}', 422, "/response"),
    ("response is a number", '{"response": 1}', 422, "/response"),
    ("response is a list", '{"response": ["x"]}', 422, "/response"),
    ("NUL", '{"response": "a\\u0000b"}', 422, "/response"),
    ("NUL in a key", '{%s, "a\\u0000": 1}' % R, 422, None),
    ("NUL in an attribute", '{%s, "items": [{"kind":"chat","text":"x","attributes":{"a":"\\u0000"}}]}' % R, 422, None),
    ("lone high surrogate", '{"response": "\\ud800"}', 422, "/response"),
    ("lone low surrogate", '{"response": "\\udc00x"}', 422, "/response"),
    ("duplicate keys", '{"response": "x", "response": "y"}', 422, "/response"),
    ("duplicate keys deep down", '{%s, "tests": {"passed": 1, "passed": 2}}' % R, 422, "/tests/passed"),
    ("depth 33", nested(33), 422, None),
    ("depth 100,000", nested(100_000), 422, None),
    ("depth of objects", '{"a":' * 50_000 + "1" + "}" * 50_000, 422, None),
    ("unknown field", '{%s, "score": 0}' % R, 422, "/score"),
    ("257 items", json.dumps({"response": "x", "items": [{"kind": "chat", "text": "x"}] * 257}), 422, "/items"),
    ("items is an object", '{%s, "items": {}}' % R, 422, "/items"),
    ("item without kind", '{%s, "items": [{"text": "x"}]}' % R, 422, "/items/0/kind"),
    ("item without text", '{%s, "items": [{"kind": "chat"}]}' % R, 422, "/items/0/text"),
    ("item with a disposition", '{%s, "items": [{"kind":"chat","text":"x","disposition":"pass"}]}' % R, 422, None),
    ("empty kind", '{%s, "items": [{"kind": "", "text": "x"}]}' % R, 422, "/items/0/kind"),
    ("attributes are a list", '{%s, "items": [{"kind":"chat","text":"x","attributes":[]}]}' % R, 422, None),
    ("cycle is a string", '{%s, "cycle": "1"}' % R, 422, "/cycle"),
    ("cycle is no whole number", '{%s, "cycle": 42.5}' % R, 422, "/cycle"),
    ("cycle is a double too large to be whole", '{%s, "cycle": 9007199254740993.0}' % R, 422, "/cycle"),
    ("cycle is 1e300", '{%s, "cycle": 1e300}' % R, 422, "/cycle"),
    ("cycle is true", '{%s, "cycle": true}' % R, 422, "/cycle"),
    ("cycle is negative", '{%s, "cycle": -1}' % R, 422, "/cycle"),
    ("cycle beyond 63 bits", '{%s, "cycle": 9223372036854775808}' % R, 422, "/cycle"),
    ("long session", json.dumps({"response": "x", "session": "s" * 256}), 422, "/session"),
    ("long mode", json.dumps({"response": "x", "mode": "s" * 256}), 422, "/mode"),
    ("empty id", '{%s, "id": ""}' % R, 422, "/id"),
    ("id with a space", '{%s, "id": "a b"}' % R, 422, "/id"),
    ("id beyond ASCII", '{%s, "id": "é"}' % R, 422, "/id"),
    ("id of 256", json.dumps({"response": "x", "id": "i" * 256}), 422, "/id"),
    ("time without zone", '{%s, "occurred_at": "2026-02-16T08:00:00"}' % R, 422, "/occurred_at"),
    ("no time", '{%s, "last_commit_at": "yesterday"}' % R, 422, "/last_commit_at"),
    ("share above one", '{%s, "context_used": 1.01}' % R, 422, "/context_used"),
    ("unknown outcome", '{%s, "outcome": "won"}' % R, 422, "/outcome"),
    ("held item that is none", '{%s, "replies_to_held": "held_x"}' % R, 422, "/replies_to_held"),
]


@table(("body", "status", "pointer"), [case[1:] for case in MALFORMED])
def test_it_says_what_is_wrong_and_writes_nothing(kuro: Any, body: Any, status: int, pointer: str) -> None:
    before = AuditEvent.objects.count()
    answer = kuro.post("/responses", body)
    problem = answer.json()
    assert answer.status_code == status, problem
    assert answer["Content-Type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["detail"]
    if pointer is not None:
        assert pointer in [error["pointer"] for error in problem["errors"]]
    assert AgentResponse.objects.count() == HeldItem.objects.count() == 0
    assert AuditEvent.objects.count() == before


WELL_FORMED = [
    ("depth 32", '{%s, "items": [{"kind":"chat","text":"","attributes":{"a":%s}}]}' % (R, "[" * 28 + "]" * 28)),
    ("256 items", json.dumps({"response": "x", "items": [{"kind": "chat", "text": "x"}] * 256})),
    ("an astral pair", '{"response": "\\ud83d\\ude00"}'),
    ("session of 255", json.dumps({"response": "x", "session": "𠀀" * 255})),
    ("largest cycle", '{%s, "cycle": 9223372036854775807}' % R),
    (
        "every field null",
        json.dumps(
            dict.fromkeys(
                [
                    "id",
                    "items",
                    "user_message",
                    "session",
                    "cycle",
                    "mode",
                    "action",
                    "topics",
                    "thread",
                    "problem",
                    "approach",
                    "errors",
                    "command",
                    "command_output",
                    "command_failed",
                    "outcome",
                    "context_used",
                    "tests",
                    "last_commit_at",
                    "retrieval",
                    "replies_to_held",
                    "occurred_at",
                ]
            )
            | {"response": "x"}
        ),
    ),
    ("a script", json.dumps({"response": "<script>alert(1)</script>'; DROP TABLE x; --\u202e\u200b"})),
]


@table("body", [case[1] for case in WELL_FORMED], rolled_back=True)
def test_it_takes_what_stands_at_the_edge(kuro: Any, body: Any) -> None:
    assert kuro.post("/responses", body).status_code == 201


@table(
    ("path", "body", "pointer"),
    [
        ("decision", '{"verdict": "maybe", "reason": "x"}', "/verdict"),
        ("decision", '{"reason": "x"}', "/verdict"),
        ("decision", '{"verdict": "approve"}', "/reason"),
        ("decision", '{"verdict": "approve", "reason": " \u200b\u2060"}', "/reason"),
        ("decision", '{"verdict": "edit", "reason": "x"}', "/text"),
        ("decision", '{"verdict": "reject", "reason": "x", "text": "y"}', "/text"),
        ("decision", '{"verdict": "reject", "reason": "x", "version": "1"}', "/version"),
        ("decision", '{"verdict": "reject", "reason": "x", "by": "person"}', "/by"),
        ("decision", '{"verdict": "reject", "reason": "a\\u0000"}', "/reason"),
        ("decision", '{"verdict": "reject", "verdict": "approve", "reason": ""}', "/verdict"),
    ],
    rolled_back=True,
)
def test_it_says_what_is_wrong_with_a_decision(kuro: Any, path: str, body: Any, pointer: str) -> None:
    held = kuro.hold()
    answer = kuro.post(f"/held/{held}/{path}", body)
    assert answer.status_code == 422, answer.content
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]
    assert HeldItem.objects.get().state == "pending"


@table(
    "path",
    [
        "/held?state=unheard",
        "/held?limit=0",
        "/held?limit=x",
        "/held?after=held_none",
        "/decisions?after=-1",
        "/decisions?after=x",
        "/decisions?after=99999999999999999999",
        "/held?after=%00",
        "/decisions?after=1e3",
    ],
    rolled_back=True,
)
def test_it_says_what_is_wrong_with_a_query(kuro: Any, path: str) -> None:
    answer = kuro.get(path)
    assert answer.status_code == 422, answer.content
    assert answer["Content-Type"] == "application/problem+json"


@table(
    ("path", "said"),
    [
        ("/held?state=unheard", "/query/state: must be 'pending', 'approved', "),
        ("/held?limit=0", "/query/limit: must be 1 or more"),
        ("/held?limit=101", "/query/limit: must be 100 or less"),
        ("/decisions?after=x", "/query/after: must be a whole number"),
    ],
    rolled_back=True,
)
def test_it_speaks_of_a_query_as_of_a_body(kuro: Any, path: str, said: str) -> None:
    assert kuro.get(path).json()["detail"].startswith(said)


@table(("path", "field"), [("/memory", "text"), ("/threads", "title"), ("/research", "verdict")], rolled_back=True)
def test_it_says_that_a_text_must_not_be_empty(kuro: Any, path: str, field: str) -> None:
    answer = kuro.post(path, {field: ""})
    assert answer.json()["errors"] == [{"pointer": f"/{field}", "detail": "must be at least 1 character(s) long"}]


@table(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/responses", 405),
        ("DELETE", "/held", 405),
        ("GET", "/held/held_%00", 404),
        ("GET", "/held/" + "x" * 2000, 404),
        ("POST", "/held/none/decision", 404),
        ("GET", "/", 404),
    ],
    rolled_back=True,
)
def test_every_other_error_is_a_problem_document_too(kuro: Any, method: str, path: str, status: int) -> None:
    body = {"verdict": "reject", "reason": "x"} if method == "POST" else None
    answer = kuro.call(method, path, body)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"


def test_a_host_that_is_not_ours_is_refused(kuro: Any) -> None:
    answer = kuro.get("/held", host="elsewhere.example")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_no_call_wants_the_token_of_a_form() -> None:
    assert Client(enforce_csrf_checks=True).post("/api/v1/").status_code == 404


@table(("path", "status"), [("/held", 200), ("/nowhere", 404), ("/responses", 405)], rolled_back=True)
def test_it_answers_head_as_it_answers_get(kuro: Any, path: str, status: int) -> None:
    head, whole = kuro.call("HEAD", path), kuro.get(path)
    assert head.status_code == whole.status_code == status
    assert head["Content-Length"] == whole["Content-Length"] == str(len(whole.content))


def test_it_speaks_english_whatever_was_spoken_before(kuro: Any) -> None:
    with translation.override("zh-hant"):
        kuro.get("/held")
        assert translation.get_language() == "en"


@table("call", ["/responses", "/threads", "/confidence", "/problems/bug-17/think-twice"], rolled_back=True)
def test_it_says_what_is_wrong_with_a_body_that_is_no_object(kuro: Any, call: Callable[[], Any]) -> None:
    answer = kuro.post(call, [])
    assert answer.status_code == 422
    assert answer.json()["detail"] == "The body: must be an object, not a list"
