"""Whether it runs and whether it can serve, for load balancers, and who may read its figures.

Exempt from the check of forms, which would call a post forged before its method is refused (405).
"""

from __future__ import annotations

import hmac
import re
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from metacog.http.middleware import AWAY
from metacog.models import Heartbeat
from metacog.models.heartbeat import is_alive
from metacog.unreadable import unreadable, unreadable_rules

# What proxies say of whom they speak for.
FORWARDED = re.compile(r"via|(x-)?forwarded(-.+)?|(x-)?real-ip|([a-z]+-)*client-ip|[a-z]+-connecting-ip", re.IGNORECASE)
_migrated = False  # once migrated, always: a running process never sees a table go


@login_not_required
@csrf_exempt  # changes nothing: a post is told so (405), not that it lacks a token
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that this process runs; asks nothing of anybody."""
    return JsonResponse({"status": "ok"})


@login_not_required
@csrf_exempt  # as above
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database is there and migrated; a missing worker or what cannot be read only degrades."""
    global _migrated
    try:
        if not _migrated:
            executor = MigrationExecutor(connection)
            _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        beat = Heartbeat.objects.filter(name="worker").first() if _migrated else None
        policies, rules = (unreadable(), unreadable_rules()) if _migrated else ([], [])
    except AWAY:
        return JsonResponse({"status": "unavailable", "database": "away"}, status=503)
    if not _migrated:
        return JsonResponse({"status": "unavailable", "database": "not migrated"}, status=503)
    # The heartbeat comes from beat through the broker to the worker: it vouches for all three.
    alive = beat is not None and is_alive(beat.at, timezone.now())
    return JsonResponse(
        {
            "status": "ok" if alive and not policies and not rules else "degraded",
            "database": "ok",
            "broker": "ok" if alive else "unknown",
            "worker": "ok" if alive else "not seen" if beat is None else f"last seen {beat.at.isoformat()}",
            "policies": [
                {"agent": each.agent.public_id, "version": each.version, "fault": each.fault} for each in policies
            ]
            or "ok",
            "team_rules": [{"team": each.team_id, "version": each.version, "fault": each.fault} for each in rules]
            or "ok",
        }
    )


def may_read_metrics(request: HttpRequest) -> bool:
    """Allow the token where one is set, else this machine only, unless a proxy speaks for another."""
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    try:
        local = ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
    return local and not any(FORWARDED.fullmatch(name) for name in request.headers)
