"""Import and export of patterns, threads and lessons: a file is shown entry by entry before it is taken."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Role, Team, User
from metacog.pages.unknown_filters import unknown_filters
from patterns.imports import BadFile, Plan
from patterns.lessons import exchange as lesson_files
from patterns.models import ErrorPattern, Lesson, ThoughtThread
from patterns.patterns import exchange as pattern_files
from patterns.threads import exchange as thread_files
from patterns.threads.forms import FilesField
from reviews.held.filters import word
from reviews.pages.knowledge.patterns import matching
from reviews.pages.person import PersonRequest

Kind = Literal["patterns", "threads", "lessons"]
MAX_BYTES = 3 * 1_048_576  # of all files: what comes back with the confirmation is a third longer
SHOWN = 500  # entries of a preview
STATES = (ErrorPattern.State.PROPOSED, ErrorPattern.State.SHADOW, ErrorPattern.State.ACTIVE)


class ImportForm(forms.Form):
    """Which file, and where to; the file comes back with the confirmation as it was read."""

    team: forms.ModelChoiceField[Team] = forms.ModelChoiceField(
        Team.objects.none(), label=gettext_lazy("Team"), empty_label=None
    )
    agent: forms.ModelChoiceField[Agent] = forms.ModelChoiceField(
        Agent.objects.none(), label=gettext_lazy("Agent"), empty_label=None
    )
    state = forms.ChoiceField(
        label=gettext_lazy("State of new patterns"),
        choices=[(state, state.label) for state in STATES],
        help_text=gettext_lazy(
            "Active patterns count from the next response on. Patterns that the team already has keep their state."
        ),
    )
    upload = FilesField(label=gettext_lazy("File"), max_length=200, required=False)
    content = forms.CharField(required=False, widget=forms.HiddenInput)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, kind: Kind, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams = person.teams_as(Role.CURATOR)
        self.fields["team"].queryset = teams.order_by("name")  # type: ignore[attr-defined]  # choices of models
        agents = Agent.objects.filter(team__in=teams).select_related("team").order_by("team__name", "name")
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]
        self.fields["agent"].label_from_instance = person.name_of  # type: ignore[attr-defined]
        for name in {"patterns": ["agent"], "threads": ["team", "state"], "lessons": ["agent", "state"]}[kind]:
            del self.fields[name]
        accepted = {"patterns": ".json", "threads": ".md,.markdown,.txt", "lessons": ".jsonl,.json"}[kind]
        attributes = {"accept": accepted} | ({} if kind == "threads" else {"multiple": False})
        self.fields["upload"].widget.attrs.update(attributes)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["read"] = read = self._read(cleaned)
        if not read:
            self.add_error("upload", _("Choose a file."))
        elif sum(len(raw) for _name, raw in read) > MAX_BYTES:
            most = MAX_BYTES // 1_048_576
            self.add_error("upload", _("The file is larger than %(most)d MiB. Split it.") % {"most": most})
        return cleaned

    def _read(self, cleaned: dict[str, Any]) -> list[tuple[str, bytes]]:
        """Return the files that were chosen, or those that came back with the preview."""
        if chosen := [file for file in cleaned.get("upload") or () if file]:
            return [(file.name[:200], file.read(MAX_BYTES + 1)) for file in chosen]
        try:
            found = json.loads(cleaned.get("content") or "[]")
            return [(str(name)[:200], b64decode(raw, validate=True)) for name, raw in found]
        except (ValueError, TypeError, NoBase64, RecursionError):
            return []


class Words(NamedTuple):
    """How the page about one kind is called."""

    title: Any
    lead: Any
    page: str


WORDS: dict[str, Words] = {
    "patterns": Words(
        gettext_lazy("Import error patterns"),
        gettext_lazy("A JSON file such as hesitation-patterns.json, or an export of this page."),
        "patterns",
    ),
    "threads": Words(
        gettext_lazy("Import threads"),
        gettext_lazy(
            "Markdown files, each with one or more threads. If the agent already has a thread, the file replaces it."
        ),
        "threads",
    ),
    "lessons": Words(
        gettext_lazy("Import lessons"),
        gettext_lazy("A JSON Lines file with one lesson per line, or a JSON list. Each entry needs only a text."),
        "lessons",
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
def knowledge_import(request: PersonRequest, import_kind: str) -> HttpResponse:
    """Show what a file would add, change and skip, and take it once that is confirmed."""
    if import_kind not in WORDS:
        raise Http404
    chosen: Kind = import_kind  # type: ignore[assignment]  # it was looked up
    if not request.user.teams_as(Role.CURATOR).exists():
        raise PermissionDenied(_("Only curators and owners of the team can import."))
    if request.method != "POST":
        initial = {"agent": Agent.objects.filter(public_id=word(request.GET, "agent")).first()}
        return _page(request, chosen, ImportForm(chosen, request.user, initial=initial))
    form = ImportForm(chosen, request.user, request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, chosen, form, status=422)
    try:
        found = _plan(chosen, form)
        if request.POST.get("do") == "import" and found.digest == form.cleaned_data["seen"] and found.is_possible:
            messages.success(request, _take(request, chosen, form, found))
            return redirect(_list_of(chosen, form))
    except BadFile as error:
        form.add_error("upload", error.problems)
        return _page(request, chosen, form, status=422)
    is_other = request.POST.get("do") == "import" and found.digest != form.cleaned_data["seen"]
    return _page(request, chosen, form, found, is_other=is_other, status=409 if is_other else 200)


def _plan(kind: Kind, form: ImportForm) -> Plan:
    given, read = form.cleaned_data, form.cleaned_data["read"]
    if kind == "patterns":
        return pattern_files.plan(given["team"], read[0][1], given["state"])
    if kind == "threads":
        return thread_files.plan(given["agent"], read)
    return lesson_files.plan(given["team"], read[0][1])


def _take(request: PersonRequest, kind: Kind, form: ImportForm, found: Plan) -> str:
    """Take the files, and say what was done."""
    given, read, person = form.cleaned_data, form.cleaned_data["read"], request.user
    if kind == "patterns":
        taken = pattern_files.take(given["team"], read[0][1], person, state=given["state"], only_good=True)
        new, changed = taken.new, taken.changed
    elif kind == "threads":
        told = thread_files.take(given["agent"], read, person, only_good=True)
        new, changed = told.new, told.changed
    else:
        new, changed = lesson_files.take(given["team"], read[0][1], person)
    sentences = [_("Imported: %(new)d added, %(changed)d changed.") % {"new": new, "changed": changed}]
    if skipped := len(found.of("skip")):
        sentence = ngettext("%(count)d entry was skipped.", "%(count)d entries were skipped.", skipped)
        sentences.append(sentence % {"count": skipped})
    return " ".join(sentences)


def _list_of(kind: Kind, form: ImportForm) -> str:
    """Return the address of the list in which what was taken stands."""
    given = form.cleaned_data
    if kind == "patterns":
        return f"{reverse('patterns')}?{urlencode({'state': given['state']})}"
    if kind == "threads":
        return f"{reverse('threads')}?{urlencode({'agent': given['agent'].public_id})}"
    return reverse("lessons")


def _page(
    request: PersonRequest,
    kind: Kind,
    form: ImportForm,
    found: Plan | None = None,
    *,
    is_other: bool = False,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {"kind": kind, "words": WORDS[kind], "form": form, "section": kind, "is_other": is_other}
    if found:
        read: Sequence[tuple[str, bytes]] = form.cleaned_data["read"]
        context |= {
            "plan": found,
            "counts": [(fate, len(found.of(fate))) for fate in ("add", "change", "same", "skip")],
            "entries": sorted(found.entries, key=lambda entry: entry.fate != "skip")[:SHOWN],
            "more": max(0, len(found.entries) - SHOWN),
            "content": json.dumps([(name, b64encode(raw).decode()) for name, raw in read]),
            "names": ", ".join(name for name, _raw in read),
        }
    return render(request, "reviews/import.html", context, status=status)


# -- export ----------------------------------------------------------------------------------------


@require_safe
def patterns_export(request: PersonRequest) -> HttpResponse:
    """Give the patterns that the list's filters show, in the seed's format."""
    if unknown_filters(request.GET, state=ErrorPattern.State.values):
        raise Http404
    state, query = (word(request.GET, name) for name in ("state", "q"))
    teams = [team.pk for team in request.user.teams]
    rows = matching(ErrorPattern.objects.filter(team__in=teams), query).exclude(keywords=[])
    if state:
        rows = rows.filter(state=state)
    document = json.dumps(pattern_files.entries(rows, *teams), ensure_ascii=False, indent=2) + "\n"
    return _file(document, f"patterns-{state}.json" if state else "patterns.json", "application/json")


@require_safe
def threads_export(request: PersonRequest) -> HttpResponse:
    """Give all threads of the agent that the page shows, or of all agents, in one Markdown file."""
    agents = _agents(request)
    kept = set(ThoughtThread.objects.filter(agent__in=agents, erased_at=None).values_list("agent", "slug"))
    texts = [text for agent in agents for slug, text in thread_files.give(agent) if (agent.pk, slug) in kept]
    name = f"threads-{agents[0].name}.md" if request.GET.get("agent") else "threads.md"
    return _file("\n".join(texts), name, "text/markdown")


@require_safe
def lessons_export(request: PersonRequest) -> HttpResponse:
    """Give the lessons that the page shows: of one agent with those of its team, or all."""
    agents = _agents(request)
    rows = Lesson.objects.filter(team__in=request.user.teams_as(), erased_at=None).select_related("agent")
    if request.GET.get("agent"):
        rows = rows.filter(Q(agent=agents[0]) | Q(agent=None, team=agents[0].team_id))
    return _file("".join(lesson_files.give(rows.order_by("pk"))), "lessons.jsonl", "application/jsonl")


def _agents(request: PersonRequest) -> list[Agent]:
    """Return the agent that the address names, else all that the person sees; an address that is not known is none."""
    agents = Agent.objects.filter(team__in=request.user.teams_as()).order_by("team__name", "name")
    wanted = word(request.GET, "agent")
    found = list(agents.filter(public_id=wanted) if wanted else agents)
    if unknown_filters(request.GET, agents=found):
        raise Http404
    return found


def _file(content: str, name: str, kind: str) -> HttpResponse:
    answer = HttpResponse(masked_text(content), content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return answer
