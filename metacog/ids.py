"""Public identifiers: a prefix that says what it is, then time and chance."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in ASCII order


def new_id(prefix: str) -> str:
    """Return `prefix_` and 26 characters: 48 bits of milliseconds, then 80 random bits.

    Later ids sort after earlier ones (to the millisecond), so they index well; 80 random bits make
    them unguessable. The form is that of a ULID (https://github.com/ulid/spec), in lower case.
    """
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return prefix + "_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
