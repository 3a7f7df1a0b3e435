"""Sentences with their intervals one hover away: what a first reading needs stands there, the rest behind a mark."""

from __future__ import annotations

import re

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext

from metacog.heuristics.stats.agreement import Kappa
from metacog.heuristics.stats.intervals import difference
from reviews.metrics.daily import Ratio, Total
from reviews.metrics.ranges import Range
from reviews.presentation.ratios import number
from reviews.presentation.statistics.changes import Change

# "(29%, 95% CI 27–31%, n = 1,662)" is "(29%)", and the rest behind the mark; in Chinese the signs are full width.
_ASIDE = re.compile(r"(\s?[(（])([^()（）]*?)([,，;；]?\s*)(95%\s?CI[^()（）]*)([)）])|(95%\s?CI [^,，;；。)）]*)")


def plainly(told: str) -> str:
    """Put the intervals of a sentence, which is no markup, behind marks that tell them when pointed at or focused."""
    parts: list[str] = []
    last = 0
    for found in _ASIDE.finditer(told):
        opens, before, _sign, aside, closes, bare = found.groups()
        kept = f"{opens}{before}{closes}" if before else ""
        parts.append(format_html("{}{}{}", told[last : found.start()], kept, behind(bare or aside)))
        last = found.end()
    return format_html("{}{}", format_html_join("", "{}", ((part,) for part in parts)), told[last:])


def without_intervals(told: str) -> str:
    """Leave the intervals of a sentence out, where nothing can be pointed at."""
    return _ASIDE.sub(lambda found: f"{found[1]}{found[2]}{found[5]}" if found[2] else "", told)


def behind(aside: str) -> str:
    """Give the mark behind which an interval stands."""
    return format_html('<abbr class="aside" tabindex="0" title="{}">±</abbr>', aside)


def confidence(interval: str) -> str:
    """Give the mark behind which the 95 % interval of a share stands."""
    return behind(gettext("95%% CI %(interval)s") % {"interval": interval})


def beyond_chance(kappa: Kappa) -> str:
    """Say whether agents and people agree more than they would by chance; by what measure, behind the mark."""
    if kappa.low > 0:
        said = gettext("That is more than chance alone would give.")
    elif kappa.high < 0:
        said = gettext("That is less than chance alone would give.")
    else:
        said = gettext("That may be chance alone.")
    figures = {name: f"{round(value, 2) or 0:.2f}".replace("-", "−") for name, value in kappa._asdict().items()}
    told = gettext("Cohen's kappa %(value)s, 95%% CI %(low)s to %(high)s: 0 is chance, 1 is full agreement")
    return format_html("{}{}", said, behind(told % figures))


def first_line(total: Total, before: Total, days: Range) -> str:
    """Say in a sentence for anyone what people decided in these days, and whether that is more than before."""
    now, was = _by_people(total), _by_people(before)
    if not now.whole:
        return gettext("People decided nothing in these days.")
    counts = {"part": number(now.part), "whole": number(now.whole), "before": _before(days)}
    change = Change(now, was)
    if not change.is_enough:
        said = ngettext(
            "People rejected %(part)s of the %(whole)s item they decided.",
            "People rejected %(part)s of the %(whole)s items they decided.",
            now.whole,
        )
    elif not change.is_clear:
        said = gettext(
            "People rejected %(part)s of the %(whole)s items they decided, about the same share as %(before)s."
        )
    elif change.points > 0:
        said = gettext("People rejected %(part)s of the %(whole)s items they decided, a larger share than %(before)s.")
    else:
        said = gettext("People rejected %(part)s of the %(whole)s items they decided, a smaller share than %(before)s.")
    return said % counts


def first_interval(total: Total, before: Total) -> str:
    """Give what stands one hover away from the first line: shares and the interval of their difference."""
    now, was = _by_people(total), _by_people(before)
    if not Change(now, was).is_enough:
        return ""
    low, high = difference(was.part, was.whole, now.part, now.whole)
    counts = {"now": number(100 * now.rate), "was": number(100 * was.rate), "n": number(was.whole)}
    counts |= {"low": number(100 * low), "high": number(100 * high)}
    told = gettext("%(now)s%% now, %(was)s%% of %(n)s before: 95%% CI of the difference %(low)s to %(high)s points")
    return told % counts


def _by_people(total: Total) -> Ratio:
    calls = total.all_calls
    rejected = total.rejected + calls["rejected"]
    return Ratio(rejected, rejected + total.edited + total.approved + calls["edited"] + calls["approved"])


def _before(days: Range) -> str:
    if days.days == 7:
        return gettext("the week before")
    if days.days == 1:
        return gettext("the day before")
    return gettext("in the %(n)s days before") % {"n": days.days}
