"""Whether a call can work at all: about one that its server would turn down nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import wire

MAX_SCHEMA = 65_536  # bytes; a larger one is not read
MOST = 5  # errors that are told
LONG = 300  # characters of one
NAMED = 50  # tools
# What may take very long is left to the server.
UNCHECKED = ("pattern", "patternProperties", "uniqueItems", "unevaluatedItems", "unevaluatedProperties")


def fault_of(name: str, arguments: Any, tools: Mapping[str, wire.Message]) -> str:
    """Say what keeps this call from working; "" where nothing does, or nobody can tell. `tools` are all there are."""
    if name not in tools:
        others = ", ".join(list(tools)[:NAMED])
        return f"Not done: there is no tool {name!r} here. " + (f"There are: {others}." if others else "There is none.")
    schema = tools[name].get("inputSchema")
    try:
        if not isinstance(schema, dict) or len(wire.write(schema)) > MAX_SCHEMA:
            return ""
        found = _errors(arguments, schema)
    except Exception:  # a schema that cannot be read, or refers to what is not there
        return ""
    if not found:
        return ""
    return f"Not done, and nobody was asked: these are no arguments for {name}. " + " ".join(found)


def _errors(arguments: Any, schema: wire.Message) -> list[str]:
    try:
        from jsonschema.validators import Draft202012Validator, extend, validator_for  # type: ignore[import-untyped]
        from referencing import Registry
    except ImportError:  # the SDK brings them; the first has no types
        return _missing(arguments, schema)
    draft = validator_for(schema, default=Draft202012Validator)
    draft.check_schema(schema)
    # An empty registry: nothing outside of the schema is fetched.
    validator = extend(draft, dict.fromkeys(UNCHECKED, _unchecked))(schema, registry=Registry())
    errors = sorted(validator.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path)))
    return [_sentence([*error.absolute_path], error.message) for error in errors[:MOST]]


def _unchecked(*_: Any) -> None:
    return None


def _missing(arguments: Any, schema: wire.Message) -> list[str]:
    if not isinstance(arguments, dict):
        return ["They are no JSON object."]
    return [_sentence([], f"{name!r} is a required property") for name in schema["required"] if name not in arguments]


def _sentence(path: list[Any], message: str) -> str:
    place = "/".join(["", *map(str, path)])
    text = f"{place}: {message}" if place else message
    return (text if len(text) <= LONG else text[: LONG - 1] + "…") + "."
