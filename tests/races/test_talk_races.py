"""Races about comments and assignees, played with real threads on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from metacog.models import AuditEvent, Notice
from reviews.held import talk
from reviews.models import HeldItem, ItemTalk
from tests.metacog.notices.conftest import tell
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_of_all_who_take_an_item_at_once_each_but_the_first_hears_of_another(
    alice: Any, bob: Any, carla: Any, olga: Any, kuro: Any, settings: Any
) -> None:
    settings.MAIL_FROM = "metacog@example.org"
    held = HeldItem.objects.select_related("agent").get(public_id=kuro.hold())
    people = [alice, bob, carla, olga]
    for person in people:
        tell(person, "never")
    pairs = [(alice, bob), (bob, alice), (carla, olga), (olga, carla)]
    done = at_once([partial(talk.assign, held, person, actor, 0) for person, actor in pairs])
    assert sorted(each.overtaken is None for each in done) == [False, False, False, True]
    assert ItemTalk.objects.get().version == 4
    assert Notice.objects.filter(kind="assigned").count() == 4
    assert AuditEvent.objects.filter(action="chat-assigned").count() == 4


def test_each_of_many_comments_at_once_is_counted(alice: Any, bob: Any, kuro: Any) -> None:
    held = HeldItem.objects.select_related("agent").get(public_id=kuro.hold())
    at_once([partial(talk.comment, held, person, f"{number}") for number in range(4) for person in (alice, bob)])
    assert ItemTalk.objects.get().comments == 8
