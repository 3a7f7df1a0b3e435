"""The pages about lessons: what reflection proposes, what is in force, and what a curator makes of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.http import undoable
from metacog.http.undoable import Undo
from metacog.models import Agent, Role
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from patterns.lessons import lessons
from patterns.lessons.forms import LessonForm, NewLessonForm
from patterns.models import Lesson
from reviews.held.filters import named, word
from reviews.models import AgentResponse
from reviews.pages.person import PersonRequest, back, refused, told_of

SHOWN = 100  # of each state, those changed last; of proposals, those seen most
EVIDENCE = 10  # responses told of one proposal
State = Lesson.State
DONE = {  # by the step of `lessons.AFTER`
    "confirm": gettext_lazy("Lesson confirmed"),
    "dismiss": gettext_lazy("Lesson dismissed"),
    "reopen": gettext_lazy("Lesson proposed again"),
    "retire": gettext_lazy("Lesson retired"),
    "restore": gettext_lazy("Lesson activated again"),
}
MANY_DONE = {
    "confirm": ngettext_lazy("%(count)d lesson was confirmed.", "%(count)d lessons were confirmed.", "count"),
    "dismiss": ngettext_lazy("%(count)d lesson was dismissed.", "%(count)d lessons were dismissed.", "count"),
    "reopen": ngettext_lazy("%(count)d lesson is proposed again.", "%(count)d lessons are proposed again.", "count"),
    "retire": ngettext_lazy("%(count)d lesson was retired.", "%(count)d lessons were retired.", "count"),
    "restore": ngettext_lazy("%(count)d lesson is active again.", "%(count)d lessons are active again.", "count"),
}


@require_safe
def lesson_list(request: PersonRequest) -> HttpResponse:
    """Show the lessons of one agent, or of all the person may see: proposed, active, and no longer in force."""
    return _lessons_page(request)


@require_http_methods(["GET", "HEAD", "POST"])
def lesson_new(request: PersonRequest) -> HttpResponse:
    """Add a lesson in a person's words. Whoever comes back here, where a refused form stood, finds it on the list."""
    if request.method != "POST":
        return redirect("lessons")
    form = _new_form(request, request.POST)
    if not form.fields["whose"].choices:  # type: ignore[attr-defined]  # it is a choice
        raise PermissionDenied(_refusal())
    if form.is_valid():
        team, agent = form.whose()
        try:
            row = lessons.write(team, agent, form.cleaned_data["text"], form.cleaned_data["topics"], request.user)
            messages.success(request, _("Saved."))
            return redirect(_address(row.agent))
        except lessons.NotDone as error:
            form.add_error(None, str(error))
    return _lessons_page(request, form=form)


@require_POST
def lessons_many(request: PersonRequest) -> HttpResponse:
    """Take one step with several lessons; those it does not fit stay as they are, and it is said how many."""
    step = request.POST.get("step", "")
    if step not in lessons.AFTER:
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    chosen = _visible(request).filter(public_id__in=[named(each) for each in request.POST.getlist("pk")[:SHOWN]])
    curated = request.user.teams_as(Role.CURATOR)
    if chosen.exclude(team__in=curated).exists():
        raise PermissionDenied(_refusal())
    done, problems = list[str](), []
    for row in chosen.order_by("pk"):
        if row.state in lessons.AFTER[step][0]:
            try:
                lessons.move(row, step, request.user)
                done.append(row.public_id)
            except lessons.NotDone as error:
                problems.append(str(error))
        else:
            problems.append(_("This lesson is %(state)s.") % {"state": row.get_state_display().lower()})
    if not done and not problems:
        return _answer(request, _("Select some lessons first."), _lessons_address(request), tone="warn")
    told = str(MANY_DONE[step] % {"count": len(done)})
    if problems:
        left = ngettext("%(count)d stays as it is:", "%(count)d stay as they are:", len(problems))
        told = " ".join([told, left % {"count": len(problems)}, *dict.fromkeys(problems)])
    undo = _undo(request, step, reverse("lessons-many"), *(("pk", public_id) for public_id in done)) if done else None
    return _answer(request, told, _lessons_address(request), undo=undo)


@require_http_methods(["GET", "HEAD", "POST"])
def lesson(request: PersonRequest, lesson_id: str) -> HttpResponse:
    """Show one lesson with its evidence; a curator changes its words."""
    found = get_object_or_404(_visible(request), public_id=lesson_id)
    if request.method != "POST":
        return _lesson_page(request, found)
    _may_change(request, found)
    form = LessonForm(request.POST, stored=_words(found))
    if form.is_valid():
        try:
            with transaction.atomic():  # both or neither
                lessons.edit(found, form.cleaned_data["text"], form.cleaned_data["topics"], request.user)
                if step := request.POST.get("step"):
                    _take(request, found, step)
            messages.success(request, _("Saved."))
            return redirect("lesson", lesson_id)
        except lessons.NotDone as error:
            form.add_error(None, str(error))
    return _lesson_page(request, found, form)


@require_POST
def lesson_step(request: PersonRequest, lesson_id: str) -> HttpResponse:
    """Confirm a lesson, dismiss it or take that back, retire it, or take it up again."""
    undo, address = None, reverse("lesson-step", args=[lesson_id])
    found, step = get_object_or_404(_visible(request), public_id=lesson_id), request.POST.get("step", "")
    _may_change(request, found)
    if step not in lessons.AFTER:
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    try:
        _take(request, found, step)
        told, tone = told_of(str(DONE[step]), found.text, reverse("lesson", args=[lesson_id])), "ok"
        undo = _undo(request, step, address)
    except lessons.NotDone as error:
        told, tone = str(error), "bad"
    back = _lessons_address(request) if request.POST.get("from") == "list" else reverse("lesson", args=[lesson_id])
    return _answer(request, told, back, tone, undo)


