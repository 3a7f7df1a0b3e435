"""Find what is remembered by what it says, in English and Chinese (seed 003, 2.2; contract, `/memory`).

Words by their stems and Chinese by its character bigrams, traditional and simplified as one, ranked by BM25
(Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..lexicon import LANGUAGES, lazy
from ..text.shadow import Shadow
from ..text.spans import Place
from ..text.words import FUNCTION_WITHIN, STOPWORDS, stem
from ..text.words import TERMS as TERMS
from .extension import FILLERS, FILLERS_WITHIN, judge

K1, B = 1.2, 0.75  # as usual; how soon a repeated word stops counting, and how much a long text is discounted
MAX_ASKED = 64  # terms of a query
MAX_READ = 10_000  # postings of one search; words that are everywhere say little
MAX_TERM = 64  # characters of a word that count; no word of any language is longer
CONFIDENT = 0.8  # share of the weight of what was asked, from which a memory answers it
LEAST_IN_COMMON = 2  # terms: one word is no question


class Ranked(NamedTuple):
    """One that was found. The score orders the results of one query and says nothing beyond it."""

    number: int
    score: float
    share: float  # 0..1, of the weight of what was asked: how much of it is there
    matched: tuple[str, ...]


_UNSPACED = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
_RUN = lazy.compile(rf"([{_UNSPACED}]+)|([^\W_{_UNSPACED}]+)")
_IS_UNSPACED = lazy.compile(f"[{_UNSPACED}]")
_COUNTING = lazy.compile(f"[^{''.join(sorted(FUNCTION_WITHIN))}]+")
# What only asks: words, and what is cut out of text without blanks.
_ASKING = tuple(word for language in LANGUAGES for word in language.EXTENSION.asking)
_ONLY_ASKS = FILLERS.union(_ASKING)
_ONLY_ASKING = lazy.compile(
    "|".join(sorted((*FILLERS_WITHIN, *filter(_IS_UNSPACED.search, _ASKING)), key=len, reverse=True))
)


def counted(text: str) -> Counter[str]:
    """Count the terms that a text is found by; function words are left out."""
    return Counter(term for term, _, _ in _found(Shadow(text).text))


def asked(query: str) -> tuple[str, ...]:
    """Give the first 64 terms of a query, each once, in its order."""
    return tuple(dict.fromkeys(term for term, _, _ in _found(Shadow(query).text)))[:MAX_ASKED]


def needed(reason: str) -> tuple[str, ...]:
    """Give what the reason of a request for more steps is after, without the words that only ask."""
    folded = _ONLY_ASKING.sub(lambda match: " " * len(match[0]), Shadow(reason).text)
    found = {term: None for term, start, end in _found(folded) if folded[start:end] not in _ONLY_ASKS}
    return tuple(found)[:MAX_ASKED]


def readable(frequencies: Mapping[str, int]) -> list[str]:
    """Give the terms whose postings are worth reading, the rarest first: 10,000 postings at most, or one term's."""
    found: list[str] = []
    left = MAX_READ
    for term, frequency in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
        left -= frequency
        if found and left < 0:
            break
        found.append(term)
    return found


def rank(
    asked: Sequence[str],
    frequencies: Mapping[str, int],
    postings: Iterable[tuple[int, str, int, int]],
    total: int,
    mean_length: float,
    *,
    most: int | None = None,
) -> list[Ranked]:
    """Order what has any of the terms asked, the best first and of equals the one with the higher number.

    `frequencies` says in how many memories each term is, of the `total` that are searched, with `mean_length` terms
    each; `postings` say, of `readable` terms, in any order: in which memory, the term, how often, and how many terms
    that memory has. Give `most` where no more than so many are wanted: to write all of them down takes longer than to
    find the best.
    """
    weights = {term: _weight(frequencies.get(term, 0), total) for term in asked}
    whole = sum(weights.values())
    by_term: dict[str, list[tuple[int, int, int]]] = {term: [] for term in asked}
    for number, term, times, length in postings:
        by_term[term].append((number, times, length))
    scores = defaultdict[int, float](float)
    for term, found in by_term.items():
        weight, least, slope = weights[term] * (K1 + 1), K1 * (1 - B), K1 * B / mean_length
        for number, times, length in found:
            scores[number] += weight * times / (times + least + slope * length)
    best = heapq.nlargest(most or len(scores), ((round(score, 4), number) for number, score in scores.items()))
    matched: dict[int, list[str]] = {number: [] for _, number in best}
    for term, found in by_term.items():
        for number, _, _ in found:
            if number in matched:
                matched[number].append(term)
    return [
        Ranked(number, score, round(sum(weights[term] for term in matched[number]) / whole, 4), tuple(matched[number]))
        for score, number in best
    ]


def _weight(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def answers(reason: str, found: Ranked) -> bool:
    """Tell whether what was found for `needed(reason)` holds all that the reason names, and most of the rest.

    Another quarter, file or company is another question.
    """
    named = asked(" ".join(judge(reason, ()).entities))
    has = set(found.matched)
    wanted = set(needed(reason))
    return (
        found.share >= CONFIDENT
        and len(has) >= LEAST_IN_COMMON
        and all(term in has for term in named if term in wanted)
    )


def places(text: str, terms: Iterable[str]) -> list[Place]:
    """Find where a text has any of the terms; bigrams that overlap make one place."""
    shadow, wanted = Shadow(text), frozenset(terms)
    found: list[Place] = []
    for term, start, end in _found(shadow.text):
        if term not in wanted:
            continue
        start, end = shadow.place(start, end)
        if found and start < found[-1][1]:
            start, _ = found.pop()
        found.append((start, end))
    return found


def in_common(text: str, terms: Iterable[str]) -> int:
    """Count the different words of a text that are among terms; two Chinese characters in a row count as a word."""
    folded, wanted = Shadow(text).text, frozenset(terms)
    words: set[str] = set()
    runs: list[tuple[int, int]] = []
    for term, start, end in _found(folded):
        if term not in wanted:
            continue
        if not _IS_UNSPACED.match(term):
            words.add(term)
        elif runs and start < runs[-1][1]:
            runs[-1] = runs[-1][0], end
        else:
            runs.append((start, end))
    return len(words) + sum(len(run) // 2 for run in {folded[start:end] for start, end in runs})


def _found(folded: str) -> Iterator[tuple[str, int, int]]:
    for run in _RUN.finditer(folded):
        if run[2]:
            word = run[2]
            if word not in STOPWORDS and (len(word) > 1 or word.isdigit()):
                yield stem(word[:MAX_TERM]), *run.span()
            continue
        for part in _COUNTING.finditer(folded, *run.span()):
            start, end = part.span()
            if end - start == 1:
                yield part[0], start, end
            for at in range(start, end - 1):
                yield folded[at : at + 2], at, at + 2
