"""A page of one agent tells nothing of another of the same team, and one team's chat is not another's."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import keys
from metacog.accounts.agents import add_policy, create_agent
from metacog.models import Agent, AgentKey, AuditEvent, Channel, Membership, Policy, Team, User
from metacog.notices import notices
from reviews.learning import reflections
from reviews.metrics import daily
from tests.conftest import Caller
from tests.reviews.outbox.receiving import listening

pytestmark = pytest.mark.django_db


@pytest.fixture
def sister(kuro: Caller, aurora: Team) -> Caller:
    """Another agent of kuro's team, made after it."""
    agent, key, secret = create_agent(aurora, "sister", None)
    return Caller(agent.public_id, key, secret)


def test_an_agents_page_has_its_own_keys_only(kuro: Caller, sister: Caller, olga: User, as_person: Any) -> None:
    keys.issue(Agent.objects.get(public_id=sister.id), olga)
    page = as_person(olga).get(reverse("agent", args=[kuro.id])).content.decode()
    shown = {str(key) for key in AgentKey.objects.all() if f"<code>{key}</code>" in page}
    assert shown == {str(key) for key in AgentKey.objects.filter(agent__public_id=kuro.id)}


def test_an_agents_page_has_its_own_policies_only(kuro: Caller, sister: Caller, olga: User, as_person: Any) -> None:
    for caller, hold_at in ((sister, 88), (kuro, 77)):
        policy = Policy(hold_at=hold_at, note=f"holds at {hold_at}")
        add_policy(Agent.objects.get(public_id=caller.id), olga, policy, based_on=1)
    for caller, own, strange in ((kuro, 77, 88), (sister, 88, 77)):
        page = as_person(olga).get(reverse("agent", args=[caller.id])).content.decode()
        assert (f"<dd>{own}</dd>" in page, f"holds at {own}" in page) == (True, True)
        assert (f"<dd>{strange}</dd>" in page, f"holds at {strange}" in page) == (False, False)


def test_reflections_are_of_the_agent_that_was_chosen(
    kuro: Caller, sister: Caller, victor: User, as_person: Any
) -> None:
    made = {}
    for caller in (kuro, sister):
        for number in range(3):
            caller.respond(f"The cause is clearly the cache, {number}.", items=[])
        row = reflections.reflect(Agent.objects.get(public_id=caller.id), timezone.now(), person=victor)
        assert row is not None
        made[caller.id] = row
    for caller in (kuro, sister):
        page = as_person(victor).get(reverse("reflections"), {"agent": caller.id}).content.decode()
        linked = {of for of, row in made.items() if reverse("reflection", args=[row.public_id]) in page}
        assert linked == {caller.id}


def test_the_error_review_counts_one_agents_day(kuro: Caller, sister: Caller, victor: User, as_person: Any) -> None:
    kuro.respond("The report is ready.", items=[])
    for number in range(4):
        sister.respond(f"The report is ready, {number}.", items=[])
    row = reflections.reflect(Agent.objects.get(public_id=kuro.id), timezone.now(), person=victor)
    assert row is not None
    daily.count_days(timezone.now())
    page = as_person(victor).get(reverse("reflection", args=[row.public_id])).content.decode()
    assert ("0 of 1" in page, "0 of 5" in page) == (True, False)


def test_a_test_and_a_removal_are_of_the_team_they_name(
    aurora: Team, borealis: Team, olga: User, as_person: Any, settings: Any
) -> None:
    Membership.objects.create(user=olga, team=borealis, role="owner")
    with listening() as ours, listening() as theirs:
        settings.CALLBACK_ALLOW = frozenset({ours.origin, theirs.origin})
        for team, receiver in ((aurora, ours), (borealis, theirs)):
            notices.set_channel(team, olga, url=receiver.url, minutes=9, language="en", texts=False)
        client = as_person(olga)
        client.post(reverse("channel-test", args=[borealis.pk]))
        assert (len(ours.seen), len(theirs.seen)) == (0, 1)
        client.post(reverse("channel-remove", args=[borealis.pk]))
    assert Channel.objects.get().team == aurora
    event = AuditEvent.objects.get(action="channel-removed")
    assert (event.team, event.object_id, event.actor) == (borealis, str(borealis.pk), olga.username)
