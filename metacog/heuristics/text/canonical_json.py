"""JSON in one form only, so that equal values give equal bytes (RFC 8785, JSON Canonicalization Scheme)."""

import json
from decimal import Decimal
from typing import Any

_quoted = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` would make an encoder each time
_EXACT = 2**53  # from here on a double no longer holds every whole number


def canonical(value: Any) -> str:
    """Give the canonical JSON of a parsed value: no spaces, names in order of UTF-16, numbers as ECMAScript has them.

    Whole numbers beyond 2**53, which RFC 8785 leaves out, keep all their digits: two ids that differ must not become
    the same double.
    """
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join([f"{canonical(name)}:{canonical(part)}" for name, part in members]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)  # a whole number, true, false or null


def _number(value: float) -> str:
    """Write a finite double as ECMAScript's Number::toString does."""
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    sign, numerals, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, numerals))
    point = len(digits) + exponent  # digits before the decimal point
    if 0 < point <= 21:
        written = digits.ljust(point, "0") if point >= len(digits) else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        written = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        written = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{written}" if sign else written
