"""What every page of the console shows."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import Count, QuerySet, Value
from django.http import HttpRequest

from metacog.models import User
from patterns.models import Problem
from reviews.models import ExtensionRequest, HeldItem

SECTIONS = {
    "item": "queue",
    "together": "queue",
    "decide-together": "queue",
    "response": "responses",
    "let-through": "statistics",
    "agent": "agents",
    "agent-new": "agents",
}


def console(request: HttpRequest) -> dict[str, Any]:
    """Return the theme, the section of the navigation, and how much waits (asked only where shown)."""
    user = getattr(request, "user", None)
    theme = user.theme if isinstance(user, User) else request.COOKIES.get("theme", "")
    name = (request.resolver_match and request.resolver_match.url_name) or ""

    @cache
    def to_do() -> dict[str, int]:
        """Count what waits for somebody, by section; one query, of partial indexes."""
        if not isinstance(user, User):
            return {}
        teams = user.teams_as()
        sections: dict[str, QuerySet[Any]] = {
            "queue": HeldItem.objects.filter(team__in=teams, state=HeldItem.State.PENDING),
            "extensions": ExtensionRequest.objects.filter(
                agent__team__in=teams, state=ExtensionRequest.State.PENDING
            ),
            "stuck": Problem.objects.filter(agent__team__in=teams, suggests=True),
        }
        first, *others = (
            rows.order_by().annotate(section=Value(name)).values("section").annotate(count=Count("pk"))
            for name, rows in sections.items()
        )
        return {row["section"]: row["count"] for row in first.union(*others, all=True).order_by()}

    return {
        "theme": theme if theme in ("light", "dark") else "",
        "section": SECTIONS.get(name, name),
        "to_do": to_do,
    }
