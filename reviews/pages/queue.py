"""The pages where people read what is held and decide."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import push_url

from metacog.audit import audit
from metacog.db.clocks import LEEWAY
from metacog.db.ids import new_id
from metacog.db.prepared import written_once
from metacog.db.rows import COUNTED
from metacog.heuristics.contradiction.contradictions import contradicts
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.effect_bits import bits_of
from metacog.models import Agent, Role, Team, User
from metacog.pages.agent_choice import choice
from reviews.held import decisions, listing, presence, saved_views, similar
from reviews.held.calls import passing
from reviews.held.decisions import Taken
from reviews.held.filters import Filters, Order, named, orders, word
from reviews.held.grants import NotGranted
from reviews.held.presence import Presence
from reviews.learning import reason_groups
from reviews.metrics import review_time, sampling
from reviews.models import AgentResponse, Approval, CallGrant, Decision, DecisionVerdict, HeldItem, Signal
from reviews.pages import call_desk, call_edit, talk
from reviews.pages.call_desk import of_edited
from reviews.pages.deciding import (
    approvals_of,
    done_here,
    reason_form,
    reason_given,
    remember,
    told_for,
    wants_answer,
    why_not,
    with_line_ends_of,
    words_waiting,
)
from reviews.pages.person import PersonRequest, forbidden, number, visible_item, visible_item_or_404
from reviews.presentation import filter_form, highlight, questions
from reviews.presentation.approvals import counted, whom
from reviews.presentation.calls import answer_form, grant_form
from reviews.presentation.calls.read import edited_of
from reviews.presentation.differences import in_words
from reviews.presentation.explanation import (
    RECORD_OF,
    explain,
    is_demanded,
    other_parts,
    response_flags,
    was_paused,
)
from reviews.presentation.look_alikes import of_hosts
from reviews.presentation.marks import marked
from reviews.presentation.queue_rows import entries
from reviews.presentation.reading.likeness import alikes
from reviews.presentation.reading.word_changes import word_changes
from reviews.presentation.risk.standing import stands
from reviews.records import reasons, traces
from reviews.risk import in_force
from reviews.scoring import plain_text
from reviews.serializers import hesitation_for_people, signals_of, verdict_for_people

State, Kind = HeldItem.State, HeldItem.Kind

MOST_IN_EDITOR = 20_000  # characters of an item whose editor comes with its page; of a longer one once it is asked for
MOST_AHEAD = 40  # items that a page has decided and not yet heard of
# What the item's templates ask for that few items have: to find a name nowhere takes Django the longest.
_UNSAID = dict.fromkeys(
    [
        *("asked", "conflict", "given", "meanwhile", "problem", "risky", "siblings", "too_late"),
        *("talk_note", "talk_wrong", "typed"),
    ],
    "",
)


@require_safe
def queue(request: PersonRequest) -> HttpResponse:
    """Show the list, and beside it the item that comes first."""
    around = _presence(request)
    filters, unknown = Filters.of_list(request.GET, request.user.teams, request.user.pk)
    page = listing.page(filters, request.user, around)
    first = _first(page) or next(iter(page.rows), None)
    held = visible_item(request, first.public_id) if first else None
    # On a phone the list is all there is to see: the page says by itself when the item is in sight.
    return _split(request, filters, held, page=page, around=around, view="list", unknown_filters=unknown)


@require_safe
def item(request: PersonRequest, held_id: str) -> HttpResponse:
    """Show one item beside the list; the item alone when the page has the list."""
    held = visible_item_or_404(request, held_id)
    if request.htmx:
        desk = _desk(request, Filters.of(request.GET, request.user.teams, request.user.pk), held, _presence(request))
        return render(request, "reviews/_desk.html", desk)
    filters, unknown = Filters.of_list(request.GET, request.user.teams, request.user.pk)
    return _split(request, filters, held, unknown_filters=unknown)


@require_safe
def following(request: PersonRequest, held_id: str) -> HttpResponse:
    """Give a page the item that follows one; 204 where there is nothing more.

    The page keeps it until it is shown: to fetch it is not to look at it. `without` names what the page has shown or
    decided already; `now` says that it is shown at once.
    """
    held, filters = visible_item_or_404(request, held_id), Filters.of(request.GET, request.user.teams, request.user.pk)
    around = _presence(request)
    without = [held.public_id, *map(named, request.GET.getlist("without")[:MOST_AHEAD])]
    found = listing.neighbour(filters, request.user.teams, held, around, without)
    if found is None and "now" not in request.GET:
        return HttpResponse(status=204)
    shown = visible_item_or_404(request, found) if found else None
    desk = _desk(request, filters, shown, around, in_sight="now" in request.GET, is_done=True)
    answer = render(request, "reviews/_desk.html", desk)
    return push_url(answer, (reverse("item", args=[shown.public_id]) if shown else reverse("queue")) + filters.query)


@require_safe
def changes(request: PersonRequest) -> HttpResponse:
    """Answer a page that asks whether anything changed: 204, or the parts of it that did."""
    teams, around = request.user.teams, _presence(request)
    opened, in_sight = word(request.GET, "open"), "unseen" not in request.GET
    held = None
    if opened and in_sight and around.mine != opened:
        held = visible_item(request, opened)
        _look(request, held)
    if listing.token(request.user, around) == request.GET.get("token"):
        return HttpResponse(status=204)
    filters = Filters.of(request.GET, teams, request.user.pk)
    page = listing.page(filters, request.user, around)
    context: dict[str, Any] = {"oob": True, "opened": opened}
    if opened:
        held = held or visible_item(request, opened)
        context["others"] = around.others.get(held.pk) if held else None
        context |= {"held": held, **_alike(request, filters, held), **talk.of_desk(request, held)} if held else {}
        if held and request.GET.get("version") != str(held.version):
            context |= _desk(request, filters, held, around, in_sight=in_sight) | {"meanwhile": True}
    elif first := _first(page):
        held = visible_item(request, first.public_id)
        opened = first.public_id
        context |= _desk(request, filters, held, around, in_sight=False) | {"fill_desk": True}
    context |= _list(request, filters, page, opened)
    return render(request, "reviews/_changes.html", context)


@require_POST
def reveal(request: PersonRequest, held_id: str) -> HttpResponse:
    """Show a masked value of a tool call, or the secrets of a text, to reviewers; the audit log keeps who looked.

    As a part of the page, the desk with its editor (`edit`), or the page of the item.
    """
    held, place = visible_item_or_404(request, held_id), request.POST.get("at", "")
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    is_call = held.kind == Kind.TOOL_CALL
    field = call_desk.field_at(held, place) if is_call else None
    if field is None and (place or is_call or secrets.masked_text(held.text) == held.text):
        raise Http404
    action = audit.of_item(held.kind, "revealed")
    audit.record(action, held.public_id, actor=request.user, team=held.team_id, agent=held.agent, at=place[:200])
    if request.htmx and field and "edit" not in request.GET:
        return render(request, "reviews/_argument.html", {"held": held, "field": field, "may_reveal": True})
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    if request.htmx:
        desk = _desk(request, filters, held, _presence(request), revealed=[place])
        return render(request, "reviews/_desk.html", desk)
    return _split(request, filters, held, revealed=[place])


@require_POST
def decide(request: PersonRequest, held_id: str) -> HttpResponse:
    """Decide an item as the form shows it, then go on to the next."""
    held, filters = visible_item_or_404(request, held_id), Filters.of(request.GET, request.user.teams, request.user.pk)
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    verdict, is_call = request.POST.get("verdict", ""), held.kind == Kind.TOOL_CALL
    is_question = held.kind == Kind.QUESTION
    text = None if is_call or is_question else _edited(request.POST.get("text"), held.text)
    call_edited = call_edit.read(held.call, request.POST) if is_call else None
    if call_edited and not call_edited.is_changed:
        call_edited = None
    answered = answer_form.read(held, request.POST) if verdict == DecisionVerdict.ANSWER and is_question else None
    posted = answered or call_edited or text
    is_rejected = verdict == DecisionVerdict.REJECT
    reason, given = (reason_given(request, held.agent), reason_form(request)) if is_rejected else ("", None)
    problem = why_not(verdict, text, reason)
    like = request.POST.get("approval", "") if verdict == DecisionVerdict.APPROVE and not posted else ""
    if text is not None and secrets.is_mask_left(text, held.text):
        problem = problem or call_edit.still_masked()
    if problem:
        return _split(request, filters, held, status=422, problem=problem, given=given, posted=posted)
    edit: decisions.Edit | None = None
    if verdict == DecisionVerdict.APPROVE and (text is not None or call_edited):
        verdict = DecisionVerdict.EDIT
        edit = decisions.Arguments(call_edited.arguments) if call_edited else text
    if answered:
        edit = decisions.Answer(answered.value)
    if answered and answered.errors:
        problem = gettext("Nothing was decided: the answer is not complete or not valid yet.")
        return _split(request, filters, held, status=422, problem=problem, posted=posted)
    if call_edited and call_edited.errors:
        problem = gettext("Nothing was decided: some fields have errors.")
        return _split(request, filters, held, status=422, problem=problem, posted=posted)
    released = grant_form.released(request.POST) if is_call and not is_rejected else {}
    try:
        how = decisions.Circumstances(
            version=number(request.POST.get("version", "")),
            digest=request.POST.get("sha256", ""),
            shown_ms=review_time.elapsed(
                request.POST.get("shown", ""), held.public_id, number(request.POST.get("in_sight", ""))
            ),
            together=new_id("press") if released else "",
            grant=grant_form.wanted(request.POST, is_edited=edit is not None) if is_call and not is_rejected else None,
            like=like[:40],
        )
        decision, _ = decisions.decide_or_approve(
            held,
            request.user,
            verdict,
            edit=edit,
            reason=reason,
            accept_risk=request.POST.get("accept_risk") == "1",
            circumstances=how,
        )
        if isinstance(decision, Decision):
            passing.release(decision, released, how)
    except decisions.Standing:
        held = visible_item_or_404(request, held_id)
        return _split(request, filters, held, status=409, conflict=True, given=given, posted=posted)
    except decisions.WantsAnswer:
        return _split(request, filters, held, status=422, problem=wants_answer(), given=given, posted=posted)
    except decisions.NotApprover as refusal:
        problem = gettext("Nothing was decided. Approving this takes %(whom)s.") % {"whom": whom(refusal.approvers)}
        return _split(request, filters, held, status=403, problem=problem, posted=posted)
    except NotGranted as wrong:
        problem = gettext("Nothing was decided: %(why)s") % {"why": secrets.masked_text(wrong.detail)}
        return _split(request, filters, held, status=422, problem=problem, posted=posted)
    except decisions.OutOfSchema as wrong:
        assert call_edited
        posted = call_edited._replace(errors=call_edit.of_schema(call_edited, wrong.errors))
        problem = gettext("Nothing was decided: the arguments do not meet the tool's schema.")
        return _split(request, filters, held, status=422, problem=problem, posted=posted)
    except decisions.StillRisky as risky:
        return _split(request, filters, held, status=422, risky=of_edited(risky.edited), posted=posted)
    around = _presence(request)
    if request.htmx and "opened" in request.POST:
        return remember(request, _noted(request, filters, decision, around), decision)
    without = [named(each) for each in request.POST.getlist("without")[:MOST_AHEAD]]
    after = listing.neighbour(filters, request.user.teams, held, around, without)
    following = visible_item_or_404(request, after) if after else None
    return remember(request, _go_on(request, filters, following, decision, around), decision)


@require_POST
def score_edit(request: PersonRequest, held_id: str) -> HttpResponse:
    """Say what an edit scores, or which rules it meets, while somebody writes it; nothing is kept."""
    held = visible_item_or_404(request, held_id)
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    if held.kind == Kind.TOOL_CALL:
        return call_desk.check(request, held)
    if held.kind == Kind.QUESTION:
        raise Http404
    text = _edited(request.POST.get("text"), held.text)
    problem = why_not(DecisionVerdict.APPROVE, text, "")
    if text is not None and secrets.is_mask_left(text, held.text):
        problem = problem or call_edit.still_masked()
    edited = decisions.score_edit(held, text) if text is not None and not problem else None
    return render(request, "reviews/_edit_score.html", {"problem": problem, "edited": edited and of_edited(edited)})


@require_POST
def undo(request: PersonRequest, decision_id: str) -> HttpResponse:
    """Take back one's own decision and show its item again."""
    decision = get_object_or_404(
        Decision.objects.select_related("held"),
        public_id=decision_id,
        person=request.user,
        held__team__in=request.user.teams,
    )
    if not request.user.has_role(decision.held.team_id, Role.REVIEWER):
        return forbidden(request)
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    one_press = Decision.objects.filter(
        together=decision.together, person=request.user, held__team__in=request.user.teams_as(Role.REVIEWER)
    ).select_related("held")
    # The first last: with an approval that gave a grant goes what that released.
    every = one_press.order_by("-id") if decision.together else [decision]
    taken_back = [each.undone_at is not None or decisions.undo(each, request.user) for each in every]
    held = visible_item_or_404(request, _first_alike(decision, every))
    if not all(taken_back):
        return _split(request, filters, held, status=409, too_late=True)
    return _go_on(request, filters, held, decision, _presence(request))


