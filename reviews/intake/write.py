"""Write down a post that is assessed: its rows, what is owed to webhooks, and the record of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from django.db.backends.utils import CursorWrapper

from metacog import heuristics
from metacog.db.prepared import KEY, Insert, Select, Update, Write, new, run_together
from metacog.heuristics.alike import shape
from metacog.heuristics.parts import IMPASSE
from metacog.heuristics.ranking.budget import Ranking
from metacog.heuristics.tool_calls.effect_bits import bits_of
from metacog.heuristics.wire.assessment import UNREAD, Assessment, HesitationPart
from metacog.models import Agent, AgentState, AuditEvent
from patterns import stuck_state
from patterns.models import ErrorPattern
from patterns.threads import posts
from reviews.intake import tool_calls
from reviews.intake.assess import Assessed, Hold
from reviews.intake.post import Known, Post
from reviews.intake.recognition import sha256
from reviews.intake.record import events_of
from reviews.models import AgentResponse, Delivery, HeldItem, Signal
from reviews.records.events import tell_held
from reviews.risk import in_force
from reviews.scoring.history import review_after, with_mentions
from reviews.serializers import excerpt, owed

ASKED = 100  # in place of the score of what a rule, or the agent itself, asks a person about


def write(
    cursor: CursorWrapper, post: Post, known: Known, assessed: Assessed, calls: tool_calls.Calls, traceparent: str
) -> None:
    """Write all of it, in the transaction that holds the lock of the post's agent."""
    agent, verdict = post.agent, assessed.verdict
    response = _response(post, known, assessed, traceparent)
    held = {hold.public_id: _held_item(post, response, hold, assessed.past.ranking) for hold in assessed.new}
    waits, asked_again = calls.wait(held, assessed.holds)
    calls.use_up(verdict["items"])
    followed, told = assessed.threads.write(), list[AuditEvent]()
    if assessed.scored.stuck is not None:
        response.problem, told = stuck_state.advanced(
            agent,
            known.past.problem,
            post.session,
            verdict["stuck"],
            assessed.scored.stuck,
            outcome=post.body["outcome"],
            now=known.at,
        )
    _owe(agent, response, verdict, asks=any(event.action == "think-twice-suggested" for event in told))
    _advance(post, known, assessed, response)
    writes: list[Write] = []
    if verdict["hesitation"] and verdict["hesitation"]["signals"]:
        writes.append((_add_signals, _signals(agent, verdict["hesitation"], cursor, is_open=bool(held))))
    if held:
        writes.append((_add_held, [*held.values()]))
    record = [*events_of(agent, response, verdict, held.keys()), *asked_again, *told, *followed]
    run_together(cursor, [*writes, (_add_events, record), (_save_state, [known.state])], (_add_responses, response))
    tool_calls.save(waits)
    if assessed.holds:
        tell_held(agent, response.public_id)


_pattern = Select(
    lambda team, public_id: ErrorPattern.objects.filter(team=team, public_id=public_id).values_list("pk"),
    parameters=2,
)
_save_state = Update(AgentState, "rate_tat", "intent", "responses", "unread", "topics", "cycles", "active_threads")
_add_responses = Insert(AgentResponse)
_add_signals, _add_held, _add_events = Insert(Signal), Insert(HeldItem), Insert(AuditEvent)


def _response(post: Post, known: Known, assessed: Assessed, traceparent: str) -> AgentResponse:
    agent, body, verdict = post.agent, post.body, assessed.verdict
    hesitation, quality, stuck = verdict["hesitation"], verdict["quality"], verdict["stuck"]
    response = new(
        AgentResponse,
        public_id=assessed.id,
        agent_id=agent.pk,
        received_at=known.at,
        key_space=post.space,
        key=post.key,
        traceparent=traceparent,
        body=post.raw.decode(),
        body_sha256=post.sha256,
        excerpt=excerpt(body["response"]),
        session=post.session,
        cycle=body["cycle"],
        policy_version=agent.policy_version,
        patterns_version=agent.team.patterns_version,
        engine=verdict["engine"],
        language=agent.language,
        history=assessed.past.as_json(),
        fingerprint=assessed.scored.fingerprint or [],
        second_look_at_id=known.second_look,
        calls=sum(item.call is not None for item in assessed.scored.items),
        verdict=assessed.text,
        unread=UNREAD in verdict["flags"],
        flagged=any(flag != UNREAD for flag in verdict["flags"]),
        quality_score=quality and quality["score"],
    )
    if hesitation:
        response.hesitation_score, response.triggered = hesitation["score"], not hesitation["confident"]
    if stuck:
        response.stuck_points = stuck["points"]
    response.pack()
    return response


