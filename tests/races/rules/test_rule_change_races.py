"""A policy that changes beside people who decide and agents that post, played with real threads on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from metacog.accounts import agents
from metacog.models import Agent, AgentState, Policy
from patterns.patterns.scorer import as_scored, scorer_shown
from reviews.held import decisions
from reviews.held.calls import rule_changes
from reviews.held.calls.rule_changes import Count, Listed, Waiting
from reviews.held.decisions import Change, Circumstances
from reviews.models import Decision, HeldItem
from tests.races.test_grant_races import post
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("undo_at_once")]


def change(person: Any, do: str) -> tuple[Any, partial[Any]]:
    """Return what rules make of the calls that wait, and what puts them in force with that."""
    row = Agent.objects.select_related("team").get()
    draft = Policy(rules=[{"tool": "pay", "do": do}], note="x")
    scorer = scorer_shown(row).with_policy(as_scored(row, draft))
    listed = Waiting.of({row.pk: scorer}, [row]).listed
    return listed, partial(rule_changes.change_policy, row, person, draft, listed, based_on=row.policy_version)


def ask_again() -> None:
    """Have people asked about everything, so that the next call waits."""
    row = Agent.objects.select_related("team").get()
    agents.add_policy(row, None, Policy(note="x"), based_on=row.policy_version)


def test_a_person_and_a_policy_beside_each_other_are_one_decision(kuro: Any, alice: Any, olga: Any) -> None:
    by = set()
    for turn in range(20):
        held = HeldItem.objects.get(public_id=post(kuro, f"c{turn}")["held"])
        listed, putting = change(olga, "allow" if turn % 2 else "deny")
        assert len(listed) == 1
        deciding = partial(decisions.decide, held, alice, "reject", reason="x")
        decided, (saved, count) = at_once([deciding, putting])
        (decision,) = Decision.objects.filter(held=held)
        by.add(decision.by)
        assert (decision.by == "system") == (sum(count) == 1) == isinstance(decided, decisions.Standing)
        assert Agent.objects.get().policy_version == saved.version
        ask_again()
    assert AgentState.objects.get().decision_seq == 20
    assert by <= {"person", "system"}


def test_two_owners_at_once_are_one_version_and_one_decision(kuro: Any, olga: Any) -> None:
    for turn in range(10):
        held = HeldItem.objects.get(public_id=post(kuro, f"c{turn}")["held"])
        _, allowing = change(olga, "allow")
        _, denying = change(olga, "deny")
        found = at_once([allowing, denying])
        assert [type(each) for each in found].count(agents.PolicyMoved) == 1, found
        (decision,) = Decision.objects.filter(held=held)
        assert decision.policy_version == Agent.objects.get().policy_version
        ask_again()


def test_posts_beside_a_change_are_held_or_pass_and_none_is_lost(kuro: Any, olga: Any) -> None:
    waiting = [post(kuro, f"before-{number}")["held"] for number in range(2)]
    listed, putting = change(olga, "allow")
    *items, (_saved, count) = at_once([*(partial(post, kuro, f"c{number}") for number in range(8)), putting])
    assert len(set(waiting)) == 1  # the same call, asked for again
    assert count == Count(1, 0)
    assert len(listed) == 1
    assert {item["disposition"] for item in items} <= {"hold", "pass"}
    assert not Decision.objects.exclude(held__public_id=waiting[0]).exists()


def test_a_person_and_a_teams_rules_beside_each_other_are_one_decision(
    kuro: Any, aurora: Any, alice: Any, olga: Any
) -> None:
    row = Agent.objects.select_related("team").get()
    for turn in range(10):
        held = HeldItem.objects.get(public_id=post(kuro, f"c{turn}")["held"])
        saved = agents.change_team_rules(aurora, olga, [{"tool": "pay", "do": "deny"}], "x", based_on=2 * turn)
        listed = Listed([(held.public_id, held.version, "reject")])
        how = Circumstances(change=Change(olga, rules_version=saved.version))
        deciding = partial(decisions.decide, held, alice, "approve")
        _decided, count = at_once([deciding, partial(rule_changes.settle, [row], listed, how)])
        (decision,) = Decision.objects.filter(held=held)
        assert (decision.by == "system") == (count == Count(0, 1))
        agents.change_team_rules(aurora, olga, [], "x", based_on=2 * turn + 1)
