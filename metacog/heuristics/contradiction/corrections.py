"""Notice that a person corrects the agent, what they correct, and what would recognise it again (seed 000)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ..lexicon import LANGUAGES, lazy, seed, together
from ..lexicon.shapes import CorrectionWords
from ..text.shadow import fold
from ..text.speech import own_words, persons_words
from ..text.words import statements, terms, tokens

SURE = 0.5  # from this confidence a message is a correction
CONCESSION = "concession"  # the cue that is no word of the message: the agent gives in
MAX_READ = 16_384  # code points of a message, and of what was said before
MAX_REPLY = 400  # code points: who admits a mistake does so first
MAX_SENTENCES = 200


class Cue(NamedTuple):
    """A sign of a correction; code points of the message, or of the agent's `reply`."""

    type: str  # seed-phrase, denial, fault, reminder, reproach, restatement, concession
    strength: float
    start: int
    end: int
    text: str
    where: Literal["message", "reply"] = "message"


class Concern(NamedTuple):
    """The part of the agent's previous text that a correction is about; `quoted` where the message repeats it."""

    start: int
    end: int
    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Correction:
    """A message that says that something said was wrong. A proposal: a person confirms it."""

    confidence: float  # 0..1, as calibrated in docs/corrections.md
    cues: tuple[Cue, ...]
    concern: Concern | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "confidence": self.confidence,
            "cues": [cue._asdict() for cue in self.cues],
            "concern": self.concern._asdict() if self.concern else None,
        }


def find_correction(
    message: str, *, previous: str = "", reply: str = "", mode: Literal["seed", "wide"] = "wide"
) -> Correction | None:
    """Tell whether a person's message corrects what the agent said before it; None: no sign, or too weak a one.

    `previous` is the agent's text that the message answers, `reply` the agent's next one, in which a concession is a
    sign of its own. Mode "seed" knows the seed's three phrases only, anywhere. What is quoted, code or a tool's output
    speaks for nobody, and to nobody an agent concedes nothing. The confidence of several cues of different types is
    1 - (1 - a)(1 - b)….
    """
    found = weigh(message, previous=previous, reply=reply, mode=mode)
    if found.confidence < SURE:
        return None
    return replace(found, concern=find_concern(message[:MAX_READ], previous))


def weigh(message: str, *, previous: str = "", reply: str = "", mode: Literal["seed", "wide"] = "wide") -> Correction:
    """Return the cues in a message, as for `find_correction`, however weak they are; what it concerns is left open."""
    message = message[:MAX_READ]
    if mode == "seed":
        cues = list(_seed_cues(message))
    else:
        said = persons_words(message)
        cues = [*_cues(message, said, previous), *_concessions(reply[:MAX_REPLY])] if said.strip() else []
    doubt = 1.0
    for kind in dict.fromkeys(cue.type for cue in cues):  # in order: a product of floats depends on it
        doubt *= 1 - max(cue.strength for cue in cues if cue.type == kind)
    return Correction(round(1 - doubt, 2), tuple(cues), None)


def _seed_cues(message: str) -> Iterator[Cue]:
    for phrase in seed.CORRECTION:
        start = message.find(phrase)
        if start >= 0:
            yield Cue("seed-phrase", 1.0, start, start + len(phrase), phrase)


_WORDS: CorrectionWords = together(language.CORRECTION for language in LANGUAGES)
# What opens a sentence, an interjection at most before it.
_OPENS = rf"^(?:{_WORDS.openings})?"


def _compiled(expression: str) -> re.Pattern[str]:
    return lazy.compile(expression.replace("~", _OPENS))


_CUES = tuple((kind, strength, _compiled(expression)) for kind, strength, expression in _WORDS.cues)
_DENIES, _PUTS_RIGHT = tuple(map(_compiled, _WORDS.denies)), _compiled(_WORDS.puts_right)
_DENIALS = together(language.CONTRADICTION for language in LANGUAGES)
_NEGATED = lazy.compile(f"{_DENIALS.negated}|{_DENIALS.negated_within}")
_NOT_MEANT = lazy.compile(_WORDS.not_meant)
_NO = lazy.compile(_WORDS.no)
_WHICH = lazy.compile(_WORDS.which)
_ASKS_TO_CHOOSE = lazy.compile(_WORDS.asks_to_choose)
_MAY_ANSWER = 400  # code points at the end of what the agent said, in which it may ask
# The surest first, whatever its language: one a sentence counts.
_CONCESSIONS = tuple(
    (strength, _compiled(expression))
    for strength, expression in sorted(_WORDS.concessions, key=lambda concession: -concession[0])
)
_APOLOGY = lazy.compile(_WORDS.apology)
_CONCESSION_NOT_MEANT = lazy.compile(_WORDS.concession_not_meant)