def _advance(post: Post, known: Known, assessed: Assessed, response: AgentResponse) -> None:
    """Have the agent's state be as after this post."""
    body, state, topics = post.body, known.state, post.body["topics"] or ()
    state.rate_tat = known.rate_tat
    state.intent = heuristics.advance_intent(
        state.intent,
        chosen_behavior=body["mode"],
        current_mode=body["mode"] or "unknown",
        action=body["action"],
        active_thread=assessed.threads.pursued,
    )
    state.responses += 1
    state.unread += response.unread
    state.topics = with_mentions(state.topics, topics)
    state.cycles = posts.with_cycle(state.cycles, body["cycle"], topics)


def _held_item(post: Post, response: AgentResponse, hold: Hold, ranking: Ranking | None) -> HeldItem:
    agent, item, told, policy = post.agent, hold.item, hold.told, post.scorer.policy
    expiry = policy.expiry_seconds if item.expires_in is None else item.expires_in
    score, bits = response.hesitation_score or 0, None
    model = ranking and ranking.orders.of(is_call=item.call is not None)
    if item.question:
        score = ASKED
    if item.call:  # what a rule asks about comes first in the queue
        score = told["hesitation"]["score"] if "hesitation" in told else ASKED
        bits = bits_of(told.get("effects", ()))
    return new(
        HeldItem,
        public_id=hold.public_id,
        response_id=KEY,
        agent_id=agent.pk,
        team_id=agent.team_id,
        index=told["index"],
        kind=item.kind,
        text=item.text,
        attributes=item.attributes,
        sha256=sha256(item.text),
        hesitation_score=score,
        risk=told.get("risk"),
        risk_place=in_force.place(told.get("risk"), score, model),
        by_budget=told.get("by_budget", False),
        metadata={**(post.body["metadata"] or {}), **item.metadata},
        effect_bits=bits,
        alike=None  # each is answered by itself
        if item.question
        else shape.key_of(agent.pk, item.kind, item.call and item.call.name, score, item.text, bits or 0),
        held_at=response.received_at,
        review_due_at=response.received_at + review_after(policy),
        expires_at=response.received_at + timedelta(seconds=expiry),
    )


def _signals(agent: Agent, hesitation: HesitationPart, cursor: CursorWrapper, *, is_open: bool) -> list[Signal]:
    pattern = None
    if hesitation["matched_pattern_ids"]:
        (pattern,) = _pattern.first(cursor, agent.team_id, hesitation["matched_pattern_ids"][0]) or (None,)
    return [
        new(
            Signal,
            response_id=KEY,
            type=signal["type"],
            weight=signal["weight"],
            pattern_id=pattern if signal["type"] == "error-pattern" else None,
            is_open=is_open,
        )
        for signal in hesitation["signals"]
    ]


def _owe(agent: Agent, response: AgentResponse, verdict: Assessment, *, asks: bool) -> None:
    """Put into the outbox what somebody should hear of whoever reads the verdict."""
    if not agent.callback_url:
        return
    told: list[tuple[str, tuple[Literal["quality", "stuck"], ...]]] = [
        (name.replace(":", ".").replace("-", "_"), ("quality", "stuck") if name == IMPASSE else ("quality",))
        for name in verdict["events"]
    ]
    if asks:
        told.append(("think_twice.suggested", ("stuck",)))
    Delivery.objects.bulk_create(
        owed(
            agent,
            kind,
            {"response": response.public_id, "session": response.session, **{part: verdict[part] for part in parts}},
            response.received_at,
        )
        for kind, parts in told
    )
