"""What several texts are about: the phrases they share, in English and in Chinese."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..lexicon import LANGUAGES
from ..text import words
from ..text.speech import own_words

MAX_READ = 400  # code points of each text: what a message is about stands at its beginning
MOST = 500  # phrases that are compared with each other
MAX_WORDS = 3  # of an English phrase
CHARACTERS = (2, 6)  # of a Chinese one, the fewest and the most
_SHORTEST = 3  # letters of a word that can be a subject by itself

_WORD = re.compile(r"[a-z\u00c0-\u024f][a-z0-9\u00c0-\u024f]*(?:[-_'.][a-z0-9\u00c0-\u024f]+)*")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_ASKING = tuple(word for language in LANGUAGES for word in language.REFLECTION.asking)
_ASKING_WITHIN = re.compile("|".join(filter(_HAN.search, _ASKING)))
_NO_SUBJECT = words.STOPWORDS.union(_ASKING)


class Phrase(NamedTuple):
    """A phrase, as it is first written, and the numbers of the texts that hold it."""

    text: str
    texts: tuple[int, ...]


def shared(texts: Sequence[str], least: int) -> list[Phrase]:
    """Give the phrases of up to three words, or two to six Chinese characters, that `least` texts hold.

    The most common come first, of equally common ones the longest. A phrase gives way to a longer one that is two
    thirds as common; what else lies in one that is given, or around it, is left out. Quotations, code, function words
    and words of asking are nobody's subject; inflections and both Chinese scripts count as one. The first 400 code
    points of each text are read.
    """
    found: dict[str, tuple[str, list[int]]] = {}
    for number, text in enumerate(texts):
        for key, written in phrases(text).items():
            found.setdefault(key, (written, []))[1].append(number)
    common = [(key, written, held) for key, (written, held) in found.items() if len(held) >= least]
    common = sorted(common, key=lambda each: (-len(each[2]), -len(each[0]), each[0]))[:MOST]
    given: list[str] = []
    chosen = []
    for key, written, held in common:
        is_part = any(key in other and key != other and 3 * len(also) >= 2 * len(held) for other, _, also in common)
        if not is_part and not any(key in other or other in key for other in given):
            given.append(key)
            chosen.append(Phrase(written, tuple(held)))
    return chosen


def phrases(text: str) -> dict[str, str]:
    """Give every phrase of a text as it is written, by what makes two the same."""
    text = text[:MAX_READ]
    folded = words.fold_signs(words.prose(own_words(text)))
    return {key: text[start:end] for key, start, end in (*_english(folded), *_chinese(folded))}


def key_of(name: str) -> str:
    """Give what makes two names of a subject the same: inflections, cases and Chinese scripts apart."""
    tokens = words.tokens(words.fold_signs(name))
    return " ".join(term.strip() for term in words.terms(tokens)) or " ".join(tokens) or name


def _english(folded: str) -> Iterator[tuple[str, int, int]]:
    run: list[tuple[str, int, int]] = []  # words that follow each other with one space between
    for match in _WORD.finditer(folded):
        if run and folded[run[-1][2] : match.start()] != " ":
            run = []
        if match[0] in _NO_SUBJECT or match[0].split("'")[0] in _NO_SUBJECT:
            run = []
            continue
        stem = next(iter(words.terms([match[0]])), match[0]).strip()
        run = [*run[-MAX_WORDS + 1 :], (stem, match.start(), match.end())]
        for size in range(1, len(run) + 1):
            part = run[-size:]
            if size > 1 or len(match[0]) >= _SHORTEST:
                yield f" {' '.join(stem for stem, _, _ in part)} ", part[0][1], part[-1][2]


def _chinese(folded: str) -> Iterator[tuple[str, int, int]]:
    fewest, most = CHARACTERS
    asked = _ASKING_WITHIN.sub(lambda match: " " * len(match[0]), folded)
    for run in _HAN.finditer(asked):
        start = run.start()
        for end in range(run.start(), run.end() + 1):
            if end < run.end() and asked[end] not in words.FUNCTION_WITHIN:
                continue
            for first in range(start, end):
                for last in range(first + fewest, min(first + most, end) + 1):
                    yield asked[first:last], first, last
            start = end + 1
