"""What a rule asks of a call's effects, and whether a text of a call is no more than it looks like."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from posixpath import normpath
from typing import Any, NamedTuple

from ..effects.effect import BUILT, KEPT, KINDS, MADE, OBJECT_KINDS, TESTS, Effect, Reading
from ..effects.paths import is_inside
from ..effects.pointers import MAX_LENGTH
from .conditions import Unfit

MAX_PLACES = 100  # folders or globs of a rule
UNREADABLE = "It cannot be read for certain, so its effects cannot be checked."
UNNAMED = "What it would do it to cannot be told, so its objects cannot be checked."
# Among "except": what the same command has made, what is a test's own, what a build makes again, what git has.
OWN = {"{made}": MADE, "{test}": TESTS, "{built}": BUILT, "{kept}": KEPT}
_LISTS = ("any", "all", "only")
_TEXTS = ("inside", "objects", "outside", "except")
_OF = "of"


class _Glob(NamedTuple):
    matches: Callable[[str], Any]
    is_anywhere: bool  # "*/build", which is `build`, too


class EffectRule(NamedTuple):
    """Which effects a rule is about. See docs/rules.md."""

    any: frozenset[str]
    all: frozenset[str]
    only: frozenset[str]
    inside: Sequence[str]  # folders that every path must be in
    objects: Sequence[_Glob]  # of which the objects of the effects must be like one
    outside: Sequence[str]  # folders: only what is on a path that is in none of them counts
    excepted: Sequence[_Glob]  # what is on something that is like one does not count
    owned: tuple[str, ...]  # marks of effects that do not count: on what the same command has made, or a test's own
    of: frozenset[str]  # kinds of objects: only what is on one of these counts

    def may_hold(self, kinds: frozenset[str]) -> bool:
        """Say whether it can hold, or be in doubt, of a call with these kinds of effects, whatever they are on."""
        if self.only and kinds - self.only:
            return False
        return "unknown" in kinds or (self.all <= kinds and (not self.any or bool(self.any & kinds)))

    def holds(self, reading: Reading, *, allows: bool) -> bool:
        """Say whether it holds of a call, of whose kinds it may hold.

        Of what cannot be read for certain no allowance does, unless it names `unknown`. Any other rule raises Unfit
        where what is unknown might be what it asks for: then a person is asked.
        """
        kinds = {effect.effect for effect in reading.effects}
        counted = [effect for effect in reading.effects if self._is_counted(effect)]
        if self.only and len(counted) < len(reading.effects):
            return False
        is_known = not self.inside or all(
            is_inside(effect.object, self.inside)
            for effect in reading.effects
            if effect.of == "path" and effect.object is not None
        )
        if not is_known:
            return False
        found = {effect.effect for effect in counted}
        is_met = self.all <= found and (not self.any or bool(self.any & found))
        asked = self.any | self.all
        if "unknown" not in kinds or "unknown" in asked:
            if not is_met and not allows and self._is_unnamed(reading.effects, asked):
                raise Unfit(UNNAMED)
            return is_met
        if allows:
            return False
        if is_met and not self.inside:
            return True
        raise Unfit(UNREADABLE)

    def _is_counted(self, effect: Effect) -> bool:
        name = effect.object
        if (self.of and effect.of not in self.of) or (self.owned and effect.detail.endswith(self.owned)):
            return False
        if name is None:
            return not self.objects and not self.outside
        if self.outside and (effect.of != "path" or is_inside(name, self.outside)):
            return False
        return (not self.objects or _is_like(name, self.objects)) and not _is_like(name, self.excepted)

    def _is_unnamed(self, effects: Sequence[Effect], asked: frozenset[str]) -> bool:
        """Tell whether an effect that is asked for is there, on something that is not known.

        One of a command that names no object is on nothing that a glob could mean; a tool's may be on anything.
        """
        return bool(self.objects) and any(
            effect.effect in asked and ("$" in effect.object if effect.object is not None else not effect.argument)
            for effect in effects
        )


def _is_like(name: str, globs: Sequence[_Glob]) -> bool:
    below = name if name.startswith("/") else f"/{name}"
    return any(glob.matches(below if glob.is_anywhere else name) for glob in globs)


def effect_rule(given: Any) -> EffectRule:
    """Read what a policy asks of effects; ValueError with (place, detail) pairs."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError([((), "must be an object with " + ", ".join((*_LISTS, *_TEXTS, _OF)))])
    errors: list[tuple[tuple[str, ...], str]] = [
        ((str(name),), "must be one of " + ", ".join((*_LISTS, *_TEXTS, _OF)))
        for name in given
        if name not in (*_LISTS, *_TEXTS, _OF)
    ]
    for name in _LISTS:
        if name in given and not _are_kinds(given[name]):
            errors.append(((name,), "must be a list of effects: " + ", ".join(KINDS)))
        elif name == "only" and "unknown" in given.get(name, ()):
            errors.append(((name,), "must not hold unknown: what cannot be read may be anything"))
    for name in _TEXTS:
        if name in given and not _are_texts(given[name]):
            errors.append(((name,), f"must be a list of 1 to {MAX_PLACES} texts of 1 to {MAX_LENGTH} characters"))
    if _OF in given and not (isinstance(given[_OF], list) and given[_OF] and set(given[_OF]) <= set(OBJECT_KINDS)):
        errors.append(((_OF,), "must be a list of kinds of objects: " + ", ".join(OBJECT_KINDS)))
    if not errors and not any(given.get(name) for name in _LISTS):
        errors.append(((), "must have any, all or only"))
    if errors:
        raise ValueError(errors)
    any_of, all_of, only = (frozenset(given.get(name, ())) for name in _LISTS)
    inside, objects, outside, excepted = (tuple(given.get(name, ())) for name in _TEXTS)
    of = frozenset(given.get(_OF, ()))
    owned = tuple(mark for name, mark in OWN.items() if name in excepted)
    return EffectRule(any_of, all_of, only, inside, _globs(objects), outside, _globs(excepted), owned, of)


