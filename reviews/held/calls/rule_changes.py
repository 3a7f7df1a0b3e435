"""What a change of a policy, or of a team's rules, means for the tool calls that wait.

Those that the rules allow or deny by now are listed with the change, and released or rejected with it where its author
says so: as they were listed, by metacog. Who else must be asked is asked: nothing passes here that was held for
another reason than a rule's or the default's, or that others must approve; such a call may still be rejected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, Self

from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext

from metacog import heuristics
from metacog.accounts import agents
from metacog.heuristics.text.tags import Item
from metacog.heuristics.tool_calls.approvers import ANYBODY
from metacog.heuristics.tool_calls.gate import gate
from metacog.heuristics.wire.assessment import EffectPart
from metacog.models import Agent, AgentState, Policy, User
from metacog.runtime import tracing
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import scorer_for
from reviews.held import approvers, decisions, grants
from reviews.held.decisions import Change, Circumstances, Standing, State
from reviews.models import Decision, DecisionVerdict, HeldItem
from reviews.records import traces

MOST = 200  # calls that are read again, those that have waited longest: what one transaction decides
_AFTER = {"pass": DecisionVerdict.APPROVE, "reject": DecisionVerdict.REJECT}  # by what the gate says of a call


class Settled(NamedTuple):
    """A waiting call that the rules allow or deny."""

    held: HeldItem
    verdict: DecisionVerdict
    rule: Mapping[str, Any] | None  # that decides; None: the default does
    effects: Sequence[EffectPart]  # what it would do, as these rules' policy reads it


class Waiting(NamedTuple):
    """What rules make of the calls that wait."""

    calls: Sequence[Settled] = ()  # that they allow or deny, those that have waited longest first
    is_bounded: bool = False  # more wait than were read

    @classmethod
    def of(cls, scorers: Mapping[int, heuristics.Scorer], owned: Iterable[Agent]) -> Self:
        """Read the calls again that wait for these agents (each with its team), by the scorer of each. One query."""
        by_key, now = {agent.pk: agent for agent in owned}, timezone.now()
        rows = list(_pending(by_key, now)[: MOST + 1])
        calls = (_settled(held, by_key[held.agent_id], scorers[held.agent_id], now) for held in rows[:MOST])
        return cls([each for each in calls if each], len(rows) > MOST)

    @property
    def passing(self) -> list[Settled]:
        return [each for each in self.calls if each.verdict == DecisionVerdict.APPROVE]

    @property
    def denied(self) -> list[Settled]:
        return [each for each in self.calls if each.verdict == DecisionVerdict.REJECT]

    @property
    def listed(self) -> Listed:
        return Listed((each.held.public_id, each.held.version, each.verdict) for each in self.calls)


class Listed(frozenset[tuple[str, int, str]]):
    """Calls as somebody was shown them: the item's id, its version, and what becomes of it."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Take it from what `text` gives; what is none of it is left out."""
        found = (part.split(".") for part in text.split())
        return cls((each[0], int(each[1]), each[2]) for each in found if len(each) == 3 and each[1].isdecimal())

    @property
    def text(self) -> str:
        return " ".join(sorted(f"{held}.{version}.{verdict}" for held, version, verdict in self))


class Count(NamedTuple):
    """How many calls were decided with a change."""

    released: int = 0
    rejected: int = 0

    def plus(self, other: Count) -> Count:
        return Count(self.released + other.released, self.rejected + other.rejected)


NONE = Count()


def change_policy(
    agent: Agent, person: User | None, draft: Policy, listed: Listed, *, based_on: int, **told: str
) -> tuple[Policy, Count]:
    """Put a draft in force as `agents.add_policy` does, and with it decide the calls that are `listed`."""
    if not listed:
        return agents.add_policy(agent, person, draft, based_on=based_on, **told), NONE
    decisions.settle(agent)
    began = tracing.now()
    with transaction.atomic(durable=True):
        # The agent's state before the agent itself: posts take them so.
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        saved = agents.add_policy(agent, person, draft, based_on=based_on, **told)
        how = Circumstances(change=Change(person, policy_version=saved.version))
        found = list(_decide(state, listed, how))
    return saved, _told(found, began)


