"""Read a post: what was sent, and, under the lock of its agent, what it is assessed against. Writes nothing."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from metacog import heuristics
from metacog.db.prepared import Select, ask_together
from metacog.heuristics.wire import wire
from metacog.http.problems import at
from metacog.models import Agent, AgentState
from patterns.patterns.scorer import scorer_for
from reviews.intake.rate import take_turn
from reviews.models import AgentResponse, HeldItem
from reviews.risk import budget
from reviews.scoring.history import Past, questions

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True)
class Post:
    """One post of an agent (read with its team) as it was sent, and what scores it."""

    agent: Agent
    raw: bytes
    body: Mapping[str, Any]
    space: str | None  # of its key
    key: str | None
    sha256: str
    scorer: heuristics.Scorer

    @property
    def session(self) -> str:
        return self.body["session"] or ""


@dataclass(frozen=True)
class Known:
    """What was known as a post came."""

    at: datetime
    state: AgentState
    rate_tat: float  # the state's, once this post is taken in
    past: Past
    second_look: int | None  # the key of the held item that it is about


class Before(NamedTuple):
    """The post that came under the same key."""

    sha256: str
    verdict: str


def read(agent: Agent, raw: bytes, headers: Mapping[str, str]) -> Post:
    """Read what was sent. Raises heuristics.Refused or Problem."""
    body = wire.read_response(raw)
    space, key = idempotency_key(headers, body)
    return Post(agent, raw, body, space, key, hashlib.sha256(raw).hexdigest(), scorer_for(agent))


def look_back(cursor: CursorWrapper, post: Post) -> Known | Before:
    """Wait for the agent's posts before this one, and read what is known. Raises Problem.

    Another agent's posts do not wait.
    """
    agent, body, scorer = post.agent, post.body, post.scorer
    (state,) = _locked_state(cursor, agent.pk)
    asked = questions(agent, body, scorer)
    if post.key is not None and post.space is not None:
        asked["same key"] = _posted_before, (agent.pk, post.space, post.key)
    found = dict(zip(asked, ask_together(cursor, asked.values()), strict=True))
    if before := found.get("same key"):
        return _the_same(post, Before(*before[0]))
    now = timezone.now()
    rate_tat = take_turn(state.rate_tat, time.time(), scorer.policy)
    past = Past.of(agent, state, body, scorer, now, found)
    if agent.risk_model:
        past = replace(past, ranking=budget.ranking_for(agent, past.history.turns, now))
    return Known(now, state, rate_tat, past, _second_look(agent, body["replies_to_held"]))


def _the_same(post: Post, before: Before) -> Before:
    if before.sha256 == post.sha256:
        return before
    raise at(
        f"/{post.space}",
        f"The key {post.key!r} ({post.space}) was used before with another body. Nothing was changed; "
        "give each response a key of its own, a UUID for example.",
    )


_locked_state = Select(lambda agent: AgentState.objects.select_for_update().filter(pk=agent), parameters=1)
_posted_before = Select(
    lambda agent, space, key: AgentResponse.objects.filter(agent=agent, key_space=space, key=key).values_list(
        "body_sha256", "verdict"
    ),
    parameters=3,
)


def idempotency_key(headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the key's space and the key: `webhook-id`, else `Idempotency-Key`, else the body's `id`."""
    for space, name in (
        (AgentResponse.KeySpace.WEBHOOK, "webhook-id"),
        (AgentResponse.KeySpace.HEADER, "Idempotency-Key"),
    ):
        key = checked_key(headers, name)
        if key is not None:
            return space.value, key
    if body["id"] is not None:
        return AgentResponse.KeySpace.BODY.value, body["id"]
    return None, None


def checked_key(headers: Mapping[str, str], name: str) -> str | None:
    """Return the idempotency key that a header holds, if it was sent."""
    key = headers.get(name)
    if key is not None and not _VISIBLE_ASCII.fullmatch(key):
        raise at(f"/{name.lower()}", f"The header {name} takes 1 to 255 visible ASCII characters.")
    return key


def _second_look(agent: Agent, public_id: str | None) -> int | None:
    """Return the key of the held item that a response is about."""
    if public_id is None:
        return None
    held = HeldItem.objects.filter(agent=agent, public_id=public_id).values_list("pk", flat=True).first()
    if held is None:
        raise at("/replies_to_held", f"You have no held item {public_id!r}; GET /api/v1/held lists yours.")
    return held
