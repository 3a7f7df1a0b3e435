"""How often an agent may post."""

from __future__ import annotations

import math

from metacog import heuristics
from metacog.db.clocks import APART_SECONDS
from metacog.http.problems import Problem


def take_turn(tat: float, now: float, policy: heuristics.Policy) -> float:
    """Return the new theoretical arrival time, or raise Problem 429 with the whole seconds to wait.

    GCRA, which is a token bucket in one number: `rate_burst` posts at once, then `rate_per_second`.
    """
    interval = 1 / policy.rate_per_second
    full = interval * policy.rate_burst
    tat = max(tat, now)
    if tat > now + full + APART_SECONDS:
        # No posts lead so far: the clock was set back. One turn is given, and with it a time by the clock as it is now.
        # Machines whose clocks differ a little must not come here, each after the other.
        tat = now + full - interval
    wait = tat + interval - full - now
    if wait > 1e-9:
        seconds = max(1, math.ceil(wait))
        raise Problem(
            429,
            f"More than {policy.rate_per_second} responses a second (burst {policy.rate_burst}). "
            f"Nothing was written; send it again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
    return tat + interval
