"""How figures are written by the reader's language: counts, shares with intervals, durations, a chart's scale."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypedDict

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop, ngettext

from reviews.metrics.daily import Lift, Ratio
from reviews.presentation.phrases import UNITS

MOST_DIGITS = 2  # behind the point of a percentage


def number(value: float, digits: int = 0) -> str:
    """Write a number, rounded: 1,662 or 3.4."""
    rounded = f"{value:.{digits}f}"  # Django only cuts digits off
    return number_format(rounded, digits, force_grouping=True)


def signed(value: float, digits: int = 0) -> str:
    """Write a difference with its sign: +3, −3, ±0."""
    value = round(value, digits)
    return ("+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else "±") + number(abs(value), digits)


def percent(share: float, digits: int = 0) -> str:
    while share and digits < MOST_DIGITS and not round(100 * share, digits):  # a few are not none
        digits += 1
    return f"{number(100 * share, digits)}%"


def span(low: float, high: float) -> str:
    """Return an interval in percent."""
    digits = 0 if high >= 0.01 else 1  # 0-0 would tell nothing
    return f"{number(100 * low, digits)}–{number(100 * high, digits)}%"


def sure(told: Ratio, digits: int = 0) -> str:
    """Write a share with all that belongs to it: 29%, 95% CI 27–31%, n = 1,662."""
    said = gettext("%(rate)s, 95%% CI %(interval)s, n = %(n)s") % {
        "rate": percent(told.rate, digits),
        "interval": span(told.low, told.high),
        "n": number(told.whole),
    }
    return unbroken(said)


def unbroken(said: str) -> str:
    """Keep “n = 41” on one line."""
    return said.replace("n = ", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


class Share(TypedDict):
    """A ratio as a page shows it."""

    ratio: Ratio
    rate: str
    counts: str
    interval: str
    few: str  # why it tells nothing yet, else ""


def ratio(told: Ratio, digits: int = 0) -> Share:
    """Return a ratio as the page shows it: never without its counts."""
    counts = {"part": number(told.part), "whole": number(told.whole)}
    few = ngettext(
        "%(part)s of %(whole)s decision: too few to tell",
        "%(part)s of %(whole)s decisions: too few to tell",
        told.whole,
    )
    return {
        "ratio": told,
        "rate": percent(told.rate, digits),
        "counts": gettext("%(part)s of %(whole)s") % counts,
        "interval": span(told.low, told.high),
        "few": "" if told.is_enough else few % counts if told.whole else gettext("nothing decided yet"),
    }


def lift(told: Lift) -> str:
    """Say in a phrase how often what a signal fired on was rejected, against what it did not fire on."""
    counts = {"n": number(told.fired.whole), "rest": number(told.rest.whole), "part": number(told.fired.part)}
    if not told.fired.is_enough:
        said = gettext("too few decisions (n = %(n)s)")
    elif not told.decided.part:
        said = gettext("nothing rejected yet (n = %(n)s)")
    elif not told.is_enough:
        said = gettext("too few decisions without it to compare with (n = %(rest)s)")
    elif not told.rest.part:
        said = ngettext(
            "rejected %(part)s time, items without it never (n = %(n)s and %(rest)s)",
            "rejected %(part)s times, items without it never (n = %(n)s and %(rest)s)",
            told.fired.part,
        )
    else:
        ends = told.against_rest
        digits = 2 if any(end != 1 and round(end, 1) == 1 for end in ends[1:]) else 1  # 1.0 would hide its side
        counts |= dict(zip(("rate", "low", "high"), (number(end, digits) for end in ends), strict=True))
        if ends[1] <= 1 <= ends[2]:
            said = gettext(
                "no clear difference: rejected %(rate)s× as often as items without it (95%% CI %(low)s–%(high)s, "
                "n = %(n)s)"
            )
        else:
            said = gettext("rejected %(rate)s× as often as items without it (95%% CI %(low)s–%(high)s, n = %(n)s)")
    return unbroken(said % counts)


def duration(seconds: int | None) -> str:
    """Say a duration in its two largest units; rounded up, so that what lies within it does so as it is told."""
    if seconds is None:
        return "–"
    for (size, unit), (small, smaller) in pairwise((*UNITS, (1, gettext_noop("{n} s")))):
        if seconds >= size:
            count, rest = divmod(-(-seconds // small), size // small)
            told, more = gettext(unit).format(n=count), gettext(smaller).format(n=rest)
            return f"{told} {more}" if rest else told
    return gettext("{n} s").format(n=seconds)


def scale_top(counts: Sequence[int]) -> int:
    """Return a round number at which a scale for these counts ends, and whose half is whole."""
    most = max(counts, default=0)
    if most <= 10:
        return max(2, most + most % 2)
    unit = int(10 ** (len(str(most)) - 1))
    return -(-most // unit) * unit
