"""JSON Schemas of tool calls' arguments: whether they are schemas, and whether arguments meet them.

What a schema refers to outside of itself is never fetched. `pattern` is searched in linear time, as rules' `regex` is;
an expression that cannot be is left unchecked, and `unchecked` names it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from ..text.matcher import linear_regex
from ..text.strict_json import MAX_ERRORS, pointer

MAX_DETAIL = 300  # characters


def check_schema(schema: Mapping[str, Any]) -> str:
    """Say what is wrong with a JSON Schema; "" where nothing is.

    It is read as the draft that its `$schema` names, else as 2020-12.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        place = pointer(list(error.absolute_path))
        return f"is not a JSON Schema: {place and place + ': '}{_short(error.message)}"
    return ""


def unchecked(schema: Any) -> list[str]:
    """Name the regular expressions of a schema that cannot be searched in linear time."""
    return [expression for expression in _patterns(schema) if _search(expression) is None]


def errors_of(arguments: Any, schema: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """Say where arguments do not meet a schema: {"pointer", "detail"}, 32 at most; a schema of None takes anything."""
    if schema is None:
        return []
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing.exceptions import Unresolvable

    own = {"pattern": _pattern, "patternProperties": _pattern_properties}
    validator = extend(validator_for(schema, default=Draft202012Validator), own)(schema)
    try:
        found = list(islice(validator.iter_errors(arguments), MAX_ERRORS))
    except Unresolvable as error:
        return [{"pointer": "", "detail": f"The schema refers to {error.ref}, which it does not hold."}]
    except RecursionError:
        return [{"pointer": "", "detail": "The schema refers to itself without end."}]
    return [{"pointer": pointer(list(error.absolute_path)), "detail": _short(error.message)} for error in found]


def _short(text: str) -> str:
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"


@lru_cache(maxsize=256)
def _search(expression: str) -> Callable[[str], bool] | None:
    try:
        return linear_regex(expression)
    except ValueError:
        return None


def _patterns(schema: Any) -> Iterator[str]:
    """Give the regular expressions of a schema, wherever in it they stand."""
    if isinstance(schema, Mapping):
        if isinstance(expression := schema.get("pattern"), str):
            yield expression
        if isinstance(by_name := schema.get("patternProperties"), Mapping):
            yield from by_name
        for part in schema.values():
            yield from _patterns(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _patterns(part)


def _pattern(validator: Any, expression: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and (search := _search(expression)) and not search(instance):
        yield ValidationError(f"{instance!r} does not match {expression!r}")


def _pattern_properties(validator: Any, by_name: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, Mapping):
        for expression, part in by_name.items():
            search = _search(expression)
            for name, value in instance.items():
                if search and search(name):
                    yield from validator.descend(value, part, path=name, schema_path=expression)
