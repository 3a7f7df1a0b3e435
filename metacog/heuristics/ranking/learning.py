"""Learn an order of risk from decisions, and say whether it is worth having."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..stats.gate import CHANCE, ENOUGH, ENOUGH_OF_EACH, ENOUGH_SESSIONS, Gate, Judged, auc, judge, parted, sessions_of
from .features import Seen
from .model import Case, Kind, Model

MOST_STANDING_FOR = 10.0  # how much a sample may count in learning; in judging it counts for all it stands for
LEAST_CARE = 0.25  # how much a decision counts that was quicker than the text can be read, at least
_RIVALS: tuple[Kind, ...] = ("length", "turns", "score")
_CURVE = (8, 4, 2, 1)  # learned from each eighth, fourth, second session that teaches, and from all


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
    curve: tuple[tuple[int, float], ...] = ()  # decisions that taught, and the AUC on those that judge
    # What the spot checks among those that judge say of the same order on what passed; None: too few of either kind.
    passing: Gate | None = None
    checks: int = 0  # spot checks among all decisions, and those of them that should have been held
    misses: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return all but the model."""
        found = {name: value for name, value in vars(self).items() if name not in ("model", "gate", "passing")}
        gates = {"gate": self.gate, "passing": self.passing}
        return found | {name: gate and asdict(gate) for name, gate in gates.items()}


def learn(decided: Iterable[Decided], least: int = ENOUGH, others: Sequence[Decided] = ()) -> Learned:
    """Learn from all decisions, having judged what is learned from the older ones by the newest 30 %.

    The model is always there; whether it may be used says `order`, which is "learned" where it beats length and turns
    (either way round), the score and chance, or the one of those that does as well and beats chance. With `others`,
    decisions on other agents' texts, it must also beat what is learned from them and its own ("team").

    What was held judges, if anything was: else it would be enough to tell what is held from what passes. Spot checks
    teach, and judge by themselves (`passing`).
    """
    ordered = sorted(decided, key=lambda each: (each.at, each.key))
    rejected = sum(each.rejected for each in ordered)
    checked = [each.rejected for each in ordered if not each.was_held]
    checks: dict[str, Any] = {"checks": len(checked), "misses": sum(checked)}
    everything = Model.learn(cases_of(ordered))
    teaching, newest = parted(ordered, [each.belongs for each in ordered])
    judging = [each for each in newest if each.was_held] or newest
    why_not = _cannot_ask(ordered, teaching, judging, least)
    if (why_not and why_not != "few-sessions") or not (teaching and judging):
        return Learned(everything, len(ordered), rejected, why_not, None, **checks)
    taught = Model.learn(cases_of(teaching))
    judges, rivals = _judges(judging), _rivals(judging)
    risks = [taught.risk(each.seen) for each in judging]
    if others:
        shared = Model.learn(cases_of(sorted([*teaching, *others], key=lambda each: (each.at, each.key))))
        rivals["team"] = [shared.risk(each.seen) for each in judging]
    gate = judge(judges, risks, rivals, signed=("score", "team"))
    curve = [(len(teaching), gate.auc)]
    for part in _CURVE[-2::-1]:
        some = [each for session, each in zip(_sessions(teaching), teaching, strict=True) if session % part == 0]
        if len(some) >= ENOUGH_OF_EACH * 2:
            model = Model.learn(cases_of(some))
            curve.append((len(some), round(auc(judges, [model.risk(each.seen) for each in judging]), 4)))
    order: Kind | None = "learned" if gate.passes and not why_not else None
    model = everything
    if not order and not why_not:
        order = _fallback(gate, judges, rivals)
        if order in ("length", "turns"):
            model = Model.learn(cases_of(ordered), order)
    why_not = why_not or ("" if gate.passes else "no-better")
    passing = [each for each in newest if not each.was_held]
    of_passing = None
    if _has_both(passing):
        of_passing = judge(_judges(passing), [taught.risk(each.seen) for each in passing], _rivals(passing), ("score",))
    return Learned(model, len(ordered), rejected, why_not, order, gate, tuple(sorted(curve)), of_passing, **checks)


