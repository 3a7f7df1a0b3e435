"""Figures that a text works out before its reader: "$137 + $194 = $331" needs no other source, if it is right."""

import re
from collections.abc import Callable, Sequence, Set
from decimal import Decimal
from itertools import accumulate, islice

from .lexicon import LANGUAGES

_WINDOW = 96  # characters before the result, in which the calculation stands
_SIGN = (
    r"\\?(?:(?:times|plus|minus|x|of(?:\sthe)?|multiplied\sby|divided\sby)(?![a-z])|[-+*/×·÷−–的]"
    r"|乘以|乘|除以|加上|加|减去|减)"
)
_BOLD = r"\s*+(?:\*\*)?+\s*+"
_NUMBER = r"[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?+"
# A unit; no word that joins.
_WORD = r"(?:\s?+(?!(?:times|plus|minus|x|of|multiplied|divided)\b)[^\W\d_的乘除加减]++\.?)"
_OPERAND = rf"\(*+[$€£¥]?\s?+{_NUMBER}\s?+%?+{_WORD}{{0,3}}+\)*+"
_EQUALS = ("=", " is", " equals", " makes", " gives", "等于", "得到", "就是", "是", "为")
_CALCULATION = re.compile(rf"(?<![0-9.,(/*+×÷-]){_OPERAND}(?:{_BOLD}{_SIGN}{_BOLD}{_OPERAND})++{_BOLD}\Z")
# "multiply 42 by 0.18, which equals"
_IN_WORDS = re.compile(
    rf"\b(multiply|divide|add|subtract)(?:ing)?\s[$€£¥]?({_NUMBER})\s?(%?)\s(?:by|from|to|and)\s[$€£¥]?({_NUMBER})\s?(%?)"
    r"[^0-9.!?\n]{0,24}\Z"
)
_GIVES = (*_EQUALS, " get", " gives you", " results in")
_STEP = re.compile(rf"({_SIGN})?{_BOLD}[$€£¥]?\s?({_NUMBER})\s?(%?)")
_BRACKETS = re.compile(r"\(([^()]*)\)")
# "0.67 or 67%", 0.67（67%）
_OR = ("(", " or", " or about", "≈", "或", "即", "也就是")
_EQUALS_OR = _EQUALS + _OR
_LONE_NUMBER = re.compile(rf"(?<![0-9.,])({_NUMBER})\s?,?\s?\Z")
# What is measured once more in another unit: 5 miles (8 km). By kind, how much of the first each is.
_SCALES: tuple[dict[str, float], ...] = (
    {"m": 1, "meter": 1, "metre": 1, "公尺": 1, "米": 1, "km": 1000, "kilometer": 1000, "kilometre": 1000, "公里": 1000}
    | {"千米": 1000, "mile": 1609.344, "英里": 1609.344, "feet": 0.3048, "foot": 0.3048, "ft": 0.3048, "英尺": 0.3048}
    | {"cm": 0.01, "centimeter": 0.01, "centimetre": 0.01, "公分": 0.01, "厘米": 0.01, "mm": 0.001, "毫米": 0.001}
    | {"inch": 0.0254, "inches": 0.0254, "英寸": 0.0254, "yard": 0.9144},
    {"km/h": 1, "kmh": 1, "公里/小时": 1, "mph": 1.609344, "knot": 1.852, "m/s": 3.6},
    {"byte": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4},
    {"kb": 1, "mb": 1e3, "gb": 1e6, "tb": 1e9},
    {
        "g": 1,
        "gram": 1,
        "mg": 0.001,
        "毫克": 0.001,
        "克": 1,
        "公克": 1,
        "kg": 1000,
        "kilogram": 1000,
        "公斤": 1000,
        "千克": 1000,
    }
    | {"pound": 453.592, "lb": 453.592, "磅": 453.592, "ton": 1e6, "tonne": 1e6, "吨": 1e6},
    {
        "liter": 1,
        "litre": 1,
        "l": 1,
        "公升": 1,
        "升": 1,
        "gallon": 3.78541,
        "加仑": 3.78541,
        "毫升": 0.001,
        "ml": 0.001,
    },
)
_UNIT = "|".join(sorted({unit for scale in _SCALES for unit in scale}, key=lambda unit: (-len(unit), unit)))
_MEASURED = re.compile(rf"({_NUMBER})\s?({_UNIT})s?(?![a-z])")
_AGAIN = re.compile(
    rf"(?<![0-9.,])({_NUMBER})\s?({_UNIT})s?(?![a-z])\s?[=≈(/|]?\s?(?:(?:or|is|equals|about|approximately|roughly|around"
    r"|等于|就是|即|是|为|合|约|大约|约为)\s?){0,3}\Z"
)
# 75°F (24°C): the same in the other scale, to the degree.
_DEGREES = rf"([-−]?{_NUMBER})\s?(?:(?:°|degrees)\s?)?([cf]\b|celsius|fahrenheit|℃|℉|摄氏|华氏)"
_TEMPERATURE = re.compile(_DEGREES)
_TEMPERATURE_AGAIN = re.compile(
    rf"(?<![0-9.,]){_DEGREES}度?(?: {{0,20}}\| {{0,20}}|\s?[(/=]?\s?)(?:(?:or|about|approximately|约|即|或)\s?)"
    r"{0,2}\Z"
)
_CONVERTED = re.compile(rf"{_DEGREES} {{0,20}}\| {{0,20}}{_DEGREES}")  # a row of a table of both
_DEGREE = 0.6  # Celsius, that they may be rounded
_CLOSE = 0.02  # of it, as far as it may be rounded
MAX_CALCULATED = 64  # amounts of one response that others may be made of
_AMOUNT = re.compile(r"([$€£¥]?)\s?([0-9]{1,12}(?:,[0-9]{3})*(?:\.[0-9]{1,4})?)\s?([^0-9%‰°]*)")
_MONTH = re.compile("|".join(month for language in LANGUAGES for month in language.MONTHS))
Amount = tuple[Decimal, str]  # so much of what


