"""The admin of error patterns, held items and decisions."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from metacog import heuristics
from metacog.admin_site import ScopedAdmin, ScopedFilter, person, team_ids
from metacog.models import Role
from patterns.models import ErrorPattern
from patterns.patterns import lifecycle
from patterns.patterns.forms import PatternForm
from reviews.models import AgentResponse, Decision, ExtensionRequest, HeldItem, Reflection, Signal

State = ErrorPattern.State

RECENT = 200  # responses of the team that a pattern is tried on when it is saved
OFTEN = 0.05
TRIED_CHARACTERS = 20_000  # of each response: enough to see how often a phrase comes up


def hits(pattern: ErrorPattern) -> tuple[int, int]:
    """Count on how many of the team's last responses the pattern would have fired, and how many those are."""
    scorer = heuristics.Scorer([{"id": "tried", "keywords": pattern.keywords, "description": pattern.description}])
    responses = AgentResponse.objects.filter(agent__team=pattern.team_id, erased_at=None).order_by("-pk")
    found = total = 0
    for response in islice(responses.only("body", "erased_at").iterator(chunk_size=20), RECENT):
        total += 1
        texts = (text[:TRIED_CHARACTERS] for text in heuristics.texts_of(response.wire_body()))
        found += any(scorer.hesitate(text, []).matched_pattern_ids for text in texts)
    return found, total