def _sentences(folded: str) -> Iterator[tuple[int, str]]:
    """Give each sentence and where it starts, the first 200."""
    return ((start, folded[start:end]) for start, end in statements(folded, MAX_SENTENCES))


def _cues(message: str, said: str, previous: str) -> Iterator[Cue]:
    """Find what says that something was wrong, in the words of a message that are `said` by a person.

    "No" to what the agent asked is an answer, so is whatever is chosen; a question says nothing.
    """
    is_answer = any(sign in previous[-_MAY_ANSWER:] for sign in "?？")
    chooses = _asks_to_choose(previous[-_MAY_ANSWER:])
    for start, sentence in _sentences(fold(said)):
        if len(sentence) > 400 or _NOT_MEANT.search(sentence):
            continue
        for kind, strength, expression in _CUES:
            match = expression.search(sentence)
            if not match or match.end() == match.start():
                continue
            if kind == "restatement" and (chooses or sentence.endswith("?")):
                continue
            if not (is_answer and _NO.match(match[0])):
                first, last = start + match.start(), start + match.end()
                yield Cue(kind, strength, first, last, message[first:last])
        if not is_answer and not sentence.endswith("?") and (found := _opposes(sentence, fold(previous[:MAX_READ]))):
            first, last = start + found[0], start + found[1]
            yield Cue("restatement", 0.6, first, last, message[first:last])


# Of what kind a value is: a file, a number with what it counts, a day, a month.
_VALUES = (
    lazy.compile(r"(?<![\w.])[\w/-]*[a-z_][\w/-]*\.[a-z][a-z0-9]{0,4}(?!\w|\.\w)"),
    lazy.compile(r"(?<![a-z0-9_.:])[0-9]+(?:[.,:][0-9]+)*(?: ?(?:%|[ap]m\b|[\u3400-\u9fff]))?(?![a-z0-9_]|[.:]\w)"),
    lazy.compile(_WORDS.weekday),
    lazy.compile(_WORDS.month),
)
_MAX_BESIDE = 2  # words before another value and behind it, in a sentence that says no more


def _opposes(sentence: str, previous: str) -> tuple[int, int] | None:
    """Find where a sentence denies what stands in the agent's text, or gives another value of a kind that it has one.

    "Thursday, not Tuesday", "there is no Python 4", "actually 14", 其實在 helpers.py.
    """
    for expression in _DENIES:
        if (match := expression.match(sentence)) and _is_claimed(match["denied"].strip(), previous):
            return match.span()
    lead = _PUTS_RIGHT.match(sentence)
    if lead:
        for kind in _VALUES:
            ours, theirs = list(kind.finditer(sentence, lead.end())), set(kind.findall(previous))
            if len(ours) == len(theirs) == 1 and ours[0][0] not in theirs and _counts_alike(ours[0][0], *theirs):
                beside = sentence[lead.end() : ours[0].start()], sentence[ours[0].end() :]
                if all(len(tokens(each)) <= _MAX_BESIDE for each in beside):
                    return 0, len(sentence)
    return None


def _is_claimed(phrase: str, previous: str) -> bool:
    """Tell whether a phrase stands in a sentence that denies nothing."""
    return any(phrase in claimed and not _NEGATED.search(claimed) for _, claimed in _sentences(previous))


def _counts_alike(ours: str, theirs: str) -> bool:
    """Tell whether a number counts what another does, or does not say what; any other value is none."""
    return ours[-1].isdigit() or ours[-1] == theirs[-1] or not ours[0].isdigit()


def _asks_to_choose(previous: str) -> bool:
    """Tell whether a text ends in "which size?", or asks to choose; what follows "anything else?" may be anything."""
    last = fold(own_words(previous)).rstrip().rpartition("\n")[2]
    if last.endswith("?") and _WHICH.search(last):
        return True
    return bool(_ASKS_TO_CHOOSE.search(last))


def _concessions(reply: str) -> Iterator[Cue]:
    for start, sentence in _sentences(fold(own_words(reply))):
        if _CONCESSION_NOT_MEANT.search(sentence):
            continue
        for strength, expression in _CONCESSIONS:
            if match := expression.search(sentence):
                first, last = start + match.start(), start + match.end()
                yield Cue(CONCESSION, strength, first, last, reply[first:last], "reply")
                break


# -- what it is about --------------------------------------------------------------------------------------------

_QUOTATION = lazy.compile(
    r"^[ \t]*[>＞][ \t]*(.+)$|\"([^\"\n]{2,})\"|“([^“”\n]{2,})”|「([^「」\n]{2,})」|『([^『』\n]{2,})』|`([^`\n]{2,})`",
    re.MULTILINE,
)


