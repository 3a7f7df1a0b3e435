"""Find the phrases that stand in rejected texts much more often than in approved ones, to propose as error patterns.

A phrase is measured by the log-odds ratio of its two shares, with a prior that all texts inform, over its standard
deviation (Monroe, Colaresi and Quinn 2008, "Fightin' Words", Political Analysis 16; theirs counts words, ours texts).
What a phrase was found in does not show what it is worth. So the sessions are dealt to folds, phrases are looked for
without one fold after the other, and what these fire on in the fold that was left out is counted. Where that is hardly
rejected oftener than all is, or than texts of the same agent and metadata are, nothing is proposed. Nor is an everyday
word, nor what most of the users had said first: the topic.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from statistics import NormalDist
from typing import NamedTuple
from zlib import crc32

from ..lexicon import LANGUAGES, together
from ..lexicon.everyday import everyday
from ..lexicon.shapes import CorrectionWords
from ..stats.intervals import wilson
from ..text.shadow import Shadow
from ..text.words import FUNCTION_WITHIN, STOPWORDS

MOST_TEXTS, MOST_READ = 4_000, 600_000  # the newest texts, of so many characters together
MOST_CHARACTERS = 2_000  # of one text
MOST_PHRASES = 20_000  # that are counted; those of most rejected sessions come first
MOST_JUDGED = 300  # kinds of them that are read where they stand, and of each so many phrases
_MOST_COMPARED = 50
MOST_PROPOSED = 20
FOLDS = 10

MIN_SESSIONS = 3  # whose rejected texts hold a phrase that is proposed
PRIOR = 0.2  # of all texts: a phrase is taken to have been seen in as many more of either side, at its share in all
# Everyday words that the list, made of books and subtitles, lacks; it has the other months.
CALENDAR = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "april"))
COMMON = 0.2  # of the approved texts: what stands in more of them marks no mistake
ALIKE = 0.8  # of the rejected texts that hold either of two phrases, those that hold both: then they mean the same
LIFT = 1.3  # times the share that was rejected of all must be rejected of what fires
CHANCE, CHANCE_OF_ONE = 0.2, 0.1  # that it alone brings any phrase as far as those that contrast, and this one
DOUBT = 5  # texts, rejected as often as all, that are added to what fired: three of three prove little
TOPIC = 0.5  # of the rejected texts that hold a phrase, those whose user had said it: then it is what they are about
ENOUGH_REJECTED = 10  # texts that hold a phrase which is told as a reason
_LEAST_ALIKE = 10  # texts to a value of a metadata key, on average: what has fewer tells one text from the other


@dataclass(frozen=True, slots=True)
class DecidedText:
    """A text that somebody decided on. Texts of one session are one witness; one of no session ("") is its own."""

    text: str
    session: str
    rejected: bool
    asked: str = ""  # by the user, before it
    known: Mapping[str, str] = field(default_factory=dict)  # beside the text: its agent, its metadata


class Tried(NamedTuple):
    """Of all `texts`, of which `base` were rejected, how many fired, and how many of these were rejected."""

    fires: int
    rejected: int
    texts: int
    base: int
    matched: float = 0.0  # of what fires, how many are rejected of as many texts of the same agent or metadata

    @property
    def lift(self) -> float:
        """How many times as often as all what fired was rejected; 0 where nothing fired."""
        return self.rejected * self.texts / (self.fires * self.base) if self.fires and self.base else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Give the 95 % interval of the share that was rejected of what fired."""
        return wilson(self.rejected, self.fires)

    @property
    def expected(self) -> float:
        """How many of what fired would be rejected if it were as often as all, or as its like, whichever is more."""
        return max(self.matched, self.fires * self.base / self.texts if self.texts else 0.0)

    @property
    def is_proved(self) -> bool:
        """Tell whether what fired was rejected LIFT times as often as is expected, even with some doubt added."""
        if not (self.fires and self.base):
            return False
        doubt = DOUBT * self.base / self.texts
        return self.rejected + doubt >= LIFT * (self.expected + doubt)

    @property
    def is_clear(self) -> bool:
        """Tell whether the whole interval lies above what is expected."""
        return bool(self.fires) and self.interval[0] > self.expected / self.fires


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to propose, as the newest rejected text that holds it writes it."""

    text: str
    z: float  # standard deviations that it is more frequent in rejected texts
    rejected: tuple[int, ...]  # places, in what was given, of the rejected texts that hold it
    fired: tuple[int, ...]  # places of the texts that it was tried on, where it was not found in them, and stands in
    tried: Tried  # what these are of all texts


@dataclass(frozen=True, slots=True)
class Contrast:
    """What to propose, the surest first; and how what was found without a fold did on it, all folds together."""

    phrases: tuple[Phrase, ...]
    tried: Tried


# -- the phrases of a text ---------------------------------------------------------------------------------------

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WORD = rf"[^\W{_HAN}]+(?:['.:/-]+[^\W{_HAN}]+)*"
HAN_OR_WORD = re.compile(rf"[{_HAN}]+|{_WORD}")
_IS_HAN = re.compile(f"[{_HAN}]")
_WORD_BEFORE, _WORD_AFTER = re.compile(rf"(?:\A|(?<=\s))({_WORD}) \Z"), re.compile(f" ({_WORD})")
_LONGEST_WORD = 40
_MOST_WORDS, _LEAST_SIGNS, _MOST_SIGNS = 4, 2, 8
# By itself a word has five letters, or four with a digit: profile `seed` finds a shorter one within others.
_TELLS = re.compile(rf"[^\W_{_HAN}]{{5}}|\d[^\W_]{{3}}|[^\W_]{{2}}.* .*[^\W\d_]{{2}}")
_WORDS: CorrectionWords = together(language.CORRECTION for language in LANGUAGES)
_NO_END = FUNCTION_WITHIN | _WORDS.opens_badly_within | _WORDS.ends_badly_within
_BOUNDS = _NO_END | _WORDS.beside_within


def phrases_of(folded: str) -> Iterator[str]:
    """Give the phrases of a folded text: 1 to 4 words with a space between, 2 to 8 Chinese characters.

    None begins or ends with a word of grammar.
    """
    words: list[re.Match[str]] = []
    for run in HAN_OR_WORD.finditer(folded):
        if _IS_HAN.match(run[0]):
            words = []
            yield from _within(run[0])
            continue
        if words and folded[words[-1].end() : run.start()] != " ":
            words = []
        words = [*words, run][-_MOST_WORDS:]
        if run[0] not in STOPWORDS:
            for first in words:
                phrase = folded[first.start() : run.end()]
                if first[0] not in STOPWORDS and _TELLS.search(phrase):
                    yield phrase


def _within(run: str) -> Iterator[str]:
    ends = [place for place, sign in enumerate(run, 1) if sign not in _NO_END]
    for start, sign in enumerate(run):
        if sign not in _NO_END:
            for end in ends:
                if _LEAST_SIGNS <= end - start <= _MOST_SIGNS:
                    yield run[start:end]


def is_everyday(phrase: str) -> bool:
    """Tell whether a folded phrase is made of everyday words only, in whatever ending."""
    return all(_is_everyday(word) for word in phrase.split())


@cache
def _everyday_words() -> frozenset[str]:
    return everyday() | CALENDAR


def _is_everyday(word: str) -> bool:
    common = _everyday_words()
    return word in common or any(
        word.endswith(ending) and (word.removesuffix(ending) in common or f"{word.removesuffix(ending)}e" in common)
        for ending in ("s", "es", "d", "ed", "ing", "ly")
    )


def stands(phrase: str, text: str) -> int:
    """Give where a phrase first stands in a folded text as whole words, or -1."""
    start = text.find(phrase)
    while start >= 0 and (_joins(text, start) or _joins(text, start + len(phrase))):
        start = text.find(phrase, start + 1)
    return start


def _joins(text: str, at: int) -> bool:
    """Tell whether a word of letters runs over this place."""
    return 0 < at < len(text) and all(sign.isalnum() and not _IS_HAN.match(sign) for sign in text[at - 1 : at + 1])


def _beside(text: str, start: int, end: int) -> tuple[str, str]:
    """Give what a phrase may be cut from, before and behind it: a word or character that is none of grammar, or ""."""
    if _IS_HAN.match(text[start]):
        signs = text[max(0, start - 1) : start], text[end : end + 1]
        before, after = (sign if _IS_HAN.match(sign) and sign not in _BOUNDS else "" for sign in signs)
        return before, after
    words = _WORD_BEFORE.search(text[max(0, start - _LONGEST_WORD) : start]), _WORD_AFTER.match(text, end)
    before, after = (word[1] if word and word[1] not in STOPWORDS else "" for word in words)
    return before, after


# -- counting ----------------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """Texts of either side, and sessions."""

    rejected: int
    approved: int
    rejected_sessions: int
    approved_sessions: int

    def less(self, other: "Counts") -> "Counts":
        return Counts(*(count - without for count, without in zip(self, other, strict=True)))


def log_odds(counts: Counts, totals: Counts) -> float:
    """Give how many standard deviations a phrase with these counts is more frequent in rejected texts.

    The deviation is that of so many sessions: ten texts of one are one witness.
    """
    seen = PRIOR * (counts.rejected + counts.approved)
    size = PRIOR * (totals.rejected + totals.approved)
    ours, theirs = counts.rejected + seen, counts.approved + seen
    without, theirs_without = totals.rejected + size - ours, totals.approved + size - theirs
    if without <= 0 or theirs_without <= 0:  # it stands in every text
        return 0.0
    ratio = math.log(ours / without) - math.log(theirs / theirs_without)
    return ratio / math.sqrt(1 / (counts.rejected_sessions + seen) + 1 / (counts.approved_sessions + seen))


class _Kind(NamedTuple):
    """Phrases that stand in the very same texts."""

    places: tuple[int, ...]
    phrases: list[str]
    by_fold: list[Counts]


class Texts:
    """Decided texts, the oldest first, and what stands in them. Of many only the newest are read."""

    def __init__(self, decided: Sequence[DecidedText]) -> None:
        read = 0
        self._first = len(decided)  # the place of the first that is read
        while self._first and len(decided) - self._first < MOST_TEXTS and read < MOST_READ:
            self._first -= 1
            read += min(MOST_CHARACTERS, len(decided[self._first].text))
        newest = decided[self._first :]
        self._shadows = [Shadow(each.text[:MOST_CHARACTERS]) for each in newest]
        self._rejected = [each.rejected for each in newest]
        self._sessions = [each.session or f"\0{place}" for place, each in enumerate(newest)]
        rejected = {session for session, each in zip(self._sessions, newest, strict=True) if each.rejected}
        self.folds = max(2, min(FOLDS, len(rejected)))
        fold_of = self._dealt(rejected)
        self._fold = [fold_of[session] for session in self._sessions]
        self._totals = self._count(range(len(newest)))
        self._asked = [each.asked[:MOST_CHARACTERS] for each in newest]
        self._usual = [*_rates([each.known for each in newest], self._rejected)]

    def __len__(self) -> int:
        return len(self._shadows)

    def _dealt(self, rejected: Collection[str]) -> dict[str, int]:
        """Deal the sessions to folds, on either side as many to each, in an order that says nothing of the texts."""
        ordered = sorted(set(self._sessions), key=lambda session: (crc32(session.encode()), session))
        sides = [each for each in ordered if each in rejected], [each for each in ordered if each not in rejected]
        return {session: place % self.folds for side in sides for place, session in enumerate(side)}

    def _count(self, places: Iterable[int]) -> list[Counts]:
        """Count by fold."""
        texts: Counter[tuple[int, bool]] = Counter()
        sessions: set[tuple[int, bool, str]] = set()
        for place in places:
            side = self._fold[place], self._rejected[place]
            texts[side] += 1
            sessions.add((*side, self._sessions[place]))
        said = Counter(side[:2] for side in sessions)
        return [
            Counts(*(counted[fold, side] for counted in (texts, said) for side in (True, False)))
            for fold in range(self.folds)
        ]

    def totals(self, without: int | None = None) -> Counts:
        """Count all texts, or those of all folds but one."""
        return _in_all(self._totals, without)

    @property
    def places(self) -> range:
        """The places, in what was given, of the texts that are read."""
        return range(self._first, self._first + len(self))

    def holding(self, keywords: Iterable[str]) -> set[int]:
        """Give the places of the texts in which a folded keyword stands, be it within a word."""
        wanted = [keyword for keyword in keywords if keyword]
        return {
            place
            for place, shadow in enumerate(self._shadows, self._first)
            if any(keyword in shadow.text for keyword in wanted)
        }

    def cover(self, keywords: Iterable[str], places: Sequence[int]) -> bool:
        """Tell whether a folded keyword stands in nearly all of the texts at these places."""
        wanted = [keyword for keyword in keywords if keyword]
        missing = (place for place in places if not any(each in self._at(place) for each in wanted))
        most = len(places) - math.ceil(ALIKE * len(places) - 1e-9)  # 0.8 times 5 is 4
        return bool(wanted) and sum(1 for _ in islice(missing, most + 1)) <= most

    def _at(self, place: int) -> str:
        return self._shadows[place - self._first].text

    def tried(self, fired: Collection[int], out_of: Collection[int] | None = None) -> Tried:
        """Count what fired, by places, of all texts or of those `out_of` which it could."""
        tried = self.places if out_of is None else out_of
        rejected = {place for place in tried if self._rejected[place - self._first]}
        matched = max((sum(rates[place - self._first] for place in set(fired)) for rates in self._usual), default=0.0)
        return Tried(len(set(fired)), len(rejected.intersection(fired)), len(tried), len(rejected), round(matched, 2))

    # -- what `find` asks

    @cached_property
    def _kinds(self) -> list[_Kind]:
        """Give the phrases that stand in two rejected sessions or more, those in the same texts as one."""
        sessions: dict[str, set[str]] = {}
        might_be = self._in_several()
        for place, shadow in enumerate(self._shadows):
            if self._rejected[place]:
                for phrase in phrases_of(shadow.text):
                    if might_be[_slot(phrase)] == _SEVERAL:
                        sessions.setdefault(phrase, set()).add(self._sessions[place])
        often = sorted((-len(said), phrase) for phrase, said in sessions.items() if len(said) > 1)
        places: dict[str, list[int]] = {phrase: [] for _said, phrase in often[:MOST_PHRASES]}
        for place, shadow in enumerate(self._shadows):
            for phrase in set(phrases_of(shadow.text)) & places.keys():
                places[phrase].append(place)
        kinds: dict[tuple[int, ...], list[str]] = {}
        for phrase, found in places.items():
            kinds.setdefault(tuple(found), []).append(phrase)
        return [_Kind(found, phrases, self._count(found)) for found, phrases in kinds.items()]

    def _in_several(self) -> "array[int]":
        """Note by the hash of each phrase whether several rejected sessions hold it; to keep them all takes memory."""
        numbers = {session: number for number, session in enumerate(dict.fromkeys(self._sessions))}
        seen = array("h", [_NOWHERE]) * _SLOTS
        for place, shadow in enumerate(self._shadows):
            if self._rejected[place]:
                number = numbers[self._sessions[place]]
                for slot in map(_slot, phrases_of(shadow.text)):
                    if seen[slot] != number:
                        seen[slot] = number if seen[slot] == _NOWHERE else _SEVERAL
        return seen

    def contrasting(self, without: int | None = None) -> list[_Kind]:
        """Give what contrasts without a fold, or in all of them, the surest first.

        Without a fold a phrase may lack the session that stands there.
        """
        totals = self.totals(without)
        if not (totals.rejected and totals.approved):
            return []
        least = MIN_SESSIONS if without is None else MIN_SESSIONS - 1
        counted = [(kind, _in_all(kind.by_fold, without)) for kind in self._kinds]
        counted = [(kind, counts) for kind, counts in counted if counts.rejected_sessions >= least]
        sure = NormalDist().inv_cdf(1 - min(CHANCE_OF_ONE, CHANCE / max(1, len(counted))))
        found = [
            (z, kind)
            for kind, counts in counted
            if counts.approved <= COMMON * totals.approved and (z := log_odds(counts, totals)) >= sure
        ]
        found.sort(key=lambda each: (-each[0], each[1].phrases[0]))
        return [kind for _z, kind in found[:MOST_JUDGED]]

    def unlike(self, kinds: Iterable[_Kind], without: int | None = None) -> Iterator[tuple[_Kind, str]]:
        """Give each kind that means something else than those before it, and which of its phrases people can read."""
        meant: list[set[int]] = []
        for kind in kinds:
            own = [place for place in kind.places if self._rejected[place] and self._fold[place] != without]
            if not any(alike(own, other) for other in meant) and (phrase := self._readable(kind, own)):
                meant.append(set(own))
                if not self._is_topic(phrase, own):
                    yield kind, phrase

    def _is_topic(self, phrase: str, places: Sequence[int]) -> bool:
        """Tell whether a phrase is one everyday word, or what the users of texts that hold it had said before."""
        if " " not in phrase and is_everyday(phrase):
            return True
        said = sum(stands(phrase, Shadow(self._asked[place]).text) >= 0 for place in places if self._asked[place])
        return said > TOPIC * len(places)

    def _readable(self, kind: _Kind, places: Sequence[int]) -> str:
        """Return the phrase with the fewest cut ends, of those the longest; "" where all are fragments.

        `places` are texts that hold it. A word by itself says less than a phrase that is cut at one end.
        """
        fewest, phrase = 3.0, ""
        for each in sorted(kind.phrases, key=lambda phrase: (-len(phrase), phrase))[:_MOST_COMPARED]:
            is_han, spaces = _IS_HAN.match(each), each.count(" ")
            cuts = self._cuts(each, places)
            if (
                cuts
                and len(places) >= MIN_SESSIONS
                and not (len(each) == _MOST_SIGNS if is_han else spaces == _MOST_WORDS - 1)
            ):
                continue
            cost = cuts if is_han or spaces else cuts + 1.5
            if cost < fewest:
                fewest, phrase = cost, each
        return phrase

    def _cuts(self, phrase: str, places: Iterable[int]) -> int:
        """Count the ends of a phrase, 0 to 2, at which most texts go on alike, so that a longer one may be meant."""
        sides: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        count = 0
        for count, place in enumerate(places, 1):  # noqa: B007 - how many there are
            text = self._shadows[place].text
            start = stands(phrase, text)
            for side, beside in zip(sides, _beside(text, start, start + len(phrase)), strict=True):
                side[beside] += beside != ""
        return sum(2 * max(side.values(), default=0) > count for side in sides)

    def fired(self, kind: _Kind, fold: int) -> list[int]:
        """Give the places, in what was given, of the texts of a fold that hold it."""
        return [self._first + place for place in kind.places if self._fold[place] == fold]

    def phrase(self, kind: _Kind, phrase: str, fired: Sequence[int]) -> Phrase:
        places = [place for place in kind.places if self._rejected[place]]
        newest = self._shadows[places[-1]]
        start = stands(phrase, newest.text)
        z = log_odds(_in_all(kind.by_fold, None), self.totals())
        written = newest.as_sent[start : start + len(phrase)]
        rejected = tuple(self._first + place for place in places)
        return Phrase(written, z, rejected, tuple(fired), self.tried(fired))


_SLOTS = 1 << 20
_NOWHERE, _SEVERAL = -1, -2


def _slot(phrase: str) -> int:
    return crc32(phrase.encode("utf-8", "surrogatepass")) % _SLOTS


def _in_all(by_fold: Sequence[Counts], without: int | None) -> Counts:
    counts = Counts(*map(sum, zip(*by_fold, strict=True)))
    return counts if without is None else counts.less(by_fold[without])


def _rates(known: Sequence[Mapping[str, str]], rejected: Sequence[bool]) -> Iterator[list[float]]:
    """Give by what is known of texts how often the likes of each were rejected, for each key that groups them.

    A key whose values are nearly as many as the texts, such as an id, groups nothing.
    """
    base = sum(rejected) / len(rejected) if rejected else 0.0
    for key in sorted({key for each in known for key in each}):
        values = [each.get(key) for each in known]
        sizes = Counter(values)
        if len(sizes) > 1 and len(values) >= _LEAST_ALIKE * len(sizes):
            wrong = Counter(value for value, each in zip(values, rejected, strict=True) if each)
            yield [base if value is None else wrong[value] / sizes[value] for value in values]


def alike(some: Collection[int], others: Collection[int]) -> bool:
    """Tell whether two sets of texts are nearly the same: Jaccard's index."""
    both = len(set(some) & set(others))
    return both >= ALIKE * (len(some) + len(others) - both)


