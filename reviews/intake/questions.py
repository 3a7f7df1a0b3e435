"""Recognise a question that is asked again while it waits for its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime

from metacog.audit import audit
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import Item
from metacog.models import Agent, AuditEvent
from reviews.models import HeldItem, HeldQuestion


def digest(session: str, item: Item) -> str:
    """Give what a question is recognised by: its session, its text and what answers it takes, as their SHA-256."""
    assert item.question
    return hashlib.sha256(canonical([session, item.text, *item.question]).encode()).hexdigest()


class Questions:
    """The questions of a response, and which wait already. Under the agent's lock."""

    def __init__(self, agent: Agent, session: str, now: datetime) -> None:
        self.agent, self.session, self.now = agent, session, now
        self._known: dict[str, HeldQuestion] = {}  # by the public id of their items

    def waiting(self, digests: Collection[str]) -> dict[str, str]:
        """Return the held items of these questions that wait already, by digest."""
        rows = HeldQuestion.objects.select_related("held").filter(
            agent=self.agent, sha256__in=digests, held__closed_at=None
        )
        self._known = {row.held.public_id: row for row in rows}
        return {row.sha256: row.held.public_id for row in self._known.values()}

    def again(self, held: str) -> AuditEvent:
        """Count a question that waits already, or came twice, as the item with this public id."""
        row = self._known[held]
        row.asks, row.asked_at = row.asks + 1, self.now
        if row.pk:
            row.save(update_fields=["asks", "asked_at"])
        return audit.event(
            "question-asked-again",
            held,
            actor=self.agent,
            team=self.agent.team_id,
            agent=self.agent,
            after=row.held.state,
            asks=row.asks,
        )

    def new(self, held: HeldItem, item: Item) -> HeldQuestion:
        """Return, unsaved, a question that begins to wait as this item."""
        assert item.question
        row = self._known[held.public_id] = HeldQuestion(
            held=held,
            agent=self.agent,
            sha256=digest(self.session, item),
            schema=item.question.schema,
            choices=item.question.choices,
            asked_at=self.now,
        )
        return row
