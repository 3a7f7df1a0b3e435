"""Look back on what an agent did (seed 004, "Reflection Engine"): what it was asked, where it was corrected, what it
did not know, whether its quality changes; and propose lessons. Proposals only: a person confirms each.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from ..contradiction.corrections import find_correction
from ..lexicon import LANGUAGES, together
from ..lexicon.shapes import ReflectionWords
from ..stats.intervals import difference
from ..text import words
from . import subjects

_WORDS: ReflectionWords = together(language.REFLECTION for language in LANGUAGES)
# From how many times on something is told: once or twice is chance.
FREQUENT, REPEATED, GAP, REASONS, IMPASSES = 3, 2, 3, 3, 3
UNLIKE = 3  # corrections of one subject that share nothing else
LOW_RETRIEVAL = 0.4  # a best score below it finds little, as confidence's own medium begins there
ENOUGH = 10  # judged responses in each half, to tell a trend
MOST_TOPICS = 10
MOST_ASKED = 3
MAX_QUOTE = 160
MAX_NAME = 100
MAX_REASON = 120
MAX_MESSAGE = 4_000  # code points of a message that are read
# What opens like this is a tool's output or data, and no person's words.
_MACHINE_MADE = ("<", "{", "[")
_ALIKE = 2  # terms that make two corrections of no named topic one


@dataclass(frozen=True, slots=True)
class Turn:
    """One response, as it was stored."""

    id: str
    day: str = ""  # ISO
    message: str = ""  # what the user said
    response: str = ""
    session: str = ""
    topics: tuple[str, ...] = ()
    passed: bool | None = None  # its quality; None where it was not judged
    confidence: Literal["high", "medium", "low"] | None = None
    retrieval: Mapping[str, Any] | None = None  # as it was posted; without it, confidence says only that a topic is new
    unanswered: bool = False
    impasse: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """One held item of these responses."""

    response: str
    outcome: Literal["approved", "edited", "rejected", "withdrawn", "expired", "pending"]
    signals: tuple[str, ...] = ()
    reason: str = ""  # why a person turned it down
    told: str = ""  # of that their own words, without the preset reason that they picked


@dataclass(frozen=True, slots=True)
class Circle:
    """A problem that looked stuck, and how that ended so far."""

    key: str
    points: int
    ended: Literal["solved", "helped", "did-not-help", "open"]


class Topic(NamedTuple):
    """Something the agent was asked about again and again."""

    name: str
    responses: tuple[str, ...]


class Corrected(NamedTuple):
    """What people corrected more than once."""

    subject: str  # "" where no topic is named
    asked: tuple[str, ...]  # what the corrections ask for and the agent had not said; empty where nothing recurs
    quote: str  # the last correction, its sentence
    responses: tuple[str, ...]


class Gap(NamedTuple):
    """A topic the agent knows little about; how many of the responses for each reason."""

    subject: str
    low_confidence: int
    low_retrieval: int
    unanswered: int
    responses: tuple[str, ...]


class Reason(NamedTuple):
    """Why people turned items down, in their words."""

    text: str
    responses: tuple[str, ...]  # one for each item


class Half(NamedTuple):
    """Of the judged responses of one half, those whose quality passed."""

    passed: int
    judged: int


class Trend(NamedTuple):
    """The older half of the judged responses against the newer; the interval is of the difference of shares."""

    older: Half
    newer: Half
    low: float  # -1..1, 95 %
    high: float
    says: Literal["too-few", "better", "worse", "no-different"]
    days: tuple[tuple[str, int, int], ...]  # (day, passed, judged)


class Proposal(NamedTuple):
    """A lesson to propose, in the agent's language; `about` makes two of one kind the same."""

    kind: Literal["correction", "gap", "rejected", "impasse"]
    about: str
    form: str  # in which NUL, which no text holds, stands for the number of responses
    topics: tuple[str, ...]
    responses: tuple[str, ...]

    def text(self, count: int) -> str:
        return self.form.replace("\0", str(count))


