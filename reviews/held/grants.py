"""Grants: what a person lets pass with an approval for a while, how often that was asked, and how it ends.

A grant is given with a decision, under the lock of the agent's state, and is in force for the next post.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from metacog.audit import audit
from metacog.db.prepared import written_once
from metacog.heuristics.effects.effect import Reading
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.grants import Match, Scope, key, shape_key, unfit
from metacog.heuristics.tool_calls.rules import Judged, is_for_people
from metacog.models import AgentState, Team, User
from patterns.patterns.scorer import scorer_for
from reviews.intake.recognition import sha256
from reviews.models import CallGrant, Decision, HeldCall, HeldItem
from reviews.models.tool_calls import CallGrants

LONGEST = timedelta(days=30)
MOST_USES = 10_000
COUNTED_DAYS = 30
MOST_COUNTED = 1_000  # calls of a tool, the newest, that are looked at
RESTORABLE_FOR = timedelta(hours=24)  # one that was withdrawn
LEAST_TONIGHT = timedelta(hours=1)
FOR_PEOPLE = "a rule says who must approve this call, and no grant takes their place"


class NotGranted(Exception):
    """Calls cannot be granted as somebody wants it, and nothing was written: a pointer into what is wanted, and why."""

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(detail)
        self.pointer, self.detail = pointer, detail


@dataclass(frozen=True)
class Wanted:
    """What a person wants to let pass: until a time, or for some seconds from when the agent hears of it."""

    scope: Scope = "session"
    match: Match = "call"
    until: datetime | None = None
    uses: int | None = None
    seconds: int = 0


class Asked(NamedTuple):
    """A call as it is released, and what the agent's policy says of it now."""

    call: ToolCall
    judged: Judged

    @property
    def reading(self) -> Reading:
        return self.judged.reading


def asked(held: HeldItem, arguments: object) -> Asked:
    """Read the call of an item (with its agent) with these arguments, and ask the rules about it."""
    call = call_of(held, arguments)
    return Asked(call, scorer_for(held.agent).judge(call))


def call_of(held: HeldItem, arguments: object) -> ToolCall:
    """Return the call of an item with these arguments, as rules are asked about it."""
    row = held.call
    return ToolCall(row.name, arguments, None, row.schema, row.description or None, row.schema_omitted, row.hints)


def tonight(now: datetime, zone: tzinfo) -> datetime:
    """Return the end of the day there; of tomorrow where that is near."""
    day = (now + LEAST_TONIGHT).astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(day, time(), zone)


def give(wanted: Wanted, decision: Decision, held: HeldItem, found: Asked) -> CallGrant:
    """Write down a grant with the decision that it rests on; raise NotGranted where calls cannot be granted so."""
    at = decision.release_at
    until = wanted.until or at + timedelta(seconds=wanted.seconds)
    if until <= at:
        raise NotGranted("/until", "is over before the agent hears of the approval")
    if until > at + LONGEST:
        raise NotGranted("/until", f"is more than {LONGEST.days} days ahead")
    if why := why_none(found):
        raise NotGranted("", why)
    if no := unfit(wanted.match, found.call, found.reading):
        raise NotGranted("/match", no.detail)
    assert decision.person
    grant = CallGrant.objects.create(
        agent=held.agent,
        held=held,
        person=decision.person,
        sha256=key(wanted.match, wanted.scope, held.response.session, found.call, found.reading),
        scope=wanted.scope,
        match=wanted.match,
        shape=found.reading.shape if wanted.match == "shape" else None,
        until=until,
        most_uses=wanted.uses,
        granted_at=decision.decided_at,
    )
    _record("grant-given", grant, held, grant.person, after="in-force", scope=grant.scope, match=grant.match)
    return grant


def use(grant: CallGrant, held: HeldItem, now: datetime) -> None:
    """Count a use for a held call that is released by a grant; raise NotGranted where it is over or used up."""
    used = CallGrant.objects.in_force(now).filter(pk=grant.pk).update(uses=F("uses") + 1, used_at=now)
    if not used:
        raise NotGranted("", "the grant is over or used up")
    _record("grant-used", grant, held, grant.person)


def why_none(found: Asked) -> str:
    """Say in English why no grant can let this call pass; "" where one can."""
    rule = found.judged.rule
    if found.judged.do == "deny":
        return "a rule of the policy denies this call, and no grant lets it pass"
    return FOR_PEOPLE if is_for_people(rule) else ""


