"""What arrives is taken in one sense only, or refused with the place and the reason."""

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.wire import wire
from metacog.heuristics.wire.wire import EXAMPLE, Refused, ResponseBody, check_response, instant, load, read_response
from tests.tables import table

MEBIBYTE = 1_048_576


def body(**fields: Any) -> bytes:
    return json.dumps({"response": "x", **fields}).encode()


def refusal(raw: bytes) -> Refused:
    with pytest.raises(Refused) as caught:
        read_response(raw)
    return caught.value


@table(
    ("raw", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{'response': 'x'}", "not JSON"),
        (b'{"response": "x",}', "not JSON"),
        (b'{"response": "x"} {}', "not JSON"),
        (b'{"response": "tab\there"}', "not JSON: Invalid control character at line 1, column 18."),
        (b'{"response": "NUL\x00here"}', "not JSON"),
        (b'\xef\xbb\xbf{"response": "x"}', "byte order mark"),
        ('{"response": "x"}'.encode("utf-16"), "not UTF-8"),
        (b'{"response": "\xff"}', "not UTF-8"),
        (b'{"response": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"response": "x", "context_used": NaN}', "NaN"),
        (b'{"response": "x", "context_used": Infinity}', "Infinity"),
        (b'{"response": "x", "context_used": -Infinity}', "-Infinity"),
        (b'{"response": "x", "context_used": 1e999}', "1e999"),
        (b'{"response": "x", "context_used": -1e999}', "-1e999"),
        (b'{"response": "x", "cycle": ' + b"9" * 309 + b"}", "309 digits"),
        (b'{"response": "x", "cycle": ' + b"9" * 100_000 + b"}", "100000 digits"),
    ],
)
def test_it_refuses_what_is_not_json(raw: bytes, says: str) -> None:
    refused = refusal(raw)
    assert refused.status == 400
    assert says in refused.detail


@table(
    ("raw", "pointer", "says"),
    [
        (b'{"response": "a", "response": "b"}', "/response", "twice"),
        (b'{"response": "a", "tests": {"passed": 1, "passed": 1}}', "/tests/passed", "twice"),
        (b'{"response": "a", "items": [{}, {"a~/": 1, "a~/": 2}]}', "/items/1/a~0~1", "twice"),
        (rb'{"response": "a\u0000"}', "/response", "NUL"),
        (rb'{"response": "a", "errors": ["", "\u0000"]}', "/errors/1", "NUL"),
        (rb'{"response": "a", "\u0000": 1}', "/\0", "NUL"),
        (rb'{"response": "\ud800"}', "/response", "surrogate"),
        (rb'{"response": "ab\udc00"}', "/response", "at character 2"),
        (rb'{"response": "\ude00\ud83d"}', "/response", "surrogate"),
        (rb'{"response": "a", "x\ud800": 1}', "/x?", "surrogate"),
    ],
)
def test_it_points_at_what_others_would_read_differently(raw: bytes, pointer: str, says: str) -> None:
    refused = refusal(raw)
    assert refused.status == 422
    assert refused.errors[0]["pointer"] == pointer
    assert says in refused.errors[0]["detail"]
    json.dumps(refused.problem(), ensure_ascii=False).encode()


def test_it_takes_a_pair_of_surrogates_for_the_character_it_is() -> None:
    assert read_response(rb'{"response": "\ud83d\ude00"}')["response"] == "😀"


def nested(depth: int, inner: bytes = b"1") -> bytes:
    """A body in which `inner` stands inside `depth` containers, the body counted."""
    return b'{"x": ' + b"[" * (depth - 1) + inner + b"]" * (depth - 1) + b"}"


def test_it_reads_32_levels_and_no_more() -> None:
    load(nested(32))
    with pytest.raises(Refused) as caught:
        load(nested(33))
    assert caught.value.status == 422
    assert caught.value.errors[0]["pointer"] == "/x" + "/0" * 31


@table(
    ("raw", "pointer"),
    [
        (b"[" * 500_000, "/0" * 32),
        (b'{"a":' * 500_000, "/a" * 32),
        (b'{"r": 1, "items": [0, {"k": "[[", "a~/": ' + b"[" * 40, "/items/1/a~0~1" + "/0" * 29),
        (b'{"a": 1, "b": 2, "a": ' + b"[" * 40, "/a" + "/0" * 31),
    ],
)
def test_it_points_at_the_place_that_is_too_deep(raw: bytes, pointer: str) -> None:
    with pytest.raises(Refused) as caught:
        load(raw)
    assert caught.value.status == 422
    assert caught.value.errors[0]["pointer"] == pointer


@table("raw", [b"[1,]" + b"[" * 50, b"]" * 50 + b"[" * 90, b'"' + b"[" * 100])
def test_it_says_not_json_where_that_comes_before_the_depth(raw: bytes) -> None:
    with pytest.raises(Refused) as caught:
        load(raw)
    assert caught.value.status == 400


