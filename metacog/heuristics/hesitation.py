"""The four signals of hesitation, exactly as the seed's code (seed 000, "Hesitation Score 計算").

They find phrases worth a second look. The score is no probability of error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from .matcher import ABSOLUTE, CONCLUSION, HEDGE, REASONING, SOURCE, Found, Matcher, occurrences

MAX_SCORE = 100
# Evidence shown for one signal: a text can hold hundreds of thousands of places, and nobody reads them.
MAX_SPANS = 256
LONG_CHAT = 200  # UTF-16 units, as JavaScript counts
MANY_CONCLUSIONS = 2


class Span(NamedTuple):
    """Evidence: code points into the response, or into the text of item number `item`; end exclusive."""

    start: int
    end: int
    text: str
    item: int | None = None

    def as_dict(self) -> dict[str, Any]:
        span: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text}
        if self.item is not None:
            span["item"] = self.item
        return span


class Signal(NamedTuple):
    """One reason to hesitate. `weight` is what it adds to the score."""

    type: str
    detail: str
    weight: int
    spans: tuple[Span, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "detail": self.detail,
            "weight": self.weight,
            "spans": [span.as_dict() for span in self.spans],
        }


class Hesitation(NamedTuple):
    """How much in a response is worth a second look: `score` 0..100, more is worse."""

    score: int
    confident: bool  # score < threshold
    signals: tuple[Signal, ...]
    suggestion: str  # for the next cycle; "" without signals
    matched_pattern_ids: tuple[str, ...]  # the first pattern that matches, as in the seed


@dataclass(frozen=True, slots=True)
class Pattern:
    """A past mistake: any of the keywords in a response recalls it."""

    id: str
    keywords: tuple[str, ...]
    description: str


class Evidence(NamedTuple):
    """What the signals look at."""

    found: Found
    pattern: Pattern | None
    keyword: str  # the pattern's, that stands in the response
    chats: Sequence[tuple[int, str]]  # index and text of each
    long_chat: str | None  # all chats together, where that is long
    matcher: Matcher


Seen = TypeVar("Seen")
SignalFunction = Callable[[Seen, int], Signal | None]


def absolute_claim(evidence: Evidence, weight: int) -> Signal | None:
    """Absolute terms, and nothing that names a source."""
    terms = evidence.found.terms
    count = len(terms[ABSOLUTE])
    if not count or terms[SOURCE]:
        return None
    spans = _term_spans(evidence.found, ABSOLUTE)
    return Signal("absolute-claim", f"{count} absolute claim(s) without source", weight, spans)


def error_pattern(evidence: Evidence, weight: int) -> Signal | None:
    """A keyword of a past mistake; only the first pattern counts."""
    pattern = evidence.pattern
    if pattern is None:
        return None
    text = evidence.found.text
    places = occurrences(evidence.keyword, text, MAX_SPANS)
    spans = tuple([Span(start, end, text[start:end]) for start, end in places])
    return Signal("error-pattern", f"matches past error: {pattern.description}", weight, spans)


def no_hedge(evidence: Evidence, weight: int) -> Signal | None:
    """Chats of more than 200 UTF-16 units together, and no hedge in them."""
    if evidence.long_chat is None or _is_hedged(evidence.long_chat, evidence.found, evidence.matcher):
        return None
    return Signal("no-hedge", "long CHAT response with no hedging language", weight, whole_chats(evidence.chats))


def overconfidence(evidence: Evidence, weight: int) -> Signal | None:
    """More than two conclusions, and fewer reasons than conclusions."""
    terms = evidence.found.terms
    conclusions, reasoning = len(terms[CONCLUSION]), len(terms[REASONING])
    if conclusions <= MANY_CONCLUSIONS or reasoning >= conclusions:
        return None
    spans = _term_spans(evidence.found, CONCLUSION)
    detail = f"{conclusions} conclusions vs {reasoning} reasoning qualifiers"
    return Signal("overconfidence", detail, weight, spans)


# In the seed's order. To add a signal: a function here, a weight in `policy`, a row in docs/heuristics.md.
SIGNALS: tuple[tuple[str, SignalFunction[Evidence]], ...] = (
    ("absolute-claim", absolute_claim),
    ("error-pattern", error_pattern),
    ("no-hedge", no_hedge),
    ("overconfidence", overconfidence),
)


def weigh(
    evidence: Seen, pattern: Pattern | None, signals: Sequence[tuple[SignalFunction[Seen], int]], threshold: int
) -> Hesitation | None:
    """Collect the signals (function and weight) that speak, and add up their weights; None: all are silent."""
    spoken: tuple[Signal, ...] = ()
    score = 0
    for function, weight in signals:
        signal = function(evidence, weight)
        if signal is not None:
            spoken += (signal,)
            score += weight
    if not spoken:
        return None
    score = min(score, MAX_SCORE)
    types = ", ".join([signal.type for signal in spoken])
    matched = (pattern.id,) if pattern and "error-pattern" in types else ()
    return Hesitation(score, score < threshold, spoken, f"Hesitation triggered (score={score}): {types}", matched)


def calm(threshold: int) -> Hesitation:
    """Give the hesitation that has no signals."""
    return Hesitation(0, threshold > 0, (), "", ())


def long_chat(chats: Sequence[tuple[int, str]]) -> str | None:
    """Put the chats together as the seed does, or None when that is not longer than 200 UTF-16 units."""
    if not chats:
        return None
    text = chats[0][1] if len(chats) == 1 else " ".join([text for _, text in chats])
    length = len(text)
    if length <= LONG_CHAT and not text.isascii():
        length = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return text if length > LONG_CHAT else None


def whole_chats(chats: Sequence[tuple[int, str]]) -> tuple[Span, ...]:
    """Point at all of each chat."""
    return tuple([Span(0, len(text), text, index) for index, text in chats if text][:MAX_SPANS])


def _is_hedged(chat: str, found: Found, matcher: Matcher) -> bool:
    if chat == found.text:
        return bool(found.terms[HEDGE])
    start = found.text.find(chat)
    if start < 0:
        elsewhere = matcher.find(chat)
        return elsewhere is not None and bool(elsewhere.terms[HEDGE])
    # It stands in the response, which has been searched already.
    end = start + len(chat)
    return any(start <= first and last <= end for first, last in found.spans(found.terms[HEDGE]))


def _term_spans(found: Found, which: int) -> tuple[Span, ...]:
    text = found.text
    places = found.spans(found.terms[which][:MAX_SPANS])
    return tuple([Span(start, end, text[start:end]) for start, end in places])
