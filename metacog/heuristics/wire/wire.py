"""What arrives on the wire: the body of a posted response, checked into plain values."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError, to_json

from ..text.shadow import is_blank
from ..text.strict_json import MAX_DEPTH, MAX_ERRORS, Refused, load, load_file, pointer, whole
from ..text.tags import MAX_ITEMS, QUESTION, TOOL_CALL
from .assessment import Assessment
from .json_schema import MAX_BYTES as MAX_SCHEMA
from .json_schema import check_schema, is_too_large

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "Assessment",
    "Refused",
    "ResponseBody",
    "Whole",
    "check_intent",
    "check_response",
    "explain",
    "instant",
    "load",
    "load_file",
    "pointer",
    "read_response",
    "whole",
]

MAX_BYTES = 1_048_576
MAX_KIND = 64
MAX_METADATA = 4_096  # bytes of JSON
MAX_CHOICE = 1_000  # characters

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def instant(text: str) -> datetime:
    """Parse an RFC 3339 time with a zone into an aware datetime in UTC (microseconds, cut off).

    ValueError when it is none, has no zone, or lies outside the years 1 to 9999.
    """
    if not _RFC3339.fullmatch(text):
        raise ValueError("not a time with a zone as in RFC 3339")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("outside the years 1 to 9999") from error


def _check_time(text: str) -> str:
    try:
        instant(text)
    except ValueError:
        raise PydanticCustomError(
            "time", "must be a time with a zone as in RFC 3339, such as 2026-02-16T08:00:00Z"
        ) from None
    return text


def _check_id(text: str) -> str:
    if not re.fullmatch(r"[\x21-\x7e]{1,255}", text):
        raise PydanticCustomError("id", "must be 1 to 255 visible ASCII characters, such as a UUID")
    return text


def _check_kind(text: str) -> str:
    # Kinds are kept case-folded, which can lengthen them (ß → ss); both must fit where they are stored.
    if not 1 <= max(len(text), len(text.casefold())) <= MAX_KIND:
        raise PydanticCustomError("kind", f"must be 1 to {MAX_KIND} characters")
    return text


Name = Annotated[str, Field(max_length=255)]
Whole = Annotated[int, BeforeValidator(whole)]
Count = Annotated[Whole, Field(ge=0, le=2**63 - 1)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Time = Annotated[str, AfterValidator(_check_time), Field(json_schema_extra={"format": "date-time"})]
Id = Annotated[
    str,
    AfterValidator(_check_id),
    Field(json_schema_extra={"minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"}),
]
Kind = Annotated[str, AfterValidator(_check_kind), Field(json_schema_extra={"minLength": 1, "maxLength": MAX_KIND})]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


def _check_metadata(value: dict[str, Any]) -> dict[str, Any]:
    if (size := len(to_json(value))) > MAX_METADATA:
        raise PydanticCustomError("metadata", f"must be at most {MAX_METADATA:,} bytes of JSON, and has {size:,}")
    return value


def _check_name(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must not be blank: spaces and characters that nobody sees are no name")
    return text


def _check_schema(value: dict[str, Any]) -> dict[str, Any]:
    if not is_too_large(value) and (fault := check_schema(value)):
        raise PydanticCustomError("schema", "{fault}", {"fault": fault})
    return value


Metadata = Annotated[dict[str, JsonValue], AfterValidator(_check_metadata)]  # or whatever is as small
RequireReview = Annotated[
    bool | None, Field(description="True: hold it for a person, whatever the rules and the heuristics say.")
]
ExpiresIn = Annotated[
    Annotated[Whole, Field(ge=1, le=2**31 - 1)] | None,
    Field(description="Seconds until it expires undecided, at most the policy's `expiry_seconds`."),
]
_KEPT = "What comes back with whatever is told of it: at most 4,096 bytes of JSON."


class ItemBody(_Shape):
    """One thing the response wants said, remembered or done."""

    kind: Kind = Field(
        description="chat, remember, task, action, ask, schedule or thread, in any case; another kind passes."
    )
    text: str = Field(description="What is said, remembered, asked for or done.")
    attributes: dict[str, JsonValue] | None = Field(
        default=None, max_length=64, description="The tag's attributes. A value that is no string is kept as its JSON."
    )
    require_review: RequireReview = None
    expires_in: ExpiresIn = None
    metadata: Metadata | None = Field(default=None, description=_KEPT)


class ToolCallBody(_Shape):
    """An action of the agent's framework, before it is done."""

    kind: Kind = Field(description="tool_call, in any case.")
    name: Annotated[str, AfterValidator(_check_name)] = Field(max_length=255, description="The tool's name.")
    arguments: JsonValue = Field(description="What it is called with: any JSON.")
    call_id: Annotated[str, AfterValidator(_check_name), Field(max_length=255)] | None = Field(
        default=None, description="The framework's own id of this call."
    )
    json_schema: Annotated[dict[str, JsonValue], AfterValidator(_check_schema)] | None = Field(
        default=None,
        alias="schema",
        description="The JSON Schema that an edit of the arguments must meet. One of more than 65,536 bytes is left "
        "out, and the held item says that it is not checked by it.",
    )
    schema_omitted: bool | None = Field(
        default=None, description="True: there is a schema, and it is too large to be sent."
    )
    description: str | None = Field(
        default=None, max_length=10_000, description="What the call is for, in words for whoever decides."
    )
    annotations: Metadata | None = Field(
        default=None,
        description="The tool's MCP annotations, such as `destructiveHint`: at most 4,096 bytes of JSON. They allow "
        "nothing, unless the policy trusts the tool's server.",
    )
    require_review: RequireReview = None
    expires_in: ExpiresIn = None
    metadata: Metadata | None = Field(default=None, description=_KEPT)

    @model_validator(mode="after")
    def _leave_out_large_schema(self) -> Self:
        if self.json_schema is not None and is_too_large(self.json_schema):
            self.json_schema, self.schema_omitted = None, True
        return self


