"""Ranges of days: which are asked for, how they compare with the one before, and by what they are broken down."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import translation

from patterns.models import ErrorPattern
from reviews.metrics import daily, ranges
from reviews.metrics.daily import Counts, Ratio, Total
from reviews.models import Decision, Signal
from reviews.presentation.ratios import number, percent, sure
from reviews.presentation.statistics import changes
from tests.conftest import NOON
from tests.tables import table

TODAY = date(2026, 3, 10)  # a Tuesday


@table(
    ("query", "days", "before", "wrong"),
    [
        ({}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", ""),
        ({"days": "7"}, "2026-03-04/2026-03-10", "2026-02-25/2026-03-03", ""),
        ({"days": "8"}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", ""),
        ({"range": "month"}, "2026-03-01/2026-03-10", "2026-02-19/2026-02-28", ""),
        ({"since": "2026-02-24", "until": "2026-02-24"}, "2026-02-24/2026-02-24", "2026-02-23/2026-02-23", ""),
        ({"since": "2026-03-01", "days": "7"}, "2026-03-01/2026-03-10", "2026-02-19/2026-02-28", ""),
        ({"since": "2025-03-10", "until": "2026-03-10"}, "2025-03-10/2026-03-10", "2024-03-09/2025-03-09", ""),
        ({"since": "2025-03-09"}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", "A range has at most 366 days"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", "The first"),
        ({"since": "yesterday"}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", "Write dates like"),
        ({"since": "0001-01-01", "until": "0001-01-02"}, "2026-02-09/2026-03-10", "2026-01-10/2026-02-08", "Write"),
    ],
)
def test_a_range_has_one_before_it_that_is_as_long(query: Any, days: str, before: str, wrong: str) -> None:
    asked = ranges.asked(query, TODAY)
    told = [f"{each.first}/{each.last}" for each in (asked.range, asked.range.before)]
    assert told == [days, before]
    assert " ".join(asked.wrong).startswith(wrong) if wrong else not asked.wrong
    weeks = asked.range.weeks()
    assert [day for week in weeks for day in week.each()] == asked.range.each()
    assert all(week.first.weekday() == 0 for week in weeks[1:])


@table(
    ("now", "before", "said"),
    [
        ((20, 40), (0, 0), "nothing to compare with before"),
        ((3, 4), (20, 40), "too few to compare (n = 4)"),
        ((20, 41), (20, 40), "no clear difference (n = 41)"),
        ((300, 400), (100, 400), "+50 points (95% CI +44 to +56)"),
        ((100, 400), (300, 400), "−50 points (95% CI −56 to −44)"),
        ((220, 400), (190, 400), "+7.5 points (95% CI +0.6 to +14.3)"),
    ],
)
def test_a_share_is_compared_with_its_interval(now: tuple[int, int], before: tuple[int, int], said: str) -> None:
    assert changes.of_share(Ratio(*now), Ratio(*before)).replace("\N{NO-BREAK SPACE}", " ") == said


@table(
    ("now", "before", "said"),
    [
        (
            Counts(held=870, rejected=58, approved=38), Counts(1, held=1230),
            "Holds fell from 41 to 29 a day; 58 of 96 decided items were rejected or withdrawn (60%, 95% CI 50–70%).",
        ),
        (Counts(held=1230), Counts(1, held=870), "Holds rose from 29 to 41 a day; nothing has been decided yet."),
        (
            Counts(held=90), Counts(1, held=96),
            "3 texts were held a day, 3.2 before: no clear difference; nothing has been decided yet.",
        ),
        (
            Counts(held=90, rejected=1), Counts(),
            "3 texts were held a day, with nothing before to compare with; "
            "1 of 1 decided items were rejected or withdrawn, too few for a share.",
        ),
    ],
)  # fmt: skip
def test_one_sentence_says_what_was_held_and_rejected(now: Counts, before: Counts, said: str) -> None:
    assert changes.of_holds(now, before, 30) == said


@table(
    ("now", "before", "said"),
    [
        ({60: 40}, {}, "nothing to compare with before"),
        ({60: 9}, {60: 40}, "1 min before: too few to compare (n = 9)"),
        ({60: 40}, {600: 40}, "shorter than before (10 min)"),
        ({600: 40}, {60: 40}, "longer than before (1 min)"),
        ({60: 21, 600: 20}, {60: 20, 600: 21}, "10 min before: no clear difference (n = 41)"),
    ],
)
def test_the_median_is_compared_by_its_interval(now: dict[int, int], before: dict[int, int], said: str) -> None:
    told = changes.of_median(Total(seconds=Counter(now)), Total(seconds=Counter(before)))
    assert told.replace("\N{NO-BREAK SPACE}", " ") == said


@table("language", ["en", "zh-hant", "zh-hans"])
def test_numbers_are_written_by_the_language(language: str) -> None:
    with translation.override(language):
        told = sure(Ratio(482, 1662)).replace("\N{NO-BREAK SPACE}", " ")
        assert (number(1662), percent(0.04321, 1), number(0.5, 2)) == ("1,662", "4.3%", "0.50")
    assert told.startswith("29%")
    assert "27–31%" in told
    assert told.endswith("n = 1,662")


# -- the page and its files ------------------------------------------------------------------------


@pytest.fixture
def decided(kuro: Any, posted: Any, held: Any, alice: Any, bob: Any, aurora: Any) -> ErrorPattern:
    """30 items that alice decided now (24 rejected), 30 of bob a week earlier (6 rejected), all by one pattern."""
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["x"], description="blamed the cache")
    for person, days_ago, rejected in ((alice, 0, 24), (bob, 7, 6)):
        for each in range(30):
            response = posted(kuro, NOON - timedelta(days=days_ago), "error-pattern")
            held(response, "rejected" if each < rejected else "approved")
        Decision.objects.filter(person=None).update(person=person)
    Signal.objects.update(pattern=pattern)
    daily.count_days(NOON)
    return pattern


def text(answer: Any) -> str:
    page = " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())
    page = re.sub(r' ?<abbr class="aside" tabindex="0" title="([^"]*)">±</abbr>', r" (\1)", page)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@table(
    ("group", "row"),
    [
        ("signal", "Error pattern 30 30 24 80% (95% CI 63–90%) 20% +60 points (95% CI +36 to +75)"),
        ("pattern", "blamed the cache 30 30 24 80% (95% CI 63–90%) 20% +60 points (95% CI +36 to +75)"),
        ("agent", "kuro 30 30 24 80% (95% CI 63–90%) 20% +60 points (95% CI +36 to +75)"),
        ("team", "Aurora 30 30 24 80% (95% CI 63–90%) 20% +60 points (95% CI +36 to +75)"),
        ("reviewer", "Alice 30 24 80% (95% CI 63–90%) – – "),
    ],
)
def test_it_is_broken_down_by_what_is_asked(as_person: Any, olga: Any, decided: Any, group: str, row: str) -> None:
    page = text(as_person(olga).get("/statistics/", {"days": "7", "group": group}))
    assert row in page
    assert "1 items were held" not in page
    assert "Days are UTC." in page


def test_a_reviewer_sees_their_own_row_and_an_owner_the_teams(
    as_person: Any, alice: Any, olga: Any, decided: Any
) -> None:
    def names(person: Any, **query: str) -> set[str]:
        answer = as_person(person).get("/statistics/data/reviewers.json", {"days": "30", **query})
        return {row["reviewer"] for row in json.loads(answer.content)["rows"]}

    assert names(olga) == {"alice", "bob"}
    assert names(alice) == {"alice"}


def test_a_file_says_what_the_page_says_by_the_same_filters(
    as_person: Any, olga: Any, decided: Any, aurora: Any
) -> None:
    client = as_person(olga)
    page = client.get("/statistics/", {"days": "7", "team": aurora.pk}).content.decode()
    links = re.findall(r'href="(/statistics/data/[^"]+)"', page)
    assert len(links) == len(set(links)) >= 12
    for link in links:
        assert "days=7" in link
        assert client.get(link.replace("&amp;", "&")).status_code == 200
    whole = json.loads(client.get("/statistics/data/all.json?days=7").content)
    for name, rows in whole["tables"].items():
        lines = client.get(f"/statistics/data/{name}.csv?days=7").content.decode()
        assert len(list(csv.DictReader(io.StringIO(lines)))) == len(rows)
        assert json.loads(client.get(f"/statistics/data/{name}.json?days=7").content)["rows"] == rows
    (signal,) = whole["tables"]["signals"]
    assert (signal["decided"], signal["rejected"], signal["share"]) == (30, 24, 0.8)
    assert (signal["before_rejected"], signal["change"]) == (6, 0.6)
    values = csv.DictReader(io.StringIO(client.get("/statistics/data/all.csv?days=7").content.decode()))
    told = {(row["table"], row["row"], row["column"]): row["value"] for row in values}
    assert told["totals", "1", "rejected"] == "24"
    assert told["patterns", "1", "name"] == "blamed the cache"
    assert [client.get(f"/statistics/data/{name}").status_code for name in ("x.csv", "days.xml")] == [404, 404]


def test_what_has_moved_leads_to_where_it_is(as_person: Any, alice: Any) -> None:
    client = as_person(alice)
    moved = {"/let-through/?sample=x": "/spot-checks/?sample=x", "/statistics/pace/": "/statistics/review-time/"}
    for old, new in moved.items():
        answer = client.get(old)
        assert (answer.status_code, answer.url) == (301, new)
