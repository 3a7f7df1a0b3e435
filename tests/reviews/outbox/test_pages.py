"""The page about callbacks: who sees what, and who may have something sent again."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.models import AuditEvent, Membership
from reviews.models import Delivery, Endpoint, HeldItem
from reviews.outbox import deliveries
from tests.reviews.outbox.receiving import at, owe

pytestmark = pytest.mark.django_db
# A stranger, a viewer, a reviewer, a curator, an owner.
ROLES = [("mallory", 404), ("victor", 403), ("alice", 403), ("carla", 302), ("olga", 302)]


@pytest.fixture
def given_up(agent: Any) -> Any:
    [delivery] = owe(agent, state="exhausted", attempts=11, last_error="status", last_status=503)
    return delivery


@pytest.fixture
def off(agent: Any) -> Any:
    return Endpoint.objects.create(
        agent=agent, url=agent.callback_url, off_at=timezone.now(), off_reason="gone", failing_since=timezone.now()
    )


def page(client: Client, query: str = "") -> str:
    answer = client.get(reverse("deliveries") + query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize(("person", "status"), ROLES)
def test_only_curators_and_owners_can_have_it_sent_again(
    request: pytest.FixtureRequest, as_person: Any, given_up: Any, person: Any, status: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    answer = client.post(reverse("delivery-replay", args=[given_up.public_id]))
    assert answer.status_code == status
    given_up.refresh_from_db()
    assert given_up.state == ("waiting" if status == 302 else "exhausted")
    assert AuditEvent.objects.filter(action="callback-sent-again").count() == (status == 302)


@pytest.mark.parametrize(("person", "status"), ROLES)
def test_only_curators_and_owners_can_switch_an_endpoint_on(
    request: pytest.FixtureRequest, as_person: Any, agent: Any, off: Any, person: Any, status: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    answer = client.post(reverse("endpoint-on", args=[agent.public_id]))
    assert answer.status_code == status
    off.refresh_from_db()
    assert (off.off_at is None) is (status == 302)


@pytest.mark.parametrize("name", ["delivery-replay", "endpoint-on"])
def test_it_is_changed_by_posting_only(as_person: Any, olga: Any, agent: Any, given_up: Any, name: str) -> None:
    thing = given_up.public_id if name == "delivery-replay" else agent.public_id
    assert as_person(olga).get(reverse(name, args=[thing])).status_code == 405


def test_it_asks_others_to_sign_in(given_up: Any) -> None:
    for answer in (Client().get(reverse("deliveries")), Client().post(reverse("delivery-replay", args=["x"]))):
        assert answer.status_code == 302
        assert reverse("sign-in") in answer.headers["Location"]


def test_a_stranger_sees_nothing_of_it(as_person: Any, mallory: Any, agent: Any, given_up: Any, off: Any) -> None:
    for query in ("", f"?agent={agent.public_id}", f"?after={given_up.public_id}", "?state=exhausted"):
        seen = page(as_person(mallory), query)
        assert "item.decided" not in seen
        assert "kuro" not in seen


def test_it_shows_how_far_each_has_come(as_person: Any, victor: Any, agent: Any) -> None:
    soon = timezone.now() + timedelta(minutes=5)
    owe(agent)
    owe(agent, attempts=3, next_attempt_at=soon, last_error="timeout")
    owe(agent, attempts=1, leased_until=soon)
    owe(agent, attempts=2, state="delivered", delivered_at=timezone.now(), last_status=204)
    owe(agent, attempts=11, state="exhausted", last_error="status", last_status=503)
    seen = page(as_person(victor))
    for words in ("Queued", "next attempt", "Being sent", "Delivered", "Given up", "No answer in time.", "503", "204"):
        assert words in seen
    assert "Resend" not in seen, "a viewer has no such button"


def test_a_curator_has_the_button_on_what_was_given_up_only(
    as_person: Any, carla: Any, agent: Any, given_up: Any
) -> None:
    owe(agent, 3)
    assert page(as_person(carla)).count("Resend") == 1


def test_it_can_be_narrowed_to_a_state_an_agent_or_an_item(
    kuro: Any, as_person: Any, alice: Any, agent: Any, aurora: Any
) -> None:
    second, _, _ = create_agent(aurora, "second", None)
    held = HeldItem.objects.get(public_id=kuro.hold())
    [about] = owe(agent, held=held)
    owe(agent, 2, state="delivered", delivered_at=timezone.now())
    owe(second, 4)
    client = as_person(alice)

    def rows(query: str) -> int:
        return page(client, query).count("<tr>") - 1

    assert rows("") == 7
    assert rows("?state=waiting") == 5
    assert rows(f"?agent={second.public_id}") == 4
    assert rows(f"?agent={agent.public_id}&state=delivered") == 2
    assert rows(f"?item={held.public_id}") == 1
    assert reverse("item", args=[held.public_id]) in page(client, f"?item={held.public_id}")
    assert rows("?state=nonsense") == 7
    assert rows("?agent=agt_nobody") == 7  # it says so
    assert about.state == "waiting"


def test_it_tells_apart_the_teams_of_agents(as_person: Any, carla: Any, agent: Any, borealis: Any) -> None:
    other = create_agent(borealis, agent.name, None)[0]
    for each in (agent, other):
        owe(each)
    assert "Aurora" not in page(as_person(carla)).partition("<main")[2]
    Membership.objects.create(user=carla, team=borealis, role="viewer")
    told = page(as_person(carla))
    assert re.findall(rf"{agent.name} · (\w+)</option>", told) == ["Aurora", "Borealis"]
    assert re.findall(r'<span class="quiet small">(Aurora|Borealis)</span>', told) == ["Borealis", "Aurora"]


def test_it_turns_pages_in_a_few_queries(
    as_person: Any, carla: Any, agent: Any, django_assert_max_num_queries: Any
) -> None:
    owe(agent, 60)
    Endpoint.objects.create(agent=agent, url=agent.callback_url)
    client = as_person(carla)
    with django_assert_max_num_queries(12):
        first = page(client)
    assert first.count("<tr>") == 51
    last = Delivery.objects.order_by("-id")[49].public_id
    assert f"after={last}" in first
    assert page(client, f"?after={last}").count("<tr>") == 11


def test_an_endpoint_that_is_off_is_told_with_its_reason(
    as_person: Any, victor: Any, carla: Any, agent: Any, off: Any, given_up: Any
) -> None:
    seen = page(as_person(victor))
    assert "Deliveries to kuro are switched off" in seen
    assert "it is gone for good" in seen
    assert "1 delivery was given up" in seen
    assert "Switch on again" not in seen
    assert "Resend" not in page(as_person(carla)), "first the endpoint"
    assert "Switch on again" in page(as_person(carla))


def test_an_address_that_was_replaced_is_told_no_more(
    kuro: Any, as_person: Any, victor: Any, agent: Any, off: Any
) -> None:
    at(kuro, "https://elsewhere.example.org/hook")
    assert "switched off" not in page(as_person(victor))


def test_replaying_while_it_is_off_changes_nothing_and_says_so(
    as_person: Any, carla: Any, given_up: Any, off: Any
) -> None:
    answer = as_person(carla).post(reverse("delivery-replay", args=[given_up.public_id]), follow=True)
    assert "no webhook that is on" in answer.content.decode()
    given_up.refresh_from_db()
    assert given_up.state == "exhausted"


def test_switching_on_can_send_what_was_given_up(
    as_person: Any, carla: Any, agent: Any, given_up: Any, off: Any, receiver: Any
) -> None:
    answer = as_person(carla).post(reverse("endpoint-on", args=[agent.public_id]), {"again": "1"}, follow=True)
    assert "1 delivery is being sent" in answer.content.decode()
    deliveries.deliver_due()
    assert receiver.ids == [given_up.public_id]


def test_it_returns_to_where_the_form_stood(as_person: Any, carla: Any, agent: Any, given_up: Any, off: Any) -> None:
    client = as_person(carla)
    url = reverse("endpoint-on", args=[agent.public_id])
    assert client.post(url, {"from_agent": ""}).url == reverse("agent", args=[agent.public_id])
    back = client.post(
        reverse("delivery-replay", args=[given_up.public_id]), {"query": "state=exhausted&evil=//evil.example"}
    )
    assert back.url == reverse("deliveries") + "?state=exhausted"


def test_it_says_what_to_do_when_there_is_nothing(as_person: Any, victor: Any, kuro: Any) -> None:
    assert "No agent has a webhook" in page(as_person(victor))
    at(kuro, "https://agent.example.org/hook")
    assert "No deliveries yet" in page(as_person(victor))


def test_an_item_shows_how_its_agent_was_told(kuro: Any, agent: Any, given_up: Any, rf: Any, victor: Any) -> None:
    from django.template import engines

    held = HeldItem.objects.get(public_id=kuro.hold())
    template = engines["django"].from_string("{% load callbacks %}{% callbacks_of held %}")
    assert template.render({"held": held}).strip() == ""
    owe(agent, held=held, attempts=2, last_error="name", next_attempt_at=timezone.now() + timedelta(minutes=3))
    shown = template.render({"held": held})
    assert "Show deliveries" in shown
    assert "could not be found" in shown
    assert f"?item={held.public_id}" in shown


def test_an_agents_page_shows_its_endpoint(kuro: Any, agent: Any, off: Any, rf: Any, victor: Any, carla: Any) -> None:
    from django.template import engines

    template = engines["django"].from_string("{% load callbacks %}{% endpoint_of agent %}")
    for person, may in ((victor, False), (carla, True)):
        request = rf.get("/")
        request.user = person
        shown = template.render({"agent": agent, "user": person}, request)
        assert "switched off" in shown
        assert ("Switch on again" in shown) is may
        assert ("csrfmiddlewaretoken" in shown) is may
