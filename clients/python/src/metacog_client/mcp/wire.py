"""JSON-RPC messages, one a line, read so that whoever reads them next finds the same in them.

A gate that reads a message in one way, before a server that reads it in another, is no gate. So what comes from the
client is refused where two readers could differ (a name twice in an object, a name in other letters, a number that no
float holds), and is handed on as it was understood: written anew, on one line, in ASCII.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

CALL = "tools/call"
# The names that decide what a message is. Some libraries take them in any case (Go's encoding/json does).
ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
OF_A_CALL = frozenset({"name", "arguments", "_meta", "task"})

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603

Message = dict[str, Any]


class Unclear(ValueError):
    """What could be read in two ways, or in none; the text is a sentence."""


def read(line: bytes) -> Any:
    """Read one message; raise Unclear where it is none, or more than one."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except Unclear:
        raise
    except (ValueError, RecursionError):
        raise Unclear("The message is no JSON.") from None
    for message in found if isinstance(found, list) else [found]:
        _check(message)
    return found


def write(message: Any) -> bytes:
    """Write a message as one line. ASCII: some readers take U+2028 and others for the end of a line."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode() + b"\n"


def id_in(line: bytes) -> Any:
    """Give the id of a message that was refused, so that its sender can be told; None where it has none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    said = found.get("id") if isinstance(found, dict) and "method" in found else None
    return said if is_id(said) else None


def is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def is_call(message: Any) -> bool:
    return isinstance(message, dict) and message.get("method") == CALL


def error(said: Any, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": said, "error": {"code": code, "message": text}}


def canonical(value: Any) -> str:
    """Write equal values as equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _once(pairs: list[tuple[str, Any]]) -> Message:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unclear("The message has a name twice in one object.")
    return found


def _no_number(text: str) -> NoReturn:
    raise Unclear(f"The message has {text}, which is no number in JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise Unclear("The message has a number that is too large.")
    return number


def _check(message: Any) -> None:
    if not isinstance(message, dict):
        raise Unclear("The message is no JSON object.")
    _check_names(message, ENVELOPE)
    method = message.get("method")
    if "method" in message and not isinstance(method, str):
        raise Unclear("The message's method is no text.")
    if isinstance(method, str) and not (method.isascii() and method.isprintable()):
        raise Unclear("The message's method is not written in ASCII.")
    if isinstance(method, str) and method != CALL and _folded(method) == _folded(CALL):
        raise Unclear(f"The message's method is not written {CALL}.")
    if method == CALL and isinstance(message.get("params"), dict):
        _check_names(message["params"], OF_A_CALL)


def _check_names(given: Message, known: frozenset[str]) -> None:
    for name in given.keys() - known:
        if name.casefold() in known:
            raise Unclear(f"The message has {name!r} in place of {name.casefold()!r}.")


def _folded(text: str) -> str:
    return "".join(each for each in text.lower() if each.isalnum())
