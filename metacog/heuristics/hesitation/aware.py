"""The signals of the profile `aware`: the seed's four read with sense, and its own.

Wanted from it: fewer wrong highlights, not a better forecast of errors.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..policy.policy import Policy
from ..text.shadow import Place, hides, suspects
from ..text.tags import Item
from .completion import claims_to_be_done
from .given import NOTHING, Given
from .patterns import Pattern, Patterns
from .seed import (
    MANY_CONCLUSIONS,
    MAX_SPANS,
    NO_HEDGE,
    Hesitation,
    Signal,
    Span,
    add_up,
    long_chat_of,
    spans_of,
    whole_chats,
)
from .sense import Reading, marks_of

# Hidden characters are counted up to here.
MAX_SUSPECTS = 10_000
_STATEMENTS = ("chat", "remember")  # kinds of items: a task is still to be done


class AwareEvidence(NamedTuple):
    """What the signals look at."""

    reading: Reading  # of the response
    pattern: Pattern | None
    keyword: str  # the pattern's, that stands in the response
    items: Sequence[Item | Mapping[str, Any]]
    unhedged: str | None  # the chats together, where they are long and nobody hedges in them
    others: Mapping[int, str]  # by index, texts of items in which something is hidden, and that are not in the response
    done: tuple[Span, ...]  # where something is said to be done
    failing: str  # what fails meanwhile


def absolute_claim(evidence: AwareEvidence, weight: int) -> Signal | None:
    """Absolute terms that are claimed, and nothing cited in their paragraph."""
    claims = evidence.reading.claims
    if not claims:
        return None
    detail = f"{len(claims)} absolute claim(s) without source"
    return Signal("absolute-claim", detail, weight, _spans(evidence.reading, claims))


def error_pattern(evidence: AwareEvidence, weight: int) -> Signal | None:
    """A keyword of a past mistake, as a word of its own; only the first pattern counts."""
    pattern = evidence.pattern
    if pattern is None:
        return None
    places = evidence.reading.occurrences(evidence.keyword, MAX_SPANS)
    detail = f"matches past error: {pattern.description}"
    return Signal("error-pattern", detail, weight, _spans(evidence.reading, places))


def no_hedge(evidence: AwareEvidence, weight: int) -> Signal | None:
    """Chats of more than 200 UTF-16 units together, and nobody hedges in them."""
    if evidence.unhedged is None:
        return None
    return Signal("no-hedge", NO_HEDGE, weight, whole_chats(evidence.unhedged, evidence.items))


def overconfidence(evidence: AwareEvidence, weight: int) -> Signal | None:
    """More than two conclusions, and fewer reasons than conclusions."""
    conclusions, reasons = evidence.reading.conclusions, evidence.reading.reasons
    if len(conclusions) <= MANY_CONCLUSIONS or len(reasons) >= len(conclusions):
        return None
    detail = f"{len(conclusions)} conclusions vs {len(reasons)} reasoning qualifiers"
    return Signal("overconfidence", detail, weight, _spans(evidence.reading, conclusions))


def no_source(evidence: AwareEvidence, weight: int) -> Signal | None:
    """Figures, dates, names or quotations that nobody gave the agent, and nothing cited in their paragraph."""
    facts = evidence.reading.facts
    if not facts:
        return None
    detail = f"{len(facts)} figure(s), date(s), name(s) or quotation(s) without source"
    return Signal("no-source", detail, weight, _spans(evidence.reading, facts))


def wrong_sum(evidence: AwareEvidence, weight: int) -> Signal | None:
    """Totals that their parts do not make, and measures that are not the same in another unit."""
    wrong = evidence.reading.wrong_sums
    if not wrong:
        return None
    others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return Signal("wrong-sum", wrong[0][1] + others, weight, _spans(evidence.reading, [place for place, _ in wrong]))


def hidden_text(evidence: AwareEvidence, weight: int) -> Signal | None:
    """Characters nobody sees, or that turn the direction, where the script has no use for them."""
    if not (evidence.reading.hides or evidence.others):
        return None
    count = 0
    spans: list[Span] = []
    texts: list[tuple[int | None, str]] = [(index, text) for index, text in evidence.others.items()]
    if evidence.reading.hides:
        texts.insert(0, (None, evidence.reading.text))
    for index, text in texts:
        places = suspects(text, MAX_SUSPECTS - count)
        count += len(places)
        spans += [Span(start, end, text[start:end], index) for start, end in places[: MAX_SPANS - len(spans)]]
    if not count:
        return None
    return Signal("hidden-text", f"hidden characters in {count} place(s)", weight, tuple(spans))


def done_while_failing(evidence: AwareEvidence, weight: int) -> Signal | None:
    """A claim that something is done, in a step in which a command or tests failed."""
    if not evidence.done:
        return None
    detail = f"says “{evidence.done[0].text}” while {evidence.failing}"
    return Signal("done-while-failing", detail, weight, evidence.done)


SIGNALS = (
    ("absolute-claim", absolute_claim),
    ("error-pattern", error_pattern),
    ("no-hedge", no_hedge),
    ("overconfidence", overconfidence),
    ("no-source", no_source),
    ("wrong-sum", wrong_sum),
    ("hidden-text", hidden_text),
    ("done-while-failing", done_while_failing),
)


class AwareSignals:
    """The signals of the profile `aware` under a policy; nothing in it changes."""

    __slots__ = ("_calm", "_marks", "_patterns", "_reader", "_signals", "_threshold")

    def __init__(self, patterns: Patterns, policy: Policy) -> None:
        self._patterns, self._reader = patterns, patterns.reader
        self._marks = marks_of(*(policy.marks or {}).values())
        self._signals = [(signal, policy.weights[name]) for name, signal in SIGNALS if policy.weights[name]]
        self._threshold = policy.threshold
        self._calm = Hesitation(*add_up([], policy.threshold)[:2], (), "", ())

    def hesitate(
        self, response: str, items: Sequence[Item | Mapping[str, Any]], given: Sequence[str] = (), failing: str = ""
    ) -> Hesitation:
        """Look for reasons to hesitate in a response and its items, of an agent that was `given` these texts.

        `failing` is what failed in the same step, as `completion.failing_in` says it.
        """
        long_chat = long_chat_of(items)
        reading = self._reader.read(response, self._marks, Given(given) if given else NOTHING)
        is_unhedged = long_chat is not None and not self._is_hedged(long_chat, response, reading)
        others = _others(response, items)
        done = _done(response, items) if failing else ()
        if not (is_unhedged or others or done or reading.tells):  # as of most responses
            return self._calm
        pattern, keyword = (None, "") if reading.keyword is None else self._patterns.of(reading.keyword)
        unhedged = long_chat if is_unhedged else None
        evidence = AwareEvidence(reading, pattern, keyword, items, unhedged, others, done, failing)
        signals = tuple([said for signal, weight in self._signals if (said := signal(evidence, weight))])
        score, is_confident, suggestion = add_up([(one.type, one.weight) for one in signals], self._threshold)
        matched = tuple([pattern.id for one in signals if pattern and one.type == "error-pattern"])
        return Hesitation(score, is_confident, signals, suggestion, matched)

    def _is_hedged(self, chat: str, response: str, reading: Reading) -> bool:
        """Tell whether anybody hedges in a chat; where it stands in the response, that has been read already."""
        if chat == response:
            return bool(reading.hedges)
        start = response.find(chat)
        if start < 0:
            return bool(self._reader.read(chat, self._marks).hedges)
        end = start + len(chat)
        return any(start <= first and last <= end for first, last in reading.hedges)


def _others(response: str, items: Sequence[Item | Mapping[str, Any]]) -> dict[int, str]:
    """Give the texts of items, by index, in which something is hidden that the response does not hold."""
    others = {}
    for index, item in enumerate(items):
        text = item.text if type(item) is Item else item["text"]
        if text is not response and hides(text) and text not in response:
            others[index] = text
    return others


def _done(response: str, items: Sequence[Item | Mapping[str, Any]]) -> tuple[Span, ...]:
    """Give where a response, or what is said or remembered beside it, claims that something is done."""
    spans = [Span(*place, response[slice(*place)]) for place in claims_to_be_done(response)]
    for index, item in enumerate(items):
        kind, text = (item.kind, item.text) if type(item) is Item else (item["kind"], item["text"])
        if kind.casefold() in _STATEMENTS and text not in response:
            spans += [Span(*place, text[slice(*place)], index) for place in claims_to_be_done(text)]
    return tuple(spans[:MAX_SPANS])


def _spans(reading: Reading, places: Sequence[Place]) -> tuple[Span, ...]:
    return spans_of(reading.text, places[:MAX_SPANS])
