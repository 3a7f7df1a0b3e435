"""When people's devices are left in peace: the hours they chose, where they are."""

from __future__ import annotations

from datetime import datetime, time

from metacog.models import PersonPush
from reviews.outbox.notification_texts import zone_of


def people(now: datetime) -> list[int]:
    """Return whose devices nothing is pushed to now, by their keys; what is owed to them waits."""
    chosen = PersonPush.objects.exclude(quiet_from=None).exclude(quiet_until=None).select_related("person")
    return [row.pk for row in chosen if _is_quiet(row, now.astimezone(zone_of(row.person)).time())]


def _is_quiet(row: PersonPush, clock: time) -> bool:
    begin, end = row.quiet_from, row.quiet_until
    assert begin is not None
    assert end is not None
    return begin <= clock < end if begin <= end else clock >= begin or clock < end
