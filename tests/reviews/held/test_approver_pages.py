"""Approvers and waiting words in the console: the queue, the item, several together, links in mail, notices."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import MemberGroup, Membership, PersonNotices, Team
from reviews.held import approvers
from reviews.held.counts import to_do
from reviews.models import Approval, HeldItem
from reviews.outbox import mail_links, notifications
from tests.conftest import HELD, Caller
from tests.reviews.held.test_approvers import ask, rule
from tests.reviews.held.test_waiting_words import call, chat, post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]


def press(client: Any, held: str, verdict: str = "approve", **fields: Any) -> Any:
    row = HeldItem.objects.get(public_id=held)
    form = {"verdict": verdict, "version": row.version, "sha256": row.sha256} | fields
    return client.post(f"/queue/{held}/decide", form, headers={"hx-request": "true"})


def listed(client: Any, query: str = "") -> list[str]:
    return re.findall(r'id="row-(held_\w+)"', client.get(f"/queue/{query}").content.decode())


def page_of(client: Any, held: str) -> str:
    page: str = client.get(f"/queue/{held}/").content.decode()
    return page


def approve_button(page: str) -> str:
    found = re.search(r'<button type="submit" class="btn yes"[^>]*>', page)
    assert found
    return found[0]


@pytest.fixture
def clients(as_person: Any, alice: Any, bob: Any) -> list[Any]:
    return [as_person(alice), as_person(bob)]


def test_the_queue_says_one_of_two_and_what_i_approved_leaves_mine(
    kuro: Caller, alice: Any, bob: Any, clients: list[Any]
) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), clients
    other = kuro.hold()
    assert "0 of 2 approvals" in first.get("/queue/").content.decode()
    told = press(first, held).content.decode()
    assert "Approved, 1 of 2:" in told
    assert listed(first) == [other]
    assert listed(first, "?needs=others") == [held]
    assert listed(first, "?needs=me") == []
    assert listed(second, "?needs=me") == [held]
    assert set(listed(second)) == {held, other}
    assert "1 of 2 approvals" in second.get("/queue/").content.decode()
    assert "Needs my approval&nbsp;1" in second.get("/queue/").content.decode()
    counts = [(to_do(each)["queue"], to_do(each)["needs_me"], to_do(each)["needs_others"]) for each in (alice, bob)]
    assert counts == [(1, 0, 1), (2, 1, 0)]
    press(second, held)
    assert HeldItem.objects.get(public_id=held).state == "approved"
    assert [(to_do(each)["queue"], to_do(each)["needs_me"]) for each in (alice, bob)] == [(1, 0), (1, 0)]


def test_the_item_says_who_approved_and_takes_it_back(kuro: Caller, clients: list[Any]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), clients
    press(first, held)
    mine, theirs = page_of(first, held), page_of(second, held)
    assert "disabled" in approve_button(mine)
    assert "Another person must approve it, too." in mine
    assert "disabled" not in approve_button(theirs)
    assert "Alice approved" in theirs
    assert "Withdraw approval" not in theirs
    given = Approval.objects.get()
    assert second.post(f"/approvals/{given.public_id}/withdraw").status_code == 404
    answer = first.post(f"/approvals/{given.public_id}/withdraw", headers={"hx-request": "true"})
    assert "Approval withdrawn:" in answer.content.decode()
    assert listed(first) == [held]


def test_an_edit_is_approved_as_it_stands(kuro: Caller, clients: list[Any]) -> None:
    held, (first, second) = ask(kuro, rule(people=2)), clients
    press(first, held, editor="json", f='{"eur": 50, "to": "Mei"}')
    page = page_of(second, held)
    assert "Approve the edits of Alice" in page
    assert "<del>100</del>" in page
    (approval,) = re.findall(r'name="approval" value="(\w+)"', page)
    press(second, held, approval=approval)
    decision = HeldItem.objects.get().decisions.get()
    assert (decision.verdict, decision.arguments) == ("edit", {"eur": 50, "to": "Mei"})


def test_who_may_not_approve_reads_why_and_may_reject(kuro: Caller, clients: list[Any]) -> None:
    held, (first, _second) = ask(kuro, rule(role="owner")), clients
    page = page_of(first, held)
    assert "disabled" in approve_button(page)
    assert "Approving this takes an owner. You can still reject it." in page
    assert "needs an owner" in first.get("/queue/").content.decode()
    answer = press(first, held)
    assert (answer.status_code, "takes an owner" in answer.content.decode()) == (403, True)
    assert HeldItem.objects.get().state == "pending"
    press(first, held, "reject", reason="No.")
    assert HeldItem.objects.get().state == "rejected"


def test_several_together_obey(kuro: Caller, clients: list[Any]) -> None:
    client = clients[0]
    mine, theirs = ask(kuro, rule(people=2)), ask(kuro, rule(role="owner"), arguments={"eur": 7})
    page = client.get("/queue/together/", {"held": [mine, theirs]}).content.decode()
    assert "0 of 2 approvals" in page
    assert "needs an owner" in page
    boxes = re.findall(r'name="item" value="([^"]+)"', page)
    answer = client.post("/queue/together/decide", {"item": boxes, "verdict": "approve"}, follow=True)
    assert "Skipped 1 item: others must approve it" in answer.content.decode()
    assert Approval.objects.get().held.public_id == mine
    assert set(HeldItem.objects.values_list("state", flat=True)) == {"pending"}
    taken_back = client.post(f"/approvals/{Approval.objects.get().public_id}/withdraw", headers={"hx-request": "true"})
    assert taken_back.status_code == 200
    assert not Approval.objects.filter(ended_at=None).exists()


def test_one_press_lets_no_words_out_before_their_calls(kuro: Caller, clients: list[Any]) -> None:
    _words, held = post(kuro, chat(), call())
    assert "held items of this response together" not in page_of(clients[0], held["held"])
    boxes = [f"{each.public_id}:{each.version}:{each.sha256}" for each in HeldItem.objects.order_by("index")]
    clients[0].post("/queue/together/decide", {"item": boxes[:1], "verdict": "approve"})
    assert set(HeldItem.objects.values_list("state", flat=True)) == {"pending"}
    clients[0].post("/queue/together/decide", {"item": boxes, "verdict": "approve"})
    assert set(HeldItem.objects.values_list("state", flat=True)) == {"approved"}
    assert [each.by for each in HeldItem.objects.get(kind="chat").decisions.all()] == ["system"]


def test_links_in_mail_obey(kuro: Caller, alice: Any, bob: Any, client: Any) -> None:
    Team.objects.update(mail_links=True)
    held = ask(kuro, rule(people=2))
    row = HeldItem.objects.select_related("agent", "team").get(public_id=held)
    paths = [mail_links.path(mail_links.link_to(each, row, timezone.now())) for each in (alice, bob)]
    form = {"verdict": "approve", "sha256": row.sha256}
    assert client.post(paths[0], form).status_code == 302
    page = client.get(paths[0]).content.decode()
    assert "1 of 2" in page
    assert "Withdraw approval" in page
    assert client.post(f"{paths[0]}/undo").status_code == 302
    client.post(paths[0], form)
    assert client.post(paths[1], form).status_code == 302
    assert HeldItem.objects.get().state == "approved"
    other = ask(kuro, rule(role="owner"), arguments={"eur": 7})
    row = HeldItem.objects.select_related("agent", "team").get(public_id=other)
    link = mail_links.path(mail_links.link_to(alice, row, timezone.now()))
    assert "Approving this takes an owner" in client.get(link).content.decode()
    assert client.post(link, form | {"sha256": row.sha256}).status_code == 403


def test_those_who_may_approve_are_told(kuro: Caller, alice: Any, bob: Any, aurora: Any) -> None:
    group = MemberGroup.objects.create(team=aurora, name="finance")
    group.members.add(Membership.objects.get(user=bob))
    held = ask(kuro, rule(group="finance"))
    post(kuro, chat(), call(name="mail", call_id="c2"))
    for person in (alice, bob):
        items = approvers.to_tell(HeldItem.objects.filter(state="pending"), person.pk)
        kinds = sorted(items.values_list("kind", "call__name"))
        assert kinds == [("tool_call", "mail"), *([("tool_call", "pay")] if person == bob else [])]
        reader = PersonNotices(person=person)
        assert set(notifications._waiting_for(reader, timezone.now())) == set(items)
    assert HeldItem.objects.get(public_id=held).state == "pending"


def test_waiting_words_are_shown_with_their_calls(kuro: Caller, alice: Any, clients: list[Any]) -> None:
    words, first, second = post(kuro, chat(), call(), call(name="mail", call_id="c2"))
    client = clients[0]
    assert set(listed(client)) == {first["held"], second["held"]}
    assert listed(client, "?needs=calls") == [words["held"]]
    assert to_do(alice)["queue"] == 2
    assert "waits for 2 tool calls" in client.get("/queue/?needs=calls").content.decode()
    page = page_of(client, words["held"])
    assert "Waits for 2 tool calls" in page
    assert "Nothing else needs a decision." in page
    assert "Approve without waiting" in page
    assert all(f"/queue/{each['held']}/" in page for each in (first, second))
    assert f"/queue/{words['held']}/" in page_of(client, first["held"])
    assert client.get("/queue/?needs=nobody").status_code == 200


def test_risky_words_approved_first_leave_the_queue(kuro: Caller, alice: Any, clients: list[Any]) -> None:
    words, held = post(kuro, chat(HELD), call(), response=HELD)
    client = clients[0]
    assert set(listed(client)) == {words["held"], held["held"]}
    assert "It also needs its own decision." in page_of(client, words["held"])
    assert "Approved; it waits for its tool calls:" in press(client, words["held"]).content.decode()
    assert listed(client) == listed(clients[1]) == [held["held"]]
    assert "You approved this. It is released once its tool calls are approved." in page_of(client, words["held"])
    assert to_do(alice)["queue"] == 1


def test_an_owner_makes_groups_and_a_policy_says_which_are_missing(
    kuro: Caller, olga: Any, alice: Any, aurora: Any, as_person: Any, clients: list[Any]
) -> None:
    ask(kuro, rule(group="finance"))
    owner, address = as_person(olga), f"/team/{aurora.pk}/groups"
    warning = "A rule leaves approval to a member of “finance”. The team has too few such members (n = 0)"
    assert warning in owner.get(f"/agents/{kuro.id}/policy/").content.decode()
    mine = Membership.objects.get(user=alice)
    assert clients[0].post(address, {"name": "finance", "new": "1", "member": mine.pk}).status_code == 403
    owner.post(address, {"name": "finance", "new": "1", "member": mine.pk})
    group = MemberGroup.objects.get(team=aurora, name="finance")
    assert list(group.members.all()) == [mine]
    assert warning not in owner.get(f"/agents/{kuro.id}/policy/").content.decode()
    for form in ({"name": "finance", "new": "1"}, {"name": "", "new": "1"}, {"name": "x" * 101, "new": "1"}):
        owner.post(address, form)
    assert list(MemberGroup.objects.values_list("name", "members")) == [("finance", mine.pk)]
    owner.post(address, {"name": "finance"})
    assert not group.members.exists()
    owner.post(address, {"name": "finance", "remove": "1"})
    assert not MemberGroup.objects.exists()


def test_who_leaves_the_team_leaves_its_groups(alice: Any, aurora: Any) -> None:
    group = MemberGroup.objects.create(team=aurora, name="finance")
    group.members.add(Membership.objects.get(user=alice))
    Membership.objects.get(user=alice).delete()
    assert not group.members.exists()
