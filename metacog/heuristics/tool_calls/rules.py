"""Rules on tool calls: which pass, which a person is asked about, which are refused."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, Self, cast

from ..effects.calls.reader import Reader
from ..effects.effect import Reading
from ..effects.pointers import MAX_LENGTH, at, names_of
from ..effects.servers import is_trusted
from ..text.canonical_json import canonical
from ..text.tags import ToolCall
from .conditions import OPERATORS, PATTERNS, Condition, Unfit
from .definition import definition_of
from .effect_rules import EffectRule, as_written, effect_rule

Do = Literal["ask", "allow", "deny", "score"]
DO: tuple[Do, ...] = ("ask", "allow", "deny", "score")
FIELDS = ("tool", "where", "effects", "hints", "do", "approvers", "definition", "reason", "shadow")
OF_PACK = ("pack", "version", "place")  # what a pack's rule has beside them
OF_TEAM = ("team", "version", "place")  # and what a rule of a team, above all its agents' own
ROLES = ("reviewer", "curator", "owner")
MAX_RULES = 200
MAX_CONDITIONS = 20
MAX_HINTS = 20
MAX_REASON = 300
MAX_GROUP = 100
MOST_PEOPLE = 10
KEPT_KINDS = 100
KEPT_READINGS = 4000  # of calls that were read again, in about 2 KB each
LONGEST_KEPT = 4000  # characters of a call with its schema
UNTRUSTED = "The tool's server is not trusted, so its hints cannot be believed."
_SHA256 = re.compile(r"[0-9a-f]{64}")

Errors = list[tuple[tuple[str, ...], str]]  # where, as names and indexes, and what is wrong there


_readings: dict[str, Reading] = {}


class Judged(NamedTuple):
    """What the rules say of a call."""

    do: Do
    rule: Mapping[str, Any] | None  # that decided, as the policy has it; None: the default did
    reading: Reading  # what the call would do
    fault: str = ""  # why the rule could not be told to match, so that a person is asked
    definition_changed: bool = False  # the rule allows the tool as it was: its description or schema is another


class _Asked(NamedTuple):
    """A call, as it was read."""

    call: ToolCall
    reading: Reading
    is_trusted: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    given: Mapping[str, Any]
    tool: str
    conditions: Sequence[Condition]
    effects: EffectRule | None
    do: Do

    @property
    def is_shadow(self) -> bool:
        return bool(self.given.get("shadow"))

    def matches(self, asked: _Asked) -> bool:
        """Tell whether all of it holds of a call; Unfit where one part cannot be told and no other rules it out."""
        if not fnmatchcase(asked.call.name, self.tool):
            return False
        fault = None
        for part in (self._hints, self._where, self._effects):
            try:
                if not part(asked):
                    return False
            except Unfit as unfit:
                fault = fault or unfit
        if fault:
            raise fault
        return True

    def _hints(self, asked: _Asked) -> bool:
        wanted, hints = self.given.get("hints"), asked.call.hints or {}
        if not wanted:
            return True
        if any(name not in hints or canonical(hints[name]) != canonical(value) for name, value in wanted.items()):
            return False
        if self.do == "score" and not asked.is_trusted:
            raise Unfit(UNTRUSTED)
        return self.do != "allow" or asked.is_trusted

    def _where(self, asked: _Asked) -> bool:
        fault = None
        for condition in self.conditions:
            try:
                if not self._holds(condition, asked):
                    return False
            except Unfit as unfit:
                fault = fault or unfit
        if fault:
            raise fault
        return True

    def _holds(self, condition: Condition, asked: _Asked) -> bool:
        arguments = asked.call.arguments
        if not condition.holds(arguments):
            return False
        if self.do != "allow" or condition.operator not in PATTERNS:
            return True
        texts = as_written(asked.reading, condition.place, at(arguments, condition.names)[1])
        return bool(texts) and all(map(cast("Any", condition.test), texts))

    def _effects(self, asked: _Asked) -> bool:
        return self.effects is None or self.effects.holds(asked.reading, allows=self.do == "allow")


def is_for_people(rule: Mapping[str, Any] | None) -> bool:
    """Say whether a rule leaves calls to particular people, or to more than one: no grant takes their place."""
    return rule is not None and bool(rule.get("approvers"))


class Rules:
    """The rules of a policy, in order: the first that matches decides, else the default."""

    __slots__ = ("_by_kinds", "_default", "_reader", "_rules", "_trusted", "given")

    given: Sequence[Mapping[str, Any]]  # in order, as the team, the policy and its packs have them

    def __init__(
        self,
        rules: Sequence[Mapping[str, Any]] = (),
        default: Do = "ask",
        *,
        reader: Reader | None = None,
        trusted: Sequence[str] = (),
    ) -> None:
        """Build from rules in which there are no `errors_in`; a pack's name pack, version and place, a team's team.

        `trusted` are the servers whose tools' hints are believed.
        """
        built, errors = _built(rules, (*FIELDS, *OF_PACK, *OF_TEAM))
        if errors:
            raise ValueError(errors)
        self._rules, self._default, self.given = built, default, tuple(rules)
        self._by_kinds: dict[frozenset[str], Sequence[_Rule]] = {}
        self._reader, self._trusted = reader or Reader(), trusted

    def reads_as(self, other: Self) -> bool:
        """Tell whether these read every call as others do."""
        return self._reader.settings == other._reader.settings

    def read_again(self, call: ToolCall) -> Reading:
        """Read a stored call, which pages that try rules out ask about again and again; a short one is read once."""
        key = repr((self._reader.settings, call.name, call.arguments, call.schema, call.description, call.hints))
        if len(key) > LONGEST_KEPT:
            return self.read(call)
        reading = _readings.get(key)
        if reading is None:
            if len(_readings) >= KEPT_READINGS:
                _readings.clear()
            reading = _readings[key] = self.read(call)
        return reading

    def read(self, call: ToolCall) -> Reading:
        """Read what a call would do."""
        return self._reader.read(
            call.name, call.arguments, schema=call.schema, description=call.description, hints=call.hints
        )

    def judge(self, call: ToolCall, reading: Reading | None = None, *, with_shadow: bool = False) -> Judged:
        """Say what is to be done with a call, of which `reading` is what `read` gives.

        A rule that cannot be told to match asks a person. `with_shadow` has the rules in shadow decide, too.
        """
        reading = reading or self.read(call)
        asked = _Asked(call, reading, is_trusted(call.name, self._trusted))
        for rule in self._about(reading):
            if rule.is_shadow and not with_shadow:
                continue
            try:
                if rule.matches(asked):
                    wanted = rule.given.get("definition")
                    if wanted and wanted != definition_of(call):
                        return Judged("ask", rule.given, reading, definition_changed=True)
                    return Judged(rule.do, rule.given, reading)
            except Unfit as unfit:
                return Judged("ask", rule.given, reading, str(unfit))
        return Judged(self._default, None, reading)

    def _about(self, reading: Reading) -> Sequence[_Rule]:
        """Return the rules that the kinds of a call's effects do not rule out: few of a pack's are about any one call.

        Kept, as far as those of some calls are: what few kinds there are come again and again.
        """
        kinds = frozenset([effect.effect for effect in reading.effects])
        left = self._by_kinds.get(kinds)
        if left is None:
            left = [rule for rule in self._rules if rule.effects is None or rule.effects.may_hold(kinds)]
            if len(self._by_kinds) < KEPT_KINDS:
                self._by_kinds[kinds] = left
        return left


def is_own(rule: Mapping[str, Any]) -> bool:
    """Say whether a rule is the policy's own: none of a pack, and none of the team above it."""
    return "pack" not in rule and "team" not in rule


