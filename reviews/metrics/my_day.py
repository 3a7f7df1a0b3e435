"""What a person decided today, where they are, and how much is left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from statistics import median

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
from metacog.models import User
from reviews.models import Approval, Decision, DecisionVerdict, HeldItem


@dataclass(frozen=True)
class Day:
    """Figures of one person since midnight."""

    since: datetime
    approved: int
    edited: int
    answered: int
    rejected: int
    timed: int  # decisions whose review time is known
    median_seconds: float | None  # of those
    left: int  # held items of their teams
    overdue: int  # of those, past their team's target
    expiring: int  # of those, before the day is over

    @property
    def decided(self) -> int:
        return self.approved + self.edited + self.answered + self.rejected


def of(person: User, now: datetime) -> Day:
    """Count the day of `now` in the time zone that is active; decisions that were taken back do not count.

    Two queries: the index `decided_last` gives the person's own decisions of today, `waiting_of_team` what is left.
    """
    local = timezone.localtime(now)
    since = datetime.combine(local.date(), time.min, local.tzinfo)
    ends = datetime.combine(local.date() + timedelta(days=1), time.min, local.tzinfo)
    decided = Decision.objects.filter(
        person=person,
        public_id__range=(first_id_at("dec", since - LEEWAY), first_id_at("dec", now + LEEWAY)),
        decided_at__gte=since,
        decided_at__lte=now,
        undone_at=None,
    ).values_list("verdict", "shown_ms")
    verdicts: Counter[str] = Counter()
    times: list[int] = []
    for verdict, shown_ms in decided:
        verdicts[verdict] += 1
        if shown_ms is not None:
            times.append(shown_ms)
    approved = Approval.objects.filter(held=OuterRef("pk"), person=person, ended_at=None)
    held = HeldItem.objects.filter(~Exists(approved), team__in=person.teams, state=HeldItem.State.PENDING)
    held = held.exclude(terms__only_waits=True)
    late = Q(pk=None)
    for team in person.teams:
        late |= Q(team=team, held_at__lt=now - timedelta(minutes=team.decide_within_minutes))
    counts = held.aggregate(
        left=Count("pk"), overdue=Count("pk", filter=late), expiring=Count("pk", filter=Q(expires_at__lt=ends))
    )
    return Day(
        since,
        verdicts[DecisionVerdict.APPROVE],
        verdicts[DecisionVerdict.EDIT],
        verdicts[DecisionVerdict.ANSWER],
        verdicts[DecisionVerdict.REJECT],
        len(times),
        median(times) / 1000 if times else None,
        **counts,
    )
