"""Which agents a page gives to choose from: all of a few; of many, one is looked for by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from metacog.models import Agent

MOST = 50  # agents that a page names to choose from
MAX_FILTER = 100  # characters of what else is asked for that are handed on
# The pages that are about one agent where their address names it, each with what else it asks for that stays when
# another agent is found. The list of agents leads back to these.
PAGES: dict[str, Sequence[str]] = {
    "queue": (),  # as its filters say, once reviews is there
    "responses": ("show",),
    "search": ("words", "kind", "state", "session", "tool", "metadata", "since", "until"),
    "deliveries": ("state",),
    "statistics": ("days", "range", "since", "until", "team", "group"),
    "grants": ("state",),
    "lessons": (),
    "reflections": (),
    "threads": (),
    "research-list": (),
    "audit": ("action", "actor", "person", "object", "since", "until"),
}


@dataclass(frozen=True)
class Choice:
    """What a page gives to choose from."""

    page: str  # its name
    every: QuerySet[Agent]
    agents: Sequence[Agent]  # with their teams; none where there are too many to name
    chosen: Agent | None
    is_many: bool
    kept: Mapping[str, str]  # what else the page's address asks for

    @property
    def named(self) -> Sequence[Agent]:
        """Return the agents that the page names."""
        return [self.chosen] if self.is_many and self.chosen else self.agents

    @cached_property
    def several_teams(self) -> bool:
        """Say whether not all of them are of one team."""
        if self.is_many:
            return self.every.order_by().values("team").distinct().count() > 1
        return len({agent.team_id for agent in self.agents}) > 1

    def name_of(self, agent: Agent) -> str:
        """Return what an agent is called; with its team, where those to choose from are of several."""
        return f"{agent.name} · {agent.team.name}" if self.several_teams else agent.name


def choice(page: str, agents: QuerySet[Agent], asked: Mapping[str, Any], chosen: str = "") -> Choice:
    """Return the agents to choose from, in their order. One query for a few.

    `asked` is the page's address, `chosen` the public id of an agent.
    """
    found = list(agents.select_related("team")[: MOST + 1])
    others = kept(page, asked)
    if len(found) > MOST:
        one = agents.select_related("team").filter(public_id=chosen).first() if chosen else None
        return Choice(page, agents, [], one, is_many=True, kept=others)
    one = next((agent for agent in found if agent.public_id == chosen), None)
    return Choice(page, agents, found, one, is_many=False, kept=others)


def kept(page: str, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return what stays of a page's address when another agent is found; each page reads it as if typed."""
    given = {name: asked.get(name, "")[:MAX_FILTER] for name in PAGES[page]}
    return {name: value for name, value in given.items() if value}


def of_name(agents: QuerySet[Agent], name: str) -> QuerySet[Agent]:
    """Return the agents in whose name this stands, whatever its capitals; all of them for nothing."""
    return agents.filter(name__icontains=name) if name else agents


def meant(agents: QuerySet[Agent], name: str) -> Agent | None:
    """Return the one agent of that name, else the one in whose name it stands; None where it may be several."""
    for found in (agents.filter(name__iexact=name), of_name(agents, name)):
        match list(found.order_by()[:2]):
            case [one]:
                return one
            case [_, _]:
                return None
    return None
