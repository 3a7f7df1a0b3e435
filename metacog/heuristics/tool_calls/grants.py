"""What a person may let pass with an approval, for a while: this call, calls of its shape, or all of a tool."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from ..effects.effect import Reading
from ..text.canonical_json import canonical
from ..text.strict_json import pointer
from ..text.tags import ToolCall

Scope = Literal["session", "agent"]
Match = Literal["call", "shape", "tool"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MATCHES: tuple[Match, ...] = get_args(Match)
Why = Literal["compound", "unreadable", "no-shape", "free-text", "keys"]

# What a schema may say of a text so that it decides nothing by its words, and what such a text looks like.
_FORMATS = {"uuid", "date", "time", "date-time", "duration"}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NAME_OF_ID = re.compile(r"(?:.*[a-z0-9_.-])?(?:id|ids|uuid|Id|Ids|ID|IDs|UUID)|ID|UUID")
_WORDLESS = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
    r"|[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?"
)
_WORDLESS_OBJECTS = (None, "amount", "name", "ref", "table")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class Unfit(NamedTuple):
    """Why a call cannot be granted more widely: the reason, and the argument that it is about ("": the whole)."""

    why: Why
    argument: str = ""

    @property
    def detail(self) -> str:
        """Say it in English."""
        return WORDS[self.why].replace("{argument}", self.argument or "the arguments")


WORDS: dict[Why, str] = {
    "compound": "{argument} is more than one simple command, or redirects or substitutes: grant this very call",
    "unreadable": "what it would do cannot be read for certain: grant this very call",
    "no-shape": "no shape is narrow enough for it: grant this very call",
    "free-text": "{argument} is free text, which decides what the tool does: grant this call or its shape",
    "keys": "{argument} has names of its own, which no schema bounds: grant this call or its shape",
}


def unfit(match: Match, call: ToolCall, reading: Reading) -> Unfit | None:
    """Say why a call cannot be granted with this match; None where it can."""
    if match == "shape":
        if reading.compound:
            return Unfit("compound", min(reading.compound))
        if not reading.readable:
            return Unfit("unreadable")
        return Unfit("no-shape") if reading.shape is None else None
    return next(_free(call, reading), None) if match == "tool" else None


def keys(session: str, call: ToolCall, reading: Reading) -> dict[str, tuple[Match, Scope]]:
    """Give every key by which a grant lets this call pass, the narrowest first; see `key`."""
    matches = [match for match in MATCHES if unfit(match, call, reading) is None]
    return {key(match, scope, session, call, reading): (match, scope) for match in matches for scope in SCOPES}


def key(match: Match, scope: Scope, session: str, call: ToolCall, reading: Reading) -> str:
    """Give what a grant is recognized by, as SHA-256; of a call that is not `unfit` for the match.

    A call in a session has the key by which it is recognized while it waits: [session, name, arguments].
    """
    same: Any = {"call": call.arguments, "shape": reading.shape, "tool": None}[match]
    if (match, scope) == ("call", "session"):
        return _sha256([session, call.name, same])
    return _sha256([match, session if scope == "session" else None, call.name, same])


def shape_key(call: ToolCall, reading: Reading) -> str:
    """Give what calls of one shape have in common, whatever their session; "" where there is no such shape."""
    return "" if unfit("shape", call, reading) else key("shape", "agent", "", call, reading)


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def free_texts(call: ToolCall, reading: Reading) -> frozenset[str]:
    """Give the pointers of the arguments whose words decide what a call does."""
    return frozenset(no.argument for no in _free(call, reading))


def _free(call: ToolCall, reading: Reading) -> Iterator[Unfit]:
    """Find the arguments whose words decide what the call does.

    A command, SQL, code, a path, an address and prose do. A number, a boolean, a value of an `enum`, a date and an id
    do not: by the schema, or by how name and value look.
    """
    read = {command.argument for command in reading.commands} | reading.compound
    named = {effect.argument for effect in reading.effects if effect.of not in _WORDLESS_OBJECTS}
    for path, name, value, schema in _leaves((), "", call.arguments, call.schema):
        place = pointer(path)
        if name is not None and not _KEY.fullmatch(name):
            yield Unfit("keys", pointer(path[:-1]))
        elif place in read | named or (isinstance(value, str) and not _says_nothing(name or "", value, schema)):
            yield Unfit("free-text", place)


def _says_nothing(name: str, value: str, schema: Mapping[str, Any]) -> bool:
    choices = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
    if value in choices or schema.get("format") in _FORMATS or _WORDLESS.fullmatch(value):
        return True
    return bool(_NAME_OF_ID.fullmatch(name) and _ID.fullmatch(value))


def _leaves(
    path: tuple[str | int, ...], name: str | None, value: Any, schema: Any
) -> Iterator[tuple[tuple[str | int, ...], str | None, Any, Mapping[str, Any]]]:
    """Give what stands in arguments: its path, the name it has (in a list its list's), itself, and its schema."""
    told: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        parts = told.get("properties")
        for each, part in value.items():
            yield from _leaves((*path, each), each, part, parts.get(each) if isinstance(parts, Mapping) else None)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _leaves((*path, index), name, part, told.get("items"))
    else:
        yield path, name or None, value, told
