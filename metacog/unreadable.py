"""Policies and teams' rules in force that cannot be read: nothing of their agents is taken; who sees them is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db.models import F, QuerySet

from metacog.models import Policy, Team, TeamRules

LOOK_AGAIN = 5  # seconds; only then is there anything to look for
TRUST = 60  # seconds that what could be read is not read again
AT_ONCE = 500  # of a look, so that no request takes long
Row = TypeVar("Row", Policy, TeamRules)


class UnreadablePolicy(Exception):
    """An agent's policy in force, or its team's `rules`, cannot be read, so that nobody can say what may pass."""

    def __init__(self, policy: Policy, rules: TeamRules | None = None) -> None:
        named = f"Policy {policy.version} of {policy.agent}"
        if rules:
            named = f"Version {rules.version} of the rules of {rules.team}"
        super().__init__(f"{named} cannot be read: {(rules or policy).fault}")
        self.policy, self.rules = policy, rules


class _Looks(Generic[Row]):
    """What this process knows of those in force, by their keys."""

    def __init__(self, in_force: Callable[[], QuerySet[Row]], owner: str) -> None:
        self.in_force: Callable[[], QuerySet[Row]] = in_force
        self.owner = owner
        self.forget()

    def forget(self) -> None:
        self.good: set[int] = set()
        self.bad: dict[int, tuple[int, int]] = {}  # whose, and which version
        self.next = self.trusted_until = 0.0

    def look(self, now: float) -> None:
        if now < self.next:
            return
        self.next = now + LOOK_AGAIN
        if now > self.trusted_until:
            self.good, self.trusted_until = set(), now + TRUST
        keys = [key for key in self.in_force().values_list("pk", flat=True) if key not in self.good]
        for row in self.in_force().filter(pk__in=keys[:AT_ONCE]):
            if row.faults:
                self.bad[row.pk] = (getattr(row, self.owner), row.version)
                self.good.discard(row.pk)
            else:
                self.good.add(row.pk)
                self.bad.pop(row.pk, None)

    def is_bad(self, owner: int, version: int) -> bool:
        """Whether that version could not be read at the last look, whatever was read of it before."""
        return (owner, version) in self.bad.values()

    def found(self) -> QuerySet[Row] | None:
        """Return those that could not be read at the last look; None: there are none."""
        self.look(time.monotonic())
        return self.in_force().filter(pk__in=self.bad) if self.bad else None


policies = _Looks(lambda: Policy.objects.filter(agent__enabled=True, version=F("agent__policy_version")), "agent_id")
rules = _Looks(lambda: TeamRules.objects.filter(version=F("team__rules_version")), "team_id")


def unreadable(teams: QuerySet[Team] | None = None) -> list[Policy]:
    """Return the policies in force, of these teams or of all, that cannot be read, with their agents."""
    found = policies.found()
    if found is None:
        return []
    found = found.select_related("agent__team").order_by("agent__name", "pk")
    return [policy for policy in (found if teams is None else found.filter(agent__team__in=teams)) if policy.faults]


def unreadable_rules(teams: QuerySet[Team] | None = None) -> list[TeamRules]:
    """Return the rules in force, of these teams or of all, that cannot be read, with their teams."""
    found = rules.found()
    if found is None:
        return []
    found = found.select_related("team").order_by("team__name", "pk")
    return [each for each in (found if teams is None else found.filter(team__in=teams)) if each.faults]
