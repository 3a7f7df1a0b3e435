"""Take in what an agent posts, in one transaction: read it, assess it, write it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from metacog.db.together import together
from metacog.models import Agent
from reviews.intake.assess import Assessed, assess
from reviews.intake.lookups import Lookups
from reviews.intake.post import Before, look_back, read
from reviews.intake.write import write
from reviews.records import traces


@dataclass(frozen=True)
class Received:
    """What to answer: the verdict's bytes, and whether they were first answered to an earlier post."""

    verdict: str
    replayed: bool


def receive(agent: Agent, raw: bytes, headers: Mapping[str, str]) -> Received:
    """Accept one post of an agent (read with its team), once.

    Raises heuristics.Refused or Problem, having written nothing; else the response, its signals,
    held items and audit events are durable when this returns.
    """
    post = read(agent, raw, headers)
    told = traces.Post(agent, headers, post.body)

    def take_in() -> Assessed | Before:
        with connection.cursor() as cursor:
            # One agent's posts go one after the other from here on; another's do not wait.
            known = look_back(cursor, post)
            if isinstance(known, Before):
                return known
            asks = Lookups(post, known)
            told.mark()
            assessed = assess(post, known, asks)
            told.mark()
            write(cursor, post, known, assessed, asks.calls, told.traceparent)
            return assessed

    came = together(take_in)
    if isinstance(came, Before):
        told.replayed()
        return Received(came.verdict, replayed=True)
    told.taken_in(came.verdict)
    return Received(came.text, replayed=False)
