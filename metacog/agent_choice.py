"""Which agents a page gives to choose from: all of a few; of many, one is looked for by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from metacog.models import Agent

MOST = 50  # agents that a page names to choose from
# The pages that are about one agent where their address names it. The list of agents leads back to these.
PAGES = (
    "queue", "responses", "deliveries", "statistics", "lessons", "reflections", "threads", "research-list", "audit",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What a page gives to choose from."""

    page: str  # its name
    every: QuerySet[Agent]
    agents: Sequence[Agent]  # with their teams; none where there are too many to name
    chosen: Agent | None
    is_many: bool

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


def choice(page: str, agents: QuerySet[Agent], chosen: str = "") -> Choice:
    """Return the agents to choose from, in their order; `chosen` is the public id of one. One query for a few."""
    found = list(agents.select_related("team")[: MOST + 1])
    if len(found) > MOST:
        return Choice(page, agents, [], agents.filter(public_id=chosen).first() if chosen else None, is_many=True)
    one = next((agent for agent in found if agent.public_id == chosen), None)
    return Choice(page, agents, found, one, is_many=False)


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
