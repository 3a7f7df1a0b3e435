"""What the desk shows of a tool call, and what can be asked of it there beside a decision."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from metacog.db.prepared import written_once
from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.tool_calls import secrets
from metacog.models import Role
from metacog.models.pack_words import reason_of
from reviews.held import approvers, decisions, similar
from reviews.held.filters import Filters
from reviews.held.written import calls_before
from reviews.models import CallGrant, CallOutcome, Decision, HeldItem
from reviews.pages import call_edit
from reviews.pages.person import PersonRequest
from reviews.presentation import arguments
from reviews.presentation.calls import grant_form
from reviews.presentation.calls.argument_changes import changes
from reviews.presentation.calls.file_edits import file_edits, known_text
from reviews.presentation.calls.read import Edited, edited_of, known_of, reader_of
from reviews.presentation.calls.why_asked import why_asked
from reviews.presentation.effects import in_words as effects_in_words
from reviews.presentation.effects import sentences
from reviews.presentation.explanation import parts
from reviews.presentation.phrases import Became, became
from reviews.presentation.rule_words import in_words


def shown(
    held: HeldItem, revealed: Collection[str] = (), reader: Reader | None = None, edited: Edited | None = None
) -> dict[str, Any]:
    """Return what every page that shows a call has: what it is, its arguments (as they were `edited`), why it waits."""
    call, effects = edited or (held.call, held.call.effects)
    known = known_of(call, effects, reader or reader_of(held.response))
    found = file_edits(call.arguments, known=lambda path: known_text(path, calls_before(held)), revealed=revealed)
    fields = arguments.table(call.arguments, revealed=revealed, known=known)
    return {
        "call": held.call,
        "effects": sentences(effects, call.arguments),
        "edits": found.edits,
        "fields": [each for each in fields if each.pointer not in found.pointers],
        "as_sent": [each for each in fields if each.pointer in found.pointers],
        "why_asked": why_asked(held.call),
    }


def field_at(held: HeldItem, place: str) -> arguments.Field | None:
    """Return the argument that a pointer names, as it was edited, its secrets revealed; None where there is none."""
    edited = next(iter(edited_of(held.decisions.filter(undone_at=None)).values()), None)
    call, effects = edited or (held.call, held.call.effects)
    return arguments.at(call.arguments, place, known_of(call, effects, reader_of(held.response)))


def of_desk(
    request: PersonRequest,
    held: HeldItem,
    standing: Decision | None,
    *,
    edit: call_edit.Posted | None = None,
    revealed: Collection[str] = (),
    has_editor: bool = True,
) -> dict[str, Any]:
    """Return what the desk alone has: the form of an edit, the permission given, and what was decided before."""
    call = held.call
    edited = edited_of([standing]).get(standing.pk) if standing else None
    mode = edit.mode if edit else call_edit.mode_of(call, request.GET.get("edit", ""))
    given = CallGrant.objects.with_details().filter(held=held).order_by("-pk") if standing else ()
    may_decide = held.state == HeldItem.State.PENDING and request.user.has_role(held.team_id, Role.REVIEWER)
    before = similar.of_tool(held)
    outcome = getattr(call, "outcome", None)
    return shown(held, revealed, edited=edited) | {
        "mode": mode,
        "item_url": reverse("item", args=[held.public_id]),
        "this_mode": "json" if mode == "json" else "1",
        "other_mode": "1" if mode == "json" else "json",
        "has_fields": call_edit.mode_of(call, "fields") == "fields",
        "inputs": call_edit.inputs(
            call, mode, typed=edit.typed if edit else None, errors=edit.errors if edit else None, revealed=revealed
        )
        if has_editor
        else (),
        "edit_errors": edit.errors.get("", ()) if edit and edit.mode == "fields" else (),
        "edited_changes": changes(call.arguments, edit.arguments) if edit and not edit.errors else (),
        "metadata": [_metadata(name, value) for name, value in held.metadata.items()],
        "call_ids": [each for each in call.call_ids if each is not None],
        "outcome": _outcome(outcome),
        "became": _became(held, outcome),
        "grants": grant_form.rows_of(request.user, [each for each in given if not each.is_fallen]),
        "grant_form": grant_form.form_of(held, _posted_of(request, held), with_waiting="grant" in request.GET)
        if may_decide
        else {},
        "released_changes": changes(call.arguments, edited.call.arguments) if edited else (),
        "before_edit": effects_in_words(call.effects, call.arguments) if edited else "",
        "before": before,
        "before_lines": [(each, secrets.line(call.name, each.beginning) or call.name) for each in before.latest],
        **siblings(held),
    }


def _posted_of(request: PersonRequest, held: HeldItem) -> Mapping[str, str]:
    """Return what was posted about this item: the answer may show the next one, whose form is as yet untouched."""
    match = request.resolver_match
    return request.POST if match and match.kwargs.get("held_id") == held.public_id else {}


def siblings(held: HeldItem) -> dict[str, Any]:
    """Return the ids of all that waits of a response, and where it is read together; nothing where it is one alone."""
    found = _waiting_of(held.response_id)
    if len(found) < 2 or held.public_id not in found:
        return {}
    return {"siblings": found, "together_url": f"{reverse('together')}?{urlencode({'held': found}, doseq=True)}"}


@written_once
def _waiting_of(response: Any) -> QuerySet[HeldItem, str]:
    waiting = HeldItem.objects.filter(response=response, state=HeldItem.State.PENDING).order_by("index")
    return waiting.filter(~Exists(approvers.parked().filter(pk=OuterRef("pk")))).values_list("public_id", flat=True)


def _metadata(name: str, value: Any) -> tuple[str, str, str]:
    """Return a name, what stands there, and the address of what else has the same."""
    ((shown, said),) = secrets.masked({name: value}).items()
    url = ""
    if (shown, said) == (name, value) and isinstance(value, str | int) and not isinstance(value, bool):
        url = reverse("queue") + Filters(metadata=((name, str(value)),)).query
    return shown, said if isinstance(said, str) else json.dumps(said, ensure_ascii=False), url


def _outcome(outcome: CallOutcome | None) -> dict[str, Any] | None:
    """Return what became of a call, its secrets masked; None where nothing was reported."""
    if outcome is None:
        return None
    return {
        "status": outcome.get_status_display(),
        "at": outcome.reported_at,
        "detail": secrets.masked_text(outcome.detail),
        "result": ""
        if outcome.result is None
        else json.dumps(secrets.masked(outcome.result), ensure_ascii=False, indent=2),
    }


def _became(held: HeldItem, outcome: CallOutcome | None) -> Became | None:
    """Return what is said of the outcome beside the decision; None where nothing was approved."""
    if held.state not in (HeldItem.State.APPROVED, HeldItem.State.EDITED):
        return None
    if outcome is None:
        return became(held.closed_at, None, None, "")
    return became(held.closed_at, outcome.status, outcome.reported_at, outcome.detail)


def of_edited(edited: decisions.Edited) -> dict[str, Any]:
    """Return what an edit comes to, with its words for people."""
    rule = edited.rule
    return {
        "score": edited.hesitation.score if edited.hesitation else None,
        "hold_at": edited.hold_at,
        "is_risky": edited.is_risky,
        "is_held_again": edited.is_held_again,
        "unknown": edited.slips.unknown,
        "lost": edited.slips.lost,
        "rule": rule and in_words(rule),
        "rule_reason": reason_of(rule) if rule else "",
        "is_denied": rule is not None and rule["do"] == "deny",
        "parts": parts([signal.as_dict() for signal in edited.hesitation.signals]) if edited.hesitation else [],
    }


def check(request: PersonRequest, held: HeldItem) -> HttpResponse:
    """Say at each field what the schema says of an edit, which rules the call would meet, and what is changed."""
    posted = call_edit.read(held.call, request.POST)
    context: dict[str, Any] = {"held": held, "mode": posted.mode if posted else ""}
    if posted:
        posted = call_edit.checked(held.call, posted)
        is_whole = posted.is_changed and not posted.errors
        edited = decisions.score_edit(held, decisions.Arguments(posted.arguments)) if is_whole else None
        context |= {
            "inputs": call_edit.inputs(held.call, posted.mode, typed=posted.typed, errors=posted.errors),
            "wrong": posted.errors.get("", ()) if posted.mode == "fields" else (),
            "is_wrong": bool(posted.errors),
            "edited": edited and of_edited(edited),
            "changes": changes(held.call.arguments, posted.arguments) if is_whole else (),
        }
    return render(request, "reviews/_call_check.html", context)
