"""Learn an order of risk from decisions, and say whether it is worth having."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from ..stats.gate import (
    CHANCE,
    ENOUGH,
    ENOUGH_OF_EACH,
    ENOUGH_SESSIONS,
    FACTS,
    TENTHS,
    Gate,
    Judged,
    auc,
    judge,
    sessions_of,
    tenths_of,
)
from .around import METADATA, key_of
from .disagree import Disagreement, disagreements
from .features import Seen
from .logistic import MOST_ROUNDS, calibrated, chance
from .model import Case, Kind, Learner, Model

MOST_STANDING_FOR = 10.0  # how much a sample may count in learning; in judging it counts for all it stands for
LEAST_CARE = 0.25  # how much a decision counts that was quicker than the text can be read, at least
_MOST_KEYS = 3  # of metadata that are rivals: those that order best
_PRIOR = 2.0  # decisions at the rate of all that a rate of few is mixed with
_ROUNDS = 3  # of learning after each tenth: what was learned before it stays
_CURVE = (0, 1, 3, 6)  # tenths after which the newest three are ordered, too
_CALIBRATES = 50  # decisions from which it is learned how risks are made probabilities
_LEAST_STRETCH = 0.05
_FORESEEN = 20  # times the decisions there are, beyond which it is not said how many it takes


@dataclass(frozen=True)
class Decided:
    """What a person decided about one text, and what is known about it."""

    seen: Seen
    rejected: bool
    at: float  # when, in seconds since the epoch
    # What belongs together: the names of its session, run and conversation. No two decisions that share one stand on
    # different sides.
    belongs: tuple[str, ...] = ()
    stands_for: float = 1.0  # how many texts: more than one for a sample
    care: float = 1.0  # from 0 to 1: how long was looked at it beside the time that reading it takes
    key: str = ""  # what orders decisions of one moment
    was_held: bool = True  # False: it passed, and was looked at as a spot check
    by: str = ""  # who decided, where it is known


class Alone(NamedTuple):
    """An order by one thing alone, and its AUC with the 95 % interval."""

    by: Kind
    auc: float
    low: float
    high: float


@dataclass(frozen=True)
class Learned:
    """What came of learning. `order` is what to go by: None where nothing beats chance, and the score stays."""

    model: Model
    decisions: int
    rejected: int
    # "" when the gate is passed; "few", "one-sided" where it cannot be asked, "few-sessions" where its intervals would
    # say too little, else "no-better".
    why_not: str
    order: Kind | None
    gate: Gate | None = None
    curve: tuple[tuple[int, float], ...] = ()  # decisions that taught, and the AUC on the newest three tenths
    # What the spot checks among those that judge say of the same order on what passed; None: too few of either kind.
    passing: Gate | None = None
    checks: int = 0  # spot checks among all decisions, and those of them that should have been held
    misses: int = 0
    alone: Alone | None = None  # of what `order` is by, where that is one thing
    # About how many more decisions it takes until it can be judged, at today's share of rejections; None: that cannot
    # be foreseen, or it is judged.
    needs: int | None = None
    disagreements: tuple[Disagreement, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)  # by key: the odds by what was learned of all before

    def as_dict(self) -> dict[str, Any]:
        """Return all but the model."""
        left_out = ("model", "gate", "passing", "judged", "alone", "disagreements")
        found = {name: value for name, value in vars(self).items() if name not in left_out}
        found |= {name: gate and asdict(gate) for name, gate in (("gate", self.gate), ("passing", self.passing))}
        found["alone"] = self.alone and self.alone._asdict()
        found["disagreements"] = [each._asdict() for each in self.disagreements]
        return found


def learn(decided: Iterable[Decided], least: int = ENOUGH, team: Mapping[str, float] | None = None) -> Learned:
    """Learn from all decisions; each tenth of them judges what was learned of all before it.

    The model is always there; whether it may be used says `order`, which is "learned" where it beats length and turns
    (either way round), the score, the rates at which each agent and each value of metadata was rejected before, and
    chance; or the one of those that does as well and beats chance. Of fewer than `least` decisions only such a rate
    may be the order. With `team`, the odds by what was learned from the whole team (its `judged`), these must be beaten
    too.

    What was held judges, if anything was: else it would be enough to tell what is held from what passes. Spot checks
    teach, and judge by themselves (`passing`).
    """
    ordered = sorted(decided, key=lambda each: (each.at, each.key))
    rolled = _Rolled(ordered)
    checked = [each.rejected for each in ordered if not each.was_held]
    told: dict[str, Any] = {
        "decisions": len(ordered),
        "rejected": sum(each.rejected for each in ordered),
        "checks": len(checked),
        "misses": sum(checked),
        "disagreements": tuple(disagreements([(e.seen, e.rejected, e.by, e.key) for e in ordered if e.by])),
        "judged": {each.key: odds for each, odds in zip(ordered, rolled.odds, strict=True) if odds is not None},
    }
    judging = rolled.numbers(held=True) or rolled.numbers(held=False)
    why_not = rolled.cannot_ask(judging, least)
    if why_not not in ("", "few", "few-sessions") or not judging or not rolled.has_both(judging):
        return Learned(rolled.model(), why_not=why_not, order=None, needs=_needed(told, least), **told)
    rivals = rolled.rivals(judging)
    judges = rolled.judges(judging)
    if why_not == "few":
        rates = {name: values for name, values in rivals.items() if name not in FACTS}
        alone = _alone(judges, rivals, rates)
        model = Model.learn(cases_of(ordered), alone.by) if alone else rolled.model()
        order = alone and alone.by
        return Learned(model, why_not=why_not, order=order, alone=alone, needs=_needed(told, least), **told)
    signed = [name for name in rivals if name not in FACTS[:2]]
    if team:
        rivals["team"] = [team.get(ordered[number].key, 0.0) for number in judging]
        signed.append("team")
    odds = rolled.of(judging)
    gate = judge(judges, odds, rivals, signed, rolled.chances(judging))
    order, alone, model = ("learned" if gate.passes and not why_not else None), None, rolled.model(judging)
    if not order and not why_not:
        alone = _alone(judges, rivals, {name: rivals[name] for name in gate.as_good if name not in (CHANCE, "team")})
        order = alone and alone.by
        if alone and alone.by != "score":
            model = Model.learn(cases_of(ordered), alone.by)
    passing = rolled.numbers(held=False)
    of_passing = None
    if rolled.has_both(passing):
        some = {name: values for name, values in rolled.rivals(passing).items() if name in FACTS}
        of_passing = judge(rolled.judges(passing), rolled.of(passing), some, ("score",))
    needs = _needed(told, least) if why_not else None if gate.passes else _needed_by(gate, len(ordered))
    why_not = why_not or ("" if gate.passes else "no-better")
    return Learned(
        model,
        why_not=why_not,
        order=order,
        gate=gate,
        curve=tuple(rolled.curve(judging)),
        passing=of_passing,
        alone=alone,
        needs=needs,
        **told,
    )


class _Rolled:
    """Decisions, and what each was ordered by when only those of the tenths before it were known."""

    def __init__(self, ordered: Sequence[Decided]) -> None:
        self.ordered = ordered
        self.sessions = sessions_of([each.belongs for each in ordered])
        self.learner = Learner([case(each, session) for each, session in zip(ordered, self.sessions, strict=True)])
        self.tenths = tenths_of(self.sessions)
        self.odds: list[float | None] = [None] * len(ordered)
        names = ["agent", *(METADATA + key for key in self.learner.keys)]
        self._rates = {name: _Rates(name) for name in names}
        self.by_rate: dict[str, list[float]] = {name: [0.0] * len(ordered) for name in names}
        self._newest: list[tuple[int, dict[int, float]]] = []
        self._roll()

    def _roll(self) -> None:
        by_tenth: list[list[int]] = [[] for _ in range(TENTHS)]
        for number, tenth in enumerate(self.tenths):
            by_tenth[tenth].append(number)
        newest = [number for numbers in by_tenth[-3:] for number in numbers]
        taught = rejected = 0
        for tenth, numbers in enumerate(by_tenth):
            if min(rejected, taught - rejected) >= ENOUGH_OF_EACH:
                for number in numbers:
                    self.odds[number] = self.learner.odds(number)
                    for name, rates in self._rates.items():
                        self.by_rate[name][number] = rates.of(self.ordered[number].seen.facts, rejected / taught)
            is_last = tenth == TENTHS - 1
            if numbers or is_last:
                self.learner.learn(numbers, MOST_ROUNDS if is_last else _ROUNDS)
            for number in numbers:
                taught += 1
                rejected += self.ordered[number].rejected
                for rates in self._rates.values():
                    rates.count(self.ordered[number])
            if tenth in _CURVE and min(rejected, taught - rejected) >= ENOUGH_OF_EACH:
                self._newest.append((taught, {number: self.learner.odds(number) for number in newest}))

    def model(self, judging: Sequence[int] = ()) -> Model:
        """Return what was learned from all, its odds stretched to probabilities by those that judge."""
        found = self.learner.model(Model)
        if len(judging) < _CALIBRATES:
            return found.among(found.risk(each.seen) for each in self.ordered)
        shift, stretch = self._calibrated(judging)
        stretch = max(_LEAST_STRETCH, stretch)
        odds = (shift + stretch * each for each in self.of(judging))
        return found.stretched(shift, stretch).among(round(chance(each), 4) for each in odds)

    def _calibrated(self, numbers: Sequence[int]) -> tuple[float, float]:
        some = [self.ordered[number] for number in numbers]
        return calibrated(self.of(numbers), [each.rejected for each in some], [each.stands_for for each in some])

    def chances(self, judging: Sequence[int]) -> list[float | None]:
        """Return probabilities by what was learned, and calibrated, of the tenths before each; None where too few."""
        found: list[float | None] = []
        known: dict[int, tuple[float, float] | None] = {}
        for number in judging:
            tenth = self.tenths[number]
            if tenth not in known:
                before = [each for each in judging if self.tenths[each] < tenth]
                known[tenth] = self._calibrated(before) if len(before) >= _CALIBRATES else None
            by = known[tenth]
            found.append(None if by is None else chance(by[0] + by[1] * (self.odds[number] or 0.0)))
        return found

    def of(self, numbers: Sequence[int]) -> list[float]:
        return [self.odds[number] or 0.0 for number in numbers]

    def numbers(self, *, held: bool) -> list[int]:
        """Return the decisions that judge: on what was held, or on what passed."""
        pairs = enumerate(zip(self.ordered, self.odds, strict=True))
        return [number for number, (each, odds) in pairs if odds is not None and each.was_held == held]

    def judges(self, numbers: Sequence[int]) -> list[Judged]:
        some = [(self.sessions[number], self.ordered[number], self.tenths[number]) for number in numbers]
        return [Judged(session, each.rejected, each.stands_for, tenth) for session, each, tenth in some]

    def has_both(self, numbers: Sequence[int]) -> bool:
        rejected = sum(self.ordered[number].rejected for number in numbers)
        return min(rejected, len(numbers) - rejected) >= ENOUGH_OF_EACH

    def cannot_ask(self, judging: Sequence[int], least: int) -> str:
        if len(self.ordered) < least:
            return "few"
        is_of_few = len(set(self.sessions)) < 2 * ENOUGH_SESSIONS
        if not self.has_both(judging):
            return "few-sessions" if is_of_few else "one-sided"
        return "few-sessions" if is_of_few or len({self.sessions[at] for at in judging}) < ENOUGH_SESSIONS else ""

    def rivals(self, numbers: Sequence[int]) -> dict[str, Sequence[float]]:
        """Return what else orders these: facts alone, and rates of rejections, by the keys of metadata that do best."""
        facts: dict[str, Sequence[float]] = {
            name: [self.ordered[number].seen.facts.get(name, 0.0) for number in numbers] for name in FACTS
        }
        judges = self.judges(numbers)
        rates = {name: [values[number] for number in numbers] for name, values in self.by_rate.items()}
        rates = {name: values for name, values in rates.items() if len(set(self._rates[name].counted)) > 1}
        by_key = sorted((name for name in rates if name != "agent"), key=lambda name: (-auc(judges, rates[name]), name))
        kept = (*(["agent"] if "agent" in rates else []), *by_key[:_MOST_KEYS])
        return facts | {name: rates[name] for name in kept}

    def curve(self, judging: Sequence[int]) -> Iterator[tuple[int, float]]:
        """Give how many taught, and how well these ordered the newest three tenths."""
        newest = [number for number in judging if self.tenths[number] >= TENTHS - 3]
        if not self.has_both(newest):
            return
        judges = self.judges(newest)
        for taught, odds in self._newest:
            yield taught, round(auc(judges, [odds[number] for number in newest]), 4)


class _Rates:
    """How often each agent, or each value under a key of metadata, was rejected so far."""

    def __init__(self, name: Kind) -> None:
        self._key = name.removeprefix(METADATA) if name != "agent" else ""
        self.counted, self._rejected = Counter[str](), Counter[str]()

    def _of(self, facts: Mapping[str, float]) -> list[str]:
        if not self._key:
            return [name for name in facts if name.startswith("agent:")]
        return [name for name in facts if key_of(name) == self._key]

    def count(self, decided: Decided) -> None:
        for name in self._of(decided.seen.facts):
            self.counted[name] += 1
            self._rejected[name] += decided.rejected

    def of(self, facts: Mapping[str, float], share: float) -> float:
        """Return the mean rate of what a text has; `share` is that of all."""
        rates = [(self._rejected[name] + _PRIOR * share) / (self.counted[name] + _PRIOR) for name in self._of(facts)]
        return math.fsum(rates) / len(rates) if rates else share  # exact, whatever the version of Python


def _alone(
    judges: Sequence[Judged], rivals: Mapping[str, Sequence[float]], some: Mapping[str, Sequence[float]]
) -> Alone | None:
    """Return the best of these rivals that beats chance by itself; of several tried one may by chance, so clearly."""
    for name in sorted(some, key=lambda name: -auc(judges, _upwards(name, judges, rivals[name]))):
        gate = judge(judges, _upwards(name, judges, rivals[name]), {})
        beyond = gate.against[CHANCE]
        if gate.passes and beyond.low > beyond.gain / 4:  # 2.6 deviations rather than 2
            return Alone(name, gate.auc, gate.auc_low, gate.auc_high)
    return None


def _upwards(name: str, judges: Sequence[Judged], values: Sequence[float]) -> Sequence[float]:
    return [-value for value in values] if name in ("length", "turns") and auc(judges, values) < 0.5 else values


def case(decided: Decided, session: int | None = None) -> Case:
    """Return a decision as a model learns it."""
    weight = min(decided.stands_for, MOST_STANDING_FOR) * max(LEAST_CARE, min(1.0, decided.care))
    return Case(decided.seen, decided.rejected, weight, session)


def cases_of(decided: Sequence[Decided]) -> list[Case]:
    """Return decisions as a model learns them, with what belongs together."""
    sessions = sessions_of([each.belongs for each in decided])
    return [case(each, session) for each, session in zip(decided, sessions, strict=True)]


# -- what it takes -------------------------------------------------------------------------------------------------


def _needed(told: Mapping[str, Any], least: int) -> int | None:
    """Return about how many more decisions it takes until an order can be judged, at today's share of rejections.

    Ten of either kind have to teach before a tenth can judge, and as many must judge.
    """
    decisions, rejected = told["decisions"], told["rejected"]
    rarer = min(rejected, decisions - rejected)
    if not rarer:
        return max(1, least - decisions) if decisions < least else None
    enough = math.ceil(2.2 * ENOUGH_OF_EACH * decisions / rarer)
    return int(max(1, least - decisions, enough - decisions))


def _needed_by(gate: Gate, decisions: int) -> int | None:
    """Return about how many more decisions it takes to beat what is not beaten yet, if all stays as it is."""
    most = 0.0
    for name in gate.as_good:
        rival = gate.against[name]
        if rival.gain <= 0:
            return None
        deviation = max(1e-4, (rival.high - rival.low) / 3.92)
        wanted = 1.96 if rival.sure is None else 0.85
        most = max(most, (wanted * deviation / rival.gain) ** 2)
    more = math.ceil(decisions * (most - 1))
    return more if 0 < more <= _FORESEEN * decisions else None


NAMES = {
    "length": "length",
    "turns": "the number of turns",
    "score": "the score",
    "chance": "chance",
    "agent": "the agent",
    "team": "what the whole team taught",
}


def named(order: Kind) -> str:
    """Name what orders, in English."""
    return f"the metadata “{order.removeprefix(METADATA)}”" if order.startswith(METADATA) else NAMES[order]


def in_words(learned: Learned, least: int = ENOUGH) -> str:
    """Say in English what came of it."""
    told = f"{learned.decisions:,} decisions, {learned.rejected:,} of them rejections"
    return f"{_judgement(learned, told, least)}{_by_alone(learned)}{_what_it_takes(learned)}"


def _judgement(learned: Learned, told: str, least: int) -> str:
    gate = learned.gate
    if learned.why_not == "few":
        return f"Declined: {told}; {least:,} decisions are the least that is learned from."
    if learned.why_not == "one-sided":
        return f"Declined: {told}; {ENOUGH_OF_EACH} rejections and as many others must teach, and as many judge."
    if gate is None or learned.why_not == "few-sessions":
        return f"Declined: {told}; they come from fewer than {2 * ENOUGH_SESSIONS} sessions."
    judged = f"AUC {gate.auc:.3f} [{gate.auc_low:.3f}, {gate.auc_high:.3f}] on the next tenth, n = {gate.decisions:,}"
    if gate.passes:
        found, low, high = gate.caught_at(0.1)
        return (
            f"Learned from {told}. {judged}; the tenth most at risk holds {found:.0%} [{low:.0%}, {high:.0%}] of the "
            "rejections."
        )
    rivals = [
        f"{named(name)} orders as well (AUC {gate.against[name].auc:.3f})" for name in gate.as_good if name != CHANCE
    ]
    if CHANCE in gate.as_good:
        rivals.insert(0, "it is no better than chance")
    return f"Declined: {told}. {judged}, but {', '.join(rivals) or 'not on the newest'}."


def _by_alone(learned: Learned) -> str:
    if not learned.alone:
        return ""
    by, found, low, high = learned.alone
    return f" By {named(by)} alone: AUC {found:.3f} [{low:.3f}, {high:.3f}]."


def _what_it_takes(learned: Learned) -> str:
    if learned.needs is None:
        return ""
    share = learned.rejected / learned.decisions if learned.decisions else 0.0
    told = f"About {rounded(learned.needs):,} more decisions, at today's {share:.0%} rejections"
    return f" {told}, until it can be judged."


def rounded(count: int) -> int:
    """Round a count to two digits: it is only about so many."""
    step: int = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step
