"""What a verdict looks at beside the response itself: read before it is scored, and kept with it.

`AgentResponse.history` holds it as JSON: `turns`, `familiarity`, `stuck` and `told` as heuristics.History has them,
in `recent` the ids of the responses whose fingerprints were compared, and in `rules_version` that of the team's rules.
What is empty is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet
from pydantic_core import from_json, to_json

from metacog import heuristics
from metacog.db.prepared import Asked, Select, ask_together
from metacog.heuristics.contradiction.corrections import SURE, Correction, weigh
from metacog.heuristics.parts import MANY_TURNS
from metacog.heuristics.quality.confidence import Confidence, estimate
from metacog.heuristics.ranking.budget import Budget, Ranking
from metacog.heuristics.text import words
from metacog.models import Agent, AgentState, Language
from patterns.memory import memory
from patterns.models import Problem
from reviews.models import AgentResponse, Decision, DecisionVerdict, PossibleCorrection
from reviews.risk import in_force

TOPICS = 500  # an agent's topics that are counted: those it named last


@dataclass(frozen=True)
class Past:
    """The history of one response that is about to be scored."""

    history: heuristics.History
    recent: list[str]  # the ids that belong to `history.recent`
    problem: Problem | None  # what `history.stuck` is the state of
    ranking: Ranking | None = None
    rules_version: int = 0  # of the team's rules on tool calls

    @classmethod
    def of(
        cls,
        agent: Agent,
        state: AgentState,
        body: Mapping[str, Any],
        scorer: heuristics.Scorer,
        at: datetime,
        found: Mapping[str, Sequence[Any]],
    ) -> Past:
        """Take what the `questions` found, asked under the lock on `state`."""
        recent = [(public_id, prints) for _, public_id, prints in sorted(found.get("said", ()))]
        (problem,), (before,) = found.get("problem") or [None], found.get("before") or [None]
        topics, remembered = body["topics"] or (), found.get("memory", ())
        history = heuristics.History(
            at=at,
            turns=len(found.get("turns", ())),
            recent=[prints for _, prints in recent],
            familiarity=mentions(state.topics, topics, remembered) if _is_estimated(body, scorer) else None,
            stuck=problem.state if problem else None,
            told=_told(*before) if before else "",
            paused=agent.is_paused(at),
        )
        return cls(history, [public_id for public_id, _ in recent], problem, rules_version=agent.team.rules_version)

    def as_json(self) -> str:
        found = {
            "turns": self.history.turns,
            "recent": self.recent,
            "familiarity": self.history.familiarity,
            "stuck": self.history.stuck,
            "told": self.history.told,
            "paused": self.history.paused,
            "rules_version": self.rules_version,
        }
        if self.ranking and self.ranking.words.cut is not None:
            found["budget"] = [self.ranking.words.cut, self.ranking.words.left]
        if self.ranking and self.ranking.calls.cut is not None:
            found["budget_of_calls"] = [*self.ranking.calls]
        kept = {name: value for name, value in found.items() if value}
        return to_json(kept).decode() if kept else ""


def questions(agent: Agent, body: Mapping[str, Any], scorer: heuristics.Scorer) -> dict[str, Asked]:
    """Return what is to be read for the parts of the verdict that are switched on, by name."""
    session, window = body["session"] or "", scorer.parts.recent_window
    asked: dict[str, Asked] = {}
    if window:
        asked["said"] = _said_last(window), (agent.pk, session)
    if scorer.policy.parts["stuck"] or scorer.policy.parts["quality"]:
        asked["problem"] = _problem, (agent.pk, session, body["problem"] or "")
    if agent.risk_model and session:
        asked["turns"] = _turns, (agent.pk, session)
    if _is_estimated(body, scorer):
        asked |= _known(agent, body["session"], body["retrieval"], body["topics"])
    if session and scorer.looks_for_sources:
        asked["before"] = _before, (agent.pk, session)
    return asked


def _is_estimated(body: Mapping[str, Any], scorer: heuristics.Scorer) -> bool:
    return scorer.policy.parts["confidence"] and bool(body["topics"] or body["retrieval"])


def _known(
    agent: Agent, session: str | None, retrieval: Mapping[str, Any] | None, topics: Sequence[str] | None
) -> dict[str, Asked]:
    """Return what is to be read for an estimate of confidence; what names no session continues none."""
    asked: dict[str, Asked] = {}
    if session:
        asked["turns"] = _turns, (agent.pk, session)
    says_itself = (retrieval or {}).get("topic_mentions") is not None
    if topics and not says_itself and (remembered := memory.mentioning(agent.team_id, topics)):
        asked["memory"] = remembered
    return asked


@cache
def _said_last(window: int) -> Select[tuple[int, str, list[int]]]:
    """Return the query of keys, ids and fingerprints of a session's last responses."""

    def write(agent: Any, session: Any) -> QuerySet[AgentResponse, tuple[int, str, list[int]]]:
        said = AgentResponse.objects.filter(agent=agent, session=session).exclude(fingerprint="")
        return said.order_by("-id").values_list("id", "public_id", "fingerprint")[:window]

    return Select(write, parameters=2)