def _check_question(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must not be blank: say what is asked")
    return text


def _check_small_schema(value: dict[str, Any]) -> dict[str, Any]:
    if is_too_large(value):
        raise PydanticCustomError("schema", "must be at most {most:,} bytes of JSON", {"most": MAX_SCHEMA})
    return _check_schema(value)


def _check_choice(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must not be blank: it is what a person chooses")
    return text


def _check_choices(choices: list[str]) -> list[str]:
    if len({*choices}) < len(choices):
        twice = next(each for place, each in enumerate(choices) if each in choices[:place])
        raise PydanticCustomError("choices", "must not have {twice} twice", {"twice": repr(twice)})
    return choices


Choice = Annotated[str, AfterValidator(_check_choice), Field(min_length=1, max_length=MAX_CHOICE)]


class QuestionBody(ItemBody):
    """A question to a person: always held, and answered in the console, by mail or by API."""

    kind: Kind = Field(description="question, in any case.")
    text: Annotated[str, AfterValidator(_check_question)] = Field(description="What is asked.")
    json_schema: Annotated[dict[str, JsonValue], AfterValidator(_check_small_schema)] | None = Field(
        default=None,
        alias="schema",
        description="The JSON Schema that the answer must meet, at most 65,536 bytes. People get a form made of it.",
    )
    choices: Annotated[list[Choice], AfterValidator(_check_choices)] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_ITEMS,
        description="The answers to choose from, each once. Without them and a `schema` the answer is any text.",
    )


# Which of the three an item is. pydantic puts the tag into the place of an error, where `explain` leaves it out.
_WORDS, _CALL, _QUESTION = "an item of words", "a tool call", "a question"
_TAGS = {TOOL_CALL: _CALL, QUESTION: _QUESTION}


def _which(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return _TAGS.get(kind.casefold(), _WORDS) if isinstance(kind, str) else _WORDS


AnyItem = Annotated[
    Annotated[ItemBody, Tag(_WORDS)] | Annotated[ToolCallBody, Tag(_CALL)] | Annotated[QuestionBody, Tag(_QUESTION)],
    Discriminator(_which),
]


class TestsBody(_Shape):
    """How the tests stood after this response."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    passed: Count
    failed: Count


class RetrievalBody(_Shape):
    """What the agent's memory gave for this response."""

    scores: list[Share] | None = Field(default=None, max_length=256, description="Each from 0 to 1.")
    facts: Count | None = None
    topic_mentions: Count | None = None
    identity_covered: bool | None = None


EXAMPLE: dict[str, Any] = {
    "id": "0190b6d2-7c1e-7a3b-9f40-2b1c6d5e8f90",
    "response": 'The bug is clearly in the cache. <kuro:chat reply="true">It is fixed.</kuro:chat>',
    "items": [{"kind": "chat", "text": "It is fixed.", "attributes": {"reply": "true"}}],
    "user_message": "Why does the test fail?",
    "session": "s1",
    "cycle": 42,
    "mode": "learn-personal",
    "action": "read the cache module",
    "topics": ["constraints"],
    "thread": "constraint-and-emergence",
    "problem": "bug-17",
    "approach": "bump the timeout",
    "errors": ["TimeoutError: 30 s"],
    "command": "pytest -x",
    "command_output": "1 failed",
    "command_failed": True,
    "outcome": None,
    "context_used": 0.83,
    "tests": {"passed": 40, "failed": 2},
    "last_commit_at": "2026-02-16T07:12:00Z",
    "retrieval": {"scores": [0.91, 0.4], "facts": 3, "topic_mentions": 7, "identity_covered": True},
    "replies_to_held": None,
    "occurred_at": "2026-02-16T08:00:00Z",
    "metadata": {"run": "r-12"},
}


class ResponseBody(_Shape):
    """A response as an agent posts it; only `response` is required."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [EXAMPLE]})

    response: str = Field(description="The agent's whole text; may be empty.")
    id: Id | None = Field(
        default=None,
        description="The idempotency key where no header gives one: a UUID; it must never recur.",
    )
    items: list[AnyItem] | None = Field(
        default=None,
        max_length=MAX_ITEMS,
        description="What the response wants done. [] means nothing; null: tags are parsed from `response`.",
    )
    user_message: str | None = Field(default=None, description="The user's message that the response answers.")
    session: Name | None = Field(
        default=None,
        description="The conversation this belongs to: what was said, given and tried before counts within it. "
        "Without one it continues none.",
    )
    cycle: Count | None = Field(default=None, description="The agent's own count of its turns.")
    mode: Name | None = Field(default=None, description="The behaviour the agent chose for this turn.")
    action: str | None = Field(default=None, description="What was done, in a line.")
    topics: list[Name] | None = Field(default=None, max_length=64, description="What it is about.")
    thread: Name | None = Field(default=None, description="The slug of the thought thread it pursues.")
    problem: Name | None = Field(default=None, description="The problem it works on, for the stuck counters.")
    approach: str | None = Field(default=None, description="How it tries to solve the problem, in a line.")
    errors: list[str] | None = Field(default=None, max_length=256, description="Errors met in this turn.")
    command: str | None = Field(default=None, description="The command that was run.")
    command_output: str | None = Field(default=None, description="What the command printed.")
    command_failed: bool | None = Field(default=None, description="Whether the command failed.")
    outcome: Literal["resolved", "failed"] | None = Field(
        default=None, description="How the problem ended; null while it goes on."
    )
    context_used: Share | None = Field(default=None, description="The share of the context window in use, 0 to 1.")
    tests: TestsBody | None = Field(default=None, description="How the tests stand.")
    last_commit_at: Time | None = Field(default=None, description="When something was last committed.")
    retrieval: RetrievalBody | None = Field(default=None, description="What memory was found.")
    replies_to_held: Id | None = Field(default=None, description="The held item this response looks at again.")
    occurred_at: Time | None = Field(default=None, description="When the response was made.")
    metadata: Metadata | None = Field(default=None, description=_KEPT)


class StreakBody(_Shape):
    """How often in a row the same behaviour was chosen."""

    mode: str
    count: Annotated[Whole, Field(ge=0, le=2**53 - 1)]


class IntentBody(_Shape):
    """Where an agent is heading (seed 001, "組件三：Continuous Intent")."""

    lastMode: str
    lastAction: str | None = None
    activeThread: str | None = None
    streak: StreakBody | None = None
    recentModes: list[str] = Field(default_factory=list, max_length=MAX_ITEMS)


def read_response(raw: bytes) -> dict[str, Any]:
    """Turn the bytes of a post into a body in which every field stands (None where it was not sent).

    Refused: 413 above 1,048,576 bytes, 400 and 422 as in `load` and `check_response`.
    """
    if len(raw) > MAX_BYTES:
        raise Refused(413, f"The body has {len(raw):,} bytes; {MAX_BYTES:,} is the most that is taken.")
    return check_response(load(raw))


def check_response(value: Any) -> dict[str, Any]:
    """Check the shape of a parsed body; give it back with every field present, or raise Refused (422)."""
    return _check(ResponseBody, value)


def check_intent(value: Any) -> dict[str, Any] | None:
    """Check a continuous intent in the seed's shape (or null, none yet), or raise Refused (422)."""
    return None if value is None else _check(IntentBody, value)


def _check(model: type[BaseModel], value: Any) -> dict[str, Any]:
    try:
        return model.model_validate(value).model_dump(by_alias=True)
    except ValidationError as error:
        errors = explain(error.errors(include_url=False), model)
        raise Refused(422, summary(errors), errors) from None


def summary(errors: list[dict[str, str]]) -> str:
    """Say the first of some errors, and how many more there are."""
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{first['pointer'] or 'The body'}: {first['detail']}{more}"


_TYPES = {bool: "a boolean", int: "a whole number", float: "a number", str: "a string", type(None): "null"}
_WANTED = {
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "enum": "must be {expected}",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than_equal": "must be {ge} or more",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be {le} or less",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is required",
    "model_type": "must be an object",
    "string_too_long": "must be at most {max_length} characters long",
    "string_too_short": "must be at least {min_length} character(s) long",
    "string_type": "must be a string",
    "too_short": "must have at least {min_length} entry",
    "too_long": "must have at most {max_length} entries, and has {actual_length}",
}


def explain(errors: Iterable[ErrorDetails], model: type[BaseModel] | None = None) -> list[dict[str, str]]:
    """Say pydantic's errors as a problem document's: JSON Pointers and sentences, 32 at most."""
    said = []
    for error in errors:
        loc = [part for part in error["loc"] if part not in (_WORDS, _CALL, _QUESTION)]
        where = pointer(loc)
        if error["type"] == "extra_forbidden":
            detail = "is not a field of this object"
            if model is not None and len(loc) == 1:
                detail += "; the fields are " + ", ".join(model.model_fields)
        elif error["type"] in _WANTED:
            limits = {
                name: f"{value:g}" if type(value) is float else value for name, value in error.get("ctx", {}).items()
            }
            detail = _WANTED[error["type"]].format(**limits)
            given = error.get("input")
            if error["type"] == "int_type" and type(given) is float:
                detail += f", not {given!r}" + ("; write out all its digits" if given.is_integer() else "")
            elif error["type"].endswith("_type") and "input" in error:
                detail += f", not {_kind_of(given)}"
        else:
            detail = error["msg"]
        said.append({"pointer": where, "detail": detail})
        if len(said) == MAX_ERRORS:
            break
    return said


def _kind_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return _TYPES.get(type(value), "something else")
