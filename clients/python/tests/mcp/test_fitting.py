"""What a call is held against before anybody is asked about it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from metacog_client.mcp.fitting import fault

EUR = {"type": "object", "properties": {"eur": {"type": "integer"}}, "required": ["eur"]}


def told(schema: Any, arguments: Any) -> str:
    return fault("pay", arguments, {"pay": {"name": "pay", "inputSchema": schema}})


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
    assert told(schema, arguments) == ""


def test_it_says_what_is_wrong_in_few_words() -> None:
    assert told(EUR, []).endswith("no arguments for pay. [] is not of type 'object'.")
    assert "/eur: 'xxx" in told(EUR, {"eur": "x" * 10_000})
    assert len(told(EUR, {"eur": "x" * 10_000})) < 500
    assert fault("pay", {}, {}) == "Not done: there is no tool 'pay' here. There is none."


def test_without_a_validator_it_looks_for_what_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema.validators", None)
    assert told(EUR, {}).endswith("'eur' is a required property.")
    assert told(EUR, {"eur": "x"}) == ""
    assert told({}, {}) == ""
