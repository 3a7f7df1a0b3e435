"""Suggest rules from what people decided about an agent's tool calls: stop asking, or deny."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ..effects.effect import Reading
from ..stats.intervals import wilson
from ..text.canonical_json import canonical
from ..text.strict_json import pointer
from ..text.tags import ToolCall
from .grants import free_texts
from .rules import Rules, is_own

IN_A_ROW = 20  # approvals without a change, before asking seems a waste
REJECTIONS = 5  # before denying seems what people want
REJECTED_SHARE = 0.8
MAX_PLACES = 40  # arguments of a call that are looked at
MAX_LIMITS = 50  # of the numbers of one argument
MAX_TRIED = 10  # conditions, the best, that are tried as a rule
MAX_VALUE_LENGTH = 200
_ADDRESS = re.compile(r"[^@\s,;<>\"]+@((?:[\w-]+\.)+[\w-]+)", re.ASCII)
_HOST = re.compile(r"[\w.:-]+", re.ASCII)

# Effects that a rule may allow by themselves, where every path is in the working directory; the widest first.
MILD = [frozenset(kinds) for kinds in (("read", "write", "fetch"), ("read", "write"), ("read", "fetch"), ("read",))]
PINS = ("eq", "glob", "regex")  # what says of a text what it is

Do = Literal["allow", "deny"]
Condition = tuple[str, str, Any]  # pointer, operator, value


class DecidedCall(NamedTuple):
    """A tool call that a person decided; `held` names the item."""

    tool: str
    arguments: Any
    verdict: Literal["approve", "edit", "reject"]
    held: str
    schema: Mapping[str, Any] | None = None
    definition: str = ""  # of its tool, see definition.py


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


@dataclass(frozen=True, eq=False)
class _Read:
    """A decided call as it was read: what it would do, and which arguments are free text that decides that."""

    decided: DecidedCall
    call: ToolCall
    reading: Reading

    @property
    def is_approved(self) -> bool:
        return self.decided.verdict == "approve"

    @cached_property
    def free(self) -> frozenset[str]:
        return free_texts(self.call, self.reading)

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(effect.effect for effect in self.reading.effects)

    @cached_property
    def shape(self) -> str | None:
        return None if self.reading.shape is None else canonical(self.reading.shape)


Rule = dict[str, Any]


def suggest(decided: Sequence[DecidedCall], rules: Rules) -> list[Suggestion]:
    """Give what people's decisions, oldest first, speak for under these rules; at most two a tool, in order of name.

    Only calls count about which people are still asked. What is to be allowed is a tool without free text, calls with
    certain effects, one program and subcommand with certain effects, or one condition on an argument (a value, the
    domain of an address, a number as the limit): each only where nobody rejected or edited a call that it would allow,
    or one of the same shape.
    """
    owned = [rule for rule in rules.given if is_own(rule)]
    own, places = len(owned), {id(rule): place for place, rule in enumerate(owned)}
    tools: dict[str, list[_Read]] = defaultdict(list)
    asking: dict[str, int] = {}
    for each in decided:
        call = ToolCall(each.tool, each.arguments, schema=each.schema)
        judged = rules.judge(call, rules.read_again(call))
        if judged.rule and "team" in judged.rule:
            continue  # no rule of the policy changes that
        if judged.do not in ("ask", "score") or "*" in each.tool or "?" in each.tool or "[" in each.tool:
            continue
        tools[each.tool].append(_Read(each, call, judged.reading))
        place = places.get(id(judged.rule), own)
        asking[each.tool] = min(asking.get(each.tool, place), place)
    found = []
    for tool, calls in sorted(tools.items()):
        verdicts = Counter(read.decided.verdict for read in calls)
        allowed = _first(_allowances(tool, calls), calls) if verdicts["approve"] >= IN_A_ROW else []
        denied = _first(_denials(tool, calls), calls) if verdicts["reject"] >= REJECTIONS else []
        found += [Suggestion(rule | _defined(met), asking[tool], met) for rule, met in allowed]
        found += [Suggestion(rule, 0, met) for rule, met in denied]
    return found


def _defined(met: Sequence[DecidedCall]) -> Rule:
    """Give the definition that a rule holds: its tool's, unless each call has one of its own."""
    definitions = {call.definition for call in met if call.definition}
    return {"definition": definitions.pop()} if len(definitions) == 1 else {}


def _first(tried: Iterable[Rule], calls: Sequence[_Read]) -> list[tuple[Rule, Sequence[DecidedCall]]]:
    """Give the first of these rules that the decisions about the calls it would meet speak for, and those."""
    for rule in tried:
        met, do = _met(rule, calls), rule["do"]
        if not _agrees([read.decided for read in met], do):
            continue
        if do == "allow":
            spoiled = {read.shape for read in calls if not read.is_approved and read.shape is not None}
            if any(read.shape in spoiled for read in met):
                continue
        return [(rule, [read.decided for read in met])]
    return []


