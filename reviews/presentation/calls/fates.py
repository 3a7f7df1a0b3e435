"""Compare in a table what two policies, or two versions of a team's rules, do with the same."""

from __future__ import annotations

from typing import NamedTuple, Self

from django.utils.translation import gettext as _

from reviews.scoring.calls_preview import Tally


class Line(NamedTuple):
    """A line of the comparison: what is counted, in force, with the draft, and the difference."""

    name: str
    now: str
    then: str
    change: str
    within: bool  # it is a part of the line above

    @classmethod
    def of(cls, name: str, was: int, will: int, within: bool) -> Self:
        more = will - was
        signed = f"+{more:,}" if more > 0 else f"−{-more:,}" if more else "–"
        return cls(name, f"{was:,}", f"{will:,}", signed, within)


def call_rows(now: Tally, then: Tally) -> list[Line]:
    """Compare what becomes of tool calls."""
    lines = [
        (_("Held for a person"), now.fates["asked"], then.fates["asked"], False),
        (_("Allowed"), now.fates["allowed"], then.fates["allowed"], False),
        (_("Denied"), now.fates["denied"], then.fates["denied"], False),
    ]
    if now.scored or then.scored:
        lines.append((_("scored (of all)"), now.scored, then.scored, True))
    return [Line.of(*line) for line in lines]
