"""People who are told what waits, and a clock to tell them by."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from metacog.models import PersonNotices, User
from metacog.models.people import LONG_AGO
from reviews.models import HeldItem
from reviews.outbox import notifications
from tests.metacog.notices.smtp import Server, listening


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path  # in one folder only one sweep has its turn at a time
    settings.MAIL_FROM = "metacog <metacog@example.org>"
    settings.PUBLIC_URL = "https://metacog.example.org"


@pytest.fixture
def smtp(settings: Any) -> Iterator[Server]:
    """A mail server on 127.0.0.1, which mail goes to."""
    with listening() as server:
        settings.EMAIL_BACKEND = "metacog.notices.mail.Backend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_TIMEOUT = 5
        yield server


def tell(person: Any, when: str = "waiting", **fields: Any) -> PersonNotices:
    """Have a person told what waits, at once or by the hour they chose."""
    User.objects.filter(pk=person.pk).update(email=f"{person.username}@example.org", report_at=LONG_AGO)
    row, _ = PersonNotices.objects.update_or_create(
        person=person, defaults={"when": when, "minutes": 15, "hour": 8, **fields}
    )
    return row


def hold(caller: Any, at: Any, **fields: Any) -> str:
    """Have an item held at a time of the test's own, and return its id."""
    public_id: str = caller.hold(**fields)
    HeldItem.objects.filter(public_id=public_id).update(held_at=at, expires_at=at + timedelta(days=7))
    return public_id


def sweep(now: Any) -> list[Any]:
    """Do what the worker does at `now`, and return the mails that went out."""
    before = len(mail.outbox)
    notifications.write_due(now)
    notifications.send_due(now)
    return mail.outbox[before:]


NOW = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
