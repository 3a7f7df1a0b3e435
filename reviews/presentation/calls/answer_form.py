"""The form in which a person answers a question: made of its choices or JSON Schema, and read back into JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from django.http import QueryDict
from django.utils.translation import gettext, pgettext

from metacog.heuristics.text.strict_json import Refused, load, pointer
from metacog.heuristics.tool_calls.secrets import is_mask_left, masked, masked_text
from reviews.models import Decision, DecisionVerdict, HeldItem
from reviews.records import answers

MOST_FIELDS = 100  # what is beyond is written as JSON, and so is what lies deeper, or has more choices
MOST_DEPTH = 4
MOST_CHOICES = 100
MOST_RADIOS = 6  # of a field; more are a menu
MOST_REFERENCES = 8  # one behind the other

_FORMATS = {"date": "date", "email": "email", "uri": "url"}  # and the type of the input
_NUMBER = re.compile(r"-?\d{1,300}")
_MISSING: Any = object()
Errors = Mapping[str, Sequence[str]]  # by pointer


class Option(NamedTuple):
    """One answer to choose, by its number."""

    value: Any
    label: str


class Shown(NamedTuple):
    number: int
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the form, or a group of some."""

    number: int
    pointer: str
    label: str
    kind: Literal["text", "line", "number", "choice", "menu", "choices", "json", "group"]
    value: str = ""
    input: str = "text"  # of a line, the type of its input
    options: Sequence[Shown] = ()
    fields: Sequence[Field] = ()
    is_required: bool = False
    hint: str = ""  # the agent's description
    limits: str = ""
    errors: Sequence[str] = ()

    @property
    def is_set(self) -> bool:
        """Say whether it is several inputs under one heading."""
        return self.kind in ("group", "choice", "choices")

    @property
    def box(self) -> str:
        return "checkbox" if self.kind == "choices" else "radio"

    @property
    def has_keys(self) -> bool:
        """Say whether the keys 1 to 9 choose: the answer is one of these."""
        return self.kind == "choice" and not self.pointer

    @property
    def is_optional(self) -> bool:
        return not self.is_required and self.kind != "group" and bool(self.label)

    @property
    def rows(self) -> int:
        return min(24, self.value.count("\n") + 1)


class Posted(NamedTuple):
    """An answer as a form sent it."""

    typed: Mapping[str, Sequence[str]]  # by pointer
    value: Any  # the whole of it, where there are no errors
    errors: Errors


@dataclass(frozen=True, slots=True)
class _Part:
    """What one place of the answer must be."""

    names: Sequence[str]
    label: str
    schema: Mapping[str, Any]
    kind: Literal["text", "line", "number", "choice", "choices", "json", "group"]
    options: Sequence[Option] = ()
    parts: Sequence[_Part] = ()
    is_required: bool = True
    is_nullable: bool = False

    @property
    def place(self) -> str:
        return pointer(self.names)


def fields_of(held: HeldItem, posted: Posted | None = None) -> list[Field]:
    """Return the fields of a question's form: as the schema has them, or as they were filled in, with what is wrong."""
    part, counted = _part_of(held), iter(range(10 * MOST_FIELDS))
    return [_field(part, posted, counted)]


def read(held: HeldItem, form: QueryDict) -> Posted:
    """Read an answer; what is wrong with it stands at the field it is about, or at "", above all of them."""
    part = _part_of(held)
    typed = {name[1:]: values for name, values in form.lists() if name == "a" or name.startswith("a/")}
    errors: dict[str, list[str]] = {}
    value = _read(part, typed, errors)
    if not errors:
        value = None if value is _MISSING else value
        places = set(_places(part))
        for each in answers.errors_of(held, value):
            place = each["pointer"]
            while place and place not in places:
                place = place.rpartition("/")[0]
            errors.setdefault(place, []).append(masked_text(each["detail"]))
    return Posted(typed, value, errors)


def shown(held: HeldItem, posted: Posted | None = None, standing: Decision | None = None) -> dict[str, Any]:
    """Return what every page that shows a question has: its form, and what was answered, with secrets masked."""
    answer = standing.answer if standing and standing.verdict == DecisionVerdict.ANSWER else None
    return {
        "fields": fields_of(held, posted),
        "errors": posted.errors.get("", ()) if posted and _part_of(held).kind == "group" else (),
        "is_typed": posted is not None,
        "asks": held.question.asks,
        "is_answered": standing is not None and standing.verdict == DecisionVerdict.ANSWER,
        "is_text": isinstance(answer, str),
        "answer": answer_text(answer),
    }


def answer_text(answer: Any) -> str:
    """Return an answer as it is read, with secrets masked."""
    answer = masked(answer)
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)


# -- what a schema asks for -------------------------------------------------------------------------------


