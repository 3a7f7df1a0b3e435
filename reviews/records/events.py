"""Tell teams' webhooks what happened: written into the outbox in the transaction of the change itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from metacog.db.prepared import Select
from metacog.models import Agent
from patterns.models import ErrorPattern
from patterns.patterns import exchange
from reviews.models import AgentResponse, Delivery, HeldItem, TeamWebhook
from reviews.serializers import body_of, for_people, held_shape, words_for_people


def tell(
    team_id: int,
    event: str,
    shape: Callable[[], Mapping[str, Any]],
    at: datetime,
    *,
    agent: Agent | None = None,
    held: HeldItem | None = None,
) -> None:
    """Owe an event to every webhook of a team that wants it.

    Its data is `shape()`, made only where somebody wants it, and the agent that it is about. Joins the caller's
    transaction.
    """
    if webhooks := _wanting(team_id, event):
        Delivery.objects.bulk_create(_owed(webhooks, event, for_people(shape()), at, agent, held))


def tell_held(agent: Agent, response_id: str) -> None:
    """Owe each item that a response (by public id) had held: as `GET /held/{id}` gives it, agent and review address."""
    webhooks = _wanting(agent.team_id, "item.held") if agent.team.has_webhooks else []
    if not webhooks:
        return
    deliveries = list[Delivery]()
    response = AgentResponse.objects.get(public_id=response_id)
    words = words_for_people(response.wire_verdict(), response.wire_body())
    items = HeldItem.objects.filter(response=response).select_related("response", "call__outcome", "question", "terms")
    for held in items.order_by("index"):
        shape = {**held_shape(held), "review_url": settings.PUBLIC_URL + reverse("item", args=[held.public_id])}
        deliveries += _owed(webhooks, "item.held", for_people(shape, words), held.held_at, agent, held)
    Delivery.objects.bulk_create(deliveries)


def tell_proposed(sender: object, pattern: ErrorPattern, **_signal: Any) -> None:
    """Owe a pattern that became a proposal, in the shape of the API. Receives `lifecycle.proposed`."""
    rows = ErrorPattern.objects.filter(pk=pattern.pk)
    tell(pattern.team_id, "pattern.proposed", lambda: dict(exchange.entries(rows, pattern.team_id)[0]), timezone.now())


def _owed(
    webhooks: Sequence[TeamWebhook],
    event: str,
    data: dict[str, Any],
    at: datetime,
    agent: Agent | None,
    held: HeldItem | None,
) -> list[Delivery]:
    if agent:
        data["agent"] = {"id": agent.public_id, "name": agent.name}
    body = body_of(event, data, at)
    return [Delivery(webhook=webhook, agent=agent, held=held, type=event, body=body) for webhook in webhooks]


def _wanting(team_id: int, event: str) -> list[TeamWebhook]:
    with connection.cursor() as cursor:
        return [webhook for webhook in _enabled(cursor, team_id) if event in webhook.events]


# A post with a held item runs it.
_enabled = Select(lambda team: TeamWebhook.objects.filter(team=team, enabled=True), parameters=1)
