"""The daily figures against what stands in the rows."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, timedelta
from statistics import median_low
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from metacog.models import Agent
from reviews.metrics import daily
from reviews.models import AgentResponse, DailyFigure, Decision, HeldItem, Signal
from tests.conftest import NOON
from tests.reviews.metrics.conftest import VERDICTS, close
from tests.tables import table

DAY = NOON.date()
TYPES = ("absolute-claim", "error-pattern", "no-hedge", "overconfidence")


def agent_of(caller: Any) -> Agent:
    return Agent.objects.get(public_id=caller.id)


def naive(agent: Agent, day: date) -> dict[str, Any]:
    """Count a day row by row, in the plainest way there is."""
    responses = [row for row in AgentResponse.objects.filter(agent=agent) if row.received_at.date() == day]
    items = [item for item in HeldItem.objects.filter(agent=agent) if item.held_at.date() == day]
    decided = [item for item in items if item.closed_at and item.state != "expired"]
    is_rejected = {item.pk: item.state in ("rejected", "withdrawn") for item in decided}
    signals: dict[str, dict[str, int]] = {}
    for signal in Signal.objects.filter(response__in=responses):
        found = signals.setdefault(signal.type, {"fired": 0, "decided": 0, "rejected": 0})
        of_response = [item for item in decided if item.response_id == signal.response_id]
        found["fired"] += 1
        found["decided"] += len(of_response)
        found["rejected"] += sum(is_rejected[item.pk] for item in of_response)
    scores: dict[str, list[int]] = {}
    for item in decided:
        band = scores.setdefault(str(item.hesitation_score), [0, 0])
        band[0] += 1
        band[1] += is_rejected[item.pk]
    lengths: dict[str, list[int]] = {}
    for item in decided:
        if not item.response.erased_at:
            digits = str(len(item.text))
            band = lengths.setdefault(digits[:2] + "0" * len(digits[2:]), [0, 0])
            band[0] += 1
            band[1] += is_rejected[item.pk]
    seconds = Counter(
        str(int((item.decisions.get(undone_at=None).decided_at - item.held_at).total_seconds())) for item in decided
    )
    return {
        "responses": len(responses),
        "triggered": sum(row.triggered for row in responses),
        "held": len(items),
        **{state: sum(item.state == state and bool(item.closed_at) for item in items) for state in VERDICTS},
        "pending": sum(not item.closed_at for item in items),
        "signals": signals,
        "patterns": {},
        "people": {},
        "scores": scores,
        "lengths": lengths,
        "seconds": dict(seconds),
    }


def stored(figure: DailyFigure) -> dict[str, Any]:
    figure.refresh_from_db()
    return {name: getattr(figure, name) for name in naive(figure.agent, figure.day)}


@table("seed", range(5), rolled_back=True)
def test_they_equal_a_naive_count_of_random_rows(kuro: Any, other: Any, posted: Any, held: Any, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        # Many within a second of midnight, on either side.
        at = NOON.replace(hour=0) + dice.choice([timedelta(microseconds=-1), timedelta(0), timedelta(days=1)])
        at += timedelta(seconds=dice.choice([0, 0, dice.randrange(-90_000, 90_000)]))
        fired = dice.sample(TYPES, dice.randrange(4))
        response = posted(dice.choice([kuro, other]), at, *fired, triggered=dice.random() < 0.5)
        for _ in range(dice.randrange(3)):
            state = dice.choice([*VERDICTS, "pending"])
            words = dice.choice("a不") * dice.choice([0, 9, 99, 101, 1239])
            item = held(response, state, seconds=dice.random() * 1000, score=dice.randrange(101), words=words)
            if state == "pending" and dice.random() < 0.5:
                close(item, "rejected", at, released=False)
            elif dice.random() < 0.3:
                Decision.objects.filter(held=item).update(undone_at=at, released_at=None)
                HeldItem.objects.filter(pk=item.pk).update(state="pending", closed_at=None)
    AgentResponse.objects.filter(pk__in=AgentResponse.objects.all()[:9]).update(erased_at=NOON)
    for caller in (kuro, other):
        for day in daily.days_between(DAY - timedelta(days=2), DAY + timedelta(days=2)):
            agent = agent_of(caller)
            assert stored(daily.recount(agent, day)) == naive(agent, day)


def test_counting_twice_changes_nothing(kuro: Any, posted: Any, held: Any) -> None:
    held(posted(kuro, NOON, "no-hedge"), "rejected")
    first = stored(daily.recount(agent_of(kuro), DAY))
    assert stored(daily.recount(agent_of(kuro), DAY)) == first
    assert DailyFigure.objects.count() == 1


def test_what_the_agent_really_posts_is_counted(kuro: Any) -> None:
    kuro.hold()
    kuro.respond("It may rain, according to [1].")
    figure = daily.recount(agent_of(kuro), DAY)
    assert (figure.responses, figure.triggered, figure.held, figure.pending) == (2, 1, 1, 1)
    assert figure.signals["absolute-claim"] == {"fired": 1, "decided": 0, "rejected": 0}


def test_a_late_decision_changes_the_day_the_item_was_held(kuro: Any, posted: Any, held: Any) -> None:
    item, waiting = held(posted(kuro)), held(posted(kuro))
    now = NOON + timedelta(days=6)
    daily.count_days(now)
    close(item, "rejected", now)
    assert daily.count_days(now) == 3  # that day, yesterday and today
    figure = DailyFigure.objects.get(day=DAY)
    assert (figure.rejected, figure.pending) == (1, 1)
    assert not DailyFigure.objects.exclude(day=DAY).filter(rejected__gt=0).exists()
    close(waiting, "expired", now)
    daily.count_days(now)
    assert stored(figure) == naive(figure.agent, DAY)
    assert daily.count_days(now) == 2


def test_days_from_before_patterns_were_counted_are_counted_anew(kuro: Any, posted: Any, held: Any) -> None:
    held(posted(kuro), "rejected", words="x" * 40)
    now = NOON + timedelta(days=6)
    daily.count_days(now)
    DailyFigure.objects.update(patterns=None, people=None)
    daily.count_days(now)
    figure = DailyFigure.objects.get(day=DAY)
    assert (figure.patterns, figure.people) == ({}, {})
    assert daily.count_days(now) == 2


def test_a_decision_that_can_still_be_undone_is_not_counted(kuro: Any, posted: Any, held: Any) -> None:
    close(held(posted(kuro)), "rejected", NOON, released=False)
    figure = daily.recount(agent_of(kuro), DAY)
    assert (figure.rejected, figure.pending) == (0, 1)


def test_it_catches_up_after_any_downtime(kuro: Any, posted: Any) -> None:
    posted(kuro)
    daily.count_days(NOON)
    posted(kuro, NOON + timedelta(hours=2))  # nobody counts this on its day
    posted(kuro, NOON + timedelta(days=3))
    daily.count_days(NOON + timedelta(days=9))
    counted = dict(DailyFigure.objects.values_list("day", "responses"))
    assert counted[DAY] == 2
    assert counted[DAY + timedelta(days=3)] == 1
    assert max(counted) == DAY + timedelta(days=9)
    assert len(counted) == 11  # from the day before the last one counted, without a gap


def test_it_goes_on_after_the_clock_was_wrong_for_a_while(kuro: Any, posted: Any) -> None:
    posted(kuro)
    daily.count_days(NOON)
    daily.count_days(NOON + timedelta(days=3650))
    posted(kuro, NOON + timedelta(days=1))
    daily.count_days(NOON + timedelta(days=1))
    assert DailyFigure.objects.get(day=DAY + timedelta(days=1)).responses == 1


def test_a_long_history_is_counted_in_several_runs(kuro: Any, posted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "DAYS_A_RUN", 10)
    posted(kuro)
    posted(kuro, NOON + timedelta(days=25))
    runs = 0
    while not DailyFigure.objects.filter(day=DAY + timedelta(days=30)).exists():
        daily.count_days(NOON + timedelta(days=30))
        runs += 1
        assert runs < 10
    assert sum(DailyFigure.objects.values_list("responses", flat=True)) == 2


def test_who_was_counted_longest_ago_comes_first_where_the_time_is_not_enough_for_all(
    kuro: Any, other: Any, posted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted(kuro)
    posted(other)
    monkeypatch.setattr(daily, "TURN_SECONDS", 0)  # enough for one
    for _ in range(2):
        assert daily.count_days(NOON) == 1
    assert set(DailyFigure.objects.values_list("agent__public_id", "responses")) == {(kuro.id, 1), (other.id, 1)}


def test_an_agent_that_is_silent_is_counted_once_an_hour_or_when_an_item_is_decided(
    kuro: Any, posted: Any, held: Any
) -> None:
    now = timezone.now()
    item = held(posted(kuro, now - timedelta(days=1)))
    days = daily.count_days(now)
    now = timezone.now()
    assert (days, daily.count_days(now)) == (2, 0)
    close(item, "rejected", now)
    assert (daily.count_days(now), daily.count_days(now)) == (1, 0)
    assert DailyFigure.objects.get(responses=1).rejected == 1
    assert daily.count_days(now + timedelta(hours=1)) > 0
    posted(kuro, now - timedelta(minutes=5))  # and was not seen when it was counted
    daily.count_days(now)
    assert sum(DailyFigure.objects.values_list("responses", flat=True)) == 2


def test_an_agent_that_never_posted_has_no_days(kuro: Any) -> None:
    assert daily.count_days(NOON) == 0


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_that_count_at_once_count_once(kuro: Any, posted: Any, held: Any) -> None:
    for _ in range(20):
        held(posted(kuro, NOON, "no-hedge"), "rejected")
    failed: list[Exception] = []

    def count() -> None:
        try:
            daily.count_days(NOON)
        except Exception as error:  # a thread would swallow it
            failed.append(error)
        finally:
            connection.close()

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    assert stored(DailyFigure.objects.get(day=DAY)) == naive(agent_of(kuro), DAY)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60))
def test_percentiles_are_the_nearest_rank(values: list[int]) -> None:
    counted = Counter(values)
    assert daily.percentile(counted, 0.5) == median_low(values)
    p90 = daily.percentile(counted, 0.9)
    assert p90 in values
    assert 10 * sum(value <= p90 for value in values) >= 9 * len(values)
    assert 10 * sum(value < p90 for value in values) < 9 * len(values)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40))
def test_pairs_are_counted_one_by_one(items: list[tuple[int, bool]]) -> None:
    rejected = [value for value, is_rejected in items if is_rejected]
    let_go = [value for value, is_rejected in items if not is_rejected]
    counts = {
        value: (rejected.count(value) + let_go.count(value), rejected.count(value)) for value in {*rejected, *let_go}
    }
    told = daily.Concordance.of(counts)
    won = [(one > other) + (one == other) / 2 for one in rejected for other in let_go]
    assert told.rate == pytest.approx(sum(won) / len(won) if won else 0.5)
    assert 0 <= told.low <= told.rate <= told.high <= 1
