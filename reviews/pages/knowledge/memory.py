"""The pages about the team's shared memory: what waits, what contradicts what, what stands (seed 003, 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.heuristics.contradiction.contradictions import contradicts
from metacog.heuristics.memory import recall
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Role, Team
from metacog.pages.unknown_filters import unknown_filters
from patterns.memory import memory
from patterns.memory.forms import MemoryForm
from patterns.models import Memory, MemoryConflict
from reviews.api.memory import MAX_QUERY
from reviews.intake import knowledge
from reviews.pages.person import PersonRequest, back, number, refused, told_of
from reviews.serializers import matched

SHOWN = 100  # of those that wait, of contradictions, of what was found
State = Memory.State
DONE = {  # by the step, and by the outcome of a conflict
    "confirm": gettext_lazy("Memory confirmed"),
    "discard": gettext_lazy("Memory discarded"),
    "retire": gettext_lazy("Memory retired"),
    "newer": gettext_lazy("Older memory retired, newer one kept"),
    "older": gettext_lazy("Newer memory retired, older one kept"),
    "both": gettext_lazy("Both memories kept"),
}


@require_safe
def memory_list(request: PersonRequest) -> HttpResponse:
    """Show what waits for a curator, what contradicts what, and what stands; or search what stands."""
    return _list_page(request)


@require_http_methods(["GET", "HEAD", "POST"])
def memory_new(request: PersonRequest) -> HttpResponse:
    """Add a memory to a team. Whoever comes back to this address, where a refused form stood, finds it on the list."""
    if request.method != "POST":
        return redirect("memories")
    team = get_object_or_404(request.user.teams_as(), pk=number(request.POST.get("team", "")))
    _may_curate(request, team.pk)
    form = MemoryForm(request.POST)
    if form.is_valid():
        try:
            row = _add(request, team, form)
        except memory.Refusal as refusal:
            form.add_error(None, _why(refusal))
        else:
            messages.success(request, _("Saved."))
            return redirect("memory", row.public_id)
    return _list_page(request, form, status=refused(form))


@require_safe
def memory_detail(request: PersonRequest, memory_id: str) -> HttpResponse:
    """Show one memory: the text, where it comes from, what it contradicts."""
    return _page(request, _visible(request, memory_id))


@require_POST
def memory_step(request: PersonRequest, memory_id: str) -> HttpResponse:
    """Confirm or discard a memory that waits, or retire one that stands."""
    found = _visible(request, memory_id)
    _may_curate(request, found.team_id)
    steps: dict[str, Callable[..., Memory]] = {
        "confirm": memory.confirm,
        "discard": memory.discard,
        "retire": memory.retire,
    }
    step = steps.get(request.POST.get("step", ""))
    if step is None:
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    try:
        with transaction.atomic(durable=True):
            row = step(found, request.user)
            knowledge.conclude(row, request.user)
    except memory.Moved as moved:
        return _page(request, moved.memory, refusal=_why(moved), status=409)
    if request.htmx:
        return _page(request, row)
    told = DONE[request.POST["step"]]
    messages.success(request, told_of(str(told), row.text, reverse("memory", args=[memory_id])))
    return redirect(back(request, "memories")) if "list" in request.POST else redirect("memory", memory_id)


@require_POST
def memory_edit(request: PersonRequest, memory_id: str) -> HttpResponse:
    """Put a better memory in the place of one, which is retired."""
    found = _visible(request, memory_id)
    _may_curate(request, found.team_id)
    form = MemoryForm(request.POST, of=found)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    try:
        row = _add(request, found.team, form, instead_of=found)
    except memory.Moved as moved:
        return _page(request, moved.memory, form, refusal=_why(moved), status=409)
    except memory.Refusal as refusal:
        form.add_error(None, _why(refusal))
        return _page(request, found, form, status=409)
    messages.success(request, _("Memory replaced. The previous one is retired."))
    return redirect("memory", row.public_id)


@require_POST
def memory_settle(request: PersonRequest, conflict_id: int) -> HttpResponse:
    """Say which of two memories stands."""
    seen = MemoryConflict.objects.filter(newer__team__in=request.user.teams_as())
    conflict = get_object_or_404(seen.select_related("newer", "older"), pk=conflict_id)
    _may_curate(request, conflict.newer.team_id)
    outcome = request.POST.get("outcome", "")
    if outcome not in MemoryConflict.Outcome:
        return HttpResponseBadRequest(_("Unknown outcome."), content_type="text/plain; charset=utf-8")
    try:
        with transaction.atomic(durable=True):
            knowledge.settle(conflict, outcome, request.user)
        kept = conflict.older if outcome == MemoryConflict.Outcome.OLDER else conflict.newer
        told = told_of(str(DONE[outcome]), kept.text, reverse("memory", args=[kept.public_id]))
        messages.success(request, told)
    except memory.Moved:
        messages.error(request, _("Another person settled this conflict meanwhile."))
    return redirect(back(request, "memories"))


def _add(request: PersonRequest, team: Team, form: MemoryForm, instead_of: Memory | None = None) -> Memory:
    with transaction.atomic(durable=True):
        row = memory.add(team, form.statement(), request.user, instead_of=instead_of)
        for each in filter(None, (instead_of, row)):
            knowledge.conclude(each, request.user)
    return row


def _list_page(request: PersonRequest, form: MemoryForm | None = None, status: int = 200) -> HttpResponse:
    teams, query = request.user.teams_as(), request.GET.get("q", "")[:MAX_QUERY]
    seen = Memory.objects.filter(team__in=teams).select_related("team", "agent", "person")
    conflicts = memory.open_conflicts().filter(newer__team__in=teams).order_by("-confidence", "-pk")
    pending = memory.waiting().filter(team__in=teams).select_related("team", "agent", "person", "pattern")
    curated = list(request.user.teams_as(Role.CURATOR).order_by("name"))
    curated_teams = {team.pk for team in curated}
    context = {
        "query": query,
        "unknown_filters": unknown_filters(request.GET),
        "found": _found(request, query) if query else None,
        "waiting": () if query else waiting_of(pending.order_by("pk")[:SHOWN]),
        "clashes": [clash_of(each, curated_teams) for each in conflicts[:SHOWN]],
        "standing": () if query else seen.filter(state=State.CONFIRMED).order_by("-pk")[:SHOWN],
        "curated": curated,
        "curated_teams": curated_teams,
        "form": form or MemoryForm(),
        "section": "memory",
    }
    return render(request, "reviews/memories.html", context, status=status)


def waiting_of(rows: Iterable[Memory]) -> list[dict[str, Any]]:
    """Return memories that wait, each with those it contradicts."""
    waiting = list(rows)
    clashes = memory.clashes(waiting)
    return [{"memory": row, "others": _others(row, clashes[row.pk])} for row in waiting]


def _others(row: Memory, conflicts: Iterable[MemoryConflict]) -> list[Memory]:
    return [memory.opposite(each, row) for each in conflicts]


def _found(request: PersonRequest, query: str) -> list[dict[str, Any]]:
    found = memory.search(request.user.teams_as(), recall.asked(query), most=SHOWN)
    rows = Memory.objects.select_related("team", "agent", "person").in_bulk([each.number for each in found])
    return [
        {"memory": row, "matched": matched(masked_text(row.text), each.matched)}
        for each in found
        if (row := rows.get(each.number))
    ]


def clash_of(conflict: MemoryConflict, curated: Collection[int]) -> dict[str, Any]:
    """Return a contradiction with the sentences that it is about; `curated` are the teams the person looks after."""
    found = contradicts(conflict.older.text, conflict.newer.text)
    return {
        "conflict": conflict,
        "older": found.first.text if found and found.first else conflict.older.text,
        "newer": found.second.text if found else conflict.newer.text,
        "may_settle": conflict.newer.team_id in curated,
    }


def _page(
    request: PersonRequest, found: Memory, form: MemoryForm | None = None, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    written = {name: getattr(found, name) for name in ("text", "topic", "source", "confidence")}
    may_curate = request.user.has_role(found.team_id, Role.CURATOR)
    curated = [found.team_id] if may_curate else []
    conflicts = memory.clashes([found])[found.pk]
    context = {
        "memory": found,
        "clashes": [clash_of(each, curated) for each in conflicts],
        "others": _others(found, conflicts),
        "replaces": list(found.replaces.all()[:1]),
        "may_curate": may_curate,
        "form": form or MemoryForm(initial=written, of=found),
        "refusal": refusal,
        "section": "memory",
    }
    template = "reviews/_memory.html" if request.htmx else "reviews/memory.html"
    return render(request, template, context, status=status)


def _why(refusal: memory.Refusal) -> str:
    if isinstance(refusal, memory.Known):
        return _("The team already has this memory: %(id)s.") % {"id": refusal.memory.public_id}
    if isinstance(refusal, memory.Moved):
        return _("Another person changed this memory meanwhile. Your change was not saved.")
    return _("The memory of the team is full. Retire a memory first.")


def _visible(request: PersonRequest, memory_id: str) -> Memory:
    seen = Memory.objects.filter(team__in=request.user.teams_as())
    related = ("team", "agent", "person", "pattern", "confirmed_by", "retired_by", "replaced_by")
    return get_object_or_404(seen.select_related(*related), public_id=memory_id)


def _may_curate(request: PersonRequest, team_id: int) -> None:
    if not request.user.has_role(team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can change its memory."))