def find(texts: Texts) -> Contrast:
    """Find the phrases to propose. The same texts in the same order give the same phrases, on every machine."""
    fired: set[int] = set()
    own: dict[tuple[int, ...], list[int]] = {}
    for fold in range(texts.folds):
        kinds = texts.contrasting(fold)
        for kind in kinds:
            own.setdefault(kind.places, []).extend(texts.fired(kind, fold))
        for kind, _phrase in islice(texts.unlike(kinds, fold), MOST_PROPOSED):
            fired.update(texts.fired(kind, fold))
    tried = texts.tried(fired)
    phrases: list[Phrase] = []
    if tried.is_proved:
        for kind, phrase in texts.unlike(texts.contrasting()):
            found = texts.phrase(kind, phrase, own.get(kind.places, ()))
            if found.tried.is_proved and (found.tried.is_clear or not is_everyday(phrase)):
                phrases.append(found)
            elif not phrases:  # where not even the surest holds, those after it hold by chance
                break
    return Contrast(tuple(phrases[:MOST_PROPOSED]), tried)


def holding(texts: Texts) -> Iterator[Phrase]:
    """Give the phrases that hold by themselves, the surest first: reasons to tell of a text that has one.

    Each has `ENOUGH_REJECTED` rejections in texts that hold none before it, and of these more are rejected, with the
    whole 95 % interval, than of all texts and of their like.
    """
    told: set[int] = set()
    for kind, phrase in texts.unlike(texts.contrasting()):
        own = [place for place in kind.places if place not in told]
        found = texts.phrase(kind, phrase, [texts.places[place] for place in own])
        if found.tried.rejected >= ENOUGH_REJECTED and found.tried.is_clear:
            told.update(own)
            yield found
