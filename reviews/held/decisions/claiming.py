"""Move an item out of `pending`: a conditional UPDATE whose row count says who won, and the decision that stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F

from metacog.audit import audit
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import ToolCall
from metacog.models import Agent, User
from reviews.held import grants
from reviews.held.approvers import terms_of
from reviews.held.decisions.edits import Answer, Arguments, Edit
from reviews.held.decisions.refusals import Standing
from reviews.intake.recognition import sha256
from reviews.intake.tool_calls import digest
from reviews.models import CallGrant, Decision, DecisionVerdict, HeldItem, ReviewTerms

State = HeldItem.State
AFTER = {
    DecisionVerdict.APPROVE: State.APPROVED,
    DecisionVerdict.EDIT: State.EDITED,
    DecisionVerdict.ANSWER: State.ANSWERED,
    DecisionVerdict.REJECT: State.REJECTED,
    DecisionVerdict.WITHDRAW: State.WITHDRAWN,
    DecisionVerdict.EXPIRE: State.EXPIRED,
}


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


def claim(
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
    text, arguments, text_sha256 = what_is_released(held, verdict, edit)
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
        **by_way_of(circumstances.via),
    )
    return decision


def what_is_released(held: HeldItem, verdict: DecisionVerdict, edit: Edit | None) -> tuple[str | None, Any, str]:
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


def by_way_of(via: str) -> dict[str, str]:
    return {"via": via} if via else {}
