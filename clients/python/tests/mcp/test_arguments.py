"""What a call is held against before anybody is asked about it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from metacog_client.mcp.arguments import fault_of

EUR = {"type": "object", "properties": {"eur": {"type": "integer"}}, "required": ["eur"]}


def fault_in(schema: Any, arguments: Any) -> str:
    return fault_of("pay", arguments, {"pay": {"name": "pay", "inputSchema": schema}})


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (EUR, {"eur": 1, "more": None}),
        (None, {}),
        ({"type": "objekt"}, {}),
        ({"$ref": "https://schemas.example/no"}, {}),
        ({"$ref": "#/$defs/no"}, {}),
        ({"type": "object", "description": "x" * 70_000, "required": ["eur"]}, {}),
        ({"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}, {"a": "a" * 40 + "!"}),
    ],
)
def test_what_fits_or_cannot_be_told_is_asked_about(schema: Any, arguments: Any) -> None:
    assert fault_in(schema, arguments) == ""


def test_it_says_what_is_wrong_in_few_words() -> None:
    assert fault_in(EUR, []).endswith("no arguments for pay. [] is not of type 'object'.")
    assert "/eur: 'xxx" in fault_in(EUR, {"eur": "x" * 10_000})
    assert len(fault_in(EUR, {"eur": "x" * 10_000})) < 500
    assert fault_of("pay", {}, {}) == "Not done: there is no tool 'pay' here. There is none."


def test_without_a_validator_it_looks_for_what_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema.validators", None)
    assert fault_in(EUR, {}).endswith("'eur' is a required property.")
    assert fault_in(EUR, {"eur": "x"}) == ""
    assert fault_in({}, {}) == ""
