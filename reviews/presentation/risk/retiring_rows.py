"""What a team may switch off, as the page To do says it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext

from metacog.models import Agent, Team
from patterns.models import ErrorPattern
from reviews.learning.retiring import Offer, offered
from reviews.metrics.daily import Ratio
from reviews.presentation.explanation import TITLES
from reviews.presentation.phrases import gap
from reviews.presentation.ratios import number, percent, span
from reviews.presentation.rule_words import in_words


@dataclass(frozen=True)
class Row:
    """One thing that may be switched off: what it is, what was decided about what it held, and what would change."""

    name: str
    told: str
    interval: str
    change: str = ""
    pattern: ErrorPattern | None = None
    agent: str = ""
    signal: str = ""
    agents: Sequence[Agent] = ()  # of whom the signal weighs


@dataclass(frozen=True)
class Group:
    """What one team may switch off."""

    team: Team
    signals: Sequence[Row]
    change: str  # what without all these signals would no longer be held
    others: Sequence[Row]
    may_switch: bool

    @property
    def count(self) -> int:
        return len(self.signals) + len(self.others)


def shown(teams: Sequence[Team], owned: Collection[Team]) -> list[Group]:
    """Return what these teams may switch off; the signals of those that are owned."""
    return [_group(offer, may_switch=offer.team in owned) for offer in offered(teams)]


def _group(offer: Offer, *, may_switch: bool) -> Group:
    signals = [
        Row(title(name), *_against(each, each["fired"], each["rest"]), signal=name, agents=each["agents"])
        for each in offer.signals
        for name in [each["name"]]
    ]
    return Group(offer.team, signals, _change(offer.no_longer, offer.of_these), list(_others(offer)), may_switch)


def title(signal: str) -> str:
    return str(TITLES.get(signal, signal))


def _others(offer: Offer) -> Iterator[Row]:
    for each in offer.patterns:
        told = _against(each, each["decided"], each["base"])
        pattern: ErrorPattern = each["pattern"]
        yield Row(pattern.description, *told, change=_change(each["no_longer"]), pattern=pattern)
    for each in offer.rules:
        told = _against(each, each["asked"], each["base"])
        change = ngettext(
            "%(n)s call would no longer be asked about.", "%(n)s calls would no longer be asked about.", each["asked"]
        )
        yield Row(in_words(each["rule"]), *told, change=change % {"n": number(each["asked"])}, agent=each["agent"])


def _against(each: Mapping[str, Any], cases: int, base: Sequence[int]) -> tuple[str, str]:
    """Say how many of what something held were rejected, beside the others; and its interval."""
    own, rest = Ratio(each["rejected"], cases), Ratio(*base)
    counts = {"part": number(own.part), "whole": number(own.whole), "base": percent(rest.rate), "n": number(rest.whole)}
    told = gettext("%(part)s of %(whole)s rejected; of the others, %(base)s (n = %(n)s)") % counts
    ends = {"rate": percent(own.rate), "interval": span(own.low, own.high)}
    return told, gettext("%(rate)s, 95%% CI %(interval)s") % ends


def _change(items: int, rejected: int | None = None) -> str:
    """Say what would not have been held in the last 30 days."""
    told = ngettext(
        "Of the last 30 days, %(n)s item would not have been held.",
        "Of the last 30 days, %(n)s items would not have been held.",
        items,
    ) % {"n": number(items)}
    if rejected:
        more = ngettext("%(n)s of them was rejected.", "%(n)s of them were rejected.", rejected)
        return f"{told}{gap()}{more % {'n': number(rejected)}}"
    return told
