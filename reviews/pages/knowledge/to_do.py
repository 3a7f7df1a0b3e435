"""The page "To do": what waits for this person's decision, by kind, with its count, its oldest and the first few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Min, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from django.views.decorators.http import require_POST, require_safe

from metacog.accounts.agents import PolicyMoved
from metacog.http import undoable
from metacog.models import Agent, Role
from metacog.pages.unknown_filters import unknown_filters
from patterns.lessons import lessons
from patterns.models import ErrorPattern, MemoryConflict, ThoughtThread, ThreadSuggestion
from patterns.patterns import lifecycle
from patterns.threads import suggestions
from reviews.held import counts
from reviews.learning import retiring
from reviews.pages.knowledge import proposals
from reviews.pages.knowledge.memory import clash_of, waiting_of
from reviews.pages.person import PersonRequest, number, told_of
from reviews.presentation import questions
from reviews.presentation.risk import retiring_rows
from reviews.records.reasons import described
from reviews.scoring import pack_offers
from reviews.scoring.preview import DAYS

SHOWN = 3  # of each kind
PROPOSALS = 5
CORRECTIONS = 2


@dataclass(frozen=True)
class Section:
    """One kind of what waits: its title, where the rest is, which column tells its age."""

    key: str
    title: Promise
    page: str
    since: str


@dataclass
class Group:
    """A section with what there is of it."""

    section: Section
    count: int
    oldest: datetime | None
    rows: Sequence[Any] = field(default_factory=list)


SECTIONS = (
    Section("samples", gettext_lazy("Spot checks"), "spot-checks", "response__received_at"),
    Section("corrections", gettext_lazy("Possible corrections"), "corrections", "found_at"),
    Section("proposals", gettext_lazy("Proposed patterns"), "patterns", "created_at"),
    Section("lessons", gettext_lazy("Proposed lessons"), "lessons", "created_at"),
    Section("memories", gettext_lazy("Pending memories"), "memories", "created_at"),
    Section("conflicts", gettext_lazy("Memory conflicts"), "memories", "found_at"),
    Section("suggestions", gettext_lazy("Suggested threads"), "threads", "found_at"),
    Section("drafts", gettext_lazy("Journal drafts"), "threads", "resolved_at"),
)


@require_safe
def to_do(request: PersonRequest) -> HttpResponse:
    """Show what waits for this person, the kinds that have something only."""
    person = request.user
    waits = counts.to_do(person)
    rows = counts.of_reviewers(person.teams_as(Role.REVIEWER)) | counts.of_curators(person.teams_as(Role.CURATOR))
    groups = []
    for section in SECTIONS:
        if count := waits.get(section.key, 0):
            found = rows[section.key]
            oldest = found.order_by().aggregate(oldest=Min(section.since))["oldest"]
            groups.append(Group(section, count, oldest, _READ[section.key](request, found)))
    owned = [team for team in person.teams if person.has_role(team.pk, Role.OWNER)]
    curated = {team.pk for team in person.teams if person.has_role(team.pk, Role.CURATOR)}
    context = {
        "groups": groups,
        "without_pack": list(pack_offers.offers(person.teams_as(Role.OWNER))),
        "retiring": retiring_rows.shown([team for team in person.teams if team.pk in curated], owned),
        "to_do": waits,
        "unknown_filters": unknown_filters(request.GET),
        "may_decide": any(person.has_role(team.pk, Role.REVIEWER) for team in person.teams),
        # What the parts of other pages ask for.
        "curated_teams": curated,
        "may_change": bool(curated),
        "many_teams": len(person.teams) > 1,
        "days": DAYS,
        "back": "to-do",
        "section": "to-do",
    }
    return render(request, "reviews/to_do.html", context)


def _samples(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return list(rows.select_related("response", "agent").defer("response__body", "response__verdict")[:SHOWN])


def _corrections(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return questions.shown(request.user, list(questions.whole(rows)[:CORRECTIONS]), at="to-do")


def _proposals(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    teams = [team for team in request.user.teams if request.user.has_role(team.pk, Role.CURATOR)]
    return proposals.rows(proposals.groups(teams, "precision")[:PROPOSALS])


def _lessons(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return list(rows.select_related("team", "agent__team").order_by(lessons.MOST_SEEN_FIRST, "pk")[:SHOWN])


def _memories(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return waiting_of(rows.select_related("team", "agent", "person", "pattern").order_by("pk")[:SHOWN])


def _conflicts(request: PersonRequest, rows: QuerySet[MemoryConflict]) -> Sequence[Any]:
    curated = {team.pk for team in request.user.teams if request.user.has_role(team.pk, Role.CURATOR)}
    return [clash_of(each, curated) for each in rows.order_by("found_at", "pk")[:SHOWN]]


def _suggestions(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return list(rows.select_related("agent__team").order_by("found_at", "pk")[:SHOWN])


def _drafts(request: PersonRequest, rows: QuerySet[Any]) -> Sequence[Any]:
    return list(rows.select_related("agent__team").order_by("resolved_at", "pk")[:SHOWN])


_READ: dict[str, Callable[[PersonRequest, QuerySet[Any]], Sequence[Any]]] = {
    "samples": _samples,
    "corrections": _corrections,
    "proposals": _proposals,
    "lessons": _lessons,
    "memories": _memories,
    "conflicts": _conflicts,
    "suggestions": _suggestions,
    "drafts": _drafts,
}


@require_POST
def signals_off(request: PersonRequest, team_id: int) -> HttpResponse:
    """Switch off the chosen signals of those offered, in the policy of each agent of a team, or take that back."""
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    if not request.user.has_role(team.pk, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can change policies."))
    comma = pgettext("list", ", ")
    try:
        if versions := request.POST.getlist("version"):
            parts = (each.partition(".") for each in versions)
            of_agent = {number(agent): number(version) for agent, _dot, version in parts}
            names = comma.join(each.agent.name for each in retiring.switch_on(team, request.user, of_agent))
            messages.success(request, _("Restored the policies of: %(agents)s") % {"agents": names})
            return redirect("to-do")
        off, saved = retiring.switch_off(team, request.user, request.POST.getlist("signal"))
    except PolicyMoved:
        messages.error(request, _("A policy changed meanwhile. Nothing was changed."))
        return redirect("to-do")
    if saved:
        agents = comma.join(each.agent.name for each in saved)
        told = _("Switched off: %(signals)s. In the policies of: %(agents)s.")
        told %= {"signals": comma.join(map(retiring_rows.title, off)), "agents": agents}
        fields = [("version", f"{each.agent_id}.{each.version}") for each in saved]
        undoable.say(request, told, request.path, *fields)
    else:
        messages.warning(request, _("Select some signals first."))
    return redirect("to-do")


@require_POST
def pattern_retire(request: PersonRequest, pattern_id: int) -> HttpResponse:
    """Retire an active pattern that was offered."""
    pattern = get_object_or_404(ErrorPattern.objects.filter(team__in=request.user.teams_as()), pk=pattern_id)
    if not request.user.has_role(pattern.team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can change patterns."))
    try:
        lifecycle.take_step(pattern, "retire", request.user)
        messages.success(
            request,
            told_of(_("Pattern retired"), described(pattern.description), reverse("pattern", args=[pattern.pk])),
        )
    except lifecycle.NotDone as error:
        messages.error(request, str(error))
    return redirect("to-do")


@require_POST
def suggestion_dismiss(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Say that no thread is wanted for the topic that an agent's last cycles are about, or take that back."""
    agent = get_object_or_404(Agent.objects.filter(team__in=request.user.teams_as()), public_id=agent_id)
    _may_curate(request, agent.team_id)
    found = ThreadSuggestion.objects.select_related("agent").filter(agent=agent, topic=request.POST.get("topic", ""))
    if request.POST.get("undo") == "1":
        if (suggestion := found.first()) and suggestions.take_up(suggestion, request.user):
            messages.success(request, _("The suggestion is restored."))
        return redirect(reverse("to-do"))
    if (suggestion := found.first()) and suggestions.dismiss(suggestion, request.user):
        path = reverse("suggestion-dismiss", args=[agent_id])
        undoable.say(request, _("Suggestion dismissed."), path, ("topic", suggestion.topic), ("undo", "1"))
    else:
        messages.info(request, _("The suggestion changed meanwhile. Nothing was dismissed."))
    return redirect(reverse("to-do"))


@require_POST
def draft_done(request: PersonRequest, thread_id: str) -> HttpResponse:
    """Take the journal draft of a resolved thread off the list."""
    seen = ThoughtThread.objects.filter(agent__team__in=request.user.teams_as()).select_related("agent")
    thread = get_object_or_404(seen, public_id=thread_id)
    _may_curate(request, thread.agent.team_id)
    if suggestions.done_with_draft(thread, request.user):
        messages.success(request, _("Draft marked as done."))
    return redirect("to-do" if request.POST.get("back") == "to-do" else reverse("thread", args=[thread_id]))


def _may_curate(request: PersonRequest, team_id: int) -> None:
    if not request.user.has_role(team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can change threads."))
