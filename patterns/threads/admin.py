"""The admin of thought threads."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from metacog.admin_site import ScopedAdmin, ScopedFilter, person, team_ids
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Role
from patterns.imports import BadFile
from patterns.models import ThoughtThread, ThreadStep
from patterns.threads import exchange, texts, threads
from patterns.threads.forms import EditForm, ImportForm


@admin.register(ThoughtThread)
class ThreadAdmin(ScopedAdmin):
    """Threads begin and go on in the console. Here they are looked up, corrected, moved many at once, and exchanged."""

    team_path = "agent__team"
    page = "thread"
    role_to_view = role_to_change = Role.CURATOR
    form = EditForm
    list_display = ["title", "of_agent", "state", "touches", "touched_at", "console"]
    list_filter = ["state", ("agent", ScopedFilter)]
    list_select_related = ["agent__team"]
    search_fields = ["title", "=slug", "=public_id"]
    readonly_fields = [
        "of_agent", "slug", "state", "touches", "created_at", "touched_at", "resolved_at", "trail", "console",
    ]  # fmt: skip
    fields = ["title", "next", "notes", *readonly_fields]
    actions = ["pause", "resume", "resolve", "export"]
    change_list_template = "admin/patterns/thoughtthread/change_list.html"

    def get_urls(self) -> list[Any]:
        return [
            path("import/", self.admin_site.admin_view(self.take), name="thoughtthread_import"),
            *super().get_urls(),
        ]

    @admin.display(description=_("agent"))
    def of_agent(self, thread: ThoughtThread) -> str:
        return str(thread.agent)

    @admin.display(description=_("trail"))
    def trail(self, thread: ThoughtThread) -> str:
        steps = texts.last_steps([thread], 20)[thread.pk]
        said = ((step.on or "–", Truncator(masked_text(step.text)).chars(300)) for step in steps)
        lines = format_html_join("", "<li>{} {}</li>", said)
        return format_html("<ul>{}</ul>", lines) if steps else "–"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        threads.edit(obj, obj.title, obj.next, obj.notes, person(request))

    @admin.action(description=_("Pause the selected threads"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, ThreadStep.Op.PAUSE)

    @admin.action(description=_("Resume the selected threads"), permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, ThreadStep.Op.RESUME)

    @admin.action(description=_("Resolve the selected threads"), permissions=["change"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, ThreadStep.Op.RESOLVE)

    def _step(self, request: HttpRequest, queryset: QuerySet[Any], op: str) -> None:
        moved = 0
        for thread in queryset.select_related("agent__team"):
            try:
                with threads.changes(thread.agent, person(request), thread.slug) as made:
                    made.step(thread.slug, op)
            except threads.NotDone as error:
                self.message_user(request, str(error), messages.WARNING)
            else:
                self.log_change(request, thread, [{"changed": {"fields": ["state"]}}])
                moved += 1
        told = ngettext("%(count)d thread was changed.", "%(count)d threads were changed.", moved)
        self.message_user(request, told % {"count": moved})

    @admin.action(description=_("Export as Markdown"), permissions=["view"])
    def export(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        text = "\n".join(masked_text(texts.markdown(thread)) for thread in queryset.order_by("pk"))
        headers = {"Content-Disposition": 'attachment; filename="threads.md"'}
        return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)

    def take(self, request: HttpRequest) -> HttpResponse:
        """Import the seed's Markdown for one of the agents of the person's teams, all files or none."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        agents = Agent.objects.filter(team__in=team_ids(request, Role.CURATOR)).select_related("team").order_by("name")
        form = ImportForm(agents, *((request.POST, request.FILES) if request.method == "POST" else ()))
        if form.is_valid():
            files = [(file.name, file.read(exchange.MAX_BYTES + 1)) for file in form.cleaned_data["markdown"]]
            agent = form.cleaned_data["agent"]
            try:
                taken = exchange.take(agent, files, person(request))
            except BadFile as error:
                form.add_error("markdown", error.problems)
            else:
                self.message_user(request, taken.summary(agent), messages.SUCCESS)
                return redirect("admin:patterns_thoughtthread_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Import thought threads"),
            "opts": self.opts,
            "form": form,
        }
        status = 422 if form.errors else 200
        return render(request, "admin/patterns/thoughtthread/import.html", context, status=status)
