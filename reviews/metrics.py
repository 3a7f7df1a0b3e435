"""Figures for Prometheus, read from the rows, so that they agree in every process and after a restart."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, Min, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from metacog.health import may_read_metrics
from metacog.models import AgentState
from reviews.models import Decision, Delivery, HeldItem


class Figures:
    """A Prometheus collector over a handful of indexed queries."""

    def collect(self) -> Iterator[Metric]:
        accepted = AgentState.objects.aggregate(posts=Sum("responses"), seq=Sum("decision_seq"))
        yield CounterMetricFamily("metacog_responses", "Responses accepted", value=accepted["posts"] or 0)
        yield CounterMetricFamily("metacog_decisions", "Decisions released", value=accepted["seq"] or 0)
        now = timezone.now()
        pending = HeldItem.objects.filter(state=HeldItem.State.PENDING)
        by_kind = GaugeMetricFamily("metacog_held_items", "Items waiting for a decision", labels=["kind"])
        counts = dict(pending.values_list("kind").annotate(Count("id")).order_by())
        for kind in HeldItem.Kind.values:
            by_kind.add_metric([kind], counts.get(kind, 0))
        yield by_kind
        oldest = pending.aggregate(at=Min("held_at"))["at"]
        yield GaugeMetricFamily(
            "metacog_oldest_held_seconds",
            "Age of the oldest item waiting",
            value=(now - oldest).total_seconds() if oldest else 0,
        )
        yield GaugeMetricFamily(
            "metacog_overdue_items", "Items past their review", value=pending.filter(review_due_at__lt=now).count()
        )
        yield GaugeMetricFamily(
            "metacog_unreleased_decisions",
            "Decisions that can still be undone",
            value=Decision.objects.filter(released_at=None, undone_at=None).count(),
        )
        yield GaugeMetricFamily(
            "metacog_deliveries_waiting",
            "Callbacks not yet delivered",
            value=Delivery.objects.filter(state=Delivery.State.WAITING).count(),
        )


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus; to others than this machine only with METACOG_METRICS_TOKEN."""
    if not may_read_metrics(request):
        return HttpResponse("Not from here, or not with this token.\n", status=403, content_type="text/plain")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
