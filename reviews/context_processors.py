"""What every page of the console shows."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.http import once
from metacog.models import User
from reviews.held.counts import to_do

SECTIONS = {
    "item": "queue",
    "together": "queue",
    "decide-together": "queue",
    "response": "responses",
    "let-through": "statistics",
    "corrections": "statistics",
    "agent": "agents",
    "agent-new": "agents",
}

# The letter that goes to a page after G, the name of its address, and its own. Those without a letter stand in the
# palette alone.
PAGES: tuple[tuple[str, str, Promise], ...] = (
    ("q", "queue", _("Queue")),
    ("t", "to-do", _("To-do")),
    ("e", "extensions", _("Extension requests")),
    ("s", "stuck", _("Stuck problems")),
    ("r", "responses", _("Responses")),
    ("p", "patterns", _("Error patterns")),
    ("l", "lessons", _("Lessons")),
    ("f", "reflections", _("Reflections")),
    ("m", "memories", _("Memory")),
    ("h", "threads", _("Threads")),
    ("n", "research-list", _("Research")),
    ("c", "corrections", _("Corrections")),
    ("k", "let-through", _("Spot checks")),
    ("i", "statistics", _("Statistics")),
    ("v", "pace", _("Review time")),
    ("a", "agents", _("Agents")),
    ("w", "deliveries", _("Deliveries")),
    ("d", "team", _("Team")),
    ("u", "audit", _("Audit log")),
    ("o", "preferences", _("Preferences")),
    ("", "learned-risk", _("Learned risk")),
)


def pages() -> list[tuple[str, str, Promise]]:
    """Return the pages there are: letter, address, name."""
    found = []
    for letter, name, title in PAGES:
        with suppress(NoReverseMatch):
            found.append((letter, reverse(name), title))
    return found


def console(request: HttpRequest) -> dict[str, Any]:
    """Return the theme, the section of the navigation, and how much waits (asked only where shown)."""
    user = getattr(request, "user", None)
    theme = user.theme if isinstance(user, User) else request.COOKIES.get("theme", "")
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    return {
        "theme": theme if theme in ("light", "dark") else "",
        "section": SECTIONS.get(name, name),
        "pages_by_key": pages,
        "once": once.value,
        "to_do": cache(lambda: to_do(user) if isinstance(user, User) else {}),
    }
