"""Kinds of arguments that several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, datetime

from metacog.audit import log


def moment(text: str, *, end: bool = False) -> datetime:
    """Read a moment in UTC, or a day: its beginning, or with `end` that of the day after."""
    try:
        return log.moment(text, UTC, end=end)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date or time: write 2026-02-24 or 2026-02-24T12:00:00Z") from None
