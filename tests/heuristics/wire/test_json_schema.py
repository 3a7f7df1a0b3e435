"""JSON Schemas of tool calls: what is none, what does not meet one, and those that were made to take for ever."""

from __future__ import annotations

from typing import Any

from metacog.heuristics.wire.json_schema import MAX_STEPS, check_schema, errors_of, unchecked
from tests.tables import table

TOO_MUCH = f"The schema takes more than {MAX_STEPS:,} steps to check."
# Each definition asks twice for the next: 4 million times for the last.
DOUBLING = {
    "$defs": {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(22)} | {"a22": {"type": "object"}},
    "$ref": "#/$defs/a0",
}


@table(
    ("schema", "arguments", "places"),
    [
        (None, 1, []),
        ({}, 1, []),
        ({"type": "object", "required": ["a"]}, {}, [""]),
        ({"properties": {"a/b": {"items": {"type": "number"}}}}, {"a/b": [1, "2"]}, ["/a~1b/1"]),
        ({"multipleOf": 0.01}, 19.99, []),
        ({"multipleOf": 0.01}, 19.995, [""]),
        ({"uniqueItems": True}, [1, 1.0], [""]),
        ({"uniqueItems": True}, [{"n": n} for n in range(20_000)], []),
        ({"pattern": "^[a-c]+$"}, "abd", [""]),
        ({"pattern": "(a+)+$"}, "a" * 100_000 + "!", [""]),
        ({"patternProperties": {"^n": {"type": "number"}}}, {"n1": 1, "n2": "2", "x": "3"}, ["/n2"]),
        ({"$ref": "https://example.com/schema"}, 1, [""]),
        ({"$ref": "#/nowhere"}, 1, [""]),
        ({"$ref": "#"}, 1, [""]),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": True}, 5, [""]),
    ],
)
def test_it_says_where_arguments_do_not_meet_a_schema(schema: Any, arguments: Any, places: list[str]) -> None:
    assert [error["pointer"] for error in errors_of(arguments, schema)] == places


def test_a_check_ends_after_so_many_steps() -> None:
    assert errors_of({}, DOUBLING) == [{"pointer": "", "detail": TOO_MUCH}]
    assert errors_of([1] * (MAX_STEPS + 1), {"items": {"type": "number"}})[0]["detail"] == TOO_MUCH


def test_what_is_left_unchecked_is_named() -> None:
    schema = {"items": [{"pattern": "(?=a)b"}], "properties": {"a": {"unevaluatedProperties": False, "pattern": "a"}}}
    assert unchecked(schema) == ["(?=a)b", "unevaluatedProperties"]
    assert errors_of({"a": {"b": 1}}, schema) == []


@table(
    ("schema", "told"),
    [
        ({"type": "nothing"}, "is not a JSON Schema: /type: "),
        ({"properties": {"a": 3}}, "is not a JSON Schema: /properties/a: "),
        ({"description": "x" * 60_000, "type": "object"}, ""),
    ],
)
def test_it_says_what_is_no_schema(schema: Any, told: str) -> None:
    assert check_schema(schema).startswith(told)
    assert bool(check_schema(schema)) == bool(told)
