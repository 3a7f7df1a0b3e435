"""The learned order in force for a post, and the review budget of its team, shared by all its agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from django.db.models import F

from metacog.heuristics.ranking.budget import Budget, Ranking
from metacog.heuristics.text.tags import TOOL_CALL
from metacog.heuristics.wire.assessment import ItemPart
from metacog.models import Agent, Team
from reviews.models import BudgetDay
from reviews.risk.in_force import orders_of


def ranking_for(agent: Agent, turns: int, at: datetime) -> Ranking | None:
    """Return what ranks a post of an agent (read with its team); None while no model is in force."""
    orders = orders_of(agent)
    if orders is None:
        return None
    team, words, calls = agent.team, Budget(), Budget()
    # As if nothing had been held yet: `take` finds out, and only where something would be.
    if team.risk_budget and team.risk_budget_holds:
        words = Budget(team.risk_cut, team.risk_budget)
    if team.risk_calls_budget:
        calls = Budget(team.risk_calls_cut, team.risk_calls_budget)
    return Ranking(orders, agent.public_id, turns, words, calls, at)


def a_day(team: Team, *, of_calls: bool) -> int:
    """Return how many words or tool calls a team's budget is for."""
    return (team.risk_calls_budget if of_calls else team.risk_budget) or 0


def left(team: Team, day: date, *, of_calls: bool = False) -> int:
    """Count what a team's budget may still hold on a day (in UTC)."""
    held = BudgetDay.objects.filter(team=team, day=day, of_calls=of_calls).values_list("held", flat=True).first()
    return max(0, a_day(team, of_calls=of_calls) - (held or 0))


def take(agent: Agent, items: Sequence[ItemPart], ranking: Ranking, now: datetime) -> Ranking | None:
    """Count what the budgets hold of a post, inside its transaction.

    Where others were faster nothing is counted: what is returned has the room that is left.
    """
    team, day = agent.team, now.date()
    new = [each for each in items if "by_budget" in each and each["index"] not in ranking.calls.again]
    of_words = sum(each["kind"] != TOOL_CALL for each in new)
    of_calls = len(new) - of_words
    if not _take(team, of_words, day):
        return ranking._replace(words=ranking.words._replace(left=left(team, day)))
    if not _take(team, of_calls, day, of_calls=True):
        _take(team, -of_words, day)  # given back: it is taken again with what is then held
        return ranking._replace(calls=ranking.calls._replace(left=left(team, day, of_calls=True)))
    return None


def take_up_to(team: Team, wanted: int, day: date) -> int:
    """Take as much of a day's budget for words as there is room for, inside a transaction; return how much."""
    while (wanted := min(wanted, left(team, day))) and not _take(team, wanted, day):
        pass
    return wanted


def _take(team: Team, wanted: int, day: date, *, of_calls: bool = False) -> bool:
    if not wanted:
        return True
    rows = BudgetDay.objects.filter(team=team, day=day, of_calls=of_calls)
    room = a_day(team, of_calls=of_calls) - wanted
    if rows.filter(held__lte=room).update(held=F("held") + wanted):
        return True
    if rows.exists():
        return False
    BudgetDay.objects.bulk_create([BudgetDay(team=team, day=day, of_calls=of_calls, held=0)], ignore_conflicts=True)
    return bool(rows.filter(held__lte=room).update(held=F("held") + wanted))