@dataclass(frozen=True, slots=True)
class Reflection:
    """What there was to see in a period."""

    responses: int
    messages: int  # of them with a person's words
    topics: tuple[Topic, ...]
    corrections: int  # messages that correct, repeated or not
    repeated: tuple[Corrected, ...]
    gaps: tuple[Gap, ...]
    trend: Trend
    held: Mapping[str, int]  # by outcome
    held_for: Mapping[str, int]  # by signal
    reasons: tuple[Reason, ...]
    impasses: tuple[str, ...]
    circles: tuple[Circle, ...]
    proposals: tuple[Proposal, ...]

    @property
    def says_something(self) -> bool:
        return bool(self.proposals or self.impasses or self.circles or self.trend.says in ("better", "worse"))

    def as_dict(self) -> dict[str, Any]:
        """Give it as JSON values, without the proposals, which are kept as lessons."""
        found = asdict(self)
        del found["proposals"]
        for name in ("topics", "repeated", "gaps", "reasons"):
            found[name] = [each._asdict() for each in getattr(self, name)]
        found["trend"] = {
            **self.trend._asdict(), "older": self.trend.older._asdict(), "newer": self.trend.newer._asdict()
        }  # fmt: skip
        return found


def reflect(
    turns: Sequence[Turn], held: Iterable[Held] = (), circles: Iterable[Circle] = (), *, language: str = "en"
) -> Reflection:
    """Look back on responses, oldest first, on what was held of them and on the problems that looked stuck.

    `language` is the agent's: "en", "zh-Hant" or "zh-Hans". The same values give the same reflection.
    """
    of = _Subjects(turns)
    held, circles = tuple(held), tuple(circles)
    corrected = _corrections(turns, of)
    repeated = _repeated(corrected)
    gaps = _gaps(turns, of)
    reasons = _reasons(held)
    return Reflection(
        responses=len(turns),
        messages=sum(bool(_persons_words(turn)) for turn in turns),
        topics=of.frequent(),
        corrections=len(corrected),
        repeated=repeated,
        gaps=gaps,
        trend=_trend(turns),
        held=dict(Counter(each.outcome for each in held)),
        held_for=dict(Counter(signal for each in held for signal in each.signals)),
        reasons=reasons,
        impasses=tuple(turn.id for turn in turns if turn.impasse),
        circles=circles,
        proposals=tuple(
            _proposals(repeated, gaps, _reasons_told(held), of.groups(turns, lambda turn: turn.impasse), language)
        ),
    )


def _persons_words(turn: Turn) -> str:
    message = turn.message[:MAX_MESSAGE].strip()
    return "" if message.startswith(_MACHINE_MADE) else message


# -- topics ------------------------------------------------------------------------------------------------------


