"""The owners' pages about a team's webhooks: who sees them, and what can be done there without JavaScript."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from metacog.models import AuditEvent
from reviews.models import Delivery, Endpoint, TeamWebhook
from reviews.outbox import deliveries, webhooks
from tests.reviews.outbox.receiving import NOW, Receiver, at, owe
from tests.tables import table

pytestmark = pytest.mark.django_db
# A stranger, a viewer, a reviewer, a curator.
NOT_OWNERS = [("mallory", 404), ("victor", 403), ("alice", 403), ("carla", 403)]


@pytest.fixture
def webhook(aurora: Any, olga: Any, receiver: Receiver) -> TeamWebhook:
    return webhooks.add(aurora, olga, url=receiver.url, events=["item.held"])[0]


def secret_on(page: str) -> str:
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", page)
    return str(secret)


def step(client: Client, webhook: TeamWebhook, name: str, **data: str) -> Any:
    return client.post(reverse("webhook-step", args=[webhook.public_id]), {"step": name, **data}, follow=True)


@pytest.mark.parametrize(("person", "status"), NOT_OWNERS)
def test_nobody_but_owners_sees_or_changes_them(
    request: pytest.FixtureRequest, as_person: Any, aurora: Any, webhook: TeamWebhook, person: str, status: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    [delivery] = Delivery.objects.bulk_create(
        [Delivery(webhook=webhook, type="item.held", body="x", state="exhausted")]
    )
    its_own, ours = [webhook.public_id], [aurora.pk]
    events = {"url": "https://x.example", "events": ["item.decided"]}
    answers = [
        client.get(reverse("webhook", args=its_own)),
        client.post(reverse("webhook", args=its_own), events),
        client.get(reverse("webhook-confirm", args=its_own)),
        client.post(reverse("webhook-remove", args=its_own), {"reason": "x"}),
        client.post(reverse("webhook-step", args=its_own), {"step": "disable"}),
        client.get(reverse("webhook-new", args=ours)),
        client.post(reverse("webhook-new", args=ours), events),
        client.post(reverse("delivery-replay", args=[delivery.public_id])),
    ]
    assert {answer.status_code for answer in answers} == {status}
    assert client.get(reverse("deliveries"), {"webhook": webhook.public_id}).status_code == 404
    assert b"item.held" not in client.get(reverse("deliveries")).content
    assert webhook.public_id not in client.get(reverse("deliveries")).content.decode()
    assert webhook.public_id not in client.get(reverse("team")).content.decode()
    webhook.refresh_from_db()
    assert (webhook.events, webhook.removed_at, TeamWebhook.objects.count()) == (["item.held"], None, 1)


def test_an_owner_adds_one_and_sees_its_secret_once(
    as_person: Any, olga: Any, aurora: Any, kuro: Any, receiver: Receiver
) -> None:
    client = as_person(olga)
    assert reverse("webhook-new", args=[aurora.pk]) in client.get(reverse("team")).content.decode()
    answer = client.post(
        reverse("webhook-new", args=[aurora.pk]), {"url": receiver.url, "events": ["item.held", "pattern.proposed"]}
    )
    secret = secret_on(answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    webhook = TeamWebhook.objects.get()
    assert webhook.events == ["item.held", "pattern.proposed"]
    assert secret not in webhook.secret_encrypted
    for page in ("team", "webhook"):
        seen = client.get(reverse(page, args=[webhook.public_id] if page == "webhook" else []))
        assert "whsec_" not in seen.content.decode()
    kuro.hold()
    deliveries.deliver_due()
    [seen] = receiver.seen
    Webhook(secret).verify(seen.body, seen.headers)


@table(
    ("data", "said"),
    [
        ({"url": "", "events": ["item.held"]}, "Give the address that events are posted to."),
        ({"url": "nowhere", "events": ["item.held"]}, "Enter an address such as"),
        ({"url": "https://me:secret@x.example", "events": ["item.held"]}, "Leave user name and password out"),
        ({"url": "https://x.example", "events": []}, "Choose at least one event."),
        ({"url": "https://x.example", "events": ["item.invented"]}, "not one of the available choices"),
    ],
    rolled_back=True,
)
def test_it_says_what_is_wrong(as_person: Any, olga: Any, aurora: Any, data: dict[str, Any], said: str) -> None:
    answer = as_person(olga).post(reverse("webhook-new", args=[aurora.pk]), data)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not TeamWebhook.objects.exists()


def test_a_private_address_is_named_with_the_setting_that_allows_it(
    as_person: Any, olga: Any, aurora: Any, settings: Any
) -> None:
    settings.CALLBACK_ALLOW = {"http://10.0.0.7:80"}
    webhook, _ = webhooks.add(aurora, olga, url="http://10.0.0.7/hook", events=["item.held"])
    settings.CALLBACK_ALLOW = set()
    seen = as_person(olga).get(reverse("webhook", args=[webhook.public_id])).content.decode()
    assert "METACOG_CALLBACK_ALLOW=http://10.0.0.7:80" in seen


def test_an_owner_changes_events_and_rotates_the_secret(as_person: Any, olga: Any, webhook: TeamWebhook) -> None:
    client = as_person(olga)
    client.post(reverse("webhook", args=[webhook.public_id]), {"events": ["item.decided"]})
    before = TeamWebhook.objects.get()
    assert before.events == ["item.decided"]
    told = AuditEvent.objects.get(action="webhook-changed").data
    assert (told["was"], told["fields"]) == (webhook.events, ["item.decided"])
    assert client.post(reverse("webhook", args=[webhook.public_id]), {"events": []}).status_code == 422
    assert secret_on(step(client, webhook, "rotate").content.decode())
    after = TeamWebhook.objects.get()
    assert after.former_secret_encrypted == before.secret_encrypted
    assert "The older secret has ended" in step(client, webhook, "end-former").content.decode()
    assert TeamWebhook.objects.get().former_secret_encrypted == ""


def test_a_test_arrives_and_its_row_says_so(
    as_person: Any, olga: Any, webhook: TeamWebhook, receiver: Receiver
) -> None:
    client = as_person(olga)
    assert "webhook.test" in step(client, webhook, "test").content.decode()
    receiver.answers = [503]
    deliveries.deliver_due()
    assert "503" in client.get(reverse("team")).content.decode()
    Delivery.objects.update(next_attempt_at=timezone.now())
    deliveries.deliver_due()
    seen = client.get(reverse("webhook", args=[webhook.public_id])).content.decode()
    assert "Delivered" in seen
    assert "Delivering" in seen


def test_it_is_disabled_enabled_and_removed(as_person: Any, olga: Any, webhook: TeamWebhook) -> None:
    client = as_person(olga)
    step(client, webhook, "disable")
    assert not TeamWebhook.objects.get().enabled
    assert "nothing was sent" in step(client, webhook, "test").content.decode()
    step(client, webhook, "enable")
    assert TeamWebhook.objects.get().enabled
    assert client.post(reverse("webhook-remove", args=[webhook.public_id])).status_code == 422
    fields = {"reason": "The receiver moved."}
    page = client.post(reverse("webhook-remove", args=[webhook.public_id]), fields, follow=True).content.decode()
    assert "is removed" in page
    assert f'form="restore-{webhook.public_id}">Undo' in page
    assert f'id="restore-{webhook.public_id}"' in page
    assert client.get(reverse("webhook", args=[webhook.public_id])).status_code == 404
    assert step(client, webhook, "nonsense").status_code == 404


def test_its_deliveries_are_listed_apart_and_sent_again(
    as_person: Any, olga: Any, webhook: TeamWebhook, agent: Any
) -> None:
    owe(agent, 2)
    [given_up] = owe(agent, webhook=webhook, state="exhausted", last_error="status")
    client = as_person(olga)
    assert client.get(reverse("deliveries")).content.decode().count("<tr>") == 3
    listed = client.get(reverse("deliveries"), {"webhook": webhook.public_id})
    assert listed.content.decode().count("<tr>") == 2
    query = {"query": f"webhook={webhook.public_id}"}
    back = client.post(reverse("delivery-replay", args=[given_up.public_id]), query)
    assert back["Location"] == f"{reverse('deliveries')}?webhook={webhook.public_id}"
    given_up.refresh_from_db()
    assert given_up.state == "waiting"
    apart = " ".join(client.get(reverse("deliveries")).content.decode().split())
    assert re.search(rf'\?webhook={webhook.public_id}">{webhook.host}</a> <span [^>]*>\(1 queued\)</span>', apart)


def test_one_that_was_switched_off_is_switched_on_with_what_was_given_up(
    as_person: Any, olga: Any, webhook: TeamWebhook, agent: Any
) -> None:
    owe(agent, 2, webhook=webhook, state="exhausted")
    TeamWebhook.objects.update(off_at=timezone.now(), off_reason="gone")
    client = as_person(olga)
    assert "Switched off" in client.get(reverse("team")).content.decode()
    assert "2 deliveries are being sent" in step(client, webhook, "switch-on", again="1").content.decode()
    assert Delivery.objects.filter(state="waiting").count() == 2


def test_what_was_given_up_is_discarded_by_hand_and_recorded(
    as_person: Any, olga: Any, alice: Any, kuro: Any, aurora: Any, webhook: TeamWebhook
) -> None:
    agent = at(kuro, webhook.url)
    Endpoint.objects.create(agent=agent, url=agent.callback_url, off_at=NOW, off_reason="failing")
    TeamWebhook.objects.update(off_at=NOW, off_reason="failing")
    owe(agent, 3, state="exhausted")
    owe(agent, 2, state="exhausted", webhook=webhook)
    address = reverse("endpoint-discard", args=[kuro.id])
    assert as_person(alice).post(address).status_code == 403
    client = as_person(olga)
    for page in (reverse("deliveries"), reverse("agent", args=[kuro.id]), reverse("webhook", args=[webhook.public_id])):
        assert "Discard the deliveries" in client.get(page).content.decode()
    assert "3 deliveries were discarded." in client.post(address, follow=True).content.decode()
    assert Delivery.objects.exclude(body="").count() == 2
    step(client, webhook, "discard")
    assert not Delivery.objects.exclude(body="").exists()
    assert Delivery.objects.filter(state="exhausted").count() == 5, "they stay listed"
    told = AuditEvent.objects.filter(action__endswith="-discarded").order_by("pk")
    assert [(event.action, event.data["count"]) for event in told] == [
        ("endpoint-discarded", 3),
        ("webhook-discarded", 2),
    ]
    assert deliveries.switch_on(agent, olga, with_given_up=True) == (True, 0)