@require_POST
def withdraw_approval(request: PersonRequest, approval_id: str) -> HttpResponse:
    """Take back one's own approval, which others have not joined yet, and show its item again."""
    mine = Approval.objects.filter(person=request.user, held__team__in=request.user.teams_as(Role.REVIEWER))
    approval = get_object_or_404(mine.select_related("held"), public_id=approval_id)
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    every = mine.filter(together=approval.together).select_related("held") if approval.together else [approval]
    taken_back = [each.ended_at is not None or decisions.withdraw_approval(each) for each in every]
    held = visible_item_or_404(request, _first_alike(approval, every))
    if not all(taken_back):
        return _split(request, filters, held, status=409, too_late=True)
    return _go_on(request, filters, held, approval, _presence(request))


def _first_alike(one: Taken, every: Iterable[Taken]) -> str:
    """Return which item of those that one press was about has the row of their near-duplicates."""
    alike = [each.held for each in every if each.held.alike is not None and each.held.alike == one.held.alike]
    first: str = min(alike or [one.held], key=lambda held: (held.expires_at, held.pk)).public_id
    return first


def _go_on(
    request: PersonRequest, filters: Filters, held: HeldItem | None, decision: Taken | None, around: Presence
) -> HttpResponse:
    """Go to `held` after something was decided: as a swap with the list as it is now, else by a redirect."""
    url = (reverse("item", args=[held.public_id]) if held else reverse("queue")) + filters.query
    if not request.htmx:
        return HttpResponseRedirect(url)
    page = listing.page(filters, request.user, around)
    context = _desk(request, filters, held, around, just_done=decision, is_done=True)
    context |= _list(request, filters, page, held.public_id if held else "") | {"oob": True}
    return push_url(render(request, "reviews/_next.html", context), url)