def _globs(shapes: Sequence[str]) -> tuple[_Glob, ...]:
    return tuple(map(_glob, shapes))


@lru_cache(maxsize=1024)  # the packs' are the same in each policy
def _glob(shape: str) -> _Glob:
    return _Glob(re.compile(translate(shape)).match, shape.startswith("*/"))


def _are_kinds(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each in KINDS for each in value)


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 1 <= len(value) <= MAX_PLACES
        and all(isinstance(each, str) and 1 <= len(each) <= MAX_LENGTH for each in value)
    )


# -- what a glob may allow ---------------------------------------------------------------------

_QUOTED = re.compile(r"\\.|'[^']*'|[$`]", re.DOTALL)
_PARTS = re.compile(r"[/\\,{}=:]")


def as_written(reading: Reading, place: str, text: Any) -> Sequence[Any]:
    """Give the texts of which a glob or regular expression must hold to allow a call by its argument at `place`.

    None, of what is read as shell or SQL, is more than one simple command, redirects, substitutes or has a variable in
    it. Of what leads up (`tmp/../../etc`) there are two: as it is written, and where it leads.
    """
    if any(_is_part(place, each) for each in reading.compound):
        return ()
    commands = [command for command in reading.commands if _is_part(place, command.argument)]
    is_path = any(effect.of == "path" and _is_part(place, effect.argument) for effect in reading.effects)
    if len(commands) > 1:
        return ()
    if not isinstance(text, str) or not (commands or is_path):
        return (text,)
    if commands and any(found[0] in "$`" for found in _QUOTED.finditer(text)):
        return ()
    try:
        words = shlex.split(text) if commands else [text]
    except ValueError:
        return ()
    leading_up = [word for word in words if ".." in _PARTS.split(word)]
    if not leading_up:
        return (text,)
    if any("{" in word for word in leading_up):
        return ()
    return text, " ".join(normpath(word) if word in leading_up else word for word in words)


def _is_part(place: str, other: str) -> bool:
    """Tell whether one pointer leads to the other's value or into it."""
    return place == other or place.startswith(f"{other}/") or other.startswith(f"{place}/")
