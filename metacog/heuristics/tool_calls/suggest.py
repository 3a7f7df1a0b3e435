"""Suggest rules from what people decided about an agent's tool calls: stop asking, or deny."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ..stats.intervals import wilson
from ..text.strict_json import pointer
from ..text.tags import ToolCall
from .rules import Rules

IN_A_ROW = 20  # approvals without a change, before asking seems a waste
REJECTIONS = 5  # before denying seems what people want
REJECTED_SHARE = 0.8
MAX_PLACES = 40  # arguments of a call that are looked at
MAX_LIMITS = 50  # of the numbers of one argument
MAX_TRIED = 10  # conditions, the best, that are tried as a rule
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


def suggest(decided: Sequence[DecidedCall], rules: Rules) -> list[Suggestion]:
    """Give what people's decisions, oldest first, speak for under these rules; at most two a tool, in order of name.

    Only calls count about which people are still asked. A tool whose decisions do not agree is tried with one
    condition on one of its arguments: a value, the domain of an address, a number as the limit.
    """
    own = sum("pack" not in rule for rule in rules.given)
    places = {id(rule): place for place, rule in enumerate(rules.given[:own])}
    tools: dict[str, list[DecidedCall]] = defaultdict(list)
    asking: dict[str, int] = {}
    for call in decided:
        judged = rules.judge(ToolCall(call.tool, call.arguments))
        if judged.do not in ("ask", "score") or "*" in call.tool or "?" in call.tool or "[" in call.tool:
            continue
        tools[call.tool].append(call)
        place = places.get(id(judged.rule), own)
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


def _suggestion(tool: str, calls: Sequence[DecidedCall], do: Do) -> tuple[dict[str, Any], Sequence[DecidedCall]] | None:
    if _agrees(calls, do):
        return {"tool": tool, "do": do}, calls
    agreeing = []
    rejected = sum(call.verdict == "reject" for call in calls) / len(calls)
    for condition, met in _conditions(calls, do).items():
        if _agrees(met, do) and _is_unspoilt(met, do):
            agreed = sum(call.verdict == ("approve" if do == "allow" else "reject") for call in met)
            low = wilson(agreed, len(met))[0]
            if do == "deny" and low <= rejected:
                continue  # no more than what is rejected anyway
            agreeing.append((-low, *condition[:2], str(condition[2]), condition[2]))
    for _low, place, operator, _text, value in sorted(agreeing, key=lambda each: each[:4])[:MAX_TRIED]:
        rule = {"tool": tool, "where": {place: {operator: value}}, "do": do}
        rules = Rules([rule], "score")
        met = [call for call in calls if rules.judge(ToolCall(tool, call.arguments)).do == do]
        if _agrees(met, do) and _is_unspoilt(met, do):
            return rule, met
    return None


def _is_unspoilt(met: Sequence[DecidedCall], do: Do) -> bool:
    """Tell whether nobody rejected or edited what is to be allowed: one condition of many may agree by chance."""
    return do == "deny" or all(call.verdict == "approve" for call in met)


def _conditions(calls: Sequence[DecidedCall], do: Do) -> dict[Condition, list[DecidedCall]]:
    """Give what may tell the calls apart, one condition on one argument, each with the calls that gave it."""
    found: dict[Condition, list[DecidedCall]] = defaultdict(list)
    numbers: dict[str, list[tuple[float, DecidedCall]]] = defaultdict(list)
    for call in calls:
        for place, value in islice(_arguments(call.arguments), MAX_PLACES):
            if isinstance(value, str) and 0 < len(value) <= MAX_VALUE_LENGTH:
                found[place, "eq", value].append(call)
                if domain := _domain(value, do):
                    found[place, *domain].append(call)
            elif type(value) in (int, float):
                numbers[place].append((value, call))
    for place, pairs in numbers.items():
        limits = sorted({value for value, _call in pairs})
        for limit in limits[:: -(-len(limits) // MAX_LIMITS)]:
            found[place, "le", limit] = [call for value, call in pairs if value <= limit]
            found[place, "ge", limit] = [call for value, call in pairs if value >= limit]
    return found


def _arguments(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Give what stands in the arguments, to a depth of two, with its pointer."""
    if isinstance(value, Mapping) and len(path) < 2:
        for name, part in value.items():
            yield from _arguments(part, (*path, name))
    else:
        yield pointer(path), value


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
