"""Several texts of a row as one compressed value, and small numbers as bytes: how SQLite keeps what is large.

PostgreSQL compresses long values by itself. What a version wrote is read for ever: its dictionary, which stands for
what such texts have in common, is never changed. For another one make another version.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

VERSION = b"\x01"
_BETWEEN = "\0"  # stands in no JSON
_NO_WINDOW = -15  # the largest there is, without zlib's head and checksum
_WINDOW, _MEMORY = -13, 6  # more takes longer to get ready than such texts take to compress
_LONG = 8_000  # characters, from which the largest window is worth it

# Words and JSON that such texts have in common, compressed: a file that no search and replace reaches.
_FILE = Path(__file__).with_name("packing_1.bin").read_bytes()
if sha256(_FILE).hexdigest() != "6134e58b98dcc0e80b7e69e16a56faad9c7da59b6d38e504664d88d8b44103a4":
    raise ImportError("metacog/db/packing_1.bin was changed: nothing stored could be read with it. Install it anew.")
_DICTIONARY = zlib.decompress(_FILE)


def packed(texts: Sequence[str]) -> bytes | None:
    """Return texts as one value; None where they cannot be told apart in it."""
    whole = _BETWEEN.join(texts)
    if whole.count(_BETWEEN) != len(texts) - 1:
        return None
    window, memory = (_NO_WINDOW, 8) if len(whole) > _LONG else (_WINDOW, _MEMORY)
    deflate = zlib.compressobj(1, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    return VERSION + deflate.compress(whole.encode()) + deflate.flush()


@lru_cache(maxsize=4)  # a row's texts are asked for one by one
def unpacked(value: bytes) -> list[str]:
    """Return the texts of a packed value."""
    if not value.startswith(VERSION):
        raise ValueError("Packed by a later version of metacog.")
    return zlib.decompressobj(_NO_WINDOW, _DICTIONARY).decompress(value[1:]).decode().split(_BETWEEN)


def part(own: bytes | str | None, whole: bytes | str, number: int) -> str | None:
    """Return one text of a row: what its own column holds, or its part of what is packed into another."""
    if isinstance(own, bytes):
        if not isinstance(whole, bytes):
            raise ValueError("The value that this text was packed into is gone.")
        return unpacked(whole)[number]
    return own


def numbers_packed(numbers: Sequence[int]) -> bytes:
    """Return numbers below 2**32 as bytes, 4 each."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def numbers_unpacked(value: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(value) // 4}I", value))
