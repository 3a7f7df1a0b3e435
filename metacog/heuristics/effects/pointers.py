"""JSON Pointers (RFC 6901) into what was sent."""

from collections.abc import Mapping, Sequence
from typing import Any

MAX_LENGTH = 500


def names_of(pointer: Any) -> list[str] | None:
    """Read a JSON Pointer; None: it is none, or too long."""
    if not isinstance(pointer, str) or len(pointer) > MAX_LENGTH or (pointer and not pointer.startswith("/")):
        return None
    names = pointer.split("/")[1:]
    if any("~" in name.replace("~0", "").replace("~1", "") for name in names):
        return None
    return [name.replace("~1", "/").replace("~0", "~") for name in names]


def at(value: Any, names: Sequence[str]) -> tuple[bool, Any]:
    """Follow a pointer: whether there is something, and what."""
    for name in names:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and str(int(name)) == name:
            if int(name) >= len(value):
                return False, None
            value = value[int(name)]
        else:
            return False, None
    return True, value
