"""Requests for more tool calls, and their three gates: the shared memory, the rules, the chairman (seed 003).

An investigation is what one agent does in one session about one problem. Every request of it is judged under the
lock on the agent's state, so that of two at the same moment one comes second. One decision stands: a conditional
UPDATE claims the request, whoever takes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet, Sum
from django.utils import timezone

from metacog.audit import audit
from metacog.db.clocks import LEEWAY, bring_forward
from metacog.heuristics.memory import recall
from metacog.heuristics.memory.extension import Judgement, Objection, judge
from metacog.http.problems import at
from metacog.models import Agent, AgentState, User
from patterns.memory import memory
from patterns.models import Memory
from patterns.patterns.scorer import scorer_for, scorer_shown
from reviews.investigation import texts
from reviews.isolation import by_itself
from reviews.models import ExtensionRequest
from reviews.records import events
from reviews.scoring.history import review_after
from reviews.serializers import owed

State, By = ExtensionRequest.State, ExtensionRequest.By

TOLD = 5  # memories that a request is answered with, the best
TRUSTED = 0.7  # confidence from which a memory refuses; without one, a person must have confirmed it
BATCH = 200  # requests of one agent that a sweep lets expire in one transaction


class Refusal(Exception):
    """It was not done, and nothing was written. `request` is what stands in the way, as it is now."""

    def __init__(self, request: ExtensionRequest) -> None:
        super().__init__()
        self.request = request


class Waiting(Refusal):
    """An earlier request of the same investigation still waits for the chairman."""


class Standing(Refusal):
    """It was decided or withdrawn before, or has expired."""


@dataclass(frozen=True)
class Asked:
    """What an agent asks for."""

    session: str
    problem: str
    reason: str
    evidence: Any = ()  # a list of JSON values
    step: int | None = None  # tool calls made so far

    @property
    def digest(self) -> str:
        said = json.dumps([self.session, self.problem, self.step, self.reason])
        return hashlib.sha256(said.encode()).hexdigest()


def ask(agent: Agent, asked: Asked, raw: bytes, key: str | None) -> tuple[ExtensionRequest, bool]:
    """Take in a request, once, and lead it through the gates; return it and whether it is new.

    `agent` comes with its team, `raw` is the body's bytes, which the idempotency key stands for. Raises Waiting, or
    Problem where the key was used with another body.
    """
    settle(agent)
    body_sha256, now = hashlib.sha256(raw).hexdigest(), timezone.now()
    policy = scorer_for(agent).policy
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=agent.pk)
        requests = ExtensionRequest.objects.select_related("agent__team", "person").filter(agent=agent)
        known = requests.filter(key=key).first() if key is not None else None
        if known and known.body_sha256 != body_sha256:
            raise at("/idempotency-key", f"The key {key!r} was used before with another body. Nothing was changed.")
        known = known or requests.filter(digest=asked.digest).first()
        if known:
            return known, False
        earlier = list(requests.filter(session=asked.session, problem=asked.problem).order_by("number"))
        if earlier and earlier[-1].state == State.PENDING:
            raise Waiting(earlier[-1])
        found: Any = _remembered(agent, asked.reason, earlier)
        row = ExtensionRequest(
            agent=agent,
            session=asked.session,
            problem=asked.problem,
            number=len(earlier) + 1,
            step=asked.step,
            reason=asked.reason,
            evidence=asked.evidence,
            digest=asked.digest,
            key=key,
            body_sha256=body_sha256,
            found=found,
            policy_version=agent.policy_version,
            created_at=now,
            due_at=now + review_after(policy),
            expires_at=now + timedelta(seconds=policy.budget_wait_seconds),
        )
        if any(each["answers"] for each in found):
            row.state, row.by, row.decided_at, row.told_until = State.REJECTED, By.MEMORY, now, row.UNTOLD
        else:
            judgement = _judged(asked.reason, earlier, policy.budget_extension)
            row.judgement = judgement.as_dict()
            if judgement.approved:
                row.state, row.by, row.decided_at, row.told_until = State.APPROVED, By.RULE, now, row.UNTOLD
                row.granted = policy.budget_extension
        row.save(force_insert=True)
        objections = [objection["type"] for objection in (row.judgement or {}).get("objections", ())]
        _record("extension-asked", row, agent, after=State.PENDING, number=row.number, objections=objections)
        if row.state != State.PENDING:
            _record(f"extension-{row.state}", row, None, before=State.PENDING, after=row.state, by=row.by)
        events.tell(agent.team_id, "extension.requested", lambda: texts.shape(row), now, agent=agent)
    return row, True


def decide(
    request: ExtensionRequest,
    person: User | None,
    *,
    is_approved: bool,
    granted: int = 0,
    answer: str = "",
    guidance: str = "",
) -> ExtensionRequest:
    """Take the chairman's decision, a person's or (None) the model's, and tell the agent of it.

    The same person's same answer again gives the first back. Raises Standing. Whether `person` may is the caller's to
    check.
    """
    by, after = By.PERSON if person else By.MODEL, State.APPROVED if is_approved else State.REJECTED
    now = timezone.now()
    with transaction.atomic(durable=True):
        if ExtensionRequest.objects.filter(pk=request.pk, expires_at__lte=now).exists():  # no sweep has come to it yet
            _claim(request, State.EXPIRED, By.SYSTEM, now)
            row = None
        else:
            row = _claim(request, after, by, now, person=person, granted=granted, answer=answer, guidance=guidance)
    if row is not None:
        return row
    standing = ExtensionRequest.objects.select_related("agent__team", "person").get(pk=request.pk)
    if person is not None and standing.person == person and standing.state == after:
        return standing
    raise Standing(standing)


def withdraw(request: ExtensionRequest) -> ExtensionRequest:
    """Take a request back for the agent that made it; the same again gives the first back. Raises Standing."""
    with transaction.atomic(durable=True):
        row = _claim(request, State.WITHDRAWN, By.AGENT, timezone.now())
    if row is not None:
        return row
    standing = ExtensionRequest.objects.select_related("agent__team", "person").get(pk=request.pk)
    if standing.state == State.WITHDRAWN:
        return standing
    raise Standing(standing)


def settle(agent: Agent | None = None) -> int:
    """End what nobody decided in time; return how many that were. That is no refusal: the agent may conclude."""
    now = timezone.now()
    pending = ExtensionRequest.objects.filter(state=State.PENDING)
    if agent is None:
        # Asked before the clock was set back, it would wait for so much longer.
        bring_forward(pending.filter(created_at__gt=now + LEEWAY, expires_at__gt=now + LEEWAY), "expires_at", now)
    late = pending.filter(expires_at__lte=now)
    if agent is not None:
        return _settle_one(late.filter(agent=agent), now)
    ended = 0
    for agent_id in sorted(set(late.values_list("agent", flat=True))):
        with by_itself("No request ended for the agent with the key %s", agent_id):
            ended += _settle_one(late.filter(agent=agent_id), now)
    return ended


def _settle_one(late: QuerySet[ExtensionRequest], now: datetime) -> int:
    if not late.exists():
        return 0
    with transaction.atomic(durable=True):
        rows = late.order_by("expires_at", "pk")[:BATCH]
        return sum(_claim(row, State.EXPIRED, By.SYSTEM, now) is not None for row in rows)


def investigation(agent: Agent, session: str, problem: str) -> QuerySet[ExtensionRequest]:
    return ExtensionRequest.objects.filter(agent=agent, session=session, problem=problem)


def budget(agent: Agent, session: str, problem: str, step: int | None) -> texts.Budget:
    """Return how many tool calls an investigation may make, has made and has left.

    Without `step` it has made as many as its requests told.
    """
    requests = investigation(agent, session, problem)
    granted = requests.filter(state=State.APPROVED).aggregate(sum=Sum("granted"))["sum"] or 0
    made = requests.aggregate(most=Max("step"))["most"] or 0 if step is None else step
    return texts.budget(scorer_shown(agent).policy.budget_calls + granted, made)


def _remembered(agent: Agent, reason: str, earlier: Sequence[ExtensionRequest]) -> list[dict[str, Any]]:
    """Return what the team remembers of what a reason is after, and what of it is answer enough (2.2).

    Not enough is what is in doubt, what another memory contradicts, and what the agent was given before and asks
    for more nevertheless.
    """
    found = memory.search([agent.team_id], recall.needed(reason), most=TOLD)
    rows = Memory.objects.in_bulk([each.number for each in found])
    clashes = memory.clashes(rows.values())
    given = {each["id"] for request in earlier for each in request.found if each["answers"]}
    return [
        {
            "id": row.public_id,
            "score": each.score,
            "share": each.share,
            "terms": list(each.matched),
            "answers": _is_trusted(row)
            and not clashes[row.pk]
            and row.public_id not in given
            and recall.answers(reason, each),
        }
        for each in found
        for row in (rows[each.number],)
    ]


def _is_trusted(row: Memory) -> bool:
    return row.confirmed_by_id is not None if row.confidence is None else row.confidence >= TRUSTED


def _judged(reason: str, earlier: Sequence[ExtensionRequest], extension: int) -> Judgement:
    """Judge by rule (2.3). Once the chairman has refused, or where the policy grants nothing, rules pass no more."""
    judgement = judge(reason, [each.reason for each in earlier])
    more = []
    if any(each.state == State.REJECTED and each.by in (By.PERSON, By.MODEL) for each in earlier):
        more.append(Objection("refused-before", "the chairman has refused a request of this investigation"))
    if not extension:
        more.append(Objection("no-extension", "the policy grants no steps by rule"))
    if not more:
        return judgement
    return Judgement(False, (*judgement.objections, *more), judgement.entities, judgement.needs)


def _claim(
    request: ExtensionRequest, after: str, by: str, now: datetime, *, person: User | None = None, **said: Any
) -> ExtensionRequest | None:
    """Move a request out of `pending`, and put what others made of it into the outbox; None where one was faster."""
    AgentState.objects.select_for_update().get(pk=request.agent_id)
    waiting = ExtensionRequest.objects.filter(pk=request.pk, state=State.PENDING)
    owed_to = None if by == By.AGENT else ExtensionRequest.UNTOLD
    if not waiting.update(state=after, by=by, person=person, decided_at=now, told_until=owed_to, **said):
        return None
    row = ExtensionRequest.objects.select_related("agent__team", "person").get(pk=request.pk)
    actor = row.agent if by == By.AGENT else person
    _record(f"extension-{after}", row, actor, before=State.PENDING, after=after, by=by, granted=row.granted)
    if row.agent.callback_url and by != By.AGENT:
        owed(row.agent, "extension.decided", texts.shape(row), now).save(force_insert=True)
    return row


def _record(action: str, row: ExtensionRequest, actor: audit.Actor, **data: Any) -> None:
    audit.record(action, row.public_id, actor=actor, team=row.agent.team_id, agent=row.agent, **data)
