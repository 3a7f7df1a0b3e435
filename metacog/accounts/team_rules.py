"""A team's rules on tool calls, which come before those of all its agents' policies; each change is a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from metacog.accounts.rule_forms import plain
from metacog.audit import audit
from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.rules import errors_in
from metacog.models import Team, TeamRules, User
from metacog.refusals import said


class RulesMoved(Exception):
    """Another version came into force since this one was begun; nothing was written."""


def in_force(team: Team) -> TeamRules:
    """Return the version of a team's rules that is in force; an unsaved one of none where it never had any."""
    found = TeamRules.objects.filter(team=team, version=team.rules_version).select_related("created_by").first()
    return found or TeamRules(team=team, version=0)


def change(
    team: Team, actor: User | None, rules: Sequence[Mapping[str, Any]], note: str, *, based_on: int, **told: str
) -> TeamRules:
    """Save rules as the team's next version and put them in force.

    `actor` is None for an operator, and `told` is added to the record. `based_on` is the version the author saw; raises
    RulesMoved when it is no longer in force, and ValidationError when these are no rules.
    """
    if errors := errors_in(rules):
        raise ValidationError([f"{pointer(loc)}: {said(detail)}" for loc, detail in errors])
    with transaction.atomic():
        locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if locked.rules_version != based_on:
            raise RulesMoved
        saved = TeamRules.objects.create(
            team=locked, version=based_on + 1, rules=[plain(rule) for rule in rules], note=note, created_by=actor
        )
        Team.objects.filter(pk=team.pk).update(rules_version=saved.version)
        audit.record(
            "team-rules-changed",
            str(team.pk),
            actor=actor,
            team=locked,
            before=str(based_on),
            after=str(saved.version),
            count=len(rules),
            **({"reason": note} if note else {}),
            **told,
        )
    team.rules_version = saved.version
    return saved