def find_concern(message: str, previous: str) -> Concern | None:
    """Find the sentence of the previous text that a correction concerns.

    That is what the message quotes of it; else the sentence with which the message shares most that is rare in the
    text; where nothing is shared, the only sentence there is, or that has a day or a number as the message has. Else
    None.
    """
    previous = previous[:MAX_READ]
    folded = fold(previous)
    for groups in _QUOTATION.findall(message):
        quoted = fold("".join(groups)).strip()
        start = folded.find(quoted)
        if quoted and start >= 0:
            return Concern(start, start + len(quoted), previous[start : start + len(quoted)], True)
    wanted = set(terms(tokens(fold(message))))
    sentences = [(start, sentence, set(terms(tokens(sentence)))) for start, sentence in _sentences(folded)]
    frequency = {term: sum(term in held for _, _, held in sentences) for term in wanted}
    best, concern = 0.0, None
    for start, sentence, held in sentences:
        weight = sum(1 / frequency[term] for term in wanted & held)
        if weight > best:
            best = weight
            concern = Concern(start, start + len(sentence), previous[start : start + len(sentence)], False)
    return concern or _only_candidate(fold(message), previous, sentences)


# What one of a kind is put right by another of it: Tuesday by Thursday, 120 by 132.
_KINDS = tuple(map(lazy.compile, (_WORDS.weekday, _WORDS.month, f"[0-9]|{_WORDS.number}")))


def _only_candidate(message: str, previous: str, sentences: Sequence[tuple[int, str, Any]]) -> Concern | None:
    """Give the only sentence there is, or the only one with a day or a number where the message has one, too."""
    held = [(start, sentence) for start, sentence, _ in sentences]
    for kind in _KINDS:
        if len(held) > 1 and kind.search(message):
            held = [(start, sentence) for start, sentence in held if kind.search(sentence)] or held
    if len(held) != 1:
        return None
    start, sentence = held[0]
    return Concern(start, start + len(sentence), previous[start : start + len(sentence)], False)


# -- what would recognise it again -------------------------------------------------------------------------------


class Frequencies(NamedTuple):
    """In how many of an agent's texts each term occurs; terms as `terms_of` gives them."""

    texts: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Keywords:
    """A proposal for an error pattern: one phrase, or two or three keywords that stand together."""

    keywords: tuple[str, ...]
    is_phrase: bool
    hits: int  # of `texts`, the agent's own history: how many it would have matched
    texts: int

    @property
    def is_common(self) -> bool:
        """Whether it would fire on more than 5 % of history: warn before it goes live."""
        return self.hits > RARE * self.texts

    def as_dict(self) -> dict[str, Any]:
        return {
            "keywords": list(self.keywords),
            "is_phrase": self.is_phrase,
            "hits": self.hits,
            "texts": self.texts,
            "is_common": self.is_common,
        }


RARE = 0.05
TOO_COMMON = 0.2  # share of a history from which keywords that stand together recognise no mistake, but the agent
ENOUGH = 30  # texts: in fewer a share says little, and whatever is found is proposed
MAX_HISTORY = 500
MAX_PHRASES = 100
_LATIN_RUN = lazy.compile(r"[a-z0-9_]+(?:['./:-]+[a-z0-9_]+)*")
_CHINESE_RUN = lazy.compile(r"[\u3400-\u9fff]{4,}")


def terms_of(text: str) -> frozenset[str]:
    """Give the terms to count in `Frequencies`: words of two letters at least, and Chinese bigrams."""
    return frozenset(term.strip().replace(" ", "") for term in terms(tokens(fold(text[:MAX_READ]))))


def propose_keywords(said: str, message: str, history: Sequence[str] | Frequencies) -> Keywords | None:
    """Choose what would recognise a mistake again: from what was said wrongly, rare in the agent's own history.

    `said` is the sentence a correction concerns; what the message speaks of too is preferred. A phrase of two to four
    words, or four to eight Chinese characters, that is in 5 % of `history` at most (its latest 500 texts); else the
    three rarest terms of the sentence together, where these stand in less than 20 % of `history`, or it has fewer than
    30 texts. With `Frequencies` instead of texts a phrase counts as often as its
    rarest term. None where the sentence holds nothing to recognise it by.
    """
    folded = _without_apologies(fold(said[:MAX_READ]))
    past = _Past(history)
    wanted = terms_of(message)
    best: tuple[tuple[bool, int, int, int, int], str] | None = None
    for phrase, first, last in _phrases(folded):
        within = terms_of(phrase)
        if not within:
            continue
        hits = past.hits(phrase, within)
        rank = (hits > RARE * past.texts, -len(within & wanted), _cuts(folded, first, last), hits, -len(within))
        if best is None or rank < best[0]:
            best = rank, said[first:last]
    if best and not best[0][0]:
        return Keywords((best[1],), True, best[0][3], past.texts)
    rarest = sorted(terms_of(folded), key=lambda term: (past.hits(term, {term}), term not in wanted, term))[:3]
    if len(rarest) < 2:
        return None
    # As they are written: a term is a stem.
    written = [re.search(rf"{re.escape(term)}[a-z0-9]*", folded) for term in rarest]
    keywords = tuple(said[found.start() : found.end()] for found in written if found)
    hits = past.together(rarest)
    if past.texts >= ENOUGH and hits >= TOO_COMMON * past.texts:
        return None
    return Keywords(keywords, False, hits, past.texts)


