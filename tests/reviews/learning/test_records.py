"""Each pattern's own record: on what it fired, and what people made of the items held with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metacog.models import Agent, Policy
from patterns.models import ErrorPattern, PatternRecord
from patterns.patterns import exchange, lifecycle
from reviews.held import decisions
from reviews.learning import pattern_stats, sweep
from reviews.models import AgentResponse, LearningCursor, ShadowMatch

CACHE = "The cause is clearly the cache."


def record(public_id: str = "ep-cache") -> PatternRecord:
    return PatternRecord.objects.get(pattern__public_id=public_id)


def counts(found: PatternRecord) -> tuple[int, ...]:
    return found.fired, found.held, found.rejected, found.edited, found.approved, found.undecided


@pytest.fixture
def in_shadow(aurora: Any, carla: Any) -> ErrorPattern:
    pattern = lifecycle.add(
        aurora, carla, keywords=["must be", "surely is"], description="d", source=ErrorPattern.Source.EXTERNAL
    )
    return lifecycle.take_step(pattern, "try", carla)


def test_it_counts_what_people_made_of_what_was_held(hold: Any, kuro: Any, alice: Any) -> None:
    for verdict, given in (("reject", {"reason": "x"}), ("edit", {"edit": "y", "accept_risk": True}), ("approve", {})):
        decisions.decide(hold(f"{CACHE} {verdict}"), alice, verdict, **given)
    for verdict in ("withdraw", "reject"):
        own = hold(f"{CACHE} own {verdict}")
        decisions.decide(own, own.agent, verdict, reason="x")
    hold(f"{CACHE} open")
    kuro.respond("The cache, again.", items=[])
    sweep.learn()
    assert counts(record()) == (7, 6, 1, 1, 1, 3)
    assert record().keywords == {"cache": 7}
    assert record().last_fired_at == AgentResponse.objects.latest("pk").received_at


def test_a_decision_counts_when_it_can_no_longer_be_undone(hold: Any, alice: Any, settings: Any) -> None:
    settings.UNDO_SECONDS = 10
    held = hold(CACHE)
    decision, _ = decisions.decide(held, alice, "reject", reason="x")
    sweep.learn()
    assert counts(record()) == (1, 1, 0, 0, 0, 1)
    decisions.undo(decision, alice)
    settings.UNDO_SECONDS = 0
    held.refresh_from_db()
    decisions.decide(held, alice, "approve")
    sweep.learn()
    assert counts(record()) == (1, 1, 0, 0, 1, 0)


def test_counting_again_counts_nothing_twice(hold: Any, alice: Any) -> None:
    decisions.decide(hold(CACHE), alice, "reject", reason="x")
    sweep.learn()
    sweep.learn()
    assert counts(record()) == (1, 1, 1, 0, 0, 0)


def test_a_shadow_pattern_earns_a_record_and_changes_no_verdict(
    kuro: Any, aurora: Any, in_shadow: ErrorPattern, hold: Any, alice: Any
) -> None:
    said = "The cache it must be. It surely is."
    held = hold(said)
    verdict = held.response.wire_verdict()
    assert verdict["hesitation"]["matched_pattern_ids"] == ["ep-cache"]
    assert verdict["hesitation"]["score"] == 30
    sweep.learn()
    decisions.decide(held, alice, "reject", reason="Not now")
    sweep.learn()
    assert counts(record(in_shadow.public_id)) == counts(record()) == (1, 1, 1, 0, 0, 0)
    assert record(in_shadow.public_id).keywords == {"must be": 1}
    assert ShadowMatch.objects.get().response == held.response


def test_a_decision_waits_for_its_response_to_be_counted(
    in_shadow: ErrorPattern, hold: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "BATCH", 1)  # what was posted before comes in batches of its own
    decisions.decide(hold("The cache it must be."), alice, "reject", reason="x")
    sweep.learn()
    assert counts(record(in_shadow.public_id)) == (1, 1, 1, 0, 0, 0)


def test_a_shadow_pattern_is_looked_for_from_then_on_only(kuro: Any, aurora: Any, carla: Any) -> None:
    kuro.respond("It must be DNS.")
    pattern = lifecycle.add(aurora, carla, keywords=["must be"], description="d", source="external")
    lifecycle.take_step(pattern, "try", carla)
    kuro.respond("It must be DNS, I say.")
    sweep.learn()
    found = record(pattern.public_id)
    assert (found.fired, found.seen_from, lifecycle.responses_of(aurora.pk)) == (1, 1, 2)


def test_nothing_is_looked_for_while_hesitation_is_off(kuro: Any, in_shadow: ErrorPattern) -> None:
    Agent.objects.update(hesitation_enabled=False)
    kuro.respond("It must be DNS.")
    sweep.learn()
    assert record(in_shadow.public_id).fired == 0


@pytest.mark.parametrize("profile", ["seed", "aware"])
def test_in_shadow_matches_what_would_match_in_earnest(
    kuro: Any, in_shadow: ErrorPattern, carla: Any, profile: str
) -> None:
    Policy.objects.update(profile=profile)
    said = ["It MUST BE DNS.", "Ｉｔ ｍｕｓｔ ｂｅ DNS.", "It must\u200b be DNS.", "It may be DNS.", "mustbe", ""]
    for text in said:
        kuro.respond(text)
    sweep.learn()
    found = set(ShadowMatch.objects.values_list("response__excerpt", flat=True))
    lifecycle.take_step(in_shadow, "activate", carla, seen=lifecycle.digest(in_shadow.keywords))
    wanted = {text for text in said if kuro.respond(text)["hesitation"]["matched_pattern_ids"] == [in_shadow.public_id]}
    assert found == wanted
    assert len(wanted) == {"seed": 1, "aware": 3}[profile]


def test_its_record_goes_on_when_it_becomes_active(kuro: Any, in_shadow: ErrorPattern, carla: Any) -> None:
    kuro.respond("It must be DNS.")
    sweep.learn()
    lifecycle.take_step(in_shadow, "activate", carla, seen=lifecycle.digest(in_shadow.keywords))
    kuro.respond("It surely is DNS.")
    sweep.learn()
    assert record(in_shadow.public_id).keywords == {"must be": 1, "surely is": 1}


@pytest.mark.parametrize("how", ["page", "file"])
def test_with_other_keywords_it_begins_anew(
    hold: Any, kuro: Any, aurora: Any, alice: Any, carla: Any, how: str
) -> None:
    held = hold(CACHE)
    sweep.learn()
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    wanted = ["the cache", "our cache"]
    if how == "page":
        given = {"description": pattern.description, "source": pattern.source, "seen": lifecycle.digest(wanted)}
        lifecycle.edit(pattern, carla, keywords=wanted, **given)
    else:
        (entry,) = exchange.give(aurora)
        exchange.take(aurora, json.dumps([entry | {"keywords": wanted}]).encode(), carla)
    assert counts(record()) == (0, 0, 0, 0, 0, 0)
    decisions.decide(held, alice, "reject", reason="x")  # it was held with the old ones
    kuro.respond("It is the cache.")
    sweep.learn()
    assert counts(record()) == (1, 1, 0, 0, 0, 1)
    assert record().keywords == {"the cache": 1}
    assert record().seen_from == 4


def test_a_retired_pattern_sees_no_more(kuro: Any, carla: Any) -> None:
    kuro.respond("The cache, again.")
    sweep.learn()
    lifecycle.take_step(ErrorPattern.objects.get(), "retire", carla)
    kuro.respond("It may rain.")
    pattern = ErrorPattern.objects.select_related("record").get()
    assert pattern_stats.Standing.of(pattern, responses=2).seen == 1


def test_what_the_old_keywords_fired_on_counts_for_them_alone_though_it_is_counted_late(hold: Any, carla: Any) -> None:
    hold(CACHE)
    pattern, wanted = ErrorPattern.objects.get(public_id="ep-cache"), ["the cache"]
    given = {"description": pattern.description, "source": pattern.source, "seen": lifecycle.digest(wanted)}
    lifecycle.edit(pattern, carla, keywords=wanted, **given)
    sweep.learn()
    assert counts(record()) == (0, 0, 0, 0, 0, 0)


def test_a_pattern_without_a_record_gets_one_over_all_that_is_there(kuro: Any, aurora: Any) -> None:
    kuro.respond("Before.")
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["dns"], description="d")
    kuro.respond("It is DNS.")
    sweep.learn()
    found = record(pattern.public_id)
    assert (found.fired, found.seen_from, found.since) == (1, 1, pattern.created_at)


def test_what_an_agent_of_another_team_says_does_not_count(other: Any, in_shadow: ErrorPattern) -> None:
    other.respond("It must be DNS.")
    sweep.learn()
    assert record(in_shadow.public_id).fired == 0
    assert LearningCursor.objects.count() == 1