def test_it_does_not_count_brackets_in_strings() -> None:
    assert load(json.dumps(["[{" * 100, '\\"[' * 100]).encode()) == ["[{" * 100, '\\"[' * 100]


def test_it_limits_the_body_to_a_mebibyte_inclusive() -> None:
    frame = len(body(user_message=""))
    assert len(read_response(body(user_message="a" * (MEBIBYTE - frame)))["user_message"]) == MEBIBYTE - frame
    refused = refusal(body(user_message="a" * (MEBIBYTE - frame + 1)))
    assert refused.status == 413


GOOD: list[dict[str, Any]] = [
    {},
    {"response": ""},
    {"items": []},
    {"items": None},
    {"items": [{"kind": "x", "text": ""}] * 256},
    {"items": [{"kind": "K" * 64, "text": "", "attributes": {str(n): "" for n in range(64)}}]},
    {"items": [{"kind": "chat", "text": "", "attributes": None}]},
    {"items": [{"kind": "chat", "text": "", "attributes": {"a": 1, "b": [{"c": None}]}}]},
    {"errors": [""] * 256},
    {"topics": ["字" * 255] * 64},
    {"session": "😀" * 255, "mode": "m" * 255, "thread": "t" * 255, "problem": "p" * 255},
    {"id": "!" * 255},
    {"id": "~"},
    {"cycle": 0},
    {"cycle": 2**63 - 1},
    {"context_used": 0},
    {"context_used": 1},
    {"context_used": 1.0},
    {"tests": {"passed": 0, "failed": 0}},
    {"retrieval": {}},
    {"retrieval": {"scores": [0, 1] * 128, "facts": 0, "topic_mentions": 0, "identity_covered": False}},
    {"command_failed": False},
    {"outcome": None},
    {"outcome": "resolved"},
    {"outcome": "failed"},
    {"occurred_at": "2026-02-16T08:00:00Z"},
    {"occurred_at": "2026-02-16t08:00:00.123456789+05:30"},
    {"last_commit_at": "2026-02-16 08:00:00z"},
]

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"response": None}, "/response", "must be a string, not null"),
    ({"response": 1}, "/response", "must be a string, not a whole number"),
    ({"response": ["x"]}, "/response", "must be a string, not a list"),
    ({"score": 50}, "/score", "is not a field of this object; the fields are response, id,"),
    ({"tests": {"passed": 1, "failed": 0, "x/y": 1}}, "/tests/x~1y", "is not a field of this object"),
    ({"items": {}}, "/items", "must be a list, not an object"),
    ({"items": [{"kind": "x", "text": ""}] * 257}, "/items", "at most 256 entries, and has 257"),
    ({"items": [{"kind": "x"}]}, "/items/0/text", "is required"),
    ({"items": [{"kind": "", "text": ""}]}, "/items/0/kind", "1 to 64 characters"),
    ({"items": [{"kind": "k" * 65, "text": ""}]}, "/items/0/kind", "1 to 64 characters"),
    ({"items": [{"kind": "ß" * 64, "text": ""}]}, "/items/0/kind", "1 to 64 characters"),
    ({"items": [{"kind": "x", "text": "", "attributes": []}]}, "/items/0/attributes", "must be an object"),
    (
        {"items": [{"kind": "x", "text": "", "attributes": {str(n): "" for n in range(65)}}]},
        "/items/0/attributes",
        "at most 64",
    ),
    ({"errors": [""] * 257}, "/errors", "at most 256"),
    ({"errors": [1]}, "/errors/0", "must be a string"),
    ({"topics": [""] * 65}, "/topics", "at most 64"),
    ({"topics": ["t" * 256]}, "/topics/0", "at most 255 characters"),
    ({"session": "s" * 256}, "/session", "at most 255 characters"),
    ({"mode": "s" * 256}, "/mode", "at most 255 characters"),
    ({"thread": "s" * 256}, "/thread", "at most 255 characters"),
    ({"problem": "s" * 256}, "/problem", "at most 255 characters"),
    ({"id": ""}, "/id", "1 to 255 visible ASCII"),
    ({"id": "a" * 256}, "/id", "1 to 255 visible ASCII"),
    ({"id": "a b"}, "/id", "1 to 255 visible ASCII"),
    ({"id": "a\n"}, "/id", "1 to 255 visible ASCII"),
    ({"id": "\x7f"}, "/id", "1 to 255 visible ASCII"),
    ({"id": "é"}, "/id", "1 to 255 visible ASCII"),
    ({"replies_to_held": ""}, "/replies_to_held", "1 to 255 visible ASCII"),
    ({"cycle": -1}, "/cycle", "0 or more"),
    ({"cycle": 2**63}, "/cycle", "9223372036854775807 or less"),
    ({"cycle": True}, "/cycle", "must be a whole number, not a boolean"),
    ({"cycle": 42.5}, "/cycle", "must be a whole number, not 42.5"),
    ({"cycle": 2.0**53}, "/cycle", "must be a whole number, not 9007199254740992.0; write out all its digits"),
    ({"cycle": -1.0}, "/cycle", "must be 0 or more"),
    ({"cycle": "1"}, "/cycle", "must be a whole number, not a string"),
    ({"context_used": -0.01}, "/context_used", "0 or more"),
    ({"context_used": 1.01}, "/context_used", "1 or less"),
    ({"context_used": 10**307}, "/context_used", "1 or less"),
    ({"context_used": True}, "/context_used", "must be a number, not a boolean"),
    ({"tests": {"passed": 1}}, "/tests/failed", "is required"),
    ({"tests": {"passed": -1, "failed": 0}}, "/tests/passed", "0 or more"),
    ({"tests": [1, 2]}, "/tests", "must be an object, not a list"),
    ({"retrieval": {"scores": [1.5]}}, "/retrieval/scores/0", "1 or less"),
    ({"retrieval": {"scores": [0] * 257}}, "/retrieval/scores", "at most 256"),
    ({"retrieval": {"facts": -1}}, "/retrieval/facts", "0 or more"),
    ({"retrieval": {"topic_mentions": 0.5}}, "/retrieval/topic_mentions", "must be a whole number"),
    ({"retrieval": {"identity_covered": 1}}, "/retrieval/identity_covered", "must be true or false"),
    ({"command_failed": "yes"}, "/command_failed", "must be true or false, not a string"),
    ({"outcome": "helped"}, "/outcome", "must be 'resolved' or 'failed'"),
    ({"occurred_at": "2026-02-16T08:00:00"}, "/occurred_at", "with a zone"),
    ({"occurred_at": "2026-02-16"}, "/occurred_at", "with a zone"),
    ({"occurred_at": "2026-02-30T08:00:00Z"}, "/occurred_at", "with a zone"),
    ({"occurred_at": "0001-01-01T00:00:00+14:00"}, "/occurred_at", "with a zone"),
    ({"last_commit_at": "２026-02-16T08:00:00Z"}, "/last_commit_at", "with a zone"),
    ({"last_commit_at": 1770000000}, "/last_commit_at", "must be a string"),
]


