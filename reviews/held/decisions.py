"""Decide held items: exactly one decision stands, it binds what was shown, and the agent hears of it.

Locks are taken in one order everywhere: the agent's state, then its items, then their decisions.
The claim itself is a conditional UPDATE whose row count says who won.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q
from django.db.models.fields import BooleanField
from django.utils import timezone, translation
from django.utils.translation import gettext

from metacog import heuristics
from metacog.audit import audit
from metacog.db import clocks
from metacog.db.prepared import Select, ask_together
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import Item, ToolCall
from metacog.heuristics.tool_calls.approvers import ANYBODY, Approvers, of_rule
from metacog.heuristics.tool_calls.secrets import is_mask_left
from metacog.heuristics.wire.json_schema import errors_of
from metacog.heuristics.wire.schema_keys import lost_keys, unknown_keys
from metacog.models import Agent, AgentState, User
from metacog.runtime import tracing
from patterns.patterns.scorer import scorer_for
from reviews.held import approvers, grants
from reviews.held.approvers import terms_of
from reviews.intake.knowledge import remember_released
from reviews.intake.recognition import sha256
from reviews.intake.tool_calls import digest
from reviews.isolation import by_itself
from reviews.models import (
    AgentResponse,
    Approval,
    CallGrant,
    Decision,
    DecisionVerdict,
    HeldItem,
    ReviewTerms,
    Signal,
)
from reviews.records import answers, events, traces
from reviews.scoring.history import take_back_rejected, told_before
from reviews.serializers import decision_shape, owed

State = HeldItem.State

AFTER = {
    DecisionVerdict.APPROVE: State.APPROVED,
    DecisionVerdict.EDIT: State.EDITED,
    DecisionVerdict.ANSWER: State.ANSWERED,
    DecisionVerdict.REJECT: State.REJECTED,
    DecisionVerdict.WITHDRAW: State.WITHDRAWN,
    DecisionVerdict.EXPIRE: State.EXPIRED,
}
BATCH = 200  # rows of one agent that a sweep settles in one transaction


class Refusal(Exception):
    """The decision was not taken, and nothing was written."""


class Standing(Refusal):
    """Decided before, or what was shown is out of date. `decision` is what stands, where it may be told."""

    def __init__(self, decision: Decision | None = None) -> None:
        super().__init__()
        self.decision = decision


class NotYet(Refusal):
    """A second look in the same breath as the first is none."""


class WantsPerson(Refusal):
    """The policy leaves this kind to people."""


class WantsAnswer(Refusal):
    """A question is answered, and nothing else is."""


class WaitsForCalls(Refusal):
    """An agent's words wait for tool calls: it approves them once these are approved."""


class NotApprover(Refusal):
    """Somebody else must approve it; `approvers` says who. Whoever reviews may reject it."""

    def __init__(self, approvers: Approvers) -> None:
        super().__init__()
        self.approvers = approvers


@dataclass(frozen=True)
class Change:
    """A change of an agent's policy, or of its team's rules, that decides what waited: the new version, and whose."""

    person: User | None = None  # None: an operator
    policy_version: int | None = None
    rules_version: int | None = None

    @property
    def versions(self) -> dict[str, int]:
        """Return the versions that the record has of it."""
        given = {"by_policy": self.policy_version, "by_team_rules": self.rules_version}
        return {name: version for name, version in given.items() if version is not None}


NO_CHANGE = Change()


@dataclass(frozen=True)
class Circumstances:
    """How somebody came to decide: what they had before them, and how they said it."""

    version: int | None = None  # of the item as it was shown; None leaves that unchecked
    digest: str | None = None  # the sha256 of its text, likewise
    shown_ms: int | None = None  # for how long a person had the item before them, where that is known
    together: str = ""  # the same for all that are decided with one press
    via: str = ""  # for the record, where it was not the console
    grant: grants.Wanted | None = None  # which calls pass from now on, with an approved one
    by_grant: CallGrant | None = None  # that lets it pass, and counts it
    ordered_by: User | None = None  # who had metacog decide it
    change: Change = NO_CHANGE  # with which metacog decided it
    like: str = ""  # the public id of another person's approval: just that is approved, with its edit
    undo_from: datetime | None = None  # since when it can be undone, where that is not now

    def fit(self, held: HeldItem) -> bool:
        """Tell whether what was shown is what the item is now."""
        return self.version in (None, held.version) and self.digest in (None, held.sha256)


