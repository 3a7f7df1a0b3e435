"""Say in words who must approve an item, and how many have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from django.utils.translation import gettext, ngettext, npgettext

from metacog.heuristics.tool_calls.approvers import Approvers
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Role
from reviews.models import HeldItem


def counted(given: int, needed: int) -> str:
    return gettext("%(given)s of %(needed)s") % {"given": given, "needed": needed}


def whom(named: Approvers) -> str:
    """Say who must approve: “2 people”, “an owner”, “2 people, each a member of “finance””."""
    roles = {Role.CURATOR: gettext("a curator or an owner"), Role.OWNER: gettext("an owner")}
    each = [roles.get(Role(role), gettext("a reviewer")) for role in sorted(named.roles)]
    each += [gettext("a member of “%(group)s”") % {"group": masked_text(group)} for group in sorted(named.groups)]
    both = gettext("%(one)s who is also %(other)s")
    one = reduce(lambda one, other: both % {"one": one, "other": other}, each or [""])
    if named.people < 2:
        return one or gettext("a reviewer")
    people = npgettext("who approves", "%(n)s person", "%(n)s people", named.people) % {"n": named.people}
    return gettext("%(people)s, each %(one)s") % {"people": people, "one": one} if one else people


def in_row(row: Any) -> str:
    """Say in a row of the queue, read by `listing.page`, what a pending item needs beside one reviewer's decision."""
    if row.approvals_needed is None:
        return ""
    return _needs(row.approvals_given, row.approvals_needed, row.approver_role, row.approver_group, row.waits_for)


def needs(held: HeldItem) -> str:
    """Say the same of an item that was read with its terms."""
    terms = getattr(held, "terms", None)
    return _needs(terms.given, terms.people, terms.role, terms.group, terms.waits_for) if terms else ""


def _needs(given: int, people: int, role: str, group: str, waits_for: Sequence[str]) -> str:
    told = []
    if people > 1 or (given and not waits_for):
        told.append(gettext("%(count)s approvals") % {"count": counted(given, people)})
    if role or group:
        named = Approvers(1, frozenset([role] if role else ()), frozenset([group] if group else ()))
        told.append(gettext("needs %(whom)s") % {"whom": whom(named)})
    if n := len(waits_for):
        told.append(ngettext("waits for %(n)s tool call", "waits for %(n)s tool calls", n) % {"n": n})
    return " · ".join(told)
