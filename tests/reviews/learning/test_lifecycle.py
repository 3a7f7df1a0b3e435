"""The steps of a pattern: which may be taken from where, what each wants, and that each stands in the record."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.models import AuditEvent
from patterns.models import ErrorPattern, PatternRecord
from patterns.patterns import lifecycle
from patterns.patterns.lifecycle import NotDone, Unseen, digest
from tests.tables import table

KEYWORDS = ["thirty days"]
STEPS = {
    "try": ("proposed",), "activate": ("proposed", "shadow"), "retire": ("shadow", "active"),
    "dismiss": ("proposed",), "reopen": ("retired",),
}  # fmt: skip


def pattern(team: Any, state: str = "proposed", keywords: list[str] | None = None) -> ErrorPattern:
    return ErrorPattern.objects.create(
        team=team, keywords=KEYWORDS if keywords is None else keywords, description="d", state=state
    )


def take(found: ErrorPattern, step: str, actor: Any, **given: Any) -> ErrorPattern:
    return lifecycle.take_step(found, step, actor, **({"because": "b", "seen": digest(KEYWORDS)} | given))


@table("state", ErrorPattern.State.values)
@table("step", STEPS, rolled_back=True)
def test_each_step_is_taken_from_where_it_may_be(aurora: Any, carla: Any, step: str, state: str) -> None:
    found = pattern(aurora, state)
    if state in STEPS[step]:
        assert take(found, step, carla).state == lifecycle.AFTER[step][1]
        event = AuditEvent.objects.get()
        assert (event.actor, event.before, event.after) == ("carla", state, lifecycle.AFTER[step][1])
        assert event.object_id == found.public_id
    else:
        with pytest.raises(NotDone, match=r"^Only a .*\.$"):
            take(found, step, carla)
        found.refresh_from_db()
        assert found.state == state
        assert not AuditEvent.objects.exists()


@table("seen", ["", digest(["thirty day"]), digest([*KEYWORDS, "more"])], rolled_back=True)
def test_it_goes_live_only_as_it_was_shown(aurora: Any, carla: Any, kuro: Any, seen: str) -> None:
    found = pattern(aurora)
    with pytest.raises(Unseen, match="Read the backtest"):
        take(found, "activate", carla, seen=seen)
    take(found, "activate", carla)
    assert kuro.respond("In thirty days.")["hesitation"]["matched_pattern_ids"] == [found.public_id]
    take(found, "retire", carla)
    assert kuro.respond("In thirty days.")["hesitation"]["matched_pattern_ids"] == []


def test_a_dismissal_says_why(aurora: Any, carla: Any) -> None:
    found = pattern(aurora)
    for nothing in ("", "\u200b"):
        with pytest.raises(NotDone, match="Give a reason"):
            take(found, "dismiss", carla, because=nothing)
    assert take(found, "dismiss", carla, because="too common").dismissed_because == "too common"
    assert take(found, "reopen", carla).dismissed_because == ""


def test_what_was_erased_is_not_proposed_again(aurora: Any, carla: Any) -> None:
    with pytest.raises(NotDone, match="at least one keyword"):
        take(pattern(aurora, "retired", []), "reopen", carla)


@pytest.mark.parametrize(("step", "most"), [("activate", "MAX_PATTERNS"), ("try", "MAX_SHADOW")])
def test_there_is_room_for_so_many(
    aurora: Any, carla: Any, monkeypatch: pytest.MonkeyPatch, step: str, most: str
) -> None:
    monkeypatch.setattr(lifecycle, most, 1)
    pattern(aurora, "shadow")
    with pytest.raises(NotDone, match=r"The team .* 1 "):
        take(pattern(aurora), step, carla)


class TestEditing:
    def edit(self, found: ErrorPattern, actor: Any, **changed: Any) -> ErrorPattern:
        given = {"keywords": found.keywords, "description": found.description, "source": found.source} | changed
        return lifecycle.edit(found, actor, **given)

    def test_other_keywords_of_an_active_pattern_want_to_be_seen(self, aurora: Any, carla: Any, kuro: Any) -> None:
        found = pattern(aurora, "active")
        with pytest.raises(Unseen):
            self.edit(found, carla, keywords=["forty days"], seen=digest(KEYWORDS))
        self.edit(found, carla, keywords=["forty days"], seen=digest(["forty days"]))
        assert kuro.respond("In forty days.")["hesitation"]["matched_pattern_ids"] == [found.public_id]
        assert kuro.respond("In thirty days.")["hesitation"]["matched_pattern_ids"] == []

    def test_other_words_about_it_are_live_and_keep_the_record(self, aurora: Any, carla: Any, kuro: Any) -> None:
        found = pattern(aurora, "active")
        PatternRecord.objects.create(pattern=found, fired=7)
        self.edit(found, carla, description="Refunds take 14 days.")
        assert PatternRecord.objects.get().fired == 7
        signals = kuro.respond("In thirty days.")["hesitation"]["signals"]
        assert signals[0]["detail"] == "matches past error: Refunds take 14 days."

    def test_the_record_so_far_stays_in_the_audit_without_a_text(self, aurora: Any, carla: Any) -> None:
        found = pattern(aurora, "shadow")
        PatternRecord.objects.create(pattern=found, fired=7, held=5, rejected=3)
        self.edit(found, carla, keywords=["forty days"])
        event = AuditEvent.objects.get(action="pattern-changed")
        assert event.data == {
            "fields": ["keywords"], "fired": 7, "held": 5, "rejected": 3, "edited": 0, "approved": 0,
            "keywords_sha256": digest(["forty days"]), "before_sha256": digest(KEYWORDS),
        }  # fmt: skip
        assert PatternRecord.objects.get().fired == 0

    @table("keywords", [[], ["x"], ["x" * 201]], rolled_back=True)
    def test_what_could_be_no_keyword_is_refused(self, aurora: Any, carla: Any, keywords: list[str]) -> None:
        found = pattern(aurora)
        with pytest.raises(NotDone):
            self.edit(found, carla, keywords=keywords)
        with pytest.raises(NotDone):
            lifecycle.add(aurora, carla, keywords=keywords, description="d", source="external")

    def test_nothing_changed_is_no_event(self, aurora: Any, carla: Any) -> None:
        self.edit(pattern(aurora), carla)
        assert not AuditEvent.objects.exists()


def test_a_pattern_of_a_persons_own_is_a_proposal(aurora: Any, carla: Any) -> None:
    found = lifecycle.add(aurora, carla, keywords=KEYWORDS, description="d", source="external")
    found.refresh_from_db()
    assert (found.state, found.created_by) == ("proposed", carla)
    assert AuditEvent.objects.get(action="pattern-added").after == "proposed"