@table("fields", GOOD)
def test_it_takes_every_limit_inclusive(fields: dict[str, Any]) -> None:
    taken = read_response(body(**fields))
    assert set(taken) == set(ResponseBody.model_fields)
    sent = {"response": "x", **fields}
    assert {name: value for name, value in taken.items() if value is not None and name not in sent} == {}
    for name in fields.keys() - {"items", "retrieval"}:
        assert taken[name] == fields[name]


@table(("fields", "pointer", "says"), BAD)
def test_it_points_at_what_is_out_of_shape(fields: dict[str, Any], pointer: str, says: str) -> None:
    refused = refusal(body(**fields))
    assert refused.status == 422
    assert refused.errors[0]["pointer"] == pointer
    assert says in refused.errors[0]["detail"]


@table("value", [[], "x", 1, None, True])
def test_it_wants_an_object(value: object) -> None:
    with pytest.raises(Refused, match="must be an object"):
        check_response(value)


def test_it_names_every_fault_up_to_32() -> None:
    refused = refusal(body(**{f"x{number}": 1 for number in range(100)}))
    assert [error["pointer"] for error in refused.errors] == [f"/x{number}" for number in range(32)]
    assert "(and 31 more)" in refused.detail


def test_it_writes_a_problem_document() -> None:
    assert refusal(body(cycle=-1)).problem() == {
        "type": "about:blank",
        "title": refusal(body(cycle=-1)).title,
        "status": 422,
        "detail": "/cycle: must be 0 or more",
        "errors": [{"pointer": "/cycle", "detail": "must be 0 or more"}],
    }


def test_it_publishes_a_schema_whose_example_it_takes() -> None:
    schema = ResponseBody.model_json_schema()
    assert schema["required"] == ["response"]
    assert schema["additionalProperties"] is False
    assert schema["examples"] == [EXAMPLE]
    assert set(EXAMPLE) == set(schema["properties"]) == set(read_response(json.dumps(EXAMPLE).encode()))
    assert all("description" in field for field in schema["properties"].values())


def test_it_escapes_pointers() -> None:
    assert wire.pointer(["items", 0, "a/b~c"]) == "/items/0/a~1b~0c"


def test_it_reads_times_into_utc() -> None:
    assert instant("2026-02-16T08:00:00.5+05:30") == datetime(2026, 2, 16, 2, 30, 0, 500_000, tzinfo=UTC)
    assert instant("2026-02-16t08:00:00z") == datetime(2026, 2, 16, 8, tzinfo=UTC)


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
def test_it_answers_or_refuses_whatever_comes(raw: bytes) -> None:
    with contextlib.suppress(Refused):
        assert isinstance(read_response(raw)["response"], str)


@given(values)
def test_it_reads_what_json_means(value: Any) -> None:
    assert load(json.dumps(value).encode()) == value
    assert load(json.dumps(value, ensure_ascii=False).encode()) == value
