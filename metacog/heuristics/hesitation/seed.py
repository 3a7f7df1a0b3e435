"""The four signals of hesitation, exactly as the seed's code (seed 000, "Hesitation Score 計算").

They find phrases worth a second look. The score is no probability of error.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ..policy.policy import Policy
from ..signals import SEED, Signal, absolute_claim, error_pattern, overconfidence
from ..signals.no_hedge import DETAIL as NO_HEDGE
from ..signals.overconfidence import MANY as MANY_CONCLUSIONS
from ..signals.spec import whole_chats
from ..text.matcher import ABSOLUTE, CONCLUSION, HEDGE, REASONING, SOURCE, Finding, Found, occurrences
from ..text.spans import MAX_SPANS, Place, Span, spans_of
from ..text.tags import Item
from .patterns import Patterns

MAX_SCORE = 100
LONG_CHAT = 200  # UTF-16 units, as JavaScript counts
MAY_BE_LONG = LONG_CHAT // 2  # code points up to which no chat is long
SHORT = 400  # code points up to which a call costs as much as what it does

# Of the lists whose terms stand in a text.
_UNSOURCED, _CLAIMS, _HEDGES, _CONCLUDES = 1 << ABSOLUTE, 1 << ABSOLUTE | 1 << SOURCE, 1 << HEDGE, 1 << CONCLUSION


class Hesitation(Struct, frozen=True, gc=False):
    """How much in a response is worth a second look: `score` 0..100, more is worse."""

    score: int
    confident: bool  # score < threshold
    signals: tuple[Signal, ...]
    suggestion: str  # for the next cycle; "" without signals that weigh something
    matched_pattern_ids: tuple[str, ...]  # the first pattern that matches, as in the seed


class Hesitate(Protocol):
    """Looks for reasons to hesitate."""

    def __call__(
        self, response: str, items: Sequence[Item | Mapping[str, Any]], given: Sequence[str] = (), failing: str = "", /
    ) -> Hesitation: ...


def add_up(spoken: Sequence[tuple[str, int]], threshold: int) -> tuple[int, bool, str]:
    """Give score, whether it is below the threshold, and suggestion, from the types and weights of what speaks."""
    score = min(MAX_SCORE, sum([weight for _, weight in spoken]))
    types = ", ".join([name for name, _ in spoken])
    return score, score < threshold, f"Hesitation triggered (score={score}): {types}" if spoken else ""


def seed_signals(patterns: Patterns, policy: Policy) -> Hesitate:
    """Give what looks for the seed's four signals under a policy.

    Every response goes through it, and on short ones calls take longer than the search: it calls and looks up nothing
    it can do without. So what `Matcher.find` and `long_chat_of` would do with a short text and with a single item
    stands in it once more, and what few responses need stands in a function of its own.
    """
    matcher = patterns.matcher
    find, search, sort, lists = matcher.find, matcher.search, matcher.sort, matcher.lists
    short = 0 if matcher.has_keywords else SHORT
    scan, note, _, make_space = matcher.scans[0]  # without keywords there is no other, and nothing is searched apart
    # Not the space of a thread, which costs a twentieth of all to look up. It is taken in one statement without a call,
    # within which the interpreter turns to no other thread; where threads run at once, the binding has a lock.
    idle: Any = make_space()
    named = [(name, policy.weights[name]) for name in SEED]
    absolute, error, unhedged, overconfident = [weight for _, weight in named]
    # What each choice of signals adds up to: bit n of its number is the nth signal.
    chosen = ([one for bit, one in enumerate(named) if number >> bit & 1] for number in range(1 << len(named)))
    sums = [add_up(spoken, policy.threshold) for spoken in chosen]
    calm = Hesitation(*sums[0][:2], (), "", ())
    score_unhedged, is_sure_unhedged, say_unhedged = sums[4]

    def hesitate(
        response: str, items: Sequence[Item | Mapping[str, Any]], given: Sequence[str] = (), failing: str = ""
    ) -> Hesitation:
        """Look for reasons to hesitate in a response and its chats; the seed asks for nothing else."""
        long_chat = None
        if len(items) == 1:
            item = items[0]
            text = item.text if type(item) is Item else item["text"]
            length = len(text)
            if length > MAY_BE_LONG and (length > LONG_CHAT or (not text.isascii() and is_long(text))):
                kind = item.kind if type(item) is Item else item["kind"]
                if kind == "chat" or kind.casefold() == "chat":
                    long_chat = text
        else:
            long_chat = long_chat_of(items)
        if len(response) >= short:
            found = find(response)
            return calm if found is None and long_chat is None else weigh(response, items, long_chat, found)
        encoded = response.encode()
        entries: list[Finding] = []
        nonlocal idle
        space, idle = idle, None
        if space is None:
            entries = search(encoded)  # as another thread is at it; that has no space for two
        else:
            scan(encoded, note, 0, entries, space)
            idle = space
        if entries:
            stand = 0
            for _, _, entry in entries:
                stand |= lists[entry]
            if len(entries) > 1:
                entries.sort()
            is_told = stand & _CLAIMS == _UNSOURCED or (stand & _CONCLUDES and len(entries) > MANY_CONCLUSIONS)
            if not is_told and (long_chat is None or (stand & _HEDGES and long_chat == response)):
                return calm  # as most texts that hold a term: a hedge, a reason, a conclusion or two
            if is_told or stand & _HEDGES:
                return weigh(response, items, long_chat, sort(response, encoded, entries))
        if long_chat is None:
            return calm
        if long_chat != response or len(items) != 1 or not unhedged:
            return weigh(response, items, long_chat, None)
        signal = Signal("no-hedge", NO_HEDGE, unhedged, (Span(0, length, long_chat, 0),))
        return Hesitation(score_unhedged, is_sure_unhedged, (signal,), say_unhedged, ())

    def weigh(
        response: str, items: Sequence[Item | Mapping[str, Any]], long_chat: str | None, found: Found | None
    ) -> Hesitation:
        if found is None:
            if long_chat is None or not unhedged:
                return calm
            if long_chat == response or long_chat in response:
                signal = Signal("no-hedge", NO_HEDGE, unhedged, whole_chats(long_chat, items))
                score, is_confident, suggestion = sums[4]
                return Hesitation(score, is_confident, (signal,), suggestion, ())
            found = Found(response)
        terms, known = found.terms, found.keyword
        signals: tuple[Signal, ...] = ()
        spoken = 0
        matched: tuple[str, ...] = ()
        if terms[ABSOLUTE] and not terms[SOURCE] and absolute:
            said = absolute_claim.detail(len(terms[ABSOLUTE]))
            signals = (Signal("absolute-claim", said, absolute, _term_spans(found, ABSOLUTE)),)
            spoken = 1
        if known is not None and error:
            pattern, keyword = patterns.of(known)
            spans = spans_of(response, occurrences(keyword, response, MAX_SPANS))
            signals += (Signal("error-pattern", error_pattern.detail(pattern.description), error, spans),)
            spoken += 2
            matched = (pattern.id,)
        if long_chat is not None and unhedged:
            hedges = terms[HEDGE] if long_chat == response else found.spans(terms[HEDGE])
            if not is_hedged(long_chat, response, hedges, hedges_in):
                signals += (Signal("no-hedge", NO_HEDGE, unhedged, whole_chats(long_chat, items)),)
                spoken += 4
        if overconfident and (say := overconfidence.detail(len(terms[CONCLUSION]), len(terms[REASONING]))):
            signals += (Signal("overconfidence", say, overconfident, _term_spans(found, CONCLUSION)),)
            spoken += 8
        if not spoken:
            return calm
        score, is_confident, suggestion = sums[spoken]
        return Hesitation(score, is_confident, signals, suggestion, matched)

    def hedges_in(chat: str) -> Sequence[Place]:
        found = find(chat)
        return found.terms[HEDGE] if found else ()

    return hesitate


def is_hedged(chat: str, response: str, hedges: Sequence[Place], hedges_in: Callable[[str], Sequence[Place]]) -> bool:
    """Look for hedges in a chat; where it stands in the response, whose hedges are known, for one of those."""
    if chat == response:
        return bool(hedges)
    start = response.find(chat)
    if start < 0:
        return bool(hedges_in(chat))
    end = start + len(chat)
    return any(start <= first and last <= end for first, last in hedges)


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


def _term_spans(found: Found, which: int) -> tuple[Span, ...]:
    text, places = found.text, found.terms[which]
    if not text.isascii():
        return spans_of(text, found.spans(places[:MAX_SPANS]))
    if len(places) == 1:
        start, end = places[0]
        return (Span(start, end, text[start:end], None),)
    return spans_of(text, places[:MAX_SPANS])
