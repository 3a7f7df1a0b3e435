"""Which keys an edit adds that a schema does not know, and which it drops."""

from __future__ import annotations

import time
from typing import Any

from metacog.heuristics.wire.schema_keys import lost_keys, unknown_keys
from tests.tables import table

EUR = {"properties": {"eur": {"type": "number"}}}
NESTED = {"properties": {"to": {"properties": {"iban": {}}}, "all": {"items": EUR}, "any": True}}
NODE = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}}


@table(
    ("schema", "arguments", "unknown"),
    [
        (None, {"euro": 1}, []),
        (EUR, {"eur": 1}, []),
        (EUR, {"eur": 1, "euro": 1}, ["/euro"]),
        (EUR, [1], []),
        ({**EUR, "additionalProperties": True}, {"euro": 1}, ["/euro"]),
        ({**EUR, "additionalProperties": {"type": "string"}}, {"note": "x"}, []),
        ({"type": "object"}, {"euro": 1}, []),
        ({"additionalProperties": True}, {"euro": 1}, []),
        ({"patternProperties": {"^x-": {}}}, {"x-a": 1, "y": 1}, ["/y"]),
        ({"patternProperties": {"^(?!x)": {}}}, {"x": 1}, []),  # nobody can say
        (NESTED, {"to": {"iban": 1, "ibn": 1}}, ["/to/ibn"]),
        (NESTED, {"all": [{"eur": 1}, {"euro": 1}]}, ["/all/1/euro"]),
        (NESTED, {"any": {"euro": 1}}, []),
        ({"prefixItems": [EUR], "items": NESTED}, [{"euro": 1}, {"to": {"a/b": 1}}], ["/0/euro", "/1/to/a~1b"]),
        ({"allOf": [EUR, {"properties": {"to": {}}}]}, {"eur": 1, "to": 1, "x": 1}, ["/x"]),
        ({"anyOf": [EUR, NESTED]}, {"eur": 1, "to": {"x": 1}}, ["/to/x"]),
        ({"if": {}, "then": EUR, "else": NESTED}, {"eur": 1, "any": 1, "x": 1}, ["/x"]),
        ({"dependentSchemas": {"eur": NESTED}, **EUR}, {"eur": 1, "any": 1, "x": 1}, ["/x"]),
        (NODE, {"next": {"next": {"nxt": 1}}}, ["/next/next/nxt"]),
        ({**EUR, "$ref": "https://example.org/elsewhere"}, {"euro": 1}, []),
        ({"$ref": "#"}, {"euro": 1}, []),
        ({"properties": 3, "items": 4, "allOf": 5}, {"euro": [1]}, []),
    ],
)
def test_a_key_is_unknown_where_keys_are_named_and_it_is_not(schema: Any, arguments: Any, unknown: list[str]) -> None:
    assert unknown_keys({}, arguments, schema) == unknown


def test_what_the_call_had_is_not_the_edits() -> None:
    assert unknown_keys({"a": 1, "b": [{"c": 1}]}, {"a": 2, "b": [{"c": 1}, {"c": 1}]}, EUR) == []
    assert unknown_keys({"all": [{"x": 1}]}, {"all": [{"x": 2}, {"x": 1}]}, NESTED) == ["/all/1/x"]


@table(
    ("before", "after", "lost"),
    [
        ({"a": 1}, {"a": 2}, []),
        ({"a": 1, "b": 2}, {"b": 2, "c": 3}, ["/a"]),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 1}}, ["/a/c"]),
        ({"a": {"b": 1}}, {"a": 3}, []),
        ([{"a": 1}, {"b": 1}], [{"a": 1}, {}], ["/1/b"]),
        ([{"a": 1}, {"b": 1}], [{"a": 1}], []),
        ("ls", "pwd", []),
    ],
)
def test_a_key_is_lost_where_an_object_stays(before: Any, after: Any, lost: list[str]) -> None:
    assert lost_keys(before, after) == lost


def test_a_hostile_schema_takes_no_long_time() -> None:
    def doubled(name: str) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{name}"}

    deep = {f"d{number}": {"properties": {"a": {"allOf": [doubled(f"d{number + 1}")] * 50}}} for number in range(30)}
    schema: dict[str, Any] = {"allOf": [doubled("d0")] * 50, "$defs": deep | {"d30": {}}}
    arguments: Any = {}
    for _ in range(30):
        arguments = {"a": arguments}
    began = time.process_time()
    unknown_keys({}, arguments, schema)
    assert time.process_time() - began < 1
