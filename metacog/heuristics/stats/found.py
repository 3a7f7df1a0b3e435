"""What a detector is worth, told from answers about some of what it saw, where not all had the same chance."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

_DRAWS = 1_000
_SEED = 20_261_126


class Group(NamedTuple):
    """Cases that had one chance to be asked about, of which those that were answered are a random part."""

    stands_for: float  # how many cases there were, as far as is known
    right: int  # answered: it was what is looked for
    wrong: int
    is_taken: bool  # the detector took them for it


class Estimate(NamedTuple):
    """A share with its 95 % interval, 0 to 1."""

    rate: float
    low: float
    high: float


def precision(groups: Sequence[Group]) -> Estimate:
    """Return which share of what the detector took for it was it, of all cases that these stand for."""
    return _estimate([group for group in groups if group.is_taken], lambda group: (1.0, 1.0))


def recall(groups: Sequence[Group]) -> Estimate:
    """Return which share of what was it the detector took for it."""
    return _estimate(groups, lambda group: (float(group.is_taken), 0.0))


def _estimate(groups: Sequence[Group], counted: Callable[[Group], tuple[float, float]]) -> Estimate:
    """Return a ratio of what is right among groups that count to all that counts, and the middle 95 % of draws.

    `counted` gives for a group whether what is right in it is part of the ratio, and whether what is wrong is in the
    whole; what is right always is. A group's share is drawn from its Beta distribution with Jeffreys' prior (Brown, Cai
    and DasGupta 2001, "Interval Estimation for a Binomial Proportion"), so that where 50 were looked at and none was
    right, some of the thousands that these stand for may be. Groups that nobody answered in are left out.
    """
    told = [(group, *counted(group)) for group in groups if group.right + group.wrong]

    def ratio(shares: Sequence[float]) -> float:
        part = whole = 0.0
        for (group, is_part, has_wrong), share in zip(told, shares, strict=True):
            right = group.stands_for * share
            part += right * is_part
            whole += right + (group.stands_for - right) * has_wrong
        return part / whole if whole else 0.0

    draw = random.Random(_SEED)
    rate = ratio([group.right / (group.right + group.wrong) for group, _, _ in told])
    drawn = sorted(
        ratio([draw.betavariate(group.right + 0.5, group.wrong + 0.5) for group, _, _ in told]) for _ in range(_DRAWS)
    )
    low, high = drawn[round(0.025 * (_DRAWS - 1))], drawn[round(0.975 * (_DRAWS - 1))]
    return Estimate(rate, min(low, rate), max(high, rate)) if told else Estimate(0.0, 0.0, 1.0)
