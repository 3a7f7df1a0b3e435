"""Choosing what one is told, and the link in every mail that ends it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from metacog.models import AuditEvent, Notice, PersonNotices, User
from metacog.notices import mail as way_out
from metacog.notices import notices
from tests.metacog.notices.conftest import HOUR, NOW, hold, sweep, tell
from tests.tables import table

pytestmark = pytest.mark.django_db

CHOICES = {"told-email": "alice@example.org", "told-password": "alice-password", "told-when": "daily",
           "told-minutes": "30", "told-hour": "7", "told-outages": "on"}  # fmt: skip


def test_it_keeps_where_and_when_and_records_no_address(alice: Any, as_person: Any) -> None:
    spoken = {"accept-language": "zh-Hant"}
    assert as_person(alice).post(reverse("notices-change"), CHOICES, headers=spoken).status_code == 302
    row = PersonNotices.objects.select_related("person").get()
    assert (row.when, row.minutes, row.hour, row.person.email) == ("daily", 30, 7, "alice@example.org")
    assert row.language == "zh-hant", "what it was set in, for who has chosen no language"
    assert row.turn_at is not None, "the first mail comes with the hour, not at once"
    event = AuditEvent.objects.get(action="notices-changed")
    assert event.data == {"fields": ["when", "minutes", "hour", "outages", "email"]}
    as_person(alice).post(reverse("notices-change"), CHOICES | {"told-password": ""})
    assert AuditEvent.objects.filter(action="notices-changed").count() == 1


@table(
    ("field", "value"),
    [("email", ""), ("email", "alice"), ("email", "a@b.org\nBcc: x@y.org"), ("when", "always"), ("minutes", "4"),
     ("minutes", "1441"), ("hour", "24"), ("hour", "-1"), ("password", ""), ("password", "wrong")],
    rolled_back=True,
)  # fmt: skip
def test_it_refuses_what_cannot_be(alice: Any, as_person: Any, field: str, value: str) -> None:
    answer = as_person(alice).post(reverse("notices-change"), CHOICES | {f"told-{field}": value})
    assert answer.status_code == 422
    assert f'id="id_told-{field}_error"' in answer.content.decode()
    assert ("The password is wrong" in answer.content.decode()) is (value == "wrong")
    assert not PersonNotices.objects.exists()
    assert User.objects.get(pk=alice.pk).email == ""


@pytest.mark.parametrize(("sender", "said"), [("", True), ("metacog@example.org", False)])
def test_the_page_says_when_mail_is_not_set_up(
    alice: Any, as_person: Any, settings: Any, sender: str, said: bool
) -> None:
    settings.MAIL_FROM = sender
    page = as_person(alice).get(reverse("preferences")).content.decode()
    assert ("Email is not set up on this installation" in page) == said
    assert "You are not a reviewer of any team" not in page


def test_opening_the_link_in_a_mail_changes_nothing_and_posting_ends_the_mails(alice: Any, kuro: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    [message] = sweep(NOW)
    (path,) = re.findall(r"https://metacog.example.org(/notices/stop/\S+)", message.body)
    client = Client(enforce_csrf_checks=True)
    opened = client.get(path)
    assert (opened.status_code, "Unsubscribe from notices" in opened.content.decode()) == (200, True)
    assert PersonNotices.objects.get().when == "waiting"
    answer = client.post(path, {"List-Unsubscribe": "One-Click"})
    assert (answer.status_code, PersonNotices.objects.get().when) == (200, "never")
    assert "no-store" in answer["Cache-Control"]
    client.post(path)
    assert "No more notices are sent to alice" in client.get(path).content.decode()
    assert AuditEvent.objects.get(action="notices-changed").data == {
        "fields": ["when", "mentions", "outages", "weekly"],
        "via": "mail",
    }
    hold(kuro, NOW)
    assert sweep(NOW + 2 * HOUR) == []
    assert client.get(reverse("preferences")).status_code == 302, "the link signs nobody in"


@table("what", ["another signature", "another address"], rolled_back=True)
def test_a_link_that_is_not_theirs_ends_nothing(alice: Any, what: str) -> None:
    tell(alice)
    alice.refresh_from_db()
    path = notices.stop_link(alice).removeprefix("https://metacog.example.org")
    if what == "another signature":
        path = path[:-1] + ("A" if path[-1] != "A" else "B")
    else:
        User.objects.filter(pk=alice.pk).update(email="elsewhere@example.org")
    assert Client().post(path).status_code == 404
    assert PersonNotices.objects.get().when == "waiting"


@pytest.mark.parametrize(("taken", "said"), [("", "accepted the test email to alice@example.org"),
                                             ("refused", "could not be sent: The mail server refused")])  # fmt: skip
def test_a_test_mail_says_what_came_of_it(
    alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch, taken: str, said: str
) -> None:
    tell(alice)
    alice.refresh_from_db()
    sent: list[Any] = []
    monkeypatch.setattr(way_out, "send", lambda message: sent.append(message) or taken)
    answer = as_person(alice).post(reverse("notices-test"), follow=True)
    assert said in answer.content.decode()
    assert [(message.to, message.subject) for message in sent] == [(["alice@example.org"], "metacog: test")]
    assert not Notice.objects.exists()


def test_a_test_mail_goes_nowhere_without_an_address_or_a_server(alice: Any, as_person: Any, settings: Any) -> None:
    person = as_person(alice)
    assert person.post(reverse("notices-test")).status_code == 404
    tell(alice)
    settings.MAIL_FROM = ""
    assert person.post(reverse("notices-test")).status_code == 404
    assert reverse("notices-test") not in person.get(reverse("preferences")).content.decode()