def _part_of(held: HeldItem) -> _Part:
    question = held.question
    if question.choices is not None:
        options = [Option(each, masked_text(each)) for each in question.choices]
        return _Part((), "", {}, "choice", options)
    schema = question.schema or {"type": "string"}
    return _Parts(schema).of(schema, (), "", is_required=True)


class _Parts:
    """Takes a schema apart."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.whole, self.left = schema, MOST_FIELDS

    def of(self, given: Any, names: Sequence[str], label: str, *, is_required: bool) -> _Part:
        self.left -= 1
        schema, is_nullable = self._plain(given)
        title = schema.get("title")
        label = title if isinstance(title, str) and title.strip() else label
        told: dict[str, Any] = {"is_required": is_required, "is_nullable": is_nullable}
        if options := _options(schema):
            return _Part(names, label, schema, "choice", options, **told)
        kind, properties = schema.get("type"), schema.get("properties")
        if kind == "boolean":
            yes, no = Option(True, pgettext("answer", "Yes")), Option(False, pgettext("answer", "No"))
            return _Part(names, label, schema, "choice", [yes, no], **told)
        if kind == "array" and (options := _options(self._plain(schema.get("items"))[0])):
            return _Part(names, label, schema, "choices", options, **told)
        if isinstance(properties, dict) and kind in (None, "object"):
            if len(names) < MOST_DEPTH and 0 < len(properties) <= self.left:
                return _Part(names, label, schema, "group", parts=self._parts(schema, names, properties), **told)
        elif kind in ("number", "integer"):
            return _Part(names, label, schema, "number", **told)
        elif kind == "string":
            return _Part(names, label, schema, "line" if schema.get("format") in _FORMATS else "text", **told)
        return _Part(names, label, schema, "json", **told)

    def _parts(self, schema: Mapping[str, Any], names: Sequence[str], properties: Mapping[str, Any]) -> list[_Part]:
        required = schema.get("required")
        needed = required if isinstance(required, list) else ()
        return [self.of(part, (*names, name), name, is_required=name in needed) for name, part in properties.items()]

    def _plain(self, given: Any) -> tuple[Mapping[str, Any], bool]:
        """Return a schema with what it refers to in its place, and whether it takes null beside that."""
        schema, is_nullable = given if isinstance(given, dict) else {}, False
        for _ in range(MOST_REFERENCES):
            rest = {name: value for name, value in schema.items() if name not in ("$ref", "allOf", "anyOf", "oneOf")}
            listed = (schema.get(name) for name in ("anyOf", "oneOf"))
            either: list[Any] = next((each for each in listed if isinstance(each, list)), [])
            others = [each for each in either if not (isinstance(each, dict) and each.get("type") == "null")]
            if isinstance(reference := schema.get("$ref"), str):
                schema = {**self._named(reference), **rest}
            elif isinstance(every := schema.get("allOf"), list) and len(every) == 1 and isinstance(every[0], dict):
                schema = {**every[0], **rest}
            elif len(others) == 1 and len(either) == 2 and isinstance(others[0], dict):
                schema, is_nullable = {**others[0], **rest}, True
            else:
                break
        kinds = schema.get("type")
        if isinstance(kinds, list) and "null" in kinds and len(kinds) == 2:
            return {**schema, "type": next(each for each in kinds if each != "null")}, True
        return schema, is_nullable

    def _named(self, reference: str) -> Mapping[str, Any]:
        found: Any = self.whole
        for name in reference.removeprefix("#").split("/")[1:]:
            found = found.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) and reference.startswith("#") else {}


def _options(schema: Mapping[str, Any]) -> list[Option]:
    """Return what is to be chosen from: an `enum`, or constants with titles."""
    values, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list) and 0 < len(values) <= MOST_CHOICES:
        named = names if isinstance(names, list) and len(names) == len(values) else values
        return [Option(value, _label(name)) for value, name in zip(values, named, strict=True)]
    each = schema.get("oneOf") or schema.get("anyOf")
    if not isinstance(each, list) or len(each) > MOST_CHOICES:
        return []
    if not all(isinstance(one, dict) and "const" in one for one in each):
        return []
    return [Option(one["const"], _label(one.get("title", one["const"]))) for one in each]


def _label(value: Any) -> str:
    return masked_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _places(part: _Part) -> list[str]:
    return [part.place, *(place for each in part.parts for place in _places(each))]


# -- the fields -------------------------------------------------------------------------------------------


def _field(part: _Part, posted: Posted | None, counted: Any) -> Field:
    schema, number = part.schema, next(counted)
    typed = posted.typed.get(part.place) if posted else None
    chosen, value = _filled(part, typed, is_posted=posted is not None)
    kind = "menu" if part.kind == "choice" and part.names and len(part.options) > MOST_RADIOS else part.kind
    hint = schema.get("description")
    return Field(
        number,
        part.place,
        part.label,
        kind,
        value,
        _FORMATS.get(schema.get("format", ""), "text") if part.kind == "line" else "text",
        [Shown(at, option.label, f"{at}" in chosen) for at, option in enumerate(part.options)],
        [_field(each, posted, counted) for each in part.parts],
        part.is_required and not part.is_nullable and part.kind != "group",
        masked_text(hint) if isinstance(hint, str) else "",
        _limits(part),
        posted.errors.get(part.place, ()) if posted else (),
    )


def _filled(part: _Part, typed: Sequence[str] | None, *, is_posted: bool) -> tuple[Sequence[str], str]:
    """Return the numbers of the options that are chosen, and the text of a field: as typed, else the default."""
    if is_posted:
        return typed or (), (typed or [""])[0]
    default = part.schema.get("default", _MISSING)
    if default is _MISSING or part.kind == "group":
        return (), ""
    if part.options:
        wanted = default if part.kind == "choices" and isinstance(default, list) else [default]
        # True is 1 to Python, and not to JSON.
        told = [json.dumps(each) for each in wanted]
        return [f"{at}" for at, option in enumerate(part.options) if json.dumps(option.value) in told], ""
    return (), _label(default)


_BOUNDS = {
    "number": ("minimum", "maximum"),
    "choices": ("minItems", "maxItems"),
    "text": ("minLength", "maxLength"),
    "line": ("minLength", "maxLength"),
}


def _limits(part: _Part) -> str:
    """Say what the schema allows of a number, of a text's length or of how many are chosen."""
    if part.kind not in _BOUNDS:
        return ""
    low, high = (part.schema.get(name) for name in _BOUNDS[part.kind])
    low = None if low == 0 and part.kind != "number" else low
    if low is None and high is None:
        return ""
    both, least, most = _bounds_in_words(part.kind)
    said = both if None not in (low, high) else most if low is None else least
    return said % {"low": low, "high": high}


