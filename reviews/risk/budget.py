"""The learned order in force for a post, and the review budget of its team, shared by all its agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from django.db.models import F

from metacog.heuristics.ranking.budget import Ranking
from metacog.heuristics.wire.assessment import ItemPart
from metacog.models import Agent, Team
from reviews.models import BudgetDay
from reviews.risk.in_force import model_of


def ranking_for(agent: Agent, turns: int, at: datetime) -> Ranking | None:
    """Return what ranks a post of an agent (read with its team); None while no model is in force."""
    model = model_of(agent)
    if model is None:
        return None
    team = agent.team
    if not (team.risk_budget and team.risk_budget_holds):
        return Ranking(model, agent.public_id, turns, at=at)
    # As if nothing had been held yet: `take` finds out, and only where something would be.
    return Ranking(model, agent.public_id, turns, team.risk_cut, team.risk_budget, at)


def left(team: Team, day: date) -> int:
    """Count what a team's budget may still hold on a day (in UTC)."""
    held = BudgetDay.objects.filter(team=team, day=day).values_list("held", flat=True).first()
    return max(0, (team.risk_budget or 0) - (held or 0))


def take(agent: Agent, items: Sequence[ItemPart], now: datetime) -> bool:
    """Count what the budget holds of a post, inside its transaction; False: others were faster, it has less room."""
    wanted = sum("by_budget" in item for item in items)
    if not wanted:
        return True
    return _take(agent.team, wanted, now.date())


def take_up_to(team: Team, wanted: int, day: date) -> int:
    """Take as much of a day's budget as there is room for, inside a transaction; return how much."""
    while (wanted := min(wanted, left(team, day))) and not _take(team, wanted, day):
        pass
    return wanted


def _take(team: Team, wanted: int, day: date) -> bool:
    rows, room = BudgetDay.objects.filter(team=team, day=day), (team.risk_budget or 0) - wanted
    if rows.filter(held__lte=room).update(held=F("held") + wanted):
        return True
    if rows.exists():
        return False
    BudgetDay.objects.bulk_create([BudgetDay(team=team, day=day, held=0)], ignore_conflicts=True)
    return bool(rows.filter(held__lte=room).update(held=F("held") + wanted))