def of_team(rules: Sequence[Mapping[str, Any]], version: int) -> list[dict[str, Any]]:
    """Give a version of a team's rules as a policy has them above its own, each with its place."""
    return [{**rule, "team": True, "version": version, "place": place} for place, rule in enumerate(rules, 1)]


def team_errors_in(rules: Any) -> Errors:
    """Say what is wrong with a team's rules as a policy has them: as `of_team` gives them, or without what it adds."""
    return errors_in(rules, (*FIELDS, *OF_TEAM))


def errors_in(rules: Any, fields: Sequence[str] = FIELDS) -> Errors:
    """Say what is wrong with rules as they are stored or sent."""
    if not isinstance(rules, list | tuple):
        return [((), "must be a list")]
    if len(rules) > MAX_RULES:
        return [((), f"must be at most {MAX_RULES} rules")]
    return _built(rules, fields)[1]


def _built(rules: Sequence[Any], fields: Sequence[str]) -> tuple[list[_Rule], Errors]:
    built: list[_Rule] = []
    errors: Errors = []
    for place, given in enumerate(rules):
        found: Errors = []
        rule = _rule(given, fields, found)
        errors += [((str(place), *loc), detail) for loc, detail in found]
        if rule and not found:
            built.append(rule)
    return built, errors


def _rule(given: Any, fields: Sequence[str], errors: Errors) -> _Rule | None:
    if not isinstance(given, Mapping):
        errors.append(((), "must be an object"))
        return None
    errors += [((str(name),), "is not part of a rule") for name in given if name not in fields]
    tool, do = given.get("tool"), given.get("do")
    if not isinstance(tool, str) or not 1 <= len(tool) <= MAX_LENGTH:
        errors.append((("tool",), f"must be the name of a tool, with * for any characters; 1 to {MAX_LENGTH}"))
    if do not in DO:
        errors.append((("do",), "must be " + " or ".join(f'"{each}"' for each in DO)))
    reason = given.get("reason")
    if reason is not None and not (isinstance(reason, str) and len(reason) <= MAX_REASON):
        errors.append((("reason",), f"must be a text of at most {MAX_REASON} characters"))
    if not isinstance(given.get("shadow", False), bool):
        errors.append((("shadow",), "must be true or false"))
    conditions = conditions_in(given.get("where"), errors)
    effects = None
    if given.get("effects") is not None:
        try:
            effects = effect_rule(given["effects"])
        except ValueError as error:
            errors += [(("effects", *loc), detail) for loc, detail in error.args[0]]
    hints = given.get("hints")
    if hints is not None and not (isinstance(hints, Mapping) and 1 <= len(hints) <= MAX_HINTS):
        errors.append((("hints",), 'must be an object of hints, such as {"destructiveHint": true}'))
    errors += [(("approvers", *loc), detail) for loc, detail in _approvers_errors(given.get("approvers"), do)]
    errors += [(("definition",), detail) for detail in _definition_errors(given.get("definition"), do)]
    if errors:
        return None
    return _Rule(given, cast("str", tool), conditions, effects, cast("Do", do))


