"""Score responses under one policy and one set of patterns."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

from . import aware
from .hesitation import Hesitation, Pattern, SeedSignals, add_up, long_chat
from .matcher import Found, Matcher
from .modulation import modulate, schedule
from .parts import History, Parts
from .policy import Policy
from .sense import Reader, marks_of
from .tags import Item, parse_tags

ENGINE = "1.1.0"
NO_HISTORY = History()

MAX_PATTERNS = 10_000
MAX_KEYWORDS = 64
MAX_KEYWORD_LENGTH = 200


class PatternError(ValueError):
    """A pattern that cannot be used; `index` is its place in the list, `reason` says why."""

    def __init__(self, index: int, name: str, reason: str) -> None:
        self.index = index
        self.reason = reason
        super().__init__(f"pattern {index}{name}: {reason}")


class _Patterns:
    """Patterns, and what finds them: under each profile another automaton, built when it is first wanted."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.all = patterns
        # All keywords in order, and the number of the pattern each belongs to.
        self.keywords = [keyword for pattern in patterns for keyword in pattern.keywords]
        self.owners = array("H", (n for n, pattern in enumerate(patterns) for _ in pattern.keywords))

    @cached_property
    def matcher(self) -> Matcher:
        return Matcher(self.keywords)

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.keywords)

    def of(self, keyword: int | None) -> tuple[Pattern | None, str]:
        """Give the pattern a keyword belongs to, and the keyword, by its number."""
        return (None, "") if keyword is None else (self.all[self.owners[keyword]], self.keywords[keyword])


class Assessment(NamedTuple):
    """A verdict, the items it is about, and what the next response's history is made of."""

    verdict: dict[str, Any]
    items: tuple[Item, ...]
    stuck: dict[str, Any] | None
    fingerprint: tuple[int, ...] | None


class Scorer:
    """Scores any number of responses, from any number of threads; nothing in it changes once it is built."""

    __slots__ = ("_aware_signals", "_marks", "_patterns", "_reader", "_seed", "parts", "policy")

    def __init__(
        self,
        patterns: Iterable[Mapping[str, Any]] = (),
        policy: Policy | Mapping[str, Any] | None = None,
        profile: str = "seed",
    ) -> None:
        """Build from patterns in the seed's shape ({"id", "keywords", "description", …}).

        Raises PatternError or PolicyError, both ValueErrors that say what is wrong.
        """
        self._patterns = _Patterns(_check_patterns(patterns))
        self._apply(_as_policy(policy, profile))

    def _apply(self, policy: Policy) -> None:
        self.policy, self.parts = policy, Parts(policy)
        weights = policy.weights
        self._reader: Reader | None = None
        if policy.profile == "aware":
            self._reader = self._patterns.reader
            self._marks = marks_of(*(policy.marks or {}).values())
            self._aware_signals = tuple((signal, weights[name]) for name, signal in aware.SIGNALS if weights[name])
        else:
            self._seed = SeedSignals(self._patterns.matcher, weights, policy.threshold)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return self._patterns.all

    def with_policy(self, policy: Policy | Mapping[str, Any]) -> Self:
        """Give a scorer of the same patterns under another policy, at once: they share the automaton."""
        other = type(self).__new__(type(self))
        other._patterns = self._patterns
        other._apply(_as_policy(policy, "seed"))
        return other

    def items(self, body: Mapping[str, Any]) -> tuple[Item, ...]:
        """Give the items of a valid body: those that were sent, else those parsed from its response.

        Refused (422) when the response holds too many tags (see `parse_tags`).
        """
        sent = body.get("items")
        if sent is not None:
            return tuple(Item(item["kind"].casefold(), item["text"], item.get("attributes") or {}) for item in sent)
        return parse_tags(body["response"])

    def hesitate(self, response: str, items: Sequence[Item | Mapping[str, Any]]) -> Hesitation:
        """Look for reasons to hesitate in a response and its chats."""
        if self._reader is not None:
            return self._hesitate_aware(self._reader, response, items)
        chats = _chats(items)
        together = long_chat(chats)
        found = self._seed.matcher.find(response)
        if found is None:
            if together is None:
                return self._seed.calm
            found = Found(response)
        pattern, keyword = self._patterns.of(found.keyword)
        return self._seed.weigh(found, chats, together, pattern, keyword)

    def _hesitate_aware(self, reader: Reader, response: str, items: Sequence[Item | Mapping[str, Any]]) -> Hesitation:
        chats = _chats(items)
        together = long_chat(chats)
        reading = reader.read(response, self._marks)
        is_unhedged = False
        if together is not None:
            start = response.find(together)
            if start < 0:
                is_unhedged = not reader.read(together, self._marks).hedges
            else:
                end = start + len(together)
                is_unhedged = not any(start <= first and last <= end for first, last in reading.hedges)
        pattern, keyword = self._patterns.of(reading.keyword)
        texts = [item.text if isinstance(item, Item) else item["text"] for item in items]
        # In ASCII nothing is hidden.
        others = {index: text for index, text in enumerate(texts) if not text.isascii() and text not in response}
        evidence = aware.AwareEvidence(reading, pattern, keyword, chats, is_unhedged, others)
        spoken = [signal(evidence, weight) for signal, weight in self._aware_signals]
        signals = [signal for signal in spoken if signal]
        score, is_confident, suggestion = add_up([(one.type, one.weight) for one in signals], self.policy.threshold)
        matched = (pattern.id,) if pattern and any(one.type == "error-pattern" for one in signals) else ()
        return Hesitation(score, is_confident, tuple(signals), suggestion, matched)

    def score(
        self,
        body: Mapping[str, Any],
        *,
        history: History = NO_HISTORY,
        recognised: Mapping[int, str] | None = None,
        hesitation: bool = True,
    ) -> dict[str, Any]:
        """Give the verdict on a valid body, in the contract's shape; null where a database is needed.

        `recognised` maps the index of an item to the held item whose approved text it repeats: it passes.
        With `hesitation=False` everything passes. Refused (422) when the response holds too many tags.
        """
        return self.assess(body, history, recognise=lambda items: recognised or {}, hesitation=hesitation).verdict

    def assess(
        self,
        body: Mapping[str, Any],
        history: History = NO_HISTORY,
        *,
        recognise: Callable[[Sequence[Item]], Mapping[int, str]] | None = None,
        hesitation: bool = True,
    ) -> Assessment:
        """Give the verdict as `score` does, and with it what the next response's history is made of.

        `recognise` is asked for what `score` is given as `recognised`, when something would be held or marked.
        """
        items = self.items(body)
        doubts = self.hesitate(body["response"], items) if hesitation else None
        verdicts = modulate(items, doubts, self.policy, {})
        if recognise and any(verdict["disposition"] in ("hold", "mark") for verdict in verdicts):
            verdicts = modulate(items, doubts, self.policy, recognise(items))
        found = self.parts.find(body, history)
        verdict = {
            "id": None,
            "policy": None,
            "profile": self.policy.profile,
            "engine": ENGINE,
            "hesitation": None if doubts is None else self._hesitation_part(doubts),
            "quality": found.quality,
            "confidence": found.confidence,
            "stuck": found.stuck,
            "items": verdicts,
            "schedule": schedule(verdicts, self.policy),
            "events": found.events,
        }
        return Assessment(verdict, items, found.state, found.fingerprint)

    def _hesitation_part(self, doubts: Hesitation) -> dict[str, Any]:
        return {
            "score": doubts.score,
            "confident": doubts.confident,
            "threshold": self.policy.threshold,
            "hold_at": self.policy.hold_at,
            "signals": [signal.as_dict() for signal in doubts.signals],
            "suggestion": doubts.suggestion,
            "matched_pattern_ids": list(doubts.matched_pattern_ids),
        }


