"""What a held item needs beside one person's decision: certain approvers, or that tool calls are approved.

Who must approve is as many people as its rule says, with a role or of a group. An approval that does not decide yet is
a row of its own, of what it names and of nothing else. Words that wait for the tool calls of their response go out when
all of these are approved, and else never. What is written here is so under the lock of the agent's state, in the
caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, prefetch_related_objects
from django.utils import translation
from django.utils.translation import gettext

from metacog.audit import audit
from metacog.db.prepared import written_once
from metacog.heuristics.tool_calls.approvers import ANYBODY, Approvers, of_rule
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import MemberGroup, Membership, Role, User
from reviews.models import Approval, AwaitedCall, Decision, DecisionVerdict, HeldItem, ReviewTerms

Ended, State = Approval.Ended, HeldItem.State
LET = (State.APPROVED, State.EDITED)


def terms_of(held: HeldItem) -> ReviewTerms | None:
    """Return what an item needs beside one person's decision; read once, where it was not read with the item."""
    return getattr(held, "terms", None)


def of_item(held: HeldItem) -> Approvers:
    """Return who must approve an item as it was asked."""
    terms = terms_of(held)
    return of_rule(held.call.rule) if terms and held.kind == HeldItem.Kind.TOOL_CALL else ANYBODY


def may_approve(person: User, team_id: int, approvers: Approvers) -> bool:
    """Say whether a person's approval counts. Whether they may decide at all is the caller's to ask."""
    if not all(person.has_role(team_id, Role(role)) for role in approvers.roles):
        return False
    if not approvers.groups:
        return True
    groups = MemberGroup.objects.filter(team=team_id, members__user=person, name__in=approvers.groups)
    return groups.count() == len(approvers.groups)


def still_may(person: User, team_id: int, approvers: Approvers) -> bool:
    """Say the same of somebody who approved earlier, as things stand now: they may have lost their role since."""
    fresh = User.objects.get(pk=person.pk)
    return fresh.has_role(team_id, Role.REVIEWER) and may_approve(fresh, team_id, approvers)


def unmet(team_id: int, rules: Iterable[Mapping[str, Any]]) -> list[tuple[Approvers, int]]:
    """Return whom rules name as approvers where a team has too few of them, and how many it has."""
    named = {of_rule(rule) for rule in rules} - {ANYBODY}
    wanted = sorted(named, key=lambda each: (each.people, sorted(each.roles), sorted(each.groups)))
    if not wanted:
        return []
    members = Membership.objects.filter(team=team_id, user__is_active=True, role__in=Role.REVIEWER.and_above)
    known = [(each.role, {group.name for group in each.groups.all()}) for each in members.prefetch_related("groups")]
    found = []
    for each in wanted:
        count = sum(
            all(role in Role(wanted_role).and_above for wanted_role in each.roles) and each.groups <= groups
            for role, groups in known
        )
        if count < each.people:
            found.append((each, count))
    return found


# -- approvals that stand -----------------------------------------------------------------------------


def standing(held: HeldItem) -> list[Approval]:
    """Return the approvals of an item that stand, the first given first; no query where none can."""
    terms = terms_of(held)
    if terms is None or not terms.given:
        return []
    return list(Approval.objects.filter(held=held, ended_at=None).select_related("person"))


def is_edited(held: HeldItem) -> bool:
    """Say whether what somebody approved is another than what was asked for."""
    return any(each.is_edit for each in standing(held))


def read(items: Iterable[HeldItem]) -> None:
    """Read the approvals that stand into items that were read with their terms; one query where there are any."""
    wanted = [held for held in items if (terms := terms_of(held)) and terms.given]
    standing = Approval.objects.filter(ended_at=None).select_related("person")
    prefetch_related_objects(wanted, Prefetch("approvals", standing, to_attr="approved_by"))


def given_before(held: HeldItem, approval: Approval) -> Approval | None:
    """Return what a person approved before, where that is what they approve now."""
    return next(
        (
            each
            for each in standing(held)
            if (each.person_id, each.text_sha256) == (approval.person_id, approval.text_sha256)
        ),
        None,
    )