UNKNOWN = Circumstances()


class Arguments(NamedTuple):
    """What a tool call is to be made with instead: any JSON."""

    value: Any


class Answer(NamedTuple):
    """What a person answers to a question: any JSON."""

    value: Any


Edit = str | Arguments | Answer
Taken = Decision | Approval  # an approval where others must approve as well, or tool calls be approved


class Slips(NamedTuple):
    """What of edited arguments looks like a slip, as pointers."""

    unknown: Sequence[str] = ()  # keys that the edit adds and the call's schema does not know
    lost: Sequence[str] = ()  # keys that the call had and the edit has not

    @property
    def errors(self) -> list[dict[str, str]]:
        """Say in English what looks like a slip: {"pointer", "detail"}."""
        return [
            *({"pointer": each, "detail": "is a key that the tool's schema does not know"} for each in self.unknown),
            *({"pointer": each, "detail": "is a key that the call had, and the edit has not"} for each in self.lost),
        ]


class Edited(NamedTuple):
    """What an edit comes to under the agent's policy of now."""

    hesitation: heuristics.Hesitation | None  # None: not scored
    hold_at: int
    rule: Mapping[str, Any] | None = None  # which the edit meets, and the call did not: it asks a person or denies
    slips: Slips = Slips()

    @property
    def is_held_again(self) -> bool:
        return self.rule is not None or (self.hesitation is not None and self.hesitation.score >= self.hold_at)

    @property
    def is_risky(self) -> bool:
        """Say whether a person is asked once more before it is released."""
        return self.is_held_again or any(self.slips)

    @property
    def reason(self) -> str:
        """Say in English why the edit would be held again."""
        if self.rule is not None:
            return f"a rule on {self.rule['tool']} ({self.rule.get('reason') or self.rule['do']})"
        return self.hesitation.suggestion if self.hesitation else ""


class StillRisky(Refusal):
    """The edit would be held again, or looks like a slip; `edited` says why."""

    def __init__(self, edited: Edited) -> None:
        super().__init__()
        self.edited = edited


class StillMasked(Refusal):
    """A person's edit or answer has a mask where a secret should stand."""


class OutOfSchema(Refusal):
    """Edited arguments or an answer are not what they must be; `errors` are {"pointer", "detail"}."""

    def __init__(self, errors: Sequence[dict[str, str]]) -> None:
        super().__init__()
        self.errors = errors


def decide(held: HeldItem, actor: User | Agent, verdict: str, **how: Any) -> tuple[Decision, bool]:
    """Decide an item that nobody else must approve; see `decide_or_approve`."""
    decision, is_new = decide_or_approve(held, actor, verdict, **how)
    assert isinstance(decision, Decision)
    return decision, is_new


