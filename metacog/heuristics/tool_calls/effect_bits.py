"""The effects of a tool call as one small number, by which the queue is filtered and calls are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..effects.effect import KINDS

OUTSIDE = "outside"  # of any effect but `read`: on something that is not in the workspace
# In this order for good: rows hold the bits. A kind that comes new comes behind.
NAMES = (*KINDS, OUTSIDE)
# What matters most comes first.
GRAVITY = (
    "irreversible", "pay", "delete", "secret", "send", "publish", "privilege", "unknown", "install", "write", "execute",
    "fetch", "read", OUTSIDE,
)  # fmt: skip
_BITS = {name: 1 << place for place, name in enumerate(NAMES)}


def bits_of(effects: Iterable[Mapping[str, Any]]) -> int:
    """Return the bits of effects as a verdict's item has them; 0 of none."""
    bits = 0
    for each in effects:
        bits |= _BITS.get(each["effect"], 0)
        if each["inside"] is False and each["effect"] != "read":
            bits |= _BITS[OUTSIDE]
    return bits


def bit(name: str) -> int:
    """Return the bit of one of NAMES."""
    return _BITS[name]


def names_in(bits: int) -> list[str]:
    """Return which of NAMES are in a number."""
    return [name for name in NAMES if bits & _BITS[name]]


def gravest(bits: int) -> str:
    """Return the kind of effect that matters most; "" of none."""
    return next((name for name in GRAVITY if name != OUTSIDE and bits & _BITS[name]), "")


def gravity(bits: int) -> tuple[int, bool]:
    """Return what sorts calls by how much their effects matter, the gravest first."""
    name = gravest(bits)
    return GRAVITY.index(name) if name else len(GRAVITY), not bits & _BITS[OUTSIDE]
