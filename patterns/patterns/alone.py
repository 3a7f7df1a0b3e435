"""One error pattern by itself: whether it would match a text, and by which of its keywords."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from metacog import heuristics
from metacog.heuristics.text.shadow import Shadow


class Alone:
    """A pattern that is tried out under an agent's policy, as if it were active.

    Where another active pattern matches as well the score is the same: the signal counts once.
    """

    def __init__(self, keywords: Sequence[str], policy: heuristics.Policy) -> None:
        self.keywords, self.policy = list(keywords), policy
        self._shadows = [Shadow(keyword).text for keyword in keywords]

    @cached_property
    def scorer(self) -> heuristics.Scorer:
        return heuristics.Scorer([{"id": "tried", "keywords": self.keywords, "description": ""}], self.policy)

    def might_match(self, shadow: str) -> bool:
        """Say at little cost whether a keyword stands in a text's shadow, without which no profile finds it."""
        return any(keyword in shadow for keyword in self._shadows)

    def hesitate(
        self, text: str, items: Sequence[heuristics.Item] = (), given: Sequence[str] = (), failing: str = ""
    ) -> heuristics.Hesitation | None:
        """Return the hesitation over a text that it matches, else None; `given`, `failing` as heuristics has them."""
        doubts = self.scorer.weigh(text, items, given, failing)
        return doubts if doubts.matched_pattern_ids else None

    def match(self, text: str, shadow: str) -> str | None:
        """Return the keyword by which it matches a text; `shadow` is Shadow(text).text, made once for all patterns."""
        doubts = self.hesitate(text) if self.might_match(shadow) else None
        return matched_by(self.keywords, (span.text for span in evidence(doubts))) if doubts else None


def evidence(doubts: heuristics.Hesitation) -> Sequence[heuristics.Span]:
    return next((signal.spans for signal in doubts.signals if signal.type == "error-pattern"), ())


def matched_by(keywords: Sequence[str], places: Iterable[str]) -> str | None:
    """Return the keyword that stands at places of a text; None when it is none of them (any more)."""
    read_as = {Shadow(keyword).text: keyword for keyword in keywords}
    return next((read_as[text] for text in (Shadow(place).text for place in places) if text in read_as), None)
