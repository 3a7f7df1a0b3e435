"""What the database answers while a post is assessed, under the lock of its agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from metacog import heuristics
from metacog.db import ids
from metacog.heuristics.ranking.budget import Ranking
from metacog.heuristics.text.tags import Item
from metacog.heuristics.tool_calls.rules import Judged
from metacog.heuristics.wire.assessment import ItemPart
from patterns.threads import posts
from reviews.intake import tool_calls
from reviews.intake.knowledge import remember_items
from reviews.intake.post import Known, Post
from reviews.intake.recognition import recognised
from reviews.risk import budget


class Lookups:
    """Answers what `assess.Asks` asks. It writes what is given to whoever is first: budget and memory."""

    def __init__(self, post: Post, known: Known) -> None:
        self.post, self.known = post, known
        paused = known.past.history.paused
        self.calls = tool_calls.Calls(post.agent, post.session, known.at, has_grants=not paused)
        self.waiting, self.used, self.new_id = self.calls.waiting, self.calls.used, ids.new_id
        self.asked = self.calls.questions.waiting

    def approved(self, items: Sequence[Item], judged: Sequence[Judged | None]) -> dict[int, str]:
        return recognised(self.post.agent, items) | self.calls.approved(items, judged)

    def room(self, told: Sequence[ItemPart], ranking: Ranking) -> Ranking | None:
        return budget.take(self.post.agent, told, ranking, self.known.at)

    def threads(self, items: Sequence[Item], response: str) -> posts.Done:
        return posts.follow(
            self.post.agent, self.known.state, self.post.body, items, response=response, now=self.known.at
        )

    def remembered(self, scored: heuristics.Scored, response: str) -> Mapping[int, Mapping[str, Any]]:
        return remember_items(self.post.agent, response, self.known.at, self.post.body, scored)

    def review_url(self, held: str) -> str:
        return review_url(held)


def review_url(held: str) -> str:
    return f"{settings.PUBLIC_URL}{reverse('item', args=[held])}"
