"""Suggested thresholds: the lowest that hold 5 % and mark 20 % of the scores at most."""

from __future__ import annotations

from metacog.heuristics.hesitation.thresholds import suggest
from tests.tables import table


def scores(**counts: int) -> list[int]:
    return [int(score[1:]) for score, count in counts.items() for _ in range(count)]


@table(
    ("seen", "threshold", "hold_at"),
    [
        (scores(s0=180, s15=10, s30=10), 15, 30),
        (scores(s0=190, s15=5, s30=5), 15, 15),  # exactly 5 %
        (scores(s0=189, s15=6, s30=5), 15, 30),  # one more
        (scores(s0=100, s15=61, s20=30, s35=9), 20, 35),
        (scores(s0=50, s15=111, s20=30, s35=9), 20, 35),
        (scores(s0=100, s15=60, s20=31, s35=9), 20, 35),
        (scores(s0=0, s50=150, s65=40, s70=10), 70, 70),  # too much is held
    ],
)
def test_it_suggests(seen: list[int], threshold: int, hold_at: int) -> None:
    found = suggest(seen, 30, 50)
    assert found is not None
    assert (found.threshold, found.hold_at) == (threshold, hold_at)
    assert found.held == sum(score >= hold_at for score in seen)
    assert found.marked == sum(score >= threshold for score in seen)
    assert found.responses == len(seen)


@table(
    ("seen", "why"),
    [
        (scores(s0=180, s15=10, s30=9), "199 are too few"),
        (scores(s0=190, s50=10), "5 % are held as it is"),
        (scores(s0=199, s50=1), "one is held as it is"),
        (scores(s0=200), "there is nothing to hold"),
        (scores(s0=20, s15=180), "no score tells them apart"),
    ],
)
def test_it_suggests_nothing(seen: list[int], why: str) -> None:
    assert suggest(seen, 30, 50) is None, why


def test_it_does_not_suggest_what_is_in_force() -> None:
    assert suggest(scores(s0=0, s50=150, s65=40, s70=10), 70, 70) is None