def is_worked_out(text: str, start: int, end: int) -> bool:
    """Tell whether a figure (a place in a folded text) is what comes out of the calculation right before it."""
    if _is_converted(text, start, end):
        return True
    before = text[max(0, start - _WINDOW) : start].rstrip(" *\n$€£¥")
    if before.endswith(_GIVES) and _is_worked_out_in_words(before, text, start, end):
        return True
    if not before.endswith(_EQUALS_OR if text[end - 1] == "%" else _EQUALS):
        return False
    result = _STEP.match(text, start, end)
    if not result:
        return False
    given = _number(result[2], result[3])
    for sign in _OR if result[3] else ():
        if before.endswith(sign) and (number := _LONE_NUMBER.search(before.removesuffix(sign))):
            return _is_about(_number(number[1], ""), given)
    equals = next((sign for sign in _EQUALS if before.endswith(sign)), "")
    calculation = _CALCULATION.search(before.removesuffix(equals).rstrip(","))
    much = _value(calculation.group()) if equals and calculation else None
    # Shares may be worked out of a hundred: (8 ÷ 10) × 100 = 80 %.
    return much is not None and (_is_about(much, given) or (result[3] != "" and _is_about(much, given * 100)))


def _is_worked_out_in_words(before: str, text: str, start: int, end: int) -> bool:
    words, result = _IN_WORDS.search(before), _STEP.match(text, start, end)
    if not words or not result:
        return False
    one, other = _number(words[2], words[3]), _number(words[4], words[5])
    if words[1] == "divide" and not other:
        return False
    much = {
        "multiply": one * other,
        "divide": one / other if other else one,
        "add": one + other,
        "subtract": other - one,
    }[words[1]]
    return _is_about(much, _number(result[2], result[3]))


