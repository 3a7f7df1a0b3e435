"""What an address of the queue asks for, and which of it counts as unsaid."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from metacog.models import Team
from reviews.held.filters import Filters, orders
from tests.tables import table

LEARNED, IN_ITS_ORDER = Team(risk_kind="learned", risk_order=False), Team(risk_kind="learned", risk_order=True)


@table(
    ("query", "told"),
    [
        ("", {}),
        ("state=held&agent=agt_1", {"agent": "agt_1"}),
        ("state=decided", {"state": "decided"}),
        ("state=open", {}),
        ("kind=chat&signal=no-hedge", {"kind": "chat", "signal": "no-hedge"}),
        ("kind=dance&signal=moon", {}),
        (f"agent={'x' * 41}&after=%00a", {"agent": "x" * 40, "after": "a"}),
        # Who decided is of what is decided only; the rest of these of what is held.
        ("by=person", {}),
        ("state=decided&by=person", {"state": "decided", "by": "person"}),
        ("state=decided&by=17", {"state": "decided", "by": "17"}),
        ("state=decided&by=017", {"state": "decided"}),
        ("state=decided&by=nobody&alike=held_1&snoozed=1", {"state": "decided"}),
        ("alike=held_1&snoozed=1", {"alike": "held_1", "snoozed": "1"}),
        ("snoozed=2", {}),
        ("needs=me", {"needs": "me"}),
        ("needs=others&agent=agt_1", {"needs": "others", "agent": "agt_1"}),
        ("needs=nobody", {}),
        ("state=decided&needs=me", {"state": "decided"}),
        ("session=a%00b&pattern=+x+&tool=+pay+", {"session": "ab", "pattern": "x", "tool": "pay"}),
        (f"session={'x' * 256}", {"session": "x" * 255}),
        ("score_from=0&score_to=100", {"score_from": "0", "score_to": "100"}),
        ("score_from=-1&score_to=101", {}),
        ("score_from=0000&score_to=５", {}),
        ("since=2026-02-01&until=2026-02-03T10:00", {"since": "2026-02-01", "until": "2026-02-03"}),
        ("since=2026-02-30&until=x", {}),
        ("assigned=17&mentions=999999999999999999", {"assigned": "17", "mentions": "9" * 18}),
        ("assigned=0&mentions=9999999999999999999", {}),
        ("metadata.run=r-1&metadata.a.b=%00", {"metadata.run": "r-1", "metadata.a.b": ""}),
        ("metadata_name=run&metadata_value=r-1", {"metadata.run": "r-1"}),
        ("metadata_name=run&metadata_value=", {}),
        ("&".join(f"metadata.{n}={n}" for n in range(7)), {f"metadata.{n}": str(n) for n in range(5)}),
        ("order=age", {"order": "age"}),
        ("order=risk", {}),
        ("order=learned", {}),  # where nothing is learned
    ],
)  # fmt: skip
def test_an_address_is_read_and_told_again(query: str, told: dict[str, str]) -> None:
    filters = Filters.of(QueryDict(query), [])
    assert filters.fields == told
    assert Filters.of(QueryDict(filters.query[1:]), []) == filters


@table(
    ("teams", "known", "asked"),
    [
        ([], ("risk", "age"), {"risk": {}, "age": {"order": "age"}, "learned": {}, "": {}}),
        ([Team(), LEARNED], ("risk", "learned", "age"), {"risk": {}, "learned": {"order": "learned"}, "": {}}),
        ([Team(), IN_ITS_ORDER], ("learned", "risk", "age"), {"risk": {"order": "risk"}, "learned": {}, "": {}}),
    ],
)
def test_the_usual_order_is_not_in_the_address(teams: list[Team], known: Any, asked: dict[str, dict[str, str]]) -> None:
    assert tuple(orders(teams)) == known
    for order, told in asked.items():
        filters = Filters.of(QueryDict(f"order={order}"), teams)
        assert (filters.fields, filters.usual) == (told, known[0])


@table(
    ("query", "narrow", "more", "in_groups"),
    [
        ("", False, False, True),
        ("order=age&after=held_1", False, False, True),
        ("state=decided", False, False, False),
        ("kind=chat", True, False, True),
        ("needs=calls", True, False, True),
        ("snoozed=1", True, False, True),
        ("alike=held_1", True, False, False),
        ("metadata.run=1", True, False, True),
        *((f"{each}={value}", True, True, True) for each, value in (
            ("pattern", "x"), ("tool", "x"), ("score_from", "0"), ("score_to", "9"), ("since", "2026-02-01"),
            ("until", "2026-02-01"),
        )),
    ],
)  # fmt: skip
def test_it_is_known_what_narrows_what_is_folded_away_and_what_goes_by_groups(
    query: str, narrow: bool, more: bool, in_groups: bool
) -> None:
    filters = Filters.of(QueryDict(query), [])
    assert (filters.narrow, filters.more, filters.in_groups) == (narrow, more, in_groups)
    assert filters.but(kind="task") == Filters.of(QueryDict(f"{query}&kind=task&after="), [])
