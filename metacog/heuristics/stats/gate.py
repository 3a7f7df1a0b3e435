"""Whether an order is worth having: it must beat what costs nothing, on decisions it was not learned from.

Each tenth of the decisions, whole sessions at a time, judges what was learned of all before it ("rolling origin"); two
are compared only within a tenth, so that what changes with time is no merit. Or the newest 30 % judge. A rival is
beaten when the interval of the difference in AUC, from a paired bootstrap over sessions (Efron and Tibshirani 1993,
chapter 8), lies above 0; in a rolling judgment chance must be beaten so, and another rival in
most of the draws (`SURE`).
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

NEWEST = 0.3
TENTHS = 10
# Of the draws; docs/learning.md says how often what is no better is offered with these. What is learned holds what a
# rival knows that learns too, so that the two differ little.
SURE, SURER = 0.85, 0.95
ENOUGH = 100  # decisions
ENOUGH_OF_EACH = 10  # rejected and others, among those that judge and among those that teach
ENOUGH_SESSIONS = 10  # on either side
DRAWS = 400
LOOKED_AT = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # shares of all items
CALIBRATED = 0.05  # the expected calibration error up to which a risk may be told in percent
_BINS = 10
_SEED = 20_260_301
CHANCE = "chance"
FACTS = ("length", "turns", "score")  # rivals that learn nothing
Row = TypeVar("Row")


class Judged(NamedTuple):
    """One decision that judges."""

    session: int  # the number of its session: what belongs together is drawn together
    rejected: bool
    weight: float = 1.0  # how many it stands for
    tenth: int | None = None  # of the decisions; it is compared with those of the same tenth only


class Against(NamedTuple):
    """What an order has beyond a rival: the difference in AUC with its 95 % interval."""

    auc: float  # of the rival
    gain: float
    low: float
    high: float
    sure: float | None = None  # the share of draws in which it was better; None: the interval decides
    level: float = SURE  # what that must be

    @property
    def is_beaten(self) -> bool:
        return self.low > 0 if self.sure is None else self.sure >= self.level


@dataclass(frozen=True)
class Gate:
    """What the newest decisions say of an order. Shares are of weight, so that samples stand for what they do."""

    decisions: int
    rejected: int
    sessions: int
    share: float  # of them that were rejected
    auc: float
    auc_low: float
    auc_high: float
    against: Mapping[str, Against]  # by rival: "chance", "length", "turns", "score"
    # Shares of all that was rejected, found among the first 1, 2, 5 … % (`LOOKED_AT`): by the order, with the 95 %
    # interval, and by each rival.
    caught: Sequence[float] = ()
    caught_low: Sequence[float] = ()
    caught_high: Sequence[float] = ()
    caught_by: Mapping[str, Sequence[float]] = field(default_factory=dict)
    # Ten bins of equal weight, by rising risk: what was said, what came, how many decisions.
    bins: Sequence[tuple[float, float, int]] = ()
    calibration_error: float = 1.0  # the weighted mean of |said - came|
    newest: float = 1.0  # the AUC on the newest three tenths alone, which must not turn the order round

    @property
    def passes(self) -> bool:
        return bool(self.against) and self.newest > 0.5 and all(rival.is_beaten for rival in self.against.values())

    @property
    def as_good(self) -> list[str]:
        """Name the rivals that are not beaten, the best first."""
        left = [name for name, rival in self.against.items() if not rival.is_beaten]
        return sorted(left, key=lambda name: -self.against[name].auc)

    @property
    def is_calibrated(self) -> bool:
        return self.calibration_error <= CALIBRATED

    def caught_at(self, share: float) -> tuple[float, float, float]:
        """Return the share caught among the first, and its interval; `share` is one of `LOOKED_AT`."""
        at = LOOKED_AT.index(share)
        return self.caught[at], self.caught_low[at], self.caught_high[at]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        against = {name: Against(*rival) for name, rival in document["against"].items()}
        return cls(**{**document, "against": against})


def parted(ordered: Sequence[Row], belongs: Sequence[Sequence[str]]) -> tuple[list[Row], list[Row]]:
    """Part the newest 30 % from the older ones, whole sessions at a time: a session is as new as its last decision.

    `ordered` are decisions, the oldest first, `belongs` the names of what each belongs to.
    """
    sessions = sessions_of(belongs)
    last = dict(zip(sessions, range(len(ordered)), strict=True))
    sizes = Counter(sessions)
    newest: set[int] = set()
    room = int(NEWEST * len(ordered) + 1e-9)
    for session in sorted(last, key=lambda each: -last[each]):
        if room <= 0:
            break
        newest.add(session)
        room -= sizes[session]
    pairs = list(zip(sessions, ordered, strict=True))
    older = [each for session, each in pairs if session not in newest]
    return older, [each for session, each in pairs if session in newest]


def tenths_of(sessions: Sequence[int]) -> list[int]:
    """Number the tenth of each decision, the oldest first, from 0 on: a session is as new as its last decision."""
    last = dict(zip(sessions, range(len(sessions)), strict=True))
    sizes, tenth, passed = Counter(sessions), {}, 0
    for session in sorted(last, key=last.__getitem__):
        tenth[session] = min(TENTHS - 1, TENTHS * passed // len(sessions))
        passed += sizes[session]
    return [tenth[session] for session in sessions]


def sessions_of(belongs: Sequence[Sequence[str]]) -> list[int]:
    """Number what belongs together, from 0 on in order of appearance: what shares a name, directly or by others."""
    leader = list(range(len(belongs)))

    def lead(at: int) -> int:
        while leader[at] != at:
            leader[at] = leader[leader[at]]
            at = leader[at]
        return at

    first: dict[str, int] = {}
    for at, names in enumerate(belongs):
        for name in names:
            before, here = lead(first.setdefault(name, at)), lead(at)
            leader[max(before, here)] = min(before, here)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(lead(at), len(numbers)) for at in range(len(belongs))]


def judge(
    judges: Sequence[Judged],
    order: Sequence[float],
    rivals: Mapping[str, Sequence[float]],
    signed: Sequence[str] = (),
    chances: Sequence[float | None] | None = None,
) -> Gate:
    """Compare an order with its rivals, and with chance; each gives a number for each judge, the riskiest highest.

    Rivals named in `signed` count as they are; each other one whichever way round it does better here. `chances` are
    the order's, made probabilities of what was judged before; None where that was too little.
    """
    is_rolling = any(each.tenth is not None for each in judges)
    turned = {CHANCE: [0.0] * len(judges)}
    for name, values in rivals.items():
        backwards = name not in signed and auc(judges, values) < 0.5
        turned[name] = [-value for value in values] if backwards else list(values)
    ordered = {name: _Order(judges, values) for name, values in turned.items()}
    own = _Order(judges, order)
    everyone = [1] * (1 + max((each.session for each in judges), default=-1))
    own_auc = _area(own.drawn(everyone))
    drawn: dict[str, list[float]] = {name: [] for name in ordered}
    own_drawn: list[float] = []
    caught_drawn: list[list[float]] = []
    for times in _draws(len(everyone)):
        steps = own.drawn(times)
        value = _area(steps)
        own_drawn.append(value)
        caught_drawn.append(_caught(steps))
        for name, rival in ordered.items():
            drawn[name].append(value - _area(rival.drawn(times)))
    against = {}
    for name, rival in ordered.items():
        value = _area(rival.drawn(everyone))
        sure = None
        if is_rolling and name != CHANCE:
            sure = round(sum(gain > 0 for gain in drawn[name]) / DRAWS, 4)
        level = SURE if name in FACTS else SURER
        gain = round(own_auc - value, 4)
        against[name] = Against(round(value, 4), gain, *_interval(drawn[name], gain), sure, level)
    auc_low, auc_high = _interval(own_drawn, own_auc)
    caught = [round(value, 4) for value in _caught(own.drawn(everyone))]
    by_share = [_interval(values, value) for values, value in zip(zip(*caught_drawn, strict=True), caught, strict=True)]
    said = order if chances is None else chances
    known = [(each, value) for each, value in zip(judges, said, strict=True) if value is not None]
    bins = _bins([each for each, _ in known], [value for _, value in known])
    everything = _total(weight for _, _, _, weight in bins) or 1.0
    error = _total(weight * abs(said - came) for said, came, _, weight in bins) / everything
    if is_rolling:  # of few, what is left without chance would be nothing
        error = _debiased(bins, everything) if len(known) >= ENOUGH else 1.0
    return Gate(
        decisions=len(judges),
        rejected=sum(each.rejected for each in judges),
        sessions=len({each.session for each in judges}),
        share=round(
            _total(each.weight for each in judges if each.rejected) / (_total(each.weight for each in judges) or 1.0), 4
        ),
        auc=round(own_auc, 4),
        auc_low=auc_low,
        auc_high=auc_high,
        against=against,
        caught=caught,
        caught_low=[low for low, _ in by_share],
        caught_high=[high for _, high in by_share],
        caught_by={
            name: [round(value, 4) for value in _caught(rival.drawn(everyone))] for name, rival in ordered.items()
        },
        bins=[(round(said, 4), round(came, 4), count) for said, came, count, _ in bins],
        calibration_error=round(error, 4),
        newest=_newest(judges, order) if is_rolling else 1.0,
    )


def auc(judges: Sequence[Judged], values: Sequence[float]) -> float:
    """Return the weighted share of pairs, one rejected and one not, in which the rejected one stands higher."""
    return _area(_Order(judges, values).drawn([1] * (1 + max((each.session for each in judges), default=-1))))


Steps = list[tuple[float, float]]  # weights of what was rejected and of the rest, the highest step first


class _Order:
    """Judges of each tenth in one order, the highest first, equals together."""

    def __init__(self, judges: Sequence[Judged], values: Sequence[float]) -> None:
        by_tenth: dict[int | None, dict[float, list[Judged]]] = {}
        for each, value in zip(judges, values, strict=True):
            by_tenth.setdefault(each.tenth, {}).setdefault(value, []).append(each)
        self.tenths = [[by_value[value] for value in sorted(by_value, reverse=True)] for by_value in by_tenth.values()]

    def drawn(self, times: Sequence[int]) -> list[Steps]:
        """Return the weights, tenth by tenth and step by step; `times` says how often a session was drawn."""
        return [[_weights(step, times) for step in steps] for steps in self.tenths]


def _weights(step: Sequence[Judged], times: Sequence[int]) -> tuple[float, float]:
    wrong = right = 0.0
    for session, rejected, weight, _ in step:
        if rejected:
            wrong += weight * times[session]
        else:
            right += weight * times[session]
    return wrong, right


def _area(tenths: Sequence[Steps]) -> float:
    """Return the area under the curve of these weights, of pairs within a tenth."""
    pairs = everything = 0.0
    for steps in tenths:
        above = others = 0.0  # weight of what was rejected so far, and of the rest
        for wrong, right in steps:
            pairs += right * (above + wrong / 2)
            above += wrong
            others += right
        everything += above * others
    return pairs / everything if everything else 0.5


def _newest(judges: Sequence[Judged], order: Sequence[float]) -> float:
    """Return the AUC on the newest three tenths; 1 where they cannot say."""
    newest = [(each, value) for each, value in zip(judges, order, strict=True) if (each.tenth or 0) >= TENTHS - 3]
    if len({each.rejected for each, _ in newest}) < 2:
        return 1.0
    return round(auc([each for each, _ in newest], [value for _, value in newest]), 4)


def _caught(tenths: Sequence[Steps]) -> list[float]:
    """Return which share of what was rejected lies among the first of each share of `LOOKED_AT`, tenth by tenth."""
    by_tenth = [(_total(wrong for wrong, _ in steps), _caught_in(steps)) for steps in tenths]
    rejections = _total(wrong for wrong, _ in by_tenth)
    if not rejections:
        return list(LOOKED_AT)
    return [
        min(1.0, _total(wrong * caught[at] for wrong, caught in by_tenth) / rejections) for at in range(len(LOOKED_AT))
    ]


def _caught_in(steps: Steps) -> list[float]:
    everything, rejections = _total(map(sum, steps)), _total(wrong for wrong, _ in steps)
    if not rejections:
        return list(LOOKED_AT)
    found, at, looked, caught = [], 0, 0.0, 0.0
    for share in LOOKED_AT:
        room = share * everything
        while at < len(steps) and looked + sum(steps[at]) <= room + 1e-9:
            looked += sum(steps[at])
            caught += steps[at][0]
            at += 1
        # Of equals, the room that is left has its share.
        size = sum(steps[at]) if at < len(steps) else 0.0
        found.append(min(1.0, (caught + ((room - looked) / size * steps[at][0] if size else 0.0)) / rejections))
    return found


def _draws(sessions: int) -> list[list[int]]:
    """Draw as many sessions with replacement, time and again: how often each came."""
    draw, found = random.Random(_SEED), []
    for _ in range(DRAWS):
        times = [0] * sessions
        for _ in range(sessions):
            times[int(draw.random() * sessions)] += 1
        found.append(times)
    return found


def _interval(drawn: Sequence[float], value: float) -> tuple[float, float]:
    """Return the middle 95 % of draws, and so much more as takes in the value that they are drawn about.

    It may stand outside: where equals fill a share to the brim, nearly every draw finds less than is there.
    """
    ordered = sorted(drawn)
    last = len(ordered) - 1
    low, high = ordered[round(0.025 * last)], ordered[round(0.975 * last)]
    return round(min(low, value), 4), round(max(high, value), 4)


def _bins(judges: Sequence[Judged], order: Sequence[float]) -> list[tuple[float, float, int, float]]:
    """Return what was said and what came in ten bins of equal weight, how many are in each, and their weight."""
    ranked = sorted(zip(order, judges, strict=True), key=lambda each: each[0])
    everything = _total(each.weight for each in judges)
    bins: list[list[float]] = [[0.0, 0.0, 0, 0.0] for _ in range(_BINS)]
    passed = 0.0
    for value, each in ranked:
        one = bins[min(_BINS - 1, int(passed / everything * _BINS))]
        passed += each.weight
        one[0] += value * each.weight
        one[1] += each.weight if each.rejected else 0.0
        one[2] += 1
        one[3] += each.weight
    return [(said / weight, came / weight, int(count), weight) for said, came, count, weight in bins if weight]


def _debiased(bins: Sequence[tuple[float, float, int, float]], everything: float) -> float:
    """Return the error of calibration without what the smallness of the bins adds (Kumar, Liang and Ma 2019)."""
    squared = _total(
        weight * ((said - came) ** 2 - came * (1.0 - came) / max(1, count - 1)) for said, came, count, weight in bins
    )
    return math.sqrt(max(0.0, squared / everything))


def _total(numbers: Iterable[float]) -> float:
    found = 0.0
    for number in numbers:
        found += number
    return found