def _noted(request: PersonRequest, filters: Filters, decision: Taken, around: Presence) -> HttpResponse:
    """Answer a page that has gone on already: what was decided, and the list if the page waits for it.

    `opened` is the item that it shows by now.
    """
    opened = word(request.POST, "opened")
    held = visible_item(request, opened) if opened else None
    _look(request, held)
    context: dict[str, Any] = {"held": held, "filters": filters, "told": _told(request, decision)}
    if "list" in request.POST:
        context |= _alike(request, filters, held) if held else {}
        page = listing.page(filters, request.user, around)
        context |= _list(request, filters, page, opened) | {"oob": True, "with_list": True}
    return render(request, "reviews/_noted.html", context)


def _split(
    request: PersonRequest,
    filters: Filters,
    held: HeldItem | None,
    *,
    page: listing.Page | None = None,
    around: Presence | None = None,
    view: str = "item",
    status: int = 200,
    **shown: Any,
) -> HttpResponse:
    """Render list and item; of a page that is there already, the item and what changed in the list."""
    around = around or _presence(request)
    page = page or listing.page(filters, request.user, around)
    context = _desk(request, filters, held, around, in_sight=view == "item", **shown)
    context |= _list(request, filters, page, held.public_id if held else "")
    if request.htmx:
        return render(request, "reviews/_next.html", context | {"oob": True}, status=status)
    agents = Agent.objects.filter(team__in=request.user.teams)
    joined = f"{filters.but().query}&" if filters.but().query else "?"
    context |= {
        "view": view,
        **filter_form.of_list(filters, request.user),
        "views": _views(request.user, filters, page.to_do.get("queue", 0)),
        "view_teams": [team for team in request.user.teams if request.user.has_role(team.pk, Role.REVIEWER)],
        "export_url": reverse("queue-export") + joined,
        "choice": choice("queue", agents.order_by("name", "team__name"), request.GET, filters.agent),
        "orders": [
            ("" if order == filters.usual else order, told, order == filters.order)
            for order, told in _order_names(request.user.teams).items()
        ],
        "held_url": reverse("queue") + filters.in_list("held").query,
        "decided_url": reverse("queue") + filters.in_list("decided").query,
        "all_url": reverse("queue") + Filters(state=filters.state, order=filters.order, usual=filters.usual).query,
    }
    return render(request, "reviews/queue.html", context, status=status)


