"""What a detector is worth, from answers that do not all stand for as many cases."""

from __future__ import annotations

import pytest

from metacog.heuristics.stats.found import Group, precision, recall

TAKEN = Group(stands_for=40, right=30, wrong=10, is_taken=True)


def test_answers_count_for_what_they_stand_for() -> None:
    groups = [TAKEN, Group(stands_for=100, right=20, wrong=0, is_taken=True), Group(1_000, 5, 95, False)]
    found, caught = precision(groups), recall(groups)
    assert found.rate == pytest.approx((30 + 100) / 140)
    assert caught.rate == pytest.approx((30 + 100) / (30 + 100 + 50))
    # Drawn from one seed: the same on every machine.
    assert found[1:] == pytest.approx((0.8381305826256185, 0.9525596405793412))
    assert caught[1:] == pytest.approx((0.5433720339638712, 0.8581722794976295))
    assert precision([Group(10, 3, 3, True)]).rate == 0.5


def test_none_of_fifty_is_not_none_of_a_thousand() -> None:
    missed = recall([TAKEN, Group(1_000, 0, 50, False)])
    assert missed.rate == 1.0
    assert missed.low < 0.7
    assert recall([TAKEN, Group(50, 0, 50, False)]).low > 0.9


def test_an_interval_of_one_group_is_near_wilsons() -> None:
    assert precision([TAKEN]) == pytest.approx((0.75, 0.598, 0.858), abs=0.02)


def test_nothing_is_told_of_no_answers() -> None:
    assert recall([Group(50, 0, 0, False)]) == (0.0, 0.0, 1.0)
    assert recall([Group(50, 0, 3, True)]).rate == 0.0  # of nothing that was right
