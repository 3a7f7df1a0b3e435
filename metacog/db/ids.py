"""Public identifiers: a prefix that says what it is, then time and chance."""

import secrets
import time
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in ASCII order
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


def new_id(prefix: str) -> str:
    """Return `prefix_` and 26 characters: 48 bits of milliseconds, then 80 random bits.

    Later ids sort after earlier ones (to the millisecond), so they index well; 80 random bits make
    them unguessable. The form is that of a ULID (https://github.com/ulid/spec), in lower case.
    """
    return f"{prefix}_{_written(time.time_ns() // 1_000_000)}{_written(secrets.randbits(80), 16)}"


def first_id_at(prefix: str, moment: datetime) -> str:
    """Return what sorts before every id of this prefix made from `moment` on, to the millisecond."""
    return f"{prefix}_{_written(int(moment.timestamp() * 1000))}"


def _written(number: int, digits: int = 10) -> str:
    """Write an even number of digits, two at a time."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(5 * digits - 10, -1, -10)])
