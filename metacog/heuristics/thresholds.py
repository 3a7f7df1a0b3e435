"""Suggest thresholds from the scores an agent's responses have had."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

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