def _is_converted(text: str, start: int, end: int) -> bool:
    """Tell whether a figure says in another unit what the one right before it says: "5 miles (8 km)"."""
    if warm := _TEMPERATURE.match(text, start, end + 12):
        if row := _CONVERTED.match(text, start):
            return _is_as_warm(*row.groups())
        before = _TEMPERATURE_AGAIN.search(text, max(0, start - _WINDOW), start)
        return before is not None and _is_as_warm(*before.groups(), *warm.groups())
    measured = _MEASURED.match(text, start, end + 1)
    before = _AGAIN.search(text, max(0, start - _WINDOW), start) if measured else None
    if not measured or not before or measured[2] == before[2]:
        return False
    for scale in _SCALES:
        if measured[2] in scale and before[2] in scale:
            much, again = (float(_number(match[1], "")) * scale[match[2]] for match in (before, measured))
            if abs(much - again) <= _CLOSE * much:
                return True
    return False


def _is_as_warm(much: str, scale: str, again: str, other: str) -> bool:
    return scale[0] != other[0] and abs(_celsius(much, scale) - _celsius(again, other)) <= _DEGREE


def _celsius(much: str, scale: str) -> float:
    degrees = float(much.replace("−", "-").replace(",", ""))
    return (degrees - 32) / 1.8 if scale[0] in "f℉华" else degrees


def amount_of(fact: str) -> Amount | None:
    """Read a folded fact that is so much of something; a share is none, nor is a day."""
    amount = _AMOUNT.fullmatch(fact)
    if not amount or _MONTH.search(amount[3]):
        return None
    return Decimal(amount[2].replace(",", "")), amount[1] + amount[3]


def added_up(facts: Sequence[str], wanted: Sequence[int], is_total: Callable[[int], bool]) -> Set[int]:
    """Tell which `wanted` facts of a text, in its order, come out of those before: "$2.50 and $3.20, $5.70 in all".

    Such are the sum of the last ones, where `is_total` says of its number that it is called so; and to the cent any
    such sum, and the sum or the difference of two: round figures come out of too many others by chance.
    """
    made: set[int] = set()
    before: dict[str, list[Decimal]] = {}
    amounts = ((number, amount) for number, fact in enumerate(facts) if (amount := amount_of(fact)))
    for number, (much, unit) in islice(amounts, MAX_CALCULATED):
        others = before.setdefault(unit, [])
        if number in wanted and len(others) > 1 and much not in others:
            is_exact = much.as_tuple().exponent == -2
            is_sum = much in accumulate(reversed(others)) and (is_exact or is_total(number))
            if is_sum or (is_exact and any(much - one in others or much + one in others for one in others)):
                made.add(number)
        others.append(much)
    return made


def _is_about(much: Decimal, rounded: Decimal) -> bool:
    places = rounded.as_tuple().exponent
    assert isinstance(places, int)
    return abs(much - rounded) <= Decimal(5).scaleb(places - 1)


def _number(digits: str, share: str) -> Decimal:
    number = Decimal(digits.replace(",", ""))
    return number / 100 if share else number


def _value(calculation: str) -> Decimal | None:
    """Work a calculation out, brackets first, then products; None where it divides by nothing or lacks a bracket."""
    while brackets := _BRACKETS.search(calculation):
        inner = _value(brackets[1])
        if inner is None or inner < 0:
            return None
        calculation = f"{calculation[: brackets.start()]}{inner:f}{calculation[brackets.end() :]}"
    if "(" in calculation or ")" in calculation:
        return None
    terms: list[Decimal] = []
    for sign, digits, share in _STEP.findall(calculation):
        number = _number(digits, share)
        if sign in ("", "+", "plus", "加", "加上"):
            terms.append(number)
        elif sign in ("-", "−", "–", "minus", "减", "减去"):
            terms.append(-number)
        elif sign in ("/", "÷", "divided by", "除以"):
            if not number:
                return None
            terms[-1] /= number
        else:
            terms[-1] *= number
    return sum(terms, Decimal())
