"""Weights fitted from verdicts: what they come to, and when they are offered."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from metacog.heuristics.hesitation import weight_fit
from metacog.heuristics.hesitation.weight_fit import Case, Fit, regress
from metacog.heuristics.policy.policy import Policy
from metacog.heuristics.signals import WEIGHTS
from tests.tables import table

CLAIM, ERROR, LONG, SURE = "absolute-claim", "error-pattern", "no-hedge", "overconfidence"
POLICY = Policy()


def cases(*counted: tuple[int, str, bool]) -> list[Case]:
    """Return so many held responses on which these signals fired and that were wrong or not, mixed through time."""
    found = [(signals, wrong) for count, signals, wrong in counted for _ in range(count)]
    random.Random(1).shuffle(found)
    return [Case(at, frozenset(signals.split()), wrong, was_held=True) for at, (signals, wrong) in enumerate(found)]


def fit(found: Sequence[Case], policy: Policy = POLICY, responses: Mapping[frozenset[str], int] | None = None) -> Fit:
    return weight_fit.fit(found, policy, responses or Counter(case.signals for case in found))


# Where the signal that is in force with the highest weight tells nothing, and another one tells all.
CLEAR = cases((60, CLAIM, True), (10, CLAIM, False), (10, ERROR, True), (60, ERROR, False), (30, LONG, False))


@table(
    ("told", "slope"),
    [
        # With so many that the ridge hardly shows: the logarithm of the odds' ratio.
        ([(3000, CLAIM, True), (1000, CLAIM, False), (1000, "", True), (3000, "", False)], math.log(9)),
        ([(1000, CLAIM, True), (3000, CLAIM, False), (3000, "", True), (1000, "", False)], -math.log(9)),
        ([(500, CLAIM, True), (500, CLAIM, False), (900, "", True), (900, "", False)], 0.0),
    ],
)
def test_a_slope_is_the_logarithm_of_the_odds_ratio(told: list[tuple[int, str, bool]], slope: float) -> None:
    assert regress(cases(*told), [CLAIM])[CLAIM] == pytest.approx(slope, abs=0.01)


def test_it_finds_the_weights_that_made_the_verdicts() -> None:
    dice, true, found = random.Random(7), {CLAIM: 2.0, ERROR: 0.5, LONG: 1.0, SURE: 0.0}, []
    for at in range(20_000):
        signals = frozenset(name for name in true if dice.random() < 0.4)
        chance = 1 / (1 + math.exp(2 - sum(true[name] for name in signals)))
        found.append(Case(at, signals, dice.random() < chance, was_held=True))
    assert regress(found, list(true)) == pytest.approx(true, abs=0.12)


def test_a_signal_that_separates_perfectly_keeps_a_finite_slope() -> None:
    slope = regress(cases((40, CLAIM, True), (40, "", False)), [CLAIM])[CLAIM]
    assert 3 < slope < 7


def test_two_signals_that_always_fire_together_share_alike() -> None:
    slopes = regress(cases((40, f"{CLAIM} {LONG}", True), (10, "", True), (40, "", False)), [CLAIM, LONG])
    assert slopes[CLAIM] == pytest.approx(slopes[LONG])


def test_weights_that_win_are_offered() -> None:
    found = fit(CLEAR)
    assert found.why_not == ""
    assert found.low > 0
    assert found.weights[CLAIM] > found.weights[ERROR]
    assert found.caught["fitted"] > (found.caught["in_force"] or 0)
    assert (found.verdicts, found.wrong, found.newer) == (170, 70, 51)
    Policy(weights=found.weights, threshold=found.threshold, hold_at=found.hold_at)  # a policy takes them


def simulated(truth: str, number: int = 600) -> list[Case]:
    """Return cases on which two signals fire, one of them on long texts, rejected by what `truth` names."""
    dice, found = random.Random(5), []
    for at in range(number):
        length, turns, run = dice.randrange(100, 1000), dice.randrange(5), at // 6
        fired = {name for name, share in ((ERROR, 0.4), (SURE, 0.3)) if dice.random() < share}
        fired |= {CLAIM} if length > 600 else set()
        chances = {
            "signal": 0.7 if SURE in fired else 0.1,
            "length": length / 1000,
            "nothing": 0.3,
            "run": 1.0 if random.Random(run).random() < 0.4 else 0.0,
        }
        wrong = dice.random() < chances[truth]
        found.append(Case(at, frozenset(fired), wrong, True, length=length, turns=turns, belongs=(f"run {run}",)))
    return found


@table(("truth", "why_not"), [("signal", ""), ("length", "no-better"), ("nothing", "no-better"), ("run", "no-better")])
def test_only_what_beats_all_that_costs_nothing_is_offered(truth: str, why_not: str) -> None:
    found = fit(simulated(truth))
    assert found.why_not in (why_not, "silent" if why_not else "")
    if truth == "length":
        assert found.gate
        assert found.gate.as_good == ["length"]


def test_the_order_of_the_cases_changes_nothing() -> None:
    shuffled = list(CLEAR)
    random.Random(3).shuffle(shuffled)
    assert fit(shuffled) == fit(CLEAR)


def test_it_judges_by_what_is_newer() -> None:
    """What held among the older verdicts is turned round among the newer: then the fitted weights lose."""
    newest = max(case.at for case in CLEAR)
    turned = [case._replace(is_wrong=not case.is_wrong) if case.at > 0.69 * newest else case for case in CLEAR]
    found = fit(turned)
    assert found.why_not == "no-better"
    assert found.high < 0


@table(
    ("told", "why_not"),
    [
        ([(50, CLAIM, True), (49, ERROR, False)], "few"),
        ([(50, CLAIM, True), (50, ERROR, False)], ""),
        ([(200, CLAIM, True)], "one-sided"),
        ([(200, CLAIM, False)], "one-sided"),
        ([(190, CLAIM, True), (10, ERROR, False)], "one-sided"),
        ([(100, CLAIM, True), (100, CLAIM, False)], "silent"),  # no variance
        ([(100, "", True), (100, "", False)], "silent"),
        ([(20, CLAIM, True), (80, CLAIM, False), (80, "", True), (20, "", False)], "silent"),  # it speaks for them
        ([(80, ERROR, True), (20, ERROR, False), (20, CLAIM, True), (80, CLAIM, False)], "no-better"),  # as in force
    ],
)
def test_they_are_offered_only_when_there_is_reason_to(told: list[tuple[int, str, bool]], why_not: str) -> None:
    assert fit(cases(*told)).why_not == why_not


def test_a_signal_that_fired_too_seldom_keeps_its_weight() -> None:
    found = fit([*CLEAR, *(Case(-at, frozenset({SURE}), True, was_held=True) for at in range(1, 10))])
    assert found.weights[SURE] == WEIGHTS[SURE]
    found = fit([*CLEAR, *(Case(-at, frozenset({SURE}), True, was_held=True) for at in range(1, 11))])
    assert found.weights[SURE] != WEIGHTS[SURE]


def test_a_signal_that_tells_a_little_keeps_one_point() -> None:
    claims, longs = ((300, CLAIM, True), (5, CLAIM, False)), ((60, LONG, True), (50, LONG, False))
    told = cases(*claims, *longs, (50, "", True), (50, "", False))
    found = fit(told, Policy(weights=WEIGHTS | {CLAIM: 3, LONG: 1}))
    assert (found.weights[CLAIM], found.weights[LONG]) == (4, 1)


@table(("signals", "score"), [("", 0), (CLAIM, 60), (f"{CLAIM} {LONG}", 100), ("unknown", 0)])
def test_a_score_adds_up_to_a_hundred_at_most(signals: str, score: int) -> None:
    assert weight_fit.score(signals.split(), {CLAIM: 60, LONG: 50}) == score


def test_a_signal_that_is_switched_off_stays_off() -> None:
    policy = Policy(weights=WEIGHTS | {CLAIM: 0})
    assert fit(CLEAR, policy).weights.get(CLAIM, 0) == 0


@table(
    ("claims", "held_before", "held_after"),
    [
        (30, 60, 30),  # half
        (14, 60, 14),
        (1, 60, 1),
        (0, 60, 60),
        (300, 60, 300),
    ],
)
def test_about_half_as_many_responses_are_held_and_as_many_marked(
    claims: int, held_before: int, held_after: int
) -> None:
    counts = {frozenset[str](): 1000, frozenset({ERROR}): 60, frozenset({CLAIM}): claims, frozenset({LONG}): 400}
    found = fit(CLEAR, Policy(threshold=15, hold_at=30), counts)
    assert (found.responses, found.held_before, found.held_after) == (1460 + claims, held_before, held_after)
    marked = {signals for signals in counts if weight_fit.score(signals, found.weights) >= found.threshold}
    assert frozenset() not in marked


def test_what_says_nothing_is_never_marked_or_held() -> None:
    """Of an agent whose every response hesitates for a signal that speaks for it, none but the others are."""
    told = cases((60, CLAIM, True), (10, CLAIM, False), (60, ERROR, False), (10, "", True), (20, "", False))
    found = fit(told, Policy(threshold=15, hold_at=30), {frozenset({ERROR}): 1000, frozenset({CLAIM}): 1})
    assert (found.weights[ERROR], found.held_before, found.held_after) == (0, 1000, 1)
    assert found.threshold > 0


def test_a_policy_that_holds_nothing_holds_nothing_with_fitted_weights() -> None:
    assert fit(CLEAR, Policy(threshold=101, hold_at=101)).hold_at == 101


def test_plain_length_is_told_where_every_length_is_known() -> None:
    known = [case._replace(length=2000 if case.is_wrong else 10) for case in CLEAR]
    assert fit(known).caught["length"] == fit(known).newer_wrong
    assert fit([*known[:-1], known[-1]._replace(length=None)]).caught["length"] is None


def test_a_sample_counts_for_what_it_stands_for() -> None:
    passed = [Case(case.at + 0.5, frozenset({LONG}), True, was_held=False, stands_for=50.0) for case in CLEAR[::6]]
    alone, weighed = fit(CLEAR), fit(CLEAR + passed)
    assert weighed.newer_wrong > alone.newer_wrong + 50
    assert weighed.samples == len(passed)


def test_of_equal_scores_the_share_that_there_is_room_for_counts() -> None:
    found = fit(CLEAR, Policy(weights=WEIGHTS | {CLAIM: 20, LONG: 20, ERROR: 20}))
    assert found.caught["in_force"] == pytest.approx(found.newer_wrong / 2)
