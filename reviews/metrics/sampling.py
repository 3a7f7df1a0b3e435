"""What the rules let through: a random few of each agent's day, judged by people, for an honest miss rate.

What is held gets looked at anyway; without these nobody would ever see what should have been.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from time import monotonic

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.models import Agent, AgentState, Team, User
from reviews.isolation import by_itself
from reviews.metrics import daily
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse, Sample, SampleCursor

A_DAY = 5  # of each agent
CATCH_UP = timedelta(days=7)  # how far back days are made up for that the worker slept through
LOOK_AT = 400  # responses of a day that are read at most to find so many
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
    posted = AgentResponse.objects.filter(
        agent=OuterRef("pk"), received_at__gte=daily.start_of(first), received_at__lt=daily.start_of(last + _DAY)
    )
    due = Agent.objects.filter(Exists(posted), hesitation_enabled=True).exclude(sample_cursor__day=last)
    until = F("sample_cursor__day")
    for agent in due.annotate(until=until).order_by(until.asc(nulls_first=True), "pk"):
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
    passed = AgentResponse.objects.filter(
        agent=agent,
        received_at__gte=start,
        received_at__lt=start + _DAY,
        hesitation_score__isnull=False,
        held_items=None,
        erased_at=None,
    )
    keys = list(passed.values_list("pk", flat=True))
    looked_at = min(LOOK_AT, len(keys))
    found = list(islice(_candidates(_chance.sample(keys, looked_at)), A_DAY))
    if not found:
        return 0
    if len(found) == A_DAY:
        looked_at = found[-1][0]
    picked = sorted(key for _, key in found)
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=agent.pk)
        if Sample.objects.filter(agent=agent, day=day).exists():
            return 0  # another worker was faster
        stands_for = len(keys) / looked_at
        Sample.objects.bulk_create(
            [Sample(response_id=key, agent=agent, day=day, stands_for=stands_for) for key in picked]
        )
    return len(picked)


def _candidates(keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give those responses, in this order, of which something went out that could have been held.

    With each comes how many were looked at up to it.
    """
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        rows = AgentResponse.objects.only("verdict").in_bulk(some)
        for number, key in enumerate(some, first + 1):
            items = rows[key].wire_verdict()["items"]
            if any(item["kind"] in HELD_KINDS and not item.get("recognised") for item in items):
                yield number, key


def waiting(teams: QuerySet[Team]) -> QuerySet[Sample]:
    """Return what these teams have not judged yet, the oldest first."""
    since = daily.day_of(timezone.now() - WAITS_FOR)
    return Sample.objects.filter(agent__team__in=teams, verdict="", day__gte=since, response__erased_at=None).order_by(
        "id"
    )


def judge(sample: Sample, person: User, verdict: str) -> None:
    """Write down what a person says of a sample; who says so last is right."""
    with transaction.atomic(durable=True):
        row = Sample.objects.select_for_update().get(pk=sample.pk)
        before = row.verdict
        if (before, row.person_id) == (verdict, person.pk):
            return
        row.verdict, row.person, row.judged_at = verdict, person, timezone.now()
        row.save(update_fields=["verdict", "person", "judged_at"])
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


@dataclass(frozen=True)
class Misses:
    """Of so many responses of an agent that were let through and looked at, so many should have been held."""

    agent: Agent
    missed: Ratio


def misses(agents: Sequence[Agent], since: date) -> list[Misses]:
    """Count, by agent, what was judged of the days from `since` on; agents of whom nothing was are left out."""
    judged = Sample.objects.filter(agent__in=agents, day__gte=since).exclude(verdict="").order_by()
    counts = judged.values("agent").annotate(
        looked=Count("pk"), missed=Count("pk", filter=Q(verdict=Sample.Verdict.MISSED))
    )
    by_agent = {row["agent"]: Ratio(row["missed"], row["looked"]) for row in counts}
    return [Misses(agent, by_agent[agent.pk]) for agent in agents if agent.pk in by_agent]
