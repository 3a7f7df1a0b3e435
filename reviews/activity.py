"""Whether there may be anything for the sweeps to do: what the beat asks while nothing happens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, Q, QuerySet
from django.utils import timezone

from metacog.db.prepared import Select
from metacog.models import AuditEvent, User
from reviews.models import Asked, ChatCard, Decision, Delivery, HeldItem, LogImport, Research, SearchDue, TeamAsking

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
