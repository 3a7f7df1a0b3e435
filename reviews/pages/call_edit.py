"""The form in which a person edits the arguments of a tool call: one input a field, or the whole as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.strict_json import Refused, load, pointer
from metacog.heuristics.tool_calls.secret_shapes import is_secret
from metacog.heuristics.tool_calls.secrets import is_mask_left, masked, masked_text, restored
from metacog.heuristics.wire.json_schema import errors_of, unchecked
from reviews.models import HeldCall
from reviews.pages.deciding import with_line_ends_of
from reviews.presentation.arguments import type_of
from reviews.presentation.highlight import show

MOST_INPUTS = 100  # fields; more are edited as JSON
MOST_CHOICES = 100
Mode = Literal["fields", "json"]
Errors = Mapping[str, Sequence[str]]  # by the pointer of the input at which they are shown; "" is above all of them


class Posted(NamedTuple):
    """An edit as a form sent it."""

    mode: Mode
    typed: Mapping[str, str]  # by pointer, as it was typed
    arguments: Any  # the whole of them, where there are no errors
    is_changed: bool
    errors: Errors


@dataclass(frozen=True, slots=True)
class Input:
    """One field of the form."""

    number: int
    pointer: str
    name: str
    type: str
    kind: Literal["text", "number", "boolean", "choice", "json"]
    value: str
    choices: Sequence[tuple[str, str]] = ()  # value, and what it is called
    is_masked: bool = False
    errors: Sequence[str] = ()
    hint: str = ""  # the schema's description
    unchecked: Sequence[str] = ()  # the schema's patterns that cannot be checked

    @property
    def rows(self) -> int:
        return min(24, self.value.count("\n") + 1)

    @property
    def hidden(self) -> int:
        """Return how many characters the field cannot show."""
        return show(self.value).hidden


def mode_of(call: HeldCall, asked: str) -> Mode:
    """Return how a call's arguments are edited: as asked, where they have fields."""
    has_fields = isinstance(call.arguments, dict) and 0 < len(call.arguments) <= MOST_INPUTS
    has_fields = has_fields and not any(masked_text(name) != name for name in call.arguments)
    return "fields" if has_fields and asked != "json" else "json"


def inputs(
    call: HeldCall, mode: Mode, *, typed: Mapping[str, str] | None = None, errors: Errors | None = None,
    revealed: Collection[str] = (),
) -> list[Input]:  # fmt: skip
    """Return the form's fields, as they are or as they were typed, with what is wrong at each."""
    typed, errors, schema = typed or {}, errors or {}, call.schema if isinstance(call.schema, dict) else {}
    if mode == "json":
        shown = call.arguments if "" in revealed else masked(call.arguments)
        value = typed.get("", json.dumps(shown, ensure_ascii=False, indent=2))
        return [
            Input(
                0, "", "", type_of(call.arguments), "json", value, is_masked=shown != call.arguments,
                errors=[each for told in errors.values() for each in told], unchecked=unchecked(schema),
            )
        ]  # fmt: skip
    properties = schema.get("properties")
    found = []
    for number, (name, value) in enumerate(call.arguments.items()):
        place = pointer([name])
        part = properties.get(name) if isinstance(properties, dict) else None
        part = part if isinstance(part, dict) else {}
        shown = value if place in revealed else masked(value, is_named_so=is_secret(name))
        kind, choices = _kind(value, part, is_masked=shown != value)
        found.append(
            Input(
                number,
                place,
                name,
                type_of(value),
                kind,
                typed.get(place, _written(shown, kind)),
                choices,
                is_masked=shown != value,
                errors=errors.get(place, ()),
                hint=part["description"] if isinstance(part.get("description"), str) else "",
                unchecked=unchecked(part),
            )
        )
    return found


def _kind(value: Any, schema: Mapping[str, Any], *, is_masked: bool) -> tuple[Any, Sequence[tuple[str, str]]]:
    choices = schema.get("enum")
    is_plain = not is_masked and not isinstance(value, dict | list)
    if is_plain and isinstance(choices, list) and len(choices) <= MOST_CHOICES:
        known = [*choices, *([] if canonical(value) in set(map(canonical, choices)) else [value])]
        return "choice", [(_json(each), each if isinstance(each, str) else _json(each)) for each in known]
    if isinstance(value, bool):
        return "boolean", ()
    if isinstance(value, int | float):
        return ("text" if is_masked else "number"), ()
    return ("text" if isinstance(value, str) else "json"), ()


