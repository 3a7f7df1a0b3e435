"""Figures by agent, team, signal, pattern and reviewer: a row each, with its share of rejections now and before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.models import User
from reviews.metrics.daily import Lift, Ratio
from reviews.metrics.report import Report
from reviews.presentation.explanation import TITLES
from reviews.presentation.phrases import gap, person_name
from reviews.presentation.ratios import number, percent, ratio, sure, unbroken
from reviews.presentation.statistics import changes
from reviews.records.reasons import described

GROUPS: dict[str, Promise] = {
    "signal": _("Signal"),
    "pattern": _("Error pattern"),
    "agent": _("Agent"),
    "team": _("Team"),
    "reviewer": _("Reviewer"),
}
COUNTED: dict[str, Promise] = {  # what the first number of a row counts
    "signal": _("Fired"),
    "pattern": _("Fired"),
    "agent": _("Held"),
    "team": _("Held"),
    "reviewer": _("Decided"),
}
USUAL = "signal"
MOST_ROWS = 50
MOST_NAMED = 3  # in the sentence


class Group(NamedTuple):
    """One row: an agent, a team, a signal, a pattern or a person."""

    key: str  # what stands for it in a file
    name: str
    url: str
    counted: int
    now: Ratio
    before: Ratio


@dataclass(frozen=True)
class Row:
    """A row as the page shows it."""

    group: Group
    lift: Lift

    @property
    def share(self) -> Any:
        return ratio(self.group.now)

    @property
    def count(self) -> str:
        return number(self.group.counted)

    @property
    def decided(self) -> str:
        return number(self.group.now.whole)

    @property
    def rejected(self) -> str:
        return number(self.group.now.part)

    @property
    def left(self) -> str:
        return f"{100 * self.group.now.low:.1f}"

    @property
    def width(self) -> str:
        return f"{100 * (self.group.now.high - self.group.now.low):.1f}"

    @property
    def at(self) -> str:
        return f"{100 * self.group.now.rate:.1f}"

    @property
    def before(self) -> str:
        return percent(self.group.before.rate) if self.group.before.is_enough else "–"

    @property
    def change(self) -> str:
        return changes.of_share(self.group.now, self.group.before) if self.group.before.whole else "–"

    @property
    def side(self) -> int:
        """Return 1 where it is clearly rejected more often than the rest, −1 where less, else 0."""
        if not self.lift.is_enough:
            return 0
        return (self.lift.low > 1) - (self.lift.high < 1)

    @property
    def verdict(self) -> str:
        if not self.lift.is_enough:
            return ""
        said = {
            1: gettext("rejected more often than the rest"),
            -1: gettext("rejected less often than the rest"),
            0: changes.no_difference(self.group.now.whole),
        }
        return said[self.side]


def groups(report: Report, by: str, viewer: User) -> list[Group]:
    """Return the rows of a dimension, the most often rejected first where that can be told."""
    found: list[Group]
    if by == "agent":
        found = [
            Group(
                agent.public_id, viewer.name_of(agent), reverse("agent", args=[agent.public_id]),
                each.now.held, each.now.rejected_ratio, each.before.rejected_ratio,
            )
            for agent, each in report.by_agent.items()
        ]  # fmt: skip
    elif by == "team":
        found = [
            Group(str(team.pk), team.name, "", each.now.held, each.now.rejected_ratio, each.before.rejected_ratio)
            for team, each in report.by_team.items()
        ]
    elif by == "pattern":
        found = [
            Group(pattern.public_id, described(pattern.description), reverse("pattern", args=[pattern.pk]), *each)
            for pattern, each in report.patterns.items()
        ]
    elif by == "reviewer":
        found = [Group(person.get_username(), person_name(person), "", *each) for person, each in report.people.items()]
        return sorted(found, key=lambda group: group.name.casefold())  # which ranks nobody
    else:
        found = [Group(name, str(TITLES.get(name, name)), "", *each) for name, each in report.signals.items()]
    return sorted(found, key=lambda group: (not group.now.is_enough, -group.now.rate, group.name))


def shown(report: Report, by: str, viewer: User) -> dict[str, Any]:
    """Return a dimension's table with its sentence."""
    all_groups = groups(report, by, viewer)
    decided = report.decided_by_people if by == "reviewer" else report.total.rejected_ratio
    rows = [Row(group, Lift(group.now, decided)) for group in all_groups]
    return {
        "by": by,
        "title": GROUPS[by],
        "counted": COUNTED[by],
        "rows": rows[:MOST_ROWS],
        "more": max(0, len(rows) - MOST_ROWS),
        "told": _told(rows, decided),
    }


def _told(rows: Iterable[Row], decided: Ratio) -> str:
    """Say which rows differ clearly from the rest."""
    more = [row for row in rows if row.side > 0]
    less = [row for row in rows if row.side < 0][::-1]
    said = []
    if more:
        said.append(gettext("Rejected more often than the rest: %(names)s.") % {"names": _names(more)})
    if less:
        said.append(gettext("Rejected less often than the rest: %(names)s.") % {"names": _names(less)})
    if not said:
        return unbroken(gettext("No clear difference between them (n = %(n)s).") % {"n": number(decided.whole)})
    return gap().join(said)


def _names(rows: list[Row]) -> str:
    told = [
        gettext("%(name)s (%(share)s)") % {"name": row.group.name, "share": sure(row.group.now)}
        for row in rows[:MOST_NAMED]
    ]
    if len(rows) > MOST_NAMED:
        told.append(gettext("%(n)s more") % {"n": len(rows) - MOST_NAMED})
    return pgettext("list", "; ").join(told)