def conditions_in(where: Any, errors: Errors, field: str = "where", of: str = "the arguments") -> list[Condition]:
    """Read the conditions of a field: pointers into what it is `of`, each with operators and what these test for."""
    if where is None:
        return []
    if not isinstance(where, Mapping):
        errors.append(((field,), f"must be an object: JSON Pointers into {of}, each with its conditions"))
        return []
    conditions: list[Condition] = []
    for place, asked in where.items():
        names = names_of(place)
        if names is None:
            errors.append(((field, str(place)), f'must be a JSON Pointer into {of}, such as "/eur"'))
        if not isinstance(asked, Mapping) or not asked:
            errors.append(((field, str(place)), "must be an object with " + ", ".join(OPERATORS)))
            continue
        for operator, wanted in asked.items():
            loc = (field, str(place), str(operator))
            if operator not in OPERATORS:
                errors.append((loc, "must be one of " + ", ".join(OPERATORS)))
                continue
            try:
                conditions.append(Condition(place, names or [], operator, OPERATORS[operator](wanted)))
            except ValueError as error:
                errors.append((loc, str(error)))
    if len(conditions) > MAX_CONDITIONS:
        errors.append(((field,), f"must have at most {MAX_CONDITIONS} conditions"))
    return conditions


def _approvers_errors(given: Any, do: Any) -> Errors:
    """Say what is wrong with who must approve: {"people": 2}, {"role": "owner"}, {"group": "finance"}, or several."""
    if given is None:
        return []
    if not isinstance(given, Mapping) or not given:
        return [((), "must be an object with people, role or group")]
    known = ("people", "role", "group")
    errors: Errors = [((str(name),), "must be one of " + ", ".join(known)) for name in given if name not in known]
    people = given.get("people", MOST_PEOPLE)
    if type(people) is not int or not 2 <= people <= MOST_PEOPLE:
        errors.append((("people",), f"must be a whole number from 2 to {MOST_PEOPLE}"))
    if given.get("role", ROLES[0]) not in ROLES:
        errors.append((("role",), "must be " + " or ".join(f'"{role}"' for role in ROLES)))
    group = given.get("group", "-")
    if not isinstance(group, str) or not 1 <= len(group) <= MAX_GROUP:
        errors.append((("group",), f"must be the name of a group, of 1 to {MAX_GROUP} characters"))
    if do in ("allow", "deny"):
        errors.append(((), "must stand in a rule that asks: nobody approves what it allows or denies"))
    return errors


def _definition_errors(given: Any, do: Any) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, str) or not _SHA256.fullmatch(given):
        return ["must be the SHA-256 of a tool's description and schema"]
    return [] if do == "allow" else ["must stand in a rule that allows"]
