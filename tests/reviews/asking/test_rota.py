"""Who is on call: a week each, by the clock of where the rota is kept; who stands in, and who is passed over."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from reviews.asking.rota import Rota, Span, Turn
from tests.tables import table

ANA, BOB, CIM = 1, 2, 3
EVERYBODY = {ANA, BOB, CIM}
BERLIN = Rota((ANA, BOB), 0, 9, "Europe/Berlin", date(2026, 10, 19))  # Monday; the clocks change on October 25


def utc(day: int, hour: int, minute: int = 0, month: int = 10) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@table(
    ("rota", "now", "able", "expected"),
    [
        (BERLIN, utc(19, 6, 59), EVERYBODY, Turn(BOB, utc(19, 7))),
        (BERLIN, utc(19, 7), EVERYBODY, Turn(ANA, utc(26, 8))),
        (BERLIN, utc(26, 7, 59), EVERYBODY, Turn(ANA, utc(26, 8))),
        (BERLIN, utc(26, 8), EVERYBODY, Turn(BOB, utc(2, 8, month=11))),
        (BERLIN, utc(12, 8), EVERYBODY, Turn(BOB, utc(19, 7))),
        (BERLIN, utc(20, 0), {BOB}, Turn(BOB, None)),
        (BERLIN, utc(20, 0), set[int](), Turn(None, None)),
        (Rota(), utc(20, 0), EVERYBODY, Turn(None, None)),
        (Rota((ANA, BOB, CIM), 4, 17, "nowhere", date(2026, 10, 2)), utc(20, 0), {ANA, BOB}, Turn(ANA, utc(30, 17))),
    ],
)
def test_each_has_a_week(rota: Rota, now: datetime, able: Any, expected: Turn) -> None:
    assert rota.turn(now, able) == expected


@table(
    ("now", "expected"),
    [
        (utc(19, 12), Turn(ANA, utc(20, 7))),
        (utc(20, 7), Turn(BOB, utc(21, 7))),
        (utc(21, 7), Turn(CIM, utc(22, 7))),
        (utc(22, 7), Turn(ANA, utc(26, 8))),
    ],
)
def test_of_those_who_stand_in_the_last_counts(now: datetime, expected: Turn) -> None:
    spans = [Span(BOB, utc(20, 7), utc(22, 7)), Span(CIM, utc(21, 7), utc(22, 7)), Span(9, utc(19, 7), utc(30, 7))]
    rota = Rota(BERLIN.people, BERLIN.weekday, BERLIN.hour, BERLIN.time_zone, BERLIN.begins, spans)
    assert rota.turn(now, EVERYBODY) == expected


def test_the_order_begins_with_whose_week_it_is() -> None:
    assert BERLIN.in_order(utc(26, 8)) == [BOB, ANA]
