"""Recognise tool calls: one that is asked for again while it waits, and one that a person has let pass."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

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
from reviews.models import AwaitedCall, CallGrant, CallOutcome, Decision, HeldCall, HeldItem, ReviewTerms

APPROVED_FOR = timedelta(days=7)  # how long an approval that was not used stays one


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


def _is_done(agent: Agent, sha256: str, call: ToolCall) -> bool:
    """Say whether this very call was reported as done."""
    same = Q(held__call__sha256=sha256) | Q(text_sha256=sha256)
    done = Decision.objects.filter(same, agent=agent, held__call__outcome__status=CallOutcome.Status.DONE)
    return call.call_id is not None and any(
        call.call_id in ids for ids in done.values_list("held__call__call_ids", flat=True)
    )


def _lets_pass(grant: CallGrant, said: Judged) -> bool:
    """Say whether a grant takes a person's place under what the rules say.

    Not where a rule names who must approve, nor where one cannot be checked: it may deny what nobody has seen yet.
    """
    return not is_for_people(said.rule) and (not said.fault or grant.match == CallGrant.Match.CALL)


class Calls:
    """The tool calls of a response: what lets them pass, and which wait, by digest, those of before and those it adds.

    Under the agent's lock.
    """

    def __init__(self, agent: Agent, session: str, now: datetime, *, has_grants: bool = True) -> None:
        self.agent, self.session, self.now, self.has_grants = agent, session, now, has_grants
        self.events: list[AuditEvent] = []
        self._open: dict[str, HeldCall] = {}
        self._new: list[HeldCall] = []
        self._terms: list[ReviewTerms] = []
        self._awaited: list[HeldItem] = []
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
        used = Counter[int]()
        for index, its_keys in keys.items():
            said, call = self._judged[index], calls[index]
            for grant in (each for key in its_keys for each in by_key[key]):
                if grant.held.call.definition != definition_of(call):
                    self._changed.add(index)
                elif (
                    said
                    and _lets_pass(grant, said)
                    and (grant.most_uses is None or grant.uses + used[grant.pk] < grant.most_uses)
                    and not _is_done(self.agent, digests[index], call)
                ):
                    self._granted[index] = grant
                    used[grant.pk] += 1
                    break

    def use(self, told: Iterable[ItemPart]) -> None:
        """Write down which approvals the calls of a verdict have used: with an id for that id, without one for good.

        Of a grant it is counted, and the verdict says which it was; or that the tool changed since it was given.
        """
        for each in told:
            if each["kind"] != TOOL_CALL:
                continue
            index, call_id = each["index"], each["call_id"]
            if each["disposition"] == "hold" and index in self._changed:
                each["definition_changed"] = True
            if not each["recognised"]:
                continue
            if grant := self._granted.get(index):
                CallGrant.objects.filter(pk=grant.pk).update(uses=F("uses") + 1, used_at=self.now)
                each["grant"] = grant.public_id
                continue
            own = HeldCall.objects.filter(held__public_id=each["recognised"], used_at=None)
            call = own.get()
            if call_id is None:
                approvals.take([call.pk], HeldCall.UsedBy.POST, self.now)
            elif not call.claimed_as and len(call.call_ids) > 1:
                own.update(claimed_as=call_id)

    def look_for(self, calls: Iterable[ToolCall]) -> None:
        """Read which of these calls wait already."""
        digests = [digest(self.session, call) for call in calls]
        waiting = HeldCall.objects.select_related("held").filter(
            agent=self.agent, sha256__in=digests, held__closed_at=None
        )
        self._open = {call.sha256: call for call in waiting}

    def again(self, call: ToolCall) -> HeldItem | None:
        """Count a call that waits already and return its item; None for one that is new."""
        row = self._open.get(digest(self.session, call))
        if row is None:
            return None
        row.asks, row.asked_at = row.asks + 1, self.now
        row.call_ids += [call.call_id] if call.call_id not in row.call_ids else []
        if row not in self._new:
            row.save(update_fields=["asks", "asked_at", "call_ids"])
        self.events.append(
            audit.event(
                "tool_call-asked-again",
                row.held.public_id,
                actor=self.agent,
                team=self.agent.team_id,
                agent=self.agent,
                after=row.held.state,
                asks=row.asks,
                call_id=call.call_id,
            )
        )
        return row.held

    def add(self, held: HeldItem, item: heuristics.Item, told: ItemPart) -> None:
        """Have a call begin to wait as this item; `save` writes it down."""
        call = item.call
        assert call
        row = HeldCall(
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
            shape_sha256=grants.shape_key(call, said.reading) if (said := self._judged[told["index"]]) else "",
            effects=told["effects"],
            readable=told["readable"],
            rule=told["rule"],
            fault=told.get("fault", ""),
            is_demanded=item.require_review,
            hesitation=told.get("hesitation"),
            call_ids=[call.call_id],
            asked_at=self.now,
        )
        self._open[row.sha256] = row
        self._new.append(row)
        if (named := of_rule(row.rule)) != ANYBODY:
            self._terms.append(
                ReviewTerms(
                    held=held,
                    people=named.people,
                    role=next(iter(named.roles), ""),
                    group=next(iter(named.groups), ""),
                    changed_at=self.now,
                )
            )

    def wait(self, words: Sequence[tuple[HeldItem, ItemPart, str | None]], calls: Sequence[HeldItem]) -> None:
        """Have words wait for the held calls of their response, each with the text it would have passed as."""
        self._awaited = list({call.public_id: call for call in calls}.values()) if words else []
        for held, told, marked in words:
            told["waits_for"] = [call.public_id for call in self._awaited]
            is_alone = told.get("with_calls", False)
            self._terms.append(
                ReviewTerms(
                    held=held,
                    waits_for=told["waits_for"],
                    with_calls=is_alone,
                    only_waits=is_alone,
                    marked=marked,
                    changed_at=self.now,
                )
            )

    def save(self) -> None:
        """Write down what began to wait, once its items are."""
        rows: list[HeldCall | ReviewTerms] = [*self._new, *self._terms]
        if not rows:
            return
        named = {row.held.public_id for row in rows} | {call.public_id for call in self._awaited}
        found = HeldItem.objects.filter(public_id__in=named).values_list("public_id", "pk", "response")
        keys = {public_id: (pk, response) for public_id, pk, response in found}
        for terms in self._terms:
            terms.team_id = self.agent.team_id
        awaited = [
            AwaitedCall(response_id=response, call_id=keys[call.public_id][0])
            for response in {keys[terms.held.public_id][1] for terms in self._terms if terms.waits_for}
            for call in self._awaited
        ]
        for row in rows:
            row.held_id = keys[row.held.public_id][0]
        HeldCall.objects.bulk_create(self._new)
        ReviewTerms.objects.bulk_create(self._terms)
        AwaitedCall.objects.bulk_create(awaited)