def fall(held: HeldItem, person: User, now: datetime) -> bool:
    """End the grant of an approval that is undone, which nobody can restore; say whether it had one."""
    given = CallGrant.objects.filter(Q(withdrawn_at=None) | Q(granted_at__isnull=False), held=held)
    for grant in given:
        grant.granted_at = None
        if grant.withdrawn_at is None:
            _end(grant, held, person, now)
        else:
            grant.save(update_fields=["granted_at"])
    return bool(given)


def withdraw(grant: CallGrant, person: User, via: str = "") -> bool:
    """End a grant; False when it was over already."""
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=grant.agent_id)
        now = timezone.now()
        found = CallGrant.objects.unended(now).filter(pk=grant.pk).first()
        if found:
            _end(found, grant.held, person, now, via)
    return found is not None


def of_teams(teams: Sequence[Team], state: str, agent: str, now: datetime) -> CallGrants:
    """Return what is told of teams' grants, the latest first: `active` (not ended), `ended` or all, of one agent."""
    rows = CallGrant.objects.with_details().filter(held__team__in=teams).order_by("-pk")
    rows = rows.unended(now) if state == "active" else rows.ended(now) if state == "ended" else rows
    return rows.filter(agent__public_id=agent) if agent else rows


def is_restorable(grant: CallGrant, person: User, now: datetime) -> bool:
    """Say whether somebody withdrew a grant a while ago and may take that back: nobody else may."""
    if grant.withdrawn_by_id != person.pk or grant.granted_at is None or grant.withdrawn_at is None:
        return False
    return now - RESTORABLE_FOR < grant.withdrawn_at and now < grant.until


def restore(grant: CallGrant, person: User) -> bool:
    """Let a grant pass calls again that `person` withdrew a while ago; False when it is too late or was restored."""
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=grant.agent_id)
        found = CallGrant.objects.get(pk=grant.pk)
        if not is_restorable(found, person, timezone.now()):
            return False
        found.withdrawn_at = found.withdrawn_by = None
        found.save(update_fields=["withdrawn_at", "withdrawn_by"])
        _record("grant-restored", found, grant.held, person, before="withdrawn", after="in-force")
    return True


def _end(grant: CallGrant, held: HeldItem, person: User, now: datetime, via: str = "") -> None:
    grant.withdrawn_at, grant.withdrawn_by = now, person
    grant.save(update_fields=["withdrawn_at", "withdrawn_by", "granted_at"])
    told = {"via": via} if via else {}
    _record("grant-withdrawn", grant, held, person, before="in-force", after="withdrawn", uses=grant.uses, **told)


def _record(done: str, grant: CallGrant, held: HeldItem, person: User, **data: object) -> None:
    audit.record(
        audit.of_item(HeldItem.Kind.TOOL_CALL, done),
        held.public_id,
        actor=person,
        team=held.team_id,
        agent=held.agent,
        grant=grant.public_id,
        **data,
    )


class Counts(NamedTuple):
    """How many calls of the last 30 days a grant would be about, by match and scope."""

    by: Mapping[tuple[Match, Scope], int]
    is_bounded: bool  # there are more calls of the tool than were looked at

    def of(self, match: Match, scope: Scope) -> int:
        return self.by.get((match, scope), 0)


def count(held: HeldItem, found: Asked, now: datetime) -> Counts:
    """Count among the tool's calls that people were asked about; one query."""
    rows = _called(held.agent_id, held.call.name, now - timedelta(days=COUNTED_DAYS))
    shape, text = shape_key(found.call, found.reading), sha256(found.call.text)
    looked_at, own = rows[:MOST_COUNTED], held.response.session
    same: dict[Match, list[str]] = {  # the sessions of those that are the same
        "call": [session for their_text, _shape, session in looked_at if their_text == text],
        "shape": [session for _text, their_shape, session in looked_at if their_shape == shape] if shape else [],
        "tool": [session for _text, _shape, session in looked_at],
    }
    by: dict[tuple[Match, Scope], int] = {(match, "agent"): len(sessions) for match, sessions in same.items()}
    by |= {(match, "session"): sessions.count(own) for match, sessions in same.items()}
    return Counts(by, len(rows) > MOST_COUNTED)


@written_once
def _called(agent: Any, name: Any, since: Any) -> QuerySet[HeldCall, tuple[str, str, str]]:
    calls = HeldCall.objects.filter(agent=agent, name=name, held__held_at__gte=since).order_by("-held")
    return calls.values_list("held__sha256", "shape_sha256", "held__response__session")[: MOST_COUNTED + 1]
