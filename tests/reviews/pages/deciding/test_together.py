"""Several held items with one press: each read whole, each decided for itself, all taken back together."""

from __future__ import annotations

import re
from typing import Any

import pytest

from metacog.models import AuditEvent, Membership
from reviews.models import Decision, HeldItem
from tests.tables import table

ADDRESS = "/queue/together/"


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def boxes(page: Any) -> list[str]:
    return re.findall(r'name="item" value="([^"]+)"', page.content.decode())


def states() -> list[str]:
    return list(HeldItem.objects.order_by("id").values_list("state", flat=True))


def read(client: Any, *held: str) -> Any:
    return client.get(ADDRESS, {"held": held})


def test_what_is_selected_is_shown_whole_and_what_cannot_be_decided_is_counted(
    client: Any, kuro: Any, other: Any
) -> None:
    long = "The cause is clearly the cache. " + "word " * 2_000 + "END"
    first = kuro.respond(items=[{"kind": "chat", "text": long}])["items"][0]["held"]
    second = kuro.hold()
    done, foreign = kuro.hold(), other.hold()
    kuro.post(f"/held/{done}/decision", {"verdict": "reject", "reason": "x"})
    page = read(client, first, second, done, foreign)
    assert {box.split(":")[0] for box in boxes(page)} == {first, second}
    assert "END" in page.content.decode()
    assert "Skipped 2 selected items: they are no longer held, or you cannot decide them." in page.content.decode()
    assert foreign not in page.content.decode().split("<main")[1]


def test_one_press_decides_each_and_one_undo_takes_all_back(client: Any, kuro: Any) -> None:
    held = [kuro.hold() for _ in range(3)]
    page = read(client, *held)
    answer = client.post(f"{ADDRESS}decide?kind=chat", {"item": boxes(page)[:2], "verdict": "approve"})
    assert (answer.status_code, answer["Location"]) == (302, "/queue/?kind=chat")
    assert sorted(states()) == ["approved", "approved", "pending"]
    assert AuditEvent.objects.filter(action="chat-approved").count() == 2
    queue = client.get("/queue/").content.decode()
    assert re.search(r"Approved\s+2 items", queue)
    undo = re.search(r'action="(/decisions/[^"]+/undo)"', queue)[1]
    client.post(undo)
    assert re.search(r"Undone:\s+2 items", client.get("/queue/").content.decode())
    assert states() == ["pending"] * 3
    assert Decision.objects.filter(undone_at=None).count() == 0


def test_an_undo_leaves_what_was_decided_in_a_team_that_the_person_has_left(
    client: Any, kuro: Any, other: Any, alice: Any, borealis: Any
) -> None:
    guest = Membership.objects.create(user=alice, team=borealis, role="reviewer")
    held = [kuro.hold(), other.hold()]
    client.post(f"{ADDRESS}decide", {"item": boxes(read(client, *held)), "verdict": "approve"})
    guest.delete()
    client.post(f"/decisions/{Decision.objects.get(held__public_id=held[0]).public_id}/undo")
    assert states() == ["pending", "approved"]


def test_a_rejection_gives_every_agent_the_reason(client: Any, kuro: Any, undo_at_once: None) -> None:
    page = read(client, kuro.hold(), kuro.hold("remember"))
    client.post(
        f"{ADDRESS}decide", {"item": boxes(page), "verdict": "reject", "preset": "no-evidence", "reason": "Says who?"}
    )
    told = kuro.get("/decisions").json()["items"]
    assert [(each["verdict"], each["reason"]) for each in told] == [("reject", "No evidence: Says who?")] * 2


