"""Races for the room that a team's review budget has, played with real threads on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.heuristics.ranking.features import facts_of, see
from metacog.heuristics.ranking.model import Case, Model
from metacog.models import Agent
from reviews.models import AgentResponse, BudgetDay, HeldItem, RiskModel
from reviews.scoring.replay import Replayer
from tests.conftest import Caller
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def post(caller: Caller, number: int) -> str:
    disposition = caller.respond(f"It may rain {number}.")["items"][0]["disposition"]
    connection.close()
    return str(disposition)


def test_twenty_posts_of_two_agents_at_once_fill_a_budget_and_no_more(kuro: Any, aurora: Any) -> None:
    created, key, secret = create_agent(aurora, "second", None)
    second = Caller(created.public_id, key, secret)
    cases = [Case(see("It may rain.", "", facts_of("It may rain.", "", {})), at % 2 == 0) for at in range(10)]
    document = Model.learn(cases).as_dict()
    model = RiskModel.objects.create(team=aurora, public_id=document["id"], document=document, made_at=timezone.now())
    Agent.objects.filter(team=aurora).update(risk_model=model.pk)
    aurora.risk_kind, aurora.risk_budget, aurora.risk_budget_holds, aurora.risk_cut = "learned", 7, True, 0.0
    aurora.save()
    for _ in range(3):
        BudgetDay.objects.all().delete()
        HeldItem.objects.update(by_budget=False)
        calls = [partial(post, caller, number) for number in range(10) for caller in (kuro, second)]
        assert Counter(at_once(calls)) == {"hold": 7, "pass": 13}
        assert (BudgetDay.objects.get().held, HeldItem.objects.filter(by_budget=True).count()) == (7, 7)
    replayer = Replayer()
    assert all(replayer.replay(row).is_equal for row in AgentResponse.objects.select_related("agent__team"))
