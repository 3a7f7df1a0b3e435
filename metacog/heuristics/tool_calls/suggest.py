"""Suggest rules from what people decided about an agent's tool calls: stop asking, or deny."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ..stats.intervals import wilson
from ..text.strict_json import pointer
from .rules import Rules

IN_A_ROW = 20  # approvals without a change, before asking seems a waste
REJECTIONS = 5  # before denying seems what people want
REJECTED_SHARE = 0.8
MAX_PLACES = 40  # arguments of a tool that are looked at
MAX_VALUES = 50  # of one argument, the most frequent; and thresholds
MAX_VALUE_LENGTH = 200
_ADDRESS = re.compile(r"[^@\s,;<>\"]+@((?:[\w-]+\.)+[\w-]+)", re.ASCII)
_HOST = re.compile(r"[\w.:-]+", re.ASCII)

Do = Literal["allow", "deny"]
DOES: tuple[Do, ...] = ("allow", "deny")
Condition = tuple[str, str, Any]  # pointer, operator, value


class DecidedCall(NamedTuple):
    """A tool call that a person decided; `held` names the item."""

    tool: str
    arguments: Any
    verdict: Literal["approve", "edit", "reject"]
    held: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule that people's decisions speak for, and the decisions, oldest first.

    `place` is where it belongs in the policy's rules: a denial in front, what is to be allowed just before the first
    rule that has people asked now, so that no denial before that is undone.
    """

    rule: Mapping[str, Any]
    place: int
    decided: Sequence[DecidedCall]

    @property
    def do(self) -> Do:
        do: Do = self.rule["do"]
        return do

    @property
    def share(self) -> tuple[int, int]:
        """How many of them were decided as the rule would."""
        wanted = "approve" if self.do == "allow" else "reject"
        return sum(call.verdict == wanted for call in self.decided), len(self.decided)

    @property
    def low(self) -> float:
        """The lower bound of that share's 95 % interval."""
        return wilson(*self.share)[0]


def suggest(decided: Sequence[DecidedCall], rules: Sequence[Mapping[str, Any]], default: Any) -> list[Suggestion]:
    """Give what people's decisions, oldest first, speak for under these rules; at most two a tool, in order of name.

    Only calls count about which people are still asked. A tool whose decisions do not agree is tried with one
    condition on one of its arguments: a value, the domain of an address, a number as the limit.
    """
    judge, places = Rules(rules, default).judge, {id(rule): place for place, rule in enumerate(rules)}
    tools: dict[str, list[DecidedCall]] = defaultdict(list)
    asking: dict[str, int] = {}
    for call in decided:
        judged = judge(call.tool, call.arguments)
        if judged.do not in ("ask", "score") or "*" in call.tool or "?" in call.tool or "[" in call.tool:
            continue
        tools[call.tool].append(call)
        place = len(rules) if judged.rule is None else places[id(judged.rule)]
        asking[call.tool] = min(asking.get(call.tool, place), place)
    found = []
    for tool, calls in sorted(tools.items()):
        for do in _speaks_for(calls) or DOES:
            if (suggested := _suggestion(tool, calls, do)) is not None:
                rule, told = suggested
                found.append(Suggestion(rule, 0 if do == "deny" else asking[tool], told))
    return found


def _speaks_for(calls: Sequence[DecidedCall]) -> list[Do]:
    """Tell which rule they all speak for, if they do."""
    return [do for do in DOES if _agrees(calls, do)]


def _agrees(calls: Sequence[DecidedCall], do: Do) -> bool:
    if do == "allow":
        return len(calls) >= IN_A_ROW and all(call.verdict == "approve" for call in calls[-IN_A_ROW:])
    rejected = sum(call.verdict == "reject" for call in calls)
    return rejected >= REJECTIONS and rejected >= REJECTED_SHARE * len(calls)


def _suggestion(
    tool: str, calls: Sequence[DecidedCall], do: Do
) -> tuple[dict[str, Any], Sequence[DecidedCall]] | None:
    if _agrees(calls, do):
        return {"tool": tool, "do": do}, calls
    best: tuple[tuple[Any, ...], Condition, list[DecidedCall]] | None = None
    for condition in _conditions(calls, do):
        place, operator, value = condition
        rules = Rules([{"tool": "*", "where": {place: {operator: value}}, "do": "deny"}], "allow")
        judged = [(call, rules.judge(tool, call.arguments)) for call in calls]
        met = [call for call, result in judged if result.do == "deny"]
        # What speaks for it must be in the condition alone: calls that pass for want of one would be none.
        if not _agrees(met, do) or (do == "allow" and any(call.verdict != "approve" for call in met)):
            continue
        agreed = sum(call.verdict == ("approve" if do == "allow" else "reject") for call in met)
        order = (-wilson(agreed, len(met))[0], place, operator, str(value))
        if best is None or order < best[0]:
            best = order, condition, met
    if best is None:
        return None
    (place, operator, value), met = best[1], best[2]
    return {"tool": tool, "where": {place: {operator: value}}, "do": do}, met


def _conditions(calls: Sequence[DecidedCall], do: Do) -> Iterator[Condition]:
    """Give what may tell the calls apart: one condition on one argument."""
    values: dict[str, list[Any]] = defaultdict(list)
    for call in calls:
        for place, value in _arguments(call.arguments):
            if place in values or len(values) < MAX_PLACES:
                values[place].append(value)
    for place, seen in sorted(values.items()):
        texts = [value for value in seen if isinstance(value, str) and 0 < len(value) <= MAX_VALUE_LENGTH]
        for text in _frequent(texts):
            yield place, "eq", text
        domains = [domain for text in texts if (domain := _domain(text, do))]
        for operator, shape in _frequent(domains):
            yield place, operator, shape
        numbers = sorted({value for value in seen if type(value) in (int, float)})
        step = -(-len(numbers) // MAX_VALUES) or 1
        for number in numbers[::step]:
            yield place, "le", number
            yield place, "ge", number


def _arguments(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Give what stands in the arguments, to a depth of two, with its pointer."""
    if isinstance(value, Mapping) and len(path) < 2:
        for name, part in value.items():
            yield from _arguments(part, (*path, name))
    else:
        yield pointer(path), value


def _frequent(values: Sequence[Any]) -> list[Any]:
    counts: dict[Any, int] = defaultdict(int)
    for value in values:
        counts[value] += 1
    often = [value for value, count in counts.items() if count >= REJECTIONS]
    return sorted(often, key=lambda value: (-counts[value], value))[:MAX_VALUES]


def _domain(text: str, do: Do) -> tuple[str, str] | None:
    """Give the condition that an address is of the same domain, written so that nothing around it can feign it."""
    if address := _ADDRESS.fullmatch(text):
        domain = address[1].lower()
        if do == "deny":
            return "glob", f"*@{domain}"
        # One address and no list of several, of which this would be the last.
        return "regex", rf"^[^@\s,;<>]+@{re.escape(domain)}$"
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) and parts.path.startswith("/"):
        return "glob", f"{parts.scheme}://{parts.netloc}/*"
    return None
