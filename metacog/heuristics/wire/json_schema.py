"""JSON Schemas of tool calls' arguments: whether they are schemas, and whether arguments meet them.

An agent sends them, so they may be hostile: what a schema refers to outside of itself is never fetched, `pattern` is
searched in linear time, and a check ends after so many steps. What is left unchecked `unchecked` names.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from pydantic_core import from_json, to_json

from ..text.canonical_json import canonical
from ..text.matcher import linear_regex
from ..text.strict_json import MAX_ERRORS, pointer

MAX_DETAIL = 300  # characters
MAX_BYTES = 65_536  # of a schema's JSON: the schema of schemas takes a millisecond for each kilobyte
MAX_STEPS = 50_000  # keywords that are looked at in one check, about a quarter of a second
# They look for what others have looked at already, again and again, beyond the count of steps.
UNCHECKED = ("unevaluatedItems", "unevaluatedProperties")

_NO_FORMATS: Mapping[str, Callable[[str], object]] = {}
Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


class _TooMuch(Exception):
    """A check takes more steps than are given to it."""


def is_too_large(schema: Mapping[str, Any]) -> bool:
    """Say whether a schema is too large to be checked, or to check anything by it."""
    return len(to_json(schema)) > MAX_BYTES


def check_schema(schema: Mapping[str, Any]) -> str:
    """Say what is wrong with a JSON Schema; "" where nothing is.

    It is read as the draft that its `$schema` names, else as 2020-12.
    """
    return _check_written(to_json(schema))


@lru_cache(maxsize=256)
def _check_written(written: bytes) -> str:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    schema = from_json(written)
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        place = pointer(list(error.absolute_path))
        return f"is not a JSON Schema: {place and place + ': '}{_short(error.message)}"
    return ""


def unchecked(schema: Any) -> list[str]:
    """Name what of a schema is left unchecked: keywords, and regular expressions that need to go back."""
    return [*dict.fromkeys(_unchecked(schema))]


def errors_of(
    arguments: Any, schema: Mapping[str, Any] | None, formats: Mapping[str, Callable[[str], object]] = _NO_FORMATS
) -> list[dict[str, str]]:
    """Say where arguments do not meet a schema: {"pointer", "detail"}, 32 at most; a schema of None takes anything.

    What takes too long to check is an error, too. `formats` are those that are checked: each raises ValueError.
    """
    if schema is None:
        return []
    from jsonschema import FormatChecker
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing.exceptions import Unresolvable

    draft = validator_for(schema, default=Draft202012Validator)
    checker = FormatChecker(formats=())
    for name, check in formats.items():
        checker.checks(name, ValueError)(partial(_has_format, check))
    validator = extend(draft, _bounded({**draft.VALIDATORS, **_OWN}))(schema, format_checker=checker)
    try:
        found = list(islice(validator.iter_errors(arguments), MAX_ERRORS))
    except Unresolvable as error:
        return [{"pointer": "", "detail": f"The schema refers to {error.ref}, which it does not hold."}]
    except RecursionError:
        return [{"pointer": "", "detail": "The schema refers to itself without end."}]
    except _TooMuch:
        return [{"pointer": "", "detail": f"The schema takes more than {MAX_STEPS:,} steps to check."}]
    return [{"pointer": pointer(list(error.absolute_path)), "detail": _short(error.message)} for error in found]


def _has_format(check: Callable[[str], object], instance: Any) -> bool:
    if isinstance(instance, str):
        check(instance)
    return True


def _bounded(keywords: Mapping[str, Keyword]) -> dict[str, Keyword]:
    """Give the same keywords, which together take so many steps at most."""
    steps = 0

    def counted(keyword: Keyword) -> Keyword:
        def look(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
            nonlocal steps
            steps += 1
            if steps > MAX_STEPS:
                raise _TooMuch
            return keyword(validator, value, instance, schema)

        return look

    return {name: counted(keyword) for name, keyword in keywords.items()}


def _short(text: str) -> str:
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"


@lru_cache(maxsize=256)
def _search(expression: str) -> Callable[[str], bool] | None:
    try:
        search = linear_regex(expression)
        search("é")  # what would be too large for texts beyond ASCII is so now
        return search
    except ValueError:
        return None


def matches(expression: str, name: str) -> bool:
    """Say whether a `patternProperties` names a key; True where that cannot be said in linear time."""
    search = _search(expression)
    return search is None or search(name)


def _unchecked(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        by_name = schema.get("patternProperties")
        expressions = [schema.get("pattern"), *(by_name if isinstance(by_name, Mapping) else ())]
        yield from (each for each in expressions if isinstance(each, str) and _search(each) is None)
        yield from (name for name in UNCHECKED if name in schema)
        for part in schema.values():
            yield from _unchecked(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _unchecked(part)


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _pattern(validator: Any, expression: str, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and (search := _search(expression)) and not search(instance):
        yield _error(f"{instance!r} does not match {expression!r}")


def _pattern_properties(validator: Any, by_name: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, Mapping):
        for expression, part in by_name.items():
            search = _search(expression)
            for name, value in instance.items():
                if search and search(name):
                    yield from validator.descend(value, part, path=name, schema_path=expression)


def _unique_items(validator: Any, is_wanted: bool, instance: Any, schema: Any) -> Iterator[Any]:
    if is_wanted and isinstance(instance, list) and len(set(map(canonical, instance))) < len(instance):
        yield _error("has the same entry twice")


def _multiple_of(validator: Any, step: float, instance: Any, schema: Any) -> Iterator[Any]:
    """As decimals: 19.99 is a multiple of 0.01, though no double says so."""
    if validator.is_type(instance, "number") and _decimal(instance) % _decimal(step):
        yield _error(f"{instance!r} is not a multiple of {step!r}")


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


def _nothing(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    return None


_OWN: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
    **dict.fromkeys(UNCHECKED, _nothing),
}
