"""The Statistics page and its CSV file."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Agent
from reviews.metrics import daily
from reviews.models import DailyFigure
from reviews.presentation.ratios import ratio, scale_top
from tests.conftest import NOON
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def count() -> None:
    daily.count_days(NOON)


def text(answer: Any) -> str:
    """Return a page with what stands one hover away in brackets."""
    page = " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())
    return re.sub(r' ?<abbr class="aside" tabindex="0" title="([^"]*)">±</abbr>', r" (\1)", page)


@pytest.fixture
def decided(kuro: Any, posted: Any, held: Any) -> None:
    """12 items of no-hedge of which 9 were rejected, 3 of absolute-claim of which 1 was."""
    now = NOON
    for number in range(12):
        held(posted(kuro, now, "no-hedge"), "rejected" if number < 9 else "approved", score=80)
    for number in range(3):
        held(posted(kuro, now, "absolute-claim"), "withdrawn" if number < 1 else "edited", score=50, seconds=7300)
    posted(kuro, now, triggered=False)
    count()


def test_links_at_its_top_lead_to_its_sections(client: Any, decided: None) -> None:
    page = client.get("/statistics/").content.decode()
    links = re.findall(r'href="#([\w-]+)"', page.partition('aria-label="Sections"')[2].partition("</nav>")[0])
    assert {"breakdown", "spot-checks", "second-looks", "limits"} <= {*links}
    assert [each for each in links if f'id="{each}"' not in page] == []


def test_it_says_what_was_counted(client: Any, decided: None) -> None:
    page = text(client.get("/statistics/"))
    assert "<b>93.8%</b> 15 of 16 (95% CI 72–99%)" in page
    assert re.search(r"There are no responses from .* to .* to compare with\.", page)
    assert "nothing to compare with before" not in page
    assert "<b>67%</b> 10 of 15 decided (95% CI 42–85%)" in page
    assert "<b>1 min</b>n = 15; nine in ten within 2 h 2 min (95% CI 1 min–1 min)" in page


def test_figures_that_are_old_say_so(client: Any, decided: None) -> None:
    DailyFigure.objects.update(counted_at=timezone.now() - timedelta(days=2, hours=1))  # no worker has run since
    page = text(client.get("/statistics/"))
    assert re.search(r"· counted <time [^>]*>[A-Z][a-z]{2} \d+(, \d{4})?</time>", page)


def test_a_ratio_on_few_decisions_is_words(client: Any, decided: None) -> None:
    page = text(client.get("/statistics/"))
    assert "1 of 3 decisions: too few to tell" in page
    assert "33%" not in page
    assert "Too few decisions: at least 10 rejected and 10 approved items are needed." in page


@table(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3521, "58 min 41 s"),
        (3600, "1 h"),
        (6004, "1 h 41 min"),
        (7199, "2 h"),
        (86_399, "24 h"),
        (90_000, "1 d 1 h"),
    ],
    rolled_back=True,
)
def test_nine_in_ten_are_within_the_time_that_is_told(
    client: Any, kuro: Any, posted: Any, held: Any, seconds: int, told: str
) -> None:
    for _ in range(10):
        held(posted(kuro, NOON, "no-hedge"), "approved", seconds=seconds)
    count()
    page = text(client.get("/statistics/"))
    assert f"<b>{told}</b>n = 10; nine in ten within {told} (95% CI {told}–{told})" in page


def test_of_few_decisions_it_says_no_nine_in_ten(client: Any, kuro: Any, posted: Any, held: Any) -> None:
    for seconds in (60, 7300):
        held(posted(kuro, NOON, "no-hedge"), "approved", seconds=seconds)
    count()
    assert "<b>1 min</b>n = 2 <span" in text(client.get("/statistics/"))


@table(
    ("before", "now", "said"),
    [
        ((0, 0), (3, 4), "People rejected 3 of the 7 items they decided."),
        (
            (20, 20),
            (20, 22),
            "People rejected 20 of the 42 items they decided, about the same share as the week before.",
        ),
        ((2, 38), (20, 20), "People rejected 20 of the 40 items they decided, a larger share than the week before."),
        ((30, 10), (10, 30), "People rejected 10 of the 40 items they decided, a smaller share than the week before."),
    ],
    rolled_back=True,
)
def test_its_first_line_says_what_anyone_understands(
    client: Any, kuro: Any, posted: Any, held: Any, before: tuple[int, int], now: tuple[int, int], said: str
) -> None:
    for days_ago, (rejected, approved) in ((7, before), (0, now)):
        for state, count_of in (("rejected", rejected), ("approved", approved)):
            for _ in range(count_of):
                held(posted(kuro, NOON - timedelta(days=days_ago)), state)
    count()
    last = NOON.date()
    address = f"/statistics/?since={last - timedelta(days=6)}&until={last}"
    page = text(client.get(address))
    assert f"Aurora: {said}" in page
    assert f"kuro: {said}" in text(client.get(f"{address}&agent={kuro.id}"))
    for word in ("AUC", "pairs"):
        assert word not in re.sub(r"<[^>]+>", " ", page.partition("<main")[2].partition("</main>")[0])


def test_a_signal_is_set_against_all_that_was_held(client: Any, decided: None) -> None:
    page = text(client.get("/statistics/"))
    assert re.search(r'75% \(95% CI 47–91%\)\s*</td>\s*<td class="num" data-label="Before">–', page)
    assert "Rejected more often" not in page, "there are too few without it"


@table(
    ("rejected", "let_go", "said"),
    [
        # Score and length of nine in ten of either side; the tenth has what the other side has.
        ((80, 400), (50, 400), "with a higher score are rejected more often (95% CI 80–95%; 50% is chance)."),
        ((50, 400), (80, 400), "with a higher score are rejected less often (95% CI 5–20%; 50% is chance)."),
        ((60, 400), (60, 400), "with a higher score are rejected neither more nor less often (95% CI 38–62%;"),
        (
            (80, 400),
            (50, 400),
            "longer items are rejected more often (95% CI 38–62%). The score is better than length.",
        ),
        (
            (60, 400),
            (60, 1400),
            "shorter items are rejected more often (95% CI 80–95%). Length is better than the score.",
        ),
        (
            (80, 1400),
            (50, 400),
            "longer items are rejected more often (95% CI 80–95%). No clear difference between score and length.",
        ),
    ],
    rolled_back=True,
)
def test_it_tells_whether_a_higher_score_is_rejected_more_often(
    client: Any, kuro: Any, posted: Any, held: Any, rejected: tuple[int, int], let_go: tuple[int, int], said: str
) -> None:
    for number in range(40):
        one, other = (rejected, let_go) if number % 10 else (let_go, rejected)
        held(posted(kuro, NOON), "rejected", score=one[0], words="x" * one[1])
        held(posted(kuro, NOON), "approved", score=other[0], words="x" * other[1])
    count()
    assert said in text(client.get("/statistics/")).replace("\N{NO-BREAK SPACE}", " ")


def test_a_score_that_is_a_little_better_than_length_is_not_said_to_be(
    client: Any, kuro: Any, posted: Any, held: Any
) -> None:
    for number in range(40):
        scores, lengths = (80, 50) if number % 10 else (50, 80), (80, 8) if number % 8 else (8, 80)
        held(posted(kuro, NOON), "rejected", score=scores[0], words="x" * lengths[0])
        held(posted(kuro, NOON), "approved", score=scores[1], words="x" * lengths[1])
    count()
    page = text(client.get("/statistics/")).replace("\N{NO-BREAK SPACE}", " ")
    assert "higher score are rejected more often (95% CI 80–95%" in page
    assert "longer items are rejected more often (95% CI 77–93%). No clear difference between score and length." in page


def test_what_rejects_the_middle_most_is_no_yes(client: Any, kuro: Any, posted: Any, held: Any) -> None:
    """The highest band is rejected more often than the lowest, and yet a higher score says nothing."""
    for score, bad in ((30, 0), (50, 20), (60, 0), (70, 12)):
        for number in range(20):
            held(posted(kuro, NOON), "rejected" if number < bad else "approved", score=score)
    count()
    assert "are rejected more often: of a rejected" not in text(client.get("/statistics/"))


def test_it_compares_with_as_many_days_before(client: Any, kuro: Any, posted: Any) -> None:
    now = NOON
    for number in range(4):
        posted(kuro, now, triggered=number < 2)
        posted(kuro, now - timedelta(days=8), triggered=number < 1)
    count()
    assert "too few to compare (n = 4); 25.0% before, n = 4" in text(client.get("/statistics/?days=7"))
    assert "3 of 8" in text(client.get("/statistics/?days=30"))


def test_it_says_what_the_chart_of_days_shows(client: Any, kuro: Any, posted: Any, held: Any) -> None:
    for number, day in enumerate((NOON, NOON - timedelta(days=1), NOON - timedelta(days=1))):
        held(posted(kuro, day, "no-hedge"), "approved" if number == 1 else "rejected")
    count()
    said = "nothing before to compare with; 2 of 3 decided items were rejected or withdrawn, too few"
    assert said in text(client.get("/statistics/?days=7"))


@table(
    ("counts", "top"),
    [([], 2), ([1], 2), ([3, 1], 4), ([9], 10), ([10], 10), ([11], 20), ([37], 40), ([100], 100), ([101], 200)],
)
def test_a_scale_ends_at_a_round_number(counts: list[int], top: int) -> None:
    assert scale_top(counts) == top


def test_its_charts_have_their_numbers_as_tables(client: Any, decided: None) -> None:
    page = text(client.get("/statistics/"))
    assert page.count('<details class="more"') - text(client.get("/responses/")).count('<details class="more"') == 3
    assert '<td class="num">16</td><td class="num">10</td><td class="num">2</td><td class="num">3</td>' in page


def test_no_style_or_script_stands_in_it(client: Any, decided: None) -> None:
    main = client.get("/statistics/").content.decode().split("<main")[1].split("</main>")[0]
    assert " style=" not in main
    assert "<script" not in main
    assert " on" not in {part[:3] for part in main.split("<") if "=" in part[:8]}


def test_it_says_that_nothing_is_decided_yet_and_draws_no_chart_of_it(client: Any, kuro: Any, posted: Any) -> None:
    posted(kuro, NOON)
    count()
    page = text(client.get("/statistics/"))
    assert "nothing decided yet" in page
    assert "bands-title" not in page


def test_it_says_so_when_there_is_nothing(client: Any, kuro: Any) -> None:
    assert "No figures for these days" in text(client.get("/statistics/"))


@table("days", ["8", "x", "", "-1", "1" * 5000], rolled_back=True)
def test_an_odd_period_is_the_usual_one(client: Any, decided: None, days: str) -> None:
    page = client.get("/statistics/", {"days": days})
    assert '<input type="hidden" name="days" value="30">' in page.content.decode()


def test_an_agent_can_be_chosen(client: Any, decided: None, aurora: Any) -> None:
    from metacog.accounts.agents import create_agent

    idle, *_ = create_agent(aurora, "idle", None)
    kuro = Agent.objects.get(name="kuro")
    daily.recount(idle, NOON.date())  # a day on which it posted nothing
    assert "15 of 16" in text(client.get("/statistics/", {"agent": kuro.public_id}))
    assert "16 responses · 1 agent · counted <time" in text(client.get("/statistics/"))
    assert "No figures for these days" in text(client.get("/statistics/", {"agent": idle.public_id}))


def test_a_stranger_sees_nothing_of_it(as_person: Any, mallory: Any, decided: None, other: Any, kuro: Any) -> None:
    client = as_person(mallory)
    for query in ({}, {"agent": kuro.id}):
        page = text(client.get("/statistics/", query))
        assert "No figures for these days" in page
        assert "kuro" not in page
    assert client.get("/statistics.csv", {"agent": kuro.id}).status_code == 404
    assert kuro.id not in client.get("/statistics.csv").content.decode()


@table("path", ["/statistics/", "/statistics.csv"], rolled_back=True)
def test_it_asks_to_sign_in(db: None, path: str, client: Any) -> None:
    client.logout()
    assert client.get(path).status_code == 302


def test_its_cost_does_not_grow_with_the_responses(
    client: Any, kuro: Any, posted: Any, held: Any, django_assert_num_queries: Any
) -> None:
    now = NOON
    for responses in (10, 190):
        for number in range(responses):
            response = posted(kuro, now - timedelta(days=number % 30), "no-hedge")
            if number % 10 == 0:
                held(response, "rejected", score=number % 101)
        DailyFigure.objects.all().delete()  # responses come when they come; these were written into the past
        count()
        # session, person, roles, agents, whose to choose, ten of the report, learned risk, count in the navigation
        with django_assert_num_queries(19):
            page = client.get("/statistics/")
    assert "200 responses" in text(page)


def test_the_file_has_a_line_for_each_agent_and_day(client: Any, decided: None, kuro: Any) -> None:
    answer = client.get("/statistics.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert row["agent"] == kuro.id
    assert row["responses"] == "16"
    assert (row["rejected"], row["withdrawn"], row["edited"], row["approved"]) == ("9", "1", "2", "3")
    assert (row["fired_no-hedge"], row["fired_error-pattern"]) == ("12", "0")
    assert (row["median_seconds"], row["p90_seconds"]) == ("60", "7300")


@table(
    "name",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u3000=1", "\u200b=1", "\ufeff=1", "＝1", "＋1", "－1", "＠a"),
        *("\t=1", "\r=1", "\n=1", "\tx", ";=1", "; =1", ",=1", "|=1", '"=1', "';＝1"),
    ],
    rolled_back=True,
)
def test_a_spreadsheet_takes_no_name_for_a_formula(client: Any, decided: None, name: str) -> None:
    Agent.objects.filter(name="kuro").update(name=name)
    (row,) = csv.DictReader(io.StringIO(client.get("/statistics.csv").content.decode(), newline=""))
    assert row["name"] == f"'{name}"


@table("name", ["kuro-2", "a;b", "x = y", "名＝字"], rolled_back=True)
def test_any_other_name_stays_as_it_is_in_one_cell(client: Any, decided: None, name: str) -> None:
    Agent.objects.filter(name="kuro").update(name=name)
    page = client.get("/statistics.csv").content.decode()
    assert f',"{name}",' in page


def test_today_is_counted_by_the_task(kuro: Any) -> None:
    from reviews import tasks

    kuro.hold()
    tasks.count_days()
    assert DailyFigure.objects.get().held == 1


@table(
    ("part", "whole", "digits", "rate", "interval"),
    [
        (0, 2251, 1, "0.0%", "0.0–0.2%"),
        (1, 2251, 1, "0.04%", "0.0–0.3%"),
        (1, 250, 0, "0.4%", "0–2%"),
        (1, 100, 0, "1%", "0–5%"),
        (1, 10**6, 0, "0.00%", "0.0–0.0%"),
        (3, 4, 0, "75%", "30–95%"),
    ],
)
def test_a_few_of_many_are_not_told_as_none(part: int, whole: int, digits: int, rate: str, interval: str) -> None:
    told = ratio(daily.Ratio(part, whole), digits)
    plain = {name: said.replace("\N{NO-BREAK SPACE}", " ") for name, said in told.items() if isinstance(said, str)}
    assert (plain["rate"], plain["interval"]) == (rate, interval)
