"""Read JSON so that it can mean one thing only, and say exactly where it does not."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from itertools import accumulate
from typing import Any, NoReturn

MAX_DEPTH = 32
# From 309 digits on a double may overflow. CPython's own limit, 4,300, can be configured away.
MAX_DIGITS = 308
# Nobody reads more, and a hostile body must not make a long answer.
MAX_ERRORS = 32

# Matches from every quote on, closed or not, so that an open string is read once and not once a quote.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_MARK = b"\xef\xbb\xbf"  # byte order mark
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = [(byte in b"[{") - (byte in b"]}") for byte in range(256)]
_CLOSES = bytes.maketrans(b"[{", b"]}")


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


def whole(value: Any) -> Any:
    """Give 42.0 and 1e3 as the integers they are; whatever else arrives comes back unchanged.

    From 2**53 on a double no longer holds every integer, so what was meant cannot be told: it stays a float.
    """
    return int(value) if type(value) is float and value.is_integer() and abs(value) < 2**53 else value


def load(raw: bytes, what: str = "body") -> Any:
    """Parse bytes as JSON, or raise Refused, whose sentences call them `what`.

    400: not UTF-8, a byte order mark, not JSON, NaN, Infinity, a number too large for a double.
    422: nesting deeper than 32 (the outermost value is depth 1; looked at first), a name twice in one
    object, a NUL or half a surrogate pair in any string or name.
    """
    if raw.startswith(_MARK):
        raise Refused(400, f"The {what} starts with a byte order mark; send plain UTF-8 without one.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(400, f"The {what} is not UTF-8: byte {error.start} does not fit. Send UTF-8.") from None
    _refuse_depth(raw)

    ambiguous: list[_Ambiguous] = []

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs) and len(ambiguous) < MAX_ERRORS:
            ambiguous.append(_Ambiguous(pairs))
            return ambiguous[-1]
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
        wrong = error.msg.removesuffix(" at")  # Python's own ends so where the character follows
        raise Refused(400, f"The {what} is not JSON: {wrong} at line {error.lineno}, column {error.colno}.") from None
    # Raw NULs and surrogates are refused above, so only an escape can still bring one in.
    if ambiguous or "\\u" in text:
        errors = _ambiguities(value)
        if errors:
            raise Refused(422, errors[0]["detail"], errors)
    return value


def load_file(raw: bytes) -> Any:
    """Parse what a file holds as `load` does; editors begin files with a byte order mark, which says nothing."""
    return load(without_mark(raw), "file")


def without_mark(raw: bytes) -> bytes:
    return raw.removeprefix(_MARK)


class _Ambiguous(dict[str, Any]):
    """An object in which a name stands twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def repeated(self) -> list[str]:
        counts = Counter(name for name, _ in self._pairs)
        return [name for name, count in counts.items() if count > 1]


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
    # The parser recurses, and how deep it may depends on who called: so depth is counted before.
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    depths = accumulate(map(_STEPS.__getitem__, _STRING.sub(b"", raw).translate(None, _NO_BRACKETS)))
    if max(depths, default=0) <= MAX_DEPTH:
        return
    blanked = _STRING.sub(lambda string: b" " * len(string[0]), raw)
    depths = accumulate(map(_STEPS.__getitem__, blanked))
    at = next(at for at, depth in enumerate(depths) if depth > MAX_DEPTH)
    loc = _path_to(raw[:at], blanked[:at])
    if loc is not None:
        detail = f"Nested deeper than {MAX_DEPTH} levels; the body itself is level 1."
        raise Refused(422, detail, [{"pointer": pointer(loc), "detail": detail}])


def _path_to(raw: bytes, blanked: bytes) -> list[str | int] | None:
    """Tell which place comes next after this beginning of a body; None when it is not JSON so far."""
    still_open = blanked.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        still_open = still_open.replace(b"[]", b"").replace(b"{}", b"")
    closes = still_open[::-1].translate(_CLOSES)
    try:
        # Objects as lists of pairs: so the last entry is the one that was begun last.
        node = json.loads(raw + b"null" + closes, object_pairs_hook=list)
    except ValueError:
        return None
    loc: list[str | int] = []
    while node is not None:
        last = node[-1]
        is_pair = isinstance(last, tuple)
        loc.append(_shown(last[0]) if is_pair else len(node) - 1)
        node = last[1] if is_pair else last
    return loc


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
            for name in value.repeated() if isinstance(value, _Ambiguous) else ():
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
