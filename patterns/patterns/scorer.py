"""The scorer of an agent: its team's active patterns under its own policy, built once and shared."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.db.models import Q

from metacog import heuristics
from metacog.models import Agent, Language, Policy, Team, TeamRules
from metacog.unreadable import UnreadablePolicy, policies, rules
from patterns.models import PatternInForce

Kept = TypeVar("Kept")


class _Latest:
    """The latest value of each owner, made once a version, even when many threads ask at the same time.

    Only one version of an owner is kept: an automaton over 10,000 patterns takes about 20 MB.
    """

    def __init__(self, most: int) -> None:
        self.most, self.kept, self.lock = most, OrderedDict[Hashable, tuple[Hashable, Any]](), threading.Lock()

    def get(self, owner: Hashable, version: Hashable, make: Callable[[], Kept]) -> Kept:
        found = self.kept.get(owner)
        if found is None or found[0] != version:
            with self.lock:
                found = self.kept.get(owner)
                if found is None or found[0] != version:
                    found = self.kept[owner] = (version, make())
                    self.kept.move_to_end(owner)
                    while len(self.kept) > self.most:
                        self.kept.popitem(last=False)
        kept: Kept = found[1]
        return kept


_automata = _Latest(16)  # by team
_scorers = _Latest(1024)  # by agent


def patterns_in_force(team_id: int, version: int) -> list[dict[str, Any]]:
    """Return what was active in a version of a team's patterns, in order, as heuristics.Scorer takes it.

    Of versions before the team's `patterns_known_from` it gives none.
    """
    rows = PatternInForce.objects.filter(
        Q(until_version=None) | Q(until_version__gt=version), team=team_id, since_version__lte=version
    ).order_by("place")
    return [
        {"id": public_id, "keywords": keywords, "description": description}
        for public_id, keywords, description in rows.values_list("public_id", "keywords", "description")
    ]


def policy_in_force(agent_id: int, version: int, language: str, rules_version: int) -> heuristics.Policy:
    """Return a version of an agent's policy as its responses are scored with it, under a version of its team's rules.

    Raises UnreadablePolicy.
    """
    policy = Policy.objects.select_related("agent").get(agent=agent_id, version=version)
    if policy.faults:
        raise UnreadablePolicy(policy)
    try:
        return _as_scored(policy, language, TeamRules.given(policy.agent.team_id, rules_version))
    except heuristics.PolicyError:  # by the team's rules, since the policy itself can be read
        rules = TeamRules.objects.select_related("team").get(team=policy.agent.team_id, version=rules_version)
        raise UnreadablePolicy(policy, rules) from None


def as_scored(agent: Agent, policy: Policy) -> heuristics.Policy:
    """Return a version or a draft of an agent's policy as its responses are scored with it, under the team's rules.

    Where these cannot be read, there are none here, as in `scorer_shown`.
    """
    return _as_scored(policy, agent.language, scorer_shown(agent).policy.team_rules)


def _as_scored(policy: Policy, language: str, team_rules: Any) -> heuristics.Policy:
    given = policy.as_dict() | {"language": Language(language).bcp47, "team_rules": team_rules}
    return heuristics.Policy.from_dict(given)


def scorer_for(agent: Agent) -> heuristics.Scorer:
    """Return the scorer in force, given an agent read with its team in this request. Raises UnreadablePolicy.

    The versions are part of the key, so a change is live in every process with the next request.
    """
    team = agent.team

    def build() -> heuristics.Scorer:
        return _base(team).with_policy(policy_in_force(*named))

    named = (agent.pk, agent.policy_version, agent.language, team.rules_version)
    version = (*named, team.pk, team.patterns_version)
    if policies.is_bad(agent.pk, agent.policy_version) or rules.is_bad(team.pk, team.rules_version):
        return build()  # spoiled since it was read; else this process would take what all pages say is refused
    return _scorers.get(agent.pk, version, build)


def scorer_shown(agent: Agent) -> heuristics.Scorer:
    """Return the scorer in force for what lets nothing pass; where the policy cannot be read, what is shown of it."""
    try:
        return scorer_for(agent)
    except UnreadablePolicy as error:
        return _base(agent.team).with_policy(_as_scored(error.policy, agent.language, ()))


def _base(team: Team) -> heuristics.Scorer:
    version = team.patterns_version
    return _automata.get(team.pk, version, lambda: heuristics.Scorer(patterns_in_force(team.pk, version)))
