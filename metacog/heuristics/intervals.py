"""How sure a ratio is."""

import math


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Give the 95 % interval of a ratio (Wilson 1927), which stays within 0 and 1 for small numbers."""
    if not whole:
        return 0.0, 1.0
    z = 1.959964
    rate = part / whole
    middle = rate + z * z / (2 * whole)
    spread = z * math.sqrt(rate * (1 - rate) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def difference(part: int, whole: int, later_part: int, later_whole: int) -> tuple[float, float]:
    """Give the 95 % interval of a later ratio less an earlier one (Newcombe 1998, method 10)."""
    before, after = part / whole if whole else 0.0, later_part / later_whole if later_whole else 0.0
    low, high = wilson(part, whole)
    later_low, later_high = wilson(later_part, later_whole)
    down = math.hypot(after - later_low, high - before)
    up = math.hypot(later_high - after, before - low)
    return max(-1.0, after - before - down), min(1.0, after - before + up)
