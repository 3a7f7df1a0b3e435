"""What was decided about texts like the one that is open."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reviews.models import HeldItem
from tests.tables import table

BOX = "Similar items"


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def hold(caller: Any, text: str) -> str:
    return str(caller.respond(text, items=[{"kind": "chat", "text": text}])["items"][0]["held"])


def shown(client: Any, held: str) -> str:
    page = client.get(f"/queue/{held}/").content.decode()
    return page.split(BOX)[1].split("</section>")[0] if BOX in page else ""


@table(
    ("before", "now", "is_similar"),
    [
        ("The timeout is clearly a network cache problem.", "Clearly the timeout was a network cache problem!", True),
        ("The timeout is clearly a network cache problem.", "The refund definitely waits in the order cache.", False),
        ("快取一定是變慢的原因 cache", "变慢的原因一定是快取 cache", True),
        ("快取一定是變慢的原因 cache", "訂單一定會在週四送到 cache", False),
    ],
    rolled_back=True,
)
def test_what_is_like_it_is_shown_with_what_was_decided(
    client: Any, kuro: Any, before: str, now: str, is_similar: bool
) -> None:
    kuro.post(f"/held/{hold(kuro, before)}/decision", {"verdict": "reject", "reason": "Nobody measured it"})
    for other in ("We ship on Monday, clearly, cache or not.", "Prices definitely rise; cache it."):
        kuro.post(f"/held/{hold(kuro, other)}/decision", {"verdict": "reject", "reason": "x"})
    said = shown(client, hold(kuro, now))
    assert ("Nobody measured it" in said and "rejected by kuro" in said) == is_similar


def test_what_is_undecided_expired_another_agents_or_the_item_itself_is_not_shown(
    client: Any, kuro: Any, other: Any, alice: Any
) -> None:
    from reviews.held import decisions

    text = "The timeout is clearly a network cache problem."
    held = hold(kuro, text)
    assert shown(client, held) == ""
    hold(kuro, text + " Still.")
    foreign = hold(other, text)
    other.post(f"/held/{foreign}/decision", {"verdict": "reject", "reason": "x"})
    rests = HeldItem.objects.get(public_id=hold(kuro, text + " Again."))
    decisions.decide(rests, alice, "reject", reason="may still be undone")
    kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "x"})
    assert shown(client, held) == ""


def test_nothing_is_like_it_where_what_was_decided_says_nothing(client: Any, kuro: Any) -> None:
    kuro.post(f"/held/{kuro.hold()}/decision", {"verdict": "reject", "reason": "x"})
    HeldItem.objects.update(text="", sha256="")  # erased
    assert shown(client, kuro.hold()) == ""


def test_the_two_most_alike_are_shown_the_more_alike_first(client: Any, kuro: Any) -> None:
    text = "The timeout is clearly a network cache problem"
    for number, more in enumerate((" while deploys wait overnight.", " while deploys wait.", " indeed.")):
        kuro.post(f"/held/{hold(kuro, text + more)}/decision", {"verdict": "reject", "reason": f"No {number}"})
    for other in ("We ship on Monday, clearly, cache or not.", "Prices definitely rise; cache it."):
        kuro.post(f"/held/{hold(kuro, other)}/decision", {"verdict": "reject", "reason": "x"})
    assert re.findall(r"No \d", shown(client, hold(kuro, text))) == ["No 2", "No 1"]
