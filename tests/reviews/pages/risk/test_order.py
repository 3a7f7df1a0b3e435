"""The queue in the order of the learned risk: where it is offered, where it is usual, and what walks along it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from metacog.models import Team
from reviews.held import listing
from reviews.models import HeldItem
from tests.reviews.pages.test_queue import shown
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def put(public_id: str, place: int, hours: int = 0) -> None:
    """Give an item its place, and some hours more than others until it expires."""
    later = F("expires_at") + timedelta(hours=hours)
    HeldItem.objects.filter(public_id=public_id).update(risk_place=place, expires_at=later)


def test_it_is_the_usual_order_where_it_was_proven_and_ties_are_broken_by_the_nearest_expiry(
    client: Any, kuro: Any, decide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, late, risky, soon = (kuro.hold() for _ in range(4))
    HeldItem.objects.filter(public_id=safe).update(hesitation_score=99)
    for held, place, hours in ((safe, 900, 0), (late, 400, 5), (risky, 20, 9), (soon, 400, 1)):
        put(held, place, hours)
    by_score, by_risk = [safe, soon, late, risky], [risky, soon, late, safe]
    assert shown(client.get("/queue/")) == by_score
    Team.objects.update(risk_kind="learned")
    page = client.get("/queue/")
    assert shown(page) == by_risk
    assert f'href="/queue/{soon}/"' in page.content.decode()
    assert shown(client.get("/queue/?order=risk")) == by_score
    assert f'href="/queue/{soon}/?order=risk"' in client.get("/queue/?order=risk").content.decode()
    monkeypatch.setattr(listing, "PAGE", 2)
    assert shown(client.get(f"/queue/?after={soon}")) == [late, safe]
    # What is decided stays in its place for a minute, and the next is what follows it there.
    assert decide(client, soon).headers["Location"] == f"/queue/{late}/"
    assert shown(client.get("/queue/")) == [risky, soon, late]
    picked = client.get("/queue/together/", {"held": [safe, risky, late]}).content.decode()
    assert re.findall(r'value="(held_\w+):', picked) == [risky, late, safe]


@table(
    "kind, is_usual, offered",
    [
        ("", True, ["score", "oldest first"]),
        ("learned", True, ["learned risk", "score", "oldest first"]),
        ("learned", False, ["score", "learned risk", "oldest first"]),
        ("length", True, ["risk by length", "score", "oldest first"]),
        ("turns", False, ["score", "risk by turns", "oldest first"]),
    ],
)
def test_it_is_offered_by_the_name_of_what_it_was_learned_from(
    client: Any, kuro: Any, kind: str, is_usual: bool, offered: list[str]
) -> None:
    Team.objects.update(risk_kind=kind, risk_order=is_usual)
    page = client.get("/queue/").content.decode()
    places = [page.find(f">Order: {name}<") for name in offered]
    assert page.count(">Order: ") == len(offered)
    assert places == sorted(places)
    assert -1 not in places


def test_it_is_not_known_where_nothing_was_proven(client: Any, kuro: Any) -> None:
    held = [kuro.hold(), kuro.hold()]
    page = client.get("/queue/?order=learned")
    assert shown(page) == held
    assert "Unknown order “learned”: order ignored. Known: risk, age." in page.content.decode()
