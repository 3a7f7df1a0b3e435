"""What operators type."""

from datetime import datetime, timedelta

from django.core.management.base import CommandError
from django.utils import timezone


def days_ago(days: int) -> datetime:
    """Return when it was so many days ago, for an option `--days`; CommandError before the year 1."""
    try:
        return timezone.now() - timedelta(days=days)
    except OverflowError:
        raise CommandError(f"--days {days}: the calendar does not go back that far.") from None
