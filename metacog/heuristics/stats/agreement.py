"""How often an agent's second look and a person come to the same end about one item."""

import math
from typing import NamedTuple

ENOUGH_FOR_KAPPA = 50  # items: with fewer its interval spans most of what it can be


class Kappa(NamedTuple):
    """Cohen's kappa with its 95 % interval: 0 is what chance alone gives, 1 is always."""

    value: float
    low: float
    high: float


class Agreement(NamedTuple):
    """Items that both looked at: what the agent's text said of its own item, and what a person then did with it."""

    stood_let_go: int = 0
    stood_rejected: int = 0
    back_let_go: int = 0
    back_rejected: int = 0

    @property
    def items(self) -> int:
        return sum(self)

    @property
    def agreed(self) -> int:
        return self.stood_let_go + self.back_rejected

    @property
    def stood(self) -> int:
        return self.stood_let_go + self.stood_rejected

    def kappa(self) -> Kappa | None:
        """Return agreement beyond chance (Cohen 1960, with his standard error).

        None on fewer than 50 items, and where either always says the same: then nothing is beyond chance.
        """
        if self.items < ENOUGH_FOR_KAPPA:
            return None
        let_go = self.stood_let_go + self.back_let_go
        backs, rejected = self.items - self.stood, self.items - let_go
        by_chance = (self.stood * let_go + backs * rejected) / self.items**2
        if self.items in (self.stood, backs, let_go, rejected):
            return None
        observed = self.agreed / self.items
        value = (observed - by_chance) / (1 - by_chance)
        spread = 1.959964 * math.sqrt(observed * (1 - observed) / self.items) / (1 - by_chance)
        return Kappa(value, max(-1.0, value - spread), min(1.0, value + spread))
