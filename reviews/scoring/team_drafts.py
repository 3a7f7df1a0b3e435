"""A draft of a team's rules over all its agents: their scorers in force, and as they would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from metacog import heuristics
from metacog.heuristics.tool_calls.rules import of_team
from metacog.models import Agent, Team
from patterns.patterns.scorer import scorer_shown
from reviews.scoring.calls_preview import TeamPreview, team_preview


class TeamDraft(NamedTuple):
    """A team's agents with their scorers in force, and under the draft, by their keys."""

    agents: Sequence[Agent]
    in_force: Mapping[int, heuristics.Scorer]
    scorers: Mapping[int, heuristics.Scorer]
    rules: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, team: Team, rules: Sequence[Mapping[str, Any]]) -> TeamDraft:
        """Read the team's agents; one query, once the scorers of all are known here."""
        agents = list(Agent.objects.filter(team=team).select_related("team").order_by("name"))
        given = of_team(rules, team.rules_version + 1)
        in_force = {agent.pk: scorer_shown(agent) for agent in agents}
        scorers = {
            key: scorer.with_policy(replace(scorer.policy, team_rules=tuple(given))) for key, scorer in in_force.items()
        }
        return cls(agents, in_force, scorers, given)

    def preview(self, most: int) -> TeamPreview:
        return team_preview(self.agents, self.in_force, self.scorers, self.rules, most)
