"""Say how a figure changed against the range of days before, and whether that is more than chance."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from metacog.heuristics.stats.intervals import difference, ratio_of_counts
from reviews.metrics.daily import ENOUGH, Counts, Ratio, Total
from reviews.presentation.ratios import duration, number, percent, signed, span, unbroken


@dataclass(frozen=True)
class Change:
    """A difference of two shares, in percentage points, with its 95 % interval; None where it cannot be told."""

    now: Ratio
    before: Ratio

    @property
    def is_enough(self) -> bool:
        return self.now.is_enough and self.before.is_enough

    @property
    def points(self) -> float:
        return 100 * (self.now.rate - self.before.rate)

    @property
    def interval(self) -> tuple[float, float]:
        low, high = difference(self.before.part, self.before.whole, self.now.part, self.now.whole)
        return 100 * low, 100 * high

    @property
    def is_clear(self) -> bool:
        return self.is_enough and not self.interval[0] <= 0 <= self.interval[1]


def of_share(now: Ratio, before: Ratio) -> str:
    """Say how a share changed: +5.0 points (95% CI +1.2 to +8.8), or that there is no clear difference."""
    change = Change(now, before)
    if not before.whole:
        return gettext("nothing to compare with before")
    if not change.is_enough:
        return unbroken(gettext("too few to compare (n = %(n)s)") % {"n": number(min(now.whole, before.whole))})
    if not change.is_clear:
        return no_difference(now.whole)
    digits = 0 if min(abs(end) for end in change.interval) >= 1 else 1
    low, high = (signed(end, digits) for end in change.interval)
    points = {"points": signed(change.points, digits), "low": low, "high": high}
    return gettext("%(points)s points (95%% CI %(low)s to %(high)s)") % points


def no_difference(n: int) -> str:
    return unbroken(gettext("no clear difference (n = %(n)s)") % {"n": number(n)})


def against(now: Ratio, before: Ratio) -> str:
    """Say the change together with what the share was before."""
    if not before.whole:
        return of_share(now, before)
    told = {"change": of_share(now, before), "before": percent(before.rate, 1), "n": number(before.whole)}
    return unbroken(gettext("%(change)s; %(before)s before, n = %(n)s") % told)


def of_median(now: Total, before: Total) -> str:
    """Say whether decisions took longer or shorter: clear where the intervals of the medians do not meet."""
    mine, other = now.median_interval, before.median_interval
    if not before.seconds:
        return gettext("nothing to compare with before")
    was = {"before": duration(before.median_seconds)}
    if not mine or not other:
        n = min(now.seconds.total(), before.seconds.total())
        return unbroken(gettext("%(before)s before: too few to compare (n = %(n)s)") % (was | {"n": number(n)}))
    if mine[0] > other[1]:
        return gettext("longer than before (%(before)s)") % was
    if mine[1] < other[0]:
        return gettext("shorter than before (%(before)s)") % was
    told = was | {"n": number(now.seconds.total())}
    return unbroken(gettext("%(before)s before: no clear difference (n = %(n)s)") % told)


def a_day(count: int, days: int) -> str:
    """Write how many a day that is."""
    rate = count / days
    return number(rate, 0 if rate >= 10 or rate == int(rate) else 1)


def of_holds(now: Counts, before: Counts, days: int) -> str:
    """Say how many texts were held a day, against the range before, and what came of them."""
    told = {"now": a_day(now.held, days), "before": a_day(before.held, days)}
    low, high = ratio_of_counts(now.held, before.held)
    if not before.responses:
        said = gettext("%(now)s texts were held a day, with nothing before to compare with")
    elif now.held + before.held >= ENOUGH and high < 1:
        said = gettext("Holds fell from %(before)s to %(now)s a day")
    elif now.held + before.held >= ENOUGH and low > 1:
        said = gettext("Holds rose from %(before)s to %(now)s a day")
    else:
        said = gettext("%(now)s texts were held a day, %(before)s before: no clear difference")
    return gettext("%(holds)s; %(rejected)s.") % {"holds": said % told, "rejected": rejected(now.rejected_ratio)}


def checked(missed: Ratio) -> str:
    """Say how many of the responses that were checked should have been held."""
    counts = {"part": number(missed.part), "whole": number(missed.whole)}
    if not missed.is_enough:
        return gettext("%(part)s of %(whole)s checked responses should have been held, too few for a share.") % counts
    counts |= {"rate": percent(missed.rate), "interval": span(missed.low, missed.high)}
    said = gettext("%(part)s of %(whole)s checked responses should have been held (%(rate)s, 95%% CI %(interval)s).")
    return said % counts


def rejected(told: Ratio) -> str:
    """Say how much of what was decided people rejected or the agent withdrew."""
    counts = {"part": number(told.part), "whole": number(told.whole)}
    if not told.whole:
        return gettext("nothing has been decided yet")
    if not told.is_enough:
        return gettext("%(part)s of %(whole)s decided items were rejected or withdrawn, too few for a share") % counts
    counts |= {"rate": percent(told.rate), "interval": span(told.low, told.high)}
    said = gettext("%(part)s of %(whole)s decided items were rejected or withdrawn (%(rate)s, 95%% CI %(interval)s)")
    return said % counts
