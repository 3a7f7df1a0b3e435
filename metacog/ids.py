"""Public identifiers: a prefix that says what it is, then time and chance."""

import secrets
import time
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in ASCII order


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
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (digits - 1), -1, -5))
