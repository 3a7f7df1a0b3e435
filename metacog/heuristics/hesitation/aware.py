"""The signals of the profile `aware`: the seed's four read with sense, and its own.

Wanted from it: fewer wrong highlights, not a better forecast of errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..policy.policy import Policy
from ..signals import SPECS, Evidence, Signal
from ..signals.spec import OF_EVERY_TEXT
from ..text.shadow import hides
from ..text.spans import MAX_SPANS, Place, Span, spans_of
from ..text.tags import Item
from .completion import claims_to_be_done
from .given import NOTHING, Given
from .patterns import Patterns
from .seed import Hesitation, add_up, is_hedged, long_chat_of
from .sense import MAX_TERMS, marks_of

_STATEMENTS = ("chat", "remember")  # kinds of items: a task is still to be done
LEAST_TERMS = 16  # of each text beside a response that are looked at, however many there are


class AwareSignals:
    """The signals of the profile `aware` under a policy; nothing in it changes."""

    __slots__ = (
        "_calm", "_look", "_looks_for_hedges", "_marks",
        "_of_every_text", "_patterns", "_reader", "_specs", "_threshold",
    )  # fmt: skip

    def __init__(self, patterns: Patterns, policy: Policy) -> None:
        self._patterns, self._reader = patterns, patterns.reader
        self._marks = marks_of(*(policy.marks or {}).values())
        weights = policy.weights
        self._specs = [(name, spec.find, weights[name], spec.is_hint) for name, spec in SPECS.items() if weights[name]]
        self._looks_for_hedges = weights["no-hedge"] > 0
        self._of_every_text = [one for one in self._specs if not OF_EVERY_TEXT.isdisjoint(SPECS[one[0]].sees)]
        # Whether there is anything that the others go by, whichever are in force.
        seen = dict.fromkeys(name for spec in SPECS.values() for name in spec.sees if name not in OF_EVERY_TEXT)
        self._look = attrgetter(*seen)
        self._threshold = policy.threshold
        self._calm = Hesitation(*add_up([], policy.threshold)[:2], (), "", ())

    def hesitate(
        self, response: str, items: Sequence[Item | Mapping[str, Any]], given: Sequence[str] = (), failing: str = ""
    ) -> Hesitation:
        """Look for reasons to hesitate in a response and its items, of an agent that was `given` these texts.

        `failing` is what failed in the same step, as `completion.failing_in` says it.
        """
        return self._hesitate(response, items, Given(given) if given else NOTHING, failing, MAX_TERMS)

    def each(self, items: Sequence[Item], given: Sequence[str], failing: str) -> Iterator[Hesitation]:
        """Look for reasons to hesitate in the text of each item by itself.

        Of all of them together as many terms are looked at as of one text, shared by their lengths, since many short
        texts can hold more than one long one.
        """
        known = Given(given) if given else NOTHING
        length = sum(len(item.text) for item in items)
        for item in items:
            most = max(LEAST_TERMS, MAX_TERMS * len(item.text) // length)
            yield self._hesitate(item.text, [item], known, failing if item.kind in _STATEMENTS else "", most)

    def _hesitate(
        self, response: str, items: Sequence[Item | Mapping[str, Any]], given: Given, failing: str, most: int
    ) -> Hesitation:
        long_chat = long_chat_of(items) if self._looks_for_hedges else None
        reading = self._reader.read(response, self._marks, given, most)
        is_unhedged = long_chat is not None and not is_hedged(long_chat, response, reading.hedges, self._hedges_in)
        others = _others(response, items)
        done = _done(response, items) if failing else ()
        pattern, keyword = (None, "") if reading.keyword is None else self._patterns.of(reading.keyword)
        unhedged = long_chat if is_unhedged else None
        evidence = Evidence(reading, pattern, keyword, items, unhedged, others, done, failing, most)
        specs = self._specs if any(self._look(evidence)) else self._of_every_text
        signals = []
        for name, find, weight, is_hint in specs:
            if said := find(evidence):
                signals.append(Signal(name, said[0], 0 if is_hint and is_hint(evidence) else weight, said[1]))
        if not signals:  # as of most responses
            return self._calm
        counted = [(one.type, one.weight) for one in signals if one.weight]
        score, is_confident, suggestion = add_up(counted, self._threshold)
        matched = tuple([pattern.id for one in signals if pattern and one.type == "error-pattern"])
        return Hesitation(score, is_confident, tuple(signals), suggestion, matched)

    def _hedges_in(self, chat: str) -> Sequence[Place]:
        return self._reader.read(chat, self._marks).hedges


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
    spans = [*spans_of(response, claims_to_be_done(response))]
    for index, item in enumerate(items):
        kind, text = (item.kind, item.text) if type(item) is Item else (item["kind"], item["text"])
        if kind.casefold() in _STATEMENTS and text not in response:
            spans += spans_of(text, claims_to_be_done(text), index)
    return tuple(spans[:MAX_SPANS])
