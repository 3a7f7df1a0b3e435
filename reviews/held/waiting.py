"""When it is worth asking for a held item again."""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from metacog.db.clocks import LEEWAY
from metacog.db.ids import first_id_at
from reviews.models import Decision, HeldItem

LATE = timedelta(seconds=10)  # how much longer than its undo a decision may take until it is released
THOROUGH_SECONDS = 2.0  # between two looks at the items themselves


class Ready:
    """Tells which items are closed, or will be when they are next looked at.

    Most looks read only what was decided a moment ago, which is little however many wait; now and then one reads the
    items, which finds what expired, and what was released late.
    """

    def __init__(self) -> None:
        self._thorough_at = 0.0

    def __call__(self, keys: Collection[int]) -> set[int]:
        now = timezone.now()
        began = now - timedelta(seconds=settings.UNDO_SECONDS) - LATE
        recent = Decision.objects.filter(
            # Ids begin with the time they were made, so this range is read from their index.
            public_id__range=(first_id_at("dec", began), first_id_at("dec", now + LEEWAY)),
            undone_at=None,
            release_at__lte=now,
        )
        found = set(recent.values_list("held", flat=True)).intersection(keys)
        if time.monotonic() - self._thorough_at > THOROUGH_SECONDS:
            self._thorough_at = time.monotonic()
            late = Q(state=HeldItem.State.PENDING, expires_at__lte=now)
            closed = HeldItem.objects.filter(Q(closed_at__isnull=False) | late, pk__in=keys)
            found.update(closed.values_list("pk", flat=True))
        return found


ready = Ready()
