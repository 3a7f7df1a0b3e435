"""Who must approve what a rule asks about: so many people, those with a role, those of a group."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Approvers(NamedTuple):
    """So many people, each of whom has all of these roles (or more) and is in all of these groups."""

    people: int = 1
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def and_(self, other: "Approvers") -> "Approvers":
        """Give what satisfies both."""
        return Approvers(max(self.people, other.people), self.roles | other.roles, self.groups | other.groups)


ANYBODY = Approvers()


def of_rule(rule: Mapping[str, Any] | None) -> Approvers:
    """Give whom a rule without faults names."""
    named = (rule or {}).get("approvers") or {}
    roles, groups = ([named[name]] if name in named else [] for name in ("role", "group"))
    return Approvers(named.get("people", 1), frozenset(roles), frozenset(groups))
