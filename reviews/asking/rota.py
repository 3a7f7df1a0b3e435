"""Who is on call: a week each, in order, and whoever stands in for a while."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple, Self

WEEK = timedelta(weeks=1)
MOST_TURNS = 64  # that are looked through for somebody else


class Span(NamedTuple):
    """Somebody else than whose turn it is, for a while."""

    person: int
    begin: datetime
    end: datetime


class Turn(NamedTuple):
    """Who is on call, by their key, None where nobody can be; and until when, None where it is nobody else's after."""

    person: int | None
    until: datetime | None


@dataclass(frozen=True)
class Rota:
    """People in order, each for a week from an hour of a weekday in a time zone.

    The first has the week from `begins`. Who may not decide any more is passed over: `able` are those who may.
    """

    people: Sequence[int] = ()
    weekday: int = 0  # Monday
    hour: int = 9
    time_zone: str = "UTC"
    begins: date = date(2000, 1, 3)
    spans: Sequence[Span] = ()  # of those that overlap the last counts
    tells: bool = False  # whoever begins a turn has a notice of it

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read settings in which there are no faults."""
        spans = [
            Span(each["person"], datetime.fromisoformat(each["from"]), datetime.fromisoformat(each["until"]))
            for each in given.get("instead", ())
        ]
        rest: dict[str, Any] = {name: value for name, value in given.items() if name != "instead"}
        if "begins" in rest:
            rest["begins"] = date.fromisoformat(rest["begins"])
        return cls(spans=spans, **rest)

    @property
    def zone(self) -> tzinfo:
        """Return its time zone; UTC where this machine does not know it."""
        try:
            return zoneinfo.ZoneInfo(self.time_zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            return UTC

    def last_handover(self, now: datetime) -> date:
        """Return the day of the handover that was last, where the rota is kept."""
        today = now.astimezone(self.zone).date()
        day = today - timedelta(days=(today.weekday() - self.weekday) % 7)
        return day if self._hour_of(day) <= now else day - WEEK

    def turn(self, now: datetime, able: Collection[int]) -> Turn:
        """Say who is on call, and until when."""
        person, at = self.person(now, able), now
        for _turn in range(MOST_TURNS):
            at = self.next_change(at)
            if self.person(at, able) != person:
                return Turn(person, at)
        return Turn(person, None)

    def in_order(self, now: datetime) -> list[int]:
        """Return the people, first whose week it is."""
        return self._from(self.last_handover(now))

    def person(self, now: datetime, able: Collection[int]) -> int | None:
        instead = [span.person for span in self.spans if span.begin <= now < span.end and span.person in able]
        of_week = (person for person in self._from(self.last_handover(now)) if person in able)
        return instead[-1] if instead else next(of_week, None)

    def _from(self, handover: date) -> list[int]:
        if not self.people:
            return []
        first = (handover - self.begins).days // 7 % len(self.people)
        return [*self.people[first:], *self.people[:first]]

    def next_change(self, now: datetime) -> datetime:
        edges = [edge for span in self.spans for edge in (span.begin, span.end) if edge > now]
        return min([*edges, self._hour_of(self.last_handover(now) + WEEK)])

    def _hour_of(self, day: date) -> datetime:
        """Return the hour of the handover in UTC: within one zone Python compares the hands of the clock."""
        return datetime.combine(day, time(self.hour), self.zone).astimezone(UTC)
