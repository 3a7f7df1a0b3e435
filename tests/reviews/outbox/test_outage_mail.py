"""The owners of a team are told by mail of a webhook that is switched off, once, and nobody else is."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from metacog.models import Membership, Notice, PersonNotices
from reviews.models import Endpoint, TeamWebhook
from reviews.outbox import deliveries, notifications, webhooks
from tests.metacog.notices.conftest import tell
from tests.reviews.outbox.receiving import NOW, owe
from tests.reviews.outbox.test_team_webhooks import owed_to
from tests.tables import table

pytestmark = pytest.mark.django_db
NEXT_DAY = NOW + timedelta(hours=25)


@pytest.fixture(autouse=True)
def _told(settings: Any, receiver: Any, olga: Any, alice: Any, mallory: Any) -> None:
    """Have an owner, a reviewer and another team's owner told of all; what is sent fails, and is not given up soon."""
    settings.MAIL_FROM = "metacog <metacog@example.org>"
    settings.PUBLIC_URL = "https://metacog.example.org"
    settings.CALLBACK_SCHEDULE = (90_000.0, 90_000.0)  # 25 hours each
    receiver.then = 500
    for person in (olga, alice, mallory):
        tell(person, "never")


def switched_off(at: Any = NEXT_DAY) -> None:
    deliveries.deliver_due(NOW)
    deliveries.deliver_due(at)


def sent(now: Any = NEXT_DAY) -> list[Any]:
    before = len(mail.outbox)
    notifications.send_due(now)
    return mail.outbox[before:]


def test_an_agents_webhook_that_failed_for_a_day_is_told_of_once(agent: Any, receiver: Any, olga: Any) -> None:
    owe(agent, 3)
    switched_off()
    assert Endpoint.objects.get().off_reason == Endpoint.Off.FAILING
    [message] = sent()
    assert (message.to, message.subject) == (
        ["olga@example.org"], "metacog: the webhook of the agent kuro was switched off"
    )  # fmt: skip
    assert "* Webhook 127.\u20600.\u20600.\u20601" in message.body
    assert "of the agent kuro (Aurora)\n  No delivery succeeded for a day.\n  3 deliveries are kept." in message.body
    [address] = re.findall(r"https://metacog\.example\.org(/deliveries/\S+)", message.body)
    assert address == f"/deliveries/?agent={agent.public_id}"
    assert not re.search("queue|score", message.body)
    [(html, _type)] = message.alternatives
    assert ("3 deliveries are kept." in html, "Open queue" in html) == (True, False)
    deliveries.deliver_due(NEXT_DAY + timedelta(minutes=1))
    assert sent(NEXT_DAY + timedelta(hours=2)) == []
    deliveries.switch_on(agent, olga, with_given_up=True)
    deliveries.deliver_due(NEXT_DAY + timedelta(days=1))
    deliveries.deliver_due(NEXT_DAY + timedelta(days=3))
    assert len(sent(NEXT_DAY + timedelta(days=3))) == 1, "the next time is another"


def test_a_teams_webhook_is_told_of_likewise(aurora: Any, olga: Any, receiver: Any) -> None:
    webhook, _secret = webhooks.add(aurora, olga, url=receiver.url, events=["item.held"])
    receiver.then = 410
    owed_to(webhook)
    switched_off()
    [message] = sent()
    assert message.subject == "metacog: the webhook of the team Aurora was switched off"
    assert "The receiver answered 410: it is gone for good." in message.body
    assert f"https://metacog.example.org/team/webhooks/{webhook.public_id}/" in message.body


@table(
    "meanwhile",
    ["it was switched on", "it was removed", "no owner any more", "no choice any more"],
    rolled_back=True,
)
def test_what_is_over_is_not_told(aurora: Any, olga: Any, alice: Any, receiver: Any, meanwhile: str) -> None:
    webhook, _secret = webhooks.add(aurora, olga, url=receiver.url, events=["item.held"])
    owed_to(webhook)
    switched_off()
    row = TeamWebhook.objects.get(pk=webhook.pk)
    match meanwhile:
        case "it was switched on":
            deliveries.switch_on(row, olga, with_given_up=False)
        case "it was removed":
            webhooks.remove(row, olga)
        case "no owner any more":
            Membership.objects.filter(user=olga).update(role="curator")
        case "no choice any more":
            PersonNotices.objects.filter(person=olga).update(outages=False)
    assert sent() == []
    assert Notice.objects.get(kind="outage").state == "moot"


def test_nobody_is_told_who_chose_not_to_be(agent: Any, olga: Any) -> None:
    PersonNotices.objects.filter(person=olga).update(outages=False)
    owe(agent)
    switched_off()
    assert not Notice.objects.exists()


def test_an_owner_who_never_chose_is_told_and_can_end_it_from_the_mail(agent: Any, olga: Any, as_person: Any) -> None:
    PersonNotices.objects.all().delete()
    page = as_person(olga).get("/preferences/").content.decode()
    assert re.search(r'<input type="checkbox" name="told-outages"[^>]* checked', page)
    owe(agent)
    switched_off()
    [message] = sent()
    assert message.to == ["olga@example.org"]
    (path,) = re.findall(r"https://metacog.example.org(/notices/stop/\S+)", message.body)
    assert "No more notices are sent to olga" in Client().post(path).content.decode()
    deliveries.switch_on(agent, olga, with_given_up=True)
    deliveries.deliver_due(NEXT_DAY + timedelta(days=1))
    deliveries.deliver_due(NEXT_DAY + timedelta(days=3))
    assert sent(NEXT_DAY + timedelta(days=3)) == []
    page = as_person(olga).get("/preferences/").content.decode()
    assert not re.search(r'name="told-(outages|mentions)"[^>]* checked', page)
