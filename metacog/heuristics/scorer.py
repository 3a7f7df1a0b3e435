"""Score responses under one policy and one set of patterns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from .effects.effect import Reading
from .hesitation.aware import AwareSignals
from .hesitation.beside import Each, beside, each_with, together
from .hesitation.completion import failing_in
from .hesitation.modulation import hold_paused, hold_words, modulate, schedule
from .hesitation.patterns import Pattern, Patterns
from .hesitation.seed import Hesitate, Hesitation, seed_signals
from .parts import History, Parts
from .policy.call_rules import rules_of
from .policy.policy import Policy
from .quality.quality import Quality
from .ranking.budget import Ranking, hold_riskiest, rank_items
from .stuck.stuck import State
from .text.tags import Item, ToolCall, find_items, without_calls
from .text.utterance import Fingerprint
from .tool_calls.gate import asking, gate, too_late
from .tool_calls.rules import Judged
from .unread import is_unread
from .wire.assessment import UNREAD, Assessment, HesitationPart, ItemPart
from .wire.wire import Refused, summary

ENGINE = "1.22.0"
NO_HISTORY = History()
JudgedItems = Sequence[Judged | None]  # what the rules say of each item that is a tool call
Recognise = Callable[[Sequence[Item], JudgedItems], Mapping[int, str]]


class Scored(NamedTuple):
    """A verdict, the items it is about, and what the next response's history is made of."""

    verdict: Assessment
    items: tuple[Item, ...]
    stuck: State | None
    quality: Quality | None
    risky: Sequence[int] = ()  # indexes of what a review budget may hold

    @property
    def fingerprint(self) -> Fingerprint | None:
        """What quality tells a repetition of this response by; made when it is asked for."""
        return self.quality.fingerprint if self.quality else None


