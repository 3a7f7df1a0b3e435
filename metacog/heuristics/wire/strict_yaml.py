"""Read YAML so that it can mean one thing only: what JSON can say, and no name twice."""

import re
from typing import Any

import yaml

from ..text.strict_json import MAX_DEPTH, Refused, pointer, without_mark

MAX_BYTES = 1_048_576


class _Loader(yaml.SafeLoader):
    """SafeLoader without what surprises: `no` is a text, a date is one too, and there are no aliases.

    A plain scalar is a number, true, false or null only where JSON has it so. What PyYAML writes is read as it was.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # PyYAML's own way

    def line_mark(self) -> Any:
        return self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs leave it out

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="an alias (*) is not taken", problem_mark=self.line_mark())
        return super().compose_node(parent, index)


for tag, shape, first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"-?(?:0|[1-9][0-9]{0,307})", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?", "-0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"\A(?:{shape})\Z"), list(first))


def load_yaml(raw: bytes) -> Any:
    """Parse bytes as YAML, or raise Refused: 413 beyond 1 MiB, 400 for what is no YAML, 422 for what JSON has not."""
    if len(raw) > MAX_BYTES:
        raise Refused(413, f"The file has {len(raw):,} bytes; {MAX_BYTES:,} at most are read.")
    try:
        text = without_mark(raw).decode("utf-8")
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise Refused(400, f"The file is not UTF-8: byte {error.start} does not fit.") from None
    except yaml.MarkedYAMLError as error:
        at = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Refused(400, f"The file is not YAML that can be read: {error.problem}{at}.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Refused(400, f"The file is not YAML that can be read: {error}.") from None
    errors: list[dict[str, str]] = []
    value = None if node is None else _value(node, (), errors)
    if errors:
        raise Refused(422, errors[0]["detail"], errors)
    return value


def _value(node: Any, where: tuple[str | int, ...], errors: list[dict[str, str]]) -> Any:
    def wrong(detail: str) -> None:
        errors.append({"pointer": pointer(where), "detail": detail})

    if len(where) >= MAX_DEPTH:
        wrong(f"is nested deeper than {MAX_DEPTH} levels")
        return None
    if isinstance(node, yaml.SequenceNode):
        return [_value(part, (*where, place), errors) for place, part in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, part in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                wrong("has a name that is no text")
                continue
            if key.value in found:
                errors.append({"pointer": pointer((*where, key.value)), "detail": "stands twice; write it once"})
            found[key.value] = _value(part, (*where, key.value), errors)
        return found
    kind, text = node.tag.removeprefix("tag:yaml.org,2002:"), node.value
    if kind == "int":
        return int(text)
    if kind == "float":
        number = float(text)
        if number in (float("inf"), float("-inf")):
            wrong("is too large for a double")
        return number
    if kind in ("bool", "null"):
        return {"true": True, "false": False}.get(text)
    if kind != "str":
        wrong(f"has the tag {node.tag}; only what JSON has is read")
    elif "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        wrong("holds a NUL or half of a surrogate pair")
    return text