def _views(user: User, filters: Filters, held: int) -> list[dict[str, Any]]:
    """Return the saved views as tabs: each with its address, and whether it is what the page shows."""
    here = filters.but()
    return [
        {
            "view": each.view,
            "may_change": each.may_change,
            "count": each.count,
            "url": reverse("queue") + each.filters.query,
            "chosen": each.filters == here,
        }
        for each in saved_views.views_of(user, held)
    ]


def _order_names(teams: Sequence[Team]) -> dict[Order, str]:
    """Name the orders in which these teams' queue can be read, the usual one first."""
    kinds = {kind for team in teams for kind in (team.risk_kind, team.risk_calls) if kind}
    learned = {
        "length": gettext("Order: risk by length"),
        "turns": gettext("Order: risk by turns"),
        "agent": gettext("Order: risk by agent"),
        "metadata": gettext("Order: risk by metadata"),
    }
    names: dict[Order, str] = {
        "learned": learned.get(min(kinds), "") if len(kinds) == 1 else "",
        "risk": gettext("Order: score"),
        "age": gettext("Order: oldest first"),
    }
    return {order: names[order] or gettext("Order: learned risk") for order in orders(teams)}


def _edits(page: listing.Page) -> dict[int, int]:
    """Return what the edited calls of a page would do, as bits, by the decision's key."""
    calls = (row for row in page.rows if row.state == HeldItem.State.EDITED and row.kind == Kind.TOOL_CALL)
    edited = edited_of(decision for row in calls for decision in vars(row)["standing"])
    return {key: bits_of(each.effects) for key, each in edited.items()}


