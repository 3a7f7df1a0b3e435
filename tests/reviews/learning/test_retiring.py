"""What the page To do offers to switch off: signals without lift, and patterns that hold what nobody rejects."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import Agent, AuditEvent, Policy
from metacog.models.policies import seed_weights
from patterns.models import ErrorPattern, PatternRecord
from reviews.held import decisions
from reviews.learning import contrast, retiring
from reviews.models import ContrastLook, HeldItem

PAGE = "/to-do/"


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.unescape(answer.content.decode())))


@pytest.fixture
def decided(kuro: Any, alice: Any, undo_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute claims are approved, what a known error is in is rejected; both are held."""
    monkeypatch.setattr(retiring, "ENOUGH", 40)
    monkeypatch.setattr(retiring, "ENOUGH_FIRED", 20)
    Policy.objects.update(threshold=20, hold_at=20)
    for number in range(24):
        for text, verdict in (
            (f"It is clearly number {number}.", "approve"),
            (f"It was the cache of number {number}.", "reject"),
        ):
            for item in kuro.respond(text, session=f"{number} {verdict}")["items"]:
                if item["held"]:
                    decisions.decide(HeldItem.objects.get(public_id=item["held"]), alice, verdict)


def look() -> None:
    ContrastLook.objects.all().delete()
    contrast.look_due(timezone.now())


def test_the_signals_chosen_are_switched_off_and_that_can_be_undone(
    decided: None, aurora: Any, carla: Any, olga: Any, as_person: Any
) -> None:
    look()
    ErrorPattern.objects.create(team=aurora, keywords=["thirty days"], description="d", state="proposed")
    told = words(as_person(carla).get(PAGE))
    assert "To switch off 1 Proposed patterns 1 " in told, "among the chips"
    assert told.rindex("To switch off 1 ") < told.rindex("Proposed patterns 1 ")
    assert "Absolute claim" in told
    assert "0 of 24 rejected; of the others, 100% (n = 24)" in told
    assert "Of the last 30 days, 24 items would not have been held." in told
    assert "In the policies of: kuro" in told
    assert "Switch off" not in told
    assert as_person(carla).post(f"/to-do/signals/{aurora.pk}/off").status_code == 403
    owner = as_person(olga)
    assert "Select some signals first." in words(owner.post(f"/to-do/signals/{aurora.pk}/off", follow=True))
    assert Agent.objects.get().policy_version == 1
    answer = owner.post(f"/to-do/signals/{aurora.pk}/off", {"signal": ["absolute-claim", "promise"]}, follow=True)
    assert "Switched off: Absolute claim. In the policies of: kuro. Undo" in words(answer)
    assert "0 of 24 rejected" not in words(answer)
    assert _weight() == 0
    assert AuditEvent.objects.filter(action="policy-changed").count() == 1
    undo = dict(re.findall(r'type="hidden" name="(version)" value="([^"]+)"', answer.content.decode()))
    answer = owner.post(f"/to-do/signals/{aurora.pk}/off", undo, follow=True)
    assert "Restored the policies of: kuro" in words(answer)
    assert _weight() == seed_weights()["absolute-claim"]
    again = owner.post(f"/to-do/signals/{aurora.pk}/off", undo, follow=True)
    assert "A policy changed meanwhile. Nothing was changed." in words(again)
    assert Agent.objects.get().policy_version == 3


def _weight() -> int:
    agent = Agent.objects.get()
    weights: dict[str, int] = Policy.objects.get(agent=agent, version=agent.policy_version).weights
    return weights["absolute-claim"]


def test_a_pattern_whose_interval_lies_below_the_base_rate_is_offered_for_retirement(
    decided: None, aurora: Any, alice: Any, carla: Any, as_person: Any
) -> None:
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    record, _ = PatternRecord.objects.get_or_create(pattern=pattern, defaults={"seen_from": 0})
    for rejected, approved, is_offered in ((20, 20, False), (0, 10, False), (0, 40, True)):
        PatternRecord.objects.filter(pk=record.pk).update(rejected=rejected, approved=approved)
        look()
        told = words(as_person(carla).get(PAGE))
        assert ("0 of 40 rejected; of the others, 50% (n = 48)" in told) == is_offered
    assert "Retire pattern" in told
    assert as_person(alice).post(f"/to-do/patterns/{pattern.pk}/retire").status_code == 403
    answer = as_person(carla).post(f"/to-do/patterns/{pattern.pk}/retire", follow=True)
    assert f"Pattern retired: {pattern.description}" in words(answer)
    assert "Retire pattern" not in words(as_person(carla).get(PAGE))


def test_rules_that_ask_about_what_nobody_rejects_are_named(
    kuro: Any, alice: Any, carla: Any, as_person: Any, undo_at_once: None
) -> None:
    Policy.objects.update(rules=[{"tool": "read", "do": "ask"}, {"tool": "send", "do": "ask"}])
    for number in range(20):
        for name, verdict in (("read", "approve"), ("send", "reject")):
            call = {"kind": "tool_call", "name": name, "arguments": {"n": number}}
            (item,) = kuro.respond("", items=[call], session=str(number))["items"]
            decisions.decide(HeldItem.objects.get(public_id=item["held"]), alice, verdict)
    look()
    told = words(as_person(carla).get(PAGE))
    assert "0 of 20 rejected; of the others, 50% (n = 40). 20 calls would no longer be asked about." in told