def decide_or_approve(
    held: HeldItem,
    actor: User | Agent,
    verdict: str,
    *,
    edit: Edit | None = None,
    reason: str = "",
    accept_risk: bool = False,
    circumstances: Circumstances = UNKNOWN,
) -> tuple[Taken, bool]:
    """Decide an item, and return the decision and whether it is new.

    Where others must approve as well it stays pending, and what is returned is the Approval.

    `edit` goes with the verdict of that name only: a text, or Arguments of a tool call; and an Answer with `answer`.
    `accept_risk` lets a person release an edit that would be held again, or has keys that look like a slip.
    The same actor's same verdict and edit again gives the first decision back.
    A person's decision can be undone until `release_at`; an agent's is released at once.
    Raises a Refusal or NotGranted, having written nothing. Whether `actor` may see and decide the item at all is
    the caller's to check.
    """
    began = tracing.now()
    settle(held.agent)
    is_released = verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT, DecisionVerdict.ANSWER)
    if is_released and (held.kind == HeldItem.Kind.QUESTION) != (verdict == DecisionVerdict.ANSWER):
        raise WantsAnswer
    if isinstance(actor, User) and _has_mask_left(held, edit):
        raise StillMasked
    # Before anything is locked: what an agent sent as a schema may take its time.
    if isinstance(edit, Arguments):
        errors = errors_of(edit.value, held.call.schema) if held.state == State.PENDING else []
        if errors:
            raise OutOfSchema(errors)
    if isinstance(edit, Answer) and held.state == State.PENDING and (errors := answers.errors_of(held, edit.value)):
        raise OutOfSchema(errors)
    slips = _slips(held, edit) if isinstance(edit, Arguments) and not accept_risk else Slips()
    wanted = circumstances.grant
    asked = grants.asked(held, edit.value if isinstance(edit, Arguments) else held.call.arguments) if wanted else None
    with transaction.atomic(durable=True):
        state = AgentState.objects.select_for_update().get(pk=held.agent_id)
        held = HeldItem.objects.select_related("agent__team", "response", "call__outcome", "question", "terms").get(
            pk=held.pk
        )
        now = timezone.now()
        if circumstances.like:
            verdict, edit, accept_risk = *_approved_as(held, circumstances.like), True
        if held.state != State.PENDING:
            return _same_again(held, actor, verdict, edit), False
        approval = _approval_of(held, actor, DecisionVerdict(verdict), edit, reason, circumstances)
        if approval and (given := approvers.given_before(held, approval)):
            return given, False
        if not circumstances.fit(held):
            raise Standing
        if held.expires_at <= now:  # behind a batch of others: what has expired is never released
            raise Standing
        if isinstance(actor, Agent) and verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT):
            if approvers.waits(held):
                raise WaitsForCalls
            _check_second_look(held, now)
        named = _named(held, edit)
        if approval and not approvers.may_approve(approval.person, held.team_id, named):
            raise NotApprover(named)
        if wanted and named != ANYBODY:
            raise grants.NotGranted("", grants.FOR_PEOPLE)
        if isinstance(edit, str | Arguments) and verdict == DecisionVerdict.EDIT and not accept_risk:
            _check_edit(held, edit, slips)
        if approval and not _is_enough(held, approval, named, now):
            return approval, True
        decision = _claim(held, actor, DecisionVerdict(verdict), edit, reason, now, circumstances)
        if wanted and asked and decision.text_sha256:
            grants.give(wanted, decision, held, asked)
        if circumstances.by_grant:
            grants.use(circumstances.by_grant, held, now)
        if decision.release_at <= now:
            _release(decision, state, now)
    traces.tell_decided(decision, began)
    return decision, True


def _approved_as(held: HeldItem, public_id: str) -> tuple[DecisionVerdict, Edit | None]:
    """Return what somebody approved, to be approved by another; raise Standing where that stands no longer."""
    approval = Approval.objects.filter(held=held, public_id=public_id, ended_at=None).first()
    if approval is None:
        raise Standing
    edit: Edit | None = None
    if approval.is_edit:
        edit = Arguments(approval.arguments) if held.kind == HeldItem.Kind.TOOL_CALL else approval.text
    return DecisionVerdict(approval.verdict), edit


def _approval_of(
    held: HeldItem,
    actor: User | Agent,
    verdict: DecisionVerdict,
    edit: Edit | None,
    reason: str,
    circumstances: Circumstances,
) -> Approval | None:
    """Return what a person approves, unsaved; None where it is no person's approval."""
    if not isinstance(actor, User) or verdict not in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT):
        return None
    text, arguments, text_sha256 = _released(held, verdict, edit)
    return Approval(
        held=held,
        person=actor,
        verdict=verdict,
        reason=reason,
        item_version=held.version,
        item_sha256=held.sha256,
        text=text,
        arguments=arguments,
        text_sha256=text_sha256,
        together=circumstances.together,
        shown_ms=circumstances.shown_ms,
    )


def _named(held: HeldItem, edit: Edit | None) -> Approvers:
    """Return who must approve an item: whom its rule names, and of an edit whom the rule that it meets names, too."""
    named = approvers.of_item(held)
    if isinstance(edit, Arguments):
        judged = grants.asked(held, edit.value).judged
        named = named.and_(of_rule(judged.rule)) if judged.do != "allow" else named
    return named


