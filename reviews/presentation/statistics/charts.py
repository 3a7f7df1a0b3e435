"""Lay charts out for their templates: where each mark stands in the view box, the numbers beside it, and a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.tool_calls.effect_bits import GRAVITY
from reviews.metrics import daily
from reviews.metrics.daily import ENOUGH, Concordance, Counts, Ratio, Total
from reviews.metrics.ranges import Range
from reviews.metrics.report import Report
from reviews.presentation.ratios import number, percent, ratio, scale_top, span, unbroken
from reviews.presentation.statistics import changes
from reviews.presentation.statistics.changes import Change
from reviews.records.effect_names import NAMES

CHANCE = 0.5  # of the items, each beside one that was decided otherwise
BANDS = ((0, 49), (50, 54), (55, 64), (65, 74), (75, 100))
MOST_DAYS = 92  # that are drawn one by one; more are drawn in weeks
MOST_TICKS = 6  # names below a chart

# In units of the view box.
LEFT, WIDTH, BASE, HEIGHT = 36, 600, 165, 145


def short(day: date) -> str:
    return date_format(day, "MONTH_DAY_FORMAT")


def held(report: Report) -> dict[str, Any]:
    """Lay out a stack for each day (each week of a long range): what became of the items held then."""
    kinds = {
        "rejected": gettext("rejected or withdrawn"),
        "edited": gettext("approved with edits"),
        "approved": gettext("approved"),
        "expired": gettext("expired"),
        "pending": gettext("pending"),
    }
    days = report.scope.range
    by_week = days.days > MOST_DAYS
    each: Sequence[tuple[Range, Counts]] = (
        report.by_week if by_week else [(Range(day, day), counts) for day, counts in report.by_day.items()]
    )
    top = scale_top([counts.held for _, counts in each])
    slot = WIDTH / len(each)
    stacks, table = [], []
    for place, (when, counts) in enumerate(each):
        parts = {name: getattr(counts, name) for name in kinds} | {"rejected": counts.rejected_ratio.part}
        name, y = short(when.first), float(BASE)
        for kind, count in parts.items():
            if not count:
                continue
            height = HEIGHT * count / top
            y -= height
            stacks.append(
                {
                    "kind": kind,
                    "x": f"{LEFT + place * slot:.1f}",
                    "y": f"{y:.1f}",
                    "width": f"{slot * 0.75:.1f}",
                    "height": f"{max(0.5, height - 0.7):.1f}",  # a gap between what is stacked
                    "title": gettext(": ").join((name, f"{number(count)} {kinds[kind]}")),
                }
            )
        numbers = [counts.responses, *parts.values(), counts.held]
        table.append({"iso": when.first.isoformat(), "name": name, "numbers": [number(count) for count in numbers]})
    return {
        "kinds": kinds.items(),
        "stacks": stacks,
        "top": number(top),
        "half": number(top // 2),
        "names": [table[0]["name"], table[len(table) // 2]["name"], table[-1]["name"]],
        "table": table[::-1],
        "any": any(counts.held for _, counts in each),
        "by_week": by_week,
        "told": changes.of_holds(report.total, report.before, days.days),
    }


FATES = {  # what became of tool calls: rules alone, then those that people were asked about
    "passed": _("passed by a rule"),
    "granted": _("passed by a grant"),
    "denied": _("denied"),
    "approved": _("approved"),
    "edited": _("approved with edits"),
    "rejected": _("rejected or withdrawn"),
    "expired": _("expired"),
    "pending": _("pending"),
}


COLUMNS: dict[str, str | Promise] = {  # a row of a table of tool calls
    "calls": _("Calls"),
    "passed": _("Passed by rule"),
    "granted": _("Passed by grant"),
    "denied": _("Denied by rule"),
    "asked": pgettext_lazy("calls", "Asked"),
    "approved": _("Approved"),
    "edited": _("Approved with edits"),
    "rejected": _("Rejected"),
    "expired": _("Expired"),
    "pending": pgettext_lazy("calls", "Pending"),
}


def fates(counts: Counter[str]) -> dict[str, int]:
    """Return what became of tool calls, as FATES has it, with how many they are and about how many people were asked.

    They are those that passed, those that were denied, and those that people were asked about.
    """
    told = {fate: counts[fate] for fate in FATES} | {"rejected": counts["rejected"] + counts["withdrawn"]}
    asked = counts.total() - sum(counts[fate] for fate in daily.UNASKED)
    return {"calls": counts.total(), "asked": asked, **told}


def cells(counts: Counter[str]) -> list[tuple[str, str]]:
    """Return the same as a table has it, with the titles of its columns."""
    told = fates(counts)
    return [(str(title), number(told[name])) for name, title in COLUMNS.items()]


def calls_told(total: Total) -> str:
    """Say what people made of the tool calls that were held, and rules of the others."""
    sums = fates(total.all_calls)
    approved = sums["approved"] + sums["edited"]
    let_go = Ratio(approved, approved + sums["rejected"])
    told = {name: number(count) for name, count in sums.items()}
    counts = told | {"part": number(let_go.part), "whole": number(let_go.whole)}
    if not let_go.is_enough:
        said = gettext(
            "Of %(calls)s calls, rules passed %(passed)s and denied %(denied)s, grants passed %(granted)s, and "
            "people were asked about %(asked)s: they approved %(part)s of %(whole)s."
        )
        return said % counts
    counts |= {"rate": percent(let_go.rate), "interval": span(let_go.low, let_go.high)}
    said = gettext(
        "Of %(calls)s calls, rules passed %(passed)s and denied %(denied)s, grants passed %(granted)s, and people "
        "were asked about %(asked)s: they approved %(part)s of %(whole)s (%(rate)s, 95%% CI %(interval)s)."
    )
    return said % counts


def effects(total: Total) -> dict[str, Any]:
    """Lay out a bar for each effect, the gravest first: how many tool calls had it, and what became of them."""
    rows = []
    top = max((counts.total() for counts in total.effects.values()), default=0)
    for name in (*GRAVITY, daily.NO_EFFECT):
        if counts := total.effects.get(name):
            shares, x, told = [], 0.0, fates(counts)
            for fate in FATES:
                width = 100 * told[fate] / top
                shares += [{"fate": fate, "x": f"{x:.2f}", "width": f"{width:.2f}"}] if told[fate] else []
                x += width
            title = NAMES.get(name, _("no effect"))
            rows.append({"id": name, "name": title, "bar": shares, "cells": cells(counts)})
    return {"rows": rows, "fates": FATES.items(), "columns": COLUMNS.values(), "all": cells(total.all_calls)}


def precision(report: Report) -> dict[str, Any]:
    """Lay out, week by week, the rejected share of the held items that were decided, with its interval."""
    weeks = report.by_week
    slot = WIDTH / len(weeks)
    every = -(-len(weeks) // MOST_TICKS)
    points: list[dict[str, Any]] = []
    for place, (week, counts) in enumerate(weeks):
        share = counts.rejected_ratio
        points.append(
            {
                "x": f"{LEFT + (place + 0.5) * slot:.1f}",
                "y": height(share.rate),
                "low": height(share.low),
                "high": height(share.high),
                "iso": week.first.isoformat(),
                "name": short(week.first),
                "is_named": place % every == 0,
                **ratio(share),
            }
        )
    overall = report.total.rejected_ratio
    told = [point for point in points if point["ratio"].whole]
    return {
        "points": points,
        "line": " ".join(f"{point['x']},{point['y']}" for point in told),
        "overall": ratio(overall),
        "overall_line": height(overall.rate),
        "told": _trend(report),
    }


def _trend(report: Report) -> str:
    """Compare the second half of the range with the first."""
    days = report.scope.range.each()
    middle = len(days) // 2
    if not middle:
        return changes.rejected(report.total.rejected_ratio)
    first = report.of_days(Range(days[0], days[middle - 1])).rejected_ratio
    second = report.of_days(Range(days[middle], days[-1])).rejected_ratio
    told = {
        "first": percent(first.rate),
        "second": percent(second.rate),
        "change": changes.of_share(second, first),
        "n": number(first.whole + second.whole),
    }
    change = Change(second, first)
    if not change.is_enough:
        said = gettext("Too few decisions for a trend (n = %(n)s).")
    elif not change.is_clear:
        said = gettext(
            "The share rejected or withdrawn was %(first)s in the first half of these days and %(second)s in the "
            "second: no clear difference (n = %(n)s)."
        )
    elif change.points < 0:
        said = gettext(
            "The share rejected or withdrawn fell from %(first)s in the first half to %(second)s: %(change)s."
        )
    else:
        said = gettext(
            "The share rejected or withdrawn rose from %(first)s in the first half to %(second)s: %(change)s."
        )
    return unbroken(said % told)


def bands(total: Total) -> dict[str, Any]:
    """Lay out how often each band of scores was rejected, with its interval."""
    told = [(f"{low}–{high}", total.between(low, high)) for low, high in BANDS]
    if not told[0][1].whole:  # no policy held below 50 in these days
        told.pop(0)
    slot = 370 / len(told)
    found = [
        {
            "name": name,
            "x": f"{45 + (place + 0.5) * slot:.1f}",
            "y": height(share.rate),
            "low": height(share.low),
            "high": height(share.high),
            **ratio(share),
        }
        for place, (name, share) in enumerate(told)
    ]
    overall, scores = total.rejected_ratio, Concordance.of(total.scores)
    return {
        "bands": found,
        "overall": ratio(overall),
        "line": height(overall.rate),
        "told": _calibration(scores),
        "baseline": _baseline(scores, Concordance.of(total.lengths)),
    }


def height(share: float) -> str:
    return f"{BASE - share * HEIGHT:.1f}"


def _calibration(scores: Concordance) -> str:
    """Say whether a rejected item has a higher score than one that was approved."""
    if not scores.is_enough:
        told = gettext("Too few decisions: at least %(enough)s rejected and %(enough)s approved items are needed.")
        return told % {"enough": ENOUGH}
    if scores.low > CHANCE:
        told = gettext("Items with a higher score are rejected more often (95%% CI %(interval)s; 50%% is chance).")
    elif scores.high < CHANCE:
        told = gettext("Items with a higher score are rejected less often (95%% CI %(interval)s; 50%% is chance).")
    else:
        told = gettext(
            "Items with a higher score are rejected neither more nor less often (95%% CI %(interval)s; 50%% is chance)."
        )
    return unbroken(told % _interval(scores))


def _baseline(scores: Concordance, lengths: Concordance) -> tuple[str, str]:
    """Say what plain length would have told of the same, which a score that is worth having must beat."""
    if not (scores.is_enough and lengths.is_enough):
        return "", ""
    if lengths.rate >= CHANCE:
        told = gettext("For comparison, length alone: longer items are rejected more often (95%% CI %(interval)s).")
    else:
        lengths = lengths.turned()
        told = gettext("For comparison, length alone: shorter items are rejected more often (95%% CI %(interval)s).")
    if scores.low > lengths.high:
        said = gettext("The score is better than length.")
    elif scores.high < lengths.low:
        said = gettext("Length is better than the score.")
    else:
        said = gettext("No clear difference between score and length.")
    return told % _interval(lengths), said


def _interval(told: Concordance) -> dict[str, str]:
    return {"interval": span(told.low, told.high)}
