"""Races about approvals of several people and words that wait, played with real threads on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.db import connection

from metacog.models import AgentState
from reviews.held import decisions
from reviews.models import Approval, Decision, HeldItem
from tests.races.test_races import at_once
from tests.reviews.held.test_approvers import ask, rule
from tests.reviews.held.test_waiting_words import call, chat, post

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("undo_at_once")]


def test_two_approvals_at_once_are_one_release(kuro: Any, alice: Any, bob: Any) -> None:
    for turn in range(20):
        held = HeldItem.objects.get(public_id=ask(kuro, rule(people=2), arguments={"eur": turn}))
        one, two = at_once(partial(decisions.decide_or_approve, held, person, "approve") for person in (alice, bob))
        taken = {type(one[0]), type(two[0])}
        assert taken == {Approval, Decision}, (turn, one, two)
        assert held.decisions.count() == 1
        assert held.approvals.count() == 2
    assert AgentState.objects.get().decision_seq == 20


def test_an_approval_withdrawn_beside_the_last_one_counts_or_does_not(kuro: Any, alice: Any, bob: Any) -> None:
    for turn in range(20):
        held = HeldItem.objects.get(public_id=ask(kuro, rule(people=2), arguments={"eur": turn}))
        mine, _is_new = decisions.decide_or_approve(held, alice, "approve")
        assert isinstance(mine, Approval)
        withdrawn, (last, _new) = at_once(
            [partial(decisions.withdraw_approval, mine), partial(decisions.decide_or_approve, held, bob, "approve")]
        )
        state = HeldItem.objects.get(pk=held.pk).state
        assert (withdrawn, isinstance(last, Decision), state) in {(True, False, "pending"), (False, True, "approved")}


def test_words_go_out_once_when_their_calls_are_decided_at_once(kuro: Any, alice: Any, bob: Any) -> None:
    for turn in range(10):
        words, first, second = post(
            kuro, chat(), call(arguments={"eur": turn}), call(name="mail", call_id=f"m{turn}", arguments={"eur": turn})
        )
        verdict = "approve" if turn % 2 else "reject"
        items = [HeldItem.objects.get(public_id=each["held"]) for each in (first, second)]
        at_once(
            [
                partial(decisions.decide, items[0], alice, "approve"),
                partial(decisions.decide, items[1], bob, verdict, reason="x"),
            ]
        )
        (decision,) = Decision.objects.filter(held__public_id=words["held"])
        assert (decision.by, decision.verdict) == ("system", verdict)
        connection.close()
