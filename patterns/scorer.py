"""The scorer of an agent: its team's active patterns under its own policy, built once and shared."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.conf import settings

from metacog import heuristics
from metacog.models import Agent, Language, Policy
from patterns.models import ErrorPattern

BCP47 = {Language.EN: "en", Language.ZH_HANT: "zh-Hant", Language.ZH_HANS: "zh-Hans"}

Kept = TypeVar("Kept")


class _Recent:
    """The last values made, by key; each is made once, even when many threads ask at the same time."""

    def __init__(self, most: int) -> None:
        self.most, self.kept, self.lock = most, OrderedDict[Hashable, Any](), threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        found = self.kept.get(key)
        if found is None:
            with self.lock:
                found = self.kept.get(key)
                if found is None:
                    found = self.kept[key] = make()
                    while len(self.kept) > self.most:
                        self.kept.popitem(last=False)
        return found


# An automaton over 10,000 patterns takes about 20 MB, a policy next to nothing.
_automata = _Recent(16)
_scorers = _Recent(1024)


def wire_patterns(team_id: int) -> list[dict[str, Any]]:
    """Return the team's active patterns in order, in the seed's shape (`hesitation-patterns.json`)."""
    rows = ErrorPattern.objects.filter(team_id=team_id, state=ErrorPattern.State.ACTIVE).order_by("id")
    return [
        {
            "id": row.public_id,
            "keywords": row.keywords,
            "description": row.description,
            "source": row.source,
            "createdAt": row.created_at.isoformat().replace("+00:00", "Z"),
            "triggerCount": row.imported_triggers,
        }
        for row in rows
    ]


def scorer_for(agent: Agent) -> heuristics.Scorer:
    """Return the scorer in force, given an agent read with its team in this request.

    The versions are part of the key, so a change is live in every process with the next request.
    """
    team = agent.team
    automaton_key = (team.pk, team.patterns_version)

    def build() -> heuristics.Scorer:
        policy = Policy.objects.get(agent=agent, version=agent.policy_version)
        base: heuristics.Scorer = _automata.get(
            automaton_key, lambda: heuristics.Scorer(wire_patterns(team.pk))
        )
        document = policy.as_dict() | {"language": BCP47[Language(agent.language)]}
        if settings.REVIEW_SECONDS:  # for tests and trials
            document["review_seconds"] = settings.REVIEW_SECONDS
        return base.with_policy(heuristics.Policy.from_dict(document))

    return _scorers.get((agent.pk, agent.policy_version, agent.language, *automaton_key), build)