_before = Select(
    lambda agent, session: (
        AgentResponse.objects.filter(agent=agent, session=session).order_by("-id").values_list("history", "body")[:1]
    ),
    parameters=2,
)


def heard(body: Mapping[str, Any], before: Mapping[str, Any]) -> Correction | None:
    """Return what the user's message in a body says of the response before it; None where it says nothing of it."""
    message = body.get("user_message")
    if not message or before.get("user_message") == message:  # which that response answered already
        return None
    # "No, …" to what the agent asked is an answer.
    return weigh(message, previous=before["response"], reply=body["response"])


def corrects(body: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Tell whether the user says in a body's message that the response before it in its session was wrong."""
    found = heard(body, before)
    return found is not None and found.confidence >= SURE


def take_back_rejected(state: AgentState, decision: Decision) -> None:
    """Count the topics of a response once less that was rejected or put right, under the lock on `state`; save nothing.

    Once a response, whatever else is decided about it, and not where `take_back_corrected` has done so.
    """
    response = AgentResponse.objects.only("agent", "session", "body", "verdict", "erased_at").get(
        pk=decision.held.response_id
    )
    body = response.wire_body()
    if not body.get("topics") or _decided_against(response.pk).exclude(pk=decision.pk).exists():
        return
    later = AgentResponse.objects.filter(agent=response.agent_id, session=response.session, pk__gt=response.pk)
    learnt = later.filter(agent__learning_cursor__response__gte=F("pk")).order_by("pk")
    following = learnt.first() if response.session else None
    if following is None or not _was_taken_back(following, body):
        state.topics = without_mentions(state.topics, body["topics"])


def _was_taken_back(following: AgentResponse, body: Mapping[str, Any]) -> bool:
    """Tell whether the topics of a response were taken back for what its user said next, as a person answered."""
    asked = PossibleCorrection.objects.filter(response=following).values_list("took_back", flat=True).first()
    return corrects(following.wire_body(), body) if asked is None else asked


def take_back_corrected(state: AgentState, response: AgentResponse) -> bool:
    """Count the topics of a response once less that its user corrected, as `take_back_rejected` does.

    Return whether that was done.
    """
    topics = response.wire_body().get("topics")
    if not topics or not response.session or _decided_against(response.pk).exists():
        return False
    state.topics = without_mentions(state.topics, topics)
    return True


def count_again(state: AgentState, response: AgentResponse) -> None:
    """Undo what `take_back_corrected` did."""
    state.topics = with_mentions(state.topics, response.wire_body().get("topics") or ())


def _decided_against(response: int) -> QuerySet[Decision]:
    against = (DecisionVerdict.REJECT, DecisionVerdict.EDIT)
    return Decision.objects.filter(held__response=response, verdict__in=against, released_at__isnull=False)


def _told(history: str, body: str) -> str:
    """Return the figures that the agent was given in the session so far; what was erased is forgotten."""
    return heuristics.figures_of(heuristics.given_in(from_json(body)), told_before(history)) if body else ""


def told_before(history: str) -> str:
    """Return the figures that an agent was given before a stored response, from its `history`."""
    told: str = from_json(history).get("told", "") if '"told"' in history else ""
    return told


_problem = Select(
    lambda agent, session, key: Problem.objects.filter(agent=agent, session=session, key=key), parameters=3
)


_turns = Select(
    lambda agent, session: (
        AgentResponse.objects.filter(agent=agent, session=session).order_by("-id").values_list("id")[:MANY_TURNS]
    ),
    parameters=2,
)


def confidence(
    agent: Agent, *, session: str | None, retrieval: Mapping[str, Any] | None, topics: Sequence[str] | None
) -> Confidence:
    """Estimate before an answer is written how sure the agent may be; with nothing known it is low."""
    counted = AgentState.objects.only("topics").get(pk=agent.pk).topics
    asked = _known(agent, session, retrieval, topics)
    with connection.cursor() as cursor:
        read = dict(zip(asked, ask_together(cursor, asked.values()), strict=True))
    known: dict[str, Any] = {
        "topics": topics or (),
        "familiarity": mentions(counted, topics or (), read.get("memory", ())),
        "turns": len(read.get("turns", ())),
        "language": Language(agent.language).bcp47,
    }
    found = estimate(retrieval=retrieval, **known)
    if found is None:
        nothing = estimate(retrieval={**(retrieval or {}), "facts": 0}, **known)
        assert nothing is not None
        found = replace(nothing, reason="nothing was retrieved, and no topic is named")
    return found


class Recorded(NamedTuple):
    """What a stored response was scored with, as far as it is still there."""

    history: heuristics.History
    is_whole: bool  # False: a response that was compared has been erased since
    review_seconds: int  # above 0: METACOG_REVIEW_SECONDS, which verdicts followed before
    ranking: Ranking | None  # the models of the stored verdict, with the budget there was
    rules_version: int  # of the team's rules on tool calls; 0: it had none


def recorded(response: AgentResponse) -> Recorded:
    """Return the history that a stored response was scored with. One query where it had a session."""
    kept = from_json(response.history or "{}")
    ids = kept.get("recent", ())
    rows = AgentResponse.objects.filter(public_id__in=ids).exclude(fingerprint="")  # Django asks nothing for no ids
    prints = dict(rows.values_list("public_id", "fingerprint"))
    history = heuristics.History(
        at=response.received_at,
        turns=kept.get("turns", 0),
        recent=[prints[public_id] for public_id in ids if public_id in prints],
        familiarity=kept.get("familiarity"),
        stuck=kept.get("stuck"),
        told=kept.get("told", ""),
        paused=kept.get("paused", False),
    )
    ranking = None
    if named := response.wire_verdict().get("risk_model"):
        orders = in_force.orders_named(response.agent.team_id, named)
        words, calls = (Budget(*kept.get(name, ())) for name in ("budget", "budget_of_calls"))
        if orders:
            ranking = Ranking(orders, response.agent.public_id, history.turns, words, calls, response.received_at)
    is_whole, rules_version = len(prints) == len(ids), kept.get("rules_version", 0)
    return Recorded(history, is_whole, kept.get("review_seconds", 0), ranking, rules_version)


def review_after(policy: heuristics.Policy) -> timedelta:
    """Return how long what is held waits for its agent's second look."""
    return timedelta(seconds=policy.review_seconds if settings.REVIEW_SECONDS is None else settings.REVIEW_SECONDS)


def mentions(
    counted: Mapping[str, int], topics: Sequence[str], remembered: Iterable[tuple[int, str]] = ()
) -> dict[str, int]:
    """Tell how often each topic was named before, in whatever case, width and characters of Chinese.

    Responses that named it and memories of the team about it count alike; `remembered` is what memory.mentioning finds.
    """
    known = memory.mentions(topics, remembered)
    return {topic: counted.get(_key(topic), counted.get(topic, 0)) + known.get(topic, 0) for topic in topics}


def _key(topic: str) -> str:
    return " ".join(words.fold_signs(topic).split())


def without_mentions(counted: Mapping[str, int], topics: Iterable[str]) -> dict[str, int]:
    """Count topics once less."""
    counts = dict(counted)
    for key in dict.fromkeys(map(_key, topics)):
        if counts.get(key, 0) > 1:
            counts[key] -= 1
        else:
            counts.pop(key, None)
    return counts


def with_mentions(counted: Mapping[str, int], topics: Iterable[str]) -> dict[str, int]:
    """Count topics that were named; beyond TOPICS the one named longest ago is forgotten."""
    counts = dict(counted)
    for key in dict.fromkeys(map(_key, topics)):
        counts[key] = counts.pop(key, 0) + 1
    return dict(list(counts.items())[-TOPICS:])
