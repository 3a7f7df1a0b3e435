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