def _is_enough(held: HeldItem, approval: Approval, wanted: Approvers, now: datetime) -> bool:
    """Take an approval down where it is not the only one that matters; say whether the item is decided with it."""
    terms = terms_of(held)
    waits = approvers.waits(held) and terms is not None and not terms.with_calls
    if wanted.people < 2 and not waits and not (terms and terms.given):
        return True
    before = _proposed(held)
    is_enough = approvers.give(held, approval, wanted, now) and not waits
    _recount(held, before, now, is_shown=is_enough)
    return is_enough


def _proposed(held: HeldItem) -> str:
    """Return what is approved so far, by its SHA-256: what was asked, unless somebody approved something else."""
    given = approvers.standing(held)
    return given[0].text_sha256 if given else _released(held, DecisionVerdict.APPROVE, None)[2]


def _recount(held: HeldItem, proposed: str, now: datetime, *, is_shown: bool = False) -> None:
    """Write down which approvals stand of a pending item.

    It is another version where these are not of what was `proposed` until now, unless that `is_shown` and decided.
    """
    approvers.count(held, now)
    approvers.look(held)
    if not is_shown and _proposed(held) != proposed:
        HeldItem.objects.filter(pk=held.pk).update(version=F("version") + 1)


def withdraw_approval(approval: Approval, via: str = "") -> bool:
    """Take back a person's own approval of what is still pending; False when it is too late."""
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=approval.held.agent_id)
        now = timezone.now()
        rows = Approval.objects.select_related("person", "held__agent", "held__response", "held__call", "held__terms")
        standing = rows.filter(pk=approval.pk, ended_at=None, held__state=State.PENDING).first()
        if standing is None:
            return False
        before = _proposed(standing.held)
        approvers.withdraw(standing, now, via)
        _recount(standing.held, before, now)
    return True


def _has_mask_left(held: HeldItem, edit: Edit | None) -> bool:
    if isinstance(edit, Arguments):
        return is_mask_left(edit.value, held.call.arguments)
    if isinstance(edit, Answer):
        return is_mask_left(edit.value, None)
    return edit is not None and is_mask_left(edit, held.text)


def _same_again(held: HeldItem, actor: User | Agent, verdict: str, edit: Edit | None) -> Decision:
    standing = Decision.objects.select_related("held", "person").get(held=held, undone_at=None)
    is_theirs = standing.person == actor if isinstance(actor, User) else standing.by == Decision.By.AGENT
    if isinstance(edit, Arguments):
        is_same = canonical(standing.arguments) == canonical(edit.value)
    elif isinstance(edit, Answer):
        is_same = canonical(standing.answer) == canonical(edit.value)
    else:
        is_same = standing.text == edit
    has_edit = verdict in (DecisionVerdict.EDIT, DecisionVerdict.ANSWER)
    if is_theirs and standing.verdict == verdict and (is_same or not has_edit):
        return standing
    # While a person may still undo, the agent is told no more than that somebody is at it.
    raise Standing(standing if held.closed_at or isinstance(actor, User) else None)


def _check_second_look(held: HeldItem, now: datetime) -> None:
    """Raise unless the agent may release this kind, and has had a cycle to think (invariant 9)."""
    if scorer_for(held.agent).policy.release.get(held.kind) != "agent":
        raise WantsPerson
    if now >= held.review_due_at:
        return
    later = AgentResponse.objects.posted().filter(agent=held.agent_id, pk__gt=held.response_id)
    if held.response.cycle is not None:
        later = later.filter(Q(cycle__gt=held.response.cycle) | Q(cycle=None))
    if not later.exists():
        raise NotYet


def score_edit(held: HeldItem, edit: str | Arguments) -> Edited | None:
    """Say what an edit would come to; None where there is nothing to say: hesitation is switched off."""
    if isinstance(edit, Arguments):
        return _judge_call(held, edit, _slips(held, edit))
    text = edit
    if not held.agent.hesitation_enabled:
        return None
    scorer = scorer_for(held.agent)
    body = held.response.wire_body()
    given, failing = heuristics.given_in(body, told_before(held.response.history)), heuristics.failing_in(body)
    hesitation = scorer.hesitate(text, [{"kind": held.kind, "text": text}], given, failing)
    return Edited(hesitation, scorer.policy.hold_at)


