"""What each pack would have held of a log's tool calls, calls of one kind together; of many kinds the gravest."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from metacog.heuristics.effects.calls.shape import place_of
from metacog.heuristics.effects.effect import Reading
from metacog.heuristics.policy.pack_fit import NONE
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.effect_bits import gravest, gravity
from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.heuristics.tool_calls.rules import Judged

MOST_KINDS = 40  # that are kept for a pack
_TELLING_NOTHING = (NONE, ASKS_ALL)  # these ask about what comes
POLICY = ""  # stands for the policy of the trial as it is, among the packs
MOST_REASONS = 100  # that are counted for a pack
OTHER = "…"  # all others
MOST_SHORT = 200  # characters of a call in short
_MAIN = ("command", "cmd", "script", "sql", "query", "statement", "code", "url", "file_path", "path", "filename")
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh")


@dataclass(slots=True)
class HeldKind:
    """Calls of one shape, or without one of the same effects at the same places, that a pack would have held."""

    example: str  # the first, its secrets masked
    line: int  # of the log
    bits: int  # its effects
    reason: str
    calls: int = 0
    denied: int = 0
    short: str = ""  # the first as people read it: "Bash git push"

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort the gravest first, of the same gravity what came oftenest."""
        return *gravity(self.bits), -self.calls, self.line


HeldReasons = dict[str, Counter[str]]  # calls by pack, by why they are held
HeldKinds = dict[str, dict[str, HeldKind]]  # by pack, by what the calls have in common


def from_json(kept: Mapping[str, Any]) -> HeldKinds:
    return {pack: {key: HeldKind(**of) for key, of in kinds.items()} for pack, kinds in kept.items()}


def add(kinds: HeldKinds, reasons: HeldReasons, call: ToolCall, judged: Mapping[str, Judged], first: HeldKind) -> None:
    """Count a call with each pack that would have held it; `first` as the first of its kind."""
    for pack, each in judged.items():
        if each.do in ("ask", "deny") and pack not in _TELLING_NOTHING:
            reason = str((each.rule or {}).get("reason") or each.fault)
            count(kinds, reasons, pack, call, each.reading, replace(first, reason=reason), is_denied=each.do == "deny")


def count(
    kinds: HeldKinds,
    reasons: HeldReasons,
    pack: str,
    call: ToolCall,
    reading: Reading,
    first: HeldKind,
    *,
    is_denied: bool,
) -> None:
    """Count a call that a pack would have held."""
    counts = reasons.setdefault(pack, Counter())
    counts[first.reason if first.reason in counts or len(counts) < MOST_REASONS else OTHER] += 1
    key, of_pack = _key(call, reading), kinds.setdefault(pack, {})
    if key not in of_pack:
        if len(of_pack) >= MOST_KINDS:
            least = max(of_pack, key=lambda other: of_pack[other].order)
            if gravity(of_pack[least].bits) <= gravity(first.bits):
                return
            del of_pack[least]
        of_pack[key] = replace(first, short=in_short(call))
    of_pack[key].calls += 1
    of_pack[key].denied += is_denied


def in_short(call: ToolCall) -> str:
    """Name a call by what tells most of its arguments, their secrets masked: "Bash git push origin main"."""
    arguments = call.arguments
    if not isinstance(arguments, dict):
        told = canonical(secrets.masked(arguments))
    elif main := next((value for name in _MAIN if (value := _text(arguments.get(name)))), ""):
        told = secrets.masked_text(main)
    else:
        told = " ".join(f"{name}={_value(value)}" for name, value in secrets.masked(arguments).items())
    return " ".join(f"{call.name} {told}".split())[:MOST_SHORT]


def _text(value: Any) -> str:
    """Return a command as a shell would be given it, so that its secrets are found; "" of what is none."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        if len(value) == 3 and value[0].rpartition("/")[2] in _SHELLS and value[1] in ("-c", "-lc"):
            return str(value[2])
        return shlex.join(value)
    return value if isinstance(value, str) else ""


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value if len(value) <= 40 else value[:39] + "…"
    if isinstance(value, list | dict) and value:
        return "[…]" if isinstance(value, list) else "{…}"
    return json.dumps(value)


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
