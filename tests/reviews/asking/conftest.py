"""A team that asks, its people with addresses, and a clock to ask by."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from metacog.models import Channel, MemberGroup, Membership, Team
from reviews.asking import settings as asking
from reviews.asking import steps
from reviews.outbox import notifications
from tests.metacog.notices.conftest import NOW, tell

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path  # in one folder only one sweep has its turn at a time
    settings.MAIL_FROM = "metacog <metacog@example.org>"
    settings.PUBLIC_URL = "https://metacog.example.org"


@pytest.fixture
def people(alice: Any, bob: Any, carla: Any, olga: Any) -> dict[str, Any]:
    """Return who decides in the team, each told by mail of events alone."""
    found = {person.username: person for person in (alice, bob, carla, olga)}
    for person in found.values():
        tell(person, when="never", mentions=True)
    return found


@pytest.fixture
def group(people: dict[str, Any], aurora: Any) -> Callable[..., MemberGroup]:
    def make(name: str, *usernames: str) -> MemberGroup:
        made = MemberGroup.objects.create(team=aurora, name=name)
        made.members.set(Membership.objects.filter(team=aurora, user__username__in=usernames))
        return made

    return make


@pytest.fixture
def chat(aurora: Any) -> Channel:
    return Channel.objects.create(team=aurora, url_encrypted="-", hint="-")


def ask(team: Team, actor: Any, **given: Any) -> None:
    """Have a team ask so, from an hour ago on."""
    asking.save(team, actor, given, NOW - 60 * MINUTE)


def sweep(now: Any) -> list[tuple[str, str]]:
    """Do what the worker does at `now`; return to whom mail went, and its subject."""
    before = len(mail.outbox)
    steps.sweep(now)
    notifications.write_due(now)
    notifications.send_due(now)
    return sorted(
        (each.to[0].partition("@")[0], each.subject.removeprefix("metacog: ")) for each in mail.outbox[before:]
    )
