"""What Statistics shows, as tables of plain values for files: shares from 0 to 1, days as 2026-02-24."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from metacog.heuristics.effects.effect import KINDS
from metacog.heuristics.stats.intervals import difference
from metacog.models import User
from reviews.metrics import daily
from reviews.metrics.call_outcomes import FATES
from reviews.metrics.daily import COUNTS, Counts, Ratio
from reviews.metrics.report import Report
from reviews.metrics.sampling import Misses
from reviews.presentation.statistics import breakdown

SHARE = ("share", "share_low", "share_high")
DIGITS = 4  # of a share


class Table(NamedTuple):
    """Names of columns, and rows of as many values."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def tables(report: Report, viewer: User) -> dict[str, Table]:
    """Return every table by its name, which is also that of its file."""
    found = {
        "totals": _totals(report),
        "days": Table(["day", *COUNTS], [[day, *_counts(each)] for day, each in report.by_day.items()]),
        "precision": _precision(report),
        "scores": Table(
            ["score", "decided", "rejected"],
            [[score, *counts] for score, counts in sorted(report.total.scores.items())],
        ),
        "tools": _calls("tool", sorted(report.total.calls.items())),
        "effects": _calls(
            "effect", [(name, report.total.effects.get(name, Counter())) for name in (*KINDS, daily.NO_EFFECT)]
        ),
        "outcomes": _outcomes(report),
        "spot-checks": spot_checks(report.misses),
        "second-looks": _second_looks(report),
    }
    return found | {f"{by}s": _breakdown(report, by, viewer) for by in breakdown.GROUPS}


def _counts(counts: Counts) -> list[int]:
    return [getattr(counts, name) for name in COUNTS]


def share(told: Ratio) -> list[float | None]:
    """Return a share with its interval; of nothing there is none."""
    if not told.whole:
        return [None, None, None]
    return [round(value, DIGITS) for value in (told.rate, told.low, told.high)]


def _totals(report: Report) -> Table:
    rows = []
    for name, days, total in (
        ("now", report.scope.range, report.total),
        ("before", report.scope.range.before, report.before),
    ):
        own = [*share(total.trigger_ratio), *share(total.rejected_ratio), total.median_seconds, total.p90_seconds]
        rows.append([name, days.first, days.last, *_counts(total), *own])
    shares = [f"{what}_{name}" for what in ("triggered", "rejected") for name in SHARE]
    return Table(["range", "first", "last", *COUNTS, *shares, "median_seconds", "p90_seconds"], rows)


def _precision(report: Report) -> Table:
    rows = [
        [week.first, week.last, each.rejected_ratio.whole, each.rejected_ratio.part, *share(each.rejected_ratio)]
        for week, each in report.by_week
    ]
    return Table(["first", "last", "decided", "rejected", *SHARE], rows)


def _breakdown(report: Report, by: str, viewer: User) -> Table:
    rows = []
    for group in breakdown.groups(report, by, viewer):
        now, before = group.now, group.before
        changed: list[float | None] = [None, None, None]
        if now.whole and before.whole:
            low, high = difference(before.part, before.whole, now.part, now.whole)
            changed = [round(value, DIGITS) for value in (now.rate - before.rate, low, high)]
        decided = [now.whole, now.part, *share(now), before.whole, before.part, *share(before)]
        rows.append([group.key, group.name, group.counted, *decided, *changed])
    counted = {"signal": "fired", "pattern": "fired", "reviewer": "decisions"}.get(by, "held")
    before_names = ["before_decided", "before_rejected", *(f"before_{name}" for name in SHARE)]
    changes = ["change", "change_low", "change_high"]
    return Table([by, "name", counted, "decided", "rejected", *SHARE, *before_names, *changes], rows)


def _calls(by: str, counted: Iterable[tuple[str, Counter[str]]]) -> Table:
    return Table([by, *daily.CALLS], [[name, *(counts[each] for each in daily.CALLS)] for name, counts in counted])


def _outcomes(report: Report) -> Table:
    rows = [
        [each.agent.public_id, each.agent.name, *(getattr(each, name) for name in FATES)] for each in report.outcomes
    ]
    return Table(["agent", "name", *FATES], rows)


def spot_checks(misses: Sequence[Misses]) -> Table:
    rows = [
        [each.agent.public_id, each.agent.name, each.missed.whole, each.missed.part, *share(each.missed)]
        for each in misses
    ]
    return Table(["agent", "name", "checked", "missed", *SHARE], rows)


def _second_looks(report: Report) -> Table:
    rows = [
        [
            each.agent.public_id, each.agent.name, each.kind, each.kept, each.edited, each.withdrew,
            each.contradicted.whole, each.contradicted.part, *each.both,
        ]
        for each in report.looks
    ]  # fmt: skip
    names = ["kept", "edited", "withdrew", "looked", "contradicted"]
    both = ["stood_let_go", "stood_rejected", "back_let_go", "back_rejected"]
    return Table(["agent", "name", "kind", *names, *both], rows)
