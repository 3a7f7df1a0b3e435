"""The pages of what agents posted: all of it, and one response with what was answered and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from metacog.accounts.forms import PARTS
from metacog.audit import audit
from metacog.heuristics import ENGINE
from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.wire.assessment import EffectPart
from metacog.models import Agent, Role
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.held.filters import word
from reviews.held.listing import PAGE
from reviews.models import AgentResponse, HeldItem
from reviews.pages.person import PersonRequest, forbidden
from reviews.presentation import arguments, highlight, phrases, questions
from reviews.presentation.calls.read import known_of, reader_of
from reviews.presentation.effects import sentences
from reviews.presentation.explanation import RECORD_OF, explain, other_parts, response_flags
from reviews.presentation.marks import paired
from reviews.scoring.plain_text import WITHOUT_ITEMS
from reviews.scoring.replay import Replayer
from reviews.search import export
from reviews.search.newest import newest
from reviews.serializers import verdict_for_people

MOST = 20  # differences that are shown
LONG = 300  # characters of each
SHOW = ("triggered", "held", "flagged", "unread")


@require_safe
def responses(request: PersonRequest) -> HttpResponse:
    """List what agents posted, latest first."""
    after = word(request.GET, "after")
    agents, agent, which, unknown = _asked(request)
    posting = agents.filter(public_id=agent) if agent else agents
    rows = AgentResponse.objects.all()
    if after and (last := rows.filter(agent__in=agents, public_id=after).first()):
        rows = rows.filter(pk__lt=last.pk)
    pks: Iterable[int]
    if which:
        their = list(posting.values_list("pk", flat=True))
        order = ("-received_at", "-id") if len(their) == 1 else ("-id",)  # see AgentResponse.latest_of
        pks = _shown(rows, which).filter(agent__in=their).order_by(*order).values_list("pk", flat=True)[: PAGE + 1]
    else:
        pks = newest(rows, posting, PAGE + 1)
    found = list(
        AgentResponse.objects.filter(pk__in=list(pks))
        .annotate(has_held=_HAS_HELD, has_items=~WITHOUT_ITEMS)
        .select_related("agent__team")
        .defer("body", "verdict", "history", "fingerprint")
        .order_by("-id")
    )
    query = request.GET.copy()
    query["after"] = found[PAGE - 1].public_id if len(found) > PAGE else ""
    return render(
        request,
        "reviews/responses.html",
        {
            "rows": found[:PAGE],
            "choice": choice("responses", agents.order_by("name", "team__name"), request.GET, agent),
            "agent": agent,
            "which": which,
            "export_query": urlencode({name: value for name, value in (("agent", agent), ("show", which)) if value}),
            "unknown_filters": unknown,
            "after": after,
            "next_url": f"?{query.urlencode()}" if query["after"] else "",
        },
    )


@require_safe
def export_responses(request: PersonRequest) -> StreamingHttpResponse:
    """Send the same responses, all of them, as one file."""
    agents, agent, which, unknown = _asked(request)
    if unknown:  # a file has no place to say that it is not what was asked for
        raise Http404
    posting = list((agents.filter(public_id=agent) if agent else agents).values_list("pk", flat=True))
    rows = _shown(AgentResponse.objects.filter(agent__in=posting), which)
    return export.as_file(
        "responses", request.GET.get("format", export.CSV), export.RESPONSE, export.of_responses(rows)
    )


_HAS_HELD = Exists(HeldItem.objects.filter(response=OuterRef("pk")))


def _asked(request: PersonRequest) -> tuple[QuerySet[Agent], str, str, list[str]]:
    """Return the agents a person sees, the one that is asked for, which responses, and what of it is not known."""
    agent, which = (word(request.GET, name) for name in ("agent", "show"))
    agents = Agent.objects.filter(team__in=request.user.teams_as())
    named = list(agents.filter(public_id=agent)) if agent else []
    unknown = unknown_filters(request.GET, agents=named, show=SHOW)
    return agents, agent if named else "", which if which in SHOW else "", unknown


def _shown(rows: QuerySet[AgentResponse], which: str) -> QuerySet[AgentResponse]:
    if not which:
        return rows
    return rows.filter(_HAS_HELD) if which == "held" else rows.filter(**{which: True})


@require_http_methods(["GET", "HEAD", "POST"])
def response(request: PersonRequest, response_id: str) -> HttpResponse:
    """Show one response: what was posted, what was answered, and why; with `?replay=1`, the same verdict made again.

    Posted to, it shows reviewers what is masked; the audit log keeps who looked.
    """
    found = get_object_or_404(
        AgentResponse.objects.select_related("agent__team", "second_look_at", "problem"),
        public_id=response_id,
        agent__team__in=request.user.teams_as(),
    )
    replayed = _replayed(found) if "replay" in request.GET else {}
    if replayed and request.htmx:
        return render(request, "reviews/_replay.html", {"response": found, **replayed})
    verdict, body = found.wire_verdict(), found.wire_body()
    may_reveal = request.user.has_role(found.agent.team_id, Role.REVIEWER)
    if request.method == "POST" and not may_reveal:
        return forbidden(request)
    is_revealed = request.method == "POST"
    hidden, sent_hidden = verdict_for_people(verdict, body), secrets.masked_body(body)
    has_masked = (hidden, sent_hidden) != (verdict, body)
    if is_revealed and has_masked:
        audit.record(
            "response-revealed", found.public_id, actor=request.user, team=found.agent.team_id, agent=found.agent
        )
    shown, fields = (verdict, body) if is_revealed else (hidden, sent_hidden)
    hesitation = shown["hesitation"]
    signals = verdict["hesitation"]["signals"] if verdict["hesitation"] else []  # `show` moves their marks
    held = {held.index: held for held in found.held_items.defer("text")}
    reader = reader_of(found) if found.calls else Reader()
    items = [
        {
            "answer": answer,
            "call": sent.call,
            **(_of_call(sent.call, answer.get("effects", ()), reader, is_revealed=is_revealed) if sent.call else {}),
            "attributes": sent.attributes.items(),  # one may be called `items`, which a template would take
            "held": held.get(answer["index"]),
            "is_whole": sent.text == body["response"] != "",
            "text": None
            if sent.call
            else highlight.show(
                sent.text,
                highlight.of_item(signals, answer["index"], sent.text, sent.start, sent.end),
                is_revealed=is_revealed,
            ),
        }
        for answer, sent in paired(verdict, body)
    ]
    known = ("response", "items", "user_message")
    return render(
        request,
        "reviews/response.html",
        {
            "response": found,
            "verdict": shown,
            "verdict_shown": highlight.show(phrases.as_json(shown), is_revealed=True),
            "may_reveal": has_masked and may_reveal and not is_revealed,
            **other_parts(shown),
            "record_of": f"{RECORD_OF:,}",
            "hesitation": hesitation,
            "parts": explain(hesitation, found.signals.select_related("pattern__record"), found.agent_id)
            if hesitation
            else [],
            "text": highlight.show(body["response"], highlight.of_response(signals), is_revealed=is_revealed),
            "user_message": body.get("user_message") and highlight.show(body["user_message"], is_revealed=is_revealed),
            "fields": [
                (name, highlight.show(phrases.as_text(value), is_revealed=True))
                for name, value in fields.items()
                if name not in known and value is not None
            ],
            "items": items,
            "response_flags": response_flags(verdict),
            "questions": questions.about(request.user, found),
            **replayed,
        },
    )


def _of_call(call: ToolCall, effects: Sequence[EffectPart], reader: Reader, *, is_revealed: bool) -> dict[str, Any]:
    known = known_of(call, effects, reader)
    return {
        "effects": sentences(effects, call.arguments),
        "fields": arguments.table(call.arguments, revealed=None if is_revealed else (), known=known),
    }


def _replayed(response: AgentResponse) -> dict[str, Any]:
    found = Replayer().replay(response)
    differences = found.differences
    return {
        "replay": found,
        "today": ENGINE,
        "differences": [
            (*_place(each.pointer), *(text and secrets.masked_text(text)[:LONG] for text in (each.stored, each.made)))
            for each in differences[:MOST]
        ],
        "more_differences": max(0, len(differences) - MOST),
    }


_PLACES: dict[str, str | Promise] = {
    **PARTS,
    "hesitation": _("Hesitation"),
    "schedule": _("Next cycle"),
    "events": _("Events"),
    "threads": _("Thought threads"),
}


def _place(pointer: str) -> tuple[str | Promise, str]:
    """Name the part of a verdict that a JSON pointer leads into, and give the rest of the way."""
    part, *rest = pointer.removeprefix("/").split("/")
    if part == "items" and rest:
        return gettext("Item %(number)d") % {"number": int(rest[0]) + 1}, "/".join(rest[1:])
    return _PLACES.get(part, part), "/".join(rest)
