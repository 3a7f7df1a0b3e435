"""Recognise words that a person has let pass before; of tool calls `tool_calls` does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from metacog import heuristics
from metacog.db.prepared import Select
from metacog.models import Agent
from reviews.models import Decision

RECOGNISED_FOR = timedelta(days=7)  # how long approved text that comes back passes


def recognised(agent: Agent, items: Sequence[heuristics.Item]) -> dict[int, str]:
    """Return, by index, the held item whose approved text an item repeats: same agent, kind and bytes.

    No tool call or question repeats a text, and what is to be reviewed repeats none.
    """
    words = {
        index: item
        for index, item in enumerate(items)
        if item.call is None and item.question is None and not item.require_review
    }
    digests = {index: sha256(item.text) for index, item in words.items()}
    wanted = set(digests.values())
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        found = _released(len(wanted))(cursor, agent.pk, timezone.now() - RECOGNISED_FOR, *wanted)
    known = {(kind, digest): public_id for kind, digest, public_id in found}
    return {
        index: known[item.kind, digests[index]] for index, item in words.items() if (item.kind, digests[index]) in known
    }


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _released(texts: int) -> Select[tuple[str, str, str]]:
    """Return the query of what was released of as many texts."""

    def write(agent: Any, since: Any, *digests: Any) -> QuerySet[Decision, tuple[str, str, str]]:
        released = Decision.objects.filter(agent=agent, text_sha256__in=digests, released_at__gte=since)
        return released.values_list("held__kind", "text_sha256", "held__public_id")

    return Select(write, parameters=2 + texts)