def _list(request: PersonRequest, filters: Filters, page: listing.Page, opened: str) -> dict[str, Any]:
    earlier = page.earlier
    before = replace(filters, after=earlier[listing.PAGE] if len(earlier) > listing.PAGE else "")
    return {
        "filters": filters,
        "page": page,
        "to_do": page.to_do,
        "entries": entries(
            page.rows,
            request.user,
            opened=opened,
            query=filters.query,
            first=filters.but().query,
            is_ranked=filters.order == "learned",
            edits=_edits(page),
        ),
        "talk_views": talk.views(filters, page.to_do, request.user),
        "first_url": reverse("queue") + filters.but().query if filters.after else "",
        "before_url": reverse("queue") + before.query if before.after else "",
        "before_last": reverse("item", args=[earlier[0]]) + before.query if earlier else "",
        "next_url": reverse("queue") + replace(filters, after=page.next).query if page.next else "",
    }


def _desk(
    request: PersonRequest,
    filters: Filters,
    held: HeldItem | None,
    around: Presence,
    *,
    in_sight: bool = True,
    just_done: Taken | None = None,
    posted: str | call_edit.Posted | answer_form.Posted | None = None,
    **shown: Any,
) -> dict[str, Any]:
    """Return what the item's side of the page shows; write down that this person looks at it if it is in sight."""
    context: dict[str, Any] = _UNSAID | {"held": held, "filters": filters, "told": _told(request, just_done)} | shown
    revealed: Collection[str] = shown.get("revealed", ())  # pointers of secrets that are shown; "" of a text's
    if held is None:
        return context | _why_nothing(request, filters)
    if in_sight:
        _look(request, held)
    response = held.response
    verdict, body = response.wire_verdict(), response.wire_body()
    hesitation = hesitation_for_people(held, verdict, body)
    whole = body["response"] if body["response"] != held.text else ""
    is_call, may_see = held.kind == Kind.TOOL_CALL, "" in revealed
    shown_text = "" if is_call else held.text if may_see else secrets.masked_text(held.text)
    history = _history(held.pk)
    standing = next((decision for decision in history if decision.undone_at is None), None)
    released = standing.text if standing and standing.verdict == DecisionVerdict.EDIT else None  # of a call: None
    edited = posted if isinstance(posted, str) else released
    is_question = held.kind == Kind.QUESTION
    why = in_force.why(held) if held.state == State.PENDING and not is_question else None
    place = None
    if why:
        place = stands(why, held, verdict, body.get("user_message"), reason_groups.of_team(held.team_id))
    can_decide = held.state == State.PENDING and request.user.has_role(held.team_id, Role.REVIEWER)
    editing = not is_question and (posted is not None or "edit" in request.GET)
    has_editor = editing or (not is_question and can_decide and len(held.text) <= MOST_IN_EDITOR)
    if is_call:
        edit = posted if isinstance(posted, call_edit.Posted) else None
        context |= call_desk.of_desk(request, held, standing, edit=edit, revealed=revealed, has_editor=has_editor)
    elif is_question:
        answer = posted if isinstance(posted, answer_form.Posted) else None
        context["asked"] = answer_form.shown(held, answer, standing)
    elif len(verdict["items"]) > 1:
        context |= call_desk.siblings(held)
    return (
        context
        | {
            "hesitation": hesitation,
            **other_parts(verdict_for_people({**verdict, "items": []}, body)),  # theirs may be long
            "parts": explain(hesitation, _fired(response.pk), held.agent_id) if hesitation else [],
            "demanded": not is_call and not is_question and is_demanded(held, body),
            "was_paused": not is_call and was_paused(held, verdict),
            "text": None if is_call else marked(held, verdict, body, place.marks if place else (), is_revealed=may_see),
            "hosts": () if is_call else of_hosts(shown_text),
            "stands": place,
            "response_flags": response_flags(verdict),
            "trace": traces.of_item(held),
            "attributes": held.attributes.items(),  # one may be called `items`, which a template would take
            "whole": highlight.show(whole, highlight.of_response(signals_of(held, verdict))),
            "user_message": body.get("user_message"),
            "questions": questions.about(request.user, response),
            "record_of": f"{RECORD_OF:,}",
            "item_count": len(verdict["items"]),
            "history": history,
            "standing": standing,
            "similar": alikes(held, similar.decided(held)),
            "second_looks": [
                (look, said, None if is_call else contradicts(held.text, said))
                for look in _second_looks(held.pk)
                for said in (look.wire_body()["response"],)
            ],
            "can_decide": can_decide,
            "posted": posted,
            "editing": editing,
            "has_editor": has_editor,
            "may_reveal": request.user.has_role(held.team_id, Role.REVIEWER),
            "is_masked": not is_call and shown_text != held.text,
            "original_text": shown_text,
            "is_typed": posted is not None,
            "text_changes": () if edited is None else word_changes(held.text, edited),
            "edited_text": posted if isinstance(posted, str) else "" if is_call or is_question else shown_text,
            "presets": reasons.PRESETS.items(),
            "approvals": approvals_of(held, request.user, filters.query),
            "waiting_words": words_waiting(held, filters.query),
            "others": around.others.get(held.pk),
            "shown": review_time.stamp(held.public_id, request.POST.get("shown", "")),
        }
        | _alike(request, filters, held)
        | talk.of_desk(request, held)
    )


