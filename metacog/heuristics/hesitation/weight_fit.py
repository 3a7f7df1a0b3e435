"""Fit the weights of signals to people's verdicts, and say whether they would have done better than those in force.

Seed 000, Phase 2 ("weights 可調"). A logistic regression on which signals fired, made into whole weights of the seed's
kind. It is judged by verdicts that are newer than all it was fitted to, never by a random share: what an agent does
drifts, and neighbours in time are alike.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from ..policy.policy import NEVER, Policy
from ..signals import DEFAULTS
from ..stats.gate import Gate, Judged, judge, parted, sessions_of
from .seed import MAX_SCORE

# Of 100 the newest 30 judge, and on 30 a share is known to ±18 points: with fewer nothing but a landslide shows.
ENOUGH = 100
ENOUGH_OF_EACH = 10  # right ones and wrong ones, among the older and among the newer
ENOUGH_FIRED = 10  # of the older; a signal that fired less often, or not on as many others, keeps its weight
RIDGE = 1.0  # a Gaussian prior of variance 1: one signal multiplies the odds by 7 at most, but for good evidence
DRAWS = 1_000
_SEED = 20_260_224  # of the draws, so that the same verdicts give the same interval

Signals = frozenset[str]


class Case(NamedTuple):
    """What a person said of one response: a held one they decided, or a sample of what was let through."""

    at: float  # when it came, on any scale
    signals: Signals
    is_wrong: bool  # turned down, or should have been held
    was_held: bool
    stands_for: float = 1.0  # how many responses: more than one for a sample
    length: int | None = None  # None: no longer known
    turns: int = 0  # responses of its session before it
    belongs: tuple[str, ...] = ()  # names of its session, run and conversation


@dataclass(frozen=True)
class Fit:
    """What fitting came to. `why_not` is "" when the weights are offered; counts of responses may be estimates."""

    verdicts: int
    wrong: int
    samples: int  # of the verdicts
    # What keeps the weights from being offered: "few", "one-sided", "silent" or "no-better".
    why_not: str
    newer: int = 0  # verdicts that judged
    held: float = 0.0  # responses that each rule may hold of the newer: half of those that were
    newer_wrong: float = 0.0
    # How many of the newer wrong ones each rule has among those it holds, by "fitted", "in_force", "seed", "length".
    caught: Mapping[str, float | None] = field(default_factory=dict)
    gain: float = 0.0  # of the fitted weights over those in force, with its 95 % interval
    low: float = 0.0
    high: float = 0.0
    weights: Mapping[str, int] = field(default_factory=dict)
    threshold: int = NEVER
    hold_at: int = NEVER
    # Of so many recent responses so many reach `hold_at`, of the policy in force and of these weights.
    responses: int = 0
    held_before: int = 0
    held_after: int = 0
    # How the newer verdicts compare the fitted score with length, turns, the score in force and chance.
    gate: Gate | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def fit(cases: Iterable[Case], policy: Policy, responses: Mapping[Signals, int]) -> Fit:
    """Fit weights to the older 70 % of the cases and judge them by the newer 30 %, in whatever order they are given.

    Whole sessions at a time. They are offered when they catch more than those in force where as much is held, and order
    better than length, turns, the score in force and chance.

    `responses` are what the agent posted lately, counted by the signals that fired: thresholds are set so that about
    half as many of them are held as under `policy`, which is what is judged, and as many are marked or held.
    Fitted without weighing: who was held depends on the signals alone, and so biases no regression on them (Solon,
    Haider and Wooldridge 2015, "What Are We Weighting For?"). Judged with it: there each case stands for its share.
    """
    ordered = sorted(cases, key=lambda case: (case.at, sorted(case.signals), *case[2:5], case.length or 0))
    wrong = sum(case.is_wrong for case in ordered)
    samples = sum(not case.was_held for case in ordered)
    older, newer = parted(ordered, [case.belongs for case in ordered])
    if len(ordered) < ENOUGH:
        return Fit(len(ordered), wrong, samples, "few")
    if not (_has_both(older) and _has_both(newer)):
        return Fit(len(ordered), wrong, samples, "one-sided")
    weights = _weights(older, policy.weights)
    if weights is None:
        return Fit(len(ordered), wrong, samples, "silent")
    fitted, in_force, seed = _adds_up(weights), _adds_up(policy.weights), _adds_up(DEFAULTS[policy.profile])
    caught: dict[str, float | None] = {
        name: _caught_by(newer, rule) for name, rule in (("fitted", fitted), ("in_force", in_force), ("seed", seed))
    }
    is_known = all(case.length is not None for case in newer)
    caught["length"] = _caught_by(newer, lambda case: case.length or 0) if is_known else None
    low, high = _interval(newer, fitted, in_force)
    gate = _gate(newer, fitted, in_force)
    held = _reaching(responses, policy.weights, policy.hold_at)
    hold_at = _level(responses, weights, held / 2)
    threshold = min(hold_at, _level(responses, weights, _reaching(responses, policy.weights, policy.threshold)))
    return Fit(
        verdicts=len(ordered),
        wrong=wrong,
        samples=samples,
        why_not="" if low > 0 and gate.passes else "no-better",
        gate=gate,
        newer=len(newer),
        held=_room(newer),
        newer_wrong=sum(case.stands_for for case in newer if case.is_wrong),
        caught=caught,
        gain=(caught["fitted"] or 0.0) - (caught["in_force"] or 0.0),
        low=low,
        high=high,
        weights=weights,
        threshold=threshold,
        hold_at=hold_at,
        responses=sum(responses.values()),
        held_before=held,
        held_after=_reaching(responses, weights, hold_at),
    )


def _gate(newer: Sequence[Case], fitted: Callable[[Case], float], in_force: Callable[[Case], float]) -> Gate:
    """Compare the fitted score with what costs nothing, as a learned order is (ranking/gate.py)."""
    sessions = sessions_of([case.belongs for case in newer])
    judges = [Judged(session, case.is_wrong, case.stands_for) for session, case in zip(sessions, newer, strict=True)]
    rivals = {"turns": [float(case.turns) for case in newer], "score": [in_force(case) for case in newer]}
    if all(case.length is not None for case in newer):
        rivals["length"] = [float(case.length or 0) for case in newer]
    return judge(judges, [fitted(case) for case in newer], rivals, signed=("score",))


def _has_both(cases: Sequence[Case]) -> bool:
    wrong = sum(case.is_wrong for case in cases)
    return min(wrong, len(cases) - wrong) >= ENOUGH_OF_EACH


# -- fitting -------------------------------------------------------------------------------------------------------


def _weights(cases: Sequence[Case], in_force: Mapping[str, int]) -> dict[str, int] | None:
    """Return whole weights that add up as the seed's do; None when no signal tells wrong from right.

    A signal that speaks for a response gets 0: a score only adds up. What is fitted shares out the weight that those
    signals have in force, so that it goes with the weights that are kept.
    """
    fired = Counter(name for case in cases for name in case.signals)
    most = len(cases) - ENOUGH_FIRED
    judged = [name for name in in_force if in_force[name] and ENOUGH_FIRED <= fired[name] <= most]
    left = list(judged)
    while left:
        slopes = regress(cases, left)
        worst = min(left, key=lambda name: slopes[name])
        if slopes[worst] > 0:
            break
        left.remove(worst)
    if not left:
        return None
    total = min(MAX_SCORE, sum(in_force[name] for name in judged)) / sum(slopes.values())
    shared = {name: max(1, round(slopes[name] * total)) for name in left}
    return {name: shared.get(name, 0) if name in judged else weight for name, weight in in_force.items()}


def regress(cases: Iterable[Case], names: Sequence[str]) -> dict[str, float]:
    """Fit a ridge logistic regression of being wrong on which of these signals fired; return their slopes.

    Newton's method on the counts of what occurs, so that neither the order of the cases nor the machine matters
    beyond rounding. The intercept bears no penalty.
    """
    counts = Counter((tuple(name in case.signals for name in names), case.is_wrong) for case in cases)
    rows = sorted(((1.0, *map(float, fired)), float(wrong), count) for (fired, wrong), count in counts.items())
    size = len(names) + 1
    penalty = [0.0] + [RIDGE] * len(names)
    at = [0.0] * size
    for _ in range(50):
        slope = [-weight * value for weight, value in zip(penalty, at, strict=True)]
        curve = [[penalty[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for fired, wrong, count in rows:
            chance = 1 / (1 + math.exp(-_dot(at, fired)))
            for i in range(size):
                slope[i] += count * (wrong - chance) * fired[i]
                for j in range(size):
                    curve[i][j] += count * chance * (1 - chance) * fired[i] * fired[j]
        step = _solve(curve, slope)
        before, share = _likelihood(rows, at, penalty), 1.0
        while share > 1e-6:
            tried = [value + share * change for value, change in zip(at, step, strict=True)]
            if _likelihood(rows, tried, penalty) >= before:
                break
            share /= 2
        at = tried
        if max(map(abs, step)) < 1e-9:
            break
    return dict(zip(names, at[1:], strict=True))


_Rows = Sequence[tuple[tuple[float, ...], float, int]]


def _likelihood(rows: _Rows, at: Sequence[float], penalty: Sequence[float]) -> float:
    """Return the logarithm of the likelihood, less the penalty."""
    found = -sum(weight * value * value for weight, value in zip(penalty, at, strict=True)) / 2
    for fired, wrong, count in rows:
        odds = _dot(at, fired)
        found += count * (wrong * odds - max(odds, 0.0) - math.log1p(math.exp(-abs(odds))))
    return found


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _solve(matrix: list[list[float]], values: Sequence[float]) -> list[float]:
    """Solve a small system that is symmetric and positive, by Gauss's elimination."""
    size = len(values)
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for i in range(size):
        for below in rows[i + 1 :]:
            share = below[i] / rows[i][i]
            for j in range(i, size + 1):
                below[j] -= share * rows[i][j]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (rows[i][size] - sum(rows[i][j] * found[j] for j in range(i + 1, size))) / rows[i][i]
    return found


