"""When it is worth asking for a held item again."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q
from django.utils import timezone

from reviews.models import Decision, HeldItem


def ready(keys: Collection[int]) -> set[int]:
    """Return which of these items are closed, or will be when they are next looked at. Two queries."""
    now = timezone.now()
    late = Q(state=HeldItem.State.PENDING, expires_at__lte=now)
    closed = HeldItem.objects.filter(Q(closed_at__isnull=False) | late, pk__in=keys)
    due = Decision.objects.filter(held__in=keys, released_at=None, undone_at=None, release_at__lte=now)
    return {*closed.values_list("pk", flat=True), *due.values_list("held", flat=True)}
