"""A sense of time: how long ago things were, and where the agent is heading (seed 001)."""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cmp_to_key
from typing import Any

_DAY_SECONDS = 86_400
_DATE = re.compile(r"\[([0-9]{4})-([0-9]{2})-([0-9]{2})\]")
MAX_ACTION = 150  # UTF-16 units
RECENT = 5

# What Object.prototype holds.
_INHERITED = frozenset(
    (
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    )
)


def temporal_markers(text: str, now: datetime) -> str:
    """Say after each [YYYY-MM-DD] how long ago it was, exactly as the seed's `addTemporalMarkers` in V8.

    `now` must be aware (ValueError otherwise); days begin at midnight UTC. Days to come read "-3d ago", a
    date that is none "NaNmo ago", and a day from 29 to 31 that its month lacks is one of the next month.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    today = _days(now)

    def mark(match: re.Match[str]) -> str:
        return f"[{match[0][1:-1]} ⟨{_ago(today, *map(int, match.groups()))}⟩]"

    return _DATE.sub(mark, text)


# The forms the seed's expression leaves alone: [02-12], [2026-02-12 evening], (2026-02-12).
# Without a year in square brackets only, and not behind a name: (10-12) counts pages, rows[10-12] too.
_ANY_DATE = re.compile(
    r"(?:\[([0-9]{4})-|(?<![A-Za-z0-9_)\]])\[|[(（]([0-9]{4})-)([0-9]{2})-([0-9]{2})(?:\s[^\])）⟨\n]{0,80})?(?=[\])）])"
)


def mark_every_date(text: str, today: date) -> str:
    """Say how long ago a day was after every form of date people write, for people to read.

    [2026-02-12 evening ⟨4d ago⟩]; a date without a year is the last such day, a date that is none stays as it is.
    """

    def mark(match: re.Match[str]) -> str:
        bracketed, year, month, day = match.groups()
        on = day_of(month, day, bracketed or year, today)
        return f"{match[0]} ⟨{ago(on, today)}⟩" if on else match[0]

    return _ANY_DATE.sub(mark, text)


def ago(on: date, today: date) -> str:
    """Say how long ago a day was, in the seed's words: "today", "4d ago", "-1d ago" (tomorrow)."""
    return _ago(_day_number(today.year, today.month, today.day), on.year, on.month, on.day)


def day_of(month: str, day: str, year: str | None, last: date) -> date | None:
    """Give the day a date in digits means: without a year, the last such day up to `last`. None if there is none."""
    years = [int(year)] if year else range(last.year, max(0, last.year - 8), -1)  # 29 February is rare
    for candidate in years:
        try:
            on = date(candidate, int(month), int(day))
        except ValueError:
            continue
        if year or on <= last:
            return on
    return None


def _ago(today: int, year: int, month: int, day: int) -> str:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        # No ISO date: V8 tries again as month-day-year with a year of two digits. Here the day is UTC's,
        # there it would be the machine's.
        if not (1 <= year <= 12 and 1 <= month <= 31):
            return "NaNmo ago"
        year, month, day = (2000 if day < 50 else 1900) + day, year, month
    days = today - _day_number(year, month, day)
    if days == 0:
        return "today"
    if days == 1:
        return "yesterday"
    if days <= 7:
        return f"{days}d ago"
    if days <= 30:
        return f"{-(-days // 7)}w ago"
    return f"{-(-days // 30)}mo ago"


def _days(now: datetime) -> int:
    offset = now.utcoffset()
    assert offset is not None
    seconds = now.hour * 3600 + now.minute * 60 + now.second - offset.total_seconds()
    return _day_number(now.year, now.month, now.day) + int(seconds // _DAY_SECONDS)


def _day_number(year: int, month: int, day: int) -> int:
    """Count days from a fixed day on. `date` knows no year 0 and no 31 February; V8 knows both."""
    years = year - (month <= 2)
    months = (month + 9) % 12
    return 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day


def format_intent(intent: Mapping[str, Any] | None) -> str:
    """Put the continuous intent into words for the next prompt; "" without one."""
    if intent is None:
        return ""
    action, thread, streak = intent["lastAction"], intent["activeThread"], intent["streak"]
    recent = intent["recentModes"]
    parts = [f"Last cycle: {intent['lastMode']}" + (f" — {action}" if action else "")]
    if thread:
        parts.append(f'Currently pursuing: "{thread}"')
    if streak and streak["count"] >= 2:
        parts.append(f"{streak['count']} consecutive {streak['mode']} cycles")
    if len(recent) >= 3 and (most := _dominant(recent)) and most[1] >= 3:
        parts.append(f"Recent pattern: mostly {most[0]} ({most[1]}/{len(recent)})")
    return "\n\nContinuous intent:\n" + "\n".join(parts)


def _dominant(modes: list[str]) -> tuple[str, float] | None:
    """Give the mode that JavaScript's sort puts first, and its count (NaN: it is none there)."""
    counts: dict[str, float] = {}
    for mode in modes:
        # The seed counts in a plain object: of "__proto__" it keeps nothing, and the names that every
        # object has already make texts of their counts.
        if mode != "__proto__":
            counts[mode] = counts.get(mode, math.nan if mode in _INHERITED else 0) + 1
    # The order of keys: array indexes by number, then the rest as they came. Sorting keeps equals in it.
    indexes = sorted((mode for mode in counts if _is_array_index(mode)), key=int)
    ordered = indexes + [mode for mode in counts if not _is_array_index(mode)]

    def compare(one: str, other: str) -> int:
        difference = counts[other] - counts[one]
        return (difference > 0) - (difference < 0)  # NaN counts as equal

    ordered.sort(key=cmp_to_key(compare))
    return (ordered[0], counts[ordered[0]]) if ordered else None


def _is_array_index(key: str) -> bool:
    return re.fullmatch(r"0|[1-9][0-9]{0,9}", key) is not None and int(key) < 2**32 - 1


def advance_intent(
    intent: Mapping[str, Any] | None,
    *,
    chosen_behavior: str | None,
    current_mode: str,
    action: str | None,
    active_thread: str | None,
) -> dict[str, Any]:
    """Give the intent after one more cycle, exactly as the seed's `cycle()` leaves it.

    On the wire a response's `mode` is both: `chosen_behavior=mode`, `current_mode=mode or "unknown"`. The
    action is cut to 150 UTF-16 units; unlike in JavaScript, half a character is not kept at the cut.
    """
    streak = intent["streak"] if intent else None
    next_streak: dict[str, Any] | None
    if chosen_behavior is not None and streak and streak["mode"] == chosen_behavior:
        next_streak = {"mode": chosen_behavior, "count": streak["count"] + 1}
    else:
        next_streak = {"mode": chosen_behavior, "count": 1} if chosen_behavior else None
    unknown = "unknown" if chosen_behavior is None else chosen_behavior
    arrived = current_mode if chosen_behavior is None else chosen_behavior
    return {
        "lastMode": "task" if current_mode == "task" else unknown,
        "lastAction": None if action is None else _cut(action, MAX_ACTION),
        "activeThread": active_thread,
        "streak": next_streak,
        "recentModes": [*(intent["recentModes"][1 - RECENT :] if intent else []), arrived],
    }


def _cut(text: str, units: int) -> str:
    if len(text) * 2 <= units:
        return text
    return text[:units].encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
