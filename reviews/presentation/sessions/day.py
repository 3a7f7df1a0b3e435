"""Lay a day of an agent out: a lane for each session, and the hours of a week by how much was posted in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from reviews.models import HeldItem
from reviews.presentation.ratios import number

DAYS = 7  # of the map of hours
WIDTH = 1_000  # of a lane, in units of its view box
SHADES = 5
CELL, ROW, LEFT, TOP = 24, 22, 104, 20  # of the map of hours, in units of its view box
_DAY = timedelta(days=1)
_REFUSED = (HeldItem.State.REJECTED, HeldItem.State.WITHDRAWN)


@dataclass(frozen=True)
class Day:
    """A day in a time zone: from midnight to midnight, which may be 23 or 25 hours."""

    date: date
    zone: tzinfo

    @property
    def start(self) -> datetime:
        return datetime.combine(self.date, time(), self.zone)

    @property
    def end(self) -> datetime:
        return datetime.combine(self.date + _DAY, time(), self.zone)

    def place(self, moment: datetime) -> float:
        """Return where a moment stands in the day, from 0 to 1."""
        whole = self.end.timestamp() - self.start.timestamp()
        return min(1.0, max(0.0, (moment.timestamp() - self.start.timestamp()) / whole))

    def ticks(self, count: int) -> list[str]:
        """Name the times that part the day evenly."""
        whole = self.end.timestamp() - self.start.timestamp()
        times = (datetime.fromtimestamp(self.start.timestamp() + whole * n / count, self.zone) for n in range(count))
        return [f"{each:%H:%M}" for each in times]


@dataclass(frozen=True)
class Lane:
    """A session of the day."""

    name: str
    first_at: datetime
    last_at: datetime
    posts: str
    held: int
    refused: int
    x: str
    width: str
    marks: Sequence[tuple[str, str]]  # where a held item stands, and whether it is "pending", "let-go", "expired"…


def lanes(day: Day, sessions: Sequence[Mapping[str, Any]], held: Sequence[tuple[str, datetime, str]]) -> list[Lane]:
    """Lay out a lane for each session."""
    of_session: dict[str, list[tuple[datetime, str]]] = {}
    for name, at, state in held:
        of_session.setdefault(name, []).append((at, state))
    found = []
    for each in sessions:
        items = of_session.get(each["session"], [])
        start, end = day.place(each["first_at"]) * WIDTH, day.place(each["last_at"]) * WIDTH
        found.append(
            Lane(
                each["session"],
                each["first_at"],
                each["last_at"],
                number(each["posts"]),
                len(items),
                sum(state in _REFUSED for _, state in items),
                f"{start:.1f}",
                f"{max(3.0, end - start):.1f}",
                [(f"{day.place(at) * WIDTH:.1f}", _kind(state)) for at, state in sorted(items)],
            )
        )
    return found


def _kind(state: str) -> str:
    if state == HeldItem.State.PENDING:
        return "pending"
    if state == HeldItem.State.EXPIRED:
        return "expired"
    return "refused" if state in _REFUSED else "let-go"


def week(day: Day) -> list[Day]:
    """Return the days of the map of hours, of which `day` is the last."""
    return [Day(day.date - timedelta(days=back), day.zone) for back in reversed(range(DAYS))]


def heat(days: Sequence[Day], posts: Counter[datetime], held: Counter[datetime]) -> dict[str, Any]:
    """Lay out a cell for each hour of these days: how much was posted in it, and held."""
    by_place: Counter[tuple[date, int]] = Counter()
    held_by_place: Counter[tuple[date, int]] = Counter()
    for counted, placed in ((posts, by_place), (held, held_by_place)):
        for at, n in counted.items():
            placed[at.date(), at.hour] += n  # an hour that comes twice, as clocks go back, is one cell
    top = max(by_place.values(), default=0)
    rows = []
    for line, day in enumerate(days):
        cells = [_cell(line, hour, by_place[day.date, hour], held_by_place[day.date, hour], top) for hour in range(24)]
        place = {"x": LEFT - 8, "y": TOP + line * ROW + 15}
        name = date_format(day.date, "MONTH_DAY_FORMAT")
        rows.append({"iso": day.date.isoformat(), "name": name, "cells": cells, **place})
    hours = [{"x": LEFT + hour * CELL, "name": f"{hour:02}"} for hour in range(0, 24, 3)]
    return {
        "rows": rows,
        "hours": hours,
        "every_hour": [f"{hour:02}" for hour in range(24)],
        "width": LEFT + 24 * CELL,
        "height": TOP + len(days) * ROW,
        "any": top > 0,
        "told": _told(by_place, held_by_place),
    }


def _cell(line: int, hour: int, posts: int, held: int, top: int) -> dict[str, Any]:
    shade = -(-posts * SHADES // top) if top else 0
    return {
        "x": LEFT + hour * CELL,
        "y": TOP + line * ROW,
        "shade": shade,
        "posts": posts,
        "held": held,
        "told": ngettext("%(posts)s response, %(held)s held", "%(posts)s responses, %(held)s held", posts)
        % {"posts": number(posts), "held": number(held)},
    }


def _told(posts: Counter[tuple[date, int]], held: Counter[tuple[date, int]]) -> str:
    """Say in a sentence when most was posted."""
    if not posts.total():
        return gettext("Nothing was posted in these days.")
    (day, hour), most = max(posts.items(), key=lambda each: (each[1], each[0]))
    told = ngettext(
        "%(posts)s response in these days, %(held)s held; most between %(from)s and %(to)s on %(day)s: %(most)s.",
        "%(posts)s responses in these days, %(held)s held; most between %(from)s and %(to)s on %(day)s: %(most)s.",
        posts.total(),
    )
    return told % {
        "posts": number(posts.total()),
        "held": number(held.total()),
        "from": f"{hour:02}:00",
        "to": f"{(hour + 1) % 24:02}:00",
        "day": date_format(day, "MONTH_DAY_FORMAT"),
        "most": number(most),
    }


def today() -> date:
    return timezone.localdate()


def asked(value: str) -> date | None:
    """Read a day of an address; None where it is none, or too far from all others to have a day on each side."""
    try:
        day = date.fromisoformat(value[:10])
    except ValueError:
        return None
    return day if date(1900, 1, 1) <= day <= date(9000, 1, 1) else None


def beside(day: date) -> Iterator[date]:
    yield day - _DAY
    yield day + _DAY
