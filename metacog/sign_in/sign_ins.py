"""How often passwords may be tried: by name and address as django-axes counts, and by address alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_ip_address, get_client_username, get_cool_off
from axes.models import AccessAttempt
from django.http import HttpRequest
from django.utils import timezone

from metacog.db.clocks import LEEWAY

ADDRESS_LIMIT = 30  # wrong ones from one address, whichever names, within the time to cool off: an office slips less


class Handler(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        # What was tried in the future was so before the clock was set back, and would lock out until then.
        AccessAttempt.objects.filter(attempt_time__gt=timezone.now() + LEEWAY).delete()
        return bool(super().is_locked(request, credentials)) or address_free_at(request) is not None


def free_at(request: HttpRequest, credentials: dict[str, Any] | None) -> tuple[datetime, bool]:
    """Return when somebody who is locked out may try again, and whether any name from that address has to wait."""
    if by_address := address_free_at(request):
        return by_address, True
    name, address = get_client_username(request, credentials), get_client_ip_address(request)
    tried = AccessAttempt.objects.filter(username=name, ip_address=address).order_by("-attempt_time").first()
    return (tried.attempt_time + get_cool_off(request) if tried else timezone.now()), False


def address_free_at(request: HttpRequest) -> datetime | None:
    """Return when an address from which too much was tried may try again; None where it may now."""
    address, cool_off = get_client_ip_address(request), get_cool_off(request)
    if not address:
        return None
    now = timezone.now()
    recent = AccessAttempt.objects.filter(ip_address=address, attempt_time__gt=now - cool_off, attempt_time__lte=now)
    wrong = 0
    for attempt in recent.order_by("-attempt_time")[:ADDRESS_LIMIT]:
        wrong += attempt.failures_since_start
        if wrong >= ADDRESS_LIMIT:
            until: datetime = attempt.attempt_time + cool_off  # then this one no longer counts
            return until
    return None
