"""How long ago, and where to: as the seed's code says it in V8."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import advance_intent, format_intent, temporal_markers
from tests.tables import table

NOW = datetime(2026, 2, 16, 8, tzinfo=UTC)


@table(
    ("date", "ago"),
    [
        ("2026-02-16", "today"),
        ("2026-02-15", "yesterday"),
        ("2026-02-14", "2d ago"),
        ("2026-02-09", "7d ago"),
        ("2026-02-08", "2w ago"),
        ("2026-02-02", "2w ago"),
        ("2026-02-01", "3w ago"),
        ("2026-01-17", "5w ago"),
        ("2026-01-16", "2mo ago"),
        ("2025-12-18", "2mo ago"),
        ("2025-12-17", "3mo ago"),
        ("2024-02-29", "24mo ago"),
        ("2026-02-17", "-1d ago"),
        ("9999-12-31", "-2912396d ago"),
        ("0000-01-01", "24668mo ago"),
        ("2026-02-29", "-13d ago"),  # V8: 1 March
        ("2026-02-31", "-15d ago"),  # V8: 3 March
        ("2025-04-31", "10mo ago"),
        ("2026-02-32", "NaNmo ago"),
        ("2026-00-10", "NaNmo ago"),
        ("2026-13-01", "NaNmo ago"),
        ("2026-02-00", "NaNmo ago"),
        ("0002-16-26", "today"),  # V8's older parser: month 2, day 16, year 26
        ("0002-16-49", "-8401d ago"),
        ("0002-16-50", "926mo ago"),
        ("0012-31-99", "319mo ago"),
        ("0013-31-99", "NaNmo ago"),
        ("0002-00-26", "NaNmo ago"),
        ("0002-32-26", "NaNmo ago"),
    ],
)
def test_it_says_how_long_ago_a_day_was(date: str, ago: str) -> None:
    assert temporal_markers(f"- [{date}] read", NOW) == f"- [{date} ⟨{ago}⟩] read"


@table(
    "text",
    [
        "",
        "[02-12] Oulipo",
        "(2026-02-12)",
        "2026-02-12",
        "[2026-02-12 extra]",
        "[2026-2-12]",
        "[2026-02-12⟩",
        "[２０２６-02-12]",
        "[2026-02-12\n]",
        "[2026-02-12 ⟨4d ago⟩]",
    ],
)
def test_it_marks_nothing_else(text: str) -> None:
    assert temporal_markers(text, NOW) == text


def test_it_marks_every_date_in_a_text() -> None:
    assert temporal_markers("[2026-02-12][[2026-02-15]]\n[2026-02-12]", NOW) == (
        "[2026-02-12 ⟨4d ago⟩][[2026-02-15 ⟨yesterday⟩]]\n[2026-02-12 ⟨4d ago⟩]"
    )


@table(
    ("now", "ago"),
    [
        (datetime(2026, 2, 16, tzinfo=UTC), "today"),
        (datetime(2026, 2, 16, 23, 59, 59, 999_999, tzinfo=UTC), "today"),
        (datetime(2026, 2, 17, tzinfo=UTC), "yesterday"),
        (datetime(2026, 2, 15, 23, 59, 59, 999_999, tzinfo=UTC), "-1d ago"),
        (datetime(2026, 2, 17, 5, tzinfo=timezone(timedelta(hours=8))), "today"),
        (datetime(2026, 2, 15, 20, tzinfo=timezone(timedelta(hours=-5))), "today"),
    ],
)
def test_its_days_begin_at_midnight_utc(now: datetime, ago: str) -> None:
    assert temporal_markers("[2026-02-16]", now) == f"[2026-02-16 ⟨{ago}⟩]"


def test_it_wants_to_know_the_zone_of_now() -> None:
    with pytest.raises(ValueError, match="time zone"):
        temporal_markers("[2026-02-16]", datetime(2026, 2, 16))


@given(st.dates(), st.datetimes(timezones=st.just(UTC)))
def test_it_counts_days_as_the_calendar_does(day: Any, now: datetime) -> None:
    days = (now.date() - day).days
    marked = temporal_markers(f"[{day.isoformat()}]", now)
    if 2 <= days <= 7 or days < 0:
        assert f"⟨{days}d ago⟩" in marked
    elif days > 30:
        assert f"⟨{(days + 29) // 30}mo ago⟩" in marked


INTENT: dict[str, Any] = {
    "lastMode": "learn",
    "lastAction": None,
    "activeThread": None,
    "streak": None,
    "recentModes": [],
}
HEAD = "\n\nContinuous intent:\n"


@table(
    ("fields", "text"),
    [
        ({}, "Last cycle: learn"),
        ({"lastAction": "read"}, "Last cycle: learn — read"),
        ({"lastAction": ""}, "Last cycle: learn"),
        ({"activeThread": "約束"}, 'Last cycle: learn\nCurrently pursuing: "約束"'),
        ({"activeThread": ""}, "Last cycle: learn"),
        ({"streak": {"mode": "x", "count": 1}}, "Last cycle: learn"),
        ({"streak": {"mode": "x", "count": 2}}, "Last cycle: learn\n2 consecutive x cycles"),
        ({"recentModes": ["a", "a"]}, "Last cycle: learn"),
        ({"recentModes": ["a", "a", "a"]}, "Last cycle: learn\nRecent pattern: mostly a (3/3)"),
        ({"recentModes": ["b", "a", "b", "a", "a"]}, "Last cycle: learn\nRecent pattern: mostly a (3/5)"),
        ({"recentModes": ["b", "a", "b", "a", "c"]}, "Last cycle: learn"),
        ({"recentModes": ["b", "a"] * 3}, "Last cycle: learn\nRecent pattern: mostly b (3/6)"),
        ({"recentModes": ["b", "1"] * 3}, "Last cycle: learn\nRecent pattern: mostly 1 (3/6)"),
        ({"recentModes": ["10", "9"] * 3}, "Last cycle: learn\nRecent pattern: mostly 9 (3/6)"),
        ({"recentModes": ["b", "01"] * 3}, "Last cycle: learn\nRecent pattern: mostly b (3/6)"),
        ({"recentModes": ["b", "4294967295"] * 3}, "Last cycle: learn\nRecent pattern: mostly b (3/6)"),
        ({"recentModes": ["b", "4294967294"] * 3}, "Last cycle: learn\nRecent pattern: mostly 4294967294 (3/6)"),
        ({"recentModes": ["toString"] * 3}, "Last cycle: learn"),
        ({"recentModes": ["__proto__"] * 3}, "Last cycle: learn"),
        ({"recentModes": ["__proto__", "a", "a", "a"]}, "Last cycle: learn\nRecent pattern: mostly a (3/4)"),
    ],
)
def test_it_puts_an_intent_into_the_seeds_words(fields: dict[str, Any], text: str) -> None:
    assert format_intent({**INTENT, **fields}) == HEAD + text


def test_it_has_nothing_to_say_before_the_first_cycle() -> None:
    assert format_intent(None) == ""


def advance(intent: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    cycle = {"chosen_behavior": "learn", "current_mode": "learn", "action": None, "active_thread": None, **fields}
    return advance_intent(intent, **cycle)


def test_it_begins_an_intent_with_the_first_cycle() -> None:
    assert advance(action="read", active_thread="t") == {
        "lastMode": "learn",
        "lastAction": "read",
        "activeThread": "t",
        "streak": {"mode": "learn", "count": 1},
        "recentModes": ["learn"],
    }


def test_it_counts_a_streak_until_the_behaviour_changes() -> None:
    second = advance(advance())
    assert second["streak"] == {"mode": "learn", "count": 2}
    assert advance(second, chosen_behavior="rest")["streak"] == {"mode": "rest", "count": 1}
    assert advance(second, chosen_behavior=None)["streak"] is None
    assert advance(second, chosen_behavior="")["streak"] is None
    assert advance(INTENT)["streak"] == {"mode": "learn", "count": 1}


@table(
    ("behavior", "mode", "last", "arrived"),
    [
        ("learn", "learn", "learn", "learn"),
        ("learn", "task", "task", "learn"),
        ("task", "task", "task", "task"),
        (None, "unknown", "unknown", "unknown"),
        (None, "task", "task", "task"),
        (None, "chat", "unknown", "chat"),
        ("", "chat", "", ""),
    ],
)
def test_it_names_the_mode_as_the_seed_does(behavior: str | None, mode: str, last: str, arrived: str) -> None:
    intent = advance(chosen_behavior=behavior, current_mode=mode)
    assert (intent["lastMode"], intent["recentModes"]) == (last, [arrived])


def test_it_keeps_the_last_five_modes() -> None:
    intent: dict[str, Any] | None = None
    for mode in "abcdef":
        intent = advance(intent, chosen_behavior=mode)
    assert intent is not None
    assert intent["recentModes"] == list("bcdef")


@table(
    ("action", "kept"),
    [
        (None, None),
        ("", ""),
        ("a" * 150, "a" * 150),
        ("a" * 151, "a" * 150),
        ("字" * 151, "字" * 150),
        ("😀" * 75, "😀" * 75),
        ("😀" * 76, "😀" * 75),
        ("a" + "😀" * 75, "a" + "😀" * 74),  # not half of the last one
    ],
)
def test_it_cuts_the_action_at_150_units_of_utf_16(action: str | None, kept: str | None) -> None:
    assert advance(action=action)["lastAction"] == kept


def test_it_leaves_the_intent_it_was_given_alone() -> None:
    intent = advance()
    advance(intent)
    assert intent == advance()
