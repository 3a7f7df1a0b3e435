"""Agents that post plain text: the switch of their policy that takes it for one chat, and the pages that offer it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.models import Agent, AuditEvent, Policy
from reviews.models import AgentResponse
from reviews.scoring.replay import Replayer
from tests.conftest import HELD
from tests.tables import table

pytestmark = pytest.mark.usefixtures("contexts")

SAID = "of the last 12 responses of kuro had no items"


def switch_on(kuro: Any, person: Any, as_person: Any) -> None:
    """Take the way of the page: the link's draft, then its button."""
    client, address = as_person(person), reverse("policy", args=[kuro.id])
    context = client.get(address + "?plain_text_as_chat=on").context
    values = {name: "" if value is None else value for name, value in context["form"].cleaned_data.items()}
    values = {name: value for name, value in values.items() if value is not False}
    answer = client.post(address, values | {"do": "save", "seen": context["seen"], "note": "It posts text"})
    assert answer.status_code == 302, answer.context["form"].errors


def test_plain_text_is_one_chat_once_the_policy_says_so(kuro: Any, olga: Any, as_person: Any) -> None:
    assert kuro.respond(HELD, items=None)["items"] == []
    switch_on(kuro, olga, as_person)
    assert AuditEvent.objects.filter(action="policy-changed").exists()
    verdict = kuro.respond(f" {HELD}\n", items=None)
    (item,) = verdict["items"]
    assert (item["kind"], item["disposition"], verdict["hesitation"]["score"]) == ("chat", "hold", 50)
    assert kuro.get(f"/held/{item['held']}").json()["text"] == f" {HELD}\n"
    page = as_person(olga).get(reverse("item", args=[item["held"]])).content.decode()
    assert ">clearly</mark>" in page
    assert as_person(olga).get(reverse("response", args=[verdict["id"]])).context["items"][0]["is_whole"]
    for response, items, kinds in (
        (HELD, [], []),
        (" \n", None, []),
        ("", None, []),
        (f"Hm. <task>{HELD}</task>", None, ["task"]),
        (f"`<task>{HELD}</task>`", None, ["chat"]),
        (HELD, [{"kind": "ask", "text": "?"}], ["ask"]),
    ):
        assert [each["kind"] for each in kuro.respond(response, items=items)["items"]] == kinds
    rows = AgentResponse.objects.select_related("agent__team").order_by("pk")
    assert all(Replayer().replay(row).is_equal for row in rows), "under the policy of then"


@table("page", ["agent", "queue", "the agent's queue"], rolled_back=True)
def test_it_is_offered_where_most_responses_have_no_items(
    kuro: Any, olga: Any, alice: Any, as_person: Any, page: str
) -> None:
    address = reverse("agent", args=[kuro.id]) if page == "agent" else reverse("queue")
    if page == "the agent's queue":
        address += f"?agent={kuro.id}"
    client = as_person(olga)
    for text in [HELD, "Clearly.", *["It may rain, according to [1]."] * 7]:
        kuro.respond(text, items=None)
    assert "had no items" not in client.get(address).content.decode(), "too few to say anything"
    kuro.respond("x", items=[{"kind": "ask", "text": "?"}])
    kuro.respond("y", items=None)
    kuro.respond("z", items=None)
    with CaptureQueriesContext(connection) as few:
        told = client.get(address).content.decode()
    assert f"11 {SAID}" in told
    assert "8% of its last 12 would trigger (items held: 1, marked: 0)." in told
    assert f"{reverse('policy', args=[kuro.id])}?plain_text_as_chat=on" in told
    told = as_person(alice).get(address).content.decode()
    assert f"11 {SAID}" in told
    assert "plain_text_as_chat" not in told, "she cannot change a policy"
    for number in range(10):
        kuro.respond(f"{number}", items=None)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(few) == len(many)
    Policy.objects.update(plain_text_as_chat=True)
    Agent.objects.update(policy_version=1)
    from patterns.patterns import scorer

    scorer._scorers.kept.clear()
    assert "had no items" not in client.get(address).content.decode()


def test_it_is_not_offered_to_an_agent_with_items(kuro: Any, olga: Any, as_person: Any) -> None:
    for number in range(24):
        kuro.respond(f"{number}", **({"items": None} if number % 2 else {}))
    for address in (reverse("agent", args=[kuro.id]), reverse("queue")):
        assert "had no items" not in as_person(olga).get(address).content.decode()
