"""The daily look back: once a day and agent, caught up, switched off; what it stores, proposes, records and tells."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from metacog.accounts.agents import add_policy
from metacog.models import Agent, AuditEvent, Policy
from patterns.lessons import lessons
from patterns.models import Lesson
from reviews import retention
from reviews.held import decisions
from reviews.learning import reflections
from reviews.models import AgentResponse, Delivery, HeldItem, Reflection

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
LITTLE: dict[str, Any] = {"topics": ["refunds"], "retrieval": {"scores": [0.1]}, "items": []}


@pytest.fixture
def agent(kuro: Any) -> Any:
    return Agent.objects.select_related("team").get(public_id=kuro.id)


def respond(caller: Any, *, days_ago: int = 1, text: str = "Nothing to say.", **fields: Any) -> Any:
    """Post a response as if so many days ago."""
    verdict = caller.respond(text, **{"items": [], **fields})
    AgentResponse.objects.filter(public_id=verdict["id"]).update(received_at=NOW - timedelta(days=days_ago))
    return verdict["id"]


def days() -> list[Any]:
    return [day and day.isoformat() for day in Reflection.objects.order_by("pk").values_list("day", flat=True)]


class TestWhen:
    def test_a_day_is_looked_back_on_once_when_it_is_over(self, kuro: Any) -> None:
        respond(kuro)
        respond(kuro, days_ago=0)
        assert reflections.reflect_due(NOW) == 1
        assert reflections.reflect_due(NOW + timedelta(hours=14)) == 0
        assert days() == ["2026-03-09"]
        assert reflections.reflect_due(NOW + timedelta(hours=16)) == 1
        assert days() == ["2026-03-09", "2026-03-10"]

    def test_days_on_which_nothing_ran_are_caught_up_for_a_week(self, kuro: Any) -> None:
        respond(kuro, days_ago=12)
        assert reflections.reflect_due(NOW - timedelta(days=11)) == 1
        for ago in (11, 9, 7, 5, 2):
            respond(kuro, days_ago=ago)
        assert reflections.reflect_due(NOW) == 3
        assert days() == ["2026-02-26", "2026-03-03", "2026-03-05", "2026-03-08"]
        assert reflections.reflect_due(NOW) == 0

    def test_it_goes_on_after_the_clock_was_wrong_for_a_while(self, kuro: Any) -> None:
        respond(kuro, days_ago=-3650)
        assert reflections.reflect_due(NOW + timedelta(days=3651)) == 1
        respond(kuro)
        assert reflections.reflect_due(NOW) == 1

    def test_a_new_agents_begin_with_yesterday(self, kuro: Any) -> None:
        for ago in (3, 2, 1):
            respond(kuro, days_ago=ago)
        assert reflections.reflect_due(NOW) == 1
        assert days() == ["2026-03-09"]

    def test_without_responses_there_is_none(self, kuro: Any) -> None:
        assert reflections.reflect_due(NOW) == 0

    def test_it_can_be_switched_off_for_an_agent_whose_button_still_works(
        self, kuro: Any, agent: Any, olga: Any
    ) -> None:
        add_policy(agent, olga, Policy(parts={"reflection": False}), based_on=1)
        respond(kuro)
        assert reflections.reflect_due(NOW) == 0
        assert reflections.reflect(agent, NOW, person=olga) is not None

    def test_an_agent_that_is_disabled_is_left_alone(self, kuro: Any, agent: Any) -> None:
        respond(kuro)
        Agent.objects.update(enabled=False)
        assert reflections.reflect_due(NOW) == 0

    def test_a_run_that_takes_too_long_leaves_the_rest_to_the_next(
        self, kuro: Any, other: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for caller in (kuro, other):
            respond(caller)
        monkeypatch.setattr(reflections, "monotonic", iter([0, 0, 100]).__next__)
        assert reflections.reflect_due(NOW) == 1

    def test_two_workers_make_one(self, kuro: Any, agent: Any) -> None:
        """The other worker is done between our look and our lock."""
        respond(kuro)
        day = NOW.date() - timedelta(days=1)
        read = reflections._circles

        def and_the_other_is_done(*args: Any) -> Any:
            with patch.object(reflections, "_circles", read):
                assert reflections.reflect(agent, NOW, day=day) is not None
            return read(*args)

        with patch.object(reflections, "_circles", and_the_other_is_done):
            assert reflections.reflect(agent, NOW, day=day) is None
        assert Reflection.objects.count() == 1
        assert AuditEvent.objects.filter(action="meta:reflection").count() == 1

    def test_one_agent_that_fails_takes_nobody_elses_turn(self, kuro: Any, other: Any) -> None:
        for caller in (kuro, other):
            respond(caller)
        real = reflections._read
        fails = patch.object(reflections, "_read", side_effect=lambda period: 1 / 0)
        with fails:
            assert reflections.reflect_due(NOW) == 0
        with patch.object(reflections, "_read", side_effect=[ValueError, real(AgentResponse.objects.none())]):
            assert reflections.reflect_due(NOW) == 1


class TestWhatItStores:
    def test_it_looks_at_the_last_seven_days(self, kuro: Any, agent: Any) -> None:
        for ago in (8, 7, 6, 1):
            respond(kuro, days_ago=ago, **LITTLE)
        row = reflections.reflect(agent, NOW)
        assert (row.responses, row.of) == (3, 3)
        assert row.figures["gaps"][0]["low_retrieval"] == 3

    def test_of_many_responses_it_looks_at_the_latest(
        self, kuro: Any, agent: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reflections, "MOST", 2)
        for text in ("a", "b", "c"):
            respond(kuro, text=text)
        row = reflections.reflect(agent, NOW)
        assert (row.responses, row.of) == (2, 3)

    def test_reasons_are_those_of_people_and_of_decisions_that_stand(
        self, kuro: Any, agent: Any, alice: Any, settings: Any
    ) -> None:
        own, taken_back = kuro.hold(), HeldItem.objects.get(public_id=kuro.hold())
        kuro.post(f"/held/{own}/decision", {"verdict": "reject", "reason": "I was wrong"})
        first, _ = decisions.decide(taken_back, alice, "reject", reason="No evidence")
        assert decisions.undo(first, alice)
        taken_back.refresh_from_db()
        settings.UNDO_SECONDS = 0
        decisions.decide(taken_back, alice, "reject", reason="Off topic")
        figures = reflections.reflect(agent, timezone.now()).figures
        assert figures["held"] == {"rejected": 2}
        assert [reason["text"] for reason in figures["reasons"]] == ["Off topic"]

    def test_corrections_gaps_reasons_impasses_and_circles_are_found_in_what_is_stored(
        self, kuro: Any, agent: Any, alice: Any, undo_at_once: None
    ) -> None:
        for _ in range(3):
            respond(kuro, text="Run the script.", user_message="And the deploy?", topics=["deploys"], session="s")
            respond(kuro, text="Sorry.", user_message="You forgot the rollback plan!", topics=["deploys"], session="s")
            why = "Which tax year is this for, and why?"
            respond(kuro, text="[]", user_message=why, topics=["tax"], retrieval={"scores": []})
            held = kuro.hold()
            decisions.decide(HeldItem.objects.get(public_id=held), alice, "reject", reason="No evidence: cite it")
            for _ in range(4):
                respond(kuro, text="I'm out of ideas.", problem="bug", errors=["E: 1"], command_failed=True)
            AgentResponse.objects.filter(received_at__gt=NOW).update(received_at=NOW - timedelta(days=1))
        decisions.settle()
        found = reflections.reflect(agent, NOW)
        found.refresh_from_db()
        figures = found.figures
        assert figures["repeated"][0]["asked"] == ["rollback plan"]
        assert [gap["subject"] for gap in figures["gaps"]] == ["tax"]
        assert figures["held"] == {"rejected": 3}
        assert figures["held_for"] == {"absolute-claim": 3, "error-pattern": 3}
        assert figures["reasons"][0]["text"] == "No evidence"
        said = {row.evidence["kind"]: row.text for row in Lesson.objects.all()}
        assert said.keys() >= {"correction", "gap", "rejected"}
        assert "No evidence: cite it" in said["rejected"]
        assert set(found.proposals) == set(Lesson.objects.values_list("public_id", flat=True))
        assert set(Lesson.objects.values_list("state", flat=True)) == {"proposed"}, "it never activates one"

    def test_the_next_day_proposes_nothing_that_was_proposed_on_the_same_evidence(self, kuro: Any, agent: Any) -> None:
        for _ in range(3):
            respond(kuro, **LITTLE)
        first, second = reflections.reflect(agent, NOW), reflections.reflect(agent, NOW + timedelta(days=1))
        assert (len(first.proposals), second.proposals) == (1, [])
        respond(kuro, days_ago=0, **LITTLE)
        third = reflections.reflect(agent, NOW + timedelta(days=1))
        assert third.proposals == first.proposals
        assert Lesson.objects.get().proposed == 2

    def test_a_dismissed_one_stays_dismissed(self, kuro: Any, agent: Any, carla: Any) -> None:
        for _ in range(3):
            respond(kuro, **LITTLE)
        reflections.reflect(agent, NOW)
        lessons.move(Lesson.objects.get(), "dismiss", carla)
        respond(kuro, **LITTLE)
        assert reflections.reflect(agent, NOW).proposals == []
        assert Lesson.objects.get().state == "dismissed"

    def test_what_a_curator_made_of_its_words_is_left(self, kuro: Any, agent: Any, carla: Any) -> None:
        for _ in range(3):
            respond(kuro, **LITTLE)
        reflections.reflect(agent, NOW)
        lessons.edit(Lesson.objects.get(), "Look refunds up first.", ["money"], carla)
        respond(kuro, **LITTLE)
        reflections.reflect(agent, NOW)
        lesson = Lesson.objects.get()
        assert (lesson.text, lesson.topics) == ("Look refunds up first.", ["money"])
        assert (lesson.state, lesson.evidence["count"], lesson.proposed) == ("proposed", 4, 2)

    def test_the_record_says_how_much_and_quotes_nothing(self, kuro: Any, agent: Any, olga: Any) -> None:
        for _ in range(3):
            respond(kuro, **LITTLE)
        row = reflections.reflect(agent, NOW, person=olga)
        event = AuditEvent.objects.get(action="meta:reflection")
        assert (event.object_id, event.actor) == (row.public_id, "olga")
        assert event.data == {"responses": 3, "proposals": 1, "day": None}
        assert "refunds" not in str(list(AuditEvent.objects.filter(action__startswith="lesson").values_list("data")))

    def test_its_queries_do_not_grow_with_the_responses(
        self, kuro: Any, agent: Any, django_assert_max_num_queries: Any
    ) -> None:
        for _ in range(12):
            respond(kuro)
        with django_assert_max_num_queries(14):
            reflections.reflect(agent, NOW)


class TestWhoIsTold:
    def test_the_agent_gets_a_callback_with_figures_and_no_text(self, kuro: Any, agent: Any) -> None:
        Agent.objects.update(callback_url="https://agent.example/hook")
        for _ in range(3):
            respond(kuro, **LITTLE)
        agent.refresh_from_db()
        Delivery.objects.all().delete()
        row = reflections.reflect(agent, NOW)
        body = json.loads(Delivery.objects.get().body)
        assert body["type"] == "meta.reflection"
        assert body["data"]["proposals"] == row.proposals
        assert body["data"]["quality"]["says"] == "too-few"
        assert "refunds" not in json.dumps(body)

    def test_nothing_to_say_is_not_told(self, kuro: Any, agent: Any) -> None:
        Agent.objects.update(callback_url="https://agent.example/hook")
        respond(kuro)
        agent.refresh_from_db()
        reflections.reflect(agent, NOW)
        assert not Delivery.objects.filter(type="meta.reflection").exists()


def test_what_it_quotes_goes_with_the_retention(kuro: Any, agent: Any, aurora: Any) -> None:
    from metacog.models import Team

    for _ in range(3):
        respond(kuro, **LITTLE)
    reflections.reflect(agent, NOW)
    Team.objects.filter(pk=aurora.pk).update(retention_days=30)
    Lesson.objects.update(changed_at=NOW)
    Reflection.objects.update(until=NOW - timedelta(days=400))
    retention.erase()
    row = Reflection.objects.get()
    assert row.erased_at is not None
    assert "refunds" not in json.dumps(row.figures)
    assert row.figures["responses"] == 3
    assert AuditEvent.objects.filter(action="reflection-erased").count() == 1
