"""Take in what an agent posts: score it, hold what is risky, write everything in one transaction."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from metacog import heuristics
from metacog.audit import audit
from metacog.db.clocks import APART_SECONDS
from metacog.db.prepared import KEY, Insert, Select, Update, Write, ask_together, new, run_together
from metacog.heuristics.alike import shape
from metacog.heuristics.hesitation.modulation import marked
from metacog.heuristics.parts import IMPASSE
from metacog.heuristics.tool_calls.effect_bits import bits_of
from metacog.heuristics.wire import wire
from metacog.heuristics.wire.assessment import UNREAD, Assessment, HesitationPart, ItemPart
from metacog.http.problems import Problem, at
from metacog.models import Agent, AgentState, AuditEvent
from patterns import stuck_state
from patterns.models import ErrorPattern
from patterns.patterns.scorer import scorer_for
from patterns.threads import posts
from reviews.intake import tool_calls
from reviews.intake.knowledge import remember_items
from reviews.models import AgentResponse, Decision, Delivery, HeldItem, Signal, held_id, response_id
from reviews.records import traces
from reviews.records.events import tell_held
from reviews.risk import budget, in_force
from reviews.scoring.history import Past, questions, review_after, with_mentions
from reviews.serializers import excerpt, owed

ASKED_BY_RULE = 100  # in place of a score
RECOGNISED_FOR = timedelta(days=7)  # how long approved text that comes back passes
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")


class Scored(NamedTuple):
    """A post as it was read, what was known before it, and what the engine makes of it under the policy."""

    body: dict[str, Any]
    past: Past
    policy: heuristics.Policy
    found: heuristics.Scored


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
    body = wire.read_response(raw)
    space, key = idempotency_key(headers, body)
    digest = hashlib.sha256(raw).hexdigest()
    scorer, session = scorer_for(agent), body["session"] or ""
    post = traces.Post(agent, headers, body)
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # One agent's posts go one after the other from here on; another's do not wait.
        (state,) = _locked_state(cursor, agent.pk)
        asked = questions(agent, body, scorer)
        if key is not None and space is not None:
            asked["same key"] = _posted_before, (agent.pk, space, key)
        read = dict(zip(asked, ask_together(cursor, asked.values()), strict=True))
        if before := read.get("same key"):
            ((digest_before, verdict),) = before
            if digest_before == digest:
                post.replayed()
                return Received(verdict, replayed=True)
            raise at(
                f"/{space}",
                f"The key {key!r} ({space}) was used before with another body. Nothing was changed; "
                "give each response a key of its own, a UUID for example.",
            )
        now = timezone.now()
        state.rate_tat = take_turn(state.rate_tat, time.time(), scorer.policy)
        past = Past.of(agent, state, body, scorer, now, read)
        if agent.risk_model:
            past = replace(past, ranking=budget.ranking_for(agent, past.history.turns))

        calls = tool_calls.Calls(agent, session, now, has_grants=not past.history.paused)

        def assess() -> heuristics.Scored:
            return scorer.assess(
                body,
                past.history,
                recognise=lambda items, judged: recognised(agent, items) | calls.approved(items, judged),
                hesitation=agent.hesitation_enabled,
                ranking=past.ranking,
            )

        post.mark()
        found = assess()
        while past.ranking and not budget.take(agent, found.verdict["items"], now):
            past = replace(past, ranking=past.ranking._replace(left=budget.left(agent.team, now.date())))
            found = assess()
        post.mark()
        fingerprint = found.fingerprint
        response = new(
            AgentResponse,
            public_id=response_id(),
            agent_id=agent.pk,
            received_at=now,
            key_space=space,
            key=key,
            traceparent=post.traceparent,
            body=raw.decode(),
            body_sha256=digest,
            excerpt=excerpt(body["response"]),
            session=session,
            cycle=body["cycle"],
            policy_version=agent.policy_version,
            patterns_version=agent.team.patterns_version,
            engine=found.verdict["engine"],
            language=agent.language,
            history=past.as_json(),
            fingerprint=fingerprint or [],
            second_look_at_id=_second_look(agent, body["replies_to_held"]),
            calls=sum(item.call is not None for item in found.items),
        )
        pursued, writes = _write(agent, response, state, Scored(body, past, scorer.policy, found), calls, cursor)
        state.intent = heuristics.advance_intent(
            state.intent,
            chosen_behavior=body["mode"],
            current_mode=body["mode"] or "unknown",
            action=body["action"],
            active_thread=pursued,
        )
        state.responses += 1
        state.unread += response.unread
        state.topics = with_mentions(state.topics, body["topics"] or ())
        state.cycles = posts.with_cycle(state.cycles, body["cycle"], body["topics"] or ())
        run_together(cursor, [*writes, (_save_state, [state])], (_add_responses, response))
        calls.save()
        if any(item["held"] for item in found.verdict["items"]):
            tell_held(agent, response.public_id)
    post.taken_in(found.verdict)
    return Received(response.verdict, replayed=False)


_locked_state = Select(lambda agent: AgentState.objects.select_for_update().filter(pk=agent), parameters=1)
_posted_before = Select(
    lambda agent, space, key: AgentResponse.objects.filter(agent=agent, key_space=space, key=key).values_list(
        "body_sha256", "verdict"
    ),
    parameters=3,
)
_pattern = Select(
    lambda team, public_id: ErrorPattern.objects.filter(team=team, public_id=public_id).values_list("pk"),
    parameters=2,
)


@cache
def _released(texts: int) -> Select[tuple[str, str, str]]:
    """Return the query of what was released of as many texts."""

    def write(agent: Any, since: Any, *digests: Any) -> QuerySet[Decision, tuple[str, str, str]]:
        released = Decision.objects.filter(agent=agent, text_sha256__in=digests, released_at__gte=since)
        return released.values_list("held__kind", "text_sha256", "held__public_id")

    return Select(write, parameters=2 + texts)


_save_state = Update(AgentState, "rate_tat", "intent", "responses", "unread", "topics", "cycles", "active_threads")
_add_responses = Insert(AgentResponse)
_add_signals, _add_held, _add_events = Insert(Signal), Insert(HeldItem), Insert(AuditEvent)


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


def take_turn(tat: float, now: float, policy: heuristics.Policy) -> float:
    """Return the new theoretical arrival time, or raise Problem 429 with the whole seconds to wait.

    GCRA, which is a token bucket in one number: `rate_burst` posts at once, then `rate_per_second`.
    """
    interval = 1 / policy.rate_per_second
    full = interval * policy.rate_burst
    tat = max(tat, now)
    if tat > now + full + APART_SECONDS:
        # No posts lead so far: the clock was set back. One turn is given, and with it a time by the clock as it is now.
        # Machines whose clocks differ a little must not come here, each after the other.
        tat = now + full - interval
    wait = tat + interval - full - now
    if wait > 1e-9:
        seconds = max(1, math.ceil(wait))
        raise Problem(
            429,
            f"More than {policy.rate_per_second} responses a second (burst {policy.rate_burst}). "
            f"Nothing was written; send it again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
    return tat + interval


def recognised(agent: Agent, items: Sequence[heuristics.Item]) -> dict[int, str]:
    """Return, by index, the held item whose approved text an item repeats: same agent, kind and bytes.

    No tool call repeats a text, and what is to be reviewed repeats none.
    """
    words = {index: item for index, item in enumerate(items) if item.call is None and not item.require_review}
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


def _second_look(agent: Agent, public_id: str | None) -> int | None:
    """Return the key of the held item that a response is about."""
    if public_id is None:
        return None
    held = HeldItem.objects.filter(agent=agent, public_id=public_id).values_list("pk", flat=True).first()
    if held is None:
        raise at("/replies_to_held", f"You have no held item {public_id!r}; GET /api/v1/held lists yours.")
    return held


def _write(
    agent: Agent,
    response: AgentResponse,
    state: AgentState,
    scored: Scored,
    calls: tool_calls.Calls,
    cursor: CursorWrapper,
) -> tuple[str | None, list[Write]]:
    """Complete the verdict with what only the database knows.

    Returns the thought thread that the response pursues, and what is to be written behind it: the rows that hang on it.
    """
    body, past, policy, found = scored
    verdict, items = found.verdict, found.items
    hesitation, quality, stuck = verdict["hesitation"], verdict["quality"], verdict["stuck"]
    if hesitation:
        response.hesitation_score = hesitation["score"]
        response.triggered = not hesitation["confident"]
    held = _held(agent, response, scored, calls)
    calls.use(verdict["items"])
    verdict["id"], verdict["policy"] = response.public_id, response.policy_version
    followed = posts.follow(
        agent, state, body, items, verdict["items"], response=response.public_id, now=response.received_at
    )
    verdict["threads"] = followed.threads
    if policy.remember_into_memory:
        remember_items(agent, response.public_id, response.received_at, body, found)
    response.verdict = json.dumps(verdict, ensure_ascii=False)
    response.pack()
    response.unread = UNREAD in verdict["flags"]
    response.flagged = len(verdict["flags"]) > response.unread
    response.quality_score = quality and quality["score"]
    told: list[AuditEvent] = []
    if stuck:
        response.stuck_points = stuck["points"]
    if found.stuck is not None:
        response.problem, told = stuck_state.advanced(
            agent,
            past.problem,
            response.session,
            stuck,
            found.stuck,
            outcome=body["outcome"],
            now=response.received_at,
        )
    writes: list[Write] = []
    if hesitation and hesitation["signals"]:
        writes.append((_add_signals, _signals(agent, hesitation, cursor, is_open=bool(held))))
    if held:
        writes.append((_add_held, held))
    new_items = {row.public_id for row in held}
    events = [*_events(agent, response, verdict, new_items), *calls.events, *told, *followed.events]
    writes.append((_add_events, events))
    _owe(agent, response, verdict, asks=any(event.action == "think-twice-suggested" for event in told))
    return followed.pursued, writes


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


def _held(agent: Agent, response: AgentResponse, scored: Scored, calls: tool_calls.Calls) -> list[HeldItem]:
    """Return the rows of what the verdict holds, and write into it which they are.

    A tool call that waits already is the item it is.
    """
    items = scored.found.items
    told_of = [told for told in scored.found.verdict["items"] if told["disposition"] == "hold"]
    if asked := [call for told in told_of if (call := items[told["index"]].call)]:
        calls.look_for(asked)
    rows, awaited, words = list[HeldItem](), list[HeldItem](), list[tuple[HeldItem, ItemPart, str | None]]()
    for told in told_of:
        item = items[told["index"]]
        row = calls.again(item.call) if item.call else None
        if row is None:
            row = _held_item(agent, response, scored, told)
            rows.append(row)
            if item.call:
                calls.add(row, item, told)
        if item.call:
            awaited.append(row)
        elif "waits_for" in told:
            words.append((row, told, _marked(item, told, scored)))
        told["held"] = row.public_id
        told["review_url"] = settings.PUBLIC_URL + reverse("item", args=[row.public_id])
    calls.wait(words, awaited)
    return rows


def _marked(item: heuristics.Item, told: ItemPart, scored: Scored) -> str | None:
    """Return what would have gone out in place of the text of words that nothing but tool calls held."""
    hesitation = scored.found.verdict["hesitation"]
    if hesitation is None or told["recognised"] or not told.get("with_calls"):
        return None
    return marked(item, hesitation["score"], scored.policy)


def _held_item(agent: Agent, response: AgentResponse, scored: Scored, told: ItemPart) -> HeldItem:
    item, policy = scored.found.items[told["index"]], scored.policy
    expiry = policy.expiry_seconds if item.expires_in is None else item.expires_in
    score, bits = response.hesitation_score or 0, None
    if item.call:  # what a rule asks about comes first in the queue
        score = told["hesitation"]["score"] if "hesitation" in told else ASKED_BY_RULE
        bits = bits_of(told.get("effects", ()))
    return new(
        HeldItem,
        public_id=held_id(),
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
        risk_place=in_force.place(told.get("risk"), score),
        by_budget=told.get("by_budget", False),
        metadata={**(scored.body["metadata"] or {}), **item.metadata},
        effect_bits=bits,
        alike=shape.key_of(agent.pk, item.kind, item.call and item.call.name, score, item.text, bits or 0),
        held_at=response.received_at,
        review_due_at=response.received_at + review_after(policy),
        expires_at=response.received_at + timedelta(seconds=expiry),
    )


_DONE = {"hold": "held", "mark": "marked", "note": "noted", "reject": "denied"}


def _events(agent: Agent, response: AgentResponse, verdict: Assessment, held: Collection[str]) -> list[AuditEvent]:
    """Return the record of what happened: the response, then each item that did not simply pass.

    `held` are the ids of the items that are new. The actions are the seed's words (`chat-held`), and score, signals and
    cycle those of its log.
    """
    hesitation = verdict["hesitation"]
    versions: dict[str, Any] = {
        "policy": response.policy_version,
        "patterns": response.patterns_version,
        "engine": response.engine,
        "cycle": response.cycle,
    }
    if hesitation:
        versions["score"] = hesitation["score"]
        versions["signals"] = [signal["type"] for signal in hesitation["signals"] if signal["weight"]]

    def event(action: str, object_id: str, after: str, **data: Any) -> AuditEvent:
        return audit.event(
            action, object_id, actor=agent, team=agent.team_id, agent=agent, after=after, **versions, **data
        )

    events = [event("response-accepted", response.public_id, "accepted", body_sha256=response.body_sha256)]
    events += [event(name, response.public_id, "accepted") for name in verdict["events"]]
    for item in verdict["items"]:
        if item["disposition"] == "hold" and item["held"] not in held:
            continue  # asked for again
        if done := _DONE.get(item["disposition"]):
            events.append(
                event(
                    audit.of_item(item["kind"], done),
                    item["held"] or response.public_id,
                    "pending" if done == "held" else done,
                    index=item["index"],
                    **({"waits_for": item["waits_for"]} if item.get("waits_for") else {}),
                )
            )
        elif item["recognised"]:
            by = {"grant": item["grant"]} if "grant" in item else {}
            events.append(
                event(
                    audit.of_item(item["kind"], "grant-used" if by else "recognised"),
                    response.public_id,
                    "passed",
                    index=item["index"],
                    held=item["recognised"],
                    **by,
                )
            )
    return events