def _bounds_in_words(kind: str) -> tuple[str, str, str]:
    if kind == "number":
        return gettext("From %(low)s to %(high)s."), gettext("%(low)s or more."), gettext("%(high)s or less.")
    if kind == "choices":
        return (
            gettext("Choose %(low)s to %(high)s."),
            gettext("Choose %(low)s or more."),
            gettext("Choose %(high)s at most."),
        )
    return (
        gettext("%(low)s to %(high)s characters."),
        gettext("%(low)s characters or more."),
        gettext("%(high)s characters at most."),
    )


# -- what was filled in -----------------------------------------------------------------------------------


def _read(part: _Part, typed: Mapping[str, Sequence[str]], errors: dict[str, list[str]]) -> Any:
    """Return the value at one place, `_MISSING` where nothing was filled in, and note what is wrong."""
    if part.kind == "group":
        read = {each.names[-1]: _read(each, typed, errors) for each in part.parts}
        values = {name: value for name, value in read.items() if value is not _MISSING}
        return values if values or part.is_required else _MISSING
    given = [each for each in typed.get(part.place, ()) if each.strip()]
    if not given:
        return _nothing(part, errors)
    try:
        return _value(part, given)
    except ValueError as error:
        errors.setdefault(part.place, []).append(str(error))
        return _MISSING


def _nothing(part: _Part, errors: dict[str, list[str]]) -> Any:
    if not part.is_required:
        return _MISSING
    if part.is_nullable:
        return None
    if part.kind == "choices":
        return []
    errors.setdefault(part.place, []).append(gettext("This is required."))
    return _MISSING


def _value(part: _Part, given: Sequence[str]) -> Any:
    if part.options:
        chosen = [int(each) for each in given if each.isdecimal() and int(each) < len(part.options)]
        if len(chosen) < len(given):
            raise ValueError(gettext("This is none of the choices."))
        values = [part.options[at].value for at in chosen]
        return values if part.kind == "choices" else values[0]
    text = given[0].replace("\r\n", "\n")
    if part.kind == "number":
        return _number(text.strip())
    value = _json(text) if part.kind == "json" else text.strip() if part.kind == "line" else text
    if is_mask_left(value, None):
        raise ValueError(gettext("It contains a masked part. Write the value itself."))
    if isinstance(value, str) and "\0" in value:
        raise ValueError(gettext("The text has a NUL character, which cannot be stored. Remove it and try again."))
    return value


def _number(text: str) -> int | float:
    try:
        value = int(text) if _NUMBER.fullmatch(text) else float(text)
    except ValueError:
        raise ValueError(gettext("This is not a number.")) from None
    if value in (float("inf"), float("-inf")) or value != value:
        raise ValueError(gettext("This is not a number."))
    return value


def _json(text: str) -> Any:
    try:
        return load(text.encode("utf-8", "surrogatepass"))
    except Refused as refused:
        raise ValueError(gettext("This cannot be stored: %(detail)s") % {"detail": refused.detail}) from None
