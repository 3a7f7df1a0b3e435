"""What each pack would have held of a log's tool calls, calls of one kind together; of many kinds the gravest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metacog.heuristics.effects.calls.shape import place_of
from metacog.heuristics.effects.effect import Reading
from metacog.heuristics.policy.pack_fit import NONE
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.effect_bits import gravest, gravity
from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.heuristics.tool_calls.rules import Judged

MOST_KINDS = 40  # that are kept for a pack
_TELLING_NOTHING = (NONE, ASKS_ALL)  # these ask about what comes


@dataclass(slots=True)
class HeldKind:
    """Calls of one shape, or without one of the same effects at the same places, that a pack would have held."""

    example: str  # the first, its secrets masked
    line: int  # of the log
    bits: int  # its effects
    reason: str
    calls: int = 0
    denied: int = 0

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort the gravest first, of the same gravity what came oftenest."""
        return *gravity(self.bits), -self.calls, self.line


HeldKinds = dict[str, dict[str, HeldKind]]  # by pack, by what the calls have in common


def from_json(kept: Mapping[str, Any]) -> HeldKinds:
    return {pack: {key: HeldKind(**of) for key, of in kinds.items()} for pack, kinds in kept.items()}


def add(kinds: HeldKinds, call: ToolCall, judged: Mapping[str, Judged], first: HeldKind) -> None:
    """Count a call with each pack that would have held it; `first` as the first of its kind."""
    key = ""
    for pack, each in judged.items():
        if each.do not in ("ask", "deny") or pack in _TELLING_NOTHING:
            continue
        key = key or _key(call, each.reading)
        of_pack = kinds.setdefault(pack, {})
        if key not in of_pack:
            reason = str((each.rule or {}).get("reason") or each.fault)
            if len(of_pack) >= MOST_KINDS:
                least = max(of_pack, key=lambda other: of_pack[other].order)
                if gravity(of_pack[least].bits) <= gravity(first.bits):
                    continue
                del of_pack[least]
            of_pack[key] = HeldKind(first.example, first.line, first.bits, reason)
        of_pack[key].calls += 1
        of_pack[key].denied += each.do == "deny"


def _key(call: ToolCall, reading: Reading) -> str:
    """Name what calls of one kind have in common, by a digest: a report is to be small, and to hold no arguments."""
    same: Any = reading.shape
    if same is None and reading.readable:
        same = sorted({f"{effect.effect} {place}" for effect, place in _places(reading)})
    elif same is None:  # nobody knows what it has in common with another
        same = {"call": call.arguments}
    return hashlib.sha256(canonical([call.name, same]).encode()).hexdigest()[:16]


def _places(reading: Reading) -> Iterator[tuple[Any, str]]:
    for effect in reading.effects:
        try:
            yield effect, place_of(effect)
        except ValueError:  # no address, though it is called one
            yield effect, effect.object or ""


def kind_of(bits: int, reading: Reading) -> str:
    """Return the gravest effect of a call, and of files that change whether they are in the project: "write inside"."""
    name = gravest(bits)
    where = {effect.inside for effect in reading.effects if effect.effect == name and name in ("write", "delete")}
    return name + (" outside" if False in where else " inside" if True in where else "")