@written_once
def _history(held: Any) -> QuerySet[Decision]:
    return Decision.as_told().filter(held=held).annotate(given=F("answer")).order_by("id")


@written_once
def _second_looks(held: Any) -> QuerySet[AgentResponse]:
    rows = AgentResponse.objects.only("second_look_at", "public_id", "received_at", "body", "erased_at")
    return rows.filter(second_look_at=held).order_by("-id")[:3]


@written_once
def _fired(response: Any) -> QuerySet[Signal]:
    return Signal.objects.select_related("pattern__record").filter(response=response)


def _alike(request: PersonRequest, filters: Filters, held: HeldItem) -> dict[str, Any]:
    """Return what the item's page says of its near-duplicates, the same as its row; they open under `alike`."""
    group = listing.alike_of(held, filters)
    if group is None:
        return {"alike": None}
    first = filters.but(alike="").query
    joined = f"{first}&" if first else "?"
    together = f"{reverse('together')}{joined}group={held.public_id}"
    return {
        "alike": {
            "count": group.size,
            "differ": in_words(group.differs),
            "url": f"{reverse('queue')}{joined}alike={held.public_id}",
            "approve_url": together if request.user.has_role(held.team_id, Role.REVIEWER) else "",
            "reject_url": f"{together}&reject=1",
        }
    }