class _Subjects:
    """What each response is about: the topics the agent named, else the phrases that several messages share."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._names: dict[str, str] = {}  # as first written, by what makes two the same
        self._responses: dict[str, list[str]] = {}
        self._of: dict[str, list[str]] = {turn.id: [] for turn in turns}
        for turn in turns:
            for topic in turn.topics:
                self._add(topic, turn.id)
        unnamed = [turn for turn in turns if not turn.topics]
        for phrase in subjects.shared([_persons_words(turn) for turn in unnamed], FREQUENT):
            for number in phrase.texts:
                self._add(phrase.text, unnamed[number].id)

    def _add(self, name: str, response: str) -> None:
        name = " ".join(name.split())[:MAX_NAME]
        key = subjects.key_of(name)
        if name and key not in self._of[response]:
            self._names.setdefault(key, name)
            self._responses.setdefault(key, []).append(response)
            self._of[response].append(key)

    def of(self, turn: Turn) -> list[str]:
        return self._of[turn.id]

    def name(self, key: str) -> str:
        return self._names.get(key, "")

    def frequent(self) -> tuple[Topic, ...]:
        found = [(key, ids) for key, ids in self._responses.items() if len(ids) >= FREQUENT]
        found.sort(key=lambda each: (-len(each[1]), each[0]))
        return tuple(Topic(self._names[key], tuple(ids)) for key, ids in found[:MOST_TOPICS])

    def groups(self, turns: Iterable[Turn], counts: Callable[[Turn], bool]) -> list[tuple[str, list[Turn]]]:
        """Give the responses that count by what they are about, the most first."""
        found: dict[str, list[Turn]] = {}
        for turn in turns:
            if counts(turn):
                for key in self.of(turn):
                    found.setdefault(key, []).append(turn)
        return [(self._names[key], each) for key, each in sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))]


# -- corrections -------------------------------------------------------------------------------------------------


class _Correction(NamedTuple):
    response: str
    subject: str
    terms: frozenset[str]
    rest: str  # the message without the signs of a correction
    quote: str
    previous: str  # what was corrected


def _corrections(turns: Iterable[Turn], of: _Subjects) -> list[_Correction]:
    before: dict[str, Turn] = {}  # the last of each session
    found = []
    for turn in turns:
        previous = before.get(turn.session)
        message = _persons_words(turn)
        correction = message and find_correction(
            message, previous=previous.response if previous else "", reply=turn.response
        )
        if correction:
            signs = [cue for cue in correction.cues if cue.where == "message"]
            rest = list(message)
            for cue in signs:
                rest[cue.start : cue.end] = " " * (cue.end - cue.start)
            said = "".join(rest)
            keys = (of.of(previous) if previous else []) or of.of(turn)
            found.append(
                _Correction(
                    turn.id,
                    of.name(keys[0]) if keys else "",
                    frozenset(subjects.phrases(said)),
                    said,
                    _sentence(message, signs[0].start if signs else 0),
                    previous.response if previous else "",
                )
            )
        before[turn.session] = turn
    return found


def _sentence(text: str, at: int) -> str:
    """Give the sentence around a place, in one line, and short."""
    for start, end in words.sentences(words.fold_signs(text)):
        if start <= at < end:
            text = text[start:end]
            break
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTE else line[: MAX_QUOTE - 1] + "…"


def _repeated(corrections: Sequence[_Correction]) -> tuple[Corrected, ...]:
    groups: list[list[_Correction]] = []
    for each in corrections:
        for group in groups:
            first = group[0]
            if each.subject == first.subject and (each.subject or len(each.terms & first.terms) >= _ALIKE):
                group.append(each)
                break
        else:
            groups.append([each])
    found = [
        Corrected(group[0].subject, _asked(group), group[-1].quote, tuple(each.response for each in group))
        for group in groups
        if len(group) >= REPEATED
    ]
    told = [each for each in found if each.asked or not each.subject or len(each.responses) >= UNLIKE]
    return tuple(sorted(told, key=lambda each: -len(each.responses)))


def _asked(group: Sequence[_Correction]) -> tuple[str, ...]:
    """Give the phrases that the corrections share and that nothing they correct had: what was missing."""
    had = {key for each in group for key in subjects.phrases(each.previous)} | {subjects.key_of(group[0].subject)}
    found = (phrase.text for phrase in subjects.shared([each.rest for each in group], REPEATED))
    keys = {text: subjects.phrases(text) for text in found}
    missing = (text for text, own in keys.items() if own and not any(key in had or key.strip() in had for key in own))
    return tuple(islice(missing, MOST_ASKED))


# -- gaps, trend, reasons ----------------------------------------------------------------------------------------


def _is_low(turn: Turn) -> bool:
    return turn.retrieval is not None and turn.confidence == "low"


def _found_little(turn: Turn) -> bool:
    sent = turn.retrieval or {}
    scores, facts = sent.get("scores"), sent.get("facts")
    if scores is not None:
        return max(scores, default=0.0) < LOW_RETRIEVAL
    return facts == 0


def _gaps(turns: Sequence[Turn], of: _Subjects) -> tuple[Gap, ...]:
    found = of.groups(turns, lambda turn: _is_low(turn) or _found_little(turn) or turn.unanswered)
    return tuple(
        Gap(
            name,
            sum(map(_is_low, each)),
            sum(map(_found_little, each)),
            sum(turn.unanswered for turn in each),
            tuple(turn.id for turn in each),
        )
        for name, each in found
        if len(each) >= GAP
    )


def _trend(turns: Iterable[Turn]) -> Trend:
    judged = [turn for turn in turns if turn.passed is not None]
    middle = len(judged) // 2
    older, newer = (
        Half(sum(turn.passed is True for turn in half), len(half)) for half in (judged[:middle], judged[middle:])
    )
    low, high = difference(older.passed, older.judged, newer.passed, newer.judged)
    says: Literal["too-few", "better", "worse", "no-different"] = "no-different"
    if older.judged < ENOUGH:
        says = "too-few"
    elif low > 0:
        says = "better"
    elif high < 0:
        says = "worse"
    days: dict[str, list[int]] = {}
    for turn in judged:
        day = days.setdefault(turn.day, [0, 0])
        day[0] += turn.passed is True
        day[1] += 1
    told = tuple((day, passed, count) for day, (passed, count) in sorted(days.items()))
    return Trend(older, newer, round(low, 4), round(high, 4), says, told)


# A preset reason stands before what a person adds to it: "No evidence: …", 沒有根據：…
_PRESET = re.compile(r"^([^:：\n]{2,24})(?:：|:\s)")
_STOPS = ".。!！"


def _named(reason: str) -> str:
    """Return the preset reason, or all of one that is none."""
    text = " ".join(reason.split())
    preset = _PRESET.match(text)
    return (preset[1] if preset else text).strip().rstrip(_STOPS)[:MAX_REASON]


def _reasons(held: Iterable[Held]) -> tuple[Reason, ...]:
    names: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for each in held:
        text = _named(each.reason)
        if each.outcome != "rejected" or not text:
            continue
        key = words.fold_signs(text)
        names.setdefault(key, text)
        found.setdefault(key, []).append(each.response)
    ordered = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(Reason(names[key], tuple(ids)) for key, ids in ordered)


def _reasons_told(held: Iterable[Held]) -> Iterator[tuple[Reason, str]]:
    """Give the reasons of which people said more than a preset one, and each with the first few things they said.

    A preset reason alone names nothing that an agent could keep from.
    """
    told = [each for each in held if each.told.strip()]
    said: dict[str, dict[str, str]] = {}
    for each in told:
        text = " ".join(each.told.split()).rstrip(_STOPS)
        said.setdefault(words.fold_signs(_named(each.reason)), {}).setdefault(words.fold_signs(text), text)
    for reason in _reasons(told):
        key = words.fold_signs(reason.text)
        own = [text for folded, text in said[key].items() if folded != key][:1]
        # What a person typed may begin with what their reason is called after.
        is_named = own and words.fold_signs(own[0]).startswith(key)
        yield reason, (own[0] if is_named else ": ".join(filter(None, (reason.text, *own))))[:MAX_REASON]


# -- what could be learnt ----------------------------------------------------------------------------------------


def _proposals(
    repeated: Iterable[Corrected],
    gaps: Iterable[Gap],
    reasons: Iterable[tuple[Reason, str]],
    impasses: Iterable[tuple[str, Sequence[Turn]]],
    language: str,
) -> Iterable[Proposal]:
    say = {name: form.replace("{count}", "\0") for name, form in _WORDS.lessons[language].items()}
    for corrected in repeated:
        subject, asked = corrected.subject, say["and"].join(corrected.asked)
        if subject and asked:
            name = "mention"
        else:
            name = "corrected" if subject else "corrected-on" if asked else "corrected-alike"
        yield Proposal(
            "correction",
            "\0".join(map(subjects.key_of, (subject, *sorted(corrected.asked)))) or subjects.key_of(corrected.quote),
            say[name].format(subject=subject, asked=asked, quote=corrected.quote),
            (subject,) if subject else corrected.asked,
            corrected.responses,
        )
    known = set()
    for gap in gaps:
        known.add(gap.subject)
        counts = {
            "low-confidence": gap.low_confidence,
            "low-retrieval": gap.low_retrieval,
            "unanswered": gap.unanswered,
        }
        why = say["or"].join(say[name] for name, count in counts.items() if count)  # not each had all of them
        form = say["gap"].format(subject=gap.subject, why=why)
        yield Proposal("gap", subjects.key_of(gap.subject), form, (gap.subject,), gap.responses)
    for reason, told in reasons:
        ids = tuple(dict.fromkeys(reason.responses))  # of two items of one response it is the same reason once
        if len(ids) >= REASONS:
            form = say["rejected"].format(reason=told)
            yield Proposal("rejected", subjects.key_of(reason.text), form, (), ids)
    for subject, turns in impasses:
        if len(turns) >= IMPASSES and subject not in known:  # a gap tells more of the same
            ids = tuple(turn.id for turn in turns)
            yield Proposal("impasse", subjects.key_of(subject), say["impasse"].format(subject=subject), (subject,), ids)
