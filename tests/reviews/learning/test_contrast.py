"""Patterns by contrast: what a team's decisions, spot checks and corrections propose together, and what they do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts.retention import set_retention
from metacog.models import Agent, AuditEvent, Policy, Team
from patterns.models import ErrorPattern
from patterns.patterns import lifecycle
from reviews import retention
from reviews.held import decisions
from reviews.learning import contrast, sweep
from reviews.metrics import sampling
from reviews.models import (
    AgentResponse,
    ContrastLook,
    CorrectedResponse,
    Decision,
    HeldItem,
    PatternOrigin,
    ProposalEvidence,
    Sample,
)

PHRASE = "accidental damage"
WRONG = (
    "I checked it: the guarantee covers accidental damage. It is the cache.",
    "Yes, accidental damage is covered in full by us. It is the cache.",
    "Do not worry about accidental damage at all. It is the cache.",
    "For accidental damage you get a new one. It is the cache.",
)
FINE = (
    "Your parcel is on its way. It is the cache.", "The invoice is attached. It is the cache.",
    "Please restart the router. It is the cache.", "We have changed your address. It is the cache.",
    "The office opens at nine. It is the cache.", "You can pay by card. It is the cache.",
)  # fmt: skip


@pytest.fixture
def decide(kuro: Any, alice: Any, undo_at_once: None) -> Callable[..., Decision]:
    """Return a function that has a text held and decided, each in a session of its own."""
    Policy.objects.update(hold_at=30)

    def decide(text: str, verdict: str, session: str | None = None, by: Any = alice, **how: Any) -> Decision:
        session = session if session is not None else f"s{AgentResponse.objects.count()}"
        (item,) = kuro.respond(text, session=session)["items"]
        held = HeldItem.objects.get(public_id=item["held"])
        decision, _ = decisions.decide(held, by or held.agent, verdict, **how)
        assert decision
        return decision

    return decide


@pytest.fixture
def approved(decide: Any) -> None:
    for text in FINE:
        decide(text, "approve")


def look() -> int:
    """Learn, and look whether it is too soon for it or not."""
    sweep.learn()
    ContrastLook.objects.all().delete()
    return contrast.look_due(timezone.now())


def proposed() -> ErrorPattern:
    return ErrorPattern.objects.get(state="proposed")


def test_three_rejections_of_different_sessions_propose_what_they_share(
    approved: None, decide: Any, aurora: Any
) -> None:
    taught = [decide(text, "reject", reason="Wrong") for text in WRONG[:3]]
    assert look() == 1
    pattern = proposed()
    assert (pattern.team, pattern.keywords, pattern.source) == (aurora, [PHRASE], "alex-correction")
    assert pattern.description == "Often rejected: “accidental damage”"
    origins = pattern.origins.order_by("pk")
    assert {origin.kind for origin in origins} == {"contrast"}
    assert [origin.row for origin in origins] == [decision.public_id for decision in taught]
    assert origins[0].evidence == {"said": "I checked it: the guarantee covers accidental damage."}
    assert (origins[0].held, origins[0].response) == (taught[0].held, taught[0].held.response)
    found = ProposalEvidence.objects.get()
    assert (found.pattern, found.texts, found.fires, found.rejected, found.sure) == (pattern, 9, 3, 3, 439)
    merged = contrast.expected(aurora, [pattern.pk], [PHRASE, "attached"])
    assert (merged.texts, merged.fires, merged.rejected) == (9, 4, 3), "as a phrase it was tried on what was left out"
    event = AuditEvent.objects.get(action="pattern-proposed")
    assert (event.object_id, event.actor_kind, event.data["rejections"]) == (pattern.public_id, "system", 3)


def test_what_a_person_says_of_one_is_the_description(approved: None, decide: Any) -> None:
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong: we cover no such thing")
    ErrorPattern.objects.exclude(state="active").delete()
    contrast.look_due(timezone.now())
    assert proposed().description.endswith("“accidental damage” · we cover no such thing")


@pytest.mark.parametrize(
    ("count", "session"), [(2, None), (3, "one and the same")], ids=["two rejections", "of one session"]
)
def test_fewer_teach_nothing(approved: None, decide: Any, count: int, session: str | None) -> None:
    for text in WRONG[:count]:
        decide(text, "reject", session, reason="Wrong")
    assert look() == 0
    assert not PatternOrigin.objects.exists()


def undone(decide: Any, settings: Any, text: str) -> None:
    settings.UNDO_SECONDS = 10
    decision = decide(text, "reject", reason="Wrong")
    assert decisions.undo(decision, decision.person)
    settings.UNDO_SECONDS = 0


def not_released(decide: Any, settings: Any, text: str) -> None:
    settings.UNDO_SECONDS = 10
    decide(text, "reject", reason="Wrong")


def of_the_agent(decide: Any, settings: Any, text: str) -> None:
    decide(text, "reject", by=None, reason="Wrong")


def not_about_truth(decide: Any, settings: Any, text: str) -> None:
    decide(text, "reject", reason="Not now")


def expired(decide: Any, settings: Any, text: str) -> None:
    decision = decide(text, "reject", reason="Wrong")
    Decision.objects.filter(pk=decision.pk).update(verdict="expire", by="system", person=None)


def erased(decide: Any, settings: Any, text: str) -> None:
    decision = decide(text, "reject", reason="Wrong")
    AgentResponse.objects.filter(pk=decision.held.response_id).update(erased_at=timezone.now())


def of_a_tool_call(decide: Any, settings: Any, text: str) -> None:
    decision = decide(text, "reject", reason="Wrong")
    HeldItem.objects.filter(pk=decision.held_id).update(kind="tool_call")


@pytest.mark.parametrize(
    "third", [undone, not_released, of_the_agent, not_about_truth, expired, erased, of_a_tool_call]
)
def test_what_does_not_count_is_no_third_rejection(approved: None, decide: Any, settings: Any, third: Any) -> None:
    for text in WRONG[:2]:
        decide(text, "reject", reason="Wrong")
    third(decide, settings, WRONG[2])
    assert look() == 0
    settings.UNDO_SECONDS = 0
    decide(WRONG[3], "reject", reason="Wrong")
    assert look() == 1, "it would have been one"


def test_a_spot_check_a_correction_and_an_edit_count_as_rejections(
    approved: None, decide: Any, kuro: Any, alice: Any
) -> None:
    missed = kuro.respond("We pay for accidental damage.", session="spot", items=[])
    response = AgentResponse.objects.get(public_id=missed["id"])
    sample = Sample.objects.create(response=response, agent=response.agent, day=timezone.now().date())
    sampling.judge(sample, alice, "missed")
    kuro.respond("Our policy covers accidental damage, of course.", session="talk", items=[])
    told = kuro.respond("You're right, sorry.", session="talk", items=[], user_message="That's wrong, it does not.")
    edit = decide(
        "Thank you for asking. You are insured against accidental damage. It is the cache.",
        "edit",
        edit="Thank you for asking. You are insured against theft. It is the cache.",
        accept_risk=True,
    )
    sweep.learn()
    ErrorPattern.objects.filter(state="proposed").delete()
    assert CorrectedResponse.objects.get().by.public_id == told["id"]
    assert contrast.look_due(timezone.now()) == 1
    pattern = proposed()
    assert pattern.keywords == [PHRASE]
    assert set(pattern.origins.values_list("row", flat=True)) == {sample.public_id, told["id"], edit.public_id}


def test_what_a_spot_check_finds_fine_counts_as_approved(decide: Any, kuro: Any, alice: Any) -> None:
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong")
    for number, text in enumerate(FINE):
        verdict = kuro.respond(text, session=f"fine {number}", items=[])
        response = AgentResponse.objects.get(public_id=verdict["id"])
        sample = Sample.objects.create(response=response, agent=response.agent, day=timezone.now().date())
        sampling.judge(sample, alice, "fine")
    assert look() == 1
    assert proposed().keywords[0].startswith(PHRASE)


def test_who_approved_what_its_user_corrected_did_not_know(approved: None, decide: Any, kuro: Any) -> None:
    for text in WRONG[:2]:
        decide(text, "reject", reason="Wrong")
    decide(WRONG[2], "approve", session="talk")
    kuro.respond("You're right, sorry.", session="talk", items=[], user_message="That's wrong, it does not.")
    sweep.learn()
    rows = contrast.judged(Team.objects.get())
    assert [row.rejected for row in rows if row.session == "talk"] == [True]


def test_what_means_the_same_is_added_to_the_pattern_there_is(approved: None, decide: Any, aurora: Any) -> None:
    there = ErrorPattern.objects.create(team=aurora, keywords=["dental dam"], description="d", state="shadow")
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong")
    assert look() == 0
    assert not ErrorPattern.objects.filter(state="proposed").exists()
    assert there.origins.count() == 3
    decide(WRONG[3], "reject", reason="Wrong")
    assert look() == 0
    assert there.origins.count() == 4, "each teaches once"


def test_what_was_dismissed_is_not_proposed_again(approved: None, decide: Any, carla: Any) -> None:
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong")
    look()
    lifecycle.take_step(proposed(), "dismiss", carla, because="too common")
    decide(WRONG[3], "reject", reason="Wrong")
    assert look() == 0
    assert not ErrorPattern.objects.filter(state="proposed").exists()


def test_another_proposal_is_tried_on_what_did_not_teach_it(
    approved: None, decide: Any, aurora: Any, alice: Any
) -> None:
    decision = decide(WRONG[0], "reject", reason="Damage of this kind, accidental or not, is never covered")
    wanted = ["accidental", "parcel"]
    pattern = sweep.write_down(
        alice, team=aurora, keywords=wanted, description="d", source="external", decision=decision
    )
    for text in WRONG[1:3]:
        decide(text, "reject", reason="Wrong")
    look()
    found = ProposalEvidence.objects.get(pattern=pattern)
    assert (found.texts, found.fires, found.rejected) == (8, 3, 2)


def test_a_look_is_taken_where_something_is_new_and_no_sooner_than_a_second_a_text(
    approved: None, decide: Any, carla: Any
) -> None:
    now = timezone.now()
    for text in WRONG[:2]:
        decide(text, "reject", reason="Wrong")
    assert contrast.look_due(now) == 0
    assert ContrastLook.objects.get().texts == 8
    decide(WRONG[2], "reject", reason="Wrong")
    later = now + timedelta(seconds=7)
    assert contrast.look_due(later) == 0, "it is too soon"
    assert contrast.look_due(later + timedelta(seconds=2)) == 1
    at = ContrastLook.objects.get().at
    assert contrast.look_due(later + timedelta(days=2)) == 0
    assert ContrastLook.objects.get().at == at, "nothing was new"
    lifecycle.edit(proposed(), carla, keywords=["damage"], description="d", source="external")
    contrast.look_due(later + timedelta(days=3))
    assert ContrastLook.objects.get().at > at, "a proposal was not counted with its keywords"


def test_quotes_go_with_the_texts_and_the_proposal_with_the_last(
    approved: None, decide: Any, aurora: Any, olga: Any
) -> None:
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong")
    look()
    pattern = proposed()
    set_retention(aurora, 30, olga)
    HeldItem.objects.update(closed_at=timezone.now() - timedelta(days=31))
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
    retention.erase()
    pattern.refresh_from_db()
    assert (pattern.state, pattern.keywords, pattern.description) == ("retired", [], "")
    assert set(map(str, PatternOrigin.objects.values_list("evidence", flat=True))) == {"{}"}


def test_the_teams_of_others_teach_nothing(approved: None, decide: Any, borealis: Any) -> None:
    for text in WRONG[:3]:
        decide(text, "reject", reason="Wrong")
    Agent.objects.update(team=borealis)
    HeldItem.objects.filter(text=WRONG[0]).update(team=borealis)
    assert look() == 0