def _presence(request: PersonRequest) -> Presence:
    return presence.of(request.user)


def _look(request: PersonRequest, held: HeldItem | None) -> None:
    """Write down that this person has an item open that waits to be decided."""
    if held and held.state == State.PENDING:
        presence.look(request.user, held)


def _told(request: PersonRequest, just_done: Taken | None) -> dict[str, Any] | None:
    """Return what the person did in this browser a moment ago, and until when it can be taken back."""
    now, mine = timezone.now(), (request.user.pk, [team.pk for team in request.user.teams])
    if isinstance(just_done, Approval):
        approval: Any = _approval.first(*mine, just_done.pk)
        return approval and _told_of(approval, now)
    if not (just_done or done_here(request)):
        return None
    recent = *mine, [*done_here(request), *([just_done.public_id] if just_done else [])]
    approval = _approved_last.first(*recent, now - 2 * told_for())
    last: Any = _decision.first(*mine, just_done.pk) if just_done else _decided_last.first(*recent, now + LEEWAY)
    if approval and not just_done and (last is None or last.latest < (approval.ended_at or approval.given_at)):
        return _told_of(approval, now)
    if last is None:
        return None
    if last != just_done and last.latest < now - told_for():
        return None
    is_standing = last.undone_at is None
    before = None if is_standing else _to_undo.first(*recent, now)
    one_press = Decision.objects.filter(together=last.together, undone_at__isnull=is_standing)
    return {
        "decision": last,
        "count": one_press.count() if last.together else 1,
        "clip": _quoted(last, is_standing=is_standing),
        "seconds": math.ceil((last.release_at - now).total_seconds()),
        "can_undo": last.can_be_undone(now),
        "before": before,
        "before_seconds": before and math.ceil((before.release_at - now).total_seconds()),
        "can_teach": last.verdict == DecisionVerdict.REJECT
        and last.undone_at is None
        and last.held.kind != Kind.TOOL_CALL  # a known error is one of words
        and request.user.has_role(last.held.team_id, Role.CURATOR),
    }


@written_once
def _approval(person: Any, teams: Any, approval: Any) -> QuerySet[Approval]:
    return _as_told(Approval.objects.filter(person=person, held__team__in=teams, pk=approval))


@written_once
def _approved_last(person: Any, teams: Any, ids: Any, since: Any) -> QuerySet[Approval]:
    """Return what a person approved last that decided nothing, or took back."""
    is_open = Q(ended_at=None, held__state=State.PENDING) | Q(ended=Approval.Ended.WITHDRAWN)
    rows = Approval.objects.filter(is_open, person=person, held__team__in=teams, public_id__in=ids, given_at__gte=since)
    return _as_told(rows).order_by("-given_at")[:1]


def _as_told(approvals: QuerySet[Approval]) -> QuerySet[Approval]:
    clip, edited = listing.beginning("held__"), listing.edited_begins()
    rows = approvals.select_related("held__terms")
    return rows.annotate(clip=clip, edited=edited, call_name=F("held__call__name"))


def _told_of(approval: Any, now: datetime) -> dict[str, Any]:
    """Return what `_told` does of an approval that others must join, or that waits for tool calls."""
    held = approval.held
    terms = held.terms
    return {
        "approval": approval,
        "count": Approval.objects.filter(together=approval.together).count() if approval.together else 1,
        "clip": _quoted(approval, is_standing=approval.ended_at is None),
        "counted": "" if terms.waits_for else counted(terms.given, terms.people),
    }


def _quoted(done: Any, *, is_standing: bool) -> str:
    """Return what a person let go, as they edited it; once that is taken back, the item as it is."""
    clip: str = done.edited if is_standing and done.edited is not None else done.clip
    return secrets.excerpt(done.held.kind, done.call_name, clip)


@written_once
def _decision(person: Any, teams: Any, decision: Any) -> QuerySet[Decision]:
    return _latest(Decision.objects.filter(person=person, held__team__in=teams, pk=decision))