def _slips(held: HeldItem, edit: Arguments) -> Slips:
    call = held.call
    return Slips(unknown_keys(call.arguments, edit.value, call.schema), lost_keys(call.arguments, edit.value))


def _judge_call(held: HeldItem, edit: Arguments, slips: Slips) -> Edited:
    """Ask the rules about an edited call. The rule that held it has asked already, and so has the policy's default."""
    scorer, (call, judged) = scorer_for(held.agent), grants.asked(held, edit.value)
    if judged.do == "score" and held.agent.hesitation_enabled:
        item = Item(held.kind, call.text, call=call)
        return Edited(scorer.hesitate(item.text, [item]), scorer.policy.hold_at, slips=slips)
    is_unlike = judged.rule != held.call.rule or judged.fault not in ("", held.call.fault)
    is_new = judged.do in ("ask", "deny") and judged.rule is not None and is_unlike
    return Edited(None, scorer.policy.hold_at, judged.rule if is_new else None, slips)


def _check_edit(held: HeldItem, edit: str | Arguments, slips: Slips) -> None:
    edited = _judge_call(held, edit, slips) if isinstance(edit, Arguments) else score_edit(held, edit)
    if edited and edited.is_risky:
        raise StillRisky(edited)


def _claim(
    held: HeldItem,
    actor: User | Agent | None,
    verdict: DecisionVerdict,
    edit: Edit | None,
    reason: str,
    now: datetime,
    circumstances: Circumstances = UNKNOWN,
) -> Decision:
    """Move the item out of `pending` and write the decision; raise Standing when another was faster."""
    person = actor if isinstance(actor, User) else None
    undo = timedelta(seconds=settings.UNDO_SECONDS if person else 0)
    undo_from = circumstances.undo_from or now
    claimed = HeldItem.objects.filter(pk=held.pk, state=State.PENDING, version=held.version, sha256=held.sha256).update(
        state=AFTER[verdict], version=F("version") + 1, decided_at=now
    )
    if not claimed:
        raise Standing
    text, arguments, text_sha256 = _released(held, verdict, edit)
    decision = Decision.objects.create(
        held=held,
        agent_id=held.agent_id,
        verdict=verdict,
        by=Decision.By.PERSON if person else Decision.By.AGENT if actor else Decision.By.SYSTEM,
        person=person,
        policy_version=circumstances.change.policy_version,
        rules_version=circumstances.change.rules_version,
        changed_by=circumstances.change.person,
        reason=reason,
        item_version=held.version,
        item_sha256=held.sha256,
        text=text,
        arguments=arguments,
        answer=edit.value if isinstance(edit, Answer) else None,
        text_sha256=text_sha256,
        decided_at=now,
        together=circumstances.together,
        shown_ms=circumstances.shown_ms,
        release_at=max(now, undo_from + undo),
    )
    if terms_of(held):
        ReviewTerms.objects.filter(pk=held.pk).update(is_open=False, changed_at=now)
    audit.record(
        audit.of_item(held.kind, AFTER[verdict]),
        held.public_id,
        actor=circumstances.ordered_by or circumstances.change.person or actor,
        team=held.team_id,
        agent=held.agent,
        before=State.PENDING,
        after=AFTER[verdict],
        decision=decision.public_id,
        item_version=held.version,
        item_sha256=held.sha256,
        text_sha256=decision.text_sha256,
        **circumstances.change.versions,
        **_said(circumstances.via),
    )
    return decision


def decide_by_itself(
    held: HeldItem, state: AgentState, verdict: DecisionVerdict, reason: str, circumstances: Circumstances
) -> Decision:
    """Have metacog decide a pending item, and release that at once, under the lock on `state`.

    Raises Standing where it is not as it was read.
    """
    now = timezone.now()
    decision = _claim(held, None, verdict, None, reason, now, circumstances)
    _release(decision, state, now)
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