def _undo(request: PersonRequest, step: str, path: str, *fields: tuple[str, str]) -> Undo | None:
    """Return what takes a dismissal back and leads to where the person was; None of another step."""
    where = [(name, value) for name in ("from", "back", "agent") if (value := request.POST.get(name))]
    return Undo(path, [("step", "reopen"), *where, *fields]) if step == "dismiss" else None


def _take(request: PersonRequest, found: Lesson, step: str) -> None:
    if step in lessons.AFTER:
        lessons.move(found, step, request.user)


LEVELS = {"ok": messages.SUCCESS, "warn": messages.WARNING, "bad": messages.ERROR}


def _answer(request: PersonRequest, told: str, back: str, tone: str = "ok", undo: Undo | None = None) -> HttpResponse:
    """Show the list with what became of it, or lead back to where the person was."""
    if request.htmx:
        return _lessons_page(request, told=told, tone=tone, undo=undo)
    if undo:
        undoable.say(request, told, undo.path, *undo.fields)
    else:
        messages.add_message(request, LEVELS[tone], told)
    return redirect(back)


def _lessons_page(
    request: PersonRequest,
    *,
    form: NewLessonForm | None = None,
    told: str = "",
    tone: str = "ok",
    undo: Undo | None = None,
) -> HttpResponse:
    wanted = word(request.GET, "agent") or word(request.POST, "agent")
    agent = _agents(request).filter(public_id=wanted).first() if wanted else None
    rows = _visible(request).order_by("-changed_at", "-pk")
    if agent:
        rows = rows.filter(Q(agent=agent) | Q(agent=None, team=agent.team))
    curated = set(request.user.teams_as(Role.CURATOR).values_list("pk", flat=True))
    context = {
        "choice": choice("lessons", _agents(request), request.GET, wanted),
        "agent": agent,
        "unknown_filters": unknown_filters(request.GET, agents=[agent] if agent else []),
        "proposed": list(
            rows.filter(state=State.PROPOSED, erased_at=None).order_by(lessons.MOST_SEEN_FIRST, "-changed_at", "-pk")[
                :SHOWN
            ]
        ),
        "active": list(rows.filter(state=State.ACTIVE)[: lessons.MAX_ACTIVE]),
        "past": list(rows.filter(state__in=(State.RETIRED, State.DISMISSED))[:SHOWN]),
        "curated": curated,
        "form": form or (_new_form(request) if curated else None),
        "told": told,
        "tone": tone,
        "undo": undo,
        "section": "lessons",
    }
    template = "reviews/_lessons.html" if request.htmx else "reviews/lessons.html"
    return render(request, template, context, status=refused(form) if form else 409 if tone == "bad" else 200)


def _words(lesson: Lesson) -> dict[str, str]:
    return {"text": lesson.text, "topics": ", ".join(lesson.topics)}


def _lesson_page(request: PersonRequest, found: Lesson, form: LessonForm | None = None) -> HttpResponse:
    ids = found.evidence.get("responses", [])[::-1]
    seen = AgentResponse.objects.filter(agent__team=found.team_id, public_id__in=ids[:EVIDENCE]).order_by("-pk")
    context = {
        "lesson": found,
        "responses": seen.only("public_id", "excerpt", "received_at"),
        "more": max(0, len(ids) - EVIDENCE),
        "possible": [step for step, (before, _after, _action) in lessons.AFTER.items() if found.state in before],
        "may_change": request.user.has_role(found.team_id, Role.CURATOR) and not found.erased_at,
        "form": form or LessonForm(stored=_words(found)),
        "section": "lessons",
    }
    return render(request, "reviews/lesson.html", context, status=refused(form) if form else 200)


def _new_form(request: PersonRequest, data: Any = None) -> NewLessonForm:
    teams = list(request.user.teams_as(Role.CURATOR).order_by("name"))
    wanted = named((data or {}).get("whose", "")) or word(request.GET, "agent")
    of_these = Agent.objects.filter(team__in=teams).order_by("team__name", "name")
    agents = choice("lessons", of_these, request.GET, wanted)
    return NewLessonForm(agents, teams, data, initial={"whose": wanted})


def _agents(request: PersonRequest) -> QuerySet[Agent]:
    waiting = Count("lessons", filter=Q(lessons__state=State.PROPOSED, lessons__erased_at=None))
    found = Agent.objects.filter(team__in=request.user.teams_as()).annotate(waiting=waiting)
    return found.select_related("team").order_by("team__name", "name")


def _visible(request: PersonRequest) -> QuerySet[Lesson]:
    seen = Lesson.objects.filter(team__in=request.user.teams_as())
    return seen.select_related("team", "agent__team", "created_by")


def _may_change(request: PersonRequest, row: Lesson) -> None:
    if not request.user.has_role(row.team_id, Role.CURATOR):
        raise PermissionDenied(_refusal())


def _refusal() -> str:
    return _("Only curators and owners of the team can change lessons.")


def _address(agent: Agent | None) -> str:
    return reverse("lessons") + (f"?{urlencode({'agent': agent.public_id})}" if agent else "")


def _lessons_address(request: PersonRequest) -> str:
    if back(request, "lessons") == "to-do":
        return reverse("to-do")
    wanted = request.POST.get("agent")
    return reverse("lessons") + (f"?{urlencode({'agent': wanted})}" if wanted else "")
