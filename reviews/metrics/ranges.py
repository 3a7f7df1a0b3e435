"""Ranges of days, each with the one before it, which is as long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.translation import gettext

PRESETS = (7, 30, 90)
USUAL = 30
MONTH = "month"
LONGEST = 366  # days, so that what is added up stays little

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Range:
    """The days from the first to the last, both included."""

    first: date
    last: date

    @classmethod
    def up_to(cls, last: date, days: int) -> Range:
        return cls(last - (days - 1) * _DAY, last)

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> Range:
        """The range before this one, of the same length."""
        return Range.up_to(self.first - _DAY, self.days)

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last

    def each(self) -> list[date]:
        return [self.first + number * _DAY for number in range(self.days)]

    def weeks(self) -> list[Range]:
        """Return the weeks, from Monday to Sunday, cut where the range begins and ends."""
        found, begin = [], self.first
        while begin <= self.last:
            end = min(begin + (6 - begin.weekday()) * _DAY, self.last)
            found.append(Range(begin, end))
            begin = end + _DAY
        return found


@dataclass(frozen=True)
class Asked:
    """The range that an address asks for, how it asks, and what of it makes no sense, a sentence each."""

    range: Range
    query: Mapping[str, str]  # what stands for it in an address
    wrong: tuple[str, ...] = ()


def asked(given: Mapping[str, str], today: date) -> Asked:
    """Read `since` and `until` (ISO days), else `range=month`, else `days`; what cannot be read is the usual range.

    Dates that make no sense are told in `wrong`; a number of days that is none of the presets is not.
    """
    if given.get("since") or given.get("until"):
        return _dates(given.get("since", ""), given.get("until", ""), today)
    if given.get("range") == MONTH:
        return Asked(Range(today.replace(day=1), today), {"range": MONTH})
    days = next((days for days in PRESETS if str(days) == given.get("days")), USUAL)
    return Asked(Range.up_to(today, days), {"days": str(days)})


def _dates(first: str, last: str, today: date) -> Asked:
    try:
        end = date.fromisoformat(last) if last else today
        begin = date.fromisoformat(first) if first else Range.up_to(end, USUAL).first
        wanted = Range(begin, end)
        _ = wanted.before.first - _DAY  # the first days there are have none before them
    except (ValueError, OverflowError):
        return _usual(today, gettext("Write dates like 2026-02-24: filter ignored."))
    if begin > end:
        return _usual(today, gettext("The first day is after the last: filter ignored."))
    if wanted.days > LONGEST:
        told = gettext("A range has at most %(days)s days: filter ignored.") % {"days": LONGEST}
        return _usual(today, told)
    return Asked(wanted, {"since": begin.isoformat(), "until": end.isoformat()})


def _usual(today: date, *wrong: str) -> Asked:
    return Asked(Range.up_to(today, USUAL), {"days": str(USUAL)}, wrong)