@written_once
def _decided_last(person: Any, teams: Any, ids: Any, until: Any) -> QuerySet[Decision]:
    """Return what was done last; not what was before the clock was set back, which would stay the last."""
    return _latest(_recent(person, teams, ids).filter(decided_at__lte=until))


def _recent(person: Any, teams: Any, ids: Any) -> QuerySet[Decision]:
    """Return a person's decisions with these ids."""
    return Decision.objects.filter(person=person, held__team__in=teams, public_id__in=ids)


def _latest(decisions: QuerySet[Decision]) -> QuerySet[Decision]:
    """Return what was done last of some decisions, with what the page says of it."""
    stands = Q(granted_at=OuterRef("decided_at"), withdrawn_at=None)  # a person may have ended it by itself
    with_it = stands | Q(withdrawn_at=OuterRef("undone_at"))
    given = CallGrant.objects.filter(with_it, held=OuterRef("held"))
    rows = decisions.select_related("held").only(
        *("public_id", "verdict", "decided_at", "undone_at", "release_at", "released_at", "together"),
        *("held__team", "held__public_id", "held__kind"),
    )
    return rows.annotate(
        clip=listing.beginning("held__"),
        edited=listing.edited_begins(),
        call_name=F("held__call__name"),
        latest=Coalesce("undone_at", "decided_at"),
        has_grant=Exists(given),
    ).order_by("-latest", "-public_id")[:1]


@written_once
def _to_undo(person: Any, teams: Any, ids: Any, now: Any) -> QuerySet[Decision]:
    """Return the last of a person's decisions that can still be undone: what an Undo means after an Undo."""
    resting = _recent(person, teams, ids).filter(undone_at=None, released_at=None, release_at__gt=now)
    return resting.only("public_id", "release_at").order_by("-public_id")[:1]


def _why_nothing(request: PersonRequest, filters: Filters) -> dict[str, Any]:
    """Say why the list is empty, so that the page can say what to do next."""
    teams = request.user.teams_as()
    if filters.narrow or filters.after:
        asked = Agent.objects.filter(team__in=teams, public_id=filters.agent)
        offered = filters.agent and filters.state != "decided"
        return {"nothing": "matches", **(_plain_text(request, asked) if offered else {})}
    if filters.state == "decided":
        return {"nothing": "decided"}
    if not teams.exists():
        return {"nothing": "team"}
    if not Agent.objects.filter(team__in=teams).exists():
        return {"nothing": "agents", "can_add": request.user.teams_as(Role.OWNER).exists()}
    if not AgentResponse.objects.filter(agent__team__in=teams).exists():
        return {"nothing": "responses", "base_url": settings.PUBLIC_URL}
    if not HeldItem.objects.filter(team__in=teams).exists():
        can_teach = request.user.teams_as(Role.CURATOR).exists()
        return {"nothing": "held", "can_teach": can_teach, **_unheld(request, teams)}
    return {"nothing": "waiting", **_unheld(request, teams)}


def _unheld(request: PersonRequest, teams: QuerySet[Team]) -> dict[str, Any]:
    """Return what can be done about responses of which nothing was held."""
    agents = Agent.objects.filter(team__in=teams)
    samples = sampling.waiting(teams).order_by()[: COUNTED + 1].count()
    return {"samples": samples, **_plain_text(request, agents)}


def _plain_text(request: PersonRequest, agents: QuerySet[Agent]) -> dict[str, Any]:
    """Return the offer to take a response without items for one chat, where one of the agents posts plain text."""
    found = plain_text.offer_among(agents)
    may_switch = found is not None and request.user.has_role(found.agent.team_id, Role.OWNER)
    return {"plain_text": found, "may_switch": may_switch}


def _first(page: listing.Page) -> HeldItem | None:
    """Return the first item that waits; one that nobody else looks at, where there is one."""
    waiting = [row for row in page.rows if row.state == State.PENDING]
    return next((row for row in waiting if not row.lookers), waiting[0] if waiting else None)


def _edited(posted: str | None, original: str) -> str | None:
    """Return the posted text with the original's line ends and secret, or None when nothing was changed."""
    if posted is None:
        return None
    text = with_line_ends_of(original, posted)
    if with_line_ends_of(shown := secrets.masked_text(original), posted) == shown:
        return None
    text = secrets.restored_text(text, original)
    return None if text == original else text
