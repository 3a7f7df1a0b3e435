"""How long people have a text before them before they decide, and how often they decide alike in a row (invariant 8).

A hint for them and their owners, never a verdict on anybody: nothing reads it to allow or refuse. The page that
shows an item carries when it did so, signed; its script adds up for how long the item was in sight. The day's
decisions are counted from their rows.
"""

from __future__ import annotations

import time as clock
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from django.core import signing
from django.db import transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import TruncDate

from metacog.heuristics.text.reading import is_hasty, seconds_to_read
from metacog.models import Team, User
from reviews.metrics.daily import DAYS_A_RUN, Ratio, day_of, percentile, start_of
from reviews.models import Decision, DecisionVerdict, HeldItem, ReviewTimeFigure

_Value = TypeVar("_Value")
_COUNTED: dict[str, str] = {
    DecisionVerdict.APPROVE: "approved",
    DecisionVerdict.EDIT: "edited",
    DecisionVerdict.REJECT: "rejected",
}
HIGH = 65  # the score from which approvals in a row are counted for themselves: well above where the seed holds
AT_ONCE = 20  # texts that are read
LONGEST = 24 * 3_600_000  # milliseconds; a page that was open for longer says nothing of reading
SETTLED = timedelta(minutes=1)  # after its release a decision has long been written, even at two web servers


@cache
def _signer() -> signing.Signer:
    return signing.Signer(salt="reviews.review_time")


# -- showing and deciding --------------------------------------------------------------------------


def stamp(shown: str, posted: str = "") -> str:
    """Sign what is shown (an id) and that it is now; `posted` is kept where it says when the same was shown before."""
    if elapsed(posted, shown) is not None:
        return posted
    return _signer().sign(f"{shown}@{_now()}")


def elapsed(posted: str, shown: str, in_sight: int = -1) -> int | None:
    """Return for how many milliseconds it has been shown, by the stamp that a form sends; None without a true one.

    `in_sight` is the page's own count of milliseconds, below 0 where it has no script: all the times since then that
    the item was open, without those in which the list or another window hid it.
    """
    try:
        name, _, at = _signer().unsign(posted).partition("@")
    except signing.BadSignature:
        return None
    passed = _now() - int(at)
    if name != shown or not 0 <= passed <= LONGEST:
        return None
    return passed if in_sight < 0 else min(passed, in_sight)


def _now() -> int:
    return int(clock.time() * 1000)


# -- counting --------------------------------------------------------------------------------------


def count_days(now: datetime) -> int:
    """Count the last day counted, the one before it and every later one on which people decided; return how many.

    Any number of times: each day is counted afresh for as long as its decisions may change. After that no more: its
    texts, by which haste is told, are erased one day.
    """
    by_people = _final(now)
    last = ReviewTimeFigure.objects.filter(day__lte=day_of(now)).aggregate(last=Max("day"))["last"]
    if last:
        by_people = by_people.filter(decided_at__gte=start_of(last - timedelta(days=1)))
    by_day = by_people.annotate(day=TruncDate("decided_at", tzinfo=UTC)).order_by("day").values_list("day")
    days = list(by_day.annotate(released=Max("release_at"))[:DAYS_A_RUN])
    known = ReviewTimeFigure.objects.filter(day__in=[day for day, _ in days], counted_at__lte=now).order_by()
    counted = dict(known.values_list("day").annotate(at=Max("counted_at")))
    due = [day for day, released in days if day not in counted or counted[day] < released + SETTLED]
    for day in due:
        _count_day(day, now)
    return len(due)


def _final(now: datetime) -> QuerySet[Decision]:
    """Return the decisions of people that can no longer be undone, but answers: to think of one is no review."""
    final = Decision.objects.filter(person__isnull=False, undone_at=None, release_at__lte=now)
    return final.exclude(verdict=DecisionVerdict.ANSWER)


def _count_day(day: date, now: datetime) -> None:
    decided = _final(now).filter(decided_at__gte=start_of(day), decided_at__lt=start_of(day + timedelta(days=1)))
    told = decided.order_by("decided_at", "id").values_list(
        "person", "held__team", "verdict", "held__hesitation_score", "shown_ms", "held__text", "held__kind"
    )
    rows: dict[tuple[int, int], list[Decided]] = defaultdict(list)
    for person, team, verdict, score, shown_ms, text, kind in told.iterator(chunk_size=AT_ONCE):
        if kind == HeldItem.Kind.TOOL_CALL:
            score = 0  # which is a rule's, not a score
        rows[person, team].append(Decided.of(verdict, score, shown_ms, text))
    with transaction.atomic():
        for (person, team), each in rows.items():
            ReviewTimeFigure.objects.update_or_create(
                person_id=person, team_id=team, day=day, defaults=count(each) | {"counted_at": now}
            )


