"""Intervals against what is published of them, or was worked out in another way; and at their ends."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.stats.intervals import (
    concordance,
    difference,
    median_ranks,
    ratio_of_counts,
    relative,
    wilson,
)
from tests.tables import table

Counts = tuple[int, int, int, int]


@table(
    ("part", "whole", "low", "high"),
    # Computed once to 40 digits; the last three are the ends, and of nothing nothing is known.
    [
        (131, 208, 0.5624, 0.6925),
        (3, 10, 0.1078, 0.6032),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_intervals_are_wilsons(part: int, whole: int, low: float, high: float) -> None:
    assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_ratio(part: int, more: int) -> None:
    low, high = wilson(part, part + more)
    assert 0 <= low <= high <= 1
    assert (low == 0, high == 1) == (part == 0, more == 0)
    if part + more:
        assert low - 1e-9 <= part / (part + more) <= high + 1e-9


@table(
    ("counts", "low", "high"),
    # Newcombe 1998, table II, method 10; then of no cases on one side, of which everything is possible.
    [
        ((48, 80, 56, 70), 0.0524, 0.3339),
        ((3, 10, 9, 10), 0.1705, 0.8090),
        ((0, 29, 5, 56), -0.0381, 0.1926),
        ((0, 20, 0, 10), -0.1611, 0.2775),
        ((0, 20, 10, 10), 0.6791, 1.0),
        ((10, 10, 0, 20), -1.0, -0.6791),
        ((0, 0, 10, 10), -0.0378, 1.0),
        ((10, 10, 0, 0), -1.0, 0.0378),
    ],
)
def test_a_difference_has_newcombes_interval(counts: Counts, low: float, high: float) -> None:
    assert difference(*counts) == pytest.approx((low, high), abs=5e-5)


@table(
    ("counts", "low", "high"),
    # The roots of Donner and Zou's quadratic, found by bisection; at the ends the other ratio, or both, may be 0.
    [
        ((24, 84, 60, 216), 0.6835, 1.5101),
        ((50, 216, 10, 84), 1.0617, 3.6497),
        ((0, 29, 60, 271), 0.0, 0.5398),
        ((15, 50, 0, 10), 1.0071, math.inf),
        ((0, 10, 0, 10), 0.0, math.inf),
        ((10, 10, 5, 5), 0.7225, 1.7683),
        ((0, 0, 3, 10), 0.0, 4.3414),
    ],
)
def test_a_relative_rate_has_donners_and_zous(counts: Counts, low: float, high: float) -> None:
    assert relative(*counts) == pytest.approx((low, high), abs=5e-5)


@table(
    ("count", "ranks"),
    # Conover 1999, section 3.2: both are rounded up; among fewer than six no two are far enough from the middle.
    [(0, (1, 0)), (1, (1, 1)), (5, (1, 5)), (8, (2, 7)), (10, (2, 9)), (11, (3, 9)), (16, (5, 12)), (20, (6, 15)),
     (50, (19, 32)), (100, (41, 60)), (1_000, (470, 531))],
)  # fmt: skip
def test_a_median_lies_between_conovers_ranks(count: int, ranks: tuple[int, int]) -> None:
    assert median_ranks(count) == ranks


@table(
    ("later", "earlier", "low", "high"),
    # The odds of Wilson's ends for 10 of 30 (0.1923 and 0.5122), and so on.
    [
        (10, 20, 0.2381, 1.0500),
        (20, 10, 0.9524, 4.2001),
        (0, 10, 0.0, 0.3841),
        (10, 0, 2.6032, math.inf),
        (0, 0, 0.0, math.inf),
    ],
)
def test_a_count_is_a_multiple_of_an_earlier_one(later: int, earlier: int, low: float, high: float) -> None:
    assert ratio_of_counts(later, earlier) == pytest.approx((low, high), abs=5e-5)


@table(
    ("rate", "some", "others", "low", "high"),
    # The ends of what Newcombe's inequality holds for, found by trying every 100,000th; at the ends, and of nothing.
    [
        (0.55, 143, 164, 0.4852, 0.6128),
        (0.8, 30, 70, 0.6867, 0.8762),
        (0.5, 10, 10, 0.2735, 0.7265),
        (0.25, 5, 40, 0.0996, 0.5211),
        (0.0, 10, 200, 0.0, 0.1032),
        (1.0, 10, 10, 0.8002, 1.0),
        (0.5, 0, 4, 0.0, 1.0),
        (0.5, 4, 0, 0.0, 1.0),
    ],
)
def test_intervals_of_pairs_are_newcombes(rate: float, some: int, others: int, low: float, high: float) -> None:
    assert concordance(rate, some, others) == pytest.approx((low, high), abs=5e-5)
