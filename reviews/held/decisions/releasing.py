"""Let a decision out once it cannot be undone: number it in the agent's feed, for the agent to hear of it."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, ExpressionWrapper, OuterRef, Q
from django.db.models.fields import BooleanField
from django.utils import timezone, translation
from django.utils.translation import gettext

from metacog.audit import audit
from metacog.db import clocks
from metacog.db.prepared import Select, ask_together
from metacog.models import Agent, AgentState, User
from metacog.runtime import tracing
from reviews.held import approvers
from reviews.held.decisions.claiming import Circumstances, State, claim
from reviews.held.decisions.refusals import Standing
from reviews.intake.knowledge import remember_released
from reviews.isolation import by_itself
from reviews.models import Decision, DecisionVerdict, HeldItem, Signal
from reviews.records import events, traces
from reviews.scoring.history import take_back_rejected
from reviews.serializers import decision_shape, owed

BATCH = 200  # rows of one agent that a sweep settles in one transaction

# Of one agent, by time: whether anything is due.
_to_release = Select(
    lambda agent, now: (
        Decision.objects.filter(agent=agent, released_at=None, undone_at=None, release_at__lte=now)
        .order_by()
        .values_list("pk")[:1]
    ),
    parameters=2,
)
_to_expire = Select(
    lambda agent, now: (
        HeldItem.objects.filter(agent=agent, state=State.PENDING, expires_at__lte=now).order_by().values_list("pk")[:1]
    ),
    parameters=2,
)

# Calls first: words that expire with the call they wait for are rejected, and told why.
_WORDS_LAST = ExpressionWrapper(~Q(kind=HeldItem.Kind.TOOL_CALL), output_field=BooleanField())


def settle(agent: Agent | None = None) -> int:
    """Release what can no longer be undone and expire what nobody decided in time; return how many.

    Called by the sweep for all agents, and for one agent before anything of its is read or decided,
    so that what an agent sees never depends on a sweep being on time.
    """
    now = timezone.now()
    if agent is not None:
        with connection.cursor() as cursor:
            due = ask_together(cursor, [(_to_release, (agent.pk, now)), (_to_expire, (agent.pk, now))])
        return _settle_one(agent.pk, now) if any(due) else 0
    resting = Decision.objects.filter(released_at=None, undone_at=None)
    longest = timedelta(seconds=settings.UNDO_SECONDS) + clocks.LEEWAY
    clocks.bring_forward(resting.filter(release_at__gt=now + longest), "release_at", now)
    decisions = resting.filter(release_at__lte=now)
    items = HeldItem.objects.filter(state=State.PENDING, expires_at__lte=now)
    agents = sorted({*decisions.values_list("agent", flat=True), *items.values_list("agent", flat=True)})
    settled = 0
    for agent_id in agents:
        with by_itself("Nothing settled for the agent with the key %s", agent_id):
            settled += _settle_one(agent_id, now)
    return settled


def _settle_one(agent_id: int, now: datetime) -> int:
    began = tracing.now()
    with transaction.atomic(durable=True):
        state = AgentState.objects.select_for_update().get(pk=agent_id)
        due = list(
            Decision.objects.filter(agent=agent_id, released_at=None, undone_at=None, release_at__lte=now)
            .select_related("held__call__outcome", "held__question", "held__agent__team", "agent", "person")
            .order_by("release_at", "id")[:BATCH]
        )
        for decision in due:
            release(decision, state, now)
        late = list(
            HeldItem.objects.filter(agent=agent_id, state=State.PENDING, expires_at__lte=now)
            .select_related("agent__team", "call", "terms")
            .order_by("expires_at", _WORDS_LAST, "id")[:BATCH]
        )
        expired = []
        for held in late:
            with suppress(Standing):  # words that waited for a call of before
                expired.append(claim(held, None, DecisionVerdict.EXPIRE, None, "", now))
                release(expired[-1], state, now)
    for decision in expired:
        traces.tell_decided(decision, began)
    return len(due) + len(late)


def release(decision: Decision, state: AgentState, now: datetime) -> None:
    """Number the decision in the agent's feed and put it into the outbox, under the lock on `state`."""
    state.decision_seq += 1
    is_of_words = decision.held.kind not in HeldItem.NO_WORDS
    if decision.verdict in (DecisionVerdict.REJECT, DecisionVerdict.EDIT) and is_of_words:
        take_back_rejected(state, decision)
    state.save(update_fields=["decision_seq", "topics"])
    decision.seq, decision.released_at = state.decision_seq, now
    decision.save(update_fields=["seq", "released_at"])
    held = decision.held
    HeldItem.objects.filter(pk=held.pk).update(closed_at=now)
    held.closed_at = now
    others = HeldItem.objects.filter(response=OuterRef("response"), closed_at=None)
    Signal.objects.filter(~Exists(others), response=held.response_id).update(is_open=False)
    kind = "item.expired" if decision.verdict == DecisionVerdict.EXPIRE else "item.decided"
    told = decision_shape(decision, names=held.agent.team.names_people)
    events.tell(held.team_id, kind, lambda: told, now, agent=held.agent, held=held)
    if held.agent.callback_url:
        owed(held.agent, kind, told, now, held).save(force_insert=True)
    audit.record(
        "decision-released",
        decision.public_id,
        actor=None,
        team=held.team_id,
        agent=held.agent,
        after="released",
        held=held.public_id,
        seq=decision.seq,
    )
    remember_released(decision)
    if held.kind == HeldItem.Kind.TOOL_CALL:
        _settle_words(decision, state, now)