def _as_policy(policy: Policy | Mapping[str, Any] | None, profile: str) -> Policy:
    if isinstance(policy, Policy):
        return policy
    return Policy.from_dict({"profile": profile, **(policy or {})})


def _chats(items: Sequence[Item | Mapping[str, Any]]) -> list[tuple[int, str]]:
    chats = []
    for index, item in enumerate(items):
        if isinstance(item, Item):
            kind, text = item.kind, item.text
        else:
            kind, text = item["kind"], item["text"]
        if kind == "chat" or kind.casefold() == "chat":
            chats.append((index, text))
    return chats


def _check_patterns(patterns: Iterable[Mapping[str, Any]]) -> tuple[Pattern, ...]:
    checked = []
    for index, pattern in enumerate(patterns):
        if index == MAX_PATTERNS:
            raise PatternError(index, "", f"more than {MAX_PATTERNS:,} patterns; retire some")
        if not isinstance(pattern, Mapping):
            raise PatternError(index, "", "must be an object")
        identifier = pattern.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise PatternError(index, "", "needs an id, a string that is not empty")
        reason = _fault(pattern)
        if reason:
            raise PatternError(index, f" ({identifier})", reason)
        checked.append(Pattern(identifier, tuple(pattern["keywords"]), pattern.get("description") or ""))
    return tuple(checked)


def _fault(pattern: Mapping[str, Any]) -> str | None:
    keywords, description = pattern.get("keywords"), pattern.get("description")
    if description is not None and not isinstance(description, str):
        return "its description must be a string"
    if not isinstance(keywords, list | tuple):
        return "its keywords must be a list of strings"
    if len(keywords) > MAX_KEYWORDS:
        return f"has {len(keywords)} keywords; {MAX_KEYWORDS} at most"
    for place, keyword in enumerate(keywords):
        if not isinstance(keyword, str):
            return f"keyword {place} must be a string"
        if not keyword:
            return f"keyword {place} is empty and would match everything"
        if len(keyword) > MAX_KEYWORD_LENGTH:
            return f"keyword {place} has {len(keyword)} characters; {MAX_KEYWORD_LENGTH} at most"
        if any("\ud800" <= character <= "\udfff" for character in keyword):
            return f"keyword {place} holds half of a surrogate pair"
    return None
