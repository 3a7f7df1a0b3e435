"""Find at once what a few letters mean, while they are typed: agents by their names, held items by their text.

Two queries, or one where the letters begin an id. Words are looked for in the newest held items only: the page of the
search looks further.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.tool_calls.secrets import excerpt
from metacog.models import Agent, Team
from reviews.held.listing import beginning
from reviews.models import HeldItem
from reviews.search.folded import Folded, Word
from reviews.search.kinds import KINDS
from reviews.search.search import Filters, search

AGENTS = 5
ITEMS = 5
NEWEST = 200  # held items that are looked through, by how their texts begin


class Quick(NamedTuple):
    """One row that was found."""

    url: str
    text: str
    kind: str | Promise
    of: str


def quick(teams: QuerySet[Team], query: str) -> list[Quick]:
    """Return the agents and held items of these teams that are meant, agents first."""
    if any(query.startswith(f"{kind.prefix}_") for kind in KINDS):
        return [
            Quick(hit.url, "".join(text for text, _ in hit.text) or query, group.title, hit.of)
            for group in search(teams, Filters(query=query))
            for hit in group.hits
        ]
    words = [Word(word) for word in Folded(query).text.split()]
    return [*_agents(teams, query), *_items(teams, words)] if words else []


def _agents(teams: QuerySet[Team], query: str) -> list[Quick]:
    found = Agent.objects.filter(team__in=teams, name__icontains=query).order_by("name", "pk")[:AGENTS]
    return [
        Quick(reverse("agent", args=[key]), name, _("Agent"), team)
        for key, name, team in found.values_list("public_id", "name", "team__name")
    ]


def _items(teams: QuerySet[Team], words: list[Word]) -> list[Quick]:
    newest = HeldItem.objects.filter(Q(team__in=teams), state=HeldItem.State.PENDING).order_by("-pk")[:NEWEST]
    found: list[Quick] = []
    rows = newest.annotate(clip=beginning()).values_list("public_id", "kind", "call__name", "clip", "agent__name")
    for key, kind, call, clip, agent in rows:
        text = excerpt(kind, call, clip)
        folded = Folded(text).text
        if len(found) < ITEMS and all(word.folded in folded for word in words):
            found.append(Quick(reverse("item", args=[key]), text, _("Held item"), agent))
    return found
