"""Proposed patterns as rows of a page: those that say the same as one, each with what is to be expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import Count, QuerySet

from metacog.heuristics.text.shadow import fold
from metacog.models import Team
from patterns.models import ErrorPattern
from patterns.patterns.lifecycle import digest
from reviews.learning import merging
from reviews.learning.backtest import TOO_OFTEN
from reviews.learning.merging import Group
from reviews.metrics.daily import Ratio
from reviews.models import ProposalEvidence, ProposalTrial
from reviews.presentation.ratios import Share, number, percent, ratio

ORDERS = ("precision", "newest")
State = ErrorPattern.State


@dataclass(frozen=True)
class Evidence:
    """What a proposal fires on among decided texts that did not teach it."""

    fires: Share
    precision: Share  # rejected, of what it fires on
    base: Share | None  # rejected, of what it does not fire on; None where that is not known
    advice: Literal["", "recommended", "often", "unclear", "untested"]  # what its row and its page say of it
    approved: str = ""  # of what it fires on
    alike: str = ""  # rejected, of texts of the same agent or metadata, where that is more than of all

    @classmethod
    def of(cls, pattern: ErrorPattern, *, fires_too_often: bool | None = None) -> Evidence | None:
        """Read what was counted of a proposal, read with its evidence and its backtest; None if of other keywords.

        `fires_too_often` is what a backtest that is shown beside it says.
        """
        found: ProposalEvidence | None = getattr(pattern, "evidence", None)
        if pattern.state != State.PROPOSED or found is None or found.keywords_sha256 != digest(pattern.keywords):
            return None
        if fires_too_often is None:
            trial = Trial.of(pattern)
            fires_too_often = trial.fires_too_often if trial else None
        return cls.of_counts(found, fires_too_often=fires_too_often)

    @classmethod
    def of_counts(cls, found: ProposalEvidence, *, fires_too_often: bool | None) -> Evidence:
        """Read what was counted, with what the backtest of the same keywords says; None: it has not run."""
        precision, base = Ratio(found.rejected, found.fires), None
        if found.base is not None:
            base = Ratio(found.base - found.rejected, found.texts - found.fires)
        fires = ratio(Ratio(found.fires, found.texts))
        if not (base and base.whole):
            return cls(fires, ratio(precision), None, "")
        matched = (found.matched or 0.0) / found.fires if found.fires else 0.0
        advice: Literal["recommended", "often", "unclear", "untested"]
        if not precision.whole or precision.low <= max(base.rate, matched):
            advice = "unclear"
        elif fires_too_often is None:
            advice = "untested"
        else:
            advice = "often" if fires_too_often else "recommended"
        alike = percent(matched) if matched > base.rate else ""
        return cls(fires, ratio(precision), ratio(base), advice, number(found.fires - found.rejected), alike)


@dataclass(frozen=True)
class Trial:
    """What a proposal would have done with the responses of the last days."""

    row: ProposalTrial
    rate: Share  # of the responses, those that it fires on
    fires_too_often: bool

    @classmethod
    def of(cls, pattern: ErrorPattern) -> Trial | None:
        """Read the backtest of a proposal, read with it; None where there is none of these keywords."""
        found: ProposalTrial | None = getattr(pattern, "trial", None)
        if found is None or found.keywords_sha256 != digest(pattern.keywords):
            return None
        too_often = found.fired > TOO_OFTEN * found.responses
        return cls(found, ratio(Ratio(found.fired, found.responses), digits=1), too_often)


@dataclass(frozen=True)
class Row:
    """A proposal, or several that say the same."""

    pattern: ErrorPattern
    evidence: Evidence | None
    trial: Trial | None
    others: Sequence[Row] = ()
    keywords: Sequence[str] = ()  # of all of them
    is_within: bool = True  # it fires wherever the others do, so that its figures are those of all of them

    @property
    def merged(self) -> str:
        """Name the other proposals, as the form says which were shown with this one."""
        return ",".join(str(each.pattern.pk) for each in self.others)


def groups(teams: Sequence[Team], order: str, among: Iterable[int] | None = None) -> list[Group]:
    """Return the proposals of teams as they are shown, in the order asked for: the surest or the newest first."""
    found = merging.grouped(merging.read(teams, among))
    if order == "newest":
        return sorted(found, key=lambda group: -_newest(group))
    return sorted(found, key=lambda group: (-group.lead.sure, -group.lead.pk))


def place(group: Group, order: str) -> tuple[int, int]:
    """Return where a group stands in its order; a later one is smaller."""
    return (0, _newest(group)) if order == "newest" else (group.lead.sure, group.lead.pk)


def _newest(group: Group) -> int:
    return max(each.pk for each in (group.lead, *group.others))


def rows(shown: Sequence[Group]) -> list[Row]:
    """Read what a page says of groups. One query."""
    keys = [each.pk for group in shown for each in (group.lead, *group.others)]
    known = with_evidence(ErrorPattern.objects.all()).in_bulk(keys)
    return [row for group in shown if group.lead.pk in known for row in [_row(group, known)]]


def with_evidence(patterns: QuerySet[ErrorPattern]) -> QuerySet[Any]:
    return patterns.select_related("team", "evidence", "trial").annotate(taught=Count("origins"))


def singles(patterns: Iterable[Any]) -> list[Row]:
    """Return proposals that were read with their evidence, each by itself."""
    return list(map(_single, patterns))


def _row(group: Group, known: Mapping[int, Any]) -> Row:
    others = [_single(known[each.pk]) for each in group.others if each.pk in known]
    pattern = known[group.lead.pk]
    keywords: dict[str, str] = {}
    for each in (pattern, *(row.pattern for row in others)):
        for keyword in each.keywords:
            keywords.setdefault(fold(keyword), keyword)
    is_within = all(map(group.lead.is_within, group.others))
    return Row(pattern, Evidence.of(pattern), Trial.of(pattern), others, list(keywords.values()), is_within)


def _single(pattern: ErrorPattern) -> Row:
    return Row(pattern, Evidence.of(pattern), Trial.of(pattern), (), pattern.keywords)
