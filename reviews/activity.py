"""Whether there may be anything for the sweeps to do: what the beat asks while nothing happens, and before it sends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, Q, QuerySet
from django.utils import timezone

from metacog.db.prepared import Select
from metacog.models import AuditEvent, AuditUnsealed, ChatApp, User
from reviews.models import (
    Asked,
    ChatCard,
    Decision,
    Delivery,
    ExtensionRequest,
    HeldItem,
    LogImport,
    Research,
    SearchDue,
    SearchProgress,
    TeamAsking,
)
from reviews.outbox.deliveries import is_anything_owed

AHEAD = timedelta(seconds=2)  # what is due so soon is due


def latest() -> object:
    """Return a value that differs from the one before if something was written, or is due, that a sweep has to do with.

    Nearly all that is written has an audit event or is to be indexed for the search. One query.
    """
    with connection.cursor() as cursor:
        found = _latest(cursor, timezone.now() + AHEAD)
    return object() if found and any(found[0][1:]) else found


def _newest_event_and_what_is_due(soon: Any) -> QuerySet[AuditEvent, tuple[int, ...]]:
    due = [
        SearchDue.objects.all(),
        Decision.objects.filter(released_at=None, undone_at=None),
        HeldItem.objects.filter(state=HeldItem.State.PENDING, expires_at__lte=soon),
        Delivery.objects.filter(state=Delivery.State.WAITING, next_attempt_at__lte=soon),
        ChatCard.objects.filter(next_attempt_at__lte=soon, app__free_at__lte=soon),
        Research.objects.filter(state=Research.State.WAITING, next_attempt_at__lte=soon),
        Asked.objects.filter(next_at__lte=soon),
        TeamAsking.objects.filter(handover_at__lte=soon),
        User.objects.filter(report_at__lte=soon),
        LogImport.objects.filter(Q(state=LogImport.State.WAITING) | Q(state=LogImport.State.RUNNING)),
    ]
    return AuditEvent.objects.order_by("-pk").values_list("pk", *map(Exists, due))[:1]


_latest = Select(_newest_event_and_what_is_due, parameters=1)


def has_work(sweep: str) -> bool:
    """Say whether a sweep of CELERY_BEAT_SCHEDULE has rows to look at, whatever the clock says; True of any other."""
    if sweep == "deliver":
        return is_anything_owed()
    if sweep not in _looked_at:
        return True
    with connection.cursor() as cursor:
        if sweep == "index-search" and ((left := _before_the_index.first(cursor)) is None or any(left.values())):
            return True
        return any(rows(cursor) for rows in _looked_at[sweep])


def _first(rows: QuerySet[Any]) -> Select[Any]:
    return Select(lambda: rows.order_by().values_list("pk", flat=True)[:1], parameters=0)


_before_the_index = Select(lambda: SearchProgress.objects.values_list("left", flat=True), parameters=0)
_looked_at = {
    "settle": [
        _first(Decision.objects.filter(released_at=None, undone_at=None)),
        _first(HeldItem.objects.filter(state=HeldItem.State.PENDING)),
        _first(ExtensionRequest.objects.filter(state=ExtensionRequest.State.PENDING)),
    ],
    "seal-audit": [_first(AuditUnsealed.objects.all())],
    "index-search": [_first(SearchDue.objects.all())],
    "cards": [_first(ChatApp.objects.all())],
    "search": [_first(Research.objects.filter(state=Research.State.WAITING))],
    "import-logs": [_first(LogImport.objects.all())],
}