def give(held: HeldItem, approval: Approval, approvers: Approvers, now: datetime) -> bool:
    """Take down what a person approves; say whether enough people have approved just this.

    Approvals of anything else end, and so do those of people who may no longer approve it.
    """
    given = 1
    for each in standing(held):
        if each.person_id == approval.person_id or each.text_sha256 != approval.text_sha256:
            _end(held, each, Ended.REPLACED, now, approval.person)
        elif not still_may(each.person, held.team_id, approvers):
            _end(held, each, Ended.LAPSED, now, None)
        else:
            given += 1
    approval.needed, approval.given_at = approvers.people, now
    approval.save(force_insert=True)
    _record("approval-given", held, approval, approval.person, given=given)
    return given >= approvers.people


def withdraw(approval: Approval, now: datetime, via: str = "") -> None:
    """End a person's own approval."""
    _end(approval.held, approval, Ended.WITHDRAWN, now, approval.person, via)


def end_of(held: HeldItem, person: User, now: datetime, via: str = "") -> None:
    """End the approval of a person who undid the decision that it brought about."""
    for each in Approval.objects.filter(held=held, person=person, ended_at=None).select_related("person"):
        _end(held, each, Ended.WITHDRAWN, now, person, via)


def _end(
    held: HeldItem, approval: Approval, ended: Approval.Ended, now: datetime, actor: User | None, via: str = ""
) -> None:
    if Approval.objects.filter(pk=approval.pk, ended_at=None).update(ended_at=now, ended=ended):
        said = {"via": via} if via else {}
        _record("approval-ended", held, approval, actor, after=ended, **said)


def _record(done: str, held: HeldItem, approval: Approval, actor: User | None, **rest: Any) -> None:
    audit.record(
        audit.of_item(held.kind, done),
        held.public_id,
        actor=actor,
        team=held.team_id,
        agent=held.agent,
        person=approval.person.get_username(),
        approval=approval.public_id,
        needed=approval.needed,
        item_version=approval.item_version,
        text_sha256=approval.text_sha256,
        **rest,
    )


def count(held: HeldItem, now: datetime) -> None:
    """Write down how many approvals of an item stand, and how many it takes; `held` has its new terms then."""
    approvals = list(Approval.objects.filter(held=held, ended_at=None))
    terms = terms_of(held) or ReviewTerms(held=held, team_id=held.team_id)
    terms.given, terms.changed_at = len(approvals), now
    terms.people = max([of_item(held).people, *(each.needed for each in approvals)])
    terms.is_open = held.state == HeldItem.State.PENDING
    terms.save()
    held.terms = terms


# -- words that wait for tool calls ---------------------------------------------------------------------


def waits(held: HeldItem) -> bool:
    """Say whether an item waits for tool calls that are not all approved, or may still be taken back."""
    terms = terms_of(held)
    return bool(terms and terms.waits_for) and not are_approved(held.response_id)


def are_approved(response: int) -> bool:
    """Say whether every tool call that a response's words wait for is approved, and that released."""
    awaited = AwaitedCall.objects.filter(response=response)
    return not awaited.exclude(call__state__in=LET, call__closed_at__isnull=False).exists()


def words_waiting_for(call: HeldItem) -> list[HeldItem]:
    """Return the pending words that wait for a tool call, each read with its terms, response and agent."""
    return _words_waiting_for(call.pk)


@written_once
def _words_waiting_for(call: Any) -> QuerySet[HeldItem]:
    responses = AwaitedCall.objects.filter(call=call).values("response")
    return (
        HeldItem.objects.filter(response__in=responses, state=State.PENDING, terms__isnull=False)
        .exclude(kind=HeldItem.Kind.TOOL_CALL)
        .select_related("agent__team", "response", "terms")
        .order_by("response", "index")
    )


def look(held: HeldItem) -> None:
    """Write down whether nothing but tool calls is missing to an item of words now."""
    terms = terms_of(held)
    if terms and terms.waits_for:
        terms.only_waits = terms.with_calls or bool(standing(held))
        terms.save(update_fields=["only_waits"])


