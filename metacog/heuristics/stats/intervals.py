"""How sure a ratio is."""

import math

_Z = 1.959964  # of the normal distribution, 95 % lie within so many standard deviations


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Give the 95 % interval of a ratio (Wilson 1927), which stays within 0 and 1 for small numbers."""
    if not whole:
        return 0.0, 1.0
    rate = part / whole
    middle = rate + _Z * _Z / (2 * whole)
    spread = _Z * math.sqrt(rate * (1 - rate) / whole + _Z * _Z / (4 * whole * whole))
    scale = 1 + _Z * _Z / whole
    # Exactly 0 and 1 at the ends, where the two cancel out only nearly.
    return (middle - spread) / scale if part else 0.0, (middle + spread) / scale if part < whole else 1.0


def difference(part: int, whole: int, later_part: int, later_whole: int) -> tuple[float, float]:
    """Give the 95 % interval of a later ratio less an earlier one (Newcombe 1998, method 10)."""
    before, after = part / whole if whole else 0.0, later_part / later_whole if later_whole else 0.0
    low, high = wilson(part, whole)
    later_low, later_high = wilson(later_part, later_whole)
    down = math.hypot(after - later_low, high - before)
    up = math.hypot(later_high - after, before - low)
    return max(-1.0, after - before - down), min(1.0, after - before + up)


def relative(part: int, whole: int, other_part: int, other_whole: int) -> tuple[float, float]:
    """Give the 95 % interval of a ratio over another one, from both of Wilson's (Donner and Zou 2012, "MOVER").

    It ends at infinity where the other ratio may be 0.
    """
    rate, other = part / whole if whole else 0.0, other_part / other_whole if other_whole else 0.0
    low, high = wilson(part, whole)
    other_low, other_high = wilson(other_part, other_whole)
    product = rate * other

    def end(mine: float, its: float, sign: int) -> float:
        below = its * (2 * other - its)
        above = product + sign * math.sqrt(max(0.0, product**2 - mine * (2 * rate - mine) * below))
        return above / below if below else math.inf

    return max(0.0, end(low, other_high, -1)), end(high, other_low, 1)


def median_ranks(count: int) -> tuple[int, int]:
    """Give the ranks, from 1 on, of the two values between which the median of `count` lies in 95 % (Conover 1999)."""
    spread = _Z * math.sqrt(count) / 2
    return max(1, math.floor(count / 2 - spread) + 1), min(count, math.ceil(count / 2 + spread))


def ratio_of_counts(later: int, earlier: int) -> tuple[float, float]:
    """Give the 95 % interval of a later count as a multiple of an earlier one, of as many days (Poisson, conditional).

    What happened later is, of all that happened, as many of so many; it ends at infinity where none was earlier.
    """
    low, high = wilson(later, later + earlier)
    return low / (1 - low), high / (1 - high) if high < 1 else math.inf


def concordance(rate: float, some: int, others: int) -> tuple[float, float]:
    """Give the 95 % interval of the share of pairs, one of `some` and one of `others`, in which the first is higher.

    Newcombe 2006 (Statistics in Medicine 25, part 2), method 5: it stays within 0 and 1, and has a width at both ends.
    """
    if not some or not others:
        return 0.0, 1.0
    more = (some + others) / 2 - 1

    def variance(at: float) -> float:
        return at * (1 - at) * (1 + more * ((1 - at) / (2 - at) + at / (1 + at))) / (some * others)

    def end(outside: float) -> float:
        """Close in on the farthest share, from `outside` on, of which the one that was seen is no surprise."""
        inside = rate
        for _ in range(40):
            middle = (inside + outside) / 2
            if (rate - middle) ** 2 > _Z * _Z * variance(middle):
                outside = middle
            else:
                inside = middle
        return inside

    return end(0.0), end(1.0)