# -- judging -------------------------------------------------------------------------------------------------------

_Rule = Callable[[Case], int]


def _adds_up(weights: Mapping[str, int]) -> _Rule:
    return lambda case: score(case.signals, weights)


def score(signals: Iterable[str], weights: Mapping[str, int]) -> int:
    """Return the score that signals have under other weights."""
    return min(MAX_SCORE, sum(weights.get(name, 0) for name in signals))


def _room(cases: Iterable[Case]) -> float:
    """Return how many responses a rule may hold: half of those that were, among which all rules would do as well."""
    return sum(case.was_held for case in cases) / 2


def _caught_by(cases: Sequence[Case], rule: _Rule) -> float:
    return _caught([(rule(case), case.stands_for, case.is_wrong) for case in cases], _room(cases))


def _caught(scored: Iterable[tuple[int, float, bool]], room: float) -> float:
    """Return how many wrong ones are among the highest; of equal scores, the share that there is room for.

    `scored` are scores, how many responses have them, and whether those are wrong.
    """
    levels: dict[int, list[float]] = {}
    for level, responses, is_wrong in scored:
        counts = levels.setdefault(level, [0.0, 0.0])
        counts[0] += responses
        counts[1] += responses * is_wrong
    caught = 0.0
    for level in sorted(levels, reverse=True):
        responses, wrong = levels[level]
        caught += wrong * min(1.0, room / responses)
        room -= responses
        if room <= 0:
            break
    return caught


