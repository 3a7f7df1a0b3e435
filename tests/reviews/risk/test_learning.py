"""What people decided is learned from, put in force where it passes the gate, and named by every verdict it ranks."""

from __future__ import annotations

import random
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from metacog.models import Agent, AuditEvent
from reviews.models import AgentResponse, BudgetDay, DecisionVerdict, HeldItem, LearnedRisk, RiskModel, Sample
from reviews.risk import choices, learning
from reviews.scoring.replay import Replayer
from tests.conftest import HELD, NOON
from tests.decided import decide, some_text

pytestmark = pytest.mark.django_db

RISKY = "We refund the order."
SAFE = "The parcel was sent on time to the door of your house."


@pytest.fixture(autouse=True)
def _at_noon(noon: Any) -> None:
    """Count days that do not end meanwhile."""


def learn(team: Any) -> LearnedRisk:
    return learning.learn_and_keep(team, timezone.now())[0].row


def replayed(public_id: str) -> Any:
    return Replayer().replay(AgentResponse.objects.select_related("agent__team").get(public_id=public_id))


def test_what_passes_the_gate_ranks_what_waits_and_what_comes(aurora: Any, kuro: Any) -> None:
    waiting = [kuro.hold(metadata={"n": number}) for number in range(2)]
    assert {item.risk for item in HeldItem.objects.all()} == {None}
    decide(kuro)
    learned = learn(aurora)
    assert (learned.found["order"], learned.found["decisions"], learned.model is not None) == ("learned", 200, True)
    aurora.refresh_from_db()
    assert aurora.risk_kind == "learned"
    assert all(item.risk for item in HeldItem.objects.filter(public_id__in=waiting))
    event = AuditEvent.objects.get(action="risk-learned")
    assert (event.after, event.data["decisions"]) == ("learned", 200)
    risky, safe = kuro.respond(f"{RISKY} {HELD}"), kuro.respond(f"{SAFE} {HELD}")
    assert risky["risk_model"] == learned.model.public_id
    assert risky["items"][0]["risk"] > safe["items"][0]["risk"] + 0.05
    first, second = (HeldItem.objects.get(public_id=each["items"][0]["held"]) for each in (risky, safe))
    assert first.risk_place < second.risk_place
    assert first.risk == risky["items"][0]["risk"]
    assert replayed(risky["id"]).is_equal
    # What was learned anew leaves what a verdict was made with.
    decide(kuro, 20, seed=9)
    learn(aurora)
    assert RiskModel.objects.filter(team=aurora).count() == 2
    assert replayed(risky["id"]).is_equal


def test_what_orders_no_better_is_not_put_in_force(aurora: Any, kuro: Any) -> None:
    decide(kuro, rejects=lambda text, draw: draw.random() < 0.3)
    learned = learn(aurora)
    assert (learned.found["why_not"], learned.found["order"], learned.model) == ("no-better", None, None)
    assert "risk_model" not in kuro.respond()
    assert "risk" not in kuro.respond()["items"][0]


def test_where_length_orders_as_well_length_orders(aurora: Any, kuro: Any) -> None:
    decide(kuro, rejects=lambda text, draw: draw.random() < len(text) / 250)
    learned = learn(aurora)
    assert (learned.found["why_not"], learned.found["order"]) == ("no-better", "length")
    aurora.refresh_from_db()
    assert aurora.risk_kind == "length"
    risks = [kuro.respond(text)["items"][0]["risk"] for text in (f"{HELD} {SAFE * 3}", HELD)]
    assert risks[0] > risks[1]


def test_what_no_person_stands_by_and_what_is_erased_teaches_nothing(aurora: Any, kuro: Any) -> None:
    decide(kuro, 10, seed=2, by="agent")
    decide(kuro, 10, seed=3, verdict="expire")
    decide(kuro, 10, seed=4, seq=None, undone_at=NOON)
    decide(kuro, 12, seed=5)
    AgentResponse.objects.filter(session__startswith="s5-1").update(erased_at=NOON)  # 1, 10 and 11
    assert learn(aurora).found["decisions"] == 9