class Scorer:
    """Scores any number of responses, from any number of threads; nothing in it changes once it is built."""

    __slots__ = ("_each", "_patterns", "hesitate", "parts", "policy", "rules")

    # Looks for reasons to hesitate in a response and its items (Items, or mappings with `kind` and `text`);
    # a third argument may name the texts that the agent was given, see `given_in`, a fourth what failed in the same
    # step, see `failing_in`.
    hesitate: Hesitate
    _each: Each

    def __init__(
        self,
        patterns: Iterable[Mapping[str, Any]] = (),
        policy: Policy | Mapping[str, Any] | None = None,
        profile: str = "seed",
    ) -> None:
        """Build from patterns in the seed's shape ({"id", "keywords", "description", …}).

        Raises PatternError or PolicyError, both ValueErrors that say what is wrong.
        """
        self._patterns = Patterns(patterns)
        self._apply(_as_policy(policy, profile))

    def _apply(self, policy: Policy) -> None:
        self.policy, self.parts = policy, Parts(policy)
        self.rules = rules_of(policy)
        if policy.profile == "aware":
            aware = AwareSignals(self._patterns, policy)
            self.hesitate, self._each = aware.hesitate, aware.each
        else:
            self.hesitate = seed_signals(self._patterns, policy)
            self._each = each_with(self.hesitate)

    @property
    def looks_for_sources(self) -> bool:
        """Say whether it makes a difference to `hesitate` which figures the agent was given."""
        return self.policy.profile == "aware" and self.policy.weights["no-source"] > 0

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return self._patterns.all

    def with_policy(self, policy: Policy | Mapping[str, Any]) -> Self:
        """Give a scorer of the same patterns under another policy, at once: they share the automaton."""
        other = type(self).__new__(type(self))
        other._patterns = self._patterns
        other._apply(_as_policy(policy, "seed"))
        return other

    def items_of(self, body: Mapping[str, Any]) -> tuple[Item, ...]:
        """Give the items of a valid body as the policy has them."""
        return find_items(body, plain_text_as_chat=self.policy.plain_text_as_chat).items

    def score(
        self,
        body: Mapping[str, Any],
        *,
        history: History = NO_HISTORY,
        recognised: Mapping[int, str] | None = None,
        hesitation: bool = True,
        ranking: Ranking | None = None,
    ) -> Assessment:
        """Give the verdict on a valid body, in the contract's shape; null where a database is needed.

        `recognised` maps the index of an item to the held item whose approved text it repeats: it passes.
        With `hesitation=False` everything passes. Refused (422) when the response holds too many tags.
        """
        return self.assess(
            body, history, recognise=lambda items, judged: recognised or {}, hesitation=hesitation, ranking=ranking
        ).verdict

    def dispose(
        self,
        body: Mapping[str, Any],
        recognised: Mapping[int, str] | None = None,
        *,
        told: str = "",
        hesitation: bool = True,
    ) -> tuple[Hesitation | None, list[ItemPart]]:
        """Give the hesitation and the "items" of the verdict that `score` gives, without the rest of it.

        `told` is the history's.
        """
        items = self.items_of(body)
        doubts = self._doubts(body, items, told) if hesitation else None
        verdicts = self._disposed(items, doubts, self._judged(items), recognised or {})
        if self.policy.hold_words_with_calls:
            hold_words(verdicts)
        if doubts:
            _flag_unread(body["response"], items, verdicts)
        return doubts, verdicts

    def assess(
        self,
        body: Mapping[str, Any],
        history: History = NO_HISTORY,
        *,
        recognise: Recognise | None = None,
        hesitation: bool = True,
        ranking: Ranking | None = None,
    ) -> Scored:
        """Give the verdict as `score` does, and with it what the next response's history is made of.

        `recognise` is asked for what `score` is given as `recognised`, when something would be held or marked.
        With a `ranking` items have their learned risk, and its budget may hold some that would pass.
        """
        items, flags = find_items(body, plain_text_as_chat=self.policy.plain_text_as_chat)
        doubts = self._doubts(body, items, history.told) if hesitation else None
        if errors := too_late(items, self.policy.expiry_seconds):
            raise Refused(422, summary(errors), errors)
        judged = self._judged(items)
        if history.paused:
            judged = asking(judged)
        verdicts = self._disposed(items, doubts, judged, {})
        was_asked = history.paused or any(verdict["disposition"] in ("hold", "mark") for verdict in verdicts)
        known = recognise(items, judged) if recognise and was_asked else {}
        if known:
            verdicts = self._disposed(items, doubts, judged, known)
        if history.paused:
            hold_paused(verdicts)
        is_unread = doubts is not None and _flag_unread(body["response"], items, verdicts)
        found = self.parts.find(body, history)
        doubt = None if doubts is None else self._hesitation_part(doubts)
        risky: list[ItemPart] = []
        if ranking and doubt:
            parts = {
                "hesitation": doubt,
                "quality": found.quality,
                "confidence": found.confidence,
                "stuck": found.stuck,
            }
            risky = rank_items(body, items, verdicts, parts, ranking)
            if risky and recognise and not was_asked:
                known = recognise(items, judged)
            for each in risky:  # a call that its rule allows needed no approval so far
                each["recognised"] = known.get(each["index"])
            hold_riskiest(risky, ranking)
        if self.policy.hold_words_with_calls:
            hold_words(verdicts)
        verdict: Assessment = {
            "id": None,
            "policy": None,
            "profile": self.policy.profile,
            "engine": ENGINE,
            "hesitation": doubt,
            "quality": found.quality,
            "confidence": found.confidence,
            "stuck": found.stuck,
            "items": verdicts,
            "flags": [UNREAD, *flags] if is_unread else [*flags],
            "schedule": schedule(verdicts, self.policy),
            "events": found.events,
            "threads": None,
        }
        if ranking and doubt:
            verdict["risk_model"] = ranking.orders.id
        return Scored(verdict, items, found.state, found.judged, [each["index"] for each in risky])

    def weigh(self, response: str, items: Sequence[Item], given: Sequence[str] = (), failing: str = "") -> Hesitation:
        """Give what `hesitate` gives, each text of an item that is not in the response as one of its own."""
        words = without_calls(items)
        whole, others = self.hesitate(response, words, given, failing), beside(response, words)
        if not others:
            return whole
        doubts = self._each([item for item, _indexes in others], given, failing)
        return together(whole, zip(doubts, (indexes for _item, indexes in others), strict=True))

    def _doubts(self, body: Mapping[str, Any], items: Sequence[Item], told: str) -> Hesitation:
        return self.weigh(body["response"], items, given_in(body, told), failing_in(body))

    def judge(self, call: ToolCall, reading: Reading | None = None) -> Judged:
        """Say what the rules say of a call, and what it would do, which is read unless it is given."""
        return self.rules.judge(call, reading)

    def _judged(self, items: Sequence[Item]) -> JudgedItems:
        return [self.judge(item.call) if item.call else None for item in items]

    def _disposed(
        self,
        items: Sequence[Item],
        doubts: Hesitation | None,
        judged: JudgedItems,
        recognised: Mapping[int, str],
    ) -> list[ItemPart]:
        verdicts = modulate(items, doubts, self.policy, recognised)
        for item, each, verdict in zip(items, judged, verdicts, strict=True):
            if each:
                scored = self.score_call(item, verdict["index"]) if doubts and each.do == "score" else None
                verdict.update(gate(item, each, scored, verdict["recognised"]))
        return verdicts

    def score_call(self, item: Item, index: int) -> HesitationPart:
        """Give the hesitation about a tool call by itself; its spans are places in the item's text."""
        part = self._hesitation_part(self.hesitate(item.text, [item]))
        for signal in part["signals"]:
            for span in signal["spans"]:
                span["item"] = index
        return part

    def _hesitation_part(self, doubts: Hesitation) -> HesitationPart:
        return {
            "score": doubts.score,
            "confident": doubts.confident,
            "threshold": self.policy.threshold,
            "hold_at": self.policy.hold_at,
            "signals": [signal.as_dict() for signal in doubts.signals],
            "suggestion": doubts.suggestion,
            "matched_pattern_ids": list(doubts.matched_pattern_ids),
        }


def _flag_unread(response: str, items: Sequence[Item], verdicts: Sequence[ItemPart]) -> bool:
    """Flag the items whose text no rule can read; say whether there are any, or the response is one itself."""
    is_any = is_unread(response)
    for item, verdict in zip(items, verdicts, strict=True):
        if item.call is None and (is_any if item.text == response else is_unread(item.text)):
            verdict["flags"].insert(0, UNREAD)
            is_any = True
    return is_any


def given_in(body: Mapping[str, Any], told: str = "") -> tuple[str, ...]:
    """Give what an agent was told before it answered: by its user, by the command it ran, and earlier (`told`)."""
    message, output = body.get("user_message"), body.get("command_output")
    return tuple(filter(None, (message, output, told))) if message or output or told else ()


def _as_policy(policy: Policy | Mapping[str, Any] | None, profile: str) -> Policy:
    if isinstance(policy, Policy):
        return policy
    return Policy.from_dict({"profile": profile, **(policy or {})})
