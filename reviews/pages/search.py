"""The page of what was searched for from the header."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from metacog.pages.unknown_filters import unknown_filters
from reviews.held.quick import quick
from reviews.pages.person import PersonRequest
from reviews.search.search import MAX_QUERY, NEWEST, search

_WHOLE_ID = re.compile(r"[a-z]+_[0-9a-z]{26}")


@require_safe
def search_page(request: PersonRequest) -> HttpResponse:
    """List what holds the words; a whole id leads to its page at once."""
    query = _query(request)
    groups = search(request.user.teams_as(), query) if query else []
    if groups and _WHOLE_ID.fullmatch(query):
        return redirect(groups[0].hits[0].url)
    context = {
        "query_of_all": query,
        "unknown_filters": unknown_filters(request.GET),
        "groups": groups,
        "newest": f"{NEWEST:,}",
        "section": "search",
    }
    return render(request, "reviews/search.html", context)


@require_safe
def palette(request: PersonRequest) -> HttpResponse:
    """Give the command palette the agents and held items that a few letters mean."""
    query = _query(request)
    return render(request, "_palette_found.html", {"hits": quick(request.user.teams_as(), query) if query else []})


def _query(request: PersonRequest) -> str:
    return request.GET.get("q", "").replace("\0", "").strip()[:MAX_QUERY]
