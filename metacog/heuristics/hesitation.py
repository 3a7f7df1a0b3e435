"""The four signals of hesitation, exactly as the seed's code (seed 000, "Hesitation Score 計算").

They find phrases worth a second look. The score is no probability of error.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .matcher import ABSOLUTE, CONCLUSION, HEDGE, NOWHERE, REASONING, SOURCE, Found, Place, occurrences
from .patterns import Patterns
from .policy import Policy
from .tags import Item

MAX_SCORE = 100
# Evidence shown for one signal: a text can hold hundreds of thousands of places, and nobody reads them.
MAX_SPANS = 256
NO_HEDGE = "long CHAT response with no hedging language"
LONG_CHAT = 200  # UTF-16 units, as JavaScript counts
SHORT = 400  # code points up to which a call costs as much as what it does
MANY_CONCLUSIONS = 2

# Of the lists whose terms stand in a text.
_UNSOURCED, _CLAIMS, _HEDGES, _CONCLUDES = 1 << ABSOLUTE, 1 << ABSOLUTE | 1 << SOURCE, 1 << HEDGE, 1 << CONCLUSION

# Makes a NamedTuple in a third of the time of calling its class, which on a short text is most of the time.
new = tuple.__new__


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


def add_up(spoken: Sequence[tuple[str, int]], threshold: int) -> tuple[int, bool, str]:
    """Give score, whether it is below the threshold, and suggestion, from the types and weights of what speaks."""
    score = min(MAX_SCORE, sum([weight for _, weight in spoken]))
    types = ", ".join([name for name, _ in spoken])
    return score, score < threshold, f"Hesitation triggered (score={score}): {types}" if spoken else ""


class SeedSignals:
    """The seed's four signals under a policy; nothing in it changes."""

    __slots__ = ("_calm", "_find", "_is_plain", "_lists", "_patterns", "_search", "_sort", "_sums", "_weights")

    def __init__(self, patterns: Patterns, policy: Policy) -> None:
        names = ("absolute-claim", "error-pattern", "no-hedge", "overconfidence")
        named = [(name, policy.weights[name]) for name in names]
        matcher = patterns.matcher
        self._patterns, self._find = patterns, matcher.find
        self._is_plain, self._search, self._sort = not matcher.has_keywords, matcher.search, matcher.sort
        self._lists = matcher.lists
        self._weights = [weight for _, weight in named]
        # What each choice of signals adds up to: bit n of its number is the nth signal.
        chosen = ([one for bit, one in enumerate(named) if number >> bit & 1] for number in range(1 << len(named)))
        self._sums = [add_up(spoken, policy.threshold) for spoken in chosen]
        self._calm = Hesitation(*self._sums[0][:2], (), "", ())

    def hesitate(
        self, response: str, items: Sequence[Item | Mapping[str, Any]], given: Sequence[str] = ()
    ) -> Hesitation:
        """Look for reasons to hesitate in a response and its chats; the seed does not ask what was `given`.

        One function, as in the seed, that calls nothing it can do without: every response goes through it, and on
        short ones calls take longer than the search. So what `Matcher.find` and `long_chat_of` would do with a short
        text and with a single item stands here once more.
        """
        if len(items) == 1:
            item = items[0]
            text = item.text if type(item) is Item else item["text"]
            long_chat = None
            length = len(text)
            if length > LONG_CHAT or (2 * length > LONG_CHAT and not text.isascii() and is_long(text)):
                kind = item.kind if type(item) is Item else item["kind"]
                if kind == "chat" or kind.casefold() == "chat":
                    long_chat = text
        else:
            long_chat = long_chat_of(items)
        if len(response) < SHORT and self._is_plain:
            folded = response.encode().lower()
            entries = self._search(folded)
            found = None
            if entries:
                lists = 0
                for _, _, entry in entries:
                    lists |= self._lists[entry]
                if lists & _CLAIMS == _UNSOURCED or (lists & _CONCLUDES and len(entries) > MANY_CONCLUSIONS):
                    found = self._sort(response, folded, entries)
                elif long_chat is None or (lists & _HEDGES and long_chat == response):
                    return self._calm  # as most texts that hold a term: a hedge, a reason, a conclusion or two
                elif lists & _HEDGES:
                    found = self._sort(response, folded, entries)
        else:
            found = self._find(response)
        signals: tuple[Signal, ...]
        if found is None:
            if long_chat is None or not (unhedged := self._weights[2]):
                return self._calm
            if long_chat == response or long_chat in response:
                score, is_confident, suggestion = self._sums[4]
                spans = (new(Span, (0, length, long_chat, 0)),) if len(items) == 1 else whole_chats(long_chat, items)
                signals = (new(Signal, ("no-hedge", NO_HEDGE, unhedged, spans)),)
                return new(Hesitation, (score, is_confident, signals, suggestion, ()))
            found = new(Found, (response, b"", NOWHERE, None))
        _, _, terms, known = found
        absolute, error, unhedged, overconfident = self._weights
        signals = ()
        spoken = 0
        matched: tuple[str, ...] = ()
        if terms[ABSOLUTE] and not terms[SOURCE] and absolute:
            detail = f"{len(terms[ABSOLUTE])} absolute claim(s) without source"
            signals = (new(Signal, ("absolute-claim", detail, absolute, _term_spans(found, ABSOLUTE))),)
            spoken = 1
        if known is not None and error:
            pattern, keyword = self._patterns.of(known)
            spans = spans_of(response, occurrences(keyword, response, MAX_SPANS))
            signals += (new(Signal, ("error-pattern", f"matches past error: {pattern.description}", error, spans)),)
            spoken += 2
            matched = (pattern.id,)
        if long_chat is not None and unhedged:
            is_hedged = terms[HEDGE] if long_chat == response else self._is_hedged(long_chat, found)
            if not is_hedged:
                signals += (new(Signal, ("no-hedge", NO_HEDGE, unhedged, whole_chats(long_chat, items))),)
                spoken += 4
        if (conclusions := len(terms[CONCLUSION])) > MANY_CONCLUSIONS and overconfident:
            reasoning = len(terms[REASONING])
            if reasoning < conclusions:
                detail = f"{conclusions} conclusions vs {reasoning} reasoning qualifiers"
                signals += (new(Signal, ("overconfidence", detail, overconfident, _term_spans(found, CONCLUSION))),)
                spoken += 8
        if not spoken:
            return self._calm
        score, is_confident, suggestion = self._sums[spoken]
        return new(Hesitation, (score, is_confident, signals, suggestion, matched))

    def _is_hedged(self, chat: str, found: Found) -> bool:
        """Look for hedges in a chat; where it stands in the response, that has been searched already."""
        start = found.text.find(chat)
        if start < 0:
            elsewhere = self._find(chat)
            return elsewhere is not None and bool(elsewhere.terms[HEDGE])
        end = start + len(chat)
        return any(start <= first and last <= end for first, last in found.spans(found.terms[HEDGE]))


