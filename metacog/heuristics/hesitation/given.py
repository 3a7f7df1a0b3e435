"""What an agent was told before it answered, of which nobody need look for another source."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cached_property
from itertools import islice

from ..lexicon import LANGUAGES
from ..text.shadow import Shadow
from .calculation import MAX_CALCULATED, Amount, amount_of

MAX_GIVEN = 65_536  # characters of each text given to an agent that are looked at
MAX_SAYINGS = 256  # of one response that are looked for there
MAX_TOLD = 256  # figures of a session that are remembered, those of up to 24 characters
_REQUEST = 300  # characters in which it begins
OPENING_QUOTES = '"“「『«《'
_QUOTES = OPENING_QUOTES + "”」』»》'"
_COUNTED = re.compile(r"([0-9]+(?:[.,][0-9]+)*)[\s-]?([%‰°]|[^\W\d_])?")
_SHARES = ("%", "‰", "°")  # 30 of anything is no 30 %
_LONG = re.compile(r"[0-9]{1,12}\.[0-9]{1,20}")
LEAP_YEAR = 2024  # of a day whose year is not said: it has all days
_PRICE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")
_MONTHS = tuple(month for language in LANGUAGES for month in language.MONTHS)
_NUMERIC_DAY = re.compile(r"([0-9]{1,4})\s?([-/年月])\s?([0-9]{1,2})(?:\s?[-/月]\s?([0-9]{1,2}))?(?![0-9])")
_ONES = "〇一二三四五六七八九"
_CHINESE_DAY = re.compile(r"(十?[一二三四五六七八九]|十)月([二三]?十?[一二三四五六七八九]|[二三]?十)([日号])")
_SHORT_MONTHS = tuple(month[:3] for month in _MONTHS)
_NAMED_MONTH = "|".join(rf"{month[:3]}(?=(?:{month[3:]}|t)?\b)" for month in _MONTHS)
_NAMED_DAY = re.compile(
    rf"\b({_NAMED_MONTH})[a-z]*\.?\s([0-9]{{1,2}})(?![0-9])|([0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?({_NAMED_MONTH})"
)
_NAMING_MONTH = re.compile(rf"\b({_NAMED_MONTH})")
_MONTH_OF_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}\s?[-/年]\s?([0-9]{1,2})(?![0-9])")
_MADE_UP, _COMPOSED = (
    re.compile(rf"\W*+(?:{'|'.join(getattr(language, name) for language in LANGUAGES)})")
    for name in ("MADE_UP", "COMPOSED")
)
# Of a number: commas between thousands, and zeros behind the point that say nothing.
_NOTHING = re.compile(r",(?=[0-9]{3})|(?:(\.[0-9]*[1-9])|\.)0+\Z")


class Given:
    """What an agent was told before it answered. A fact that stands there has its source there."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text[:MAX_GIVEN] for text in texts]
        self._sayings_left = MAX_SAYINGS
        self._by_places: dict[int, Set[tuple[str, str]]] = {}

    @cached_property
    def _text(self) -> str:
        return _in_digits("\n".join([Shadow(text).text for text in self._texts]))

    @cached_property
    def asks_to_invent(self) -> bool:
        """Tell whether something made up was asked for, in which nothing is claimed."""
        return self._begins(_MADE_UP)

    @cached_property
    def asks_to_compose(self) -> bool:
        """Tell whether words were asked for that are not the agent's, in which it is sure of nothing."""
        return self._begins(_COMPOSED)

    def _begins(self, request: re.Pattern[str]) -> bool:
        return any(request.match(Shadow(text[:_REQUEST]).text) for text in self._texts)

    @cached_property
    def _counted(self) -> set[tuple[str, str]]:
        """Each number with the first letter of what it counts; and without, where it is no share."""
        counted = set(_counted(self._text))
        return counted | {(number, "") for number, unit in counted if unit not in _SHARES}

    def lacks(self, facts: Sequence[str]) -> list[int]:
        """Tell which facts (figures, dates, sayings, quotations, as their shadows read) were not given.

        Nor is one of them the sum or the difference of two that were: what is calculated has its source in those. To
        the cent, it is enough that the response names one of the two.
        """
        if not self._texts:
            return [*range(len(facts))]
        lacking = [number for number, fact in enumerate(facts) if not self._holds(fact)]
        known = {*range(len(facts))}.difference(lacking)
        amounts = {*islice(filter(None, (amount_of(facts[number]) for number in sorted(known))), MAX_CALCULATED)}
        return [number for number in lacking if not self._is_calculated(amount_of(facts[number]), amounts)]

    def _is_calculated(self, amount: Amount | None, named: Set[Amount]) -> bool:
        if amount is None:
            return False
        much, of = amount
        alike = [one for one, other in named if other == of]
        if any((abs(much - one), of) in named for one in alike):
            return True
        # Round figures come out of too many others by chance.
        return much.as_tuple().exponent == -2 and any(
            abs(much - one) in self._numbers or much + one in self._numbers for one in alike
        )

    @cached_property
    def _numbers(self) -> Set[Decimal]:
        return {Decimal(number) for number, _ in self._counted if _PRICE.fullmatch(number)}

    def _holds(self, fact: str) -> bool:
        numbers = [] if fact[0] in _QUOTES else _counted(fact)
        if not numbers:
            self._sayings_left -= 1
            return self._sayings_left >= 0 and fact.strip(_QUOTES) in self._text
        return (all(map(self._holds_number, numbers)) and self._holds_month(fact, numbers)) or self._holds_day(
            fact, numbers
        )

    def _holds_month(self, fact: str, numbers: Sequence[tuple[str, str]]) -> bool:
        """Tell whether the month of a named day was given, or the day without one: "on the 5th", 5号."""
        day, _ = numbers[0]
        if len(day) > 2 or _months(fact) <= self._months:
            return True
        return re.search(rf"(?<![0-9]){day}(?:st|nd|rd|th|\s?[日号])", self._text) is not None

    def _holds_day(self, fact: str, numbers: Sequence[tuple[str, str]]) -> bool:
        """Tell whether a date was given, however written: 3月15日 is 2024-03-15; a year must be given, too."""
        days = _days(fact)
        years = [number for number in numbers if len(number[0]) > 2]
        return bool(days) and days <= self._days and all(map(self._holds_number, years))

    def holds_day_before(self, fact: str, days: int) -> bool:
        """Tell whether the day was given that is so many days before a fact's (after it, where `days` is negative)."""
        year = next((int(number) for number, _ in _counted(fact) if len(number) == 4), LEAP_YEAR)
        for month, day in _days(fact):
            try:
                before = date(year, month, day) - timedelta(days=days)
            except (ValueError, OverflowError):  # no such day
                continue
            if (before.month, before.day) in self._days:
                return year == LEAP_YEAR or self._holds_number((str(before.year), ""))
        return False

    @cached_property
    def _days(self) -> Set[tuple[int, int]]:
        return _days(self._text)

    @cached_property
    def _months(self) -> Set[int]:
        return _months(self._text) | {month for month, _ in self._days}

    def _holds_number(self, counted: tuple[str, str]) -> bool:
        number, unit = counted
        # "30 miles" is what "a 30-mile walk" says; a single digit is everywhere.
        loose = len(number) > 1 and unit not in _SHARES
        if counted in self._counted or (loose and (number, "") in self._counted):
            return True
        rounded = self._rounded(len(number.partition(".")[2]))
        return counted in rounded or (loose and (number, "") in rounded)

    def _rounded(self, places: int) -> Set[tuple[str, str]]:
        """Give the numbers that were given with more places, rounded to so many: $6.28 of 6.280000000000001."""
        if places not in self._by_places:
            last = Decimal(1).scaleb(-places)
            self._by_places[places] = {
                (_NOTHING.sub(r"\1", f"{Decimal(number).quantize(last, rounding)}"), unit)
                for number, unit in self._counted
                if len(number.partition(".")[2]) > places and _LONG.fullmatch(number)
                for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
            }
        return self._by_places[places]


