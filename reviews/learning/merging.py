"""Find proposals that say the same, to be shown and adopted as one: no row is changed here.

Two belong together if they have the same keyword, if a keyword of one stands within a keyword of the other and both
were taught by the same response, or if nearly the same decisions taught them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Coalesce

from metacog.heuristics.ranking.contrast import ALIKE
from metacog.heuristics.text.shadow import fold
from metacog.models import Team
from patterns.models import MAX_KEYWORDS, ErrorPattern
from reviews.models import PatternOrigin

State = ErrorPattern.State
MOST_OTHERS = 20  # proposals that join one


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed pattern; `sure` in thousandths, one more than its evidence says, 0 without any."""

    pk: int
    team: int
    keywords: tuple[str, ...]  # folded
    sure: int = 0
    is_apart: bool = False
    rows: frozenset[str] = frozenset()  # what taught it
    responses: frozenset[int] = frozenset()  # where that had been said

    def is_within(self, other: Proposal) -> bool:
        """Tell whether this fires wherever the other does: each of its keywords holds one of this one's."""
        return all(any(mine in theirs for mine in self.keywords) for theirs in other.keywords)


class Group(NamedTuple):
    """Proposals to adopt as one: the lead fires wherever the others do, where one of them does, else is the surest."""

    lead: Proposal
    others: tuple[Proposal, ...]


@dataclass(slots=True)
class _Open:
    first: Proposal
    others: list[Proposal] = field(default_factory=list)

    def closed(self) -> Group:
        rows = [self.first, *self.others]
        lead = next((each for each in rows if all(map(each.is_within, rows))), self.first)
        return Group(lead, tuple(each for each in rows if each is not lead))

    def has_room(self, more: Proposal) -> bool:
        count = sum(len(each.keywords) for each in (self.first, *self.others, more))
        return len(self.others) < MOST_OTHERS and count <= MAX_KEYWORDS


def belong_together(one: Proposal, other: Proposal) -> bool:
    """Tell whether two proposals of one team say the same."""
    if one.team != other.team or one.is_apart or other.is_apart:
        return False
    if set(one.keywords) & set(other.keywords):
        return True
    either = len(one.rows | other.rows)
    if either and len(one.rows & other.rows) >= ALIKE * either:
        return True
    is_nested = any(mine in theirs or theirs in mine for mine in one.keywords for theirs in other.keywords)
    return is_nested and bool(one.responses & other.responses)


def grouped(proposals: Iterable[Proposal]) -> list[Group]:
    """Put together what belongs together, in the given order: each joins the first whose own proposal it is like."""
    found: dict[int, list[_Open]] = {}
    for each in proposals:
        of_team = found.setdefault(each.team, [])
        group = next((one for one in of_team if belong_together(one.first, each) and one.has_room(each)), None)
        if group:
            group.others.append(each)
        else:
            of_team.append(_Open(each))
    return [one.closed() for of_team in found.values() for one in of_team]


def read(teams: Sequence[Team], among: Iterable[int] | None = None) -> list[Proposal]:
    """Read the proposals of teams, the surest first. Two queries."""
    rows = ErrorPattern.objects.filter(team__in=teams, state=State.PROPOSED)
    if among is not None:
        rows = rows.filter(pk__in=among)
    taught_by: dict[int, set[str]] = {}
    said_in: dict[int, set[int]] = {}
    origins = PatternOrigin.objects.filter(pattern__in=rows).order_by()
    for pattern, row, response in origins.values_list("pattern", "row", "response"):
        taught_by.setdefault(pattern, set()).add(row)
        if response:
            said_in.setdefault(pattern, set()).add(response)
    sure = Coalesce(F("evidence__sure") + 1, 0)
    known = rows.annotate(sure=sure).order_by("-sure", "-pk")
    return [
        Proposal(
            pk,
            team,
            tuple(filter(None, map(fold, keywords))),
            certainty,
            is_apart,
            frozenset(taught_by.get(pk, ())),
            frozenset(said_in.get(pk, ())),
        )
        for pk, team, keywords, certainty, is_apart in known.values_list("pk", "team", "keywords", "sure", "is_apart")
    ]
