"""What judges say of an order, by a small case worked out by hand and by counting in the plainest way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.stats.gate import LOOKED_AT, Gate, Judged, auc, judge, parted, sessions_of, tenths_of
from tests.tables import table

# By this order A B C D E; 3 of a weight of 9 were rejected, A and C.
JUDGES = [Judged(0, True), Judged(0, False, 2), Judged(1, True, 2), Judged(1, False), Judged(2, False, 3)]
ORDER = [0.95, 0.8, 0.7, 1 / 3, 1 / 3]


def test_an_order_is_measured_by_weight() -> None:
    rivals = {"length": [5.0, 4, 1, 2, 3], "score": [0.0, 0, 0, 0, 1], "turns": [0.0, 0, 0, 0, 1]}
    found = judge(JUDGES, ORDER, rivals, signed=("score",))
    assert (found.decisions, found.rejected, found.sessions, found.share) == (5, 2, 3, 0.3333)
    # A is above all 6 of the rest, C with its 2 above D and E: 6 + 2·4 of 18 pairs. By length A alone is above, 6. By
    # score both stand below E and beside the others, 3·3/2 of 18; turns are the same, turned round, as length is.
    aucs = {name: (rival.auc, rival.gain) for name, rival in found.against.items()}
    assert found.auc == 0.7778
    assert aucs == {
        "chance": (0.5, 0.2778),
        "length": (0.6667, 0.1111),
        "score": (0.25, 0.5278),
        "turns": (0.75, 0.0278),
    }
    # The first 10 % are .9 of A, the first 40 % A, B and .6 of the 2 of C.
    assert dict(zip(LOOKED_AT, found.caught, strict=True)) == {
        0.01: 0.03, 0.02: 0.06, 0.05: 0.15, 0.1: 0.3, 0.15: 0.3333, 0.2: 0.3333, 0.3: 0.3333,
        0.4: 0.5333, 0.5: 0.8333, 0.6: 1.0, 0.7: 1.0, 0.8: 1.0, 0.9: 1.0, 1.0: 1.0,
    }  # fmt: skip
    assert found.caught_by["chance"] == list(LOOKED_AT)
    assert found.caught_by["turns"] == pytest.approx([min(1, share * 9 / 6) for share in LOOKED_AT], abs=5e-5)
    # 10 bins of .9: D is in the first, E from 1 on in the second, C from 4, B from 6 and A from 8 on.
    assert found.bins == [(0.3333, 0, 1), (0.3333, 0, 1), (0.7, 1, 1), (0.8, 0, 1), (0.95, 1, 1)]
    assert found.calibration_error == round((4 / 3 + 2 * 0.3 + 2 * 0.8 + 0.05) / 9, 4)


def test_a_share_lies_within_its_interval_where_equals_fill_it_to_the_brim() -> None:
    """All that is rejected is a tenth of each tenth, by one risk: most draws have more of it than there is room."""
    judges = [Judged(at, at % 10 == 0, tenth=at // 40) for at in range(400)]
    found = judge(judges, [float(each.rejected) for each in judges], {})
    caught, low, high = found.caught_at(0.1)
    assert low < caught == high == 1.0


def test_a_bin_says_the_mean_of_what_is_in_it() -> None:
    judges = [Judged(at, at % 3 == 0 or at == 28) for at in range(30)]
    found = judge(judges, [at / 29 for at in range(30)], {})
    assert [count for _, _, count in found.bins] == [3] * 10
    assert found.bins[:2] == [(0.0345, 0.3333, 3), (0.1379, 0.3333, 3)]
    assert found.bins[9] == (0.9655, 0.6667, 3)


def test_intervals_come_from_drawing_whole_sessions() -> None:
    """They are the same on every machine: drawn 400 times from one seed."""
    judges = [Judged(at // 3, at % 4 == 0, 1 + at % 2) for at in range(60)]
    order = [(at * 7 % 13 + 4 * (at % 4 == 0)) / 20 for at in range(60)]
    found = judge(judges, order, {"length": [float(at % 5) for at in range(60)]})
    assert (found.auc_low, found.auc, found.auc_high) == (0.5306, 0.7036, 0.8481)
    assert tuple(found.against["length"]) == (0.5, 0.2036, -0.0599, 0.4605, None, 0.85)
    assert not found.against["length"].is_beaten
    assert (found.caught_at(0.1), found.caught_at(0.5)) == ((0.3222, 0.1429, 0.5), (0.6417, 0.3906, 0.9102))


@table(
    ("judges", "area", "caught"),
    [
        ([], 0.5, LOOKED_AT),
        ([Judged(0, False)], 0.5, LOOKED_AT),
        ([Judged(0, True)], 0.5, LOOKED_AT),
        ([Judged(0, True), Judged(1, False)], 1.0, [min(1, 2 * share) for share in LOOKED_AT]),
    ],
)
def test_where_nothing_can_be_told_apart_it_is_chance(
    judges: Sequence[Judged], area: float, caught: Sequence[float]
) -> None:
    order = [float(-at) for at in range(len(judges))]
    found = judge(judges, order, {"length": order})
    assert auc(judges, order) == found.auc == found.against["length"].auc == area
    assert (found.caught, found.passes) == (list(caught), False)


def test_an_order_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is"):
        judge(JUDGES, ORDER[1:], {})
    with pytest.raises(ValueError, match="argument 2 is"):
        parted(["a"], [])


Some = st.lists(st.tuples(st.booleans(), st.integers(1, 4), st.integers(0, 3)), max_size=12)


@given(Some)
def test_the_area_is_the_share_of_pairs_in_order(some: list[tuple[bool, int, int]]) -> None:
    judges = [Judged(at, rejected, weight) for at, (rejected, weight, _) in enumerate(some)]
    pairs = [
        (weight * other, (value > lower) + (value == lower) / 2)
        for rejected, weight, value in some
        for also_rejected, other, lower in some
        if rejected and not also_rejected
    ]
    of_all = sum(weight for weight, _ in pairs)
    expected = sum(weight * won for weight, won in pairs) / of_all if of_all else 0.5
    assert auc(judges, [value for *_, value in some]) == pytest.approx(expected)


@table(
    ("belongs", "newest"),
    [
        ("abcdefghij", [7, 8, 9]),
        ("abcdefghaj", [0, 8, 9]),  # a session is as new as its last one, and all of it judges
        ("bbbbbbbcba", [*range(7), 8, 9]),  # where it does not fit, too
        ("abc", []),  # 30 % of 3 are none
        ("abcd", [3]),
    ],
)
def test_the_newest_are_whole_sessions(belongs: str, newest: list[int]) -> None:
    rows = range(len(belongs))
    assert parted(rows, [[name] for name in belongs]) == ([at for at in rows if at not in newest], newest)


def test_each_tenth_has_whole_sessions_and_the_newest_three_are_looked_at_alone() -> None:
    sessions = [0, 0, 1, 2, 3, 0, 4, 5, 6, 7]  # the first one's last decision is the sixth
    assert tenths_of(sessions) == [3, 3, 0, 1, 2, 3, 6, 7, 8, 9]
    newest = [Judged(at, at % 3 == 0, tenth=7 + at % 2) for at in range(8)]
    older = [Judged(8 + at, at % 2 == 0, tenth=at % 7) for at in range(14)]
    found = judge([*newest, *older], [0.9, 0.1, 0.8, 0.7, 0.2, 0.6, 0.5, 0.4, *[0.0] * 14], {})
    assert found.newest == 0.8571  # in the seventh tenth 3 of 4 pairs, in the eighth 3 of 3


def test_a_rolling_judgment_asks_in_how_many_draws_it_was_better_and_takes_chance_out_of_its_calibration() -> None:
    """The draws are the same on every machine; of fewer than a hundred decisions nothing is said of the calibration."""
    judges = [Judged(at // 2, at % 4 == 0, 1 + at % 2, tenth=at // 12) for at in range(120)]
    order = [(at * 7 % 13 + 4 * (at % 4 == 0)) / 20 for at in range(120)]
    chances = [min(1.0, value) for value in order]
    found = judge(judges, order, {"length": [float(at % 5) for at in range(120)]}, chances=chances)
    assert (found.against["length"].sure, found.against["chance"].sure, found.against["length"].is_beaten) == (
        0.8075, None, False,
    )  # fmt: skip
    assert found.calibration_error == 0.1747
    assert judge(judges[:96], order[:96], {}, chances=chances[:96]).calibration_error == 1.0


def test_what_shares_a_name_directly_or_by_others_belongs_together() -> None:
    assert sessions_of([["a"], ["b"], ["c", "a"], [], ["d"], ["b", "d"], ["c"], ["e", "f"], ["f", "b"]]) == [
        0, 1, 0, 2, 1, 1, 0, 1, 1,
    ]  # fmt: skip


def test_a_gate_is_read_back_from_what_is_stored_of_it() -> None:
    found = judge(JUDGES, ORDER, {"length": [5.0, 4, 1, 2, 3]})
    stored = {**vars(found), "against": {name: list(rival) for name, rival in found.against.items()}}
    assert Gate.from_dict(stored) == found
    assert found.as_good == ["length", "chance"]