def settle(owned: Iterable[Agent], listed: Listed, how: Circumstances) -> Count:
    """Decide the calls of agents that are `listed`, by a change that is in force; not once another one is."""
    count = NONE
    for agent in owned:
        decisions.settle(agent)
        began = tracing.now()
        with transaction.atomic(durable=True):
            found = list(_decide(AgentState.objects.select_for_update().get(pk=agent.pk), listed, how))
        count = count.plus(_told(found, began))
    return count


def _decide(state: AgentState, listed: Listed, how: Circumstances) -> Iterator[Decision]:
    now, change = timezone.now(), how.change
    agent = Agent.objects.select_related("team").get(pk=state.agent_id)
    in_force = agent.team.rules_version if change.policy_version is None else agent.policy_version
    if in_force != (change.rules_version or change.policy_version):
        return
    with suppress(UnreadablePolicy):  # nobody can say what may pass
        scorer = scorer_for(agent)
        named = {public_id for public_id, _version, _verdict in listed}
        for held in _pending([agent.pk], now).filter(public_id__in=named).select_related("response", "call__outcome"):
            each = _settled(held, agent, scorer, now)
            if each and (held.public_id, held.version, each.verdict) in listed:
                with suppress(Standing):
                    yield decisions.decide_by_itself(held, state, each.verdict, _why(each, change), how)


def _pending(agents: Collection[int], now: datetime) -> Any:
    rows = HeldItem.objects.filter(
        agent__in=agents, state=State.PENDING, kind=HeldItem.Kind.TOOL_CALL, expires_at__gt=now
    )
    return rows.select_related("agent__team", "call", "terms").order_by("id")


def _settled(held: HeldItem, agent: Agent, scorer: heuristics.Scorer, now: datetime) -> Settled | None:
    """Say what the rules make of a waiting call, as if it were posted now; None where it goes on waiting."""
    call = grants.call_of(held, held.call.arguments)
    item = Item(held.kind, call.text, require_review=held.call.is_demanded, call=call)
    judged = scorer.judge(call, scorer.rules.read_again(call))
    scored = scorer.score_call(item, held.index) if judged.do == "score" and agent.hesitation_enabled else None
    part = gate(item, judged, scored, None)
    verdict = _AFTER.get(part["disposition"])
    if verdict is None or (verdict == DecisionVerdict.APPROVE and _waits_for_more(held, agent, now)):
        return None
    return Settled(held, verdict, judged.rule, part["effects"])


def _waits_for_more(held: HeldItem, agent: Agent, now: datetime) -> bool:
    """Say whether a call waits for what no rule gives: certain approvers, or a look that a budget or a pause wants."""
    is_kept = not agent.enabled or agent.is_paused(now)
    return is_kept or held.by_budget or approvers.of_item(held) != ANYBODY


def _why(each: Settled, change: Change) -> str:
    """Say to the agent, in its language, which version decided, and why."""
    with translation.override(each.held.agent.language):
        allows = each.verdict == DecisionVerdict.APPROVE
        if change.policy_version is not None:
            told = (
                gettext("Policy %(version)d of this agent allows this call.")
                if allows
                else gettext("Policy %(version)d of this agent denies this call.")
            ) % {"version": change.policy_version}
        else:
            told = (
                gettext("Version %(version)d of the team's rules allows this call.")
                if allows
                else gettext("Version %(version)d of the team's rules denies this call.")
            ) % {"version": change.rules_version}
        reason = (each.rule or {}).get("reason")
        return gettext("%(said)s Reason: %(reason)s") % {"said": told, "reason": reason} if reason else told


def _told(found: Sequence[Decision], began: int) -> Count:
    for decision in found:
        traces.tell_decided(decision, began)
    released = sum(each.verdict == DecisionVerdict.APPROVE for each in found)
    return Count(released, len(found) - released)
