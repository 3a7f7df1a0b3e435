"""The admin of the shared memory: to look up. Confirming, retiring and writing anew are done in the console."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from metacog.admin_site import ScopedAdmin, ScopedFilter
from metacog.models import Role
from patterns.models import Memory


@admin.register(Memory)
class MemoryAdmin(ScopedAdmin):
    page = "memory"
    role_to_view = Role.CURATOR
    list_display = ["beginning", "state", "topic", "author", "confidence", "created_at", "console"]
    list_filter = ["state", ("team", ScopedFilter)]
    list_select_related = ["team", "agent", "person"]
    search_fields = ["text", "topic", "=public_id"]
    fields = [
        "public_id", "console", "of_team", "author", "text", "topic", "source", "confidence", "state", "sha256",
        "hesitation_score", "created_at", "confirmed_at", "retired_at", "erased_at",
    ]  # fmt: skip
    readonly_fields = ["console", "of_team", "author"]

    @admin.display(description=_("text"))
    def beginning(self, memory: Memory) -> str:
        return str(memory) or "–"

    # Not the field itself, whose link leads to the team's admin, where only owners get in.
    @admin.display(description=_("team"))
    def of_team(self, memory: Memory) -> str:
        return str(memory.team)

    @admin.display(description=_("added by"))
    def author(self, memory: Memory) -> str:
        return str(memory.agent or memory.person or "–")