def _settle_words(decision: Decision, state: AgentState, now: datetime) -> None:
    """Let out the words that waited for a call that is approved and for nothing else now; reject them if it is not."""
    is_let = decision.verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT)
    approved: dict[int, bool] = {}  # by response
    for held in approvers.words_waiting_for(decision.held):
        if not is_let:
            settled = claim(held, None, DecisionVerdict.REJECT, None, approvers.why_rejected(decision), now)
        elif not held.terms.only_waits:
            continue
        elif approved.setdefault(held.response_id, approvers.are_approved(held.response_id)):
            settled = _let_out(held, now)
        else:
            continue
        if settled.release_at <= now:
            release(settled, state, now)


def _let_out(held: HeldItem, now: datetime) -> Decision:
    """Decide words for which nothing is missing any more: as a person approved them, else as they would have passed."""
    given = next(iter(approvers.standing(held)), None)
    if given is None:
        return claim(held, None, DecisionVerdict.APPROVE, held.terms.marked, approvers.why_approved(held), now)
    how = Circumstances(shown_ms=given.shown_ms, together=given.together, undo_from=given.given_at)
    edit = given.text if given.is_edit else None
    return claim(held, given.person, DecisionVerdict(given.verdict), edit, given.reason, now, how)


def decide_by_itself(
    held: HeldItem, state: AgentState, verdict: DecisionVerdict, reason: str, circumstances: Circumstances
) -> Decision:
    """Have metacog decide a pending item, and release that at once, under the lock on `state`.

    Raises Standing where it is not as it was read.
    """
    now = timezone.now()
    decision = claim(held, None, verdict, None, reason, now, circumstances)
    release(decision, state, now)
    return decision


def withdraw_all(agent: Agent, person: User | None, reason: str) -> int:
    """Withdraw what is pending of an agent that is disabled; return how many items that were. They stay withdrawn.

    metacog decides, as nobody has looked at them; the audit log has who wanted it.
    """
    withdrawn = 0
    while batch := _withdraw_some(agent, reason, Circumstances(ordered_by=person)):
        withdrawn += batch
    return withdrawn


def _withdraw_some(agent: Agent, reason: str, circumstances: Circumstances) -> int:
    with transaction.atomic(durable=True):
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        waiting = HeldItem.objects.filter(agent=agent, state=State.PENDING).select_related(
            "agent__team", "call", "terms"
        )
        rows = list(waiting.order_by("id")[:BATCH])
        for held in rows:
            with suppress(Standing):  # words that waited for a call of before
                decide_by_itself(held, state, DecisionVerdict.WITHDRAW, reason, circumstances)
    return len(rows)


def withdraw_with_agent(sender: object, agent: Agent, person: User | None, because: str, **_signal: Any) -> int:
    """Withdraw what is pending of an agent, in its language. Receives `agents.withdrawing`."""
    is_disabled = Agent.objects.filter(pk=agent.pk, enabled=False).exists()
    with translation.override(agent.language):
        told = (
            gettext("The agent was disabled: %(because)s")
            if is_disabled
            else gettext("The agent was paused: %(because)s")
        )
        return withdraw_all(agent, person, told % {"because": because})
