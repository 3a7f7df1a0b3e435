"""Spot checks: a random few of each agent's passed responses a day, judged by people, for an honest miss rate.

What is held gets looked at anyway; without these nobody would ever see what should have been. Where a learned order of
risk is in force, a team may have more of them drawn where it is unsure, and have the riskiest that its people have
time for among them; each stands for as many as its chance to be drawn says (Horvitz and Thompson 1952).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.models import Agent, AgentState, Team, User
from reviews.isolation import by_itself
from reviews.metrics import daily
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse, Sample, SampleCursor, SampleFigure
from reviews.risk import budget, choices

A_DAY = 5  # of each agent
CATCH_UP = timedelta(days=7)  # how far back days are made up for that the worker slept through
LOOK_AT = 400  # responses of a day that are read at most to find so many
MOST_RANKED = 5_000  # the same where the riskiest are wanted
WAITS_FOR = timedelta(days=14)  # what nobody has judged by then is no longer asked about
COUNTED = timedelta(days=90)
AT_ONCE = 50
TURN_SECONDS = 20.0  # in which a run begins with agents; it ends before the task's limit

_DAY = timedelta(days=1)

# Exact, since everybody's chance is the same: no seed that an agent could guess.
_chance = random.SystemRandom()


def pick_due(now: datetime) -> int:
    """Pick from every day that is over and was not picked from; return how many. Runs any number of times.

    Who was picked from longest ago comes first; whom a run has no time for, those that follow have.
    """
    began, picked = monotonic(), 0
    first, last = daily.day_of(now - CATCH_UP), daily.day_of(now - daily.LATE) - _DAY
    posted = AgentResponse.objects.posted().filter(
        agent=OuterRef("pk"), received_at__gte=daily.start_of(first), received_at__lt=daily.start_of(last + _DAY)
    )
    due = Agent.objects.filter(Exists(posted), hesitation_enabled=True).exclude(sample_cursor__day=last)
    until = F("sample_cursor__day")
    for agent in due.select_related("team").annotate(until=until).order_by(until.asc(nulls_first=True), "pk"):
        with by_itself("No samples picked for %s", agent.public_id):
            # A clock that was wrong for a while may have gone on.
            begin = first if agent.until is None or agent.until > last else max(first, agent.until + _DAY)
            picked += sum(_pick(agent, day) for day in daily.days_between(begin, last))
            SampleCursor.objects.bulk_create(
                [SampleCursor(agent=agent, day=last)],
                update_conflicts=True,
                unique_fields=["agent"],
                update_fields=["day"],
            )
        if monotonic() - began > TURN_SECONDS:
            break
    return picked


def _pick(agent: Agent, day: date) -> int:
    start = daily.start_of(day)
    passed = AgentResponse.objects.posted().filter(
        agent=agent,
        received_at__gte=start,
        received_at__lt=start + _DAY,
        hesitation_score__isnull=False,
        held_items=None,
        erased_at=None,
    )
    keys = list(passed.values_list("pk", flat=True))
    team, is_ranked = agent.team, bool(agent.risk_model)
    has_budget = is_ranked and bool(team.risk_budget) and not team.risk_budget_holds and team.risk_cut is not None
    looked_at = min(MOST_RANKED if has_budget else LOOK_AT, len(keys))
    looked = _candidates(_chance.sample(keys, looked_at))
    if is_ranked and (has_budget or team.risk_samples):
        found = list(looked)
    else:
        found = list(islice(looked, A_DAY))
        if len(found) == A_DAY:
            looked_at = found[-1].number
    if not found:
        return 0
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=agent.pk)
        if Sample.objects.filter(agent=agent, day=day).exists():
            return 0  # another worker was faster
        riskiest = _within_budget(agent, found, day) if has_budget else []
        others = [each for each in found if each not in riskiest]
        drawn = [(each.key, 1.0) for each in riskiest]
        drawn += [(each.key, chance) for each, chance in drawn_of(others, A_DAY, by_doubt=team.risk_samples)]
        stands_for = len(keys) / looked_at
        Sample.objects.bulk_create(
            [
                Sample(response_id=key, agent=agent, day=day, stands_for=stands_for / chance)
                for key, chance in sorted(drawn)
            ]
        )
    return len(drawn)


class Candidate(NamedTuple):
    """A response of which something went out that could have been held."""

    number: int  # how many were looked at up to it
    key: int
    risk: float | None  # of the riskiest of that, by the model in force when it came


def _candidates(keys: Sequence[int]) -> Iterator[Candidate]:
    """Give those of these responses, in this order, of which something went out that could have been held."""
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        rows = AgentResponse.objects.only("verdict").in_bulk(some)
        for number, key in enumerate(some, first + 1):
            items = rows[key].wire_verdict()["items"]
            went_out = [item for item in items if item["kind"] in HELD_KINDS and not item.get("recognised")]
            if went_out:
                risks = [item["risk"] for item in went_out if "risk" in item]
                yield Candidate(number, key, max(risks, default=None))


def _within_budget(agent: Agent, found: Sequence[Candidate], day: date) -> list[Candidate]:
    """Take the riskiest that the team's budget still has room for on a day."""
    cut = agent.team.risk_cut or 0.0
    risky = [each for each in found if each.risk is not None and each.risk >= cut]
    risky.sort(key=lambda each: (-(each.risk or 0.0), each.key))
    return risky[: budget.take_up_to(agent.team, len(risky), day)]


