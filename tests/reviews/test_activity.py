"""The beat rests while nothing is written or due: what wakes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from metacog.models import ChatApp, User
from reviews import activity, tasks
from reviews.held import decisions
from reviews.models import (
    Decision,
    Delivery,
    ExtensionRequest,
    HeldItem,
    LogImport,
    Research,
    SearchDue,
    SearchProgress,
)
from reviews.outbox import weekly

pytestmark = pytest.mark.django_db


@pytest.fixture
def calm(kuro: Any) -> Any:
    """An agent with a held item, nothing of which has still to be done."""
    kuro.hold()
    SearchDue.objects.all().delete()
    return kuro


def is_busy() -> bool:
    return activity.latest() != activity.latest()


def test_what_is_written_is_seen_once(calm: Any) -> None:
    before = activity.latest()
    assert before == activity.latest()
    calm.hold()
    SearchDue.objects.all().delete()
    assert activity.latest() != before
    assert not is_busy()


def test_what_is_due_is_seen_until_it_is_done(calm: Any, alice: Any) -> None:
    now = timezone.now()
    weekly.write_due(now)
    item = HeldItem.objects.get()
    HeldItem.objects.update(expires_at=now)
    assert is_busy()
    HeldItem.objects.update(expires_at=now + timedelta(days=1))
    assert not is_busy()
    owed = Delivery.objects.create(agent=item.agent, type="item.decided", next_attempt_at=now)
    assert is_busy()
    Delivery.objects.filter(pk=owed.pk).update(next_attempt_at=now + timedelta(hours=1))
    assert not is_busy()
    SearchDue.objects.create(kind="held", row_id=item.pk)
    assert is_busy()
    SearchDue.objects.all().delete()
    decisions.decide(item, alice, "reject", reason="Not measured")
    SearchDue.objects.all().delete()
    assert is_busy(), "a decision that can still be undone"
    Decision.objects.update(released_at=now)
    assert not is_busy()


def test_a_sweep_is_sent_only_where_it_has_rows_to_look_at(calm: Any, alice: Any) -> None:
    def with_work() -> set[str]:
        return {name for name in settings.CELERY_BEAT_SCHEDULE if activity.has_work(name)}

    sometimes = {"settle", "deliver", "seal-audit", "index-search", "cards", "search", "import-logs"}
    always = set(settings.CELERY_BEAT_SCHEDULE) - sometimes
    assert with_work() == always | {"settle", "seal-audit"}  # an item waits, and its events
    SearchProgress.objects.update(left={"resp": 1})
    assert with_work() == always | {"settle", "seal-audit", "index-search"}
    tasks.seal_audit()
    tasks.index_search()
    assert with_work() == always | {"settle"}
    item, soon = HeldItem.objects.get(), timezone.now() + timedelta(days=1)
    decisions.decide(item, alice, "reject", reason="Not measured")
    assert with_work() == always | {"settle", "seal-audit", "index-search"}
    Decision.objects.update(released_at=soon)
    tasks.seal_audit()
    tasks.index_search()
    assert with_work() == always
    agent, team = item.agent, item.team
    Delivery.objects.create(agent=agent, type="item.decided", next_attempt_at=soon)
    Research.objects.create(agent=agent, questions=[], next_attempt_at=soon)
    ChatApp.objects.create(team=team, kind=ChatApp.Kind.SLACK)
    LogImport.objects.create(team=team, patterns_version=0, policy_version=0, expires_at=soon)
    ExtensionRequest.objects.create(agent=agent, number=1, policy_version=1, due_at=soon, expires_at=soon)
    tasks.index_search()
    assert with_work() == always | {"settle", "deliver", "cards", "search", "import-logs"}


def test_new_people_keep_it_busy_until_one_sweep_of_notices(calm: Any, alice: Any, settings: Any) -> None:
    """Whether or not they are ever told anything: else an idle installation would never rest."""
    User.objects.create(username="teamless")
    User.objects.create(username="gone", email="gone@example.org", is_active=False)
    settings.MAIL_FROM = ""
    assert is_busy()
    tasks.notify()
    assert not is_busy()
