"""How a moment and a text are written where agents read them."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(moment: datetime) -> str:
    """Return RFC 3339 in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_lines(text: str) -> str:
    """Return a text of several lines as it is kept: with one kind of line break, and no blank line at either end."""
    lines = "\n".join(text.split("\r\n")).replace("\r", "\n").split("\n")
    shown = [at for at, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[shown[0] : shown[-1] + 1]) if shown else ""


def one_line(text: str) -> str:
    """Return a text without line breaks: a step or a lesson is a line of Markdown, and of the context."""
    return " ".join(text.split())