def why_rejected(decision: Decision) -> str:
    """Say, in the agent's language, why words are rejected because of what was decided about a call they wait for."""
    held = decision.held
    with translation.override(held.agent.language):
        became = {
            DecisionVerdict.REJECT: gettext("The tool call %(name)s that this waits for was rejected."),
            DecisionVerdict.WITHDRAW: gettext("The tool call %(name)s that this waits for was withdrawn."),
            DecisionVerdict.EXPIRE: gettext("The tool call %(name)s that this waits for expired undecided."),
        }[DecisionVerdict(decision.verdict)]
        said = became % {"name": masked_text(held.call.name)}
        return (
            gettext("%(said)s Reason: %(reason)s") % {"said": said, "reason": decision.reason}
            if decision.reason
            else said
        )


def why_approved(held: HeldItem) -> str:
    """Say the same of words that go out."""
    with translation.override(held.agent.language):
        return gettext("Every tool call that this waits for was approved.")


def awaited(held: HeldItem) -> Sequence[HeldItem]:
    """Return the tool calls that an item waits for, in the order of the response."""
    calls = AwaitedCall.objects.filter(response=held.response_id).select_related("call__call").order_by("pk")
    return [each.call for each in calls]


# -- the queue ------------------------------------------------------------------------------------------


def named_for(person: Any) -> QuerySet[ReviewTerms]:
    """Return what named people must still approve, of whom the person (or their key) is one."""
    mine = Approval.objects.filter(held=OuterRef("pk"), person=person, ended_at=None)
    groups = MemberGroup.objects.filter(team=OuterRef("team"), name=OuterRef("group"), members__user=person)
    own = Membership.objects.filter(user=person, team=OuterRef("team"))
    roles = Q(Exists(User.objects.filter(pk=person, is_superuser=True)))
    for role in (Role.REVIEWER, Role.CURATOR, Role.OWNER):
        names = ["", role] if role == Role.REVIEWER else [role]
        roles |= Q(Exists(own.filter(role__in=role.and_above)), role__in=names)
    return _named().filter(~Exists(mine), roles).filter(Q(group="") | Exists(groups))


def _named() -> QuerySet[ReviewTerms]:
    return ReviewTerms.objects.filter(is_open=True, only_waits=False).exclude(people=1, role="", group="")


def parked(person: Any = None) -> QuerySet[ReviewTerms]:
    """Return what a person has nothing to do about: what they approved, and words that only wait for tool calls."""
    terms = ReviewTerms.objects.filter(is_open=True)
    if person is None:
        return terms.filter(only_waits=True)
    mine = Approval.objects.filter(held=OuterRef("pk"), person=person, ended_at=None)
    return terms.filter(Q(only_waits=True) | Exists(mine))


def narrowed(items: QuerySet[HeldItem], needs: str, person: Any) -> QuerySet[HeldItem]:
    """Narrow pending items down: to those that need the person's approval, that of others, or that of calls alone.

    Without any of these to what is anybody's to decide, without what this person has approved.
    """
    if needs == "me":
        return items.filter(pk__in=named_for(person).values("pk"))
    if needs == "others":
        mine = Approval.objects.filter(person=person, ended_at=None, held__terms__is_open=True)
        return items.filter(pk__in=mine.filter(held__terms__only_waits=False).values("held"))
    if needs == "calls":
        return items.filter(pk__in=parked().values("pk"))
    return items.filter(~Exists(parked(person or None).filter(pk=OuterRef("pk"))))


def to_tell(items: QuerySet[HeldItem], person: Any) -> QuerySet[HeldItem]:
    """Narrow pending items down to those that a reviewer is to be told of: not those that others must approve."""
    items = narrowed(items, "", person)
    mine = named_for(person).filter(pk=OuterRef("pk"))
    return items.filter(~Exists(_named().filter(pk=OuterRef("pk"))) | Exists(mine))