def _interval(cases: Sequence[Case], rule: _Rule, other: _Rule) -> tuple[float, float]:
    """Return the 95 % interval of what a rule catches more than another: a paired bootstrap (Efron 1979)."""
    counts = Counter((rule(case), other(case), case.stands_for, case.is_wrong, case.was_held) for case in cases)
    kinds = sorted(counts)
    limits = list(accumulate(counts[kind] for kind in kinds))
    dice = random.Random(_SEED)
    gains = []
    for _ in range(DRAWS):
        drawn = Counter(dice.choices(kinds, cum_weights=limits, k=len(cases))).items()
        room = sum(count for (*_, was_held), count in drawn if was_held) / 2
        mine = _caught(((kind[0], count * kind[2], kind[3]) for kind, count in drawn), room)
        gains.append(mine - _caught(((kind[1], count * kind[2], kind[3]) for kind, count in drawn), room))
    gains.sort()
    return gains[round(0.025 * DRAWS)], gains[round(0.975 * DRAWS) - 1]


def _reaching(responses: Mapping[Signals, int], weights: Mapping[str, int], level: int) -> int:
    return sum(count for signals, count in responses.items() if score(signals, weights) >= level)


def _level(responses: Mapping[Signals, int], weights: Mapping[str, int], wanted: float) -> int:
    """Return the level above 0 that most nearly `wanted` responses reach, of two as near the lower; 101 for none."""
    reached = {level: _reaching(responses, weights, level) for level in {score(each, weights) for each in responses}}
    found = [(abs(count - wanted), level) for level, count in reached.items() if level]
    return min(found)[1] if found and wanted else NEVER
