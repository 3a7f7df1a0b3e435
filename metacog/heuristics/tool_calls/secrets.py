"""Keep out of pages, lists and mails what looks like a secret, until somebody asks to see it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..text.excerpts import said
from ..text.tags import TOOL_CALL

MASK = "••••••••"

# Names whose values are secret whatever they look like: the words that gitleaks and detect-secrets look for.
_NAMES = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|signing[_-]?key"
    r"|auth|authorization|credentials?|cookie|session[_-]?cookie|client[_-]?secret|bearer|otp|pin"
)
_SECRET = re.compile(rf"(?:.*[_\W])?(?:{_NAMES})s?", re.IGNORECASE | re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_SECRET = re.compile(r"(?:max|min|num|total|prompt|completion|input|output)_?tokens?|tokens", re.IGNORECASE)

# What looks like a key wherever it stands.
_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-[A-Za-z0-9_-]{16,}|\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|\bgh[pousr]_[A-Za-z0-9]{16,}"
    r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{12,}"
    r"|\bAIza[\w-]{30,}|\bwhsec_[\w+/=]{16,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{6,}(?:\.[\w-]*)?|\bmcog_\w{16,}",
    re.DOTALL,
)
# What stands behind a secret's name in a command, a header, an address or a text of JSON.
_BEHIND = re.compile(
    rf"""(?ix)
    (?P<before>
        (?<![a-z0-9]) ["']? (?:[a-z0-9]{{1,40}}[_-]){{0,4}} (?:{_NAMES}) ["']? \s*[:=]\s* (?:(?:bearer|basic|token)\s+)?
        | \b(?:bearer|basic)\s+ (?=[\w+/=.-]{{12}})
        | --?(?:password|passwd|pass|token|secret|api-key)[ =]
        | \b[a-z][a-z0-9+.-]{{0,20}}://[^\s/:@"']{{0,80}}: (?=[^\s/@"']{{1,200}}@)
    )
    (?: (?P<quote>["']) (?P<quoted>(?:[^"'\\]|\\.)+) (?P=quote)
        | (?P<plain>(?=[^\s]{{0,200}}[0-9])[\w+/=.~!%-]{{6,}}|(?<=[A-Z]=)[^\s"'$;&|)]{{4,}}|(?<=:)[^\s/@"']+(?=@)
          |(?<=[ =])(?<=pass[ =]|oken[ =]|cret[ =]|word[ =]|sswd[ =])[\w+/=.~!%-]{{4,}}) )
    """,
)


def is_secret(name: str) -> bool:
    """Tell whether a value of this name is secret: `password`, `x-api-key`, `githubToken`, but not `max_tokens`."""
    parted = _HUMP.sub("_", name)
    return _SECRET.fullmatch(parted) is not None and _NOT_SECRET.fullmatch(parted) is None


def masked_text(text: str) -> str:
    """Return a text with what looks like a key in it masked; of a text that is JSON, what `masked` masks, too."""
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if value is not None and (hidden := masked(value)) != value:
            return json.dumps(hidden, ensure_ascii=False, indent=2 if "\n" in text else None)
    return _BEHIND.sub(_behind, _KEYS.sub(MASK, text))


def _behind(found: re.Match[str]) -> str:
    quote = found["quote"] or ""
    return f"{found['before']}{quote}{MASK}{quote}"


def masked(value: Any, *, is_named_so: bool = False) -> Any:
    """Return JSON with its secrets masked. Of a secret object or list each value is; true, false and null never are."""
    if isinstance(value, dict):
        return {name: masked(part, is_named_so=is_named_so or is_secret(name)) for name, part in value.items()}
    if isinstance(value, list):
        return [masked(part, is_named_so=is_named_so) for part in value]
    if is_named_so and value not in ("", None) and not isinstance(value, bool):
        return MASK
    return masked_text(value) if isinstance(value, str) else value


def restored(value: Any, original: Any, shown: Any) -> Any:
    """Put back what was masked and came back as it was shown: `shown` is the masked `original`."""
    if isinstance(value, str) and value == shown:
        return original
    if isinstance(value, dict) and isinstance(original, dict) and isinstance(shown, dict):
        return {name: restored(part, original.get(name), shown.get(name)) for name, part in value.items()}
    if isinstance(value, list) and isinstance(original, list) and isinstance(shown, list):
        rest = len(value) - len(original)
        pairs = zip(value, original + [None] * rest, shown + [None] * rest, strict=False)
        return [restored(*pair) for pair in pairs]
    return value


def masked_call(text: str) -> str:
    """Return a tool call's whole text, its name and arguments, with secrets masked."""
    begins = text.find(" ")
    while 0 <= begins <= 255:  # a name may hold blanks
        try:
            value = json.loads(text[begins + 1 :])
        except ValueError:
            begins = text.find(" ", begins + 1)
            continue
        return f"{text[:begins]} {json.dumps(masked(value), ensure_ascii=False)}"
    return masked_text(text)


def masked_verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict in which the tool calls' arguments, and what is quoted of them, are masked."""
    items = []
    for item in verdict["items"]:
        if item["kind"] == TOOL_CALL:
            item = item | {"arguments": masked(item["arguments"])}
            if "hesitation" in item:
                item["hesitation"] = masked(item["hesitation"])
        items.append(item)
    return {**verdict, "items": items}


def still_masked(value: Any) -> bool:
    """Tell whether a mask stands in JSON, where the value itself should."""
    if isinstance(value, dict):
        return any(map(still_masked, value.values()))
    if isinstance(value, list):
        return any(map(still_masked, value))
    return isinstance(value, str) and MASK in value


# -- one line ----------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """A text, number, true, false or null somewhere in JSON."""

    name: str  # the names and indexes on the way, parted by dots
    value: str
    is_secret: bool


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def leaves(json_text: str) -> Iterator[Leaf]:
    """Give the leaves of JSON, of which the end may be cut off."""
    path: list[str | int | None] = []  # where in each open object (None: before a name) or list
    for token in (found[0] for found in _TOKEN.finditer(json_text)):
        if token in "{[":
            path.append(None if token == "{" else 0)
        elif token in "}]":
            del path[-1:]
        elif token == ",":
            if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif path and path[-1] is None:
            path[-1] = _string(token)
        elif token != ":":
            secret = any(isinstance(part, str) and is_secret(part) for part in path)
            yield Leaf(".".join(map(str, path)), _string(token) if token.startswith('"') else token, secret)


def _string(token: str) -> str:
    """Read a JSON string; of one that is cut off, as much as is there."""
    try:
        return str(json.loads(token))
    except ValueError:
        pass
    for cut in range(7):  # in the middle of \u0000, at most
        try:
            return str(json.loads(f'{token[: len(token) - cut]}"')) + "…"
        except ValueError:
            continue
    return token


# What says most about a call, wherever it stands among the arguments.
_TELLING = (
    "command", "cmd", "script", "sql", "query", "statement", "code", "url", "path", "file_path", "filename", "to",
    "recipient", "amount", "eur", "usd", "subject",
)  # fmt: skip
MOST = 6  # arguments that a line names
LONG = 60  # characters of one value
FIRST = 160  # of the first: a row of the queue ends within it, and is cut once


def line(name: str, text: str) -> str:
    """Return a tool call's most telling arguments on one line; `text` is its arguments' JSON, which may end too early.

    It may have the name before it.
    """
    found = list(leaves(text.removeprefix(name).lstrip()))
    found.sort(key=_telling)
    told = [
        f"{leaf.name}={value}" if leaf.name else value
        for at, leaf in enumerate(found[:MOST])
        for value in (_value(leaf, LONG if at else FIRST),)
    ]
    return " ".join([*told, "…"] if len(found) > MOST else told)


def _telling(leaf: Leaf) -> tuple[bool, bool]:
    """Put what tells most first, then what is short; else in their order."""
    return leaf.name.rpartition(".")[2].lower() not in _TELLING, len(leaf.value) > LONG


def excerpt(kind: str, name: str | None, text: str) -> str:
    """Return what an item says: of a tool call its name and arguments on one line; see `line`."""
    return f"{name} {line(name, text)}" if kind == TOOL_CALL and name else said(text)


def _value(leaf: Leaf, most: int) -> str:
    if leaf.is_secret and leaf.value not in ("", "null", "true", "false"):
        return MASK
    written = " ".join(masked_text(leaf.value).split())
    return written if len(written) <= most else written[: most - 1].rstrip("… ") + "…"
