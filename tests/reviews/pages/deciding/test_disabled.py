"""A disabled agent: its items say so, and who disables it may withdraw them."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from metacog.accounts import agents, tokens
from metacog.models import Agent, AuditEvent
from reviews.held import decisions
from reviews.models import Decision, HeldItem
from tests.conftest import Caller, as_read

DISABLED = "This agent is disabled"


@pytest.fixture
def row(kuro: Any) -> Agent:
    return Agent.objects.get(public_id=kuro.id)


def disable(client: Any, kuro: Any, **form: str) -> str:
    body = {"field": "enabled", "on": "0", "reason": "It loops.", **form}
    page: str = as_read(client.post(reverse("agent-switch", args=[kuro.id]), body, follow=True).content.decode())
    return page


def test_its_items_say_so_on_the_page_in_the_list_and_by_api(kuro: Any, row: Agent, alice: Any, as_person: Any) -> None:
    held, client = kuro.hold(), as_person(alice)
    program = Caller("", tokens.issue(alice, name="ci", scopes=["read"], days=7)[1], "")
    for enabled in (True, False):
        agents.set_enabled(row, None, enabled)
        page = client.get(f"/queue/{held}/").content.decode()
        assert (DISABLED in page) != enabled
        assert ('<span class="off">disabled</span>' in page) != enabled
        items = [program.get("/review/queue").json()["items"][0], program.get(f"/review/held/{held}").json()]
        assert [item["agent"]["enabled"] for item in items] == [enabled] * 2


def test_who_disables_it_may_withdraw_what_waits(kuro: Any, olga: Any, alice: Any, as_person: Any) -> None:
    kuro.hold()
    kuro.respond("", items=[{"kind": "tool_call", "name": "pay", "arguments": {}}])
    decided = kuro.hold()
    decisions.decide(HeldItem.objects.get(public_id=decided), alice, "approve")
    client = as_person(olga)
    asked = as_read(client.get(reverse("agent-confirm", args=[kuro.id, "disable"])).content.decode())
    assert "Withdraw its 2 held items" in asked
    assert "The agent is disabled. 2 held items were withdrawn." in disable(client, kuro, withdraw="on")

    assert sorted(HeldItem.objects.values_list("state", flat=True)) == ["approved", "withdrawn", "withdrawn"]
    for decision in Decision.objects.filter(verdict="withdraw"):
        assert (decision.by, decision.reason) == ("system", "The agent was disabled: It loops.")
    events = AuditEvent.objects.filter(action__endswith="-withdrawn").order_by("pk")
    assert {event.actor for event in events} == {"olga"}
    assert AuditEvent.objects.get(action="agent-withdrawn").data["count"] == 2
    assert "Withdraw its" not in client.get(reverse("agent-confirm", args=[kuro.id, "disable"])).content.decode()

    enable = {"field": "enabled", "on": "1"}
    page = as_read(client.post(reverse("agent-switch", args=[kuro.id]), enable, follow=True).content.decode())
    assert "The agent is enabled, with the same keys. 2 items stay withdrawn." in page
    told = kuro.get("/decisions").json()["items"]
    assert [each["verdict"] for each in told] == ["withdraw", "withdraw"]


def test_left_alone_they_stay_held_and_nothing_is_said_of_them(kuro: Any, olga: Any, as_person: Any) -> None:
    kuro.hold()
    client = as_person(olga)
    assert "withdrawn" not in disable(client, kuro)
    assert HeldItem.objects.get().state == "pending"
    enable = {"field": "enabled", "on": "1"}
    page = client.post(reverse("agent-switch", args=[kuro.id]), enable, follow=True).content.decode()
    assert "stay withdrawn" not in page


def test_without_a_reason_nothing_is_withdrawn(kuro: Any, olga: Any, as_person: Any) -> None:
    kuro.hold()
    page = disable(as_person(olga), kuro, withdraw="on", reason=" ")
    assert "checked" in page.split('name="withdraw"')[1].split(">")[0]
    assert HeldItem.objects.get().state == "pending"
