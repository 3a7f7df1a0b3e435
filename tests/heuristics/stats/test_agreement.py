"""How often two come to the same end, and how much of it is chance."""

from __future__ import annotations

import pytest

from metacog.heuristics.stats.agreement import Agreement
from tests.tables import table


@table(
    ("counts", "kappa", "low", "high"),
    [
        ((20, 5, 10, 15), 0.4, 0.146, 0.654),  # worked by hand: 35 of 50 against 25 by chance
        ((25, 0, 0, 25), 1.0, 1.0, 1.0),
        ((0, 25, 25, 0), -1.0, -1.0, -1.0),
        ((25, 0, 1, 24), 0.96, 0.882, 1.0),  # no interval goes beyond always, nor beyond never
        ((1, 24, 25, 0), -0.96, -1.0, -0.882),
        ((40, 10, 10, 40), 0.6, 0.443, 0.757),
        ((45, 15, 25, 15), 0.13, -0.078, 0.339),
    ],
)
def test_kappa_is_cohens(counts: tuple[int, int, int, int], kappa: float, low: float, high: float) -> None:
    found = Agreement(*counts).kappa()
    assert found == pytest.approx((kappa, low, high), abs=2e-3)


@table("counts", [(19, 5, 10, 15), (0, 0, 0, 0), (50, 10, 0, 0), (0, 0, 40, 20), (50, 0, 10, 0), (0, 60, 0, 5)])
def test_it_is_not_told_on_few_or_where_one_always_says_the_same(counts: tuple[int, int, int, int]) -> None:
    assert Agreement(*counts).kappa() is None
