"""How quickly and how much alike people decide: what is measured, what is counted, and who may see it."""

from __future__ import annotations

import re
import tracemalloc
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse

from metacog.models import Membership
from reviews.metrics import review_time
from reviews.metrics.review_time import Decided
from reviews.models import Decision, HeldItem, ReviewTimeFigure
from tests.conftest import NOON
from tests.tables import table

LONG = "word " * 400  # two minutes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets so many seconds pass for whoever has a page open."""
    passed = [0.0]
    monkeypatch.setattr(review_time, "_now", lambda: round(1_790_000_000_000 + 1000 * passed[0]))

    def wait(seconds: float) -> None:
        passed[0] += seconds

    return wait


def shown_in(page: Any) -> str:
    found = re.search(r'name="shown" value="([^"]*)"', page.content.decode())
    assert found
    return found[1].replace("&amp;", "&")


def decide(client: Any, public_id: str, shown: str, verdict: str = "approve", **fields: str) -> Any:
    held = HeldItem.objects.get(public_id=public_id)
    form = {"verdict": verdict, "version": held.version, "sha256": held.sha256, "shown": shown} | fields
    return client.post(reverse("decide", args=[public_id]), form)


class TestWhatIsMeasured:
    def test_it_is_the_time_from_showing_to_deciding(self, kuro: Any, alice: Any, as_person: Any, clock: Any) -> None:
        client, held = as_person(alice), kuro.hold()
        shown = shown_in(client.get(reverse("item", args=[held])))
        clock(12.5)
        decide(client, held, shown)
        assert Decision.objects.get().shown_ms == 12_500

    def test_a_form_that_comes_back_with_a_complaint_has_been_shown_since_the_first_time(
        self, kuro: Any, alice: Any, as_person: Any, clock: Any
    ) -> None:
        client, held = as_person(alice), kuro.hold()
        shown = shown_in(client.get(reverse("item", args=[held])))
        clock(10)
        again = decide(client, held, shown, "reject")
        assert again.status_code == 422
        clock(2)
        decide(client, held, shown_in(again), "reject", reason="no")
        assert Decision.objects.get().shown_ms == 12_000

    @table("forged", ["", "x", "held_1@5", "{other}", "{cut}"], rolled_back=True)
    def test_a_stamp_that_is_not_this_items_tells_nothing(
        self, kuro: Any, alice: Any, as_person: Any, clock: Any, forged: str
    ) -> None:
        client, held, other = as_person(alice), kuro.hold(), kuro.hold()
        stamps = {"other": review_time.stamp(other), "cut": review_time.stamp(held)[:-1]}
        decide(client, held, forged.format(**stamps))
        assert Decision.objects.get().shown_ms is None

    @table(
        ("counted", "ms"),
        [("3400", 3_400), ("12501", 12_500), ("", 12_500), ("-1", 12_500), ("1.5", 12_500)],
        rolled_back=True,
    )
    def test_what_the_page_counted_is_the_time_in_sight_if_there_was_so_much(
        self, kuro: Any, alice: Any, as_person: Any, clock: Any, counted: str, ms: int
    ) -> None:
        client, held = as_person(alice), kuro.hold()
        shown = shown_in(client.get(reverse("item", args=[held])))
        clock(12.5)
        decide(client, held, shown, in_sight=counted)
        assert Decision.objects.get().shown_ms == ms

    @pytest.mark.parametrize("seconds", [24 * 3600 + 1, -1])  # the second: the machine's clock was set back
    def test_a_page_that_was_open_for_days_or_is_of_the_future_tells_nothing(
        self, kuro: Any, alice: Any, as_person: Any, clock: Any, seconds: int
    ) -> None:
        client, held = as_person(alice), kuro.hold()
        shown = shown_in(client.get(reverse("item", args=[held])))
        clock(seconds)
        decide(client, held, shown)
        assert Decision.objects.get().shown_ms is None

    def test_several_decided_together_share_the_time_of_their_page(
        self, kuro: Any, alice: Any, as_person: Any, clock: Any
    ) -> None:
        client = as_person(alice)
        page = client.get(reverse("together"), {"held": [kuro.hold() for _ in range(3)]})
        clock(9)
        boxes = re.findall(r'name="item" value="([^"]+)"', page.content.decode())
        client.post(reverse("decide-together"), {"item": boxes, "verdict": "approve", "shown": shown_in(page)})
        assert list(Decision.objects.values_list("shown_ms", flat=True)) == [3_000] * 3


@table(
    ("verdicts", "run", "of"),
    [
        ("", 0, ""),
        ("a", 1, "approve"),
        ("aaraaa", 3, "approve"),
        ("rrraae", 3, "reject"),
        ("aarr", 2, "approve"),  # the first of two as long
        ("eeer", 3, "edit"),
    ],
)
def test_the_longest_run_is_of_one_verdict(verdicts: str, run: int, of: str) -> None:
    names = {"a": "approve", "r": "reject", "e": "edit"}
    assert review_time.longest_run([names[each] for each in verdicts]) == (run, of)


