"""Figures for Prometheus, read from the rows, so that they agree in every process and after a restart.

All but one: failures are counted by each machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from math import inf

from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, F, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from metacog.http import failures
from metacog.http.health import may_read_metrics
from metacog.models import AgentState, AuditUnsealed, Heartbeat, Notice
from reviews.models import Decision, Delivery, Endpoint, HeldItem, TeamWebhook


class Figures:
    """A Prometheus collector over a handful of indexed queries."""

    def collect(self) -> Iterator[Metric]:
        accepted = AgentState.objects.aggregate(posts=Sum("responses"), seq=Sum("decision_seq"))
        yield CounterMetricFamily("metacog_responses", "Responses accepted", value=accepted["posts"] or 0)
        yield CounterMetricFamily("metacog_decisions", "Decisions released", value=accepted["seq"] or 0)
        unread = CounterMetricFamily(
            "metacog_language_unread", "Responses in a language that no rule reads", labels=["agent"]
        )
        for agent, count in AgentState.objects.filter(unread__gt=0).values_list("agent__public_id", "unread"):
            unread.add_metric([agent], count)
        yield unread
        now = timezone.now()
        pending = HeldItem.objects.filter(state=HeldItem.State.PENDING)
        by_kind = GaugeMetricFamily("metacog_held_items", "Items waiting for a decision", labels=["kind"])
        counts = dict(pending.values_list("kind").annotate(Count("id")).order_by())
        others = set(counts).difference(HeldItem.Kind.values)
        for kind in HeldItem.Kind.values:
            by_kind.add_metric([kind], counts.get(kind, 0))
        by_kind.add_metric(["other"], sum(counts[kind] for kind in others))  # agents may name any number of kinds
        yield by_kind
        held_at = pending.order_by("held_at").values_list("held_at", flat=True).first()
        due_at = pending.order_by("review_due_at").values_list("review_due_at", flat=True).first()
        # Those not yet due are few, however many wait.
        overdue = sum(counts.values()) - pending.filter(review_due_at__gte=now).count()
        gauges = {
            "metacog_oldest_held_seconds": ("Age of the oldest item waiting", _since(held_at, now)),
            "metacog_overdue_items": ("Items past the time of their agent's second look", overdue),
            "metacog_most_overdue_seconds": (
                "How long the first of them is past that time",
                _since(due_at, now),
            ),
            "metacog_unreleased_decisions": (
                "Decisions that can still be undone",
                Decision.objects.filter(released_at=None, undone_at=None).count(),
            ),
            "metacog_deliveries_waiting": (
                "Deliveries to agents and webhooks that are pending",
                _deliveries(Delivery.State.WAITING),
            ),
            "metacog_deliveries_given_up": (
                "Deliveries to agents and webhooks that were given up and not resent",
                _deliveries(Delivery.State.EXHAUSTED),
            ),
            "metacog_endpoints_off": (
                "Agents whose webhook is switched off",
                Endpoint.objects.filter(off_at__isnull=False, url=F("agent__callback_url")).count(),
            ),
            "metacog_webhooks_off": (
                "Webhooks of teams that are switched off",
                TeamWebhook.objects.filter(off_at__isnull=False, removed_at=None).count(),
            ),
            "metacog_notices_failing": (
                "Mail and messages to chats that did not get through and are tried again",
                Notice.objects.filter(state=Notice.State.WAITING).exclude(trouble="").count(),
            ),
            "metacog_unsealed_events": ("Audit events that no seal covers yet", AuditUnsealed.objects.count()),
            "metacog_worker_seen_seconds": ("Time since the worker's heartbeat; +Inf: never seen", _unseen(now)),
        }
        failed = CounterMetricFamily("metacog_failed_answers", "Answers that we failed", labels=["status"])
        for status, times in failures.counted().items():
            failed.add_metric([str(status)], times)
        yield failed
        for name, (meaning, value) in gauges.items():
            yield GaugeMetricFamily(name, meaning, value=value)


def _deliveries(state: str) -> int:
    """Count the deliveries in a state, but for those of webhooks that were removed."""
    of_state = Delivery.objects.filter(state=state)
    to_agents, to_webhooks = of_state.filter(webhook=None), of_state.filter(webhook__isnull=False)
    return to_agents.count() + to_webhooks.filter(webhook__removed_at=None).count()  # apart, as their indexes are


def _since(moment: datetime | None, now: datetime) -> float:
    return max((now - moment).total_seconds(), 0) if moment else 0


def _unseen(now: datetime) -> float:
    beat = Heartbeat.objects.filter(name="worker").first()
    return _since(beat.at, now) if beat else inf


@login_not_required
@csrf_exempt  # changes nothing: a post is told so (405), not that it lacks a token
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus; to others than this machine only with METACOG_METRICS_TOKEN."""
    if not may_read_metrics(request):
        return HttpResponse("Not from here, or not with this token.\n", status=403, content_type="text/plain")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
