"""A team's week in sentences: what was held, found and missed, and what to retire. All of it is counted elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext, pgettext

from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Team, User
from reviews.learning import corrections
from reviews.metrics import daily, report
from reviews.metrics.daily import Total
from reviews.metrics.ranges import Range
from reviews.metrics.report import Report, Scope
from reviews.presentation.phrases import gap
from reviews.presentation.ratios import duration, number
from reviews.presentation.risk import retiring_rows
from reviews.presentation.statistics import changes, charts, plainly

DAYS = 7
MOST = 5  # patterns, agents and things to retire that are told one by one

Naming = Callable[[str], str]  # makes a name fit for where the report is read


@dataclass(frozen=True)
class Line:
    """One sentence, with where there is more; a name stands before it, apart."""

    told: str
    name: str = ""
    path: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    lines: Sequence[Line]
    more: str  # what the link under it says
    path: str


@dataclass(frozen=True)
class Weekly:
    """One team's report of seven days."""

    team: Team
    days: Range
    first_line: str
    counted: str  # what the first line counts
    sections: Sequence[Section]
    is_empty: bool  # nothing was held in these days or in those before, and nothing was missed or is to be retired


def read(team: Team, viewer: User, days: Range, name: Naming = masked_text) -> Weekly:
    """Read one team's report in the language in force, from the days that Statistics counts. Twenty queries at most."""
    agents = list(Agent.objects.filter(team=team).select_related("team").order_by("name"))
    found = report.read(Scope(agents, days, viewer, ()))
    retire, missed = _retire(team, name), _missed(found, team, name)
    is_empty = not (_was_held(found.total) or _was_held(found.before) or retire or missed)
    if is_empty:
        told = gettext(
            "Nothing was held in the two weeks before today. Items held today appear in the report from tomorrow on."
        )
        return Weekly(team, days, told, "", [], is_empty=True)
    missed = missed or [Line(gettext("No spot checks were answered, and no corrections confirmed."))]
    sections = [
        _section(pgettext("weekly report", "Held"), _held(found), gettext("Statistics"), "statistics", team, days),
        _section(
            pgettext("weekly report", "Found"), _found(found, name), gettext("Decided items"), "queue", None, None
        ),
        _section(
            pgettext("weekly report", "Missed"),
            missed,
            gettext("Spot checks"),
            "spot-checks",
            None,
            None,
        ),
        _section(pgettext("weekly report", "To retire"), retire, gettext("To do"), "to-do", None, None),
    ]
    return Weekly(
        team,
        days,
        plainly.first_line(found.total, found.before, days),
        gettext("Texts and tool calls; what agents withdrew is not counted."),
        [each for each in sections if each.lines],
        is_empty=False,
    )


def _was_held(total: Total) -> bool:
    return bool(total.held or any(total.all_calls.values()))


def _section(title: str, lines: Sequence[Line], more: str, page: str, team: Team | None, days: Range | None) -> Section:
    query: dict[str, str | int] = {"state": "decided"} if page == "queue" else {}
    if team and days:
        query |= {"team": team.pk, "since": days.first.isoformat(), "until": days.last.isoformat()}
    return Section(title, lines, more, reverse(page) + (f"?{urlencode(query)}" if query else ""))


def _held(found: Report) -> list[Line]:
    total, before = found.total, found.before
    told = [changes.of_holds(total, before, found.scope.range.days)]
    if any(total.all_calls.values()):
        told.append(charts.calls_told(total))
    left = {
        gettext("%(n)s expired"): total.expired + total.all_calls["expired"],
        gettext("%(n)s still pending"): total.pending + total.all_calls["pending"],
    }
    if any(left.values()):
        comma = gettext(", ")
        told.append(
            gettext("Undecided: %(counts)s.")
            % {"counts": comma.join(words % {"n": number(n)} for words, n in left.items() if n)}
        )
    if total.seconds:
        told.append(gettext("Half of the decisions took at most %(time)s.") % {"time": duration(total.median_seconds)})
    return [Line(each) for each in told]


def _found(found: Report, name: Naming) -> list[Line]:
    total, calls = found.total, found.total.all_calls
    rejected = total.rejected + total.withdrawn + calls["rejected"] + calls["withdrawn"]
    edited = total.edited + calls["edited"]
    counted = [
        ngettext(
            "%(n)s text or tool call was rejected or withdrawn.",
            "%(n)s texts and tool calls were rejected or withdrawn.",
            rejected,
        )
        % {"n": number(rejected)},
    ]
    if edited:
        said = ngettext("%(n)s was approved with edits.", "%(n)s were approved with edits.", edited)
        counted.append(said % {"n": number(edited)})
    if calls["denied"]:
        counted.append(
            ngettext("Rules denied %(n)s call.", "Rules denied %(n)s calls.", calls["denied"])
            % {"n": number(calls["denied"])}
        )
    patterns = sorted(found.patterns.items(), key=lambda each: (-each[1].now.part, -each[1].fired, each[0].pk))
    told = [
        Line(
            ngettext(
                "fired %(fired)s time, %(rejected)s of %(decided)s decided were rejected",
                "fired %(fired)s times, %(rejected)s of %(decided)s decided were rejected",
                each.fired,
            )
            % {"fired": number(each.fired), "rejected": number(each.now.part), "decided": number(each.now.whole)},
            name(masked_text(pattern.description)),
            reverse("pattern", args=[pattern.pk]),
        )
        for pattern, each in patterns[:MOST]
        if each.now.part and each.now.rate >= total.rejected_ratio.rate
    ]
    return [Line(gap().join(counted)), *told]


def _missed(found: Report, team: Team, name: Naming) -> list[Line]:
    worst = sorted(found.misses, key=lambda each: (-each.missed.rate, each.agent.name))
    told = [Line(changes.checked(each.missed), name(masked_text(each.agent.name))) for each in worst[:MOST]]
    since = daily.start_of(found.scope.range.first)
    counted = corrections.worth([team], since).get(team.pk)
    if counted and (right := counted[0].corrections):
        said = ngettext(
            "%(n)s message of a user was confirmed as a correction of what an agent wrote.",
            "%(n)s messages of users were confirmed as corrections of what agents wrote.",
            right,
        )
        told.append(Line(said % {"n": number(right)}, path=reverse("corrections")))
    return told


def _retire(team: Team, name: Naming) -> list[Line]:
    return [line for group in retiring_rows.shown([team], ()) for line in _of_group(group, name)]


def _of_group(group: retiring_rows.Group, name: Naming) -> Iterator[Line]:
    for signal in group.signals:
        yield Line(signal.told, name(signal.name))
    if group.signals:
        yield Line(group.change)
    for row in group.others:
        path = reverse("pattern", args=[row.pattern.pk]) if row.pattern else ""
        path = path or f"{reverse('policy', args=[row.agent])}#rules"
        said = gettext("%(told)s. %(change)s") % {"told": row.told, "change": row.change}
        yield Line(said, name(masked_text(row.name)), path)
