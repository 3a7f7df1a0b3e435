"""The admin of lessons: looked up, corrected, and moved many at once; they are written in the console."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import CharField, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from metacog.accounts.forms import ShownField, StoredModelForm
from metacog.admin_site import ScopedAdmin, ScopedFilter, person
from metacog.models import Role
from patterns.lessons import lessons
from patterns.models import Lesson


@admin.register(Lesson)
class LessonAdmin(ScopedAdmin):
    page = "lesson"
    role_to_view = role_to_change = Role.CURATOR
    form = StoredModelForm
    list_display = ["text", "whose", "state", "origin", "given", "changed_at", "console"]
    list_filter = ["state", "origin", ("agent", ScopedFilter), ("team", ScopedFilter)]
    list_select_related = ["agent__team", "team"]
    search_fields = ["text", "=public_id"]
    readonly_fields = ["whose", "about", "state", "origin", "given", "created_at", "changed_at", "console"]
    fields = ["text", *readonly_fields]
    actions = ["confirm", "dismiss", "retire"]
    formfield_overrides = {CharField: {"form_class": ShownField}}

    @admin.display(description=_("for"))
    def whose(self, lesson: Lesson) -> str:
        return str(lesson.agent or lesson.team)

    @admin.display(description=_("when it is about"))
    def about(self, lesson: Lesson) -> str:
        return ", ".join(lesson.topics) or "–"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.erased_at)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        try:
            lessons.edit(obj, obj.text, obj.topics, person(request))
        except lessons.NotDone as error:
            raise ValidationError(str(error)) from None

    @admin.action(description=_("Confirm the selected lessons"), permissions=["change"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, "confirm")

    @admin.action(description=_("Dismiss the selected lessons"), permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, "dismiss")

    @admin.action(description=_("Retire the selected lessons"), permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._step(request, queryset, "retire")

    def _step(self, request: HttpRequest, queryset: QuerySet[Any], step: str) -> None:
        moved = 0
        for lesson in queryset:
            try:
                lessons.move(lesson, step, person(request))
            except lessons.NotDone as error:
                self.message_user(request, str(error), messages.WARNING)
            else:
                self.log_change(request, lesson, [{"changed": {"fields": ["state"]}}])
                moved += 1
        told = ngettext("%(count)d lesson was changed.", "%(count)d lessons were changed.", moved)
        self.message_user(request, told % {"count": moved})
