"""Rules on tool calls: which pass, which a person is asked about, which are refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal, NamedTuple, cast

from ..effects.effect import Effect, Reading
from ..effects.pointers import MAX_LENGTH, at, names_of
from ..text.canonical_json import canonical
from ..text.matcher import linear_regex

Do = Literal["ask", "allow", "deny", "score"]
DO: tuple[Do, ...] = ("ask", "allow", "deny", "score")
FIELDS = ("tool", "where", "do", "reason", "shadow")
MAX_RULES = 200
MAX_CONDITIONS = 20
MAX_CHOICES = 1000
MAX_REASON = 300

Test = Callable[[Any], bool]  # of a value that is there; _Unfit where it cannot be told
Errors = list[tuple[tuple[str, ...], str]]  # where, as names and indexes, and what is wrong there


class _Unfit(Exception):
    """A value is of a type that a condition cannot be asked of."""


UNREAD = Reading((Effect("unknown"),))


class Judged(NamedTuple):
    """What the rules say of a call."""

    do: Do
    rule: Mapping[str, Any] | None  # that decided, as the policy has it; None: the default did
    fault: str = ""  # why the rule could not be told to match, so that a person is asked
    reading: Reading = UNREAD  # what the call would do


@dataclass(frozen=True, slots=True)
class _Rule:
    given: Mapping[str, Any]
    tool: str
    conditions: Sequence[tuple[str, Sequence[str], str, Test | bool]]  # pointer, its names, operator, test or `exists`
    do: Do
    is_shadow: bool

    def matches(self, name: str, arguments: Any) -> bool:
        """Tell whether all of it holds of a call; _Unfit where one part cannot be told and no other rules it out."""
        if not fnmatchcase(name, self.tool):
            return False
        fault = None
        for where, names, operator, test in self.conditions:
            is_there, value = at(arguments, names)
            if isinstance(test, bool):  # `exists`
                if is_there != test:
                    return False
                continue
            try:
                if not (is_there and test(value)):
                    return False
            except _Unfit as unfit:
                place = where or "The whole of the arguments"
                fault = fault or _Unfit(f"{place} {unfit}: “{operator}” cannot be checked.")
        if fault:
            raise fault
        return True


class Rules:
    """The rules of a policy, in order: the first that matches decides, else the default."""

    __slots__ = ("_default", "_rules")

    def __init__(self, rules: Sequence[Mapping[str, Any]] = (), default: Do = "ask") -> None:
        """Build from rules in which there are no `errors_in`."""
        built, errors = _built(rules)
        if errors:
            raise ValueError(errors)
        self._rules, self._default = built, default

    def judge(self, name: str, arguments: Any, *, with_shadow: bool = False) -> Judged:
        """Say what is to be done with a call.

        A rule that cannot be told to match asks a person. `with_shadow` has the rules in shadow decide, too.
        """
        for rule in self._rules:
            if rule.is_shadow and not with_shadow:
                continue
            try:
                if rule.matches(name, arguments):
                    return Judged(rule.do, rule.given)
            except _Unfit as unfit:
                return Judged("ask", rule.given, str(unfit))
        return Judged(self._default, None)


def errors_in(rules: Any) -> Errors:
    """Say what is wrong with rules as they are stored or sent."""
    if not isinstance(rules, list | tuple):
        return [((), "must be a list")]
    return _built(rules)[1]


def _built(rules: Sequence[Any]) -> tuple[list[_Rule], Errors]:
    if len(rules) > MAX_RULES:
        return [], [((), f"must be at most {MAX_RULES} rules")]
    built: list[_Rule] = []
    errors: Errors = []
    for place, given in enumerate(rules):
        found: Errors = []
        rule = _rule(given, found)
        errors += [((str(place), *loc), detail) for loc, detail in found]
        if rule and not found:
            built.append(rule)
    return built, errors


def _rule(given: Any, errors: Errors) -> _Rule | None:
    if not isinstance(given, Mapping):
        errors.append(((), "must be an object"))
        return None
    errors += [((str(name),), "is not part of a rule") for name in given if name not in FIELDS]
    tool, do, where = given.get("tool"), given.get("do"), given.get("where")
    if not isinstance(tool, str) or not 1 <= len(tool) <= MAX_LENGTH:
        errors.append((("tool",), f"must be the name of a tool, with * for any characters; 1 to {MAX_LENGTH}"))
    if do not in DO:
        errors.append((("do",), "must be " + " or ".join(f'"{each}"' for each in DO)))
    reason = given.get("reason")
    if reason is not None and not (isinstance(reason, str) and len(reason) <= MAX_REASON):
        errors.append((("reason",), f"must be a text of at most {MAX_REASON} characters"))
    if not isinstance(given.get("shadow", False), bool):
        errors.append((("shadow",), "must be true or false"))
    if where is not None and not isinstance(where, Mapping):
        errors.append((("where",), "must be an object: JSON Pointers into the arguments, each with its conditions"))
        where = None
    conditions: list[tuple[str, Sequence[str], str, Test | bool]] = []
    for place, asked in (where or {}).items():
        names = names_of(place)
        if names is None:
            errors.append((("where", str(place)), 'must be a JSON Pointer into the arguments, such as "/eur"'))
        if not isinstance(asked, Mapping) or not asked:
            errors.append((("where", str(place)), "must be an object with " + ", ".join(OPERATORS)))
        else:
            for operator, wanted in asked.items():
                loc = ("where", str(place), str(operator))
                if operator not in OPERATORS:
                    errors.append((loc, "must be one of " + ", ".join(OPERATORS)))
                    continue
                try:
                    conditions.append((place, names or (), operator, OPERATORS[operator](wanted)))
                except ValueError as error:
                    errors.append((loc, str(error)))
    if len(conditions) > MAX_CONDITIONS:
        errors.append((("where",), f"must have at most {MAX_CONDITIONS} conditions"))
    if errors:
        return None
    return _Rule(given, cast("str", tool), conditions, cast("Do", do), given.get("shadow", False))


def _equal(wanted: Any) -> Test:
    same = canonical(wanted)
    return lambda value: canonical(value) == same


def _unequal(wanted: Any) -> Test:
    same = canonical(wanted)
    return lambda value: canonical(value) != same


def _one_of(wanted: Any) -> Test:
    if not isinstance(wanted, list) or not 1 <= len(wanted) <= MAX_CHOICES:
        raise ValueError(f"must be a list of 1 to {MAX_CHOICES} values")
    choices = frozenset(map(canonical, wanted))
    return lambda value: canonical(value) in choices


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(holds: Callable[[int], bool], wanted: Any) -> Test:
    """Compare numbers with a number, and texts with a text by code points (dates in ISO 8601)."""
    fits, what = (_is_text, "text") if _is_text(wanted) else (_is_number, "number")
    if not fits(wanted):
        raise ValueError("must be a number, or a text to compare texts with")

    def test(value: Any) -> bool:
        if not fits(value):
            raise _Unfit(f"is not a {what}")
        return holds((value > wanted) - (value < wanted))

    return test


def _text(wanted: Any, what: str) -> str:
    if not isinstance(wanted, str) or not 1 <= len(wanted) <= MAX_LENGTH:
        raise ValueError(f"must be {what} of 1 to {MAX_LENGTH} characters")
    return wanted


def _on_text(test: Callable[[str], bool]) -> Test:
    def on_text(value: Any) -> bool:
        if not isinstance(value, str):
            raise _Unfit("is not a text")
        return test(value)

    return on_text


def _glob(wanted: Any) -> Test:
    shape = _text(wanted, "a glob")
    return _on_text(lambda value: fnmatchcase(value, shape))


def _regex(wanted: Any) -> Test:
    return _on_text(linear_regex(_text(wanted, "a regular expression")))


def _exists(wanted: Any) -> bool:
    if not isinstance(wanted, bool):
        raise ValueError("must be true or false")
    return wanted


OPERATORS: dict[str, Callable[[Any], Test | bool]] = {
    "eq": _equal,
    "ne": _unequal,
    "gt": partial(_ordered, lambda order: order > 0),
    "ge": partial(_ordered, lambda order: order >= 0),
    "lt": partial(_ordered, lambda order: order < 0),
    "le": partial(_ordered, lambda order: order <= 0),
    "in": _one_of,
    "glob": _glob,
    "regex": _regex,
    "exists": _exists,
}