def test_approvals_of_high_scores_are_a_run_of_their_own() -> None:
    told = [("a", 80), ("r", 50), ("a", 65), ("a", 64), ("a", 64), *[("r", 90)] * 3, ("a", 70)]
    decided = [Decided({"a": "approve", "r": "reject"}[verdict], score, None) for verdict, score in told]
    assert review_time.count(decided)["high_run"] == 2


class TestWhatIsCounted:
    @pytest.fixture
    def decided(self, posted: Any, held: Any) -> Any:
        """Return a function that writes a decision of a person."""

        def write(caller: Any, person: Any, verdict: str = "approve", at: datetime = NOON, **fields: Any) -> Decision:
            item = held(posted(caller, at))
            HeldItem.objects.filter(pk=item.pk).update(text=fields.pop("text", LONG))
            told = {"decided_at": at, "release_at": at, "item_version": 1, "by": "person", "person": person}
            return Decision.objects.create(held=item, agent=item.agent, verdict=verdict, **told | fields)

        return write

    def test_a_day_of_a_person_is_one_row(self, kuro: Any, alice: Any, bob: Any, decided: Any) -> None:
        for ms in (1_240, 900, 130_000, None):
            decided(kuro, alice, shown_ms=ms)
        decided(kuro, alice, "reject")
        decided(kuro, bob, "edit", text="短")
        review_time.count_days(NOON)
        review_time.count_days(NOON)
        row = ReviewTimeFigure.objects.get(person=alice)
        assert (row.approved, row.edited, row.rejected, row.timed, row.hasty) == (4, 0, 1, 3, 2)
        assert row.tenths == {"12": 1, "9": 1, "1300": 1}
        assert (row.run, row.run_of) == (4, "approve")
        assert row.to_read == pytest.approx(3 * 60 * 2000 / 987, abs=1)
        assert ReviewTimeFigure.objects.get(person=bob).edited == 1

    def test_a_day_keeps_what_was_counted_when_its_texts_are_erased(self, kuro: Any, alice: Any, decided: Any) -> None:
        decided(kuro, alice, shown_ms=900)
        review_time.count_days(NOON)
        decided(kuro, alice, shown_ms=130_000)
        review_time.count_days(NOON + timedelta(minutes=5))
        HeldItem.objects.update(text="")
        for later in (timedelta(minutes=10), timedelta(days=1)):
            assert review_time.count_days(NOON + later) == 0
        row = ReviewTimeFigure.objects.get()
        assert (row.timed, row.hasty) == (2, 1)
        assert row.to_read == pytest.approx(2 * 60 * 2000 / 987, abs=1)

    def test_a_days_texts_are_not_all_kept_at_once(self, kuro: Any, alice: Any, decided: Any) -> None:
        for _ in range(100):
            decided(kuro, alice, shown_ms=900, text="x" * 100_000)
        tracemalloc.start()
        review_time.count_days(NOON)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert ReviewTimeFigure.objects.get().hasty == 100
        assert most < 5_000_000

    @pytest.mark.parametrize("fields", [{"undone_at": NOON}, {"release_at": NOON + timedelta(seconds=5)}])
    def test_what_was_or_can_be_undone_does_not_count(
        self, kuro: Any, alice: Any, decided: Any, fields: dict[str, Any]
    ) -> None:
        decided(kuro, alice, **fields)
        review_time.count_days(NOON)
        assert not ReviewTimeFigure.objects.exists()

    def test_what_an_agent_decides_does_not_count(self, kuro: Any, decided: Any) -> None:
        decided(kuro, None, by="agent")
        review_time.count_days(NOON)
        assert not ReviewTimeFigure.objects.exists()

    def test_it_catches_up_after_any_downtime(
        self, kuro: Any, alice: Any, decided: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(review_time, "DAYS_A_RUN", 4)
        for days in (300, 200, 100, 2, 1, 0):
            decided(kuro, alice, at=NOON - timedelta(days=days))
        runs = [review_time.count_days(NOON) for _ in range(3)]
        assert runs[0] == 4
        assert ReviewTimeFigure.objects.count() == 6

    def test_it_goes_on_after_the_clock_was_wrong_for_a_while(self, kuro: Any, alice: Any, decided: Any) -> None:
        decided(kuro, alice, at=NOON + timedelta(days=3650))
        review_time.count_days(NOON + timedelta(days=3651))
        decided(kuro, alice, at=NOON - timedelta(minutes=1))
        review_time.count_days(NOON)
        assert ReviewTimeFigure.objects.filter(day=NOON.date()).exists()

    def test_two_teams_are_two_rows(self, kuro: Any, other: Any, borealis: Any, alice: Any, decided: Any) -> None:
        Membership.objects.create(user=alice, team=borealis, role="reviewer")
        for caller in (kuro, other):
            decided(caller, alice)
        review_time.count_days(NOON)
        assert ReviewTimeFigure.objects.filter(person=alice, run=1).count() == 2

    def test_it_costs_a_day_the_same_however_much_was_decided(
        self, kuro: Any, alice: Any, decided: Any, django_assert_max_num_queries: Any
    ) -> None:
        for number in (3, 30):
            for _ in range(number):
                decided(kuro, alice)
            with django_assert_max_num_queries(12):
                review_time.count_days(NOON)


class TestThePage:
    @pytest.fixture
    def figure(self, alice: Any, aurora: Any) -> Any:
        def write(person: Any = alice, **fields: Any) -> None:
            told = {"person": person, "team": aurora, "day": NOON.date(), "counted_at": NOON}
            ReviewTimeFigure.objects.create(**told | fields)

        return write

    def page(self, client: Any, query: str = "") -> str:
        answer = client.get(reverse("review-time") + query)
        return " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())

    def test_it_hints_at_many_alike_in_a_row_and_at_haste(self, as_person: Any, alice: Any, figure: Any) -> None:
        told = {"approved": 41, "timed": 41, "hasty": 40, "to_read": 41 * 45, "run": 41, "run_of": "approve"}
        figure(**told, tenths={"12": 41}, high_run=9)
        page = self.page(as_person(alice))
        assert "<b>Alice</b>: 41 approvals in a row, median 1.2 s, reading time 45 s" in page
        assert '41 <span class="quiet">approved 41, edited 0, rejected 0</span>' in page
        assert '98% <span class="quiet">40 of 41</span>' in page
        assert 'title="95% CI 87–100%">±</abbr>' in page
        assert '41 approvals in a row <span class="quiet">9 approvals with a score of 65 or more</span>' in page

    def test_long_times_are_told_in_minutes_and_hours(self, as_person: Any, alice: Any, figure: Any) -> None:
        figure(approved=20, timed=20, to_read=20 * 27364, tenths={"1210": 20}, run=1, run_of="approve")
        page = self.page(as_person(alice))
        assert ">2 min 1 s <" in page
        assert ">7 h 37 min<" in page
        assert "27364" not in page

    @pytest.mark.parametrize(
        "fields",
        [
            {"approved": 19, "timed": 19, "hasty": 19, "tenths": {"9": 19}, "run": 19, "run_of": "approve"},
            {"rejected": 40, "timed": 40, "hasty": 20, "tenths": {"300": 40}, "run": 19, "run_of": "reject"},
        ],
    )
    def test_it_hints_at_nothing_on_little(
        self, as_person: Any, alice: Any, figure: Any, fields: dict[str, Any]
    ) -> None:
        figure(**fields)
        assert "<b>Alice</b>" not in self.page(as_person(alice))

    def test_it_hints_from_twenty_alike_in_a_row_on(self, as_person: Any, alice: Any, figure: Any) -> None:
        figure(rejected=20, run=20, run_of="reject")
        assert "<b>Alice</b>: 20 rejections in a row" in self.page(as_person(alice))

    def test_a_person_sees_their_own_row_and_an_owner_the_teams_by_name(
        self, as_person: Any, alice: Any, bob: Any, carla: Any, olga: Any, mallory: Any, figure: Any
    ) -> None:
        for person, approved in ((bob, 90), (alice, 10), (carla, 50)):
            figure(person, approved=approved, hasty=approved, tenths={"1": approved}, run=1, run_of="approve")
        seen = {
            person.username: re.findall(r'<th scope="row">(\w+)</th>', self.page(as_person(person)))
            for person in (alice, carla, olga, mallory)
        }
        assert seen == {"alice": ["Alice"], "carla": ["Carla"], "olga": ["Alice", "Bob", "Carla"], "mallory": []}

    def test_who_left_the_team_no_longer_sees_it(self, as_person: Any, alice: Any, figure: Any) -> None:
        figure(approved=3)
        Membership.objects.filter(user=alice).delete()
        assert "No decisions in these days" in self.page(as_person(alice))

    def test_it_adds_the_days_up(self, as_person: Any, alice: Any, figure: Any) -> None:
        figure(approved=1, timed=1, tenths={"20": 1}, run=1, run_of="approve")
        figure(day=NOON.date() - timedelta(days=6), rejected=4, timed=2, tenths={"80": 2}, run=4, run_of="reject")
        figure(day=NOON.date() - timedelta(days=7), approved=100)
        page = self.page(as_person(alice), "?days=7")
        assert "approved 1, edited 0, rejected 4" in page
        assert "4 rejections in a row" in page
        assert '8.0 s <span class="quiet">a tenth within 2.0 s</span>' in page

    def test_its_cost_does_not_grow_with_the_people(
        self, as_person: Any, olga: Any, aurora: Any, figure: Any, django_assert_num_queries: Any
    ) -> None:
        from metacog.models import User

        client = as_person(olga)
        for number in range(2):
            for each in range(5):
                figure(User.objects.create(username=f"p{number}{each}"), approved=1, run=1, run_of="approve")
            with django_assert_num_queries(5):  # session, person, teams, figures, count in the navigation
                client.get(reverse("review-time"))
