"""Whether the worker runs, and what to do where it does not."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from metacog.models import Heartbeat
from metacog.models.heartbeat import is_alive
from metacog.pages.account import Request


@never_cache
@require_safe
def worker(request: Request) -> HttpResponse:
    """Say when it was last seen, what stays undone without it, and how it is started."""
    seen_at = Heartbeat.objects.filter(name="worker").values_list("at", flat=True).first()
    return render(request, "metacog/worker.html", {"seen_at": seen_at, "is_alive": is_alive(seen_at, timezone.now())})


@never_cache
@require_safe
def worker_state(request: Request) -> HttpResponse:
    """Give a page the line about it anew: empty once it runs."""
    return render(request, "_worker.html")