def _agrees(calls: Sequence[DecidedCall], do: Do) -> bool:
    if do == "allow":
        return len(calls) >= IN_A_ROW and all(call.verdict == "approve" for call in calls)
    rejected = sum(call.verdict == "reject" for call in calls)
    return rejected >= REJECTIONS and rejected >= REJECTED_SHARE * len(calls)


def _allowances(tool: str, calls: Sequence[_Read]) -> Iterator[Rule]:
    """Give rules that may stop asking, the widest first."""
    is_free = any(read.free for read in calls)
    if not is_free:
        yield {"tool": tool, "do": "allow"}
    else:
        approved = frozenset(kind for read in calls if read.is_approved for kind in read.kinds)
        for kinds in MILD:
            if kinds <= approved:
                yield {"tool": tool, "effects": {"only": sorted(kinds), "inside": ["."]}, "do": "allow"}
        yield from _programs(tool, calls)
    others = _others(calls)
    for place, operator, value in _likely(calls, "allow"):
        if isinstance(value, str) and operator == "eq" and any(canonical(value)[1:-1] in text for text in others):
            continue  # a part of what was rejected
        rule: Rule = {"tool": tool, "where": {place: {operator: value}}, "do": "allow"}
        met = _met(rule, calls) if is_free else []
        if any(read.free - ({place} if operator in PINS else set()) for read in met):
            kinds = frozenset(kind for read in met for kind in read.kinds)
            if "unknown" in kinds or any(read.reading.commands for read in met):
                continue  # whatever else it says may do anything
            rule = {**rule, "effects": {"only": sorted(kinds)}}
        yield rule


def _programs(tool: str, calls: Sequence[_Read]) -> Iterator[Rule]:
    """Give a rule for each program and subcommand of simple commands, the ones approved most first."""
    groups: dict[tuple[str, str], list[_Read]] = defaultdict(list)
    for read in calls:
        shape = read.reading.shape or {}
        command = " ".join(filter(None, (shape.get("program"), shape.get("subcommand"))))
        places = {each.argument for each in read.reading.commands}
        if read.is_approved and command and len(places) == 1:
            groups[places.pop(), command].append(read)
    others = _others(calls)
    for (place, command), met in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        if not any(command in text for text in others):
            kinds = sorted({kind for read in met for kind in read.kinds})
            where = {place: {"glob": f"{command}*"}}
            yield {"tool": tool, "where": where, "effects": {"only": kinds}, "do": "allow"}


def _others(calls: Sequence[_Read]) -> list[str]:
    """Give the arguments of the calls that somebody rejected or edited, as text."""
    return [canonical(read.decided.arguments) for read in calls if not read.is_approved]


def _denials(tool: str, calls: Sequence[_Read]) -> Iterator[Rule]:
    """Give rules that may deny, the widest first: of a tool that takes commands by what they would do."""
    if not any(read.reading.commands for read in calls):
        yield {"tool": tool, "do": "deny"}
    rejected = Counter(kind for read in calls if read.decided.verdict == "reject" for kind in read.kinds)
    for kind, _count in rejected.most_common():
        if kind not in ("unknown", "read") and any(kind not in read.kinds for read in calls):
            yield {"tool": tool, "effects": {"any": [kind]}, "do": "deny"}
    if not any(read.reading.commands for read in calls):
        for place, operator, value in _likely(calls, "deny"):
            yield {"tool": tool, "where": {place: {operator: value}}, "do": "deny"}


def _likely(calls: Sequence[_Read], do: Do) -> list[Condition]:
    """Give the conditions that tell best which calls are decided so."""
    wanted = "approve" if do == "allow" else "reject"
    decided = [read.decided for read in calls]
    rejected = sum(call.verdict == "reject" for call in decided) / len(decided)
    agreeing = []
    for condition, met in _conditions(decided, do).items():
        if _agrees(met, do):
            low = wilson(sum(call.verdict == wanted for call in met), len(met))[0]
            if do == "deny" and low <= rejected:
                continue  # no more than what is rejected anyway
            agreeing.append((-low, *condition[:2], str(condition[2]), condition[2]))
    best = sorted(agreeing, key=lambda each: each[:4])[:MAX_TRIED]
    return [(place, operator, value) for _low, place, operator, _text, value in best]


def _met(rule: Rule, calls: Sequence[_Read]) -> list[_Read]:
    only = Rules([rule], "score")
    return [read for read in calls if only.judge(read.call, read.reading).do == rule["do"]]


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