@table(
    ("form", "said"),
    [
        ({"verdict": "reject"}, "Give a reason"),
        ({"verdict": ""}, "Choose to approve or to reject."),
        ({"verdict": "withdraw"}, "Choose to approve or to reject."),
        ({"verdict": "approve", "item": []}, "Select at least one item."),
    ],
    rolled_back=True,
)
def test_a_form_that_cannot_be_decided_is_given_back_as_it_was(client: Any, kuro: Any, form: Any, said: str) -> None:
    first, second = kuro.hold(), kuro.hold()
    ticked = boxes(read(client, first))
    typed = {"preset": "tone", "reason": "Says who?"} if form["verdict"] == "approve" else {}
    answer = client.post(f"{ADDRESS}decide", {"held": [first, second], "item": ticked} | form | typed)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert len(boxes(answer)) == 2
    assert all(each in page for each in typed.values())
    assert len(boxes(answer)) - len(re.findall(r'name="item"[^>]* checked>', page)) == 2 - len(form.get("item", ticked))
    assert states() == ["pending", "pending"]


def test_what_somebody_decided_meanwhile_is_skipped_and_told(
    client: Any, bob: Any, as_person: Any, kuro: Any, decide: Any
) -> None:
    first, second = kuro.hold(), kuro.hold()
    ticked = boxes(read(client, first, second))
    decide(as_person(bob), first, "reject", preset="wrong")
    answer = client.post(f"{ADDRESS}decide", {"item": ticked, "verdict": "approve"}, follow=True)
    assert "Skipped 1 item: it was decided or changed meanwhile." in answer.content.decode()
    assert states() == ["rejected", "approved"]


def test_the_second_press_of_a_double_click_skips_nothing(client: Any, kuro: Any) -> None:
    form = {"item": boxes(read(client, kuro.hold(), kuro.hold())), "verdict": "approve"}
    for _ in range(2):
        page = client.post(f"{ADDRESS}decide", form, follow=True).content.decode()
    assert "Skipped" not in page
    assert re.search(r"Approved\s+2 items", page)
    assert Decision.objects.count() == 2


@table("changed", ["version", "sha256"], rolled_back=True)
def test_a_press_binds_what_was_shown(client: Any, kuro: Any, changed: str) -> None:
    ticked = boxes(read(client, kuro.hold()))
    HeldItem.objects.update(**{changed: 2 if changed == "version" else "0" * 64})
    client.post(f"{ADDRESS}decide", {"item": ticked, "verdict": "approve"})
    assert states() == ["pending"]


def test_more_than_can_be_read_is_left_to_be_decided_alone(client: Any, kuro: Any, monkeypatch: Any) -> None:
    from reviews.pages import bulk

    first, second = kuro.hold(), kuro.hold()
    monkeypatch.setattr(bulk, "MOST_TEXT", 40)
    page = read(client, first, second)
    assert [box.split(":")[0] for box in boxes(page)] == [first]
    assert "Too long for this page. Decide them one by one:" in page.content.decode()
    assert f'href="/queue/{second}/"' in page.content.decode()


@pytest.mark.parametrize(("person", "answered"), [("victor", 403), ("mallory", 302)])
def test_who_may_not_decide_is_shown_nothing_to_select(
    request: Any, as_person: Any, client: Any, kuro: Any, person: str, answered: int
) -> None:
    held = kuro.hold()
    assert 'type="checkbox"' in client.get("/queue/").content.decode()
    ticked = boxes(read(client, held))
    theirs = as_person(request.getfixturevalue(person))
    assert 'type="checkbox"' not in theirs.get("/queue/").content.decode()
    assert read(theirs, held).status_code == 302
    assert theirs.post(f"{ADDRESS}decide", {"item": ticked, "verdict": "approve"}).status_code == answered
    assert states() == ["pending"]


def test_a_known_error_leads_to_its_record(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    address = re.search(r'href="(/patterns/\d+/)">Stats', client.get(f"/queue/{held}/").content.decode())[1]
    page = read(client, held, kuro.hold()).content.decode()
    assert page.count(f'href="{address}">Stats') == 2


def test_its_cost_does_not_grow_with_the_items(client: Any, kuro: Any, django_assert_num_queries: Any) -> None:
    held = [kuro.hold() for _ in range(6)]
    read(client, *held[:2])
    with django_assert_num_queries(6):  # session, person, teams, items, known errors, the navigation's count
        read(client, *held)
