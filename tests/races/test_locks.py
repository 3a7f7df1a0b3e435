"""Two that change the same rows in different places wait for each other once, never in a circle. On PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts import agents, members
from metacog.heuristics.stuck import stuck
from metacog.models import Agent, Membership, PersonNotices, Policy, Team, User
from metacog.notices import notices as settings_of_notices
from patterns import stuck_state
from patterns.models import ErrorPattern, Problem
from patterns.patterns import lifecycle
from reviews import retention
from reviews.held import decisions
from reviews.intake import write
from reviews.learning import pattern_stats, sweep
from reviews.models import AgentResponse, HeldItem, PatternOrigin
from reviews.outbox import notifications
from tests.races.conftest import Beside

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_an_agent_is_renamed_while_it_posts(kuro: Any, olga: Any, beside: Beside) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    renamed = beside(
        write, "run_together", lambda: agents.change(agent, olga, name="Kuro", language="en", callback_url="")
    )
    assert kuro.post("/responses", {"response": "x"}).status_code == 201
    assert renamed[0].running.result() == ["name"]


def test_no_post_waits_while_the_firings_of_its_pattern_are_counted(kuro: Any, beside: Beside) -> None:
    kuro.respond()
    posted = beside(pattern_stats, "count", lambda: kuro.post("/responses", {"response": "Clearly the cache."}))
    assert sweep.learn() + sweep.learn() == 2  # the one that came meanwhile is next
    assert posted[0].running.result().status_code == 201
    assert not posted[0].waited
    assert ErrorPattern.objects.get().record.fired == 2


def test_a_pattern_is_retired_while_its_firings_are_counted(
    kuro: Any, alice: Any, carla: Any, undo_at_once: None, beside: Beside
) -> None:
    Policy.objects.update(hold_at=30)
    for number in range(2):
        kuro.respond(f"Case {number} is closed.", items=[])
    for session in "ab":  # one rejection alone proposes nothing
        kuro.respond("Your refund will arrive in 30 days. The cause is clearly the cache.", session=session)
    for held in HeldItem.objects.all():
        decisions.decide(held, alice, "reject", reason="A refund takes 14 days, not 30 days")
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    retired = beside(pattern_stats, "count", lambda: lifecycle.take_step(pattern, "retire", carla))
    assert sweep.learn() == 6
    assert retired[0].running.result().state == "retired"
    assert ErrorPattern.objects.filter(state="proposed").count() == 1
    pattern.record.refresh_from_db()
    assert (pattern.record.fired, pattern.record.seen_to) == (2, 4)


def test_what_is_learnt_from_is_not_erased_before_its_quotes_can_be(kuro: Any, beside: Beside) -> None:
    for number in range(3):
        kuro.respond(f"Case {number} is closed.", items=[])
    kuro.respond("Your refund will arrive in 30 days.", items=[], session="s")
    kuro.respond("Sorry.", items=[], session="s", user_message="No, that is wrong: a refund takes 14 days, not 30.")
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
    Team.objects.update(retention_days=30)
    erased = beside(sweep, "_is_erased", retention.erase)
    sweep.learn()
    assert erased[0].waited
    assert erased[0].running.result() == 5
    assert PatternOrigin.objects.get().evidence == {}


def test_a_proposal_that_goes_with_its_last_quote_is_not_tried_out_at_the_same_time(
    kuro: Any, carla: Any, beside: Beside
) -> None:
    for number in range(3):
        kuro.respond(f"Case {number} is closed.", items=[])
    kuro.respond("Your refund will arrive in 30 days.", items=[], session="s")
    kuro.respond("Sorry.", items=[], session="s", user_message="No, that is wrong: a refund takes 14 days, not 30.")
    sweep.learn()
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
    Team.objects.update(retention_days=30)
    proposal = ErrorPattern.objects.get(state="proposed")
    tried = beside(retention, "_erase_names", lambda: lifecycle.take_step(proposal, "try", carla))
    assert retention.erase() == 5
    with pytest.raises(lifecycle.NotDone):
        tried[0].running.result()
    proposal.refresh_from_db()
    assert (proposal.state, proposal.keywords) == ("retired", [])


def test_what_a_problem_says_stays_erased_though_somebody_answers_meanwhile(
    kuro: Any, alice: Any, beside: Beside
) -> None:
    kuro.respond("It fails.", problem="bug-17", session="s", errors=["TimeoutError: the princess"])
    Problem.objects.update(touched_at=timezone.now() - timedelta(days=31))
    Team.objects.update(retention_days=30)
    erased = beside(stuck, "answer", retention.erase)
    stuck_state.answer(Problem.objects.get(), "yes", alice)
    erased[0].running.result()
    problem = Problem.objects.get()
    assert problem.erased_at is None or "princess" not in str(problem.state)


def test_who_looks_after_one_team_is_staff_though_another_lets_them_go(
    aurora: Any, borealis: Any, carla: Any, olga: Any, mallory: Any, beside: Beside
) -> None:
    leaving = Membership.objects.get(user=carla)
    members.change_role(leaving, "owner", olga)
    joining, _is_new = members.add_member(borealis, "carla", "viewer", mallory)
    changed = beside(members, "keep_staff", lambda: members.change_role(joining, "curator", mallory))
    members.change_role(leaving, "viewer", olga)
    changed[0].running.result()
    assert User.objects.get(pk=carla.pk).is_staff


def test_two_owners_add_one_new_person_to_their_teams_at_once(
    aurora: Any, borealis: Any, olga: Any, mallory: Any, beside: Beside
) -> None:
    beside(User, "full_clean", lambda: members.add_member(borealis, "nina", "viewer", mallory))
    _membership, is_new = members.add_member(aurora, "nina", "reviewer", olga)
    assert not is_new
    roles = Membership.objects.filter(user__username="nina").values_list("team", "role")
    assert set(roles) == {(aurora.pk, "reviewer"), (borealis.pk, "viewer")}


def test_who_is_told_is_not_told_again_for_having_changed_when(
    kuro: Any, alice: Any, settings: Any, beside: Beside
) -> None:
    settings.MAIL_FROM, settings.PUBLIC_URL = "metacog@example.org", "https://metacog.example.org"
    PersonNotices.objects.create(person=alice, when="waiting", minutes=15)
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    alice.refresh_from_db()
    kuro.hold()
    later = timezone.now() + timedelta(hours=1)
    notifications.write_due(later)
    claimed = beside(settings_of_notices, "spoken", lambda: notifications._claim_due(later))
    settings_of_notices.set_for(
        alice, email=alice.email, when="waiting", minutes=30
    )
    assert len(claimed[0].running.result()) == 1
    told = PersonNotices.objects.get()
    assert (told.minutes, told.turn_at) == (30, later)
    assert told.told_until is not None
