"""A learned order of risk: how likely people are to reject a text, and which of its words and facts say so."""

import json
import math
from array import array
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, pairwise
from operator import itemgetter
from sys import byteorder
from typing import Any, NamedTuple, Self, TypeVar

from ..text.shadow import fold
from ..text.spans import Place
from ..text.words import STOPWORDS
from .around import GIVEN, METADATA, key_of
from .features import BUCKETS, QUESTION, Seen, runs
from .logistic import MOST_ROUNDS, Ascent, Row, chance

# Its version, which says what facts it may know. 1 knew of no effects and counted nothing, 2 knew nothing of metadata
# and of what was around a text, 3 was of words and tool calls together and knew no `risks`, up to 4 signs were words:
# they read as they did.
FORMAT = 5
MOST_REASONS = 5
_LEAST = 0.02  # in the logarithm of odds: a phrase that carries less is no reason
_SHARE = 0.25  # of what the heaviest word of the text carries, what a word must to be in a phrase
_LEAST_COUNT = 3  # cases in which a fact must occur to be learned, and sessions in which a value must
_LEAST_RECURRING = 0.5  # of the values under a key, the share that must: the others are ids
_HASH = 9  # characters with which the name of a value ends: "=" and its hash
_MOST_FACTS = 4_000
_VALUES = (METADATA, GIVEN)
_OF_VALUES = 0.55  # the length of a fact about one: a third of the freedom of another, since many come together
_STEPS = 32_767
_SIZES = {1: 2, 2: 4, 3: 4, 4: 4, 5: 4}  # by format, how much is written of a fact
_RISKS, _WITH_RISKS = 101, 4  # that stand for all, and the format from which on a model has them
_WITHOUT_SIGNS = 5  # the format from which on words are all that is read

# Of what a model may be made: everything ("learned"), or "length", "turns", "agent", a key of metadata ("metadata:KEY")
# alone, where that orders as well. The "score" orders without a model.
Kind = str


class Reason(NamedTuple):
    """A phrase that carried a risk: how much (in the logarithm of odds), and where it stands first in the text."""

    text: str
    weight: float
    start: int
    end: int


class Fact(NamedTuple):
    """What was learned of a fact: its weight and mean among the cases, and how many cases have it."""

    weight: float
    mean: float
    cases: int = 0  # 0: its model is of format 1
    rejected: int = 0


_UNKNOWN = Fact(0.0, 0.0)
ModelT = TypeVar("ModelT", bound="Model")


class Case(NamedTuple):
    """What was decided about one text."""

    seen: Seen
    rejected: bool
    weight: float = 1.0  # how much it counts
    session: int | None = None  # the number of what it belongs to; None: it is alone


