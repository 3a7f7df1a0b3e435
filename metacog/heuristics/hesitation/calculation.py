"""Figures that a text works out before its reader: "$137 + $194 = $331" needs no other source, if it is right."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from itertools import accumulate, chain, islice
from typing import NamedTuple

from ..lexicon import LANGUAGES

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
# Hours and minutes stand together too where neither says the other: "2 hours (30 minutes by car)", "1 hour and a half".
_TIMES: dict[str, float] = {
    **{"second": 1, "sec": 1, "秒": 1, "minute": 60, "min": 60, "分钟": 60},
    **{"hour": 3600, "hr": 3600, "小时": 3600, "day": 86_400, "天": 86_400, "week": 604_800, "周": 604_800},
}
# What is measured once more in another unit: 5 miles (8 km). By kind, how much of the first each is.
_SCALES: tuple[dict[str, float], ...] = (
    _TIMES,
    {"m": 1, "meter": 1, "metre": 1, "公尺": 1, "米": 1, "km": 1000, "kilometer": 1000, "kilometre": 1000, "公里": 1000}
    | {"千米": 1000, "mile": 1609.344, "英里": 1609.344, "feet": 0.3048, "foot": 0.3048, "ft": 0.3048, "英尺": 0.3048}
    | {"cm": 0.01, "centimeter": 0.01, "centimetre": 0.01, "公分": 0.01, "厘米": 0.01, "mm": 0.001, "毫米": 0.001}
    | {"inch": 0.0254, "inches": 0.0254, "英寸": 0.0254, "yard": 0.9144, "丈": 10 / 3},
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
    | {"pound": 453.59237, "lb": 453.59237, "磅": 453.59237, "ton": 1e6, "tonne": 1e6, "吨": 1e6}
    | {"oz": 28.349523125, "ounce": 28.349523125, "盎司": 28.349523125},
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
# Units of more than one size: what is converted from or to them is never called wrong.
_SEVERAL = {"丈", "ton", "tonne", "吨", "byte", "kb", "mb", "gb", "tb", "gallon", "加仑", "knot"}
_SEVERAL |= {"day", "天", "week", "周"}  # of work
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

# What stands complete before the reader is checked: a calculation and what it comes to, or two measures of one thing.
MAX_CHECKED = 256  # of one text
_DOLLARS = re.compile(r"((?<![a-z])[a-z]{1,3}|)\$")  # NT$, US$; of others the letters before are the word's
_AND_SAYS = r"(?=[ *$€£¥(~≈约合]{0,5}[-−]?[0-9]|\s?(?:about|approx|rough|around))"
_COMES_TO = re.compile(rf"[=≈(合]{_AND_SAYS}")
# What is looked for where something else stands in the text: a share is worked out in words (20% of $1850 is $370).
_COMES_TO_TOO = {
    sign: re.compile(f"(?:{expression}){_AND_SAYS}")
    for sign, expression in {"equals": "equals", "等于": "等于", "%": " is|是|为"}.items()
}
_ABOUT = r"(?:about|approximately|roughly|around|nearly|almost|约|大约|≈|~)"
_ABOUT_BEFORE = re.compile(rf"{_ABOUT}\s?[$€£¥]?\s?\Z")
_RESULT = re.compile(
    rf"{_BOLD}(?P<about>{_ABOUT}\s?)?{_BOLD}(?P<figure>(?P<money>[$€£¥]?)(?:(?<=[$€£¥])\s)?(?P<number>{_NUMBER})(?P<share>(?:\s?%)?))"
    r"(?!\s?\(?mod\b|\s?[+*/×÷^][\s(]*[0-9]|\s?[-−–]\s?[0-9(]|[.,:/]?[0-9]|[a-z](?![a-z])|\s?x\s?[0-9])\s?(?P<of>[^\W\d_]*)"
)
_TOTAL_BEFORE = re.compile(
    rf"(?<![a-z0-9_.,+*/×÷^$€£¥-])(?P<figure>(?P<money>[$€£¥]?)(?:(?<=[$€£¥])\s)?(?P<number>{_NUMBER})(?P<share>))\s?"
    rf"(?P<of>[^\W\d_]*){_BOLD}\Z"
)
_INNER = re.compile(r"\(([^()\n]{3,200})\)")
_WHOLE = re.compile(rf"\s*{_OPERAND}(?:{_BOLD}{_SIGN}{_BOLD}{_OPERAND})++\s*\Z")
_PART = re.compile(rf"([$€£¥]?)\s?({_NUMBER})\s?(%?)((?:{_WORD}){{0,3}})")
# Right before a calculation: a sign or a number of which it is only a part; a bullet is none.
_GOES_BEFORE = re.compile(
    r"(?:[-+−–*/×·÷^√%°$€£¥#<>)\]}\d]|\b(?:of|times|plus|minus|by|root|sqrt|log|ln|sin|cos|tan|x|[b-hj-z]))\s*\Z"
)
_BULLET = re.compile(r"(?:\A|\n)\s*[-+*•]\s*\Z")
_TIGHT = re.compile(r"[0-9%][-–/][$€£¥]?[0-9]")  # 90-100, 1/2, 3/15
_SHARE_OF_SEVERAL = {"16", "17", "33", "34", "66", "67", "83", "84"}  # of thirds and sixths
# Not to be added up with what has another unit, nor taken for so many.
_MAGNITUDES = {
    *("k", "m", "bn", "thousand", "million", "billion", "trillion", "hundred", "dozen", "percent", "cent"),
    *("万", "亿", "千", "百", "打"),
}
_MEASURES = {unit for scale in _SCALES for unit in scale} | {
    *("month", "year", "h", "s", "am", "pm", "per", "分", "月", "个月", "年", "点", *_MAGNITUDES),
}
_LENGTHWISE = r"(?:\s(?:wide|high|tall|long|deep|thick|away))?"
_CHINESE_NUMBER = "[一二两三四五六七八九十百千万]+"
_ONES, _TENS = (
    dict(zip("一二两三四五六七八九", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True)),
    {"十": 10, "百": 100, "千": 1000},
)
_MEASURED_BEFORE = re.compile(
    rf"(?:(?<![0-9.,:])({_NUMBER})|(?<![第几数])({_CHINESE_NUMBER}))\s?(?P<unit>({_UNIT})s?){_LENGTHWISE},?\s?\Z"
)
_MEASURED_BEHIND = re.compile(
    rf"\s?(?P<about>{_ABOUT}?合?{_ABOUT}?)\s?(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})s?(?![a-z²³^])"
)
# A part of what is measured, or one end of a range.
_NOT_ALONE = re.compile(rf"(?:[-–—~×*/+·'\"]|\b(?:to|and|or|by|x)|[到至和或乘]|(?:{_UNIT})s?\.?,?)\s?\Z")
_ENDS = re.compile(r"\s?(?:[.;!?)|\n。；！？]|\Z)")
_GOES_ON = re.compile(r"\s?(?:and\s)?[0-9+×*/'\"-]|\s?x\s")
_WARM_BEFORE = re.compile(rf"(?<![0-9.,–~-]){_DEGREES}度?\s?\Z")


class Checked(NamedTuple):
    """What stands complete before the reader: a place in a folded text, and in it the figure that is come to."""

    start: int
    end: int
    figure: tuple[int, int]
    unit: int  # in the figure, where its number ends
    made: str  # what the number should be; "" where it is right
    of: tuple[int, int] | None = None  # what is measured twice; None: a calculation


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


def checked(text: str, most: int = MAX_CHECKED) -> Iterator[Checked]:
    """Find the calculations and conversions of a folded text that are right, and those that are surely wrong.

    So many places are looked at where one may stand, MAX_CHECKED at most.
    """
    if "$" in text and len({found[1] for found in _DOLLARS.finditer(text)}) == 1:  # all are the same dollars
        text = _DOLLARS.sub(lambda found: " " * len(found[1]) + "$", text)
    others = (also.finditer(text) for sign, also in _COMES_TO_TOO.items() if sign in text)
    for sign in islice(chain(_COMES_TO.finditer(text), *others), min(most, MAX_CHECKED)):
        start, end = sign.span()
        found = _check_measures(text, start, end) or _check_warmth(text, start, end)
        if not found and sign[0] == "(":
            found = _check_brackets(text, start)
        elif not found and sign[0] != "合":
            found = _check_equation(text, start, end, sign[0] == "≈")
        if found:
            yield found


def _check_equation(text: str, at: int, behind: int, is_about: bool) -> Checked | None:
    result = _RESULT.match(text, behind)
    if not result:
        return None
    first = max(0, at - _WINDOW)
    before = text[first:at].rstrip(" *\n,")
    calculation = _CALCULATION.search(before)
    if not calculation:
        return None
    start = first + calculation.start()
    made = _judge(calculation[0], result, is_about or bool(result["about"]), _is_whole(text, start))
    return None if made is None else _calculated(start, None, result, made, calculation[0])


def _check_brackets(text: str, at: int) -> Checked | None:
    inner = _INNER.match(text, at)
    if not inner or not _WHOLE.match(inner[1]):
        return None
    result = _TOTAL_BEFORE.search(text, max(0, at - 40), at)
    if not result or not (result["money"] or (result["of"] and result["of"] in inner[1])):
        return None
    is_about = _ABOUT_BEFORE.search(text, max(0, result.start() - 24), result.start()) is not None
    made = _judge(inner[1], result, is_about, True)
    return None if made is None else _calculated(result.start(), inner.end(), result, made, inner[1])


def _calculated(start: int, end: int | None, result: re.Match[str], made: str, calculation: str) -> Checked:
    """Give a calculation; it comes to so many of what it is made of, where it ends with its result."""
    figure = result.end("of" if result["of"] and result["of"] in calculation else "figure")
    return Checked(start, end or figure, (result.start("figure"), figure), result.end("number"), made)


def _is_whole(text: str, start: int) -> bool:
    """Tell whether a calculation begins where it seems to."""
    before = text[max(0, start - 24) : start]
    if before[-1:].isascii() and before[-1:].isalnum():
        return False
    return not _GOES_BEFORE.search(before) or _BULLET.search(before) is not None


def _judge(calculation: str, result: re.Match[str], is_about: bool, is_whole: bool) -> str | None:
    """Give what a calculation comes to where its result is wrong, "" where it is right; None where nobody can tell."""
    much = _value(calculation)
    if much is None:
        return None
    given = _number(result["number"], result["share"])
    if _is_about(much, given) or (result["share"] and _is_about(much, given * 100)):
        return ""
    parts = _PART.findall(calculation)
    signs = {sign for sign, _, _ in _STEP.findall(calculation)} - {""}
    is_sum = signs <= {"+", "plus", "加", "加上", "-", "−", "–", "minus", "减", "减去"}
    if not is_whole or _TIGHT.search(calculation) or not _is_of_one_kind(parts, result, is_sum):
        return None
    places = _places(result["number"])
    slack = Decimal(1).scaleb(-places) if _places(f"{much.normalize():f}") > places else Decimal(0)
    if not is_sum:
        slack += abs(much) * sum((_fuzz(number, share) for _, number, share, _ in parts), Decimal())
    slack = max(slack, abs(much) / (20 if is_about else 10**9))  # 0.1 + 0.2 = 0.30000000000000004
    if abs(much - given) <= slack:
        return ""
    shown = max(places, min(_places(f"{much.normalize():f}"), 2))
    return f"{result['money']}{much * 100 if result['share'] else much:,.{shown}f}"


def _is_of_one_kind(parts: Sequence[tuple[str, str, str, str]], result: re.Match[str], is_sum: bool) -> bool:
    """Tell whether so many of something may be calculated with: no shares of others, minutes with hours, 0s and 1s."""
    shares = {bool(share) for _, _, share, _ in parts}
    if (is_sum and shares == {True, False}) or (result["share"] and True not in shares):
        return False
    if True in shares and is_sum != bool(result["share"]):
        return False
    if len({money for money, *_ in parts if money} | {result["money"]} - {""}) > 1:
        return False
    of = result["of"].rstrip("s")
    each = [[word.rstrip("s") for word in words.split()] for *_, words in parts]
    words = {word for words in each for word in words}
    if is_sum and any(money for money, *_ in parts):  # labels: $500 flight + $20 bag
        words &= _MEASURES
    measures = (words & _MEASURES) - {"per"}
    is_rate = not is_sum and result["money"] and len(measures) == 1 and not measures & _MAGNITUDES  # 8 hours x $15
    if measures and not (is_rate or (is_sum and all(each))):
        return False
    if any(
        not word.isalpha() or (len(word) == 1 and word.isascii()) for word in words | {of} - {""}
    ):  # 2², 2y, 2 o'clock
        return False
    if is_sum and len(words) > 1:
        return False
    if of in _MEASURES and of not in words:
        return False
    return not {*"".join([result["number"], *(number for _, number, *_ in parts)])} <= {"0", "1", ",", "."}


def _fuzz(number: str, share: str) -> Decimal:
    """Give how far a factor may be rounded, of itself: what has a point by half of its last place."""
    much, places = Decimal(number.replace(",", "")), _places(number)
    is_rounded = places > 0 or (share and number in _SHARE_OF_SEVERAL)
    return Decimal(5).scaleb(-places - 1) / much if much and is_rounded else Decimal(0)


def _places(number: str) -> int:
    return len(number.partition(".")[2])


def _check_measures(text: str, at: int, behind: int) -> Checked | None:
    again = _MEASURED_BEHIND.match(text, behind)
    measured = _MEASURED_BEFORE.search(text, max(0, at - 48), at) if again else None
    if not again or not measured:
        return None
    unit, other = measured[4], again["unit"]
    scale = next((each for each in _SCALES if unit in each and other in each), None)
    if scale is None or scale[unit] == scale[other]:
        return None
    number = measured[1] or str(_chinese(measured[2]))
    much, given = float(number.replace(",", "")), float(again["number"].replace(",", ""))
    made, back = much * scale[unit] / scale[other], given * scale[other] / scale[unit]
    start = measured.start()
    is_about = bool(again["about"].strip("合")) or text[at] == "≈"
    is_about = is_about or _ABOUT_BEFORE.search(text, max(0, start - 24), start) is not None
    found = Checked(start, again.end(), (again.start("number"), again.end()), again.end("number"), "")
    rounded = _slack(number, is_about) / 2
    if scale is _TIMES:  # whole hours are not rounded to be said in minutes
        rounded = 2 * rounded if is_about or "." in number else 0
    if abs(made - given) <= _slack(again["number"], is_about) or abs(back - much) <= rounded:
        return found
    is_closed = text.startswith(")", again.end()) if text[at] == "(" else not _GOES_ON.match(text, again.end())
    is_alone = _NOT_ALONE.search(text, max(0, start - 24), start) is None
    if scale is _TIMES:
        is_closed = text[at] in "=e等" and _ENDS.match(text, again.end()) is not None
        before = text[max(0, start - 24) : start]
        is_alone = is_alone and not before[-1:].isalnum() and not any(each in before for each in _TIMES)
    if not is_closed or not is_alone or measured[2] or {unit, other} & _SEVERAL:
        return None
    places = max(_places(again["number"]), 0 if made >= 10 else 1)
    return found._replace(made=f"{made:,.{places}f}", of=(start, measured.end("unit")))


def _check_warmth(text: str, at: int, behind: int) -> Checked | None:
    again = _TEMPERATURE.match(text, behind + text.startswith(" ", behind))
    warm = _WARM_BEFORE.search(text, max(0, at - 48), at) if again else None
    if not again or not warm or warm[2][0] == again[2][0] or not _says_degrees(warm[0]) or not _says_degrees(again[0]):
        return None
    much, given = _degrees(warm[1]), _degrees(again[1])
    made, back = (
        (much * 1.8 + 32, (given - 32) / 1.8) if again[2][0] in "f℉华" else ((much - 32) / 1.8, given * 1.8 + 32)
    )
    is_about = _ABOUT_BEFORE.search(text, max(0, warm.start() - 24), warm.start()) is not None or text[at] == "≈"
    found = Checked(warm.start(), again.end(), again.span(), again.end(1), "")
    if abs(made - given) <= _slack(again[1], is_about) or abs(back - much) <= _slack(warm[1], is_about) / 2:
        return found
    is_warmer = abs(given - much * 1.8) <= 1 or abs(given * 1.8 - much) <= 1  # by so many degrees
    is_closed = text.startswith(")", again.end()) if text[at] == "(" else not _GOES_ON.match(text, again.end())
    if is_warmer or not is_closed or _NOT_ALONE.search(text, max(0, warm.start() - 24), warm.start()):
        return None
    return found._replace(made=f"{made:.{_places(again[1])}f}", of=(warm.start(), warm.end(2)))


def _says_degrees(measure: str) -> bool:
    return re.search("[°℃℉摄华]|degree|celsius|fahrenheit", measure) is not None


def _degrees(number: str) -> float:
    return float(number.replace("−", "-").replace(",", ""))


def _slack(number: str, is_about: bool) -> float:
    """Give how far a measure may be rounded: by its last place, a round one by up to a twentieth."""
    digits = number.lstrip("-−").replace(",", "")
    much, last = float(digits), 10.0 ** -_places(digits)
    zeros = 10.0 ** (len(digits) - len(digits.rstrip("0"))) if "." not in digits else last
    return max(last if much >= 10 else last / 2, min(zeros, much / 20), much / 20 if is_about else 0)


def _chinese(number: str) -> int:
    """Give what a Chinese number below a hundred million stands for."""
    total = part = digit = 0
    for sign in number:
        if sign in _ONES:
            digit = _ONES[sign]
        elif sign == "万":
            total, part, digit = (part + digit) * 10_000, 0, 0
        else:
            part, digit = part + (digit or 1) * _TENS[sign], 0
    return total + part + digit