def _without_apologies(folded: str) -> str:
    """Blank what admits another mistake: who is corrected twice says "you're right" in between, and is."""
    for start, sentence in _sentences(folded):
        for expression in (_APOLOGY, *(expression for _, expression in _CONCESSIONS)):
            for match in expression.finditer(sentence):
                first, last = start + match.start(), start + match.end()
                folded = f"{folded[:first]}{' ' * (last - first)}{folded[last:]}"
    return folded


class _Past:
    """What an agent has said before, counted either way."""

    def __init__(self, history: Sequence[str] | Frequencies) -> None:
        self._counts = history.counts if isinstance(history, Frequencies) else None
        self._folded = [] if isinstance(history, Frequencies) else [fold(text) for text in history[-MAX_HISTORY:]]
        self.texts = history.texts if isinstance(history, Frequencies) else len(self._folded)

    def hits(self, phrase: str, within: frozenset[str] | set[str]) -> int:
        if self._counts is not None:
            return min((self._counts.get(term, 0) for term in within), default=0)
        return sum(phrase in text for text in self._folded)

    def together(self, keywords: Sequence[str]) -> int:
        if self._counts is not None:
            return min(self._counts.get(keyword, 0) for keyword in keywords)
        return sum(all(keyword in text for keyword in keywords) for text in self._folded)


def _phrases(folded: str) -> Iterator[tuple[str, int, int]]:
    """Give runs of words that begin and end with one that means something, and runs of Chinese characters."""
    found = 0
    matches = list(_LATIN_RUN.finditer(folded))[:MAX_PHRASES]
    cuts = list(_CUT.finditer(folded))
    for size in (3, 2, 4):
        for at in range(len(matches) - size + 1):
            first, last = matches[at], matches[at + size - 1]
            phrase = folded[first.start() : last.end()]
            ends_mean = bool(terms_of(first[0])) and bool(terms_of(last[0]))
            ends_mean = ends_mean and not any(cut.start() < last.end() < cut.end() for cut in cuts)
            if found < MAX_PHRASES and ends_mean and phrase.count(" ") == size - 1 and len(phrase.split()) == size:
                found += 1
                yield phrase, first.start(), last.end()
    for run in _CHINESE_RUN.finditer(folded):
        for size in (6, 5, 8, 7, 4):
            for start in range(run.start(), run.end() - size + 1):
                phrase = folded[start : start + size]
                # 首都 is no 都 at its end.
                ends_badly = start + size < run.end() and phrase[-1] in _WORDS.ends_badly_within
                ends_badly = ends_badly or _cuts_number(folded, start, start + size)
                if found < 2 * MAX_PHRASES and not (phrase[0] in _WORDS.opens_badly_within or ends_badly):
                    found += 1
                    yield phrase, start, start + size


_CUT = lazy.compile(_WORDS.cut)
_NUMERALS = {*"0123456789", *_WORDS.numerals_within}
_NO_NUMBER, _NUMERAL, _COUNTER = (
    f"[{''.join(sorted(signs))}]" for signs in (_WORDS.no_number_within, _NUMERALS, _WORDS.counters_within)
)
_BEFORE_CUT = lazy.compile(f"(?<!{_NO_NUMBER}){_NUMERAL}{_COUNTER}?$")
_AFTER_NUMBER = lazy.compile(f"{_NUMERAL} ?$")
_BEGINS_BADLY = _NUMERALS | _WORDS.measures_within


def _cuts_number(folded: str, start: int, end: int) -> bool:
    """Tell whether a Chinese phrase begins or ends within a number, or between it and what is counted: 三|個|工作天."""
    if end < len(folded) and folded[end] != " " and folded[end].isalnum() and _BEFORE_CUT.search(folded[start:end]):
        return True
    return folded[start] in _BEGINS_BADLY and bool(_AFTER_NUMBER.search(folded[max(0, start - 2) : start]))


def _cuts(folded: str, start: int, end: int) -> int:
    """Count the ends of a Chinese phrase, 0 to 2, that may cut a word: no word of grammar, nor a sign, is beside."""
    beside = (folded[start - 1 : start], folded[end : end + 1])
    return sum("\u3400" <= sign <= "\u9fff" and sign not in _WORDS.beside_within for sign in beside if sign)
