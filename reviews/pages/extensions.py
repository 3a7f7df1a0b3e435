"""The pages on which people answer requests for more tool calls: the console's seat of the chairman (seed 003, 2.4)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Role
from metacog.pages.unknown_filters import unknown_filters
from patterns.models import Memory
from patterns.patterns.scorer import scorer_shown
from reviews.investigation import extensions
from reviews.investigation.forms import AnswerForm
from reviews.models import ExtensionRequest
from reviews.pages.person import PersonRequest
from reviews.presentation.engine_words import translated
from reviews.serializers import matched

SHOWN = 100  # requests that wait, and requests that are over
State = ExtensionRequest.State


@require_safe
def extension_list(request: PersonRequest) -> HttpResponse:
    """List the requests that wait for the chairman, the most urgent first, then those that are over."""
    extensions.settle()
    rows = ExtensionRequest.objects.filter(agent__team__in=request.user.teams_as()).select_related("agent", "person")
    context = {
        "waiting": rows.filter(state=State.PENDING).order_by("due_at", "pk")[:SHOWN],
        "unknown_filters": unknown_filters(request.GET),
        "over": rows.exclude(state=State.PENDING).order_by("-decided_at", "-pk")[:SHOWN],
        "section": "extensions",
    }
    return render(request, "reviews/extensions.html", context)


@require_safe
def extension(request: PersonRequest, extension_id: str) -> HttpResponse:
    """Show one request: the reason, the evidence, what the gates said, the handcard, and the answer."""
    return _page(request, _visible(request, extension_id))


@require_POST
def extension_answer(request: PersonRequest, extension_id: str) -> HttpResponse:
    """Grant more tool calls, or refuse them."""
    found = _visible(request, extension_id)
    if not request.user.has_role(found.agent.team_id, Role.REVIEWER):
        raise PermissionDenied(_("Viewers can only read. A reviewer, curator or owner of the team can answer."))
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    data = form.cleaned_data
    try:
        decided = extensions.decide(
            found,
            request.user,
            is_approved=data["approved"],
            granted=data["granted"] if data["approved"] else 0,
            answer=data["answer"],
            guidance=data["guidance"],
        )
    except extensions.Standing as standing:
        return _page(request, standing.request, form, status=409)
    if request.htmx:
        return _page(request, decided)
    messages.success(request, _("Your answer is sent to the agent."))
    return redirect("extension", extension_id)


def _page(
    request: PersonRequest, found: ExtensionRequest, form: AnswerForm | None = None, status: int = 200
) -> HttpResponse:
    others = extensions.investigation(found.agent, found.session, found.problem).exclude(pk=found.pk)
    policy = scorer_shown(found.agent).policy
    context = {
        "extension": found,
        "others": others.select_related("person").order_by("-number")[:SHOWN],
        "memories": _memories(found),
        "objections": [translated(each["detail"]) for each in (found.judgement or {}).get("objections", ())],
        "budget": extensions.budget(found.agent, found.session, found.problem, found.step),
        "model": settings.CHAIRMAN_MODEL,
        "may_answer": found.state == State.PENDING and request.user.has_role(found.agent.team_id, Role.REVIEWER),
        "form": form or AnswerForm(initial={"granted": policy.budget_extension or None}),
        "moved": status == 409,
        "section": "extensions",
    }
    template = "reviews/_extension.html" if request.htmx else "reviews/extension.html"
    return render(request, template, context, status=status)


def _memories(found: ExtensionRequest) -> list[dict[str, Any]]:
    """Return what the first gate found, as it stands now; texts of what was retired since are not quoted."""
    team = found.agent.team_id
    rows = {
        row.public_id: row
        for row in Memory.objects.filter(team_id=team, public_id__in=[each["id"] for each in found.found])
    }
    return [
        {
            "memory": row,
            "answers": each["answers"],
            "share": each["share"],
            "matched": matched(masked_text(row.text), each["terms"]),
        }
        for each in found.found
        if (row := rows.get(each["id"]))
    ]


def _visible(request: PersonRequest, extension_id: str) -> ExtensionRequest:
    extensions.settle()
    seen = ExtensionRequest.objects.filter(agent__team__in=request.user.teams_as())
    return get_object_or_404(seen.select_related("agent__team", "person"), public_id=extension_id)
