"""Suggest thresholds: of hesitation from the scores there have been, of stuck from what thinking twice was worth."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ..stats.intervals import wilson

ENOUGH = 200  # responses
# What a team can look at: shares of all responses. Ours; the seeds say nothing about them.
HOLD_MOST = 0.05
MARK_MOST = 0.20


class Suggestion(NamedTuple):
    """Thresholds, and how many of `responses` reach them."""

    threshold: int
    hold_at: int
    marked: int  # at `threshold` or above, those held among them
    held: int
    responses: int


def suggest(scores: Iterable[int], threshold: int, hold_at: int) -> Suggestion | None:
    """Suggest the lowest thresholds that hold 5 % and mark 20 % of the scores (0..100) at most.

    None: fewer than 200 scores, some are held already but not too many, or no score divides the
    responses so (then error patterns must tell them apart, not a threshold).
    """
    counts = Counter(scores)
    responses = counts.total()
    if responses < ENOUGH:
        return None

    def reaching(level: int) -> int:
        return sum(count for score, count in counts.items() if score >= level)

    if 0 < reaching(hold_at) <= HOLD_MOST * responses:
        return None
    levels = sorted(score for score in counts if score)
    to_hold = next((level for level in levels if reaching(level) <= HOLD_MOST * responses), None)
    if to_hold is None:
        return None
    to_mark = next(level for level in levels if reaching(level) <= MARK_MOST * responses)
    found = Suggestion(to_mark, to_hold, reaching(to_mark), reaching(to_hold), responses)
    return found if (to_mark, to_hold) != (threshold, hold_at) else None


# -- stuck ---------------------------------------------------------------------------------------------------------

ENOUGH_INVOCATIONS = 20


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """From `threshold` points up, `helped` of `n` invocations helped; `low` and `high` are Wilson's 95 % interval."""

    threshold: int
    n: int
    helped: int
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def suggest_stuck(outcomes: Iterable[tuple[int, bool]]) -> ThresholdAdvice | None:
    """Suggest the lowest threshold from which thinking twice helped more often than not, beyond chance.

    `outcomes` are (points when it was invoked, whether it helped). None when no threshold has 20 invocations and an
    interval above one half: then the evidence asks for no change.
    """
    asked: Counter[int] = Counter()
    good: Counter[int] = Counter()
    for points, helped in outcomes:
        asked[points] += 1
        good[points] += helped
    for threshold in sorted(points for points in asked if points > 0):
        n = sum(count for points, count in asked.items() if points >= threshold)
        helped_n = sum(count for points, count in good.items() if points >= threshold)
        if n < ENOUGH_INVOCATIONS:
            return None
        low, high = wilson(helped_n, n)
        if low > 0.5:
            return ThresholdAdvice(threshold, n, helped_n, low, high)
    return None
