"""Recognise tool calls: one that is asked for again while it waits, and one that a person has let pass."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import F, Q

from metacog import heuristics
from metacog.audit import audit
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import TOOL_CALL, ToolCall
from metacog.heuristics.tool_calls import grants
from metacog.heuristics.tool_calls.approvers import ANYBODY, of_rule
from metacog.heuristics.tool_calls.definition import definition_of
from metacog.heuristics.tool_calls.rules import Judged, is_for_people
from metacog.heuristics.wire.assessment import ItemPart
from metacog.models import Agent, AuditEvent
from reviews.intake import approvals
from reviews.intake.questions import Questions
from reviews.models import (
    AwaitedCall,
    CallGrant,
    CallOutcome,
    Decision,
    HeldCall,
    HeldItem,
    HeldQuestion,
    ReviewTerms,
)

if TYPE_CHECKING:
    from reviews.intake.assess import Hold

APPROVED_FOR = timedelta(days=7)  # how long an approval that was not used stays one

Wait = HeldCall | HeldQuestion | ReviewTerms  # of a new held item


def digest(session: str, call: ToolCall) -> str:
    """Give what a call is recognised by: its session, name and canonical arguments, as their SHA-256."""
    return hashlib.sha256(canonical([session, call.name, call.arguments]).encode()).hexdigest()


class _Approval(NamedTuple):
    """An approval that was not used up."""

    sha256: str
    public_id: str  # of the held item
    call_ids: Sequence[str | None]
    claimed_as: str

    def answers(self, call_id: str | None) -> bool:
        """Say whether this is the approval of the call with this id: of several the first that was posted again."""
        return call_id in self.call_ids and self.claimed_as in ("", call_id)


def _unused(agent: Agent, digests: Iterable[str], now: datetime) -> list[_Approval]:
    """Return the approvals of these calls that were not used up, the oldest first."""
    released = Decision.objects.filter(
        agent=agent, text_sha256__in=digests, released_at__gte=now - APPROVED_FOR, held__kind=TOOL_CALL
    ).order_by("seq")
    decided = dict(released.filter(held__call__used_at=None).values_list("held", "text_sha256"))
    if not decided:
        return []
    calls = HeldCall.objects.select_for_update().filter(pk__in=decided, used_at=None).order_by("pk")
    rows = {pk: rest for pk, *rest in calls.values_list("pk", "held__public_id", "call_ids", "claimed_as")}
    return [_Approval(decided[pk], *rows[pk]) for pk in decided if pk in rows]


def done(agent: Agent, digests: Collection[str]) -> set[tuple[str, str | None]]:
    """Return which of these calls were reported as done: by digest and id, as asked for or as released."""
    same = Q(held__call__sha256__in=digests) | Q(text_sha256__in=digests)
    rows = Decision.objects.filter(same, agent=agent, held__call__outcome__status=CallOutcome.Status.DONE)
    told = rows.values_list("held__call__sha256", "text_sha256", "held__call__call_ids")
    return {(sha256, each) for *both, ids in told for sha256 in both for each in ids if each is not None}


def lets_pass(match: str, said: Judged) -> bool:
    """Say whether a grant takes a person's place under what the rules say.

    Not where a rule names who must approve, nor where one cannot be checked: it may deny what nobody has seen yet.
    """
    return not is_for_people(said.rule) and (not said.fault or match == CallGrant.Match.CALL)


def _open(agent: Agent, digests: Collection[str]) -> tuple[set[str], set[tuple[str, str | None]]]:
    """Return which of these calls wait: undecided ones by digest; by digest and id whose decision can be undone."""
    pending, resting = set[str](), set[tuple[str, str | None]]()
    rows = HeldCall.objects.filter(agent=agent, sha256__in=digests, held__closed_at=None)
    for sha256, ids, state in rows.values_list("sha256", "call_ids", "held__state"):
        if state == HeldItem.State.PENDING:
            pending.add(sha256)
        else:
            resting.update((sha256, each) for each in ids)
    return pending, resting


class Calls:
    """The tool calls of a response: what lets them pass, and which wait already. Under the agent's lock.

    With them its questions.
    """

    def __init__(self, agent: Agent, session: str, now: datetime, *, has_grants: bool = True) -> None:
        self.agent, self.session, self.now, self.has_grants = agent, session, now, has_grants
        self.questions = Questions(agent, session, now)
        self._waiting: dict[str, HeldCall] = {}  # by the public id of their items
        self._judged: Sequence[Judged | None] = ()
        self._granted: dict[int, CallGrant] = {}
        self._changed: set[int] = set()  # indexes of calls whose tool is not the one of the grant

    def approved(self, items: Sequence[heuristics.Item], judged: Sequence[Judged | None]) -> dict[int, str]:
        """Return by index the held item whose approval a call may use, each approval for one call.

        Bound to agent, session, call id, name and arguments. An approval of the call itself comes first, then a grant,
        unless the call is reported as done. What may be used up here is locked: until this is written nobody hears that
        it may be made.
        """
        self._judged, self._granted, self._changed = judged, {}, set()
        calls = {index: item.call for index, item in enumerate(items) if item.call}
        if not calls:
            return {}
        digests = {index: digest(self.session, call) for index, call in calls.items()}
        unused = _unused(self.agent, digests.values(), self.now)
        found: dict[int, str] = {}
        for index, call in calls.items():
            for approval in unused:
                if approval.sha256 == digests[index] and approval.answers(call.call_id):
                    found[index] = approval.public_id
                    unused.remove(approval)
                    break
        rest = {index: call for index, call in calls.items() if index not in found and not items[index].require_review}
        if self.has_grants:
            self._find_grants(rest, digests)
        return found | {index: grant.held.public_id for index, grant in self._granted.items()}

    def _find_grants(self, calls: Mapping[int, ToolCall], digests: Mapping[int, str]) -> None:
        keys = {
            index: grants.keys(self.session, call, said.reading)
            for index, call in calls.items()
            if (said := self._judged[index])
        }
        rows = CallGrant.objects.in_force(self.now).filter(
            agent=self.agent, sha256__in={key for each in keys.values() for key in each}
        )
        by_key: dict[str, list[CallGrant]] = defaultdict(list)
        for row in rows.select_related("held__call").order_by("pk"):
            by_key[row.sha256].append(row)
        if not by_key:
            return
        used, every = Counter[int](), set(digests.values())
        pending, resting = _open(self.agent, every)
        settled = done(self.agent, every) | resting
        for index, its_keys in keys.items():
            said, call = self._judged[index], calls[index]
            for grant in (each for key in its_keys for each in by_key[key]):
                if grant.held.call.definition != definition_of(call):
                    self._changed.add(index)
                elif (
                    said
                    and lets_pass(grant.match, said)
                    and (grant.most_uses is None or grant.uses + used[grant.pk] < grant.most_uses)
                    and digests[index] not in pending
                    and (digests[index], call.call_id) not in settled
                ):
                    self._granted[index] = grant
                    used[grant.pk] += 1
                    break

    def used(self, told: ItemPart) -> dict[str, Any]:
        """Say of a call which grant lets it pass, or that its tool changed since one was given."""
        if told["kind"] != TOOL_CALL:
            return {}
        if told["disposition"] == "hold":
            return {"definition_changed": True} if told["index"] in self._changed else {}
        grant = self._granted.get(told["index"])
        return {"grant": grant.public_id} if grant and told["recognised"] else {}

    def waiting(self, digests: Collection[str]) -> dict[str, str]:
        """Return the held items of these calls that wait already, by digest."""
        rows = HeldCall.objects.select_related("held").filter(
            agent=self.agent, sha256__in=digests, held__closed_at=None
        )
        self._waiting = {row.held.public_id: row for row in rows}
        return {row.sha256: row.held.public_id for row in self._waiting.values()}

    def use_up(self, told: Iterable[ItemPart]) -> None:
        """Write down which approvals the calls of an assessment use: with an id for that id, without one for good.

        Of a grant it is counted.
        """
        for each in told:
            if each["kind"] != TOOL_CALL or not each["recognised"]:
                continue
            if grant := self._granted.get(each["index"]):
                CallGrant.objects.filter(pk=grant.pk).update(uses=F("uses") + 1, used_at=self.now)
                continue
            own = HeldCall.objects.filter(held__public_id=each["recognised"], used_at=None)
            call, call_id = own.get(), each["call_id"]
            if call_id is None:
                approvals.take([call.pk], HeldCall.UsedBy.POST, self.now)
            elif not call.claimed_as and len(call.call_ids) > 1:
                own.update(claimed_as=call_id)

    def wait(self, rows: Mapping[str, HeldItem], holds: Iterable[Hold]) -> tuple[list[Wait], list[AuditEvent]]:
        """Return what is to be written of what is held, behind the new `rows`, by public id; and what to record.

        A call or question that waits already is counted at once.
        """
        calls: dict[str, HeldCall] = {**self._waiting}
        waits, events = list[Wait](), list[AuditEvent]()
        for hold in holds:
            call = hold.item.call
            if call and not hold.is_new:
                events.append(self._again(calls[hold.public_id], call))
            elif call:
                row = calls[hold.public_id] = self._row(rows[hold.public_id], hold)
                waits.append(row)
                if (named := of_rule(row.rule)) != ANYBODY:
                    role, group = next(iter(named.roles), ""), next(iter(named.groups), "")
                    waits.append(self._terms(row.held, people=named.people, role=role, group=group))
            elif hold.item.question and not hold.is_new:
                events.append(self.questions.again(hold.public_id))
            elif hold.item.question:
                waits.append(self.questions.new(rows[hold.public_id], hold.item))
            elif hold.waits_for:
                is_alone, ids = hold.told.get("with_calls", False), list(hold.waits_for)
                told = {"with_calls": is_alone, "only_waits": is_alone, "marked": hold.marked}
                waits.append(self._terms(rows[hold.public_id], waits_for=ids, **told))
        return waits, events

    def _again(self, row: HeldCall, call: ToolCall) -> AuditEvent:
        """Count a call that waits already."""
        row.asks, row.asked_at = row.asks + 1, self.now
        row.call_ids += [call.call_id] if call.call_id not in row.call_ids else []
        if row.held.public_id in self._waiting:
            row.save(update_fields=["asks", "asked_at", "call_ids"])
        return audit.event(
            "tool_call-asked-again",
            row.held.public_id,
            actor=self.agent,
            team=self.agent.team_id,
            agent=self.agent,
            after=row.held.state,
            asks=row.asks,
            call_id=call.call_id,
        )

    def _terms(self, held: HeldItem, **terms: Any) -> ReviewTerms:
        return ReviewTerms(held=held, team_id=self.agent.team_id, changed_at=self.now, **terms)

    def _row(self, held: HeldItem, hold: Hold) -> HeldCall:
        call, told, said = hold.item.call, hold.told, self._judged[hold.told["index"]]
        assert call
        return HeldCall(
            held=held,
            agent=self.agent,
            sha256=digest(self.session, call),
            name=call.name,
            arguments=call.arguments,
            schema=call.schema,
            schema_omitted=call.schema_omitted,
            description=call.description or "",
            hints=call.hints,
            definition=definition_of(call),
            shape_sha256=grants.shape_key(call, said.reading) if said else "",
            effects=told["effects"],
            readable=told["readable"],
            rule=told["rule"],
            fault=told.get("fault", ""),
            is_demanded=hold.item.require_review,
            hesitation=told.get("hesitation"),
            call_ids=[call.call_id],
            asked_at=self.now,
        )


def save(waits: Sequence[Wait]) -> None:
    """Write down what began to wait, once its items are."""
    if not waits:
        return
    awaited = dict.fromkeys(each for row in waits if isinstance(row, ReviewTerms) for each in row.waits_for)
    named = {row.held.public_id for row in waits} | awaited.keys()
    found = HeldItem.objects.filter(public_id__in=named).values_list("public_id", "pk", "response")
    keys = {public_id: (pk, response) for public_id, pk, response in found}
    for row in waits:
        row.held_id = keys[row.held.public_id][0]
    terms = [row for row in waits if isinstance(row, ReviewTerms)]
    HeldCall.objects.bulk_create(row for row in waits if isinstance(row, HeldCall))
    HeldQuestion.objects.bulk_create(row for row in waits if isinstance(row, HeldQuestion))
    ReviewTerms.objects.bulk_create(terms)
    AwaitedCall.objects.bulk_create(
        AwaitedCall(response_id=response, call_id=keys[call][0])
        for response in {keys[row.held.public_id][1] for row in terms if row.waits_for}
        for call in awaited
    )