def drawn_of(found: Sequence[Candidate], count: int, *, by_doubt: bool) -> list[tuple[Candidate, float]]:
    """Draw about so many, each with its chance to be drawn.

    With `by_doubt` half of the chance goes by how unsure the learned risk is, and half is the same for all. Systematic
    sampling with unequal chances (Madow 1949).
    """
    sizes = [choices.doubt(each.risk) if by_doubt and each.risk is not None else 1.0 for each in found]
    chances = _chances(sizes, min(count, len(found)))
    order = list(range(len(found)))
    _chance.shuffle(order)
    drawn, at = [], _chance.random()
    for number in order:
        at += chances[number]
        if at >= 1.0:
            at -= 1
            drawn.append((found[number], chances[number]))
    return drawn


def _chances(sizes: Sequence[float], count: int) -> list[float]:
    """Return chances in proportion to sizes that add up to `count`, none above 1."""
    certain: set[int] = set()
    while True:
        others = sum(size for number, size in enumerate(sizes) if number not in certain)
        left = count - len(certain)
        chances = [1.0 if number in certain else left * size / others for number, size in enumerate(sizes)]
        above = {number for number, chance in enumerate(chances) if chance >= 1.0} - certain
        if not above:
            return chances
        certain |= above
        if len(certain) == len(sizes):
            return [1.0] * len(sizes)


def waited_since() -> date:
    """Return the first day whose samples are still asked about."""
    return daily.day_of(timezone.now() - WAITS_FOR)


def waiting(teams: QuerySet[Team], since: Any = None) -> QuerySet[Sample]:
    """Return what these teams have not judged yet, the oldest first; `since` as `waited_since`, the default."""
    return _waiting(since).filter(agent__team__in=teams)


def waits_longest(teams: QuerySet[Team]) -> QuerySet[Sample]:
    """Return the first of what waits in these teams; of each agent its first is read, along an index."""
    own = _waiting().filter(agent=OuterRef("pk")).values("pk")[:1]
    first_of_each = Agent.objects.filter(team__in=teams).values_list(Subquery(own))
    first = Sample.objects.filter(pk__in=first_of_each).order_by("day", "id").values("pk")[:1]
    return Sample.objects.filter(pk__in=first)


def _waiting(since: Any = None) -> QuerySet[Sample]:
    rows = Sample.objects.filter(verdict="", day__gte=since or waited_since(), response__erased_at=None)
    return rows.order_by("day", "id")


def judge(sample: Sample, person: User, verdict: str) -> None:
    """Write down what a person says of a sample; who says so last is right."""
    with transaction.atomic(durable=True):
        row = Sample.objects.select_for_update().get(pk=sample.pk)
        before = row.verdict
        if (before, row.person_id) == (verdict, person.pk):
            return
        row.verdict, row.person, row.judged_at = verdict, person, timezone.now()
        row.save(update_fields=["verdict", "person", "judged_at"])
        _count(row, before)
        audit.record(
            "sample-judged",
            sample.public_id,
            actor=person,
            team=sample.agent.team_id,
            agent=sample.agent,
            before=before,
            after=verdict,
            response=sample.response.public_id,
        )


def _count(sample: Sample, before: str) -> None:
    """Add to its agent's sums what was said of a sample, and take from them what was said before."""
    is_missed, was_missed = (each == Sample.Finding.MISSED for each in (sample.verdict, before))
    weight = sample.stands_for
    first = 0 if before else weight
    SampleFigure.objects.get_or_create(agent_id=sample.agent_id, day=sample.day)
    SampleFigure.objects.filter(agent=sample.agent_id, day=sample.day).update(
        checked=F("checked") + first,
        squares=F("squares") + first * weight,
        missed=F("missed") + (is_missed - was_missed) * weight,
    )


@dataclass(frozen=True)
class Misses:
    """Of so many checked responses of an agent, so many should have been held."""

    agent: Agent
    missed: Ratio


def misses(agents: Sequence[Agent], since: date, until: date = date.max) -> list[Misses]:
    """Count, by agent, what was judged of the days from `since` to `until`; agents of whom nothing was are left out."""
    figures = SampleFigure.objects.filter(agent__in=agents, day__gte=since, day__lte=until).order_by()
    sums = figures.values_list("agent").annotate(Sum("checked"), Sum("squares"), Sum("missed"))
    by_agent = {}
    for agent, checked, squares, missed in sums:
        # As many as would say as much if each had stood for as many as the others (Kish 1965).
        looked = checked**2 / squares
        by_agent[agent] = Ratio(round(missed / checked * looked), round(looked))
    return [Misses(agent, by_agent[agent.pk]) for agent in agents if agent.pk in by_agent]