def long_chat_of(items: Sequence[Item | Mapping[str, Any]]) -> str | None:
    """Give the texts of all chats together, as in the seed, where that is long."""
    texts = []
    for item in items:
        if type(item) is Item:
            kind, text = item.kind, item.text
        else:
            kind, text = item["kind"], item["text"]
        if kind == "chat" or kind.casefold() == "chat":
            texts.append(text)
    if not texts:
        return None
    together = " ".join(texts)
    return together if is_long(together) else None


def is_long(chat: str) -> bool:
    """Count as JavaScript does, to which a code point beyond the basic plane is two."""
    return len(chat) > LONG_CHAT or len(chat.encode("utf-16-le", "surrogatepass")) > 2 * LONG_CHAT


def whole_chats(together: str, items: Sequence[Item | Mapping[str, Any]]) -> tuple[Span, ...]:
    """Point at all of each chat, where `together` is what `long_chat_of` gives."""
    if len(items) == 1:
        return (new(Span, (0, len(together), together, 0)),)
    spans = []
    for index, item in enumerate(items):
        kind, text = (item.kind, item.text) if type(item) is Item else (item["kind"], item["text"])
        if text and kind.casefold() == "chat":
            spans.append(new(Span, (0, len(text), text, index)))
    return tuple(spans[:MAX_SPANS])


def _term_spans(found: Found, which: int) -> tuple[Span, ...]:
    return spans_of(found.text, found.spans(found.terms[which][:MAX_SPANS]))


def spans_of(text: str, places: Sequence[Place]) -> tuple[Span, ...]:
    """Show what stands at places of a text, in code points."""
    return tuple([new(Span, (start, end, text[start:end], None)) for start, end in places])
