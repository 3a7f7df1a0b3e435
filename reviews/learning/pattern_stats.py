"""Count what became of the responses that each error pattern fired on, behind the writes.

Whoever calls `count` moves a cursor in the same transaction, so that every response and decision counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, Prefetch
from django.db.models.functions import Coalesce

from metacog import heuristics
from metacog.heuristics.text.shadow import Shadow
from metacog.models import Agent
from patterns.models import ErrorPattern, PatternRecord
from patterns.patterns.alone import Alone, matched_by
from patterns.patterns.lifecycle import responses_of
from patterns.patterns.scorer import scorer_shown
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem, ShadowMatch, Signal

State = ErrorPattern.State

_COUNTED: dict[str, str] = {
    DecisionVerdict.REJECT: "rejected",
    DecisionVerdict.EDIT: "edited",
    DecisionVerdict.APPROVE: "approved",
}
_FIELDS = ("fired", "held", *_COUNTED.values(), "keywords", "last_fired_at")


@dataclass(frozen=True)
class Standing:
    """A pattern's record as ratios; `record` is None while it has none."""

    record: PatternRecord | None
    seen: int  # responses that it would have fired on, had it matched them

    @classmethod
    def of(cls, pattern: ErrorPattern, responses: int) -> Standing:
        """Judge a pattern, read with its record; `responses` are its team's, all of them."""
        record: PatternRecord | None = getattr(pattern, "record", None)
        if record is None:
            return cls(None, 0)
        until = responses if record.seen_to is None else record.seen_to
        return cls(record, max(until - record.seen_from, record.fired))

    @property
    def rate(self) -> Ratio:
        return Ratio(self.record.fired if self.record else 0, self.seen)

    @property
    def precision(self) -> Ratio:
        """Of the items held with it that a person decided, those that were rejected."""
        return Ratio(self.record.rejected, self.record.decided) if self.record else Ratio(0, 0)


def latest(pattern: ErrorPattern, most: int) -> list[AgentResponse]:
    """Return the responses that a pattern fired on last, in earnest or in shadow, with their held items."""
    keys: set[int] = set()
    for model in (Signal, ShadowMatch):
        fired = model._default_manager.filter(pattern=pattern).order_by("-response")
        keys.update(fired.values_list("response", flat=True)[:most])
    rows = AgentResponse.objects.filter(pk__in=keys).select_related("agent").defer("body", "verdict", "history")
    items = HeldItem.objects.defer("text", "attributes")
    return list(rows.prefetch_related(Prefetch("held_items", items)).order_by("-pk")[:most])


# -- counting --------------------------------------------------------------------------------------


class Firing(NamedTuple):
    """A response that a pattern fired on, in earnest or in shadow."""

    pattern: int
    response: AgentResponse
    keyword: str | None  # None: its keywords have changed since, or the text was erased
    in_shadow: bool


def find(agent: Agent, responses: Sequence[AgentResponse]) -> list[Firing]:
    """Find what fired on responses of an agent (read with its team), and what in shadow would have."""
    by_id = {response.pk: response for response in responses}
    fired = Signal.objects.filter(response__in=by_id, pattern__isnull=False)
    firings = [
        Firing(pattern, by_id[response], matched_by(keywords, _places(by_id[response])), in_shadow=False)
        for response, pattern, keywords in fired.values_list("response", "pattern", "pattern__keywords")
    ]
    tried = ErrorPattern.objects.filter(team=agent.team_id, state=State.SHADOW).annotate(
        since=Coalesce("record__since", "created_at")
    )
    policy = scorer_shown(agent).policy
    alone = [(pattern, Alone(pattern.keywords, policy)) for pattern in tried]
    for response in responses if alone else ():
        if response.hesitation_score is None:
            continue  # hesitation was switched off
        texts = [(text, Shadow(text).text) for text in heuristics.texts_of(response.wire_body())]
        for pattern, each in alone:
            if response.received_at < pattern.since:
                continue
            if keyword := next(filter(None, (each.match(*text) for text in texts)), None):
                firings.append(Firing(pattern.pk, response, keyword, in_shadow=True))
    return firings


