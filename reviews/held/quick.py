"""Find at once what a few letters mean, while they are typed: pages of agents by their names, held items by their text.

Two queries, or one where the letters begin an id. Words are looked for in the newest held items only: the page of the
search looks further.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Q, QuerySet, Value
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.tool_calls.secrets import excerpt, masked_text
from metacog.models import Agent, Team
from reviews.held.listing import beginning
from reviews.models import HeldItem
from reviews.search.folded import Folded
from reviews.search.kinds import KINDS
from reviews.search.search import Filters, search

AGENTS = 5  # pages of agents
ITEMS = 5
# What an agent has pages of, by the name of their addresses.
_PAGES: Sequence[tuple[str, str | Promise]] = (
    ("agent", "%(agent)s"),
    ("policy", _("Policy of %(agent)s")),
    ("agent-context", _("Next context of %(agent)s")),
    ("agent-day", _("Sessions of %(agent)s")),
)
NEWEST = 200  # held items that are looked through, by how their texts begin


class Quick(NamedTuple):
    """One row that was found."""

    url: str
    text: str
    kind: str | Promise
    of: str
    calls: Sequence[tuple[str, str]] = ()  # the tool's name, and how the call's text begins


def quick(teams: QuerySet[Team], query: str) -> list[Quick]:
    """Return the agents and held items of these teams that are meant, agents first."""
    if any(query.startswith(f"{kind.prefix}_") for kind in KINDS):
        return [
            Quick(hit.url, "".join(text for text, _ in hit.text) or query, group.title, hit.of, hit.calls)
            for group in search(teams, Filters(query=query))
            for hit in group.hits
        ]
    words = Folded(query).text.split()
    return [*_agents(teams, query), *_items(teams, words)] if words else []


def _agents(teams: QuerySet[Team], query: str) -> list[Quick]:
    """Return the pages in whose row all words stand, in whatever order."""
    found = []
    for at, (_page, title) in enumerate(_PAGES):
        same = Folded(" ".join([str(title) % {"agent": ""}, str(_("Agent"))])).text  # in each of these rows
        agents = Agent.objects.filter(team__in=teams).order_by()
        for word in query.split():
            if Folded(word).text not in same:
                agents = agents.filter(Q(name__icontains=word) | Q(team__name__icontains=word))
        found.append(agents.annotate(at=Value(at)).values_list("at", "name", "pk", "public_id", "team__name"))
    rows = found[0].union(*found[1:], all=True).order_by("at", "name", "pk")[:AGENTS]
    return [
        Quick(reverse(_PAGES[at][0], args=[key]), str(_PAGES[at][1]) % {"agent": name}, _("Agent"), team)
        for at, name, _pk, key, team in rows
    ]


def _items(teams: QuerySet[Team], words: list[str]) -> list[Quick]:
    newest = HeldItem.objects.filter(Q(team__in=teams), state=HeldItem.State.PENDING).order_by("-pk")[:NEWEST]
    found: list[Quick] = []
    rows = newest.annotate(clip=beginning()).values_list("public_id", "kind", "call__name", "clip", "agent__name")
    for key, kind, call, clip, agent in rows:
        text = excerpt(kind, call, clip)
        folded = Folded(text).text
        if len(found) < ITEMS and all(word in folded for word in words):
            calls = [(call, masked_text(clip))] if call else []
            found.append(Quick(reverse("item", args=[key]), text, _("Held item"), agent, calls))
    return found
