"""What the forms that decide have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.text.tags import TOOL_CALL
from metacog.heuristics.tool_calls.approvers import ANYBODY, Approvers
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Role, User
from reviews.held import approvers
from reviews.held.decisions import Taken
from reviews.models import Approval, DecisionVerdict, HeldItem
from reviews.presentation.approvals import counted, whom
from reviews.presentation.calls.argument_changes import Change, changes
from reviews.presentation.highlight import Shown, show
from reviews.presentation.look_alikes import name_shown
from reviews.presentation.phrases import person_name
from reviews.records import reasons

MAX_REASON = 10_000
TOLD_FOR = timedelta(seconds=10)  # how long a page says what the person just did, at least
MOST_DONE = 20  # decisions and approvals of one browser that are remembered so long
DONE = "done"  # the cookie that names them
_DONE = re.compile(r"[a-z]{1,8}_[0-9a-z]{26}")
CLIP = 80  # characters of words that wait


def told_for() -> timedelta:
    """Return how long a page says what the person just did: as long as it can be undone, at least."""
    return max(TOLD_FOR, timedelta(seconds=settings.UNDO_SECONDS))


def done_here(request: HttpRequest) -> list[str]:
    """Return the ids of what was just decided and approved in this browser, by whomever, the latest last."""
    return [each for each in request.COOKIES.get(DONE, "").split(".") if _DONE.fullmatch(each)][-MOST_DONE:]


def remember(request: HttpRequest, response: HttpResponse, taken: Taken) -> HttpResponse:
    """Have this browser know what was decided in it: another one, a chat and a program say what was decided there."""
    value = ".".join([*done_here(request), taken.public_id][-MOST_DONE:])
    seconds = 2 * int(told_for().total_seconds())
    response.set_cookie(DONE, value, max_age=seconds, secure=settings.HTTPS, httponly=True, samesite="Lax")
    return response


def reason_form(request: HttpRequest) -> dict[str, str]:
    """Return what the form of a rejection holds, so that it can be given back."""
    return {name: request.POST.get(name, "") for name in ("preset", "reason")}


def reason_given(request: HttpRequest, agent: Agent) -> str:
    """Return why an item is rejected, as the form says it, in the agent's language."""
    form = reason_form(request)
    return reasons.compose(form["preset"], form["reason"].replace("\r\n", "\n").strip(), agent.language)


def with_line_ends_of(original: str, posted: str) -> str:
    """Return a posted text with the original's line ends: browsers send every line end of a form as \\r\\n."""
    text = posted.replace("\r\n", "\n").replace("\r", "\n")
    if text == original.replace("\r\n", "\n").replace("\r", "\n"):
        return original
    return text.replace("\n", "\r\n") if "\r\n" in original else text


def why_not(verdict: str, text: str | None, reason: str) -> str:
    """Return what keeps a form from being decided, in a sentence."""
    if verdict not in (DecisionVerdict.APPROVE, DecisionVerdict.ANSWER, DecisionVerdict.REJECT):
        return gettext("Choose to approve or to reject.")
    if verdict == DecisionVerdict.REJECT and is_blank(reason):
        return gettext("Give a reason: the agent reads it, and it is what metacog learns from.")
    if len(reason) > MAX_REASON:
        return gettext("The reason is too long: %(most)s characters at most.") % {"most": f"{MAX_REASON:,}"}
    if "\0" in reason or "\0" in (text or ""):
        return gettext("The text has a NUL character, which cannot be stored. Remove it and try again.")
    if text is not None and len(text.encode()) > settings.MAX_BODY_BYTES:
        return gettext("The text is too long: 1 MiB at most.")
    return ""


def wants_answer() -> str:
    return gettext(
        "Nothing was decided: a question can only be answered or rejected, and only a question can be answered."
    )


@dataclass(frozen=True)
class Given:
    """One approval that stands, and what it changes of what was asked for."""

    approval: Approval
    is_mine: bool
    changes: Sequence[Change]  # of a tool call
    text: Shown | None  # of words


@dataclass(frozen=True)
class Other:
    """An item that waits for this one, or for which this one waits."""

    kind: str
    name: Shown
    state: str
    url: str


@dataclass(frozen=True)
class Approvals:
    """What an item's page says of its approvals."""

    given: Sequence[Given]
    count: str  # "1 of 2"; empty where one is enough
    whom: str  # who must approve; empty: any reviewer
    why_not: str  # why this person's approval is not wanted
    mine: Approval | None
    like: Approval | None  # another's, of something else than was asked for: what Approve approves
    approve: str  # what the button says
    awaited: Sequence[Other]  # tool calls for which these words wait
    only_waits: bool  # for nothing else


def approvals_of(held: HeldItem, user: User, query: str = "") -> Approvals:
    """Return what an item's page says to a person; `query` is that of the list."""
    terms, named = approvers.terms_of(held), approvers.of_item(held)
    is_pending = held.state == HeldItem.State.PENDING
    standing = approvers.standing(held)
    mine = next((each for each in standing if each.person_id == user.pk), None)
    waits = is_pending and approvers.waits(held)
    why_not = ""
    if is_pending and user.has_role(held.team_id, Role.REVIEWER):
        why_not = _why_none(mine, waits, may=approvers.may_approve(user, held.team_id, named), named=named)
    needed = terms.people if terms else 1
    like = standing[0] if is_pending and standing and standing[0].is_edit and mine is None else None
    is_alone = bool(terms and terms.only_waits and not standing)  # nothing but its calls holds it
    return Approvals(
        given=[_given(held, each, user) for each in standing],
        count=counted(terms.given, needed) if terms and (needed > 1 or terms.given) and not terms.waits_for else "",
        whom=whom(named) if named != ANYBODY else "",
        why_not=why_not,
        mine=mine if is_pending else None,
        like=like,
        approve=gettext("Approve the edits of %(who)s") % {"who": person_name(like.person)}
        if like
        else gettext("Approve without waiting")
        if is_alone
        else gettext("Approve"),
        awaited=[_other(each, query) for each in approvers.awaited(held)] if terms and terms.waits_for else (),
        only_waits=bool(terms and terms.only_waits),
    )


def _why_none(mine: Approval | None, waits: bool, *, may: bool, named: Approvers) -> str:
    """Say why a reviewer's approval of a pending item is not wanted; empty where it is."""
    if not may:
        return gettext("Approving this takes %(whom)s. You can still reject it.") % {"whom": whom(named)}
    if mine and waits:
        return gettext("You approved this. It is released once its tool calls are approved.")
    if mine:
        return gettext("You approved this. Another person must approve it, too.")
    return ""


def words_waiting(held: HeldItem, query: str) -> list[Other]:
    """Return the words that wait for a tool call."""
    return [_other(each, query) for each in approvers.words_waiting_for(held)] if held.kind == TOOL_CALL else []


def _given(held: HeldItem, approval: Approval, user: User) -> Given:
    is_call = held.kind == TOOL_CALL
    return Given(
        approval,
        approval.person_id == user.pk,
        changes(held.call.arguments, approval.arguments) if is_call and approval.is_edit else (),
        show(masked_text(approval.text or "")) if not is_call and approval.is_edit else None,
    )


def _other(held: HeldItem, query: str) -> Other:
    name = name_shown(held.call.name) if held.kind == TOOL_CALL else show(without_tags(masked_text(held.text))[:CLIP])
    return Other(
        str(held.get_kind_display()), name, held.get_state_display(), reverse("item", args=[held.public_id]) + query
    )