def _places(response: AgentResponse) -> list[str]:
    hesitation = response.wire_verdict()["hesitation"]
    signals = hesitation["signals"] if hesitation else ()
    return [span["text"] for signal in signals if signal["type"] == "error-pattern" for span in signal["spans"]]


def count(firings: Sequence[Firing], decisions: Sequence[Decision]) -> None:
    """Add firings, and decisions that were released, to the records of the patterns they belong to."""
    ShadowMatch.objects.bulk_create(
        [ShadowMatch(pattern_id=each.pattern, response=each.response) for each in firings if each.in_shadow],
        ignore_conflicts=True,
    )
    # Whole, whatever its keywords were: with what comes after the agents' cursors, its triggerCount.
    for number, some in _by_count(each.pattern for each in firings if not each.in_shadow).items():
        ErrorPattern.objects.filter(pk__in=some).update(counted_triggers=F("counted_triggers") + number)
    decided = [
        (each.held.response_id, _COUNTED[each.verdict])
        for each in decisions
        if each.by == Decision.By.PERSON and each.verdict in _COUNTED
    ]
    concerned = _patterns_of({response for response, _ in decided})
    records = _locked({each.pattern for each in firings}.union(*concerned.values()))
    items = HeldItem.objects.words().filter(response__in={each.response.pk for each in firings}).order_by()
    held = dict(items.values_list("response").annotate(Count("pk")))
    for pattern, response, keyword, _in_shadow in firings:
        record = records[pattern]
        if response.received_at < record.since:
            continue
        record.fired += 1
        record.held += held.get(response.pk, 0)
        record.last_fired_at = max(record.last_fired_at or response.received_at, response.received_at)
        if keyword is not None:
            record.keywords[keyword] = record.keywords.get(keyword, 0) + 1
    received = dict(AgentResponse.objects.filter(pk__in=concerned).values_list("pk", "received_at"))
    for answered, outcome in decided:
        for pattern in concerned[answered]:
            record = records[pattern]
            if received[answered] >= record.since:
                setattr(record, outcome, getattr(record, outcome) + 1)
    PatternRecord.objects.bulk_update(records.values(), _FIELDS, batch_size=200)


def _by_count(patterns: Iterable[int]) -> dict[int, list[int]]:
    """Put patterns together, in ascending order, that are named as often."""
    found: dict[int, list[int]] = defaultdict(list)
    for pattern, number in sorted(Counter(patterns).items()):
        found[number].append(pattern)
    return found


def _patterns_of(responses: Collection[int]) -> dict[int, set[int]]:
    """Return, by response, the patterns that fired on it."""
    found: dict[int, set[int]] = defaultdict(set)
    fired = Signal.objects.filter(response__in=responses, pattern__isnull=False)
    tried = ShadowMatch.objects.filter(response__in=responses)
    for rows in (fired, tried):
        for response, pattern in rows.values_list("response", "pattern"):
            found[response].add(pattern)
    return found


def _locked(patterns: Collection[int]) -> dict[int, PatternRecord]:
    """Return the records of patterns, locked; those that have none yet count since they were created."""
    missing = ErrorPattern.objects.filter(pk__in=patterns, record=None)
    PatternRecord.objects.bulk_create(
        [
            PatternRecord(
                pattern=pattern,
                since=pattern.created_at,
                seen_from=AgentResponse.objects.filter(
                    agent__team=pattern.team_id, received_at__lt=pattern.created_at
                ).count(),
                seen_to=responses_of(pattern.team_id) if pattern.state == State.RETIRED else None,
            )
            for pattern in missing
        ],
        ignore_conflicts=True,
    )
    rows = PatternRecord.objects.select_for_update().filter(pattern__in=patterns).order_by("pk")
    return {row.pattern_id: row for row in rows}
