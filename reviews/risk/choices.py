"""What a team makes of its learned risk: the order of its queue, a review budget, spot checks where it is unsure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.stats.gate import LOOKED_AT, Gate
from metacog.models import Team, User
from reviews.models import LearnedRisk
from reviews.risk.budget import a_day
from reviews.risk.today import ENOUGH, Passing, passing

MOST_A_DAY = 10_000


class Preview(NamedTuple):
    """What a review budget would have done with what passed in the last days."""

    days: int
    items: int  # that passed in these days and could have been held
    looked_at: int  # of them, within the budget
    cut: float | None  # the risk from which an item is looked at; None where nothing passed
    # Of what people would have rejected of it, the share among as many: by the learned order, with its 95 % interval,
    # by length, and by chance. None: too few spot checks say so.
    caught: tuple[float, float, float, float, float] | None
    checks: int  # spot checks there are, and those that should have been held
    misses: int


def preview(learned: LearnedRisk, budget: int) -> Preview:
    """Say what `budget` items a day would have come to; `learned` is a team's, and has passed the gate."""
    passing = learned.passing or {"days": 30, "items": 0, "risks": []}
    looked_at = min(passing["items"], budget * passing["days"])
    share = looked_at / passing["items"] if passing["items"] else 0.0
    caught = None
    if found := learned.found.get("passing"):
        gate = Gate.from_dict(found)
        curves = (gate.caught, gate.caught_low, gate.caught_high, gate.caught_by["length"])
        found, low, high, by_length = (_at(curve, share) for curve in curves)
        caught = found, low, high, by_length, share
    return Preview(
        passing["days"],
        passing["items"],
        looked_at,
        cut_for(passing["risks"], share),
        caught,
        learned.found.get("checks", 0),
        learned.found.get("misses", 0),
    )


def cut_for(risks: Sequence[float], share: float) -> float | None:
    """Return the risk that so great a share of these (in ascending order) reach."""
    if not risks:
        return None
    return risks[min(len(risks) - 1, max(0, round(len(risks) * (1 - share))))]


def doubt(risk: float) -> float:
    """Return the size by which a text is drawn for spot checks: 0.5 where its risk is 0 or 1, and 1 where it is 0.5."""
    return 0.5 + 2 * risk * (1 - risk)


def share_of_least_sure(risks: Sequence[float]) -> float | None:
    """Return which share of the spot checks would go to the quarter of these texts that the model is least sure of."""
    sizes = sorted(map(doubt, risks), reverse=True)
    return sum(sizes[: len(sizes) // 4]) / sum(sizes) if len(sizes) >= 4 else None


def _at(curve: Sequence[float], share: float) -> float:
    """Read a curve over `LOOKED_AT` at a share between its points."""
    at = bisect_left(LOOKED_AT, share)
    if at >= len(curve):
        return 1.0
    below, under = (LOOKED_AT[at - 1], curve[at - 1]) if at else (0.0, 0.0)
    return under + (curve[at] - under) * (share - below) / (LOOKED_AT[at] - below)


def of_team(team: Team, *, of_calls: bool = False) -> LearnedRisk | None:
    """Return what learning of its words, or of its tool calls, came to last for a team as a whole."""
    found = LearnedRisk.objects.filter(team=team, agent=None, of_calls=of_calls)
    return found.first()


def of_kinds(team: Team) -> dict[bool, LearnedRisk]:
    """Return what learning came to last for a team as a whole: of words, and of tool calls (True)."""
    return {row.of_calls: row for row in LearnedRisk.objects.filter(team=team, agent=None).order_by("of_calls")}


class Choices(NamedTuple):
    """What a team makes of its learned risk."""

    order: bool
    budget: int | None  # of words a day
    holds: bool
    samples: bool
    of_calls: int | None = None  # the budget of tool calls


def choose(team: Team, person: User, chosen: Choices) -> None:
    """Keep a team's choices, with what changed in its record. The owner's right is the caller's to check."""
    with transaction.atomic(durable=True):
        row = Team.objects.select_for_update().get(pk=team.pk)
        wanted = {
            "risk_order": chosen.order,
            "risk_budget": chosen.budget,
            "risk_budget_holds": chosen.holds and chosen.budget is not None,
            "risk_calls_budget": chosen.of_calls,
            "risk_samples": chosen.samples,
        }
        changed = [name for name, value in wanted.items() if getattr(row, name) != value]
        if not changed:
            return
        for name, value in wanted.items():
            setattr(row, name, value)
        now = timezone.now()
        row.risk_cut = budget_cut(row, passing(row, now))
        row.risk_calls_cut = budget_cut(row, passing(row, now, of_calls=True), of_calls=True)
        row.save(update_fields=[*wanted, "risk_cut", "risk_calls_cut"])
        audit.record("learned-risk-chosen", str(team.pk), actor=person, team=team.pk, fields=changed, **wanted)


def kind_of(team: Team, *, of_calls: bool) -> str:
    """Return what orders a team's words or tool calls; "" where nothing does."""
    return team.risk_calls if of_calls else team.risk_kind


def budget_cut(team: Team, lately: Passing | None = None, *, of_calls: bool = False) -> float | None:
    """Return the risk from which a budget of a team has a place for what passes; None: it has none.

    By what passed `lately`, where that is enough: the risks that learning kept are up to a day old, and may be none.
    """
    budget = a_day(team, of_calls=of_calls)
    if not budget or kind_of(team, of_calls=of_calls) != "learned":
        return None
    if lately and len(lately.risks) >= ENOUGH:
        return cut_for(lately.risks, min(1.0, budget * lately.days / len(lately.risks)))
    learned = of_team(team, of_calls=of_calls)
    return preview(learned, budget).cut if learned else None