class Decided(NamedTuple):
    """One decision of a person, with what counts for their review time."""

    verdict: str
    hesitation_score: int
    shown_ms: int | None
    is_hasty: bool = False  # as the next, of one whose time is known
    to_read: float = 0  # seconds

    @classmethod
    def of(cls, verdict: str, hesitation_score: int, shown_ms: int | None, text: str) -> Decided:
        """Read a text, and keep nothing of it: all of a day's may be a gigabyte."""
        if shown_ms is None:
            return cls(verdict, hesitation_score, None)
        return cls(verdict, hesitation_score, shown_ms, is_hasty(shown_ms / 1000, text), seconds_to_read(text))


def count(decided: Sequence[Decided]) -> dict[str, Any]:
    """Count a day's decisions of one person, earliest first, as a ReviewTimeFigure has them."""
    verdicts = Counter(each.verdict for each in decided)
    times = [each.shown_ms for each in decided if each.shown_ms is not None]
    run, verdict = longest_run([each.verdict for each in decided])
    approvals = [each.verdict == DecisionVerdict.APPROVE for each in decided if each.hesitation_score >= HIGH]
    return {
        **{name: verdicts[verdict] for verdict, name in _COUNTED.items()},
        "timed": len(times),
        "hasty": sum(each.is_hasty for each in decided),
        "tenths": Counter(str(ms // 100) for ms in times),
        "to_read": round(sum(each.to_read for each in decided)),
        "run": run,
        "run_of": verdict,
        "high_run": max((length for is_approval, length in _runs(approvals) if is_approval), default=0),
    }


def longest_run(verdicts: Sequence[str]) -> tuple[int, str]:
    """Return how many in a row are the same at most, and which; of two as long the first."""
    return max(((length, verdict) for verdict, length in _runs(verdicts)), key=itemgetter(0), default=(0, ""))


def _runs(values: Sequence[_Value]) -> list[tuple[_Value, int]]:
    return [(value, sum(1 for _ in same)) for value, same in groupby(values)]


# -- adding up -------------------------------------------------------------------------------------


@dataclass
class ReviewTime:
    """Several days of one person in one team."""

    person: User
    team: Team
    verdicts: Counter[str] = field(default_factory=Counter)  # by "approved", "edited" and "rejected"
    hasty: int = 0
    to_read: int = 0
    tenths: Counter[int] = field(default_factory=Counter)
    run: int = 0
    run_of: str = ""
    high_run: int = 0

    @property
    def hasty_ratio(self) -> Ratio:
        """Of the decisions whose time is known, those that were quicker than the text can be read."""
        return Ratio(self.hasty, self.tenths.total())

    @property
    def seconds_to_read(self) -> float:
        """Return what the texts of those would take to read, on average."""
        return self.to_read / (self.tenths.total() or 1)

    def seconds(self, share: float) -> float | None:
        """Return a percentile of the seconds between showing and deciding, to the tenth."""
        tenths = percentile(self.tenths, share)
        return None if tenths is None else tenths / 10


def by_person(figures: Iterable[ReviewTimeFigure]) -> list[ReviewTime]:
    """Add figures up (read with their person and team), by team and name: an order that ranks nobody."""
    found: dict[tuple[int, int], ReviewTime] = {}
    for each in figures:
        total = found.setdefault((each.team_id, each.person_id), ReviewTime(each.person, each.team))
        total.verdicts.update({name: getattr(each, name) for name in _COUNTED.values()})
        total.hasty += each.hasty
        total.to_read += each.to_read
        total.tenths.update({int(tenths): count for tenths, count in each.tenths.items()})
        if each.run > total.run:
            total.run, total.run_of = each.run, each.run_of
        total.high_run = max(total.high_run, each.high_run)
    return sorted(found.values(), key=lambda total: (total.team.name, _name(total.person)))


def _name(person: User) -> str:
    return (person.get_full_name() or person.get_username()).casefold()
