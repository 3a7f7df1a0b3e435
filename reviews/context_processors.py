"""What every page of the console shows."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest

from metacog.http import once
from metacog.models import User
from metacog.unreadable import unreadable, unreadable_rules
from reviews.held.counts import ToDo, to_do

SECTIONS = {
    "item": "queue",
    "together": "queue",
    "decide-together": "queue",
    "response": "responses",
    "spot-checks": "statistics",
    "corrections": "statistics",
    "agent": "agents",
    "agent-new": "agents",
}


def console(request: HttpRequest) -> dict[str, Any]:
    """Return the theme, the section of the navigation, and how much waits (asked only where shown)."""
    user = getattr(request, "user", None)
    theme = user.theme if isinstance(user, User) else request.COOKIES.get("theme", "")
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    return {
        "theme": theme if theme in ("light", "dark") else "",
        "section": SECTIONS.get(name, name),
        "query_of_all": "",
        "unknown_filters": (),
        "oob": False,  # of a part that is sent by itself, to be put into the page
        "once": once.value,
        "to_do": cache(lambda: to_do(user) if isinstance(user, User) else ToDo()),
        "unreadable_policies": cache(lambda: unreadable(user.teams_as()) if isinstance(user, User) else []),
        "unreadable_rules": cache(lambda: unreadable_rules(user.teams_as()) if isinstance(user, User) else []),
    }
