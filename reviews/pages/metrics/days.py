"""The choice of days that the pages of Statistics have in common: presets, this month, dates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from reviews.metrics import ranges
from reviews.metrics.ranges import MONTH, PRESETS, Asked, Range


@dataclass(frozen=True)
class Days:
    """The days that a page shows, and the addresses of others."""

    asked: Asked
    today: date
    kept: Mapping[str, str]  # what else the page's address asks for

    @property
    def range(self) -> Range:
        return self.asked.range

    @property
    def query(self) -> str:
        """Return the address of what is shown."""
        return "?" + urlencode({**self.asked.query, **self.kept})

    @property
    def presets(self) -> list[tuple[int, str, bool]]:
        return [
            (days, "?" + urlencode({"days": days, **self.kept}), self.asked.query.get("days") == str(days))
            for days in PRESETS
        ]

    @property
    def month(self) -> str:
        return "?" + urlencode({"range": MONTH, **self.kept})

    @property
    def is_month(self) -> bool:
        return "range" in self.asked.query

    @property
    def is_dated(self) -> bool:
        return "since" in self.asked.query


def read(given: Mapping[str, str], today: date, kept: Mapping[str, str]) -> Days:
    return Days(ranges.asked(given, today), today, kept)