def test_spot_checks_teach_for_what_they_stand_for(aurora: Any, kuro: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    draw = random.Random(3)
    for number in range(12):
        verdict = kuro.respond(some_text(draw), session=f"x{number}", items=None)
        Sample.objects.create(
            response=AgentResponse.objects.get(public_id=verdict["id"]), agent=agent, day=NOON.date(), stands_for=10,
            verdict="missed" if number < 4 else "fine" if number < 8 else "", judged_at=NOON,
        )  # fmt: skip
    decide(kuro, 5)
    found = learning._decided(aurora)[agent.pk]
    checks = [each for each in found if each.stands_for > 1]
    assert ([each.rejected for each in checks].count(True), len(checks), len(found)) == (4, 8, 13)
    assert {each.stands_for for each in checks} == {15.0}  # of 120 that they stand for, 80 were judged


def test_a_glance_counts_less(aurora: Any, kuro: Any) -> None:
    decide(kuro, 5, shown_ms=100)
    decide(kuro, 5, seed=2, shown_ms=600_000)
    cares = [each.care for each in learning._decided(aurora)[Agent.objects.get(public_id=kuro.id).pk]]
    assert sum(care == 1.0 for care in cares) == 5
    assert sum(care < 0.1 for care in cares) == 5


class TestBudget:
    @pytest.fixture
    def proven(self, aurora: Any, kuro: Any, olga: Any) -> Any:
        decide(kuro)
        learn(aurora)
        # As if of 600 texts that passed in 30 days one in ten had been risky.
        passing = {"days": 30, "items": 600, "risks": [0.1] * 90 + [0.3] * 10}
        LearnedRisk.objects.update(passing=passing)
        choices.choose(aurora, olga, choices.Choices(order=True, budget=2, holds=True, samples=False))
        aurora.refresh_from_db()
        return aurora

    def test_it_holds_the_riskiest_of_what_would_pass_so_many_a_day(
        self, proven: Any, kuro: Any, noon: Any, undo_at_once: None, alice: Any
    ) -> None:
        assert proven.risk_cut == 0.3
        assert kuro.respond(SAFE)["items"][0]["disposition"] == "pass"
        verdicts = [kuro.respond(f"{RISKY} {number}") for number in "abc"]
        assert [verdict["items"][0]["disposition"] for verdict in verdicts] == ["hold", "hold", "pass"]
        held = verdicts[0]["items"][0]
        assert (held["by_budget"], held["text"]) == (True, None)
        assert verdicts[0]["schedule"]["reason"] == "hesitation review: held CHAT"
        assert HeldItem.objects.get(public_id=held["held"]).by_budget
        assert BudgetDay.objects.get(team=proven).held == 2
        assert all(replayed(verdict["id"]).is_equal for verdict in verdicts)
        # What a threshold holds is held, and takes no room.
        assert "by_budget" not in kuro.respond()["items"][0]
        noon.at += timedelta(days=1)
        assert kuro.respond(f"{RISKY} d")["items"][0]["disposition"] == "hold"

    def test_what_was_approved_passes_when_it_comes_again(
        self, proven: Any, kuro: Any, undo_at_once: None, alice: Any, as_person: Any
    ) -> None:
        from reviews.held import decisions

        item = HeldItem.objects.get(public_id=kuro.respond(RISKY)["items"][0]["held"])
        decisions.decide(item, alice, DecisionVerdict.APPROVE)
        decisions.settle()
        again = kuro.respond(RISKY)["items"][0]
        assert (again["disposition"], again["recognised"]) == ("pass", item.public_id)

    def test_two_agents_share_it_and_another_team_has_its_own(self, proven: Any, kuro: Any, other: Any) -> None:
        from metacog.accounts.agents import create_agent
        from tests.conftest import Caller

        agent, key, secret = create_agent(proven, "second", None)
        Agent.objects.filter(pk=agent.pk).update(risk_model=Agent.objects.get(public_id=kuro.id).risk_model)
        second = Caller(agent.public_id, key, secret)
        held = [caller.respond(RISKY)["items"][0]["disposition"] for caller in (kuro, second, kuro, second, other)]
        assert held == ["hold", "hold", "pass", "pass", "pass"]


def test_the_command_learns_at_once_and_says_what_came_of_it(aurora: Any, kuro: Any) -> None:
    decide(kuro)
    out = StringIO()
    call_command("learn", team="Aurora", stdout=out)
    assert out.getvalue().startswith("Aurora: Learned from 200 decisions")
    with pytest.raises(CommandError, match="Unknown team"):
        call_command("learn", team="Nowhere")


def test_it_is_learned_once_a_day(aurora: Any, kuro: Any, noon: Any) -> None:
    assert learning.learn_due(timezone.now()) == 0  # nobody has decided anything
    decide(kuro, 5)
    assert [learning.learn_due(timezone.now()) for _ in range(2)] == [1, 0]
    assert learning.learn_due(timezone.now() + timedelta(days=1, minutes=1)) == 1


def test_an_agent_has_its_own_model_where_that_wins(aurora: Any, kuro: Any) -> None:
    from metacog.accounts.agents import create_agent
    from tests.conftest import Caller

    agent, key, secret = create_agent(aurora, "second", None)
    decide(kuro, 250)
    # What is wrong with one is right with the other.
    decide(Caller(agent.public_id, key, secret), 250, seed=7, rejects=lambda text, draw: "refund" not in text)
    learn(aurora)
    models = dict(Agent.objects.filter(team=aurora).values_list("name", "risk_model"))
    assert models["second"] != models["kuro"]
    verdicts = [Caller(agent.public_id, key, secret).respond(text)["items"][0]["risk"] for text in (RISKY, SAFE)]
    assert verdicts[0] < verdicts[1]


def test_an_agent_added_later_is_ranked_at_once_and_what_no_model_ranked_stands_by_its_score(
    aurora: Any, kuro: Any
) -> None:
    from metacog.accounts.agents import create_agent
    from tests.conftest import Caller

    before = HeldItem.objects.get(public_id=kuro.hold())
    assert (before.risk, before.risk_place) == (None, 500)
    decide(kuro)
    learned = learn(aurora)
    aurora.refresh_from_db()
    agent, key, secret = create_agent(aurora, "late", None)
    assert Caller(agent.public_id, key, secret).respond()["risk_model"] == learned.model.public_id
