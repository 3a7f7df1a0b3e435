"""Read JSON so that it can mean one thing only, and say exactly where it does not."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, NoReturn

MAX_DEPTH = 32
# From 309 digits on a double may overflow. CPython's own limit, 4,300, can be configured away.
MAX_DIGITS = 308
# Nobody reads more, and a hostile body must not make a long answer.
MAX_ERRORS = 32

# Always matches from the quote on, so that an unclosed string is read once, not once a quote.
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)


class Refused(Exception):
    """What arrived cannot be taken; nothing was changed.

    `status` is 400 (not JSON), 413 (too large) or 422 (out of shape); `errors` is a list of
    {"pointer", "detail"}, where a pointer is a JSON Pointer into the body ("" is all of it).
    """

    def __init__(self, status: int, detail: str, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.title = HTTPStatus(status).phrase
        self.detail = detail
        self.errors = list(errors) or [{"pointer": "", "detail": detail}]

    def problem(self) -> dict[str, Any]:
        """Give the RFC 9457 document."""
        return {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "errors": self.errors,
        }


def pointer(loc: Sequence[str | int]) -> str:
    """Write a path of keys and indexes as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in loc)


def load(raw: bytes) -> Any:
    """Parse bytes as JSON, or raise Refused.

    400: not UTF-8, a byte order mark, not JSON, NaN, Infinity, a number too large for a double.
    422: nesting deeper than 32 (the outermost value is depth 1; looked at first), a name twice in one
    object, a NUL or half a surrogate pair in any string or name.
    """
    if raw.startswith(b"\xef\xbb\xbf"):
        raise Refused(400, "The body starts with a byte order mark; send plain UTF-8 without one.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(400, f"The body is not UTF-8: byte {error.start} does not fit. Send UTF-8.") from None
    _refuse_depth(raw)

    has_duplicates = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        value = dict(pairs)
        if len(value) != len(pairs):
            has_duplicates = True
            return _Ambiguous(pairs)
        return value

    try:
        value = json.loads(
            text,
            object_pairs_hook=build,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise Refused(
            400, f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    # Raw NULs and surrogates are refused above, so only an escape can still bring one in.
    if has_duplicates or "\\u" in text:
        errors = _ambiguities(value)
        if errors:
            raise Refused(422, errors[0]["detail"], errors)
    return value


class _Ambiguous(dict[str, Any]):
    """An object in which a name stands twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = [name for name, count in counts.items() if count > 1]


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise Refused(400, f"A number has {len(digits)} digits; {MAX_DIGITS} at most can be read.")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Refused(400, f"The number {digits[:40]} is too large for a double.")
    return value


def _constant(name: str) -> NoReturn:
    raise Refused(400, f"{name} is not JSON; leave the value out or send null.")


def _refuse_depth(raw: bytes) -> None:
    # The parser recurses, and how deep it may depends on who called: so depth is counted before, by brackets.
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    path: list[int | str | None] = []  # per open container: the index, or the name last read (None: to come)
    for token in _STRUCTURE.finditer(raw):
        symbol = token.group()
        if symbol in (b"[", b"{"):
            if len(path) == MAX_DEPTH:
                detail = f"Nested deeper than {MAX_DEPTH} levels; the body itself is level 1."
                where = pointer([0 if part is None else part for part in path])
                raise Refused(422, detail, [{"pointer": where, "detail": detail}])
            path.append(0 if symbol == b"[" else None)
        elif symbol in (b"]", b"}"):
            if path:
                path.pop()
        elif symbol == b",":
            if path:
                last = path[-1]
                path[-1] = last + 1 if isinstance(last, int) else None
        elif path and path[-1] is None:
            path[-1] = _name(symbol)


def _name(symbol: bytes) -> str:
    try:
        return str(json.loads(symbol)).encode("utf-8", "replace").decode()
    except ValueError:
        return symbol.strip(b'"').decode()


def _ambiguities(value: Any) -> list[dict[str, str]]:
    errors: list[dict[str, str]] = []
    rest: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while rest and len(errors) < MAX_ERRORS:
        loc, value = rest.pop()
        if isinstance(value, str):
            fault = _fault(value)
            if fault:
                errors.append({"pointer": pointer(loc), "detail": f"The text holds {fault}."})
        elif isinstance(value, dict):
            for name in getattr(value, "repeated", ()):
                detail = "The name stands twice in this object; send it once."
                errors.append({"pointer": pointer((*loc, _shown(name))), "detail": detail})
            for name in value:
                fault = _fault(name)
                if fault:
                    where = pointer((*loc, _shown(name)))
                    errors.append({"pointer": where, "detail": f"The name holds {fault}."})
            rest.extend(((*loc, _shown(name)), part) for name, part in reversed(value.items()))
        elif isinstance(value, list):
            rest.extend(((*loc, index), value[index]) for index in reversed(range(len(value))))
    return errors[:MAX_ERRORS]


def _fault(text: str) -> str | None:
    if "\0" in text:
        return "a NUL character (\\u0000), which no database keeps; leave it out"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        return f"half of a surrogate pair ({half}) at character {error.start}; send both halves or neither"
    return None


def _shown(name: str) -> str:
    """Make a name fit to be sent back: what UTF-8 cannot carry becomes a question mark."""
    return name.encode("utf-8", "replace").decode()
