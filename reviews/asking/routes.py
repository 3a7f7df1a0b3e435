"""Routes: which held items go to whom, by the conditions of the rules on tool calls. The first that matches counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import Any

from metacog.heuristics.effects.effect import Effect, ObjectKind, Reading
from metacog.heuristics.effects.pointers import MAX_LENGTH
from metacog.heuristics.tool_calls.conditions import Condition, Unfit
from metacog.heuristics.tool_calls.effect_rules import EffectRule, effect_rule
from metacog.heuristics.tool_calls.rules import Errors, conditions_in
from reviews.models import HeldItem

FIELDS = ("to", "kind", "tool", "effects", "where", "amount", "metadata")
OF_CALLS = ("tool", "effects", "where", "amount")  # which nothing but a tool call has
CURRENCY = "currency"  # beside the operators of an amount


class Route:
    """Which items go to `to`, of a route without faults."""

    def __init__(self, given: Mapping[str, Any], errors: Errors) -> None:
        """Read a route; what is wrong with it is added to `errors`, and what else it says may be anything then."""
        self.to, self.kind, self.tool = (str(given.get(name, "")) for name in ("to", "kind", "tool"))
        if len(self.kind) > 64:
            errors.append((("kind",), "must be a text of at most 64 characters"))
        if len(self.tool) > MAX_LENGTH:
            errors.append((("tool",), f"must be the name of a tool, with * for any characters; 1 to {MAX_LENGTH}"))
        errors += [((str(name),), "is not part of a route") for name in given if name not in FIELDS]
        self.is_of_calls = any(given.get(name) for name in OF_CALLS)
        self.where = conditions_in(given.get("where"), errors)
        self.metadata = conditions_in(given.get("metadata"), errors, "metadata", "the metadata")
        amount = dict(given.get("amount") or {})
        self.currency = str(amount.pop(CURRENCY, ""))
        self.amount = conditions_in({"": amount} if "amount" in given else None, errors, "amount", "the amount")
        self.effects: EffectRule | None = None
        if given.get("effects") is not None:
            try:
                self.effects = effect_rule(given["effects"])
            except ValueError as error:
                errors += [(("effects", *loc), detail) for loc, detail in error.args[0]]

    def matches(self, held: HeldItem) -> bool:
        """Tell whether an item, read with its call, goes this way. What cannot be told counts as met, as in a rule."""
        if self.kind and held.kind != self.kind:
            return False
        if not all(_holds(each, held.metadata) for each in self.metadata):
            return False
        if not self.is_of_calls:
            return True
        return held.kind == HeldItem.Kind.TOOL_CALL and self._matches_call(held.call)

    def _matches_call(self, call: Any) -> bool:
        return (
            (not self.tool or fnmatchcase(call.name, self.tool))
            and all(_holds(each, call.arguments) for each in self.where)
            and (not self.amount or any(map(self._is_met_by, _amounts(call.effects))))
            and (self.effects is None or _have(self.effects, call.effects))
        )

    def _is_met_by(self, amount: tuple[float, str]) -> bool:
        number, currency = amount
        return self.currency in ("", currency) and all(_holds(each, number) for each in self.amount)


def route_of(held: HeldItem, routes: Sequence[Route]) -> Route | None:
    return next((route for route in routes if route.matches(held)), None)


def _holds(condition: Condition, value: Any) -> bool:
    try:
        return condition.holds(value)
    except Unfit:
        return True


def _have(rule: EffectRule, effects: Sequence[Mapping[str, Any]]) -> bool:
    reading = Reading(tuple(map(_effect, effects)))
    try:
        kinds = frozenset(effect.effect for effect in reading.effects)
        return rule.may_hold(kinds) and rule.holds(reading, allows=False)
    except Unfit:
        return True


def _effect(told: Mapping[str, Any]) -> Effect:
    """Read an effect as the verdict had it, which names the kind of no object."""
    of: ObjectKind | None = "path" if told["inside"] is not None else "amount" if told["effect"] == "pay" else None
    return Effect(told["effect"], told["object"], of, told["inside"], argument=told["argument"])


def _amounts(effects: Sequence[Mapping[str, Any]]) -> list[tuple[float, str]]:
    """Return the amounts that a call would pay, each with its currency, "" where none is said."""
    found = []
    for effect in effects:
        number, _space, currency = str(effect["object"] or "").partition(" ")
        try:
            found += [(float(Decimal(number)), currency)] if effect["effect"] == "pay" else []
        except InvalidOperation:
            continue
    return found