def _written(value: Any, kind: str) -> str:
    if kind == "text" and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) else None)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(call: HeldCall, form: QueryDict) -> Posted | None:
    """Read an edit; None where the form's editor was closed.

    What was not touched keeps its exact JSON, a mask stands for what it masks. Errors are of the form itself: whether
    the arguments meet the call's schema `checked` says.
    """
    editor = form.get("editor", "")
    if editor not in ("fields", "json"):
        return None
    mode = mode_of(call, editor)
    if mode == "json":
        whole = form.get("f", "")
        value, wrong = _read_json(whole, call.arguments, is_named_so=False)
        return _posted(call, mode, {"": whole}, value, {"": [wrong]} if wrong else {})
    typed, errors, arguments = {}, {}, {}
    for name, original in call.arguments.items():
        place = pointer([name])
        text = form.get(f"f{place}")
        if text is None:
            arguments[name] = original
            continue
        typed[place] = text
        part = (call.schema or {}).get("properties", {}) if isinstance(call.schema, dict) else {}
        own = part.get(name) if isinstance(part, dict) else None
        kind, _ = _kind(original, own if isinstance(own, dict) else {}, is_masked=False)
        value, wrong = _read_one(text, original, kind, is_named_so=is_secret(name))
        arguments[name] = value
        if wrong:
            errors[place] = [wrong]
    return _posted(call, mode, typed, arguments, errors)


def _posted(call: HeldCall, mode: Mode, typed: Mapping[str, str], value: Any, errors: Errors) -> Posted:
    is_changed = not errors and canonical(value) != canonical(call.arguments)
    if is_changed and len(_json(value).encode()) > settings.MAX_BODY_BYTES:
        errors = {"": [gettext("The arguments are too long: 1 MiB at most.")]}
    return Posted(mode, typed, value, is_changed or bool(errors), errors)


def checked(call: HeldCall, posted: Posted) -> Posted:
    """Return an edit with what its schema says against it."""
    if posted.errors or not posted.is_changed:
        return posted
    return posted._replace(errors=of_schema(posted, errors_of(posted.arguments, call.schema)))


def of_schema(posted: Posted, found: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return what a schema says, by the pointer of the input it is about. What it quotes of a secret is left out."""
    errors: dict[str, list[str]] = {}
    for each in found:
        names = [name.replace("~1", "/").replace("~0", "~") for name in each["pointer"].split("/")[1:]]
        first = pointer(names[:1])
        if any(map(is_secret, names)):
            said = gettext("The value does not meet the schema.")
        else:
            inner = ".".join(names if posted.mode == "json" else names[1:])
            place = inner + gettext(": ") if inner else ""
            said = place + masked_text(each["detail"])
        errors.setdefault(first if posted.mode == "fields" and first in posted.typed else "", []).append(said)
    return errors


def _read_one(text: str, original: Any, kind: str, *, is_named_so: bool) -> tuple[Any, str]:
    shown = masked(original, is_named_so=is_named_so)
    if kind == "text" and isinstance(original, str):
        for as_it_was in (original, shown):
            if with_line_ends_of(as_it_was, text) == as_it_was:
                return original, ""
        value = with_line_ends_of(original, text)
        return value, _fault(value, original)
    if text == shown:  # of a number
        return original, ""
    value, wrong = _read_json(text, original, is_named_so=is_named_so)
    if not wrong and kind == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        return original, gettext("This is not a number.")
    return value, wrong


def _read_json(text: str, original: Any, *, is_named_so: bool) -> tuple[Any, str]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        told = {"line": error.lineno, "column": error.colno}
        return original, gettext("This is not JSON: look at line %(line)s, column %(column)s.") % told
    except (ValueError, RecursionError):
        return original, gettext("This is not JSON.")
    try:
        shown = masked(original, is_named_so=is_named_so)
        value = restored(load(text.encode("utf-8", "surrogatepass")), original, shown)
    except Refused as refused:
        return original, gettext("This cannot be stored: %(detail)s") % {"detail": refused.detail}
    return (original, "") if canonical(value) == canonical(original) else (value, _fault(value, original))


def _fault(value: Any, original: Any) -> str:
    if "\0" in (value if isinstance(value, str) else ""):
        return gettext("The text has a NUL character, which cannot be stored. Remove it and try again.")
    if is_mask_left(value, original):
        return still_masked()
    return ""


def still_masked() -> str:
    return gettext("The value that you changed contains a masked part. Show it first, or write a new one.")