@admin.register(ErrorPattern)
class PatternAdmin(ScopedAdmin):
    """Patterns are retired rather than deleted: responses point at what fired on them."""

    page = "pattern"
    role_to_view = role_to_add = role_to_change = Role.CURATOR
    form = PatternForm
    list_display = ["description", "some_keywords", "source", "state", "triggered", "team", "created_at"]
    list_filter = ["state", "source", ("team", ScopedFilter)]
    list_select_related = ["team"]
    search_fields = ["description", "public_id"]
    actions = ["try_out", "retire"]

    def get_queryset(self, request: HttpRequest) -> Any:
        own = Signal.objects.filter(pattern=OuterRef("pk")).order_by().values("pattern")
        count = Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0)
        return super().get_queryset(request).annotate(triggers=F("imported_triggers") + count)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        written = ["description", "keywords", "source"]
        return [*written, *self.get_readonly_fields(request, obj)] if obj else ["team", *written]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["state", "triggered", "public_id", "of_team", "author", "console"] if obj else []

    # Not the field itself, whose link leads to the team's admin, where only owners get in.
    @admin.display(description=_("team"))
    def of_team(self, pattern: ErrorPattern) -> str:
        return str(pattern.team)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"team": min(team_ids(request, Role.CURATOR), default=None)}

    def page_id(self, obj: ErrorPattern) -> str:
        return str(obj.pk)

    @admin.display(description=_("keywords"))
    def some_keywords(self, pattern: ErrorPattern) -> str:
        shown = ", ".join(pattern.keywords[:4])
        return f"{shown}, …" if len(pattern.keywords) > 4 else shown

    @admin.display(description=_("triggered"), ordering="triggers")
    def triggered(self, pattern: Any) -> int:
        count: int = pattern.triggers
        return count

    @admin.display(description=_("added by"))
    def author(self, pattern: ErrorPattern) -> str:
        return str(pattern.created_by or "–")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        written = {name: form.cleaned_data[name] for name in ("keywords", "description", "source")}
        try:
            if change:
                lifecycle.edit(obj, person(request), **written)
            else:
                obj.pk = lifecycle.add(obj.team, person(request), **written).pk
        except lifecycle.NotDone as error:
            raise ValidationError(str(error)) from None
        if not change:
            obj.refresh_from_db()
        if obj.state != State.RETIRED:
            self._warn(request, obj)

    def _warn(self, request: HttpRequest, pattern: ErrorPattern) -> None:
        found, total = hits(pattern)
        if total and found / total > OFTEN:
            self.message_user(
                request,
                gettext(
                    "Saved, but check it again: it would have fired on %(found)d of the team's last %(total)d "
                    "responses (%(share)d%%). A pattern that fires that often tells reviewers little."
                )
                % {"found": found, "total": total, "share": round(100 * found / total)},
                messages.WARNING,
            )

    @admin.action(description=_("Accept the selected patterns to shadow"), permissions=["change"])
    def try_out(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._move(request, queryset, "try")

    @admin.action(description=_("Retire the selected patterns"), permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._move(request, queryset, "retire")

    def _move(self, request: HttpRequest, queryset: QuerySet[Any], step: str) -> None:
        moved, problems = 0, dict[str, None]()
        for pattern in queryset:
            try:
                lifecycle.take_step(pattern, step, person(request))
            except lifecycle.NotDone as error:
                problems[str(error)] = None
            else:
                self.log_change(request, pattern, [{"changed": {"fields": ["state"]}}])
                moved += 1
        for problem in problems:
            self.message_user(request, problem, messages.WARNING)
        told = ngettext("%(count)d pattern was changed.", "%(count)d patterns were changed.", moved)
        self.message_user(request, told % {"count": moved})


class ReadOnlyAdmin(ScopedAdmin):
    """What happened, to look up. Deciding is done in the console, where the whole text is shown."""

    @admin.display(description=_("agent"))
    def of_agent(self, obj: Any) -> str:
        return str(obj.agent)


@admin.register(HeldItem)
class HeldItemAdmin(ReadOnlyAdmin):
    page = "item"
    list_display = ["held_at", "of_agent", "kind", "hesitation_score", "state", "console"]
    list_filter = ["state", "kind", ("agent", ScopedFilter)]
    list_select_related = ["agent"]
    search_fields = ["=public_id"]
    fields = [
        "public_id", "console", "of_agent", "kind", "hesitation_score", "state", "version", "sha256",
        "held_at", "review_due_at", "expires_at", "closed_at",
    ]  # fmt: skip
    readonly_fields = ["console", "of_agent"]


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    page = "item"
    team_path = "agent__team"
    list_display = ["decided_at", "of_agent", "verdict", "by", "who", "undone_at", "console"]
    list_filter = ["verdict", "by", ("agent", ScopedFilter)]
    list_select_related = ["agent", "person", "held"]
    search_fields = ["=public_id", "=held__public_id"]
    fields = [
        "public_id", "console", "of_agent", "verdict", "by", "who", "item_version", "item_sha256", "text_sha256",
        "decided_at", "release_at", "released_at", "undone_at", "seq",
    ]  # fmt: skip
    readonly_fields = ["console", "of_agent", "who"]

    def page_id(self, obj: Decision) -> str:
        return obj.held.public_id

    @admin.display(description=_("person"))
    def who(self, decision: Decision) -> str:
        return str(decision.person or "–")


@admin.register(Reflection)
class ReflectionAdmin(ReadOnlyAdmin):
    page = "reflection"
    team_path = "agent__team"
    list_display = ["made_at", "of_agent", "day", "responses", "console"]
    list_filter = [("agent", ScopedFilter)]
    list_select_related = ["agent__team"]
    search_fields = ["=public_id"]
    fields = ["public_id", "console", "of_agent", "day", "since", "until", "responses", "made_at"]
    readonly_fields = ["console", "of_agent"]


@admin.register(ExtensionRequest)
class ExtensionAdmin(ReadOnlyAdmin):
    page = "extension"
    team_path = "agent__team"
    list_display = ["created_at", "of_agent", "problem", "state", "by", "granted", "console"]
    list_filter = ["state", "by", ("agent", ScopedFilter)]
    list_select_related = ["agent"]
    search_fields = ["=public_id", "problem", "session"]
    fields = [
        "public_id", "console", "of_agent", "session", "problem", "number", "step", "reason", "state", "by", "granted",
        "answer", "guidance", "policy_version", "created_at", "due_at", "expires_at", "decided_at", "model_asked_at",
        "model_trouble",
    ]  # fmt: skip
    readonly_fields = ["console", "of_agent"]
