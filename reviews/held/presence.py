"""Who has which held item open, so that two people need not read the same one.

Seeing lapses by itself: a page that is closed, hidden or offline stops asking, and its reader is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from metacog.db.clocks import LEEWAY
from metacog.db.prepared import Insert, new, run_together, written_once
from metacog.models import User
from reviews.models import HeldItem, Looking
from reviews.models.decisions import NAMES

SEEN_FOR = timedelta(seconds=20)
SEE_AGAIN = timedelta(seconds=8)  # a page asks every three seconds; so often it need not be written down


@dataclass(frozen=True)
class Presence:
    """Who looks at what in these teams, as one person sees it."""

    others: Mapping[int, list[User]]  # by held item's primary key
    mine: str  # public id of the item this person has been seen at, where that need not be written again

    @property
    def token(self) -> str:
        """Return a short text that changes when anybody else comes or goes."""
        return ",".join(f"{held}@{person.pk}" for held in sorted(self.others) for person in self.others[held])


def of_late(now: datetime) -> tuple[datetime, datetime]:
    """Return between when somebody must have been seen to be there: not before the clock was set back."""
    return now - SEEN_FOR, now + LEEWAY


def of(person: User) -> Presence:
    """Read who has been seen at which item a moment ago; one query."""
    now = timezone.now()
    others: dict[int, list[User]] = defaultdict(list)
    mine = ""
    for row in _looking([team.pk for team in person.teams], *of_late(now)):
        if row.person_id != person.pk:
            others[row.held_id].append(row.person)
        elif row.seen_at > now - SEE_AGAIN:
            mine = row.held.public_id
    return Presence(others, mine)


@written_once
def _looking(teams: Any, since: Any, until: Any) -> QuerySet[Looking]:
    # As a join SQLite reads it from the teams' side: everything that was ever held.
    theirs = Exists(HeldItem.objects.filter(pk=OuterRef("held"), team__in=teams))
    rows = Looking.objects.filter(theirs, seen_at__range=(since, until)).order_by("person")
    return rows.select_related("person", "held").only("seen_at", "held__public_id", *NAMES)


def look(person: User, held: HeldItem) -> None:
    """Write down that a person has an item open now, and no other."""
    row = new(Looking, person_id=person.pk, held_id=held.pk, seen_at=timezone.now())
    with connection.cursor() as cursor:
        run_together(cursor, [(_write, [row])])


_write = Insert(Looking, over=True)