def _released(held: HeldItem, verdict: DecisionVerdict, edit: Edit | None) -> tuple[str | None, Any, str]:
    """Return what a decision lets go: the text or the arguments, and by what that is recognised.

    An answer, which is neither, has its SHA-256.
    """
    if isinstance(edit, Answer):
        return None, None, sha256(canonical(edit.value))
    if verdict not in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT):
        return None, None, ""
    if held.kind != HeldItem.Kind.TOOL_CALL:
        text = held.text if edit is None else edit
        assert isinstance(text, str)
        return text, None, sha256(text)
    arguments = edit.value if isinstance(edit, Arguments) else held.call.arguments
    return None, arguments, digest(held.response.session, ToolCall(held.call.name, arguments))


def undo(decision: Decision, person: User, via: str = "") -> bool:
    """Take back a person's own decision before anybody heard of it; False when it is too late.

    With an approval goes its grant, and what that released with the same press.
    """
    with transaction.atomic(durable=True):
        AgentState.objects.select_for_update().get(pk=decision.agent_id)
        now = timezone.now()
        if not _take_back(decision, person, now, via):
            return False
        if decision.held.kind == HeldItem.Kind.TOOL_CALL and grants.fall(decision.held, person, now):
            with_it = Decision.objects.filter(agent=decision.agent_id, together=decision.together, undone_at=None)
            for each in with_it.select_related("held__agent", "held__terms") if decision.together else ():
                _take_back(each, person, now, via)
    return True


def _take_back(decision: Decision, person: User, now: datetime, via: str) -> bool:
    taken_back = Decision.objects.filter(
        pk=decision.pk, person=person, undone_at=None, released_at=None, release_at__gt=now
    ).update(undone_at=now)
    if not taken_back:
        return False
    held = decision.held
    HeldItem.objects.filter(pk=held.pk).update(state=State.PENDING, version=F("version") + 1)
    if terms_of(held):
        held.refresh_from_db(fields=["state", "version"])
        before = _proposed(held)
        approvers.end_of(held, person, now, via)
        _recount(held, before, now)
    audit.record(
        audit.of_item(held.kind, "decision-undone"),
        held.public_id,
        actor=person,
        team=held.team_id,
        agent=held.agent,
        before=AFTER[DecisionVerdict(decision.verdict)],
        after=State.PENDING,
        decision=decision.public_id,
        **_said(via),
    )
    return True


def _said(via: str) -> dict[str, str]:
    return {"via": via} if via else {}


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
            _release(decision, state, now)
        late = list(
            HeldItem.objects.filter(agent=agent_id, state=State.PENDING, expires_at__lte=now)
            .select_related("agent__team", "call", "terms")
            .order_by("expires_at", _WORDS_LAST, "id")[:BATCH]
        )
        expired = []
        for held in late:
            with suppress(Standing):  # words that waited for a call of before
                expired.append(_claim(held, None, DecisionVerdict.EXPIRE, None, "", now))
                _release(expired[-1], state, now)
    for decision in expired:
        traces.tell_decided(decision, began)
    return len(due) + len(late)


def _release(decision: Decision, state: AgentState, now: datetime) -> None:
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
            settled = _claim(held, None, DecisionVerdict.REJECT, None, approvers.why_rejected(decision), now)
        elif not held.terms.only_waits:
            continue
        elif approved.setdefault(held.response_id, approvers.are_approved(held.response_id)):
            settled = _let_out(held, now)
        else:
            continue
        if settled.release_at <= now:
            _release(settled, state, now)


def _let_out(held: HeldItem, now: datetime) -> Decision:
    """Decide words for which nothing is missing any more: as a person approved them, else as they would have passed."""
    given = next(iter(approvers.standing(held)), None)
    if given is None:
        return _claim(held, None, DecisionVerdict.APPROVE, held.terms.marked, approvers.why_approved(held), now)
    how = Circumstances(shown_ms=given.shown_ms, together=given.together, undo_from=given.given_at)
    edit = given.text if given.is_edit else None
    return _claim(held, given.person, DecisionVerdict(given.verdict), edit, given.reason, now, how)
