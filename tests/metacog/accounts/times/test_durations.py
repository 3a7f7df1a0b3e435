"""Durations as people type them."""

from __future__ import annotations

from django.utils import translation

from metacog.accounts.times import durations
from tests.tables import table

DAY, HOUR, MINUTE = 86_400, 3_600, 60


@table(
    ("typed", "seconds"),
    [
        ("7 days", 7 * DAY), ("7d", 7 * DAY), ("90 min", 90 * MINUTE), ("4 h", 4 * HOUR), ("1 week", 7 * DAY),
        ("120", 120), ("604,800", 7 * DAY), (" 1 H 30 MIN ", 90 * MINUTE), ("1h30m", 90 * MINUTE),
        ("1.5 h", 90 * MINUTE),
        ("1 day and 2 hours", 26 * HOUR), ("1 day, 2 hours", 26 * HOUR), ("30 sec.", 30), ("0", 0),
        ("7 天", 7 * DAY), ("７天", 7 * DAY), ("4小時30分鐘", 4 * HOUR + 30 * MINUTE), ("2 分钟", 120),
        ("1 個星期", 7 * DAY),
        ("", None), ("soon", None), ("-4 h", None), ("4 fortnights", None), ("1 h 30", None), ("30 min 1 h", None),
        ("4 h 4 h", None), ("0.5", None), ("1e5", None), ("9" * 50, None), ("1 h " * 40, None), ("h", None),
    ],
)  # fmt: skip
def test_it_reads_what_people_type_and_nothing_else(typed: str, seconds: int | None) -> None:
    assert durations.parse(typed) == seconds


@table(
    ("seconds", "en", "hant", "hans"),
    [
        (7 * DAY, "7 days", "7 天", "7 天"),
        (DAY, "1 day", "1 天", "1 天"),
        (90 * MINUTE, "1 h 30 min", "1 小時 30 分鐘", "1 小时 30 分钟"),
        (DAY + 1, "1 day 1 s", "1 天 1 秒", "1 天 1 秒"),
        (0, "0 s", "0 秒", "0 秒"),
    ],
)
def test_it_says_them_exactly_and_reads_them_again(
    translated: None, seconds: int, en: str, hant: str, hans: str
) -> None:
    for language, said in (("en", en), ("zh-hant", hant), ("zh-hans", hans)):
        with translation.override(language):
            assert durations.in_words(seconds) == said
        assert durations.parse(said) == seconds
