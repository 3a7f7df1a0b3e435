"""The pages about thought threads: what an agent pursues, and the way each thread took."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Role
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from patterns.models import ThoughtThread
from patterns.patterns.scorer import scorer_shown
from patterns.threads import texts
from patterns.threads.forms import NewThreadForm, StepForm
from patterns.threads.texts import ARTICLE_STEPS
from patterns.threads.threads import AFTER, NotDone, changes
from reviews.held.filters import word
from reviews.pages.person import PersonRequest, refused

SHOWN = 100  # paused ones, resolved ones, and steps of a thread, those taken last
State = ThoughtThread.State


@require_safe
def threads(request: PersonRequest) -> HttpResponse:
    """Show what one agent pursues, what it put down, and what it came to; and what its last cycles suggest."""
    agents = _agents(request)
    wanted = word(request.GET, "agent")
    named = agents.filter(public_id=wanted).first() if wanted else None
    unknown = unknown_filters(request.GET, agents=[named] if named else [])
    agent = named or agents.order_by("-state__active_threads", "name").first()
    if agent is None:
        return render(request, "reviews/threads.html", {"unknown_filters": unknown, "section": "threads"})
    return _threads_page(request, agent, unknown=unknown)


@require_http_methods(["GET", "HEAD", "POST"])
def thread_new(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Begin a thread for an agent. Whoever comes back here, where a refused form stood, finds it among the threads."""
    agent = get_object_or_404(_agents(request), public_id=agent_id)
    if request.method != "POST":
        return redirect(f"{reverse('threads')}?agent={agent.public_id}")
    _may_change(request, agent)
    form = NewThreadForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        try:
            with changes(agent, request.user, data["title"]) as made:
                row = made.create(data["title"], note=data["note"], next=data["next"])
            return redirect("thread", row.public_id)
        except NotDone as error:
            form.add_error(None, str(error))
    return _threads_page(request, agent, form)


def _threads_page(
    request: PersonRequest, agent: Agent, form: NewThreadForm | None = None, unknown: Sequence[str] = ()
) -> HttpResponse:
    rows = ThoughtThread.objects.filter(agent=agent).order_by("-touched_at", "-id")
    active = list(rows.filter(state=State.ACTIVE))
    trails = texts.last_steps(active, 1)
    most = scorer_shown(agent).policy.max_active_threads
    suggested = texts.suggestion(agent, agent.state)
    context = {
        "agent": agent,
        "unknown_filters": unknown,
        "choice": choice("threads", _agents(request), request.GET, agent.public_id),
        "active": [{"thread": row, "last": trails[row.pk][-1] if trails[row.pk] else None} for row in active],
        "room": max(0, most - len(active)),  # a later policy may allow fewer than there are
        "most": most,
        "paused": rows.filter(state=State.PAUSED)[:SHOWN],
        "resolved": rows.filter(state=State.RESOLVED)[:SHOWN],
        "suggested": suggested,
        "may_change": request.user.has_role(agent.team_id, Role.CURATOR),
        "form": form or NewThreadForm(initial={"title": suggested.topic if suggested else ""}),
        "instructions": f"reviews/_thread_instructions.{agent.language}.txt",  # in the agent's language
        "section": "threads",
    }
    return render(request, "reviews/threads.html", context, status=refused(form) if form else 200)


@require_safe
def thread(request: PersonRequest, thread_id: str) -> HttpResponse:
    """Show one thread: what is next, its trail, what it came to, and the seed's Markdown."""
    return _thread_page(request, _visible(request, thread_id))


@require_POST
def thread_step(request: PersonRequest, thread_id: str) -> HttpResponse:
    """Go on with a thread, put it down, take it up again, or bring it to its end."""
    found, step = _visible(request, thread_id), request.POST.get("step", "")
    _may_change(request, found.agent)
    if step not in AFTER:
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    form = StepForm(request.POST)
    if form.is_valid():
        try:
            with changes(found.agent, request.user, found.slug) as made:
                found = made.step(found.slug, step, note=form.cleaned_data["note"], next=form.cleaned_data["next"])
            if request.htmx:
                return _thread_page(request, found)
            messages.success(request, _("Saved."))
            return redirect("thread", thread_id)
        except NotDone as error:
            form.add_error(None, str(error))
            found.refresh_from_db()
    return _thread_page(request, found, form)


def _thread_page(request: PersonRequest, found: ThoughtThread, form: StepForm | None = None) -> HttpResponse:
    steps = list(found.steps.select_related("person").order_by("-id")[: SHOWN + 1])
    article = ""
    if found.state == State.RESOLVED and not found.erased_at:
        article = texts.article(found, texts.last_steps([found], ARTICLE_STEPS)[found.pk])
    context = {
        "thread": found,
        "steps": steps[SHOWN - 1 :: -1],
        "has_more": len(steps) > SHOWN,
        "article": article,
        "possible": [step for step, (states, _after) in AFTER.items() if found.state in states],
        "may_change": request.user.has_role(found.agent.team_id, Role.CURATOR),
        "form": form or StepForm(),
        "section": "threads",
    }
    template = "reviews/_thread.html" if request.htmx else "reviews/thread.html"
    return render(request, template, context, status=refused(form) if form else 200)


@require_safe
def thread_markdown(request: PersonRequest, thread_id: str) -> HttpResponse:
    """Give the thread as the seed's file."""
    found = _visible(request, thread_id)
    answer = HttpResponse(masked_text(texts.markdown(found)), content_type="text/markdown; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=f"{found.slug_shown}.md")
    return answer


def _agents(request: PersonRequest) -> QuerySet[Agent]:
    found = Agent.objects.filter(team__in=request.user.teams_as())
    return found.select_related("team", "state").order_by("team__name", "name")


def _visible(request: PersonRequest, thread_id: str) -> ThoughtThread:
    seen = ThoughtThread.objects.filter(agent__team__in=request.user.teams_as())
    return get_object_or_404(seen.select_related("agent__team"), public_id=thread_id)


def _may_change(request: PersonRequest, agent: Agent) -> None:
    if not request.user.has_role(agent.team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can change threads."))
