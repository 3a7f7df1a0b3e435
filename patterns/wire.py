"""How a moment and a text are written where agents read them."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(moment: datetime) -> str:
    """Return RFC 3339 in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def one_line(text: str) -> str:
    """Return a text without line breaks: a step or a lesson is a line of Markdown, and of the context."""
    return " ".join(text.split())
