"""Which keys an edit gives to arguments that their JSON Schema does not know, and which it takes away.

That is no error: most schemas take other keys, and most keys may be left out. But it is how a slip of a person's looks.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..text.strict_json import MAX_ERRORS, pointer
from .json_schema import MAX_STEPS, matches

# What else has a say about the same value.
ALL_OF = ("allOf", "anyOf", "oneOf")
BESIDE = ("if", "then", "else")


def unknown_keys(before: Any, after: Any, schema: Mapping[str, Any] | None) -> list[str]:
    """Return the pointers of keys that arguments did not have before and their schema does not name, 32 at most.

    None of an object whose keys the schema leaves open.
    """
    if schema is None:
        return []
    new = (path for path in _Known(schema).walk(after, [schema], []) if not _has(before, path))
    return [pointer(path) for path in islice(new, MAX_ERRORS)]


def lost_keys(before: Any, after: Any) -> list[str]:
    """Return the pointers of keys that objects of before had and those in their place have not, 32 at most."""
    return list(islice(_lost(before, after, []), MAX_ERRORS))


def _has(value: Any, path: Sequence[Any]) -> bool:
    for name in path:
        known = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        if name not in known:
            return False
        value = value[name]
    return True


def _lost(before: Any, after: Any, path: list[Any]) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name in after:
                yield from _lost(value, after[name], [*path, name])
            else:
                yield pointer([*path, name])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (each, other) in enumerate(zip(before, after, strict=True)):
            yield from _lost(each, other, [*path, index])


class _Known:
    """Walks arguments along a schema, for so many steps at most."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_STEPS

    def walk(self, value: Any, schemas: Sequence[Any], path: list[Any]) -> Iterator[list[Any]]:
        if not isinstance(value, dict | list):
            return
        parts = list(self._parts(schemas, set()))
        if self._left <= 0 or not all(isinstance(part, Mapping) for part in parts):
            return  # one that cannot be followed may know any key
        if isinstance(value, list):
            for index, each in enumerate(value):
                yield from self.walk(
                    each, [below for part in parts for below in _of_entry(part, index)], [*path, index]
                )
            return
        names_keys = any(_object(part.get("properties")) or _object(part.get("patternProperties")) for part in parts)
        for name, each in value.items():
            below = [schema for part in parts for schema in _of_key(part, name)]
            if below:
                yield from self.walk(each, below, [*path, name])
            elif names_keys:
                yield [*path, name]

    def _parts(self, schemas: Sequence[Any], seen: set[int]) -> Iterator[Any]:
        """Give schemas with all that they refer to; None in place of what is not in the root by a JSON pointer."""
        for schema in schemas:
            self._left -= 1
            if not isinstance(schema, Mapping) or id(schema) in seen or self._left <= 0:
                continue
            seen.add(id(schema))
            yield schema
            if "$ref" in schema or "$dynamicRef" in schema:
                target = self._target(schema.get("$ref"))
                if target is None:
                    yield None
                yield from self._parts([target], seen)
            for name in ALL_OF:
                yield from self._parts(_listed(schema.get(name)), seen)
            yield from self._parts([schema.get(name) for name in BESIDE], seen)
            yield from self._parts(list(_object(schema.get("dependentSchemas")).values()), seen)

    def _target(self, reference: Any) -> Mapping[str, Any] | None:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            return None
        found: Any = self._root
        for name in reference.split("/")[1:]:
            found = _object(found).get(name.replace("~1", "/").replace("~0", "~"))
        return found if isinstance(found, Mapping) else None


def _of_key(part: Mapping[str, Any], name: str) -> list[Any]:
    """Return what a schema says of a key, if it names it, or says what other keys hold."""
    own = _object(part.get("properties"))
    named = [own[name]] if name in own else []
    named += [schema for key, schema in _object(part.get("patternProperties")).items() if matches(key, name)]
    others = part.get("additionalProperties")
    return named or ([others] if isinstance(others, Mapping) and others else [])


def _of_entry(part: Mapping[str, Any], index: int) -> list[Any]:
    first = _listed(part.get("prefixItems"))
    return [first[index]] if index < len(first) else [part["items"]] if isinstance(part.get("items"), Mapping) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
