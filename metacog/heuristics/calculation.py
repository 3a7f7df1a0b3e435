"""Figures that a text works out before its reader: "$137 + $194 = $331" needs no other source, if it is right."""

import re
from decimal import Decimal

_WINDOW = 96  # characters before the result, in which the calculation stands
_SIGN = r"\\?(?:(?:times|plus|minus|x|of(?:\sthe)?)(?![a-z])|[-+*/×·÷−–的])"
_BOLD = r"\s*+(?:\*\*)?+\s*+"
_NUMBER = r"[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?+"
# A unit; no word that joins.
_WORD = r"(?:\s?+(?!(?:times|plus|minus|x|of)\b)[^\W\d_的]++\.?)"
_OPERAND = rf"[$€£¥]?\s?+{_NUMBER}\s?+%?+{_WORD}{{0,3}}+"
_EQUALS = ("=", " is", " equals", " makes", " gives", "等于", "就是", "是", "为")
_CALCULATION = re.compile(rf"(?<![0-9.,(/*+×÷-]){_OPERAND}(?:{_BOLD}{_SIGN}{_BOLD}{_OPERAND})++{_BOLD}\Z")
_STEP = re.compile(rf"({_SIGN})?{_BOLD}[$€£¥]?\s?({_NUMBER})\s?(%?)")


def is_worked_out(text: str, start: int, end: int) -> bool:
    """Tell whether a figure (a place in a folded text) is what comes out of the calculation right before it."""
    before = text[max(0, start - _WINDOW) : start].rstrip(" *\n")
    if not before.endswith(_EQUALS):
        return False
    equals = next(sign for sign in _EQUALS if before.endswith(sign))
    result, calculation = _STEP.match(text, start, end), _CALCULATION.search(before.removesuffix(equals))
    if not result or not calculation:
        return False
    much = _value(calculation.group())
    given = _number(result[2], result[3])
    places = given.as_tuple().exponent
    assert isinstance(places, int)
    return much is not None and abs(much - given) <= Decimal(5).scaleb(places - 1)


def _number(digits: str, share: str) -> Decimal:
    number = Decimal(digits.replace(",", ""))
    return number / 100 if share else number


def _value(calculation: str) -> Decimal | None:
    """Work a calculation without brackets out, products first; None where it divides by nothing."""
    terms: list[Decimal] = []
    for sign, digits, share in _STEP.findall(calculation):
        number = _number(digits, share)
        if sign in ("", "+", "plus"):
            terms.append(number)
        elif sign in ("-", "−", "–", "minus"):
            terms.append(-number)
        elif sign in ("/", "÷"):
            if not number:
                return None
            terms[-1] /= number
        else:
            terms[-1] *= number
    return sum(terms, Decimal())
