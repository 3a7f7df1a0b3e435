"""What a team's decisions say of each signal's weight, on the policy page, and setting one to 0 there."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.stats.intervals import difference
from metacog.models import Agent, Policy
from reviews.metrics.daily import Lift, Ratio, day_of
from reviews.models import DailyFigure
from tests.metacog.accounts.test_policy import DRAFT, Desk
from tests.tables import table

Counts = tuple[int, int]  # rejected, decided


@pytest.fixture
def desk(olga: Any, kuro: Any, as_person: Any) -> Desk:
    return Desk(as_person(olga), kuro)


def counted(caller: Any, fired: Counts, decided: Counts, *, days: int = 0, signal: str = "absolute-claim") -> None:
    """Write the figures of a day on which a signal fired on some of what was decided."""
    now = timezone.now()
    DailyFigure.objects.create(
        agent=Agent.objects.get(public_id=caller.id),
        day=day_of(now) - timedelta(days=days),
        signals={signal: {"fired": fired[1], "decided": fired[1], "rejected": fired[0]}},
        rejected=decided[0],
        approved=decided[1] - decided[0],
        counted_at=now,
    )


def row(page: str, signal: str = "absolute_claim") -> tuple[str, bool]:
    """Return what stands below a weight, and whether setting it to 0 is offered."""
    (said,) = re.findall(rf'<div class="hint" id="id_weight_{signal}_helptext">([^<]+)</div>', page)
    return said.replace("\N{NO-BREAK SPACE}", " "), f'value="drop:{signal.replace("_", "-")}"' in page


@table(
    ("fired", "decided", "said", "is_offered"),
    [
        ((30, 84), (60, 300), "rejected 2.6× as often as items without it (95% CI 1.7–3.9, n = 84)", False),
        ((20, 84), (60, 300), "no clear difference: rejected 1.3× as often as items without it"
         " (95% CI 0.8–2.0, n = 84)", True),
        ((10, 84), (60, 300), "rejected 0.5× as often as items without it (95% CI 0.3–0.9, n = 84)", True),
        ((0, 29), (60, 300), "rejected 0.0× as often as items without it (95% CI 0.0–0.5, n = 29)", True),
        ((850, 1_000), (1_500, 2_000), "rejected 1.3× as often as items without it (95% CI 1.2–1.4, n = 1,000)", False),
        ((7, 9), (60, 300), "too few decisions (n = 9)", False),
        ((3, 10), (60, 300), "no clear difference: rejected 1.5× as often as items without it"
         " (95% CI 0.5–3.2, n = 10)", False),
        ((6, 29), (60, 300), "no clear difference: rejected 1.0× as often as items without it"
         " (95% CI 0.5–2.0, n = 29)", False),
        ((6, 30), (60, 300), "no clear difference: rejected 1.0× as often as items without it"
         " (95% CI 0.5–2.0, n = 30)", True),
        ((55, 291), (60, 300), "too few decisions without it to compare with (n = 9)", False),
        ((0, 84), (0, 300), "nothing rejected yet (n = 84)", False),
        ((0, 0), (0, 0), "too few decisions (n = 0)", False),
    ],
    rolled_back=True,
)
def test_it_says_how_often_a_signal_was_right(
    desk: Desk, kuro: Any, fired: Counts, decided: Counts, said: str, is_offered: bool
) -> None:
    counted(kuro, fired, decided)
    assert row(desk.get()) == (said, is_offered)


def test_the_decisions_are_the_teams_of_the_last_90_days(desk: Desk, aurora: Any, kuro: Any, other: Any) -> None:
    from tests.conftest import _agent

    counted(kuro, (20, 50), (30, 150), days=89)
    counted(_agent(aurora, "second"), (10, 34), (30, 150))
    counted(kuro, (50, 50), (50, 50), days=90)
    counted(other, (0, 50), (50, 100))
    assert row(desk.get())[0] == "rejected 2.6× as often as items without it (95% CI 1.7–3.9, n = 84)"
    assert row(desk.get(), "no_hedge")[0] == "too few decisions (n = 0)"


def test_a_weight_is_set_to_0_in_the_form_and_saved_by_nobody_else(desk: Desk, kuro: Any) -> None:
    counted(kuro, (20, 84), (60, 300))
    shown = desk.try_out(do="drop:absolute-claim", threshold="25")
    page = html.unescape(shown.content.decode())
    assert 'name="weight_absolute_claim" value="0"' in page
    assert 'name="threshold" value="25"' in page
    assert "<dt>Absolute claim</dt><dd><del>20</del> → <ins>0</ins></dd>" in page
    assert row(page) == (
        "no clear difference: rejected 1.3× as often as items without it (95% CI 0.8–2.0, n = 84)",
        False,
    )
    assert Policy.objects.count() == 1
    assert 'value="45"' in desk.try_out(do="drop:nonsense").content.decode()
    told = desk.client.post(desk.address, DRAFT | {"do": "drop:absolute-claim"}, headers={"hx-request": "true"})
    assert "<ins>45</ins>" in html.unescape(told.content.decode())  # nobody pressed it: it only has the focus


@given(st.tuples(*[st.integers(0, 300)] * 4))
def test_a_lift_is_beyond_chance_where_the_two_ratios_differ(counts: tuple[int, int, int, int]) -> None:
    part, more, rest_part, rest_more = counts
    lift = Lift(Ratio(part, part + more), Ratio(part + rest_part, sum(counts)))
    if lift.is_enough:
        assert lift.low - 1e-9 <= lift.rate <= lift.high + 1e-9
        low, high = difference(rest_part, rest_part + rest_more, part, part + more)
        assert (lift.low > 1 + 1e-9, lift.high < 1 - 1e-9) == (low > 1e-9, high < -1e-9)


def test_of_what_never_fired_nothing_is_known() -> None:
    lift = Lift(Ratio(0, 0), Ratio(0, 10))
    assert (lift.low, lift.high) == (0.0, float("inf"))