@dataclass(frozen=True)
class Model:
    """Weights of words and facts. `risk` is an order: a probability only as far as it was found to be calibrated."""

    kind: Kind
    cases: int
    rejected: int
    intercept: float
    scale: float  # of one step of `words`
    words: Sequence[int]  # a weight for each bucket, in steps
    facts: Mapping[str, Fact]  # by name
    format: int = FORMAT
    risks: Sequence[float] = ()  # of what it was learned from, in ascending order; before format 4 there were none

    @classmethod
    def learn(cls, cases: Sequence[Case], kind: Kind = "learned") -> Self:
        """Learn from decisions, in whatever order they are known to have come.

        The same cases in the same order give the same model to the byte. Takes about 0.3 s of CPU for 1,000 texts of
        500 characters.
        """
        learner = Learner(cases, kind)
        learner.learn(range(len(cases)))
        found = learner.model(cls)
        return found.among([found.risk(case.seen) for case in cases])

    def among(self, risks: Iterable[float]) -> Self:
        """Return the model that knows these risks of like items: what a risk is worth beside another model's."""
        return replace(self, risks=thinned(risks, _RISKS))

    @property
    def reads_signs(self) -> bool:
        """Say how it must be seen what it ranks (`see`)."""
        return self.format < _WITHOUT_SIGNS

    def place(self, risk: float) -> float:
        """Return the share of the risks it knows that are as high or higher, of equals the half: the least first.

        The same share of words and of calls ranks the same, whatever their risks.
        """
        if not self.risks:
            return 1.0 - risk
        low, high = bisect_left(self.risks, risk), bisect_right(self.risks, risk)
        below = (low + high) / 2
        if low == high and 0 < low < len(self.risks):  # between two of them
            before, after = self.risks[low - 1], self.risks[low]
            below += (risk - before) / (after - before) - 0.5
        return 1.0 - below / len(self.risks)

    def stretched(self, shift: float, stretch: float) -> Self:
        """Return the model whose odds are these times `stretch` and `shift` more: the same order."""
        facts = {name: fact._replace(weight=round(fact.weight * stretch, 6) + 0.0) for name, fact in self.facts.items()}
        intercept = round(shift + self.intercept * stretch, 6) + 0.0
        return replace(self, intercept=intercept, scale=self.scale * stretch, facts=facts)

    def risk(self, seen: Seen) -> float:
        """Return where a text stands between 0 and 1: the higher, the likelier people reject it."""
        return round(chance(self._odds(seen)), 4)

    def _odds(self, seen: Seen) -> float:
        found = 0.0
        for group, value in _groups(seen):
            # A word twice: of one alone there would be no sum. Quicker than one by one.
            found += (sum(itemgetter(*group, group[0])(self.words)) - self.words[group[0]]) * value
        odds = self.intercept + found * self.scale
        for name, value in seen.facts.items():
            odds += self.facts.get(name, _UNKNOWN).weight * value
        return odds

    def because(self, seen: Seen, text: str) -> list[Reason]:
        """Return the phrases of `text`, of which `seen` was made, that raise its risk most, the strongest first.

        What a run of words weighs is shared out among them; neighbouring words that raise the risk are one phrase. One
        Chinese character alone is none.
        """
        size = math.sqrt(len(seen.text) or 1)
        carried: dict[Place, float] = {}
        for bucket, places in runs(text, signs=self.reads_signs):
            weight = self.words[bucket] * self.scale / size / len(places)
            for place in places:
                carried[place] = carried.get(place, 0.0) + weight
        most = max(carried.values(), default=0.0)
        phrases: list[Reason] = []
        start, end, weight = 0, -2, 0.0
        for place in [*sorted(carried), (len(text) + 2, len(text) + 2)]:
            raises = carried.get(place, 0.0) > max(0.0, _SHARE * most) and text[place[0]].isalnum()
            if raises and 0 <= place[0] - end <= 1 and not text[end : place[0]].strip(" "):
                end, weight = place[1], weight + carried[place]
                continue
            if weight >= _LEAST and (end - start > 1 or text[start].isascii()) and _tells(text[start:end]):
                phrases.append(Reason(text[start:end], round(weight, 4), start, end))
            start, end, weight = (*place, carried[place]) if raises else (0, -2, 0.0)
        return sorted(phrases, key=lambda reason: (-reason.weight, reason.start))[:MOST_REASONS]

    def because_of(self, seen: Seen, most: int = MOST_REASONS) -> list[tuple[str, float]]:
        """Return the facts that raise the risk most above the mean, the strongest first, with what each carried."""
        carried: dict[str, float] = {}
        for name, value in seen.facts.items():
            weight, mean, *_ = self.facts.get(name, _UNKNOWN)
            said = name.removesuffix("-squared")
            carried[said] = carried.get(said, 0.0) + weight * (value - mean)
        raising = [(name, round(weight, 4)) for name, weight in carried.items() if weight >= _LEAST]
        return sorted(raising, key=lambda each: (-each[1], each[0]))[:most]

    # -- as JSON ---------------------------------------------------------------------------------------------------

    @cached_property
    def id(self) -> str:
        """Name the model after what it is: equal models have equal names."""
        content = json.dumps(self._content(), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return "risk_" + sha256(content.encode()).hexdigest()[:24]

    def as_dict(self) -> dict[str, Any]:
        """Return what `from_dict` takes: about 180 KB as JSON."""
        return {"id": self.id, **self._content()}

    def _content(self) -> dict[str, Any]:
        steps = array("h", self.words)
        if byteorder == "big":
            steps.byteswap()
        content = {
            "format": self.format,
            "kind": self.kind,
            "cases": self.cases,
            "rejected": self.rejected,
            "intercept": self.intercept,
            "scale": self.scale,
            "words": b64encode(steps.tobytes()).decode() if self.kind == "learned" else "",
            "facts": {name: list(fact[: _SIZES[self.format]]) for name, fact in self.facts.items()},
        }
        return content | ({"risks": list(self.risks)} if self.format >= _WITH_RISKS else {})

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Read a model; ValueError says what is wrong with it, which is anything that its id does not stand for."""
        try:
            if document["format"] not in _SIZES:
                raise ValueError(f"its format is {document['format']!r}; this version reads formats 1 to {FORMAT}")
            steps = array("h")
            try:
                steps.frombytes(b64decode(document["words"], validate=True) or bytes(2 * BUCKETS))
            except ValueError:
                raise ValueError("its words cannot be read") from None
            if byteorder == "big":
                steps.byteswap()
            if len(steps) != BUCKETS:
                raise ValueError("its words cannot be read")
            facts = {
                str(name): Fact(float(weight), float(mean), *map(int, counts))
                for name, (weight, mean, *counts) in document["facts"].items()
            }
            intercept, scale = float(document["intercept"]), float(document["scale"])
            if not all(map(math.isfinite, (intercept, scale, *chain(*facts.values())))):
                raise ValueError("a weight is no number")
            counts = int(document["cases"]), int(document["rejected"])
            risks = [float(risk) for risk in document["risks"]] if document["format"] >= _WITH_RISKS else ()
            if any(low > high for low, high in pairwise(risks)) or not all(map(math.isfinite, risks)):
                raise ValueError("its risks are not in order")
            found = cls(document["kind"], *counts, intercept, scale, steps, facts, document["format"], risks)
            if found.as_dict() != document:
                raise ValueError("its content is not what its id stands for")
            return found
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r} is missing") from None
        except (TypeError, AttributeError):
            raise ValueError("it has another shape") from None


class Learner:
    """Learns from some of the cases, then from more of them; what facts there are it knows from all."""

    def __init__(self, cases: Sequence[Case], kind: Kind = "learned") -> None:
        self._cases, self._kind = cases, kind
        self._counted, self._against = Counter[str](), Counter[str]()
        self._sums: dict[str, float] = {}
        for case in cases:
            self._counted.update(case.seen.facts.keys())
            if case.rejected:
                self._against.update(case.seen.facts.keys())
            for name, value in case.seen.facts.items():
                self._sums[name] = self._sums.get(name, 0.0) + value
        passing = _passing(cases, self._counted)
        frequent = sorted(self._counted.keys() - passing, key=lambda name: (-self._counted[name], name))[:_MOST_FACTS]
        names = [name for name in frequent if self._counted[name] >= _LEAST_COUNT and _is_of(name, kind)]
        self._columns = {name: BUCKETS + number for number, name in enumerate(names)}
        self._rows = [
            Row(
                _groups(case.seen) if kind == "learned" else (),
                [
                    (self._columns[name], value * _length(name))
                    for name, value in case.seen.facts.items()
                    if name in self._columns
                ],
                case.rejected,
                case.weight,
            )
            for case in cases
        ]
        self._ascent = Ascent(BUCKETS + len(names))

    @property
    def keys(self) -> list[str]:
        """The keys of metadata of which values come again, and are not all the same."""
        counts = Counter(key_of(name) for name in self._columns)
        return sorted(key for key, count in counts.items() if key and count > 1)

    def learn(self, more: Iterable[int], rounds: int = MOST_ROUNDS) -> None:
        """Learn from more of the cases, by their numbers."""
        self._ascent.learn([self._rows[number] for number in more], rounds)

    def odds(self, number: int) -> float:
        """Return the logarithm of the odds of one case by what was learned so far."""
        return self._ascent.odds(self._rows[number])

    def model(self, of: type[ModelT]) -> ModelT:
        """Return what was learned."""
        weights, cases = self._ascent.weights, self._cases
        scale = max(map(abs, weights[:BUCKETS])) / _STEPS
        return of(
            kind=self._kind,
            cases=len(cases),
            rejected=sum(case.rejected for case in cases),
            intercept=round(self._ascent.intercept, 6) + 0.0,
            scale=scale,
            words=array("h", [round(weight / scale) if scale else 0 for weight in weights[:BUCKETS]]),
            facts={
                # No -0.0, which a database may keep as 0.0: the id would stand for another content.
                name: Fact(
                    round(weights[column] * _length(name), 6) + 0.0,
                    round(self._sums[name] / len(cases), 6) + 0.0,
                    self._counted[name],
                    self._against[name],
                )
                for name, column in sorted(self._columns.items())
            },
        )


def _length(name: str) -> float:
    return _OF_VALUES if name.startswith(_VALUES) else 1.0


def _is_of(name: str, kind: Kind) -> bool:
    """Tell whether a model of a kind knows a fact."""
    if kind.startswith(METADATA):
        return key_of(name) == kind.removeprefix(METADATA)
    return kind in ("learned", name, name.partition(":")[0])


def _passing(cases: Sequence[Case], counted: Mapping[str, int]) -> set[str]:
    """Return the facts about values that say nothing of what comes: those of few sessions, and under keys of ids."""
    sessions: dict[str, set[int]] = {}
    for number, case in enumerate(cases):
        for name in case.seen.facts:
            if name.startswith(_VALUES):
                sessions.setdefault(name, set()).add(-1 - number if case.session is None else case.session)
    rare = {name for name, found in sessions.items() if len(found) < _LEAST_COUNT}
    under, recurring = Counter[str](), Counter[str]()
    for name in sessions:
        under[name[:-_HASH]] += counted[name]
        recurring[name[:-_HASH]] += 0 if name in rare else counted[name]
    ids = {key for key, count in under.items() if recurring[key] < _LEAST_RECURRING * count}
    return {name for name in sessions if name in rare or name[:-_HASH] in ids}


def _tells(phrase: str) -> bool:
    """Tell whether a phrase has a word that is none of grammar."""
    return not all(word in STOPWORDS for word in fold(phrase).split())


def _groups(seen: Seen) -> list[tuple[Sequence[int], float]]:
    """Return the words of a text and its question, each with the value that gives them their length."""
    found = []
    for buckets, length in ((seen.text, 1.0), (seen.question, QUESTION)):
        if buckets:
            found.append((buckets, length / math.sqrt(len(buckets))))
    return found


def thinned(risks: Iterable[float], most: int) -> list[float]:
    """Return up to so many risks, in ascending order, that stand for all."""
    ordered = sorted(risks)
    if len(ordered) <= most:
        return ordered
    return [ordered[at * (len(ordered) - 1) // (most - 1)] for at in range(most)]