def figures_of(texts: Iterable[str], before: str = "") -> str:
    """Give the figures of what an agent was given, and those it was given `before`, to be given again as one text.

    Those named last stand last; the first ones are forgotten.
    """
    shadows = [_in_digits(Shadow(text[:MAX_GIVEN]).text) for text in texts]
    counted = [number + unit for text in shadows for number, unit in _counted(text)]
    if not counted:
        return before
    counted += [f"{month:02}/{day:02}" for text in shadows for month, day in _each_day(text)]
    latest = dict.fromkeys(reversed([*before.split(), *(figure for figure in counted if len(figure) <= 24)]))
    return "\n".join([*latest][:MAX_TOLD][::-1])


def _in_digits(text: str) -> str:
    """Write the days of a folded text in digits: 三月十五日."""
    return _CHINESE_DAY.sub(lambda day: f"{_value(day[1])}月{_value(day[2])}{day[3]}", text) if "月" in text else text


def _value(number: str) -> int:
    """Give what a Chinese number below a hundred stands for."""
    tens, ten, ones = number.rpartition("十")
    return 10 * (_ONES.index(tens[0]) if tens else bool(ten)) + (_ONES.index(ones[0]) if ones else 0)


def _days(text: str) -> set[tuple[int, int]]:
    return {*_each_day(text)}


def _each_day(text: str) -> Iterator[tuple[int, int]]:
    """Read the months and days of a folded text."""
    yield from _numeric_days(text)
    for month, day, day_before, month_behind in _NAMED_DAY.findall(text):
        yield _SHORT_MONTHS.index(month or month_behind) + 1, int(day or day_before)


def _months(text: str) -> set[int]:
    """Read the months that a folded text names, or writes as 2024-03."""
    named = {_SHORT_MONTHS.index(month) + 1 for month in _NAMING_MONTH.findall(text)}
    return named | {int(month) for month in _MONTH_OF_YEAR.findall(text)}


def _numeric_days(text: str) -> Iterator[tuple[int, int]]:
    """Read 2024-03-15, 3/15 and 3月15日; 1-2 is none, nor is a month alone."""
    for first, sign, second, third in _NUMERIC_DAY.findall(text):
        if len(first) == 4 and third:
            yield int(second), int(third)
        elif len(first) < 3 and sign in "/月":
            yield int(first), int(second)


def _counted(text: str) -> list[tuple[str, str]]:
    return [(_NOTHING.sub(r"\1", number), unit) for number, unit in _COUNTED.findall(text)]


NOTHING = Given(())
