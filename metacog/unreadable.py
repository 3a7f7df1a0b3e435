"""Policies in force that cannot be read: nothing of their agents is taken, and whoever sees the agents is told."""

from __future__ import annotations

import time

from django.db.models import F, QuerySet

from metacog.models import Policy, Team

LOOK_AGAIN = 5  # seconds; only then is there anything to look for
TRUST = 60  # seconds that a policy which could be read is not read again
AT_ONCE = 500  # of a look, so that no request takes long


class UnreadablePolicy(Exception):
    """An agent's policy in force cannot be read, so that nobody can say what may pass."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(f"Policy {policy.version} of {policy.agent} cannot be read: {policy.fault}")
        self.policy = policy


class _Looks:
    """What this process knows of the policies in force, by their keys."""

    def __init__(self) -> None:
        self.good: set[int] = set()
        self.bad: set[int] = set()
        self.next = self.trusted_until = 0.0

    def look(self, now: float) -> None:
        if now < self.next:
            return
        self.next = now + LOOK_AGAIN
        if now > self.trusted_until:
            self.good, self.trusted_until = set(), now + TRUST
        keys = [key for key in _in_force().values_list("pk", flat=True) if key not in self.good]
        for policy in Policy.objects.filter(pk__in=keys[:AT_ONCE]):
            known, other = (self.bad, self.good) if policy.faults else (self.good, self.bad)
            known.add(policy.pk)
            other.discard(policy.pk)


looks = _Looks()


def unreadable(teams: QuerySet[Team] | None = None) -> list[Policy]:
    """Return the policies in force, of these teams or of all, that cannot be read, with their agents."""
    looks.look(time.monotonic())
    if not looks.bad:
        return []
    found = _in_force().filter(pk__in=looks.bad).select_related("agent__team").order_by("agent__name", "pk")
    return [policy for policy in (found if teams is None else found.filter(agent__team__in=teams)) if policy.faults]


def _in_force() -> QuerySet[Policy]:
    return Policy.objects.filter(agent__enabled=True, version=F("agent__policy_version"))