def _judges(decided: Sequence[Decided]) -> list[Judged]:
    pairs = zip(_sessions(decided), decided, strict=True)
    return [Judged(session, each.rejected, each.stands_for) for session, each in pairs]


def _rivals(decided: Sequence[Decided]) -> dict[str, Sequence[float]]:
    return {name: [each.seen.facts.get(name, 0.0) for each in decided] for name in _RIVALS}


def _has_both(decided: Sequence[Decided]) -> bool:
    rejected = sum(each.rejected for each in decided)
    return min(rejected, len(decided) - rejected) >= ENOUGH_OF_EACH


def _fallback(gate: Gate, judges: Sequence[Judged], rivals: Mapping[str, Sequence[float]]) -> Kind | None:
    """Return the best of what orders as well, if it beats chance itself."""
    for name in sorted(_RIVALS, key=lambda rival: -gate.against[rival].auc):
        if not gate.against[name].is_beaten and judge(judges, _upwards(judges, rivals[name]), {}).passes:
            return name
    return None


def _upwards(judges: Sequence[Judged], values: Sequence[float]) -> Sequence[float]:
    return [-value for value in values] if auc(judges, values) < 0.5 else values


def case(decided: Decided, session: int | None = None) -> Case:
    """Return a decision as a model learns it."""
    weight = min(decided.stands_for, MOST_STANDING_FOR) * max(LEAST_CARE, min(1.0, decided.care))
    return Case(decided.seen, decided.rejected, weight, session)


def cases_of(decided: Sequence[Decided]) -> list[Case]:
    """Return decisions as a model learns them, with what belongs together."""
    return [case(each, session) for each, session in zip(decided, _sessions(decided), strict=True)]


def _cannot_ask(ordered: Sequence[Decided], teaching: Sequence[Decided], judging: Sequence[Decided], least: int) -> str:
    if len(ordered) < least:
        return "few"
    for part in (teaching, judging):
        if not _has_both(part):
            return "few-sessions" if len(set(_sessions(ordered))) < 2 * ENOUGH_SESSIONS else "one-sided"
        if len(set(_sessions(part))) < ENOUGH_SESSIONS:
            return "few-sessions"
    return ""


def _sessions(decided: Sequence[Decided]) -> list[int]:
    return sessions_of([each.belongs for each in decided])


NAMES = {"length": "length", "turns": "the number of turns", "score": "the score", "chance": "chance"}


def in_words(learned: Learned, least: int = ENOUGH) -> str:
    """Say in one English sentence what came of it."""
    gate, told = learned.gate, f"{learned.decisions:,} decisions, {learned.rejected:,} of them rejections"
    if learned.why_not == "few":
        return f"Declined: {told}; {least:,} decisions are the least that is learned from."
    if learned.why_not == "one-sided":
        return (
            f"Declined: {told}; among the older 70 % and among the newest 30 % there must be {ENOUGH_OF_EACH} "
            "rejections and as many others."
        )
    if gate is None or learned.why_not == "few-sessions":
        return f"Declined: {told}; they come from fewer than {ENOUGH_SESSIONS} sessions on either side of the split."
    judged = f"AUC {gate.auc:.3f} [{gate.auc_low:.3f}, {gate.auc_high:.3f}] on the newest n = {gate.decisions:,}"
    if gate.passes:
        found, low, high = gate.caught_at(0.1)
        return (
            f"Learned from {told}. {judged}; the tenth most at risk holds {found:.0%} [{low:.0%}, {high:.0%}] of the "
            "rejections."
        )
    rivals = [
        f"{NAMES[name]} orders as well (AUC {gate.against[name].auc:.3f})" for name in gate.as_good if name != CHANCE
    ]
    if CHANCE in gate.as_good:
        rivals.insert(0, "it is no better than chance")
    return f"Declined: {told}. {judged}, but {', '.join(rivals)}."
