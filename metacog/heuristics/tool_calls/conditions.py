"""What a rule asks of an argument: operators, each with the value that a policy gives it."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from ..effects.pointers import MAX_LENGTH, at
from ..text.canonical_json import canonical
from ..text.matcher import linear_regex
from .secrets import is_secret_at

MAX_CHOICES = 1000

Test = Callable[[Any], bool]  # of a value that is there; Unfit where it cannot be told


class Unfit(Exception):
    """Whether a rule matches cannot be told."""


class Condition(NamedTuple):
    """One condition of a rule: where, with the pointer's names, by which operator, and what that tests."""

    place: str
    names: list[str]
    operator: str
    test: Test | bool  # True or False: of `exists` and `secret`

    def holds(self, arguments: Any) -> bool:
        """Say whether it holds; Unfit where the value is of a type that the operator cannot be asked of."""
        is_there, value = at(arguments, self.names)
        if self.operator == "exists":
            return is_there == self.test
        if not is_there:
            return False
        if isinstance(self.test, bool):
            return is_secret_at(arguments, self.names) == self.test
        try:
            return self.test(value)
        except Unfit as unfit:
            place = self.place or "The whole of the arguments"
            raise Unfit(f"{place} {unfit}: “{self.operator}” cannot be checked.") from None


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
            raise Unfit(f"is not a {what}")
        return holds((value > wanted) - (value < wanted))

    return test


def _text(wanted: Any, what: str) -> str:
    if not isinstance(wanted, str) or not 1 <= len(wanted) <= MAX_LENGTH:
        raise ValueError(f"must be {what} of 1 to {MAX_LENGTH} characters")
    return wanted


def _on_text(test: Callable[[str], bool]) -> Test:
    def on_text(value: Any) -> bool:
        if not isinstance(value, str):
            raise Unfit("is not a text")
        return test(value)

    return on_text


def _glob(wanted: Any) -> Test:
    shape = _text(wanted, "a glob")
    return _on_text(lambda value: fnmatchcase(value, shape))


def _regex(wanted: Any) -> Test:
    search = linear_regex(_text(wanted, "a regular expression"))

    def test(value: str) -> bool:
        try:
            return search(value)
        except ValueError:
            raise Unfit("has letters beyond ASCII") from None

    return _on_text(test)


def _switch(wanted: Any) -> bool:
    if not isinstance(wanted, bool):
        raise ValueError("must be true or false")
    return wanted


OPERATORS: Mapping[str, Callable[[Any], Test | bool]] = {
    "eq": _equal,
    "ne": _unequal,
    "gt": partial(_ordered, lambda order: order > 0),
    "ge": partial(_ordered, lambda order: order >= 0),
    "lt": partial(_ordered, lambda order: order < 0),
    "le": partial(_ordered, lambda order: order <= 0),
    "in": _one_of,
    "glob": _glob,
    "regex": _regex,
    "exists": _switch,
    "secret": _switch,
}
PATTERNS = ("glob", "regex")  # which hold of more texts than a team can think of
