"""Near-duplicates are one row: what it stands for, how it opens, and how they are decided together."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from metacog.models import Membership
from reviews.held import alike, listing
from reviews.models import Decision, HeldItem
from tests.reviews.pages.queue_list.posting import ask, call
from tests.reviews.pages.test_queue import shown


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def test_they_are_one_row_that_opens_into_all_of_them(client: Any, kuro: Any) -> None:
    orders, other = ask(kuro, 3), ask(kuro, 1, "Nothing was certainly sent.")
    page = client.get("/queue/?order=age")
    assert shown(page) == [orders[0], *other]
    html = page.content.decode()
    assert re.search(r"<b>×3</b>\s+they differ in the number", html)
    assert html.count('name="group"') == 1
    assert "Held&nbsp;" in html
    address = re.search(r'href="([^"]*alike=[^"]*)"', html)[1].replace("&amp;", "&")
    opened = client.get(address)
    assert shown(opened) == orders
    assert 'class="alike"' not in opened.content.decode()
    assert shown(client.get(f"/queue/?order=age&alike={other[0]}")) == other


def test_an_undo_of_all_of_them_opens_the_one_that_has_their_row(client: Any, kuro: Any) -> None:
    orders = ask(kuro, 3)
    boxes = re.findall(
        r'name="item" value="([^"]+)', client.get(f"/queue/together/?group={orders[0]}").content.decode()
    )
    client.post("/queue/together/decide", {"item": boxes, "verdict": "approve"})
    last = Decision.objects.get(held__public_id=orders[2])
    assert client.post(f"/decisions/{last.public_id}/undo")["Location"] == f"/queue/{orders[0]}/"


def among(page: Any) -> str:
    """Return what the open item says of its near-duplicates."""
    return words(re.search(r'<div class="among"[^>]*>(.*?)</div>', page.content.decode(), re.S)[1])


def words(html: str) -> str:
    return " ".join(strip_tags(html.replace("<", " <")).split())


def test_the_item_says_what_its_row_says_and_tells_all_from_this_one(
    client: Any, kuro: Any, as_person: Any, victor: Any, decide: Any
) -> None:
    orders, alone = ask(kuro, 3), ask(kuro, 1, "Nothing was certainly sent.")[0]
    page = client.get(f"/queue/{orders[0]}/?kind=chat")
    told = "×3 near-duplicates: they differ in the number."
    assert among(page) == f"{told} The buttons below decide this one only. Open all 3 Approve all 3… O Reject all 3…"
    assert "Approve this one" in page.content.decode()
    address = re.search(r'id="approve-all"\s+href="([^"]+)"', page.content.decode())[1].replace("&amp;", "&")
    boxes = re.findall(r'name="item" value="([^:"]+)', client.get(address).content.decode())
    assert boxes == orders
    assert among(as_person(victor).get(f"/queue/{orders[0]}/")) == f"{told} Open all 3"
    assert among(client.get(f"/queue/{alone}/")) == ""
    decide(client, orders[1])
    changes = client.get("/queue/changes", {"token": "", "open": orders[0]}, headers={"hx-request": "true"})
    assert "×2 near-duplicates" in among(changes)
    assert among(client.get(f"/queue/{orders[1]}/")) == "", "what is decided stands for itself"


def test_its_row_goes_on_with_the_rest_once_the_first_is_decided(client: Any, kuro: Any, decide: Any) -> None:
    orders = ask(kuro, 3)
    assert decide(client, orders[0]).headers["Location"] == f"/queue/{orders[1]}/"
    page = client.get("/queue/")
    assert shown(page) == [orders[0], orders[1]], "the decided one stays in its place for a minute"
    assert "<b>×2</b>" in page.content.decode()
    decide(client, orders[1])
    assert shown(client.get("/queue/")) == orders, "each was decided by itself"
    kuro.hold(), decide(client, kuro.hold())
    assert len(shown(client.get("/queue/"))) == 5


def test_its_pages_follow_each_other_with_near_duplicates_among_them(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    leads = []
    for word in ("amber", "birch", "coral", "delta", "ember"):
        leads.append(ask(kuro, 3, f"Order {{n}} of {word} was certainly sent.")[0])
    for order in ("risk", "age"):
        seen: list[str] = []
        address = f"/queue/?order={order}"
        while address and len(seen) < 9:
            page = client.get(address)
            seen += shown(page)
            more = re.search(r'rel="next" href="([^"]*after[^"]*)"', page.content.decode())
            address = more[1].replace("&amp;", "&") if more else ""
        assert seen == leads, order


def test_what_a_filter_leaves_of_them_is_the_row(client: Any, kuro: Any) -> None:
    first, second = ask(kuro, 1, session="a")[0], ask(kuro, 2, session="b")[0]
    assert shown(client.get("/queue/")) == [first]
    page = client.get("/queue/?session=b")
    assert shown(page) == [second]
    assert "<b>×2</b>" in page.content.decode()


def test_they_are_decided_together_with_the_text_once_and_what_differs_in_a_table(client: Any, kuro: Any) -> None:
    orders, single = ask(kuro, 3), kuro.hold()
    page = client.get("/queue/together/", {"group": orders[0], "held": single})
    html = page.content.decode()
    assert html.count("was certainly sent.") == 1
    assert re.findall(r'<td data-label="Number">(\d)</td>', html) == ["0", "1", "2"]
    boxes = re.findall(r'name="item" value="([^"]+)"', html)
    assert {box.split(":")[0] for box in boxes} == {*orders, single}
    gone = HeldItem.objects.get(public_id=orders[1])
    gone.version += 1
    gone.save()
    answer = client.post("/queue/together/decide", {"item": boxes, "verdict": "approve"}, follow=True)
    assert "Skipped 1 item: it was decided or changed meanwhile." in answer.content.decode()
    assert HeldItem.objects.filter(state="pending").count() == 1
    assert set(shown(answer)) == {orders[0], orders[1], single}, "what one press decided of them is one row, too"
    rows = re.split(r'(?=id="row-held_)', answer.content.decode())[1:]
    assert [re.findall("<b>×([0-9]+)</b>", row) for row in rows if f"row-{orders[0]}" in row] == [["2"]]
    assert sum("<b>×" in row for row in rows) == 1, "and no other row stands for more than itself"
    assert Decision.objects.values("together").distinct().count() == 1


def test_of_calls_the_arguments_are_named_and_secrets_masked(client: Any, kuro: Any) -> None:
    held = [call(kuro, order_id=f"o-{n}", amount=n, api_key=f"key-{n}") for n in range(2)]
    assert shown(client.get("/queue/")) == held[:1]
    assert "they differ in amount, api_key, order_id" in client.get("/queue/").content.decode()
    html = client.get("/queue/together/", {"group": held[0]}).content.decode()
    assert re.findall(r'<td data-label="order_id">(\S+)</td>', html) == ["o-0", "o-1"]
    assert "key-1" not in html


def test_what_was_held_before_there_were_keys_is_given_one(client: Any, kuro: Any) -> None:
    orders = ask(kuro, 2)
    call(kuro, amount=1)
    keys = list(HeldItem.objects.values_list("pk", "alike"))
    HeldItem.objects.update(alike=None)
    assert len(shown(client.get("/queue/?kind=chat"))) == 2
    assert alike.fill() == 3
    assert list(HeldItem.objects.values_list("pk", "alike")) == keys
    assert shown(client.get("/queue/?kind=chat")) == orders[:1]
    assert alike.fill() == 0


def test_a_page_with_groups_reads_along_the_indexes_and_asks_as_often_as_without(client: Any, kuro: Any) -> None:
    ask(kuro, 3)
    with CaptureQueriesContext(connection) as few:
        client.get("/queue/")
    for word in ("amber", "birch", "coral", "delta"):
        ask(kuro, 2, f"Order {{n}} of {word} was certainly sent.")
    with CaptureQueriesContext(connection) as many:
        client.get("/queue/")
    assert len(many) == len(few)
    (listed,) = [found[1] for each in many if (found := re.search(r"IN \((SELECT .* LIMIT 51)\)", each["sql"]))]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for way in ("seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
            cursor.execute(f"EXPLAIN {listed}")
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {listed}")
        plan = str(cursor.fetchall())
    assert "queue_by_score" in plan, plan
    assert "held_alike" in plan, plan
    assert not re.search("Sort|TEMP B-TREE|SCAN|Seq Scan", plan), plan


def test_a_near_duplicate_is_the_most_similar_decision(kuro: Any, client: Any, decide: Any, undo_at_once: None) -> None:
    from reviews.held import similar

    first, last = ask(kuro, 2)
    decide(client, first, "reject", reason="x")
    for text in ("Order {n} was certainly sent by amber.", "We ship on Monday.", "Prices rise.", "Nobody answered."):
        (other,) = ask(kuro, 1, text)
        decide(client, other)
    kuro.get("/decisions")
    found = similar.decided(HeldItem.objects.get(public_id=last))
    assert found[0].held == first
    told = re.findall(r'class="differs">([^<]+)<', client.get(f"/queue/{last}/").content.decode())
    assert told == ["differs in the number", "differs in 3 words"]


def test_a_call_has_similar_calls_of_its_tool_the_near_duplicate_first(
    kuro: Any, client: Any, decide: Any, undo_at_once: None
) -> None:
    near, last = call(kuro, to="Mei", amount=1), call(kuro, to="Mei", amount=9)
    decide(client, near, "reject", reason="x")
    decide(client, call(kuro, to="Jan", amount=1))
    decide(client, kuro.hold())
    kuro.get("/decisions")
    page = client.get(f"/queue/{last}/").content.decode()
    box = page.split("<h2>Similar items</h2>")[1].split("</section>")[0]
    assert re.findall(r'href="/queue/(\w+)/', box)[0] == near
    assert words(box).startswith("pay amount=1 to=Mei differs in amount · ✗ rejected by you")
    assert re.findall(r'class="differs">([^<]+)<', box)[0] == "differs in amount"


def test_a_group_of_another_team_is_no_row_of_mine(
    client: Any, kuro: Any, other: Any, alice: Any, borealis: Any
) -> None:
    ask(kuro, 2), ask(other, 2)
    assert len(shown(client.get("/queue/"))) == 1
    Membership.objects.create(user=alice, team=borealis, role="reviewer")
    assert len(shown(client.get("/queue/"))) == 2
